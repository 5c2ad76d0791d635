//! Work in another time, for whoever wants to know whether code looks at the operating system's clocks.

use madsim::Config;
use madsim::runtime::Runtime;
use madsim::time::TimeHandle;
use std::time::Duration;

/// Longer than any code waits for anything.
const JUMP: Duration = Duration::from_secs(3600);

thread_local! {
    static ELSEWHEN: Runtime = Runtime::with_seed_and_config(0, Config::default());
}

/// Does some work on this thread with clocks of its own, which stand still but for what the work is given to call: then
/// they jump by an hour.
pub fn in_other_time(work: &mut dyn FnMut(&dyn Fn())) {
    let here = async {
        let time = TimeHandle::current();
        work(&|| time.advance(JUMP));
    };
    ELSEWHEN.with(|runtime| runtime.block_on(here));
}

#[test]
fn clocks_jump_when_they_are_told_to_and_not_else() {
    use std::time::{Instant, SystemTime};
    in_other_time(&mut |jump| {
        let clocks = || (Instant::now(), SystemTime::now());
        let before = clocks();
        assert_eq!(clocks(), before);
        jump();
        assert_eq!(clocks(), (before.0 + JUMP, before.1 + JUMP));
    });
    let real = Instant::now();
    std::thread::sleep(Duration::from_millis(2));
    assert!(real.elapsed() < JUMP && real.elapsed() >= Duration::from_millis(2));
}

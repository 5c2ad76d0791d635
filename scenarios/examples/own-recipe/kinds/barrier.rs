//! A barrier of one's own: a znode; who finds it waits until it is gone. It comes with a promise that is written from nothing.

use zoocheck::api::{ErrorCode, Text, ZPath, ZooKeeper};
use zoocheck::trials::prelude::*;

const BARRIER: &str = "/my-barrier/up";

/// The first process lowers the barrier; the others wait for that.
async fn turn(zk: &impl ZooKeeper, probe: &impl Probe, part: &Part) -> Result<(), End> {
    let barrier = ZPath::parse(BARRIER).expect("a path");
    if part.me.process == 0 {
        return match zk.delete(&barrier, -1).await {
            // It has lowered it in another life.
            Err(error) if error.code == ErrorCode::NoNode => Ok(()),
            deleted => Ok(deleted?),
        };
    }
    // Whatever the watch tells, it looks again.
    while let (Some(_), watch) = zk.exists_watch(&barrier).await? {
        watch.await;
    }
    probe.observe(Observation::note(words::PASSES, BARRIER, 0));
    Ok(())
}

/// Nobody passes the barrier while it is up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Closed {
    is_lowered: bool,
}

impl Promise for Closed {
    fn name(&self) -> &'static str {
        "nobody-passes-a-barrier"
    }
    fn about(&self) -> &'static str {
        "Nobody passes while the barrier is up."
    }
    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(Fact::NodeDeleted { path, .. }) if **path == *BARRIER => self.is_lowered = true,
            Event::Says { actor, what } if what.told().is_some_and(|(what, ..)| what == words::PASSES) => {
                found.push(match self.is_lowered {
                    true => Finding::Tested,
                    false => Finding::Broken(Violation::new(
                        format!("{actor} passes {BARRIER}, which is up"),
                        None,
                    )),
                });
            }
            _ => {}
        }
    }
}

struct MyBarrier;

impl Trial for MyBarrier {
    fn about(&self) -> About {
        About::new("my-barrier", "A znode; who finds it waits until it is gone.")
    }
    fn setup(&self) -> Vec<Text> {
        vec!["/my-barrier".into(), BARRIER.into()]
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Closed::default())]
    }
    /// An error ends an attempt, and whoever made it: be it the one who was to lower the barrier. Whoever has passed asks for
    /// nothing more, and may be done before it knows of its session's end.
    fn opts_out(&self) -> &'static [&'static str] {
        &["no-failure", "no-waiter-stuck", "session-end-noticed"]
    }
    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        turn(&zk, &probe, &part).await.err().unwrap_or(End::Done)
    }
}

#[test]
fn my_barrier_is_right() {
    zoocheck::assert_right(MyBarrier, 100);
}

fn main() -> std::process::ExitCode {
    zoocheck::Zoo::default().with(MyBarrier).main()
}

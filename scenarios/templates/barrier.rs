//! A barrier of one's own: a znode; who finds it waits until it is gone. It comes with a promise that is written from
//! nothing.

use zoocheck::api::{ErrorCode, ZPath, ZooKeeper};
use zoocheck::trials::prelude::*;

const BARRIER: &str = "/my-barrier/up";

/// The first process lowers the barrier; the others wait for that.
async fn turn(zk: &impl ZooKeeper, probe: &impl Probe, role: &Role) -> Result<(), End> {
    let barrier = ZPath::parse(BARRIER).expect("a path");
    if role.me.process == 0 {
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
    fn terms(&self) -> Terms {
        Terms::of("nobody-passes-a-barrier").about("Nobody passes while the barrier is up.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if **path == *BARRIER => self.is_lowered = true,
            Event::Observed { actor, what }
                if what.told().is_some_and(|(what, ..)| what == words::PASSES) =>
            {
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

async fn actor(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), End> {
    turn(&zk, &probe, &role).await
}

fn my_barrier() -> Trial {
    Trial::new("my-barrier", actor)
        .summary("A znode; who finds it waits until it is gone.")
        .setup(["/my-barrier", BARRIER])
        .promises(|| vec![Box::new(Closed::default())])
        // An error ends an attempt, and whoever made it: be it the one who was to lower the barrier. Whoever has passed
        // asks for nothing more, and may be done before it knows of its session's end.
        .opts_out(&["no-failure", "no-waiter-stuck"])
}

#[test]
fn my_barrier_is_right() {
    zoocheck::assert_right(my_barrier(), 100);
}

fn main() -> std::process::ExitCode {
    zoocheck::Catalogue::default().with(my_barrier()).main()
}

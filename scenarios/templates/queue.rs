//! A queue of one's own: whoever deletes an item has it. It comes with a promise that is written from nothing.

use std::collections::BTreeSet;
use zoocheck::api::{CreateMode, Data, ErrorCode, ZPath, ZooKeeper, sequence_of};
use zoocheck::trials::prelude::*;

/// Puts an item, and works items off until there is none.
async fn turn(zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
    let queue = ZPath::parse("/my-queue").expect("a path");
    let prefix = ZPath::parse("/my-queue/item-").expect("a path");
    zk.create(&prefix, Data::NULL, CreateMode::PersistentSequential).await?;
    loop {
        let mut items = zk.children(&queue).await?;
        items.sort_unstable();
        let Some(first) = items.first() else { return Ok(()) };
        match zk.delete(&queue.join(first).expect("a child's name"), -1).await {
            // Another was faster.
            Err(error) if error.code == ErrorCode::NoNode => continue,
            deleted => deleted?,
        }
        let number = sequence_of(first).ok_or(End::Failed)?;
        probe.observe(Observation::note(words::TAKES, "/my-queue", number.into()));
        probe.work().await;
    }
}

/// No item is taken twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct TakenOnce {
    taken: BTreeSet<i64>,
}

impl Promise for TakenOnce {
    fn terms(&self) -> Terms {
        Terms::of("taken-once").about("No item is taken twice.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let Event::Observed { actor, what } = event else { return };
        if let Some((words::TAKES, _, item)) = what.told() {
            found.push(match self.taken.insert(item) {
                true => Finding::Tested,
                false => Finding::Broken(Violation::new(format!("{actor} takes item {item} again"), None)),
            });
        }
    }
}

async fn actor(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), End> {
    for _ in 0..role.rounds {
        turn(&zk, &probe).await?;
    }
    Ok(())
}

fn my_queue() -> Trial {
    Trial::new("my-queue", actor)
        .summary("Sequential znodes; whoever deletes one has it.")
        .setup(["/my-queue"])
        .promises(|| vec![Box::new(TakenOnce::default())])
        // An error ends an attempt, and whoever made it; nobody waits.
        .opts_out(&["no-failure", "no-waiter-stuck", "no-litter"])
}

#[test]
fn my_queue_is_right() {
    zoocheck::assert_right(my_queue(), 100);
}

fn main() -> std::process::ExitCode {
    zoocheck::Catalogue::default().with(my_queue()).main()
}

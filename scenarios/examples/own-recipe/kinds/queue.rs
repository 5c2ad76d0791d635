//! A queue of one's own: whoever deletes an item has it. It comes with a promise that is written from nothing.

use std::collections::BTreeSet;
use zoocheck::api::{CreateMode, Data, ErrorCode, Text, ZPath, ZooKeeper, sequence_of};
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
    fn name(&self) -> &'static str {
        "taken-once"
    }
    fn about(&self) -> &'static str {
        "No item is taken twice."
    }
    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let Event::Says { actor, what } = event else { return };
        if let Some((words::TAKES, _, item)) = what.told() {
            found.push(match self.taken.insert(item) {
                true => Finding::Tested,
                false => Finding::Broken(Violation::new(format!("{actor} takes item {item} again"), None)),
            });
        }
    }
}

struct MyQueue;

impl Trial for MyQueue {
    fn about(&self) -> About {
        About::new("my-queue", "Sequential znodes; whoever deletes one has it.")
    }
    fn setup(&self) -> Vec<Text> {
        vec!["/my-queue".into()]
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(TakenOnce::default())]
    }
    /// An error ends an attempt, and whoever made it; nobody waits.
    fn opts_out(&self) -> &'static [&'static str] {
        &["no-failure", "no-waiter-stuck"]
    }
    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        for _ in 0..part.rounds {
            if let Err(end) = turn(&zk, &probe).await {
                return end;
            }
        }
        End::Done
    }
}

#[test]
fn my_queue_is_right() {
    zoocheck::assert_right(MyQueue, 100);
}

fn main() -> std::process::ExitCode {
    zoocheck::Zoo::default().with(MyQueue).main()
}

//! `queue`, `queue/at-most-once` and `priority-queue`: the recipe of this project.

use super::stage::{Item, QueueKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Reductions};
use zk_api::{ZPath, ZooKeeper};
use zk_recipes::queue::{Consumer, Delivery, Producer};

/// The producer and the consumer of [`zk_recipes::queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// Items are given until they are done.
    AtLeastOnce,
    /// Items are removed before they are given.
    AtMostOnce,
    /// As the first, with priorities.
    Priorities,
}

impl QueueKind for Recipe {
    fn about(&self) -> About {
        let about = |name, summary, bounds| About {
            name,
            summary,
            source: "zk-recipes",
            breaks: None,
            bounds,
            reductions: Reductions::default(),
        };
        // An order takes two items.
        let bounds = Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) };
        match self {
            Recipe::AtLeastOnce => about(
                "queue",
                "Persistent items, each claimed before it is given; a put wakes one consumer.",
                bounds,
            ),
            Recipe::AtMostOnce => {
                about("queue/at-most-once", "The same, but items are removed before they are given.", bounds)
            }
            Recipe::Priorities => {
                let bounds = Bounds { rounds: 3, ..Bounds::clients(2) };
                about(
                    "priority-queue",
                    "The queue, whose items are taken by priority, ties in order.",
                    bounds,
                )
            }
        }
    }

    fn delivery(&self) -> Delivery {
        match self {
            Recipe::AtLeastOnce | Recipe::Priorities => Delivery::AtLeastOnce,
            Recipe::AtMostOnce => Delivery::AtMostOnce,
        }
    }

    fn wakes_one(&self) -> bool {
        true
    }

    fn has_priorities(&self) -> bool {
        *self == Recipe::Priorities
    }

    async fn produce(&self, stage: &Stage) -> Result<(), Stop> {
        produce(stage).await
    }

    async fn consume(&self, stage: &Stage) -> Result<(), Stop> {
        consume(stage, self.delivery()).await
    }
}

/// Puts all items as it should be done.
pub(super) async fn produce(stage: &Stage) -> Result<(), Stop> {
    let mut producer =
        Producer::new(stage.zk(0), &stage.queue(), &stage.guid()).expect("a guid is fit for a name");
    for item in stage.items() {
        stage.puts(&item);
        let Item { payload, priority, .. } = &item;
        producer.put(payload.as_str().into(), *priority).await?;
        stage.has_put(&item);
    }
    Ok(producer.close().await?)
}

/// Takes an item in each round as it should be done.
pub(super) async fn consume(stage: &Stage, delivery: Delivery) -> Result<(), Stop> {
    for round in 0..stage.rounds() {
        let zk = stage.zk(round);
        zk.checkpoint("trial/round", &[]);
        let mut consumer =
            Consumer::new(zk, &stage.queue(), &stage.guid()).expect("a guid is fit for a name");
        stage.asks(round).await;
        let taken = consumer.take(delivery).await?;
        let item: ZPath = taken.item().clone();
        stage.works(&item, round).await;
        taken.done().await?;
        stage.done(&item, round);
    }
    Ok(())
}

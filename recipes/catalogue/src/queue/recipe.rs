//! `queue`, `queue/at-most-once`, `queue/given-back`, `queue/two-producers` and `priority-queue`: the recipe of this
//! project.

use super::fixture::{Fixture, Item, promises, queue_of};
use zk_api::{ZPath, ZooKeeper};
use zk_harness::common::{Stop, in_round};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::queue::{Consumer, Delivery, Producer};

/// The producer and the consumer of [`zk_recipes::queue`]: items are given until they are done; they are removed before
/// they are given; the first with two producers, and with priorities.
pub fn trials() -> Vec<Trial> {
    // An order takes two items.
    let bounds = Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) };
    vec![
        ours("queue", Delivery::AtLeastOnce)
            .summary("Persistent items, each claimed before it is given; a put wakes one consumer.")
            .bounds(bounds),
        ours("queue/at-most-once", Delivery::AtMostOnce)
            .summary("The same, but items are removed before they are given.")
            .bounds(bounds),
        ours_by(1, "queue/given-back", Delivery::AtLeastOnce, true)
            .summary("The queue, whose only consumer gives an item back before it takes one to work it off.")
            .bounds(Bounds { rounds: 2, drops: 1, lag: 1, ..Bounds::clients(2) })
            // What one has in the meantime another passes over.
            .scenario(&[("clients", "2")]),
        ours_of(2, "queue/two-producers", Delivery::AtLeastOnce)
            .summary("The queue with two producers: what was put first is taken first, whoever has put it.")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(3) }),
        ours("priority-queue", Delivery::AtLeastOnce)
            .summary("The queue, whose items are taken by priority, ties in order.")
            .bounds(Bounds { rounds: 3, drops: 1, ..Bounds::clients(2) }),
    ]
}

fn ours(name: &'static str, delivery: Delivery) -> Trial {
    ours_of(1, name, delivery)
}

fn ours_of(producers: u16, name: &'static str, delivery: Delivery) -> Trial {
    ours_by(producers, name, delivery, false)
}

fn ours_by(producers: u16, name: &'static str, delivery: Delivery, gives_back: bool) -> Trial {
    let put = |fixture| async move { produce(&fixture).await };
    let take = move |fixture| async move { consume(&fixture, delivery, gives_back).await };
    queue_of(producers, name, delivery, put, take)
        .source("zk-recipes")
        .promises(move || promises(delivery, true))
}

/// Puts all items as it should be done.
pub(super) async fn produce(fixture: &Fixture) -> Result<(), Stop> {
    let mut producer =
        Producer::new(fixture.zk(0), &fixture.queue(), &fixture.guid()).expect("a guid is fit for a name");
    for item in fixture.items() {
        fixture.puts(&item);
        let Item { payload, priority, .. } = &item;
        producer.put(payload.as_str().into(), *priority).await?;
        fixture.has_put(&item);
    }
    Ok(producer.close().await?)
}

/// Takes an item in each round as it should be done.
pub(super) async fn consume(fixture: &Fixture, delivery: Delivery, gives_back: bool) -> Result<(), Stop> {
    for round in 0..fixture.rounds() {
        let zk = fixture.zk(round);
        zk.checkpoint("trial/round", &[]);
        fixture.asks(round).await;
        if gives_back {
            let zk = in_round(fixture.zk(round), 0);
            consumer(fixture, zk).take(delivery).await?.give_back().await?;
        }
        let mut consumer = consumer(fixture, zk);
        let taken = consumer.take(delivery).await?;
        let item: ZPath = taken.item().clone();
        fixture.works(&item, taken.data(), round).await;
        taken.done().await?;
        fixture.done(&item, round);
    }
    Ok(())
}

fn consumer<Z: ZooKeeper + Clone>(fixture: &Fixture, zk: Z) -> Consumer<Z> {
    Consumer::new(zk, &fixture.queue(), &fixture.guid()).expect("a guid is fit for a name")
}

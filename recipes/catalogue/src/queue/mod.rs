//! The queue, with priorities and without, and its published variants on trial.
//!
//! [`Fixture`] is what they have in common. Each published variant is one reading of the published steps.
//!
//! ```
//! use zk_harness::common::Stop;
//! use zk_catalogue::queue::{Fixture, queue};
//! use zk_harness::recipes::queue::{Consumer, Delivery};
//! # use zk_harness::recipes::queue::Producer;
//! # async fn produce(fixture: Fixture) -> Result<(), Stop> {
//! #     let mut producer = Producer::new(fixture.zk(0), &fixture.queue(), &fixture.guid()).expect("a name");
//! #     for item in fixture.items() {
//! #         fixture.puts(&item);
//! #         producer.put(item.payload.as_str().into(), item.priority).await?;
//! #         fixture.has_put(&item);
//! #     }
//! #     Ok(producer.close().await?)
//! # }
//!
//! async fn consume(fixture: Fixture) -> Result<(), Stop> {
//!     for round in 0..fixture.rounds() {
//!         let mut consumer = Consumer::new(fixture.zk(round), &fixture.queue(), &fixture.guid()).expect("a name");
//!         fixture.asks(round).await;
//!         let taken = consumer.take(Delivery::AtLeastOnce).await?;
//!         let item = taken.item().clone();
//!         fixture.works(&item, taken.data(), round).await;
//!         taken.done().await?;
//!         fixture.done(&item, round);
//!     }
//!     Ok(())
//! }
//! let trial = queue("my-queue", Delivery::AtLeastOnce, produce, consume);
//! let owed: Vec<_> = trial.owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.starts_with(&["nothing-lost", "taken-once", "takes-in-order", "queue-progress"]));
//! ```

mod fixture;
mod published;
mod recipe;
mod steps;

pub use fixture::{Fixture, ITEMS, Item, QUEUE, queue};

use zk_harness::trial::Trial;

/// All of them, the right one of each family first.
pub fn trials() -> Vec<Trial> {
    let (first, second): (Vec<_>, Vec<_>) = [recipe::trials(), published::trials()]
        .concat()
        .into_iter()
        .partition(|trial| !trial.about.name.starts_with("priority-queue"));
    [first, second].concat()
}

//! What all shared locks on trial have in common: who reads and who writes.

use crate::lock::{Fixture, LOCK, lock};
use zk_api::{Text, ZPath, sequence_of};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::{Stop, Turn};
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{DONE, Order, START};
use zk_harness::trial::Trial;
use zk_harness::{promises, words};
use zk_recipes::Mode;

/// What an actor does in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Writes, and then goes on reading without giving the lock away.
    Downgrades,
}

/// By turns: of three clients in a round, one downgrades, one reads, one writes.
pub(super) fn access(fixture: &Fixture) -> Access {
    match (fixture.role.me.process + u16::from(fixture.round)) % 3 {
        0 => Access::Downgrades,
        1 => Access::Reads,
        _ => Access::Writes,
    }
}

/// What sharers tell, in their order: a writer that becomes a reader is granted the lock once more.
const WORDS: Order = &[
    (words::ATTEMPTS, &[START, words::RELEASED]),
    (words::IS_GRANTED, &[words::ATTEMPTS, words::ENTERS]),
    (words::ENTERS, &[words::IS_GRANTED]),
    (words::LEAVES, &[words::ENTERS, words::IS_GRANTED]),
    (words::GIVES_UP, &[words::ATTEMPTS, words::IS_GRANTED, words::ENTERS, words::LEAVES]),
    (words::RELEASED, &[words::LEAVES, words::GIVES_UP]),
    (DONE, &[words::RELEASED]),
];

/// A shared lock on trial that gives no tokens.
pub(super) fn shared(name: &'static str, turn: impl Turn<Fixture>) -> Trial {
    lock(name, turn).promises(promises_without_tokens).tells(WORDS)
}

/// What a shared lock with tokens promises.
pub(super) fn promises() -> Vec<Box<dyn AnyPromise>> {
    promises::of_shared_lock(LOCK, "-write-")
}

/// The same for those that give no tokens.
fn promises_without_tokens() -> Vec<Box<dyn AnyPromise>> {
    promises::without_tokens(promises())
}

/// A reader's place: behind the next lower writer.
pub(crate) fn of_reader(lock: &ZPath, names: &[Text], own: &ZPath) -> Place {
    match names.iter().find(|name| ***name == *own.name()).and_then(|name| sequence_of(name)) {
        None => Place::Absent,
        Some(mine) => behind_writers(lock, names, mine),
    }
}

/// Behind the writer with the next number below this one.
pub(super) fn behind_writers(lock: &ZPath, names: &[Text], mine: i32) -> Place {
    let writers = names.iter().filter(|name| name.contains("-write-"));
    let lower = writers.filter_map(|name| Some((sequence_of(name)?, name))).filter(|(n, _)| *n < mine);
    lower.max().map_or(Place::First, |(_, name)| Place::Behind(plain::child(lock, name)))
}

/// A round of a variant: a znode of its kind, a turn by its rule, the critical section, the release. Nobody downgrades.
pub(super) async fn round(
    fixture: &Fixture,
    reader: fn(&ZPath, &[Text], &ZPath) -> Place,
    writer: fn(&ZPath, &[Text], &ZPath) -> Place,
) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let (mode, kind, rule) = match access(fixture) {
        Access::Reads => (Mode::Shared, "read", reader),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, "write", writer),
    };
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), kind).await?;
    plain::turn_by(&zk, &lock, &own, rule).await?;
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &own).await
}

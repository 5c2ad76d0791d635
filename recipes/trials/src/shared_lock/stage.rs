//! What all shared locks on trial have in common: who reads and who writes.

use crate::common::plain::{self, Place};
use crate::common::{Stop, Turn};
use crate::lock::{LOCK, Stage, lock};
use crate::promise::AnyPromise;
use crate::promises;
use crate::promises::{DONE, Order, START};
use crate::trial::Trial;
use crate::words;
use zk_api::{Text, ZPath, sequence_of};
use zk_recipes::Mode;

/// What an actor does in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Writes, and then goes on reading without giving the lock away.
    Downgrades,
}

/// By turns: of three clients in a round, one downgrades, one reads, one writes.
pub(super) fn role(stage: &Stage) -> Role {
    match (stage.part().me.process + u16::from(stage.round())) % 3 {
        0 => Role::Downgrades,
        1 => Role::Reads,
        _ => Role::Writes,
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
pub(super) fn shared(name: &'static str, turn: impl Turn<Stage>) -> Trial {
    lock(name, turn).promises(promises_without_tokens).tells(WORDS)
}

/// What a shared lock with tokens promises.
pub(super) fn promises() -> Vec<Box<dyn AnyPromise>> {
    promises::of_shared_lock(LOCK, "-write-")
}

/// The same for those that give no tokens.
fn promises_without_tokens() -> Vec<Box<dyn AnyPromise>> {
    let mut all = promises();
    all.retain(|promise| !["exclusion-at-fenced-resource", "tokens-increase"].contains(&promise.name()));
    all
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
    stage: &Stage,
    reader: fn(&ZPath, &[Text], &ZPath) -> Place,
    writer: fn(&ZPath, &[Text], &ZPath) -> Place,
) -> Result<(), Stop> {
    let (zk, lock) = (stage.zk(), stage.lock());
    let (mode, kind, rule) = match role(stage) {
        Role::Reads => (Mode::Shared, "read", reader),
        Role::Writes | Role::Downgrades => (Mode::Exclusive, "write", writer),
    };
    let own = plain::contend_as(&zk, &lock, &stage.guid(), kind).await?;
    plain::turn_by(&zk, &lock, &own, rule).await?;
    stage.hold(mode, &own, None, std::future::pending::<()>()).await;
    stage.leave();
    plain::remove(&zk, &own).await
}

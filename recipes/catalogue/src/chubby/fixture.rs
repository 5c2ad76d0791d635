//! What the trials of Chubby's sequencers have in common: the order of what they tell, their promises, and how a
//! sequencer is presented.

use crate::lock::{Fixture, LOCK, lock};
use zk_api::{Local, Stat, ZPath, ZooKeeper};
use zk_harness::common::{Stop, Turn, plain};
use zk_harness::event::Observation;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    DONE, ExclusionAmongLiveSessions, Fifo, NoFailure, NoForeignDelete, NoOrphanZnode, NoWaiterStuck, Order,
    START, SequencerNamesAHolder, Undisturbed,
};
use zk_harness::trial::Trial;
use zk_harness::words;
use zk_recipes::Mode;

/// The interface on trial, whose lock a turn takes and gives back. A sequencer is presented meanwhile.
pub(super) fn chubby(name: &'static str, turn: impl Turn<Fixture>) -> Trial {
    lock(name, turn).promises(promises).tells(WORDS)
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::ATTEMPTS, &[START, words::RELEASED]),
    (words::IS_GRANTED, &[words::ATTEMPTS]),
    (words::ENTERS, &[words::IS_GRANTED]),
    (words::PRESENTS, &[words::ENTERS, words::IS_ACCEPTED_WITH, words::IS_REFUSED_WITH, words::LEAVES]),
    (words::IS_ACCEPTED_WITH, &[words::PRESENTS]),
    (words::IS_REFUSED_WITH, &[words::PRESENTS]),
    (words::LEAVES, &[words::ENTERS, words::IS_ACCEPTED_WITH, words::IS_REFUSED_WITH]),
    (words::GIVES_UP, &[words::ATTEMPTS, words::IS_GRANTED, words::ENTERS, words::PRESENTS, words::LEAVES]),
    (words::RELEASED, &[words::LEAVES, words::IS_ACCEPTED_WITH, words::IS_REFUSED_WITH, words::GIVES_UP]),
    (DONE, &[words::RELEASED]),
];

/// What those promise.
pub(super) fn promises() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(ExclusionAmongLiveSessions::of(LOCK)),
        Box::new(Fifo::of_shared(LOCK, "-write-")),
        Box::new(SequencerNamesAHolder::of(LOCK, "-write-")),
        Box::new(NoWaiterStuck),
        Box::new(NoOrphanZnode::of(LOCK)),
        Box::new(NoForeignDelete::of(LOCK)),
        Box::new(Undisturbed::of(NoFailure).sparing(LOCK)),
    ]
}

/// Who holds it in which mode: by turns.
pub(super) fn mode(fixture: &Fixture) -> Mode {
    match (fixture.role.me.process + u16::from(fixture.round)) % 3 {
        1 => Mode::Shared,
        _ => Mode::Exclusive,
    }
}

/// Looks for the znode that a sequencer names.
pub(super) async fn look(zk: &impl ZooKeeper, node: &ZPath) -> Result<Option<Stat>, Stop> {
    plain::again_from(zk, "chubby/exists", &[Local::Text(node.as_str())], || zk.exists(node)).await
}

/// A sequencer is presented, for what needs this mode, and accepted or not.
pub(super) fn presents(fixture: &Fixture, node: &ZPath, needs: Mode, accepted: Option<bool>) {
    let what = match accepted {
        None => words::PRESENTS,
        Some(true) => words::IS_ACCEPTED_WITH,
        Some(false) => words::IS_REFUSED_WITH,
    };
    fixture.tells(Observation::note(what, node.as_str(), i64::from(needs == Mode::Exclusive)));
}

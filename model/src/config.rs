//! What to check, and how far.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use strum::VariantArray;
use zk_harness::trial::{Bounds, Reductions};

/// What to explore, how, and when to give up.
#[derive(Clone, Debug)]
pub struct CheckConfig {
    /// How many of each there are at most.
    pub bounds: Bounds,
    /// Reductions that are not sound for every recipe; all off is the full search.
    pub reductions: Reductions,
    /// Remember transitions instead of replaying them. Off only to test that it changes nothing.
    pub memo: bool,
    /// Let checkpoints merge states.
    pub keys: bool,
    /// Audit checkpoints: the same key and input must give the same step. A failed audit is a verdict.
    pub audit: bool,
    /// Replays code at another time, which tells whether the code looks at a clock that no model has. `None` where
    /// nothing can change what such clocks show.
    pub other_time: Option<OtherTime>,
    /// Actors write to the outside resource inside the critical section.
    pub effects: bool,
    /// A sync may leave a view where it is, as happens with a leader that asks nobody: one that does not know it was
    /// deposed, or one whose own tree lags. Released versions do so, and no recipe may rely on more. On by default. It
    /// makes no difference where [`Bounds::lag`] is 0.
    pub stale_syncs: bool,
    /// A client that looks for a server may be told that its session is dead although it lives on until it expires: by
    /// a leader that does not know it was deposed, or by a server, even the only one, that has decided on the end but
    /// has not written it yet. Each such answer counts as an expiry. On by default.
    pub false_expiries: bool,
    /// An administrator may also delete or set the znodes of the trial's setup, not only what came of the trial.
    pub admin_parents: bool,
    /// Number every transaction, as ZooKeeper does, and not only those whose number can matter. A search does so in any
    /// case if its code reads the number of a zxid.
    pub true_zxids: bool,
    /// Merge states in which the znodes' zxids have the same order, however often their parents' children have changed:
    /// without this, a recipe that creates again and again never comes back to where it was. Not sound for recipes that
    /// make sequential znodes, nor for code that remembers numbers: such a check never holds, and judges only cycles,
    /// which are tried with the numbers themselves. Off by default; a search that runs out is followed by one with this
    /// on.
    pub ranks: bool,
    /// Of two guids, the one given later is the lower as a text. If code is given any guids, a search that holds is
    /// followed by one with this on, except under symmetry reduction, which tells no names apart.
    pub guids_fall: bool,
    /// Which search.
    pub engine: Engine,
    /// Search until this promise is broken, whatever else breaks, and say what became of it; with `None`, until the
    /// promise breaks that the trial is known to break, or else any.
    pub promise: Option<String>,
    /// Look for livelocks once everything is explored. This takes our own search without symmetry, and six bytes for
    /// each free transition; if there are more than 67 million, they are not recorded, and nothing is said of
    /// livelocks.
    pub livelock: bool,
    /// Find out from which step of a counterexample on its promise is broken whatever comes, by looking at no more than
    /// this many states after one step. Only in our own search.
    pub inevitable_within: Option<usize>,
    /// Give up after this time.
    pub time_limit: Option<Duration>,
    /// Give up after this many states.
    pub max_states: Option<u64>,
    /// Give up once the process holds this many bytes in memory. Only in our own search.
    pub max_memory: Option<u64>,
    /// Go no deeper than this many steps.
    pub max_depth: Option<u32>,
    /// Give up as soon as somebody sets this.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Does some work where the operating system's clocks show another time, and jump far whenever the work asks for it.
#[derive(Clone, Copy)]
#[expect(clippy::type_complexity, reason = "the work is given what makes the clocks jump")]
pub struct OtherTime(pub fn(&mut dyn FnMut(&dyn Fn())));

impl std::fmt::Debug for OtherTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OtherTime")
    }
}

/// Which search explores the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Engine {
    /// Our breadth-first search: shortest counterexamples, honest limits.
    Own,
    /// Stateright's, over the same model.
    Stateright,
}

impl Engine {
    /// Both of them.
    pub const ALL: &[Engine] = Engine::VARIANTS;
}

impl CheckConfig {
    /// A full search within these bounds: memo, keys and their audit on, every reduction off, no limit.
    pub fn new(bounds: Bounds) -> CheckConfig {
        CheckConfig {
            bounds,
            reductions: Reductions::default(),
            memo: true,
            keys: true,
            audit: true,
            other_time: None,
            effects: bounds.effects,
            stale_syncs: true,
            false_expiries: true,
            admin_parents: false,
            true_zxids: false,
            ranks: false,
            guids_fall: false,
            engine: Engine::Own,
            promise: None,
            livelock: true,
            inevitable_within: None,
            time_limit: None,
            max_states: None,
            max_memory: None,
            max_depth: None,
            stop: None,
        }
    }
}

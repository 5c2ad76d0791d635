//! What to explore of an ensemble: how much of each, from where, and what is merged.

use crate::trace_validation::Restriction;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use strum::VariantArray;
use zk_proto::zab::PeerConfig;

/// How many of each there are at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EnsembleBounds {
    /// Servers that vote.
    pub servers: u8,
    /// Servers that do not.
    pub observers: u8,
    /// Transactions proposed.
    pub txns: u8,
    /// Servers that crash. Each may start again at any time, or never.
    pub crashes: u8,
    /// Links that break.
    pub breaks: u8,
    /// Pairs of servers that hear nothing of each other for a while, or for ever.
    pub partitions: u8,
    /// Rounds of elections that any server begins after those of the start.
    pub elections: u8,
    /// Timers that come while something else could still happen.
    pub timeouts: u8,
    /// Transactions of a past epoch that some servers find on their disks (synchronisation only).
    pub past: u8,
}

impl EnsembleBounds {
    /// So many voters, and nothing that goes wrong.
    pub fn servers(servers: u8) -> EnsembleBounds {
        EnsembleBounds { servers, ..EnsembleBounds::default() }
    }
}

/// So many ticks every server waits, for whatever it is. Two, so that who is asked in the first can answer before the
/// second.
pub(super) const LIMIT_TICKS: u32 = 1;

/// Where a model begins, and what can happen in it. Never another protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    /// Everybody looks for a leader, and nobody dials anybody.
    Election,
    /// Everybody has decided for the same leader, with all histories that a past epoch of so many transactions may
    /// have left on their disks.
    Synchronisation,
    /// Of three voters one has decided to lead and was cut off, and the others have gone on without it: two stand for
    /// one epoch, or for two.
    CompetingLeaders,
    /// Everybody serves.
    Broadcast,
    /// Everybody has just been switched on.
    Whole,
}

impl Level {
    /// All of them.
    pub const ALL: &[Level] = Level::VARIANTS;

    /// Whether learners dial their leaders.
    pub(super) fn has_links(self) -> bool {
        match self {
            Level::Election => false,
            Level::Synchronisation | Level::CompetingLeaders | Level::Broadcast | Level::Whole => true,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What the clients of whole servers ask for, one thing after the other. Servers without a tree have no use for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Work {
    /// Sequential znodes.
    #[default]
    Counters,
    /// Several operations at once, now one that cannot be done and now one that can.
    Multis,
    /// An ephemeral znode, and the end of its session.
    Sessions,
    /// A watch, what it waits for, and a read.
    Watches,
}

impl Work {
    /// All of them.
    pub const ALL: &[Work] = Work::VARIANTS;

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What becomes of what the client sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Traces {
    /// States that differ in it alone are one.
    #[default]
    Forgotten,
    /// It is a part of the state, and `Service`, or a restricted one, must allow it.
    Judged(Option<Restriction>),
}

/// How a server is set up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Its place in the ensemble.
    pub peer: PeerConfig,
    /// What clients ask for.
    pub work: Work,
    /// It begins a snapshot of its own after each transaction.
    pub snapshots: bool,
    /// What becomes of what its client sees.
    pub traces: Traces,
}

/// The steps and states that the search merges. `ENSEMBLE.md` says why no invariant can tell; all are on, except in
/// tests that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merges {
    /// Of the datagrams between two servers only the newest is on its way.
    pub datagrams: bool,
    /// A link comes about when its other end takes it. Off: it may be made before, and is hung up.
    pub dials: bool,
    /// A timer that would do nothing is not set.
    pub timers: bool,
    /// A learner with nothing to wait for goes first, once nothing can go wrong any more.
    pub learners: bool,
}

impl Merges {
    /// Everything that may be merged.
    pub const ALL: Merges = Merges { datagrams: true, dials: true, timers: true, learners: true };
    /// Every step by itself.
    pub const NONE: Merges = Merges { datagrams: false, dials: false, timers: false, learners: false };

    /// What is merged, in a few words each.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            (self.datagrams, "older datagrams"),
            (self.dials, "refused links"),
            (self.timers, "idle timers"),
            (self.learners, "learners first when it is calm"),
        ];
        all.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect()
    }
}

/// Changes how every server is set up.
#[derive(Clone)]
pub struct Tune(pub Arc<dyn Fn(&mut PeerConfig) + Send + Sync>);

impl fmt::Debug for Tune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tune")
    }
}

impl Default for Tune {
    fn default() -> Tune {
        Tune(Arc::new(|_| ()))
    }
}

/// What to explore, how, and when to give up.
#[derive(Clone, Debug)]
pub struct EnsembleConfig {
    /// How much of each.
    pub bounds: EnsembleBounds,
    /// From where.
    pub level: Level,
    /// What is merged.
    pub merges: Merges,
    /// How servers are set up, beyond the bounds: a mutant, the last counter of an epoch, the longest difference.
    pub tune: Tune,
    /// What clients ask whole servers for.
    pub work: Work,
    /// Whole servers write snapshots of their own.
    pub snapshots: bool,
    /// What becomes of what the client of whole servers sees.
    pub traces: Traces,
    /// Look whether progress is possible from everywhere, and whether something may go round without it for ever.
    pub liveness: bool,
    /// Give up after so long.
    pub time_limit: Option<Duration>,
    /// Give up after so many states.
    pub max_states: Option<u64>,
    /// Give up once the process holds so many bytes in memory.
    pub max_memory: Option<u64>,
    /// Go no deeper.
    pub max_depth: Option<u32>,
    /// Give up as soon as somebody sets this.
    pub stop: Option<Arc<AtomicBool>>,
    /// By so many threads. What is found is the same.
    pub threads: usize,
}

impl EnsembleConfig {
    /// A search within these bounds with everything merged that may be, and no limit.
    pub fn new(level: Level, bounds: EnsembleBounds) -> EnsembleConfig {
        EnsembleConfig {
            bounds,
            level,
            merges: Merges::ALL,
            tune: Tune::default(),
            work: Work::default(),
            snapshots: false,
            traces: Traces::default(),
            liveness: true,
            time_limit: None,
            max_states: None,
            max_memory: None,
            max_depth: None,
            stop: None,
            threads: 1,
        }
    }
}

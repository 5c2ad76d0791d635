//! The invariants by name, how often it was put to the test, and what was broken.

use std::collections::BTreeMap;
use strum::{EnumCount, VariantArray};

/// An invariant.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumCount, VariantArray, strum::IntoStaticStr,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Invariant {
    AcknowledgedWritesSurvive,
    AnswersMatchReference,
    RealTimeOrderOfWrites,
    ZxidsNeverGoBack,
    SessionFifo,
    WatchBeforeAnswer,
    EphemeralsOfDeadSessionsGone,
    NoEarlyExpiry,
    NoLateExpiry,
    SessionsToOwners,
    SyncShowsCommitted,
    ServersAgree,
    MultiIsAtomic,
    EveryServerServes,
    AnswersInTime,
    NoPanic,
    NoSpin,
    StepBudget,
    EveryStepEnds,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Invariant; Invariant::COUNT] =
        *Invariant::VARIANTS.first_chunk().expect("they are as many");

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether what follows would only be its consequences. A task that panics or spins is a process that
    /// crashes, which the others must bear.
    pub const fn ends_the_run(self) -> bool {
        !matches!(self, Invariant::NoPanic | Invariant::NoSpin)
    }
}

/// So many breaks are told at most: what follows is the same again.
const MOST_TOLD: usize = 1000;

/// How often each was put to the test, and what was broken.
#[derive(Debug, Default)]
pub struct Report {
    /// There are several servers, which could differ.
    is_ensemble: bool,
    tested: [u64; Invariant::ALL.len()],
    /// The first of what was broken.
    pub broken: Vec<(Invariant, String)>,
    /// How often each interesting case was met.
    pub cases: BTreeMap<&'static str, u64>,
}

impl Report {
    /// A server that is alone differs from nobody.
    pub(crate) fn of(is_ensemble: bool) -> Report {
        Report { is_ensemble, ..Report::default() }
    }

    /// It could have been broken and was not.
    pub fn tested(&mut self, invariant: Invariant) {
        self.tested[invariant as usize] += 1;
    }

    /// An interesting case was met.
    pub fn case(&mut self, case: &'static str) {
        *self.cases.entry(case).or_insert(0) += 1;
    }

    /// It was broken.
    pub fn broken(&mut self, invariant: Invariant, what: String) {
        self.check(invariant, false, || what);
    }

    /// It was put to the test, and held or not.
    pub fn check(&mut self, invariant: Invariant, holds: bool, what: impl FnOnce() -> String) {
        self.tested(invariant);
        if !holds && self.broken.len() < MOST_TOLD {
            self.broken.push((invariant, what()));
        }
    }

    /// By name, how often each was put to the test. Who has asked for no multi, or no learner for a
    /// sync, is not concerned with those.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let concerned = |i: &Invariant| match i {
            Invariant::ServersAgree => self.is_ensemble,
            Invariant::MultiIsAtomic | Invariant::SyncShowsCommitted => self.tested[*i as usize] > 0,
            _ => true,
        };
        Invariant::ALL.into_iter().filter(concerned).map(|i| (i.name(), self.tested[i as usize])).collect()
    }
}

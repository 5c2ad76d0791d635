//! The invariants by name, how often it was put to the test, and what was broken.

use std::collections::BTreeMap;
use strum::{EnumCount, VariantArray};

/// An invariant.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumCount, VariantArray, strum::IntoStaticStr,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Invariant {
    /// What was acknowledged, and what a disk has synced, is there after every restart.
    AcknowledgedWritesSurvive,
    /// Every answer is that of a naive tree that has executed the same.
    AnswersMatchReference,
    /// A write that begins after another was acknowledged has the higher zxid.
    RealTimeOrderOfWrites,
    /// No answer shows a session an older state than it has seen.
    ZxidsNeverGoBack,
    /// The requests of a session are done and answered in the order in which they were sent.
    SessionFifo,
    /// A client is sent the event of a change before any answer that shows the change.
    WatchBeforeAnswer,
    /// Nothing is left of the ephemeral znodes of a session that is over.
    EphemeralsOfDeadSessionsGone,
    /// No session expires that was not silent for its timeout.
    NoEarlyExpiry,
    /// A session that is silent expires not much later than its timeout says.
    NoLateExpiry,
    /// Whoever asks for a session gets a new one, or its own while that is alive, and never that of another.
    SessionsToOwners,
    /// A sync's answer shows all that its leader knew to be committed when it was asked.
    SyncShowsCommitted,
    /// All servers execute the same transactions in the same order, and have the same trees.
    ServersAgree,
    /// A multi is done as a whole or not at all.
    MultiIsAtomic,
    /// When faults are over, every server serves.
    EveryServerServes,
    /// What needs no other server and waits for nothing is answered as soon as it is read.
    AnswersInTime,
    /// No task panics.
    NoPanic,
    /// No task asks and asks without ever waiting.
    NoSpin,
    /// A run comes to its end within its budget of events.
    StepBudget,
    /// Every step comes to its end.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_break_counts_and_the_first_are_told() {
        let mut report = Report::default();
        for n in 0..=MOST_TOLD {
            report.check(Invariant::SessionFifo, true, || panic!("it holds"));
            report.broken(Invariant::SessionFifo, n.to_string());
        }
        assert_eq!(report.by_name()[Invariant::SessionFifo.name()], 2 * (MOST_TOLD as u64 + 1));
        assert_eq!(report.broken.len(), MOST_TOLD);
        assert_eq!(report.broken[MOST_TOLD - 1].1, (MOST_TOLD - 1).to_string());
    }

    #[test]
    fn who_asks_for_no_multi_is_not_concerned_with_multis() {
        let mut report = Report::default();
        let name = Invariant::MultiIsAtomic.name();
        assert!(!report.by_name().contains_key(name) && report.by_name().contains_key("session-fifo"));
        report.tested(Invariant::MultiIsAtomic);
        assert_eq!(report.by_name()[name], 1);
    }
}

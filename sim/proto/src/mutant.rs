//! Bugs that can be planted, to show that what is watched would find them: one small deviation each.
//!
//! A mutant is chosen when a machine is set up ([`PeerConfig::mutant`](crate::zab::PeerConfig), which is the server's
//! as well), acts at its place
//! in the machine's code, and says so there, each time that it makes a difference: a find is credited to it only
//! after that.
//!
//! They are there in builds with the feature `mutants` alone, which tests have and releases have not.

mod table;

use table::{Facts, TABLE};

/// Whether this build can have any.
pub const ARE_THERE: bool = cfg!(feature = "mutants");

/// A planted bug. What is known of each is in a table, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
    EpochBeforeHistory,
    AcknowledgeBeforeHistory,
    AcknowledgesHistoryPiecemeal,
    ServesBeforeUpToDate,
    CommitWithoutPacket,
    QueueOutlivesElection,
    MemoryOutlivesElection,
    HistoryAtUpToDate,
    EqualHistoryById,
    AcknowledgeAfterEpoch,
    SnapshotInMemory,
    LogGoesBeforeSnapshot,
    HoleInLog,
    EpochBeforePromises,
    PromiseInMemory,
    VotesWithoutEpoch,
    SharesOnlyWhatStands,
    UnloggedBeforeUpToDate,
    EpochAtUpToDate,
    InvitesBeforePromising,
    CounterOverflows,
    RefusesToStart,
    ObserverStays,
    PullRequest1848,
    PullRequest1930,
    PullRequest1993,
    PullRequest2111,
    ProposesToAcknowledged,
    ProposesTwice,
    UpToDateIsOld,
    PromiseCountsTwice,
    ForgetsPromise,
    ForgetsTheLast,
    LeadsWithoutPromises,
    LeadsBehind,
    DoesNotGiveWay,
    InvitesAgain,
    EstablishesAlone,
    CommitsOnOneAcknowledgement,
    AcknowledgesBeforeWritten,
    DeliversBeforeWritten,
    DeliversUncommitted,
    DeliversBackwards,
    StampsDeliveries,
    UpToDateSaysAll,
    CutsTooMuch,
    DoesNotCut,
    VotesBeforeSettled,
    WatchAfterAnswer,
    WatchFiresTwice,
    WatchLost,
    SetWatchesForgets,
    LearnerExpires,
    TakeoverCutsTimeouts,
    CloseLooksAtApplied,
    LeaderCountsAnew,
    ReplayCountsAgain,
    MultiInPart,
    LogNotSynced,
    RestoreKeepsZnodes,
    MoveNotChecked,
    ClientGoesBack,
    ReadOvertakesWrite,
    AnswerTellsLater,
    LearnerForgetsTouch,
    SyncWithoutLeader,
    FormerNotAwaited,
    RefusalOverruled,
    PasswordNotCompared,
    ForwardedOutlivesRole,
    TakeoverGrantsTenfold,
    EventsToAnybody,
    CloseTakesEight,
    Canary,
}

impl Mutant {
    /// Every mutant.
    pub const ALL: [Mutant; TABLE.len()] = table::mutants();

    /// The mutant of that name.
    pub fn find(name: &str) -> Option<Mutant> {
        Mutant::ALL.into_iter().find(|mutant| mutant.name() == name)
    }

    fn facts(self) -> &'static Facts {
        &TABLE[self as usize]
    }

    /// Its name, in kebab case. Stable.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Where it comes from: an issue or a pull request of ZooKeeper's, a slip of a specification, or ourselves.
    pub fn source(self) -> &'static str {
        self.facts().source
    }

    /// What goes wrong, in one line.
    pub fn what(self) -> &'static str {
        self.facts().what
    }

    /// Whether it acts in a server, above its peer: it needs clients, sessions or a tree.
    pub fn is_of_server(self) -> bool {
        (Mutant::WatchAfterAnswer..Mutant::Canary).contains(&self)
    }

    /// The names of the invariants that are expected to find it: those of [`crate::zab::invariants`], those that are
    /// always watched of servers, and `liveness` for an ensemble that does not serve again when faults are over.
    pub fn family(self) -> &'static [&'static str] {
        self.facts().family
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zab::invariants;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_in_the_order_of_the_mutants() {
        assert!(TABLE.iter().enumerate().all(|(at, facts)| facts.mutant as usize == at));
    }

    #[test]
    fn names_tell_mutants_apart_and_find_them_again() {
        let names: BTreeSet<&str> = Mutant::ALL.into_iter().map(Mutant::name).collect();
        assert_eq!(names.len(), TABLE.len());
        assert!(Mutant::ALL.into_iter().all(|mutant| Mutant::find(mutant.name()) == Some(mutant)));
        assert!(
            names
                .iter()
                .all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        );
        assert_eq!(Mutant::find("no-such-mutant"), None);
    }

    #[test]
    fn families_are_invariants_there_are() {
        let known: BTreeSet<&str> =
            invariants::ALL.iter().map(|(name, _)| *name).chain(["liveness"]).collect();
        for mutant in Mutant::ALL {
            // What is watched of servers is known by names in kebab case, of which others speak.
            let is_of_servers = |name: &str| mutant.is_of_server() && name.contains('-');
            let strange = mutant.family().iter().find(|name| !known.contains(*name) && !is_of_servers(name));
            assert_eq!(strange, None, "{}", mutant.name());
            assert_eq!(mutant.family().is_empty(), mutant == Mutant::Canary);
        }
    }
}

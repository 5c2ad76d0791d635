//! Bugs that can be planted, to show that the invariants would find them: one small deviation each.
//!
//! A mutant is chosen when a machine is set up ([`PeerConfig::mutant`](crate::zab::PeerConfig), which is the server's
//! as well), acts at its place
//! in the machine's code, and says so there, each time that it makes a difference: a find is credited to it only
//! after that.
//!
//! They are there in builds with the feature `mutants` alone, which tests have and releases have not.
//!
//! ```
//! use zk_proto::mutant::Mutant;
//!
//! let mutant = Mutant::find("promise-in-memory").expect("it is one of them");
//! assert_eq!(mutant.what(), "a learner gives its promise and does not write it");
//! assert_eq!(mutant.source(), "ZOOKEEPER-335, 1081");
//! assert!(mutant.family().contains(&"PromisedIsDurable"));
//! assert!(!mutant.is_of_server(), "a peer without a server can have it");
//! ```

use std::str::FromStr;
use strum::{EnumCount, EnumMessage, EnumProperty, VariantArray};

/// Whether this build can have any.
pub const ARE_THERE: bool = cfg!(feature = "mutants");

/// A planted bug. Each says what goes wrong, where it comes from if it is not our own, and the names of the invariants
/// that are expected to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[derive(EnumCount, EnumMessage, EnumProperty, VariantArray, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Mutant {
    /// a learner writes its leader's epoch before the history that came with it
    #[strum(props(source = "ZOOKEEPER-4643"))]
    #[strum(props(found_by = "EpochHasHistory LeaderLogCompleteness InitialHistoryIntegrity \
        CommittedLogMonotonicity CommittedLogDurability CommittedIsOnAQuorum IllegalProposal"))]
    EpochBeforeHistory,
    /// a learner acknowledges its leader's history before it is on disk
    #[strum(props(source = "ZOOKEEPER-4646"))]
    #[strum(props(found_by = "AcknowledgedIsDurable LeaderLogCompleteness InitialHistoryIntegrity \
        CommittedIsOnAQuorum"))]
    AcknowledgeBeforeHistory,
    /// a learner acknowledges parts of its leader's history before the whole of it
    #[strum(props(source = "ZOOKEEPER-4685", found_by = "IllegalAck"))]
    AcknowledgesHistoryPiecemeal,
    /// a learner takes the first commit for the word to serve, and that word comes out of turn
    #[strum(props(source = "ZOOKEEPER-3023", found_by = "IllegalMessage IllegalState"))]
    ServesBeforeUpToDate,
    /// between the history's end and the word to serve, a commit of the history finds nothing and ends the learner
    #[strum(props(source = "ZOOKEEPER-4394", found_by = "IllegalCommit"))]
    CommitWithoutPacket,
    /// a peer looks for a leader by what is on disk, while its queue goes on writing
    #[strum(props(source = "ZOOKEEPER-4712"))]
    #[strum(props(found_by = "VoteIsDurable PrefixConsistency ProcessConsistency DurableIsOnDisk \
        AcknowledgedIsDurable PromisedIsDurable"))]
    QueueOutlivesElection,
    /// a peer looks for a leader by what it delivered, and its log still has more
    #[strum(props(source = "ZOOKEEPER-2845"))]
    #[strum(props(found_by = "DurableIsOnDisk ProcessConsistency PrefixConsistency IllegalProposal \
        CommittedLogDurability DeliveredIsDurable EpochHasHistory LeaderLogCompleteness PrimaryIntegrity"))]
    MemoryOutlivesElection,
    /// a learner writes its leader's history only as it begins to serve
    #[strum(props(source = "ZOOKEEPER-3911"))]
    #[strum(props(found_by = "AcknowledgedIsDurable LeaderLogCompleteness CommittedLogMonotonicity \
        CommittedIsOnAQuorum EpochHasHistory CommittedLogDurability"))]
    HistoryAtUpToDate,
    /// of votes with the same zxid the higher id wins, whatever their epochs
    #[strum(props(source = "ZOOKEEPER-1419", found_by = "VotesTotallyOrdered liveness"))]
    EqualHistoryById,
    /// a learner writes the epoch, acknowledges, and writes the history behind that
    #[strum(props(source = "ZOOKEEPER-4785"))]
    #[strum(props(found_by = "EpochHasHistory AcknowledgedIsDurable LeaderLogCompleteness \
        InitialHistoryIntegrity CommittedIsOnAQuorum"))]
    AcknowledgeAfterEpoch,
    /// a learner whose leader is gone in the middle of a snapshot goes on from it, and it is on no disk
    #[strum(props(source = "ZOOKEEPER-3642"))]
    #[strum(props(found_by = "VoteIsDurable DurableIsOnDisk PrefixConsistency DeliveredIsDurable"))]
    SnapshotInMemory,
    /// a learner drops its log before the snapshot that replaces it is on disk
    #[strum(props(source = "ZOOKEEPER-2872"))]
    #[strum(props(found_by = "DeliveredIsDurable CommittedIsOnAQuorum CommittedLogMonotonicity \
        CommittedLogDurability EpochHasHistory"))]
    LogGoesBeforeSnapshot,
    /// what a follower fails to log stays in its memory, and its log goes on behind the hole
    #[strum(props(source = "ZOOKEEPER-4882"))]
    #[strum(props(found_by = "DurableIsOnDisk AcknowledgedIsDurable DeliveredIsDurable \
        LeaderLogCompleteness VoteIsDurable IllegalProposal ProcessConsistency"))]
    HoleInLog,
    /// who would lead takes the epoch for its own before a quorum has promised
    #[strum(props(source = "ZOOKEEPER-790"))]
    #[strum(props(found_by = "EpochHasHistory LeaderLogCompleteness CommittedLogDurability \
        InitialHistoryIntegrity IllegalProposal IllegalAck CommittedLogMonotonicity"))]
    EpochBeforePromises,
    /// a learner gives its promise and does not write it
    #[strum(props(source = "ZOOKEEPER-335, 1081", found_by = "PromisedIsDurable Leadership1 Leadership2"))]
    PromiseInMemory,
    /// histories are judged by their last zxid alone
    #[strum(props(source = "ZOOKEEPER-1082"))]
    #[strum(props(found_by = "VotesTotallyOrdered PrimaryIntegrity LeaderLogCompleteness IllegalProposal"))]
    VotesWithoutEpoch,
    /// a follower that comes late is not sent the proposals in flight
    #[strum(props(source = "ZOOKEEPER-962", found_by = "IllegalProposal IllegalCommit ProcessConsistency"))]
    SharesOnlyWhatStands,
    /// a learner does not log what is proposed before it serves
    #[strum(props(source = "ZOOKEEPER-1264"))]
    #[strum(props(found_by = "DurableIsOnDisk AcknowledgedIsDurable VoteIsDurable DeliveredIsDurable"))]
    UnloggedBeforeUpToDate,
    /// a learner writes its leader's epoch only as it begins to serve
    #[strum(props(source = "ZOOKEEPER-1282"))]
    #[strum(props(found_by = "AcknowledgedIsDurable LeaderLogCompleteness InitialHistoryIntegrity"))]
    EpochAtUpToDate,
    /// a leader asks for promises in an epoch that it has not promised on disk itself
    #[strum(props(source = "ZOOKEEPER-1291", found_by = "PromisedIsDurable Leadership1 Leadership2"))]
    InvitesBeforePromising,
    /// a counter at its end carries into the epoch
    #[strum(props(source = "ZOOKEEPER-1277"))]
    #[strum(props(found_by = "IllegalProposal liveness PrimaryIntegrity LocalPrimaryOrder"))]
    CounterOverflows,
    /// a peer that crashed while it caught up does not start, as its log is newer than its epoch
    #[strum(props(source = "ZOOKEEPER-1653, 2354", found_by = "liveness"))]
    RefusesToStart,
    /// an observer that lost its leader looks for no other
    #[strum(props(source = "ZOOKEEPER-2212", found_by = "liveness"))]
    ObserverStays,
    /// the history is logged, and delivered, before it is acknowledged, but behind the epoch
    #[strum(props(source = "pull request 1848"))]
    #[strum(serialize = "pull-request-1848")]
    #[strum(props(found_by = "EpochHasHistory DeliveredStands LeaderLogCompleteness \
        CommittedLogMonotonicity PrefixConsistency Agreement IllegalCommit"))]
    PullRequest1848,
    /// what of the history is not committed yet is logged behind its acknowledgement
    #[strum(props(source = "pull request 1930"))]
    #[strum(serialize = "pull-request-1930")]
    #[strum(props(found_by = "EpochHasHistory AcknowledgedIsDurable LeaderLogCompleteness \
        InitialHistoryIntegrity CommittedIsOnAQuorum"))]
    PullRequest1930,
    /// the history is logged before it is acknowledged, but behind the epoch, and commits of it find nothing
    #[strum(props(source = "pull request 1993"))]
    #[strum(serialize = "pull-request-1993")]
    #[strum(props(found_by = "EpochHasHistory IllegalCommit LeaderLogCompleteness InitialHistoryIntegrity"))]
    PullRequest1993,
    /// the history is logged in order, but commits of it find nothing, and what comes behind it is delivered first
    #[strum(serialize = "pull-request-2111")]
    #[strum(props(source = "pull request 2111", found_by = "IllegalCommit DeliveredIsDurable"))]
    PullRequest2111,
    /// proposals go only to those that have acknowledged the history
    #[strum(props(source = "specification, issue 1", found_by = "IllegalCommit IllegalProposal"))]
    ProposesToAcknowledged,
    /// what is in flight is proposed again to a follower that got it with the history
    #[strum(props(source = "specification, issue 2", found_by = "IllegalProposal"))]
    ProposesTwice,
    /// the word to serve says what stood when the history was sent
    #[strum(props(source = "specification, issue 3", found_by = "IllegalCommit"))]
    UpToDateIsOld,
    /// a promise that was given to one leader is given to another as well
    #[strum(props(found_by = "Leadership1 Leadership2"))]
    PromiseCountsTwice,
    /// a start takes no account of what was promised and not followed
    #[strum(props(found_by = "Leadership1 Leadership2"))]
    ForgetsPromise,
    /// a start leaves out the last transaction of the log
    #[strum(props(found_by = "CommittedLogMonotonicity CommittedIsOnAQuorum DurableIsOnDisk \
        LeaderLogCompleteness PrimaryIntegrity EpochHasHistory ProcessConsistency InitialHistoryIntegrity"))]
    ForgetsTheLast,
    /// a leader goes on without the promises of a quorum
    #[strum(props(found_by = "Leadership1 Leadership2 LeaderLogCompleteness InitialHistoryIntegrity \
        CommittedLogDurability CommittedLogMonotonicity IllegalProposal EpochHasHistory"))]
    LeadsWithoutPromises,
    /// a leader goes on though a follower has more of the history
    #[strum(props(found_by = "LeaderLogCompleteness InitialHistoryIntegrity CommittedLogDurability \
        IllegalProposal PrimaryIntegrity CommittedLogMonotonicity EpochHasHistory"))]
    LeadsBehind,
    /// a leader invites a learner that has promised a later epoch
    #[strum(props(found_by = "IllegalState liveness"))]
    DoesNotGiveWay,
    /// a leader tells its epoch twice
    #[strum(props(found_by = "IllegalState"))]
    InvitesAgain,
    /// a leader takes its history to stand when it is on its own disk
    #[strum(props(found_by = "CommittedIsOnAQuorum LeaderLogCompleteness PrimaryIntegrity \
        InitialHistoryIntegrity"))]
    EstablishesAlone,
    /// a proposal is committed that is on one disk
    #[strum(props(found_by = "CommittedIsOnAQuorum LeaderLogCompleteness"))]
    CommitsOnOneAcknowledgement,
    /// a follower acknowledges proposals as they come
    #[strum(props(found_by = "AcknowledgedIsDurable CommittedIsOnAQuorum LeaderLogCompleteness"))]
    AcknowledgesBeforeWritten,
    /// a peer delivers what stands before it is on its own disk
    #[strum(props(found_by = "DeliveredIsDurable CommittedLogMonotonicity"))]
    DeliversBeforeWritten,
    /// a follower delivers what is on its own disk
    #[strum(props(found_by = "DeliveredStands Agreement PrefixConsistency PrimaryIntegrity"))]
    DeliversUncommitted,
    /// what is to be delivered at once is delivered last first
    #[strum(props(found_by = "LocalPrimaryOrder GlobalPrimaryOrder TotalOrder DeliveredStands"))]
    DeliversBackwards,
    /// a follower puts its own time in what it delivers
    #[strum(props(found_by = "Integrity DeliveredStands Agreement"))]
    StampsDeliveries,
    /// the word to serve says that everything proposed stands
    #[strum(props(found_by = "DeliveredStands IllegalCommit Agreement"))]
    UpToDateSaysAll,
    /// a learner is told to cut one transaction more than it must
    #[strum(props(found_by = "CommittedLogDurability IllegalProposal CommittedLogMonotonicity"))]
    CutsTooMuch,
    /// a learner keeps what it is told to cut
    #[strum(props(found_by = "ProcessConsistency IllegalProposal PrefixConsistency"))]
    DoesNotCut,
    /// a peer looks for a leader with what is on its way to the disk
    #[strum(props(found_by = "VoteIsDurable AcknowledgedIsDurable PromisedIsDurable"))]
    VotesBeforeSettled,
    /// a write's answer goes out before the events of its own change
    #[strum(props(found_by = "watch-before-answer"))]
    WatchAfterAnswer,
    /// an event is sent a second time
    #[strum(props(found_by = "watch-before-answer"))]
    WatchFiresTwice,
    /// a watch is used up and its event is not sent
    #[strum(props(found_by = "watch-before-answer"))]
    WatchLost,
    /// a client that sets its watches again is not told what it has missed
    #[strum(props(found_by = "watch-before-answer"))]
    SetWatchesForgets,
    /// a learner has the session of a connection that drops expired
    #[strum(props(found_by = "no-early-expiry"))]
    LearnerExpires,
    /// a new leader gives sessions an eighth of their timeout
    #[strum(props(found_by = "no-early-expiry"))]
    TakeoverCutsTimeouts,
    /// a session's end takes the ephemerals that are applied, not those that are proposed
    #[strum(props(found_by = "ephemerals-of-dead-sessions-gone answers-match-reference servers-agree"))]
    CloseLooksAtApplied,
    /// a new leader takes the number of children for the counter of sequential names
    #[strum(props(found_by = "answers-match-reference servers-agree"))]
    LeaderCountsAnew,
    /// replay over a fuzzy snapshot counts again what the snapshot shows already
    #[strum(props(found_by = "servers-agree acknowledged-writes-survive answers-match-reference"))]
    ReplayCountsAgain,
    /// of a multi that fails, what comes before the failure is done
    #[strum(props(found_by = "multi-is-atomic answers-match-reference"))]
    MultiInPart,
    /// a transaction counts as written before its log is synced
    #[strum(props(found_by = "acknowledged-writes-survive DurableIsOnDisk CommittedIsOnAQuorum"))]
    LogNotSynced,
    /// a server goes on behind a torn record, in the same file, and does not cut it off
    #[strum(props(found_by = "acknowledged-writes-survive CommittedLogMonotonicity CommittedIsOnAQuorum \
        LeaderLogCompleteness EpochHasHistory DurableIsOnDisk IllegalProposal"))]
    TailNotCut,
    /// a record that fails its checksum is taken for the end of its log
    #[strum(props(found_by = "acknowledged-writes-survive"))]
    RotIsTheEnd,
    /// a leader's state is laid over a learner's own, of which znodes stay
    #[strum(props(found_by = "servers-agree answers-match-reference"))]
    RestoreKeepsZnodes,
    /// a write from where its session is no more is done
    #[strum(props(found_by = "session-fifo"))]
    MoveNotChecked,
    /// a server lets in a client that has seen more than it has
    #[strum(props(found_by = "zxids-never-go-back"))]
    ClientGoesBack,
    /// a read does not wait for its own session's write
    #[strum(props(found_by = "session-fifo answers-match-reference"))]
    ReadOvertakesWrite,
    /// a write's answer tells the zxid of the next write
    #[strum(props(found_by = "answers-match-reference real-time-order-of-writes"))]
    AnswerTellsLater,
    /// a learner does not tell its leader of one session that it has heard of, an observer of none
    #[strum(props(found_by = "no-early-expiry"))]
    LearnerForgetsTouch,
    /// a learner answers a sync without its leader's word
    #[strum(props(found_by = "sync-shows-committed"))]
    SyncWithoutLeader,
    /// a learner answers what comes on a new connection before what its session wrote on a former one
    #[strum(props(found_by = "session-fifo"))]
    FormerNotAwaited,
    /// a learner grants a session that its leader refuses
    #[strum(props(found_by = "sessions-to-owners"))]
    RefusalOverruled,
    /// a leader grants a learner's client a session whatever its password is
    #[strum(props(found_by = "sessions-to-owners"))]
    PasswordNotCompared,
    /// a learner that has lost its leader still waits for what it had sent there
    #[strum(props(found_by = "answers-in-time"))]
    ForwardedOutlivesRole,
    /// a new leader gives sessions ten times their timeout
    #[strum(props(found_by = "no-late-expiry"))]
    TakeoverGrantsTenfold,
    /// events tell of znodes to who may not read them
    #[strum(props(source = "CVE-2024-23944", found_by = "watch-before-answer"))]
    EventsToAnybody,
    /// a session's end takes eight ephemerals at most
    #[strum(props(found_by = "ephemerals-of-dead-sessions-gone answers-match-reference servers-agree"))]
    CloseTakesEight,
    /// a learner says that it deviates and does not: nothing can find it, and that must be noticed
    Canary,
}

impl Mutant {
    /// Every mutant.
    pub const ALL: [Mutant; Mutant::COUNT] = *Mutant::VARIANTS.first_chunk().expect("they are as many");

    /// The mutant of that name.
    pub fn find(name: &str) -> Option<Mutant> {
        Mutant::from_str(name).ok()
    }

    /// Its name, in kebab case. Stable.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Where it comes from: an issue or a pull request of ZooKeeper's, a slip of a specification, or ourselves.
    pub fn source(self) -> &'static str {
        self.get_str("source").unwrap_or("our own")
    }

    /// What goes wrong, in one line.
    pub fn what(self) -> &'static str {
        self.get_documentation().expect("every mutant is documented")
    }

    /// Whether it acts in a server, above its peer: it needs clients, sessions or a tree.
    pub fn is_of_server(self) -> bool {
        (Mutant::WatchAfterAnswer..Mutant::Canary).contains(&self)
    }

    /// The names of the invariants that are expected to find it: those of [`crate::zab::invariants`], those of servers,
    /// and `liveness` for an ensemble that does not serve again when faults are over.
    pub fn family(self) -> Vec<&'static str> {
        self.get_str("found_by").unwrap_or_default().split_whitespace().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zab::invariants;
    use std::collections::BTreeSet;

    #[test]
    fn names_tell_mutants_apart_and_find_them_again() {
        let names: BTreeSet<&str> = Mutant::ALL.into_iter().map(Mutant::name).collect();
        assert_eq!(names.len(), Mutant::ALL.len());
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
            // Invariants of servers are known by names in kebab case, of which others speak.
            let is_of_servers = |name: &str| mutant.is_of_server() && name.contains('-');
            let strange =
                mutant.family().into_iter().find(|name| !known.contains(name) && !is_of_servers(name));
            assert_eq!(strange, None, "{}", mutant.name());
            assert_eq!(mutant.family().is_empty(), mutant == Mutant::Canary);
        }
    }
}

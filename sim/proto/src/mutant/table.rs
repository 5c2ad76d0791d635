//! What is known of each mutant.

mod servers;

use super::Mutant;
use servers::SERVERS;

/// What is known of a mutant.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) mutant: Mutant,
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    pub(super) what: &'static str,
    pub(super) family: &'static [&'static str],
}

const fn row(
    mutant: Mutant,
    name: &'static str,
    source: &'static str,
    what: &'static str,
    family: &'static [&'static str],
) -> Facts {
    Facts { mutant, name, source, what, family }
}

/// In the order of the enumeration.
pub(super) const TABLE: [Facts; Mutant::Canary as usize + 1] = {
    let mut table = [SERVERS[0]; Mutant::Canary as usize + 1];
    let mut at = 0;
    while at < table.len() {
        table[at] = if at < PEERS.len() { PEERS[at] } else { SERVERS[at - PEERS.len()] };
        at += 1;
    }
    table
};

/// Those of peers.
const PEERS: [Facts; Mutant::WatchAfterAnswer as usize] = [
    row(
        Mutant::EpochBeforeHistory,
        "epoch-before-history",
        "ZOOKEEPER-4643",
        "a learner writes its leader's epoch before the history that came with it",
        &[
            "EpochHasHistory",
            "LeaderLogCompleteness",
            "InitialHistoryIntegrity",
            "CommittedLogMonotonicity",
            "CommittedLogDurability",
            "CommittedIsOnAQuorum",
            "IllegalProposal",
        ],
    ),
    row(
        Mutant::AcknowledgeBeforeHistory,
        "acknowledge-before-history",
        "ZOOKEEPER-4646",
        "a learner acknowledges its leader's history before it is on disk",
        &[
            "AcknowledgedIsDurable",
            "LeaderLogCompleteness",
            "InitialHistoryIntegrity",
            "CommittedIsOnAQuorum",
        ],
    ),
    row(
        Mutant::AcknowledgesHistoryPiecemeal,
        "acknowledges-history-piecemeal",
        "ZOOKEEPER-4685",
        "a learner acknowledges parts of its leader's history before the whole of it",
        &["IllegalAck"],
    ),
    row(
        Mutant::ServesBeforeUpToDate,
        "serves-before-up-to-date",
        "ZOOKEEPER-3023",
        "a learner takes the first commit for the word to serve, and that word comes out of turn",
        &["IllegalMessage", "IllegalState"],
    ),
    row(
        Mutant::CommitWithoutPacket,
        "commit-without-packet",
        "ZOOKEEPER-4394",
        "between the history's end and the word to serve, a commit of the history finds nothing and ends the learner",
        &["IllegalCommit"],
    ),
    row(
        Mutant::QueueOutlivesElection,
        "queue-outlives-election",
        "ZOOKEEPER-4712",
        "a peer looks for a leader by what is on disk, while its queue goes on writing",
        &[
            "VoteIsDurable",
            "PrefixConsistency",
            "ProcessConsistency",
            "DurableIsOnDisk",
            "AcknowledgedIsDurable",
            "PromisedIsDurable",
        ],
    ),
    row(
        Mutant::MemoryOutlivesElection,
        "memory-outlives-election",
        "ZOOKEEPER-2845",
        "a peer looks for a leader by what it delivered, and its log still has more",
        &[
            "DurableIsOnDisk",
            "ProcessConsistency",
            "PrefixConsistency",
            "IllegalProposal",
            "CommittedLogDurability",
            "DeliveredIsDurable",
            "EpochHasHistory",
            "LeaderLogCompleteness",
            "PrimaryIntegrity",
        ],
    ),
    row(
        Mutant::HistoryAtUpToDate,
        "history-at-up-to-date",
        "ZOOKEEPER-3911",
        "a learner writes its leader's history only as it begins to serve",
        &[
            "AcknowledgedIsDurable",
            "LeaderLogCompleteness",
            "CommittedLogMonotonicity",
            "CommittedIsOnAQuorum",
            "EpochHasHistory",
            "CommittedLogDurability",
        ],
    ),
    row(
        Mutant::EqualHistoryById,
        "equal-history-by-id",
        "ZOOKEEPER-1419",
        "of votes with the same zxid the higher id wins, whatever their epochs",
        &["VotesTotallyOrdered", "liveness"],
    ),
    row(
        Mutant::AcknowledgeAfterEpoch,
        "acknowledge-after-epoch",
        "ZOOKEEPER-4785",
        "a learner writes the epoch, acknowledges, and writes the history behind that",
        &[
            "EpochHasHistory",
            "AcknowledgedIsDurable",
            "LeaderLogCompleteness",
            "InitialHistoryIntegrity",
            "CommittedIsOnAQuorum",
        ],
    ),
    row(
        Mutant::SnapshotInMemory,
        "snapshot-in-memory",
        "ZOOKEEPER-3642",
        "a learner whose leader is gone in the middle of a snapshot goes on from it, and it is on no disk",
        &["VoteIsDurable", "DurableIsOnDisk", "PrefixConsistency", "DeliveredIsDurable"],
    ),
    row(
        Mutant::LogGoesBeforeSnapshot,
        "log-goes-before-snapshot",
        "ZOOKEEPER-2872",
        "a learner drops its log before the snapshot that replaces it is on disk",
        &[
            "DeliveredIsDurable",
            "CommittedIsOnAQuorum",
            "CommittedLogMonotonicity",
            "CommittedLogDurability",
            "EpochHasHistory",
        ],
    ),
    row(
        Mutant::HoleInLog,
        "hole-in-log",
        "ZOOKEEPER-4882",
        "what a follower fails to log stays in its memory, and its log goes on behind the hole",
        &[
            "DurableIsOnDisk",
            "AcknowledgedIsDurable",
            "DeliveredIsDurable",
            "LeaderLogCompleteness",
            "VoteIsDurable",
            "IllegalProposal",
            "ProcessConsistency",
        ],
    ),
    row(
        Mutant::EpochBeforePromises,
        "epoch-before-promises",
        "ZOOKEEPER-790",
        "who would lead takes the epoch for its own before a quorum has promised",
        &[
            "EpochHasHistory",
            "LeaderLogCompleteness",
            "CommittedLogDurability",
            "InitialHistoryIntegrity",
            "IllegalProposal",
            "IllegalAck",
            "CommittedLogMonotonicity",
        ],
    ),
    row(
        Mutant::PromiseInMemory,
        "promise-in-memory",
        "ZOOKEEPER-335, 1081",
        "a learner gives its promise and does not write it",
        &["PromisedIsDurable", "Leadership1", "Leadership2"],
    ),
    row(
        Mutant::VotesWithoutEpoch,
        "votes-without-epoch",
        "ZOOKEEPER-1082",
        "histories are judged by their last zxid alone",
        &["VotesTotallyOrdered", "PrimaryIntegrity", "LeaderLogCompleteness", "IllegalProposal"],
    ),
    row(
        Mutant::SharesOnlyWhatStands,
        "shares-only-what-stands",
        "ZOOKEEPER-962",
        "a follower that comes late is not sent the proposals in flight",
        &["IllegalProposal", "IllegalCommit", "ProcessConsistency"],
    ),
    row(
        Mutant::UnloggedBeforeUpToDate,
        "unlogged-before-up-to-date",
        "ZOOKEEPER-1264",
        "a learner does not log what is proposed before it serves",
        &["DurableIsOnDisk", "AcknowledgedIsDurable", "VoteIsDurable", "DeliveredIsDurable"],
    ),
    row(
        Mutant::EpochAtUpToDate,
        "epoch-at-up-to-date",
        "ZOOKEEPER-1282",
        "a learner writes its leader's epoch only as it begins to serve",
        &["AcknowledgedIsDurable", "LeaderLogCompleteness", "InitialHistoryIntegrity"],
    ),
    row(
        Mutant::InvitesBeforePromising,
        "invites-before-promising",
        "ZOOKEEPER-1291",
        "a leader asks for promises in an epoch that it has not promised on disk itself",
        &["PromisedIsDurable", "Leadership1", "Leadership2"],
    ),
    row(
        Mutant::CounterOverflows,
        "counter-overflows",
        "ZOOKEEPER-1277",
        "a counter at its end carries into the epoch",
        &["IllegalProposal", "liveness", "PrimaryIntegrity", "LocalPrimaryOrder"],
    ),
    row(
        Mutant::RefusesToStart,
        "refuses-to-start",
        "ZOOKEEPER-1653, 2354",
        "a peer that crashed while it caught up does not start, as its log is newer than its epoch",
        &["liveness"],
    ),
    row(
        Mutant::ObserverStays,
        "observer-stays",
        "ZOOKEEPER-2212",
        "an observer that lost its leader looks for no other",
        &["liveness"],
    ),
    row(
        Mutant::PullRequest1848,
        "pull-request-1848",
        "pull request 1848",
        "the history is logged, and delivered, before it is acknowledged, but behind the epoch",
        &[
            "EpochHasHistory",
            "DeliveredStands",
            "LeaderLogCompleteness",
            "CommittedLogMonotonicity",
            "PrefixConsistency",
            "Agreement",
            "IllegalCommit",
        ],
    ),
    row(
        Mutant::PullRequest1930,
        "pull-request-1930",
        "pull request 1930",
        "what of the history is not committed yet is logged behind its acknowledgement",
        &[
            "EpochHasHistory",
            "AcknowledgedIsDurable",
            "LeaderLogCompleteness",
            "InitialHistoryIntegrity",
            "CommittedIsOnAQuorum",
        ],
    ),
    row(
        Mutant::PullRequest1993,
        "pull-request-1993",
        "pull request 1993",
        "the history is logged before it is acknowledged, but behind the epoch, and commits of it find nothing",
        &["EpochHasHistory", "IllegalCommit", "LeaderLogCompleteness", "InitialHistoryIntegrity"],
    ),
    row(
        Mutant::PullRequest2111,
        "pull-request-2111",
        "pull request 2111",
        "the history is logged in order, but commits of it find nothing, and what comes behind it is delivered first",
        &["IllegalCommit", "DeliveredIsDurable"],
    ),
    row(
        Mutant::ProposesToAcknowledged,
        "proposes-to-acknowledged",
        "specification, issue 1",
        "proposals go only to those that have acknowledged the history",
        &["IllegalCommit", "IllegalProposal"],
    ),
    row(
        Mutant::ProposesTwice,
        "proposes-twice",
        "specification, issue 2",
        "what is in flight is proposed again to a follower that got it with the history",
        &["IllegalProposal"],
    ),
    row(
        Mutant::UpToDateIsOld,
        "up-to-date-is-old",
        "specification, issue 3",
        "the word to serve says what stood when the history was sent",
        &["IllegalCommit"],
    ),
    row(
        Mutant::PromiseCountsTwice,
        "promise-counts-twice",
        "our own",
        "a promise that was given to one leader is given to another as well",
        &["Leadership1", "Leadership2"],
    ),
    row(
        Mutant::ForgetsPromise,
        "forgets-promise",
        "our own",
        "a start takes no account of what was promised and not followed",
        &["Leadership1", "Leadership2"],
    ),
    row(
        Mutant::ForgetsTheLast,
        "forgets-the-last",
        "our own",
        "a start leaves out the last transaction of the log",
        &[
            "CommittedLogMonotonicity",
            "CommittedIsOnAQuorum",
            "DurableIsOnDisk",
            "LeaderLogCompleteness",
            "PrimaryIntegrity",
            "EpochHasHistory",
            "ProcessConsistency",
            "InitialHistoryIntegrity",
        ],
    ),
    row(
        Mutant::LeadsWithoutPromises,
        "leads-without-promises",
        "our own",
        "a leader goes on without the promises of a quorum",
        &[
            "Leadership1",
            "Leadership2",
            "LeaderLogCompleteness",
            "InitialHistoryIntegrity",
            "CommittedLogDurability",
            "CommittedLogMonotonicity",
            "IllegalProposal",
            "EpochHasHistory",
        ],
    ),
    row(
        Mutant::LeadsBehind,
        "leads-behind",
        "our own",
        "a leader goes on though a follower has more of the history",
        &[
            "LeaderLogCompleteness",
            "InitialHistoryIntegrity",
            "CommittedLogDurability",
            "IllegalProposal",
            "PrimaryIntegrity",
            "CommittedLogMonotonicity",
            "EpochHasHistory",
        ],
    ),
    row(
        Mutant::DoesNotGiveWay,
        "does-not-give-way",
        "our own",
        "a leader invites a learner that has promised a later epoch",
        &["IllegalState", "liveness"],
    ),
    row(
        Mutant::InvitesAgain,
        "invites-again",
        "our own",
        "a leader tells its epoch twice",
        &["IllegalState"],
    ),
    row(
        Mutant::EstablishesAlone,
        "establishes-alone",
        "our own",
        "a leader takes its history to stand when it is on its own disk",
        &["CommittedIsOnAQuorum", "LeaderLogCompleteness", "PrimaryIntegrity", "InitialHistoryIntegrity"],
    ),
    row(
        Mutant::CommitsOnOneAcknowledgement,
        "commits-on-one-acknowledgement",
        "our own",
        "a proposal is committed that is on one disk",
        &["CommittedIsOnAQuorum", "LeaderLogCompleteness"],
    ),
    row(
        Mutant::AcknowledgesBeforeWritten,
        "acknowledges-before-written",
        "our own",
        "a follower acknowledges proposals as they come",
        &["AcknowledgedIsDurable", "CommittedIsOnAQuorum", "LeaderLogCompleteness"],
    ),
    row(
        Mutant::DeliversBeforeWritten,
        "delivers-before-written",
        "our own",
        "a peer delivers what stands before it is on its own disk",
        &["DeliveredIsDurable", "CommittedLogMonotonicity"],
    ),
    row(
        Mutant::DeliversUncommitted,
        "delivers-uncommitted",
        "our own",
        "a follower delivers what is on its own disk",
        &["DeliveredStands", "Agreement", "PrefixConsistency", "PrimaryIntegrity"],
    ),
    row(
        Mutant::DeliversBackwards,
        "delivers-backwards",
        "our own",
        "what is to be delivered at once is delivered last first",
        &["LocalPrimaryOrder", "GlobalPrimaryOrder", "TotalOrder", "DeliveredStands"],
    ),
    row(
        Mutant::StampsDeliveries,
        "stamps-deliveries",
        "our own",
        "a follower puts its own time in what it delivers",
        &["Integrity", "DeliveredStands", "Agreement"],
    ),
    row(
        Mutant::UpToDateSaysAll,
        "up-to-date-says-all",
        "our own",
        "the word to serve says that everything proposed stands",
        &["DeliveredStands", "IllegalCommit", "Agreement"],
    ),
    row(
        Mutant::CutsTooMuch,
        "cuts-too-much",
        "our own",
        "a learner is told to cut one transaction more than it must",
        &["CommittedLogDurability", "IllegalProposal", "CommittedLogMonotonicity"],
    ),
    row(
        Mutant::DoesNotCut,
        "does-not-cut",
        "our own",
        "a learner keeps what it is told to cut",
        &["ProcessConsistency", "IllegalProposal", "PrefixConsistency"],
    ),
    row(
        Mutant::VotesBeforeSettled,
        "votes-before-settled",
        "our own",
        "a peer looks for a leader with what is on its way to the disk",
        &["VoteIsDurable", "AcknowledgedIsDurable", "PromisedIsDurable"],
    ),
];

/// Those of the table.
pub(super) const fn mutants() -> [Mutant; TABLE.len()] {
    let mut mutants = [Mutant::Canary; TABLE.len()];
    let mut at = 0;
    while at < mutants.len() {
        mutants[at] = TABLE[at].mutant;
        at += 1;
    }
    mutants
}

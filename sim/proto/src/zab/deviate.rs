//! What planted bugs do, each at its place in the peer's code. Without one everything here does nothing.
//!
//! `deviates` leaves the mark, so it is asked last, where the answer makes a difference.

use super::config::PeerConfig;
use super::event::{Out, Output, RecoveredHistory, Violation, Write};
use super::history::Plan;
use super::leader::Leader;
use super::learner::{Learner, Phase};
use super::message::{LinkId, Packet, Vote};
use super::own::{Next, Own};
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::sync::Arc;
use zk_api::Zxid;

/// The order of votes as this peer sees it.
pub(super) fn prefers(config: &PeerConfig, a: &Vote, b: &Vote) -> bool {
    match config.planted() {
        Some(Mutant::EqualHistoryById) => {
            let newer = a.epoch == b.epoch && a.zxid > b.zxid;
            a.epoch > b.epoch || newer || a.zxid == b.zxid && a.leader > b.leader
        }
        Some(Mutant::VotesWithoutEpoch) => (a.zxid, a.leader) > (b.zxid, b.leader),
        Some(_) | None => a.beats(b),
    }
}

/// The same, with a mark where it is not the order of votes.
pub(super) fn judges(config: &PeerConfig, a: &Vote, b: &Vote, out: Out<'_>) -> bool {
    let prefers = prefers(config, a, b);
    if let (Some(mutant), true) = (config.planted(), prefers != a.beats(b)) {
        config.deviates(mutant, out);
    }
    prefers
}

/// What is taken for what is on disk.
pub(super) fn starts_otherwise(
    config: &PeerConfig,
    mut disk: RecoveredHistory,
    out: Out<'_>,
) -> RecoveredHistory {
    match config.planted() {
        Some(Mutant::ForgetsPromise) => {
            let known = disk.log.last().map_or(disk.base, |txn| txn.zxid).epoch().max(disk.current_epoch);
            if disk.accepted_epoch > known && config.deviates(Mutant::ForgetsPromise, out) {
                disk.accepted_epoch = known;
            }
        }
        Some(Mutant::ForgetsTheLast) if !disk.log.is_empty() => {
            config.deviates(Mutant::ForgetsTheLast, out);
            disk.log.pop();
        }
        Some(_) | None => {}
    }
    disk
}

/// The zxid behind the last of an epoch, when the counter carries into it.
pub(super) fn rolls_over(config: &PeerConfig, last: Zxid) -> Option<Zxid> {
    (config.planted() == Some(Mutant::CounterOverflows)).then(|| Zxid::new(last.epoch().wrapping_add(1), 0))
}

/// Whether it does not even look for a leader.
pub(super) fn refuses(own: &Own, out: Out<'_>) -> bool {
    let is_between = own.history.last().epoch() > own.storage.current_epoch();
    is_between && own.deviates(Mutant::RefusesToStart, out)
}

/// Turns away from a leader, or from leading, and forgets what is in memory alone, or what is not. `shared` is where
/// the history ended that leader and learners began with.
pub(super) fn leaves_otherwise(own: &mut Own, shared: Zxid, out: Out<'_>) {
    let Some(mutant) = own.config.planted() else { return };
    if mutant == Mutant::MemoryOutlivesElection {
        let kept = shared.max(own.delivered);
        if kept < own.history.last() {
            own.deviates(mutant, out);
            own.history.truncate(kept);
        }
    }
    for write in own.storage.take_held() {
        if own.deviates(Mutant::SnapshotInMemory, out) {
            own.storage.pretend(&write);
            if let Write::Restart(snapshot) = write {
                own.restore(snapshot, out);
            }
        } else if let Write::Append(txns) = write
            && let Some(before) = own.history.before(txns[0].zxid)
        {
            // Was to be written later, and nobody will.
            own.history.truncate(before);
        }
    }
}

/// Whether a peer without a leader never looks for one.
pub(super) fn stays(own: &Own, out: Out<'_>) -> bool {
    own.config.planted() == Some(Mutant::ObserverStays)
        && !own.config.votes()
        && own.deviates(Mutant::ObserverStays, out)
}

/// Whether a peer without a leader looks for one at once, whatever is on its way to the disk. One that takes its log
/// for shorter than it is does so now.
pub(super) fn looks_unsettled(own: &mut Own, out: Out<'_>) -> bool {
    let Some(mutant) = own.config.planted() else { return false };
    let (is_idle, durable) = (own.storage.is_idle(), own.storage.durable());
    match mutant {
        Mutant::QueueOutlivesElection if !is_idle && own.history.floor(durable) == Some(durable) => {
            own.deviates(mutant, out);
            own.history.truncate(durable);
            true
        }
        Mutant::VotesBeforeSettled if !is_idle => own.deviates(mutant, out),
        Mutant::MemoryOutlivesElection if is_idle => {
            own.storage.overlook(own.history.last());
            false
        }
        _ => false,
    }
}

/// Whether this peer has delivered in its own way. `serves` says whether it follows or observes, and serves.
pub(super) fn delivers_otherwise(own: &mut Own, serves: bool, out: Out<'_>) -> bool {
    let Some(mutant) = own.config.planted() else { return false };
    let up_to = own.deliverable();
    let known = own.committed.min(own.history.last());
    let durable = own.storage.durable().min(own.history.last());
    let due = own.history.between(own.delivered, up_to).to_vec();
    match mutant {
        Mutant::DeliversBeforeWritten if known > up_to.max(own.delivered) => {
            own.deviates(mutant, out);
            own.deliver_up_to(known, out);
        }
        Mutant::DeliversUncommitted if serves && durable > up_to.max(own.delivered) => {
            own.deviates(mutant, out);
            own.deliver_up_to(durable, out);
        }
        Mutant::DeliversBackwards if due.len() > 1 => {
            own.deviates(mutant, out);
            out.extend(due.into_iter().rev().map(Output::Deliver));
            own.delivered = up_to;
        }
        Mutant::StampsDeliveries if serves && !due.is_empty() => {
            own.deviates(mutant, out);
            let stamped = |txn: &Arc<Txn>| Arc::new(Txn { time_ms: txn.time_ms + 1, ..(**txn).clone() });
            out.extend(due.iter().map(|txn| Output::Deliver(stamped(txn))));
            own.delivered = up_to;
        }
        _ => return false,
    }
    true
}

// What a learner does.

/// Whether something else became of the leader's state.
pub(super) fn starts_over_otherwise(own: &mut Own, write: &Write, out: Out<'_>) -> bool {
    match own.config.planted() {
        Some(Mutant::SnapshotInMemory) => {
            own.storage.hold(write.clone());
            true
        }
        Some(Mutant::LogGoesBeforeSnapshot) if !own.history.log().is_empty() => {
            own.deviates(Mutant::LogGoesBeforeSnapshot, out);
            own.storage.push(Write::Truncate { to: own.history.base() });
            false
        }
        Some(_) | None => false,
    }
}

/// Whether something else became of a part of the history, or of a proposal.
pub(super) fn logs_otherwise(learner: &mut Learner, own: &mut Own, write: &Write, out: Out<'_>) -> bool {
    let Some(mutant) = own.config.planted() else { return false };
    let phase = learner.phase;
    let is_held = match mutant {
        Mutant::EpochBeforeHistory
        | Mutant::AcknowledgeAfterEpoch
        | Mutant::PullRequest1848
        | Mutant::PullRequest1930
        | Mutant::PullRequest1993 => phase == Phase::Synchronizing,
        Mutant::HistoryAtUpToDate => phase < Phase::Serving,
        Mutant::SnapshotInMemory => own.storage.holds(),
        _ => false,
    };
    if is_held {
        if mutant == Mutant::HistoryAtUpToDate && phase >= Phase::Persisting {
            own.deviates(mutant, out);
        }
        own.storage.hold(write.clone());
        return true;
    }
    match mutant {
        Mutant::UnloggedBeforeUpToDate => {
            matches!(phase, Phase::Persisting | Phase::Acknowledged) && own.deviates(mutant, out)
        }
        Mutant::HoleInLog => phase == Phase::Serving && !own.storage.is_idle() && own.deviates(mutant, out),
        Mutant::AcknowledgesBeforeWritten if phase == Phase::Serving && own.config.votes() => {
            own.deviates(mutant, out);
            own.storage.push(write.clone());
            learner.acked = own.history.last();
            learner.send(Packet::Ack { zxid: learner.acked }, out);
            true
        }
        _ => false,
    }
}

/// Whether the history and the epoch go to the disk in another order, or are acknowledged out of it.
pub(super) fn persists_otherwise(learner: &mut Learner, own: &mut Own, out: Out<'_>) -> bool {
    let Some(mutant) = own.config.planted() else { return false };
    let (epoch, synced, told) = (Write::CurrentEpoch(learner.epoch), learner.synced, learner.told);
    let holds = own.storage.holds();
    match mutant {
        Mutant::AcknowledgeBeforeHistory if own.storage.durable() < synced => {
            own.deviates(mutant, out);
            own.storage.push(epoch);
            learner.acknowledge_new_leader(out);
        }
        Mutant::EpochBeforeHistory
        | Mutant::AcknowledgeAfterEpoch
        | Mutant::PullRequest1848
        | Mutant::PullRequest1993
            if holds =>
        {
            own.deviates(mutant, out);
            own.storage.push(epoch);
            own.storage.release(|_| true);
            if mutant == Mutant::PullRequest1848 {
                own.committed = own.committed.max(synced);
            }
        }
        Mutant::PullRequest1930 if holds => {
            let stands = |write: &Write| matches!(write, Write::Append(txns) if txns[0].zxid <= told);
            own.storage.release(stands);
            own.storage.push(epoch);
            if own.storage.holds() {
                own.deviates(mutant, out);
            }
            own.storage.release(|_| true);
        }
        Mutant::HistoryAtUpToDate if holds => {
            own.deviates(mutant, out);
            own.storage.push(epoch);
        }
        Mutant::EpochAtUpToDate => {
            own.deviates(mutant, out);
            if own.storage.is_idle() {
                learner.acknowledge_new_leader(out);
            }
        }
        Mutant::SnapshotInMemory => {
            own.storage.release(|_| true);
            return false;
        }
        Mutant::Canary => {
            own.deviates(mutant, out);
            return false;
        }
        _ => return false,
    }
    true
}

/// Whether a learner makes something else of what is on disk now.
pub(super) fn acknowledges_otherwise(learner: &mut Learner, own: &Own, write: &Write, out: Out<'_>) -> bool {
    let Some(mutant) = own.config.planted() else { return false };
    let (phase, durable) = (learner.phase, own.storage.durable());
    match mutant {
        Mutant::EpochBeforeHistory | Mutant::PullRequest1848 | Mutant::PullRequest1993
            if phase == Phase::Persisting =>
        {
            if durable >= learner.synced && own.storage.current_epoch() == learner.epoch {
                learner.acknowledge_new_leader(out);
            }
            true
        }
        Mutant::EpochAtUpToDate if phase == Phase::Persisting => {
            if own.storage.is_idle() {
                learner.acknowledge_new_leader(out);
            }
            true
        }
        Mutant::AcknowledgesHistoryPiecemeal => {
            let is_history = matches!(phase, Phase::Synchronizing | Phase::Persisting);
            let is_more = matches!(write, Write::Append(_)) && durable > learner.acked && own.config.votes();
            if is_history && is_more && own.deviates(mutant, out) {
                learner.acked = durable;
                learner.send(Packet::Ack { zxid: durable }, out);
            }
            false
        }
        _ => false,
    }
}

/// What else a learner makes of a commit.
pub(super) fn told_otherwise(
    learner: &mut Learner,
    own: &mut Own,
    zxid: Zxid,
    out: Out<'_>,
) -> Option<Result<Next, Violation>> {
    let mutant = own.config.planted()?;
    match mutant {
        Mutant::CommitWithoutPacket | Mutant::PullRequest1993 | Mutant::PullRequest2111
            if learner.phase < Phase::Serving && zxid <= learner.synced =>
        {
            own.deviates(mutant, out);
            Some(Err(Violation::Commit))
        }
        Mutant::ServesBeforeUpToDate if learner.phase == Phase::Acknowledged => {
            own.deviates(mutant, out);
            Some(learner.serve(own, zxid, out))
        }
        _ => None,
    }
}

/// What else a learner does as it begins to serve.
pub(super) fn serves_otherwise(learner: &Learner, own: &mut Own, out: Out<'_>) {
    let Some(mutant) = own.config.planted() else { return };
    match mutant {
        Mutant::HistoryAtUpToDate => own.storage.release(|_| true),
        Mutant::EpochAtUpToDate => own.storage.push(Write::CurrentEpoch(learner.epoch)),
        Mutant::PullRequest2111 if own.committed > own.storage.durable() => {
            own.deviates(mutant, out);
            own.deliver_up_to(own.committed, out);
        }
        _ => {}
    }
}

// What a leader does.

/// Whether it leads though a follower has more of the history, which ends with `last`.
pub(super) fn leads_behind(own: &Own, last: Zxid, out: Out<'_>) -> bool {
    let by_zxid = last <= own.history.last() && own.deviates(Mutant::VotesWithoutEpoch, out);
    by_zxid || own.deviates(Mutant::LeadsBehind, out)
}

/// What a learner is told to stand as it may serve.
pub(super) fn says_otherwise(leader: &Leader, own: &Own, link: LinkId, out: Out<'_>) -> Zxid {
    let (acked, last, committed) = (leader.learners[&link].acked, own.history.last(), own.committed);
    if acked < committed && own.deviates(Mutant::UpToDateIsOld, out) {
        acked
    } else if last > committed && own.deviates(Mutant::UpToDateSaysAll, out) {
        last
    } else {
        committed
    }
}

/// How a learner is to catch up.
pub(super) fn plans_otherwise(own: &Own, plan: Plan, out: Out<'_>) -> Plan {
    match plan {
        Plan::Trunc { to } => match own.history.before(to) {
            Some(before) if own.deviates(Mutant::CutsTooMuch, out) => Plan::Trunc { to: before },
            Some(_) | None => plan,
        },
        Plan::Diff { .. } | Plan::Snap => plan,
    }
}

/// Sends what is in flight once more, behind a history that has it.
pub(super) fn proposes_again(leader: &Leader, own: &Own, link: LinkId, up_to: Zxid, out: Out<'_>) {
    if own.config.is_voter(leader.learners[&link].peer) {
        for txn in own.history.between(own.committed, up_to) {
            if own.deviates(Mutant::ProposesTwice, out) {
                out.push(Output::Send { link, packet: Packet::Proposal(txn.clone()) });
            }
        }
    }
}

/// Leaves the mark of a zxid that is not of this leader's epoch.
pub(super) fn marks_overflow(leader: &Leader, own: &Own, zxid: Zxid, out: Out<'_>) {
    if zxid.epoch() != leader.epoch {
        own.deviates(Mutant::CounterOverflows, out);
    }
}

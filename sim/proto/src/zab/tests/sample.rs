//! Transactions, histories and peers for the tests.

use crate::ids::ServerId;
use crate::message::Xid;
use crate::txn::{Txn, TxnBody};
use crate::zab::leader::{Leader, LeaderPhase};
use crate::zab::learner::Learner;
use crate::zab::storage::Storage;
use crate::zab::{History, Peer, PeerConfig, RecoveredHistory, Role, State};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};

/// A transaction told from others by its zxid alone.
pub(in crate::zab) fn txn(zxid: (u32, u32)) -> Arc<Txn> {
    let body = TxnBody::Delete { path: "/a".into() };
    Arc::new(Txn { zxid: Zxid::new(zxid.0, zxid.1), session: SessionId::NONE, xid: Xid(0), time_ms: 0, body })
}

/// Several of them.
pub(in crate::zab) fn txns(zxids: &[(u32, u32)]) -> Vec<Arc<Txn>> {
    zxids.iter().copied().map(txn).collect()
}

/// The history behind `base` with these transactions.
pub(in crate::zab) fn history(base: (u32, u32), log: &[(u32, u32)]) -> History {
    History::new(Zxid::new(base.0, base.1), txns(log))
}

/// One of three voters and an observer (4), which looks for a leader, with this log on its disk.
pub(in crate::zab) fn looking(id: u8, log: &[(u32, u32)]) -> Peer {
    let config = PeerConfig::new(ServerId(id), (1..=3).map(ServerId), [ServerId(4)]);
    let current_epoch = log.last().map_or(0, |zxid| zxid.0);
    let log = txns(log);
    Peer::start(
        config,
        RecoveredHistory { accepted_epoch: current_epoch, current_epoch, log, ..Default::default() },
    )
    .0
}

/// The same, leading an established epoch, with everything delivered.
pub(in crate::zab) fn leading(id: u8, epoch: u32, log: &[(u32, u32)]) -> Peer {
    let mut peer = looking(id, log);
    let mut leader = Leader::lead(&mut peer.own, &mut Vec::new());
    (leader.phase, leader.epoch) = (LeaderPhase::Broadcasting, epoch);
    peer.state = State::Leading(leader);
    peer.own.role = Role::Leading { epoch };
    deliver_all(peer)
}

/// The same, following, with everything delivered.
pub(in crate::zab) fn following(id: u8, leader: u8, epoch: u32, log: &[(u32, u32)]) -> Peer {
    let mut peer = looking(id, log);
    let leader = ServerId(leader);
    peer.state = State::Learning(Learner::serving(leader, epoch));
    peer.own.role = Role::Following { leader, epoch };
    deliver_all(peer)
}

fn deliver_all(mut peer: Peer) -> Peer {
    peer.own.committed = peer.own.history.last();
    peer.own.delivered = peer.own.history.last();
    peer
}

/// A peer that has logged these behind what is on its disk.
pub(in crate::zab) fn with_undurable(mut peer: Peer, more: &[(u32, u32)]) -> Peer {
    let storage = Storage::new(0, 0, &peer.own.history);
    txns(more).into_iter().for_each(|txn| peer.own.history.append(txn));
    peer.own.storage = storage;
    peer
}

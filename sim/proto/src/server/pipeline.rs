//! Proposals on their way: from the order they get to the quorum that makes them stand.

use super::{Note, Server, ServerId, Step};
use crate::disk::{DiskOp, FileId};
use crate::message::Xid;
use crate::recovery::encode_epoch;
use crate::txn::{Txn, TxnBody};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};

/// A leader gives its epoch up here: more than one step can propose is left.
const LAST_COUNTER: u32 = u32::MAX - (1 << 24);

/// What is proposed and not yet committed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pipeline {
    id: ServerId,
    /// Who votes. A server on its own is a quorum of one.
    voters: BTreeSet<ServerId>,
    /// The newest epoch this server knows of.
    epoch: u32,
    /// The last transaction proposed, or recovered from the log.
    proposed: Zxid,
    /// In order of their zxids, each next to the one before.
    in_flight: VecDeque<Proposal>,
}

/// A transaction that is proposed, and the servers that have it on their disks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Proposal {
    txn: Arc<Txn>,
    acks: BTreeSet<ServerId>,
}

impl Pipeline {
    /// Nothing in flight, behind a recovered log and recovered epochs.
    pub(super) fn new(id: ServerId, last: Zxid, epoch: u32) -> Pipeline {
        Pipeline {
            id,
            voters: BTreeSet::from([id]),
            epoch: epoch.max(last.epoch),
            proposed: last,
            in_flight: VecDeque::new(),
        }
    }

    /// The last transaction proposed.
    pub(super) fn proposed(&self) -> Zxid {
        self.proposed
    }

    /// Whether the epoch must end, as its counter comes to its end.
    pub(super) fn is_worn_out(&self) -> bool {
        self.proposed.epoch == self.epoch && self.proposed.counter > LAST_COUNTER
    }

    fn next(&self) -> Zxid {
        if self.proposed.epoch == self.epoch { self.proposed.next() } else { Zxid::new(self.epoch, 1) }
    }

    /// The last transaction in flight that a session has asked for.
    pub(super) fn last_of(&self, session: SessionId) -> Option<Zxid> {
        self.in_flight.iter().rev().find(|p| p.txn.session == session).map(|p| p.txn.zxid)
    }

    fn propose(&mut self, txn: Arc<Txn>) {
        self.proposed = txn.zxid;
        self.in_flight.push_back(Proposal { txn, acks: BTreeSet::new() });
    }

    /// A server has everything up to `zxid` on its disk.
    fn acknowledge(&mut self, server: ServerId, zxid: Zxid) {
        for proposal in self.in_flight.iter_mut().take_while(|p| p.txn.zxid <= zxid) {
            proposal.acks.insert(server);
        }
    }

    /// The next transaction that a quorum has. Strictly in order: a later one never stands before an earlier.
    fn commit(&mut self) -> Option<Arc<Txn>> {
        let front = self.in_flight.front()?;
        let stands = front.acks.intersection(&self.voters).count() * 2 > self.voters.len();
        stands.then(|| self.in_flight.pop_front().expect("the front was just seen").txn)
    }
}

impl Server {
    /// Leads a new epoch, once it is on the disk. Whoever is connected until then is sent away.
    pub(super) fn begin_epoch(&mut self, step: &mut Step<'_>) {
        let connected: Vec<_> = self.connections.keys().copied().collect();
        for conn in connected {
            self.close(conn, step);
        }
        self.pipeline.epoch = self.pipeline.epoch.checked_add(1).expect("fewer than 2^32 epochs");
        let bytes = encode_epoch(self.pipeline.epoch);
        // A promise to follow comes before the epoch's history, as ZooKeeper persists them.
        for file in [FileId::AcceptedEpoch, FileId::CurrentEpoch] {
            let ticket = self.storage.ticket();
            self.awaited.insert(ticket);
            step.out.push(super::Output::Disk(DiskOp::Replace { file, bytes: bytes.clone(), ticket }));
        }
    }

    /// Gives a transaction its place in the order and sends it on its way.
    pub(super) fn propose(
        &mut self,
        session: SessionId,
        xid: Xid,
        body: TxnBody,
        step: &mut Step<'_>,
    ) -> Zxid {
        let zxid = self.pipeline.next();
        let txn = Arc::new(Txn { zxid, session, xid, time_ms: step.now_ms, body });
        self.ahead.apply(&txn);
        self.ahead_sessions.apply(&txn);
        self.storage.append(&txn);
        self.pipeline.propose(txn.clone());
        step.note(Note::Proposed(txn));
        zxid
    }

    /// The disk has done a `Sync` or a `Replace`.
    pub(super) fn on_synced(&mut self, file: FileId, ticket: u64, step: &mut Step<'_>) {
        match file {
            FileId::Snapshot(_) => self.storage.on_snapshot_synced(ticket, &self.config, step.out),
            FileId::Log(_) | FileId::AcceptedEpoch | FileId::CurrentEpoch => {
                if self.awaited.remove(&ticket) {
                    if self.awaited.is_empty() {
                        self.begin_serving(step);
                    }
                } else if let Some(durable) = self.storage.on_log_synced(ticket) {
                    self.pipeline.acknowledge(self.pipeline.id, durable);
                    self.commit(step);
                }
            }
        }
    }

    fn commit(&mut self, step: &mut Step<'_>) {
        while let Some(txn) = self.pipeline.commit() {
            step.note(Note::Committed(txn.zxid));
            self.apply(&txn, step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Files;
    use crate::message::{ConnId, ConnectRequest};
    use crate::prepare::TreeConfig;
    use crate::server::{Event, Input, Output, ServerConfig};

    fn txn(counter: u32) -> Arc<Txn> {
        Arc::new(Txn {
            zxid: Zxid::new(1, counter),
            session: SessionId::NONE,
            xid: Xid(0),
            time_ms: 0,
            body: TxnBody::Delete { path: "/a".into() },
        })
    }

    #[test]
    fn only_a_quorum_commits_and_only_in_order() {
        let mut pipeline = Pipeline::new(ServerId(1), Zxid::ZERO, 1);
        pipeline.voters.extend([ServerId(2), ServerId(3)]);
        pipeline.propose(txn(1));
        pipeline.propose(txn(2));
        pipeline.acknowledge(ServerId(1), Zxid::new(1, 2));
        // An observer has it too, which is no vote.
        pipeline.acknowledge(ServerId(9), Zxid::new(1, 2));
        assert_eq!(pipeline.commit(), None);
        pipeline.acknowledge(ServerId(3), Zxid::new(1, 1));
        assert_eq!(pipeline.commit(), Some(txn(1)));
        assert_eq!(pipeline.commit(), None);
        pipeline.acknowledge(ServerId(2), Zxid::new(1, 2));
        assert_eq!(pipeline.commit(), Some(txn(2)));
    }

    #[test]
    fn an_epoch_begins_at_one() {
        let pipeline = Pipeline::new(ServerId(1), Zxid::new(4, 7), 5);
        assert_eq!(pipeline.next(), Zxid::new(5, 1));
    }

    #[test]
    fn an_epoch_ends_before_its_counter() {
        let mut pipeline = Pipeline::new(ServerId(1), Zxid::new(4, u32::MAX), 5);
        assert!(!pipeline.is_worn_out());
        pipeline.proposed = Zxid::new(5, u32::MAX - 1);
        assert!(pipeline.is_worn_out());
    }
    /// Takes one step, and does at once whatever the disk is asked for.
    fn step(server: &mut Server, event: Event) -> Vec<Output> {
        let mut out = Vec::new();
        server.step(Input { now_ms: 0, event }, &mut out);
        let mut told = 0;
        while let Some(at) = out[told..].iter().position(|o| matches!(o, Output::Disk(_))) {
            told += at + 1;
            if let Output::Disk(DiskOp::Sync { file, ticket } | DiskOp::Replace { file, ticket, .. }) =
                out[told - 1]
            {
                let synced = Event::Synced { file, ticket };
                server.step(Input { now_ms: 0, event: synced }, &mut out);
            }
        }
        out
    }

    fn connecting(conn: u64) -> Event {
        let (session, password) = (SessionId::NONE, [0; 16]);
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 1000, session, password };
        Event::Connecting {
            conn: ConnId(conn),
            request,
            offer: (SessionId(conn as i64), [1; 16]),
            address: None,
        }
    }

    #[test]
    fn a_server_whose_epoch_is_worn_out_goes_on_in_the_next() {
        let tree = TreeConfig { extended_types: false, order_salt: 0 };
        let id = ServerId(1);
        let (snapshot_every, snapshot_step, snapshots_kept) = (0, 1, 1);
        let config = ServerConfig {
            id,
            tick_ms: 500,
            snapshot_every,
            snapshot_step,
            snapshots_kept,
            snapshot_bytes: 0,
            container_check_ms: 60_000,
            super_digest: None,
            tree,
        };
        let (mut server, out) = Server::start(config, &Files::new(), 0).unwrap();
        for output in out {
            if let Output::Disk(DiskOp::Replace { file, ticket, .. }) = output {
                step(&mut server, Event::Synced { file, ticket });
            }
        }
        server.pipeline.proposed = Zxid::new(1, LAST_COUNTER);
        let out = step(&mut server, connecting(1));
        assert!(out.contains(&Output::Close { conn: ConnId(1) }));
        // Its last transaction stands all the same, and the next epoch begins at one.
        assert!(out.contains(&Output::Note(Note::Applied(Zxid::new(1, LAST_COUNTER + 1)))));
        assert!(server.is_serving());
        let out = step(&mut server, connecting(2));
        assert!(out.contains(&Output::Note(Note::Applied(Zxid::new(2, 1)))));
    }
}

//! What planted bugs do to a server, each at its place in its code. Without one everything here does nothing. None
//! needs more than the set-up, and what it is told.
//!
//! `deviates` leaves the mark, so it is asked last, where the answer makes a difference.

use super::config::ServerConfig;
use super::connection::{Connection, Waiting};
use super::event::{Note, Output};
use crate::disk::{DiskOp, FileId, Files};
use crate::ids::{ConnId, Xid};
use crate::message::{Ask, ForwardedWrite};
use crate::mutant::Mutant;
use crate::prepare::{Caller, close_session, prepare};
use crate::recovery::{Recovered, RecoveryError, recover};
use crate::tree::DataTree;
use crate::txn::{Txn, TxnBody};
use crate::zab::{self, Write};
use crate::{log, snapshot};
use std::cell::Cell;
use std::collections::BTreeMap;
use zk_api::{Request, SessionId, WatchedEvent, Zxid, split};

impl ServerConfig {
    /// Whether this server has that bug, which acts just here.
    pub(super) fn deviates(&self, mutant: Mutant, out: &mut Vec<Output>) -> bool {
        let deviates = self.zab.planted() == Some(mutant);
        out.extend(deviates.then_some(Output::Note(Note::Zab(zab::Note::Deviated(mutant)))));
        deviates
    }

    /// What a write becomes.
    pub(super) fn prepares_otherwise(
        &self,
        ahead: &DataTree,
        applied: &DataTree,
        caller: Caller<'_>,
        request: &Request,
        body: TxnBody,
        out: &mut Vec<Output>,
    ) -> TxnBody {
        if self.zab.planted().is_none() {
            return body;
        }
        let good = match &body {
            TxnBody::MultiError(codes) => codes.iter().position(Option::is_some).unwrap_or(0),
            _ => 0,
        };
        match request {
            Request::Multi { ops } if good > 0 && self.deviates(Mutant::MultiInPart, out) => {
                prepare(ahead, &self.tree, caller, &Request::Multi { ops: ops[..good].to_vec() })
            }
            _ => self.closes_otherwise(applied, caller.session, body, out),
        }
    }

    /// What a session's end takes with it.
    pub(super) fn closes_otherwise(
        &self,
        applied: &DataTree,
        session: SessionId,
        body: TxnBody,
        out: &mut Vec<Output>,
    ) -> TxnBody {
        match body {
            TxnBody::CloseSession { expired, .. }
                if self.zab.planted() == Some(Mutant::CloseLooksAtApplied) =>
            {
                let otherwise = close_session(applied, &self.tree, session, expired);
                if otherwise != body {
                    self.deviates(Mutant::CloseLooksAtApplied, out);
                }
                otherwise
            }
            TxnBody::CloseSession { mut ephemerals, expired } if ephemerals.len() > 8 => {
                if self.deviates(Mutant::CloseTakesEight, out) {
                    ephemerals.truncate(8);
                }
                TxnBody::CloseSession { ephemerals, expired }
            }
            body => body,
        }
    }

    /// The timeout that a session gets from a new leader.
    pub(super) fn grants_otherwise(&self, timeout_ms: u32, out: &mut Vec<Output>) -> u32 {
        if self.deviates(Mutant::TakeoverCutsTimeouts, out) {
            timeout_ms / 8
        } else if self.deviates(Mutant::TakeoverGrantsTenfold, out) {
            timeout_ms * 10
        } else {
            timeout_ms
        }
    }

    /// Whether who may not read is told all the same; notes that somebody is.
    pub(super) fn tells_anybody(&self, leaks: &Cell<bool>) -> bool {
        let tells = self.zab.planted() == Some(Mutant::EventsToAnybody);
        leaks.set(leaks.get() || tells);
        tells
    }

    /// The tree ahead of a new leader.
    pub(super) fn counts_otherwise(&self, mut ahead: DataTree, out: &mut Vec<Output>) -> DataTree {
        if self.zab.planted() != Some(Mutant::LeaderCountsAnew) {
            return ahead;
        }
        let has_fewer = |(path, node): (&zk_api::Text, &crate::tree::Node)| {
            let count = node.children.len() as i32;
            (node.created > count).then(|| (path.clone(), node.clone(), count))
        };
        let fewer: Vec<_> = ahead.nodes().filter_map(has_fewer).collect();
        for (path, mut node, count) in fewer {
            self.deviates(Mutant::LeaderCountsAnew, out);
            node.created = count;
            ahead.restore(path, node);
        }
        ahead
    }

    /// The tree of a learner that has got its leader's.
    pub(super) fn restores_otherwise(
        &self,
        own: &DataTree,
        mut tree: DataTree,
        out: &mut Vec<Output>,
    ) -> DataTree {
        if self.zab.planted() == Some(Mutant::RestoreKeepsZnodes) {
            for (path, node) in own.nodes() {
                if tree.node(path).is_none() && tree.node(split(path).0).is_some() {
                    self.deviates(Mutant::RestoreKeepsZnodes, out);
                    tree.restore(path.clone(), node.clone());
                }
            }
        }
        tree
    }

    /// What a server finds on its disk.
    pub(super) fn recovers_otherwise(
        &self,
        files: &Files,
        out: &mut Vec<Output>,
    ) -> Result<Recovered, RecoveryError> {
        if self.zab.planted() != Some(Mutant::RotIsTheEnd) {
            return recover(files);
        }
        let (mut files, mut cuts) = (files.clone(), Vec::new());
        loop {
            match recover(&files) {
                Err(RecoveryError::CorruptLog { file, offset, flaw: _ }) => {
                    self.deviates(Mutant::RotIsTheEnd, out);
                    files.entry(file).or_default().truncate(offset as usize);
                    cuts.push(DiskOp::Truncate { file, len: offset });
                }
                Ok(found) => return Ok(Recovered { repairs: [cuts, found.repairs].concat(), ..found }),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a server keeps torn tails, and goes on behind them.
    pub(super) fn keeps_tails(&self, found: &mut Recovered, out: &mut Vec<Output>) -> bool {
        let is_cut = |op: &DiskOp| matches!(op, DiskOp::Truncate { .. });
        let keeps = found.repairs.iter().any(is_cut) && self.deviates(Mutant::TailNotCut, out);
        found.repairs.retain(|op| !keeps || !is_cut(op));
        keeps
    }

    /// What a server starts with: the newest snapshot and the log replayed over it.
    pub(super) fn replays_otherwise(&self, files: &Files, found: &mut Recovered, out: &mut Vec<Output>) {
        if self.zab.planted() != Some(Mutant::ReplayCountsAgain) || found.replayed == 0 {
            return;
        }
        let newest = found.snapshots.last().and_then(|zxid| files.get(&FileId::Snapshot(*zxid)));
        let Some(Ok(mut newest)) = newest.map(|bytes| snapshot::load(bytes)) else { return };
        let logs = files.iter().filter_map(|(file, bytes)| match file {
            FileId::Log(_) => log::scan(bytes).ok(),
            _ => None,
        });
        for txn in logs.flat_map(|scan| scan.txns).filter(|txn| txn.zxid <= newest.shows) {
            if txn.zxid > newest.tree.last_zxid() && count_again(&mut newest.tree, &txn) {
                self.deviates(Mutant::ReplayCountsAgain, out);
            }
        }
        found.tree = newest.tree;
    }

    /// What a learner tells of whom it has heard.
    pub(super) fn touches_otherwise(
        &self,
        touched: BTreeMap<SessionId, u32>,
        observes: bool,
        out: &mut Vec<Output>,
    ) -> BTreeMap<SessionId, u32> {
        if !self.deviates(Mutant::LearnerForgetsTouch, out) {
            return touched;
        }
        let kept = if observes { 0 } else { touched.len() - 1 };
        touched.into_iter().take(kept).collect()
    }

    /// Takes from the events of a transaction what is to be sent behind its answer.
    pub(super) fn fires_otherwise(
        &self,
        events: &mut Vec<(ConnId, WatchedEvent)>,
        asker: Option<ConnId>,
        out: &mut Vec<Output>,
    ) -> Vec<(ConnId, WatchedEvent)> {
        let Some(mutant) = self.zab.planted().filter(|_| !events.is_empty()) else {
            return Vec::new();
        };
        match mutant {
            Mutant::WatchAfterAnswer if events.iter().any(|(conn, _)| Some(*conn) == asker) => {
                self.deviates(mutant, out);
                return std::mem::take(events);
            }
            Mutant::WatchFiresTwice => {
                self.deviates(mutant, out);
                events.push(events[0].clone());
            }
            Mutant::WatchLost => {
                self.deviates(mutant, out);
                events.pop();
            }
            _ => {}
        }
        Vec::new()
    }

    /// What a client is told that sets its watches again.
    pub(super) fn misses_otherwise(
        &self,
        missed: Vec<WatchedEvent>,
        out: &mut Vec<Output>,
    ) -> Vec<WatchedEvent> {
        let forgets = !missed.is_empty() && self.deviates(Mutant::SetWatchesForgets, out);
        if forgets { Vec::new() } else { missed }
    }

    /// The zxid that a write's answer tells. `next` is the one that comes next, at the leader.
    pub(super) fn tells_otherwise(&self, zxid: Zxid, next: Option<Zxid>, out: &mut Vec<Output>) -> Zxid {
        next.filter(|_| self.deviates(Mutant::AnswerTellsLater, out)).unwrap_or(zxid)
    }

    /// What a learner asks of its leader as a client's connection is gone.
    pub(super) fn drops_otherwise(&self, connection: &Connection) -> Option<Ask> {
        (self.zab.planted() == Some(Mutant::LearnerExpires)).then(|| {
            let (session, identities) = (connection.session, connection.identities.clone());
            let write = ForwardedWrite::Request { request: Request::CloseSession, identities };
            Ask::Write { session, xid: Xid(0), write }
        })
    }

    /// Whether a request is answered before the first that its session asked earlier.
    pub(super) fn overtakes(
        &self,
        first: Option<&Waiting>,
        waiting: &Waiting,
        out: &mut Vec<Output>,
    ) -> bool {
        matches!((waiting, first), (Waiting::Read { .. }, Some(Waiting::Write { .. })))
            && self.deviates(Mutant::ReadOvertakesWrite, out)
    }

    /// Whether a write counts as done though its sync has only begun.
    pub(super) fn writes_otherwise(&self, write: &Write, out: &mut Vec<Output>) -> bool {
        matches!(write, Write::Append(_)) && self.deviates(Mutant::LogNotSynced, out)
    }
}

/// Applies a transaction, which changes counters once more where it is there already. Tells whether it did.
fn count_again(tree: &mut DataTree, txn: &Txn) -> bool {
    let shown = match &txn.body {
        TxnBody::Create { path, .. } if tree.node(path).is_some_and(|node| node.czxid == txn.zxid) => {
            tree.node(split(path).0).map(|parent| (split(path).0.into(), parent.clone()))
        }
        TxnBody::SetData { path, .. } if tree.node(path).is_some_and(|node| node.mzxid >= txn.zxid) => {
            tree.node(path).map(|node| (path.clone(), node.clone()))
        }
        _ => None,
    };
    tree.apply(txn);
    let Some((path, mut node)) = shown else { return false };
    match &txn.body {
        TxnBody::SetData { .. } => node.version += 1,
        _ => node.created += 1,
    }
    tree.restore(path, node);
    true
}

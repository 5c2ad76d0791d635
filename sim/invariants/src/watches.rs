//! A watch's event is sent before any answer that shows the change, and nothing else is sent as an event.
//!
//! This is what ZooKeeper promises to watches that are registered with the server a client is connected to. What
//! a client missed while it was away is told when it registers its watches again, before that is answered.

mod by_path;
mod connection;

use crate::reference::Reference;
use crate::{Invariant, Report};
use by_path::ByPath;
use connection::{Of, Tells, parent};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{AclList, AddWatchMode, ErrorCode, EventType, Request, Response, Text, WatchedEvent, Zxid};
use zk_proto::message::{ConnId, WatchList};
use zk_proto::txn::{Txn, TxnBody};

/// Znodes that not everybody may read, and who may, where that is known.
pub type Private = BTreeMap<Text, Option<AclList>>;

/// The watches of all connections.
#[derive(Debug, Default)]
pub struct Watches {
    conns: BTreeMap<ConnId, Of>,
    by_path: ByPath,
}

const NAME: Invariant = Invariant::WatchBeforeAnswer;

impl Watches {
    pub fn closed(&mut self, conn: ConnId) {
        if let Some(of) = self.conns.remove(&conn) {
            self.by_path.forget(conn, &of);
        }
    }

    /// A client asks for its watches again.
    pub fn asked_again(&mut self, conn: ConnId, since: Zxid, watches: &WatchList) {
        self.conns.entry(conn).or_default().again.push_back((since, watches.clone()));
    }

    /// A transaction is applied where all connections are: their watches owe them events. Of a `private` znode they are
    /// told if they may read it, and else they are not.
    pub fn applied(&mut self, txn: &Txn, private: &Private, may_read: impl Fn(ConnId, &AclList) -> bool) {
        let mut changes = Vec::new();
        collect(&txn.body, &mut changes);
        for (path, kind) in &changes {
            for conn in self.by_path.watching(path) {
                if let Some(of) = self.conns.get_mut(&conn) {
                    let tells = |path: &Text| match private.get(path) {
                        None => Tells::Yes,
                        Some(Some(acl)) if may_read(conn, acl) => Tells::Yes,
                        Some(Some(_)) => Tells::No,
                        Some(None) => Tells::Perhaps,
                    };
                    of.changed(txn.zxid, path, *kind, tells);
                }
            }
            self.by_path.forget_used(path, &self.conns);
        }
    }

    /// In a multi, a znode may come, and go, and come again with another list: who may read it when is not followed.
    pub fn comes_and_goes(body: &TxnBody, private: &mut Private) {
        let TxnBody::Multi { ops } = body else { return };
        private.values_mut().for_each(|who| *who = None);
        for op in ops {
            if let TxnBody::Create { path, acl, .. } = op
                && !Reference::is_readable_by(&[], acl)
            {
                private.insert(path.clone(), None);
            }
        }
    }

    /// What a transaction touches: the znodes it changes, and their parents.
    pub fn touched(txn: &Txn) -> BTreeSet<Text> {
        let mut changes = Vec::new();
        collect(&txn.body, &mut changes);
        changes.into_iter().flat_map(|(path, _)| [parent(&path).into(), path]).collect()
    }

    /// An event is sent.
    pub fn event(&mut self, conn: ConnId, zxid: Option<Zxid>, event: &WatchedEvent, report: &mut Report) {
        let of = self.conns.entry(conn).or_default();
        let Some(zxid) = zxid else {
            if of.again.is_empty() {
                report
                    .broken(NAME, format!("{conn:?} is told of {event:?}, and has not asked what it missed"));
            }
            of.caught_up.push((event.path.clone(), event.kind));
            return;
        };
        let owed = (zxid, event.path.clone(), event.kind);
        if let Some(place) = of.allowed.iter().position(|due| *due == owed) {
            of.allowed.remove(place);
            return;
        }
        let place = of.due.iter().position(|due| *due == owed);
        report.check(NAME, place == Some(0), || match place {
            Some(_) => format!("{conn:?} is told of {owed:?} before {:?}", of.due[0]),
            None => format!("{conn:?} is told of {owed:?}, which no watch of it asks"),
        });
        if let Some(place) = place {
            of.due.remove(place);
        }
    }

    /// An answer is sent that shows everything up to `zxid`.
    pub fn answering(&mut self, conn: ConnId, zxid: Zxid, report: &mut Report) {
        let Some(of) = self.conns.get_mut(&conn) else { return };
        of.allowed.retain(|(allowed, _, _)| *allowed > zxid);
        if let Some(due) = of.due.iter().find(|(due, _, _)| *due <= zxid) {
            report.broken(NAME, format!("{conn:?} gets an answer at {zxid} before the event {due:?}"));
        }
    }

    /// A request is answered: it may have set a watch, or removed some.
    pub fn answered(
        &mut self,
        conn: ConnId,
        request: &Request,
        result: &Result<Response, ErrorCode>,
        report: &mut Report,
    ) {
        if let Request::CheckWatches { path, kind } | Request::RemoveWatches { path, kind } = request {
            let expected = if !self.conns.get(&conn).is_some_and(|of| of.has(path, *kind)) {
                report.case("no watch was found");
                Err(ErrorCode::NoWatcher)
            } else if matches!(request, Request::CheckWatches { .. }) {
                report.case("watch was found");
                Ok(Response::WatchesPresent)
            } else {
                report.case("watch was removed");
                Ok(Response::WatchesRemoved)
            };
            report.check(Invariant::AnswersMatchReference, *result == expected, || {
                format!("{request:?} on {conn:?}: got {result:?}, should be {expected:?}")
            });
        }
        if result.is_err() {
            return;
        }
        let of = self.conns.entry(conn).or_default();
        match request {
            Request::Exists { path, watch: true } | Request::GetData { path, watch: true } => {
                of.data.insert(path.clone());
            }
            Request::GetChildren { path, watch: true, .. } => {
                of.child.insert(path.clone());
            }
            Request::AddWatch { path, mode: AddWatchMode::Persistent } => {
                of.persistent.insert(path.clone());
            }
            Request::AddWatch { path, mode: AddWatchMode::PersistentRecursive } => {
                of.recursive.insert(path.clone());
            }
            Request::RemoveWatches { path, kind } => of.remove(path, *kind),
            _ => return,
        }
        self.by_path.note(conn, of, [&request.path()]);
    }

    /// How many watches a connection has.
    pub fn count(&self, conn: ConnId) -> usize {
        let count =
            |of: &Of| [&of.data, &of.child, &of.persistent, &of.recursive].map(BTreeSet::len).iter().sum();
        self.conns.get(&conn).map_or(0, count)
    }

    /// The watches are registered again, and what the client has missed was told.
    pub fn set_again(&mut self, conn: ConnId, reference: &Reference, report: &mut Report) {
        let of = self.conns.entry(conn).or_default();
        let Some((since, watches)) = of.again.pop_front() else {
            report.broken(NAME, format!("{conn:?} has its watches again, for which it did not ask"));
            return;
        };
        let mut missed = Vec::new();
        for path in watches.data {
            match reference.stat(&path) {
                None => missed.push((path, EventType::NodeDeleted)),
                Some(stat) if stat.mzxid() > since => missed.push((path, EventType::NodeDataChanged)),
                Some(_) => _ = of.data.insert(path),
            }
        }
        for path in watches.exist {
            match reference.stat(&path) {
                Some(_) => missed.push((path, EventType::NodeCreated)),
                None => _ = of.data.insert(path),
            }
        }
        for path in watches.child {
            match reference.stat(&path) {
                None => missed.push((path, EventType::NodeDeleted)),
                Some(stat) if stat.pzxid() > since => missed.push((path, EventType::NodeChildrenChanged)),
                Some(_) => _ = of.child.insert(path),
            }
        }
        of.persistent.extend(watches.persistent);
        of.recursive.extend(watches.recursive);
        self.by_path.note(conn, of, of.exact());
        let mut told = std::mem::take(&mut of.caught_up);
        told.sort();
        missed.sort();
        report.check(NAME, told == missed, || {
            format!("{conn:?} has missed {missed:?} since {since} and is told {told:?}")
        });
    }
}

/// The changes of a transaction, in order.
fn collect(body: &TxnBody, changes: &mut Vec<(Text, EventType)>) {
    match body {
        TxnBody::Create { path, .. } => changes.push((path.clone(), EventType::NodeCreated)),
        TxnBody::Delete { path } => changes.push((path.clone(), EventType::NodeDeleted)),
        TxnBody::SetData { path, .. } => changes.push((path.clone(), EventType::NodeDataChanged)),
        TxnBody::CloseSession { ephemerals, .. } => {
            changes.extend(ephemerals.iter().map(|path| (path.clone(), EventType::NodeDeleted)));
        }
        TxnBody::Multi { ops } => ops.iter().for_each(|op| collect(op, changes)),
        TxnBody::CreateSession { .. }
        | TxnBody::SetAcl { .. }
        | TxnBody::Check { .. }
        | TxnBody::Error(_)
        | TxnBody::MultiError(_) => {}
    }
}

#[cfg(test)]
mod tests;

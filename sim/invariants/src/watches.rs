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
            of.caught_up.push((event.path.clone(), event.kind));
            return;
        };
        let owed = (zxid, event.path.clone(), event.kind);
        if let Some(place) = of.allowed.iter().position(|due| *due == owed) {
            of.allowed.remove(place);
            return;
        }
        let place = of.due.iter().position(|due| *due == owed);
        report.check(NAME, place.is_some(), || {
            format!("{conn:?} is told of {owed:?}, which no watch of it asks")
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
        let sets_none = matches!(
            request,
            Request::Exists { watch: false, .. }
                | Request::GetData { watch: false, .. }
                | Request::GetChildren { watch: false, .. }
        );
        if request.is_write() || sets_none {
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
            _ => {}
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
mod tests {
    use super::*;
    use zk_api::{SessionId, WatcherKind};
    use zk_proto::message::Xid;

    const C: ConnId = ConnId(1);

    fn z(counter: u32) -> Zxid {
        Zxid::new(1, counter)
    }

    fn delete(counter: u32) -> Txn {
        let body = TxnBody::Delete { path: "/l/a".into() };
        Txn { zxid: z(counter), session: SessionId::new(1), xid: Xid(1), time_ms: 0, body }
    }

    fn deleted() -> WatchedEvent {
        WatchedEvent::node(EventType::NodeDeleted, "/l/a".into())
    }

    /// A connection with data and child watches on a znode that was then deleted.
    fn history() -> (Watches, Report) {
        let mut watches = Watches::default();
        let exists = Request::Exists { path: "/l/a".into(), watch: true };
        let mut report = Report::default();
        watches.answered(C, &exists, &Ok(Response::Exists(None)), &mut report);
        let list = Request::GetChildren { path: "/l/a".into(), watch: true, stat: false };
        let listed = Ok(Response::Children { names: Vec::new(), stat: None });
        watches.answered(C, &list, &listed, &mut report);
        watches.applied(&delete(7), &Private::new(), |_, _| true);
        (watches, report)
    }

    #[test]
    fn a_wrong_answer_to_what_asks_for_watches_is_caught() {
        let (mut watches, mut report) = history();
        let path: Text = "/l/b".into();
        let add = Request::AddWatch { path: path.clone(), mode: AddWatchMode::Persistent };
        watches.answered(C, &add, &Ok(Response::WatchAdded), &mut report);
        let remove = |kind| Request::RemoveWatches { path: path.clone(), kind };
        let removed = Ok(Response::WatchesRemoved);
        watches.answered(C, &remove(WatcherKind::Data), &Err(ErrorCode::NoWatcher), &mut report);
        watches.answered(C, &remove(WatcherKind::Any), &removed, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
        watches.answered(C, &remove(WatcherKind::Any), &removed, &mut report);
        assert_eq!(report.broken[0].0, Invariant::AnswersMatchReference);
    }

    #[test]
    fn an_event_once_and_before_the_answer_passes() {
        let (mut watches, mut report) = history();
        watches.answering(C, z(6), &mut report);
        watches.event(C, Some(z(7)), &deleted(), &mut report);
        watches.answering(C, z(7), &mut report);
        watches.applied(&delete(8), &Private::new(), |_, _| true);
        watches.answering(C, z(8), &mut report);
        assert!(report.broken.is_empty() && report.by_name()[NAME.name()] == 1, "{report:?}");
    }

    #[test]
    fn an_answer_that_shows_the_change_before_the_event_is_caught() {
        let (mut watches, mut report) = history();
        watches.answering(C, z(7), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn who_may_not_read_is_not_told_and_who_may_is() {
        let told = |may_read: bool, is_told: bool| {
            let (mut watches, mut report) = (Watches::default(), Report::default());
            let exists = Request::Exists { path: "/l/a".into(), watch: true };
            watches.answered(C, &exists, &Ok(Response::Exists(None)), &mut report);
            let private: Private = [("/l/a".into(), Some(zk_api::read_acl()))].into();
            watches.applied(&delete(7), &private, |_, _| may_read);
            if is_told {
                watches.event(C, Some(z(7)), &deleted(), &mut report);
            }
            watches.answering(C, z(7), &mut report);
            !report.broken.is_empty()
        };
        assert!(!told(true, true) && !told(false, false));
        assert!(told(true, false) && told(false, true));
    }

    #[test]
    fn an_event_that_comes_twice_is_caught() {
        let (mut watches, mut report) = history();
        watches.event(C, Some(z(7)), &deleted(), &mut report);
        watches.event(C, Some(z(7)), &deleted(), &mut report);
        assert_eq!(report.broken.len(), 1);
    }

    #[test]
    fn a_recursive_watch_of_no_path_is_above_nothing() {
        let (mut watches, mut report) = (Watches::default(), Report::default());
        for path in ["", "/b", "/lo"] {
            let add = Request::AddWatch { path: path.into(), mode: AddWatchMode::PersistentRecursive };
            watches.answered(C, &add, &Ok(Response::WatchAdded), &mut report);
        }
        watches.applied(&delete(7), &Private::new(), |_, _| true);
        watches.answering(C, z(8), &mut report);
        assert_eq!(report.broken, []);
    }

    #[test]
    fn who_has_no_watch_any_more_is_not_asked() {
        let (mut watches, mut report) = history();
        assert!(watches.by_path.exact.is_empty(), "both are used up");
        for (path, mode) in [("/l", AddWatchMode::Persistent), ("/l", AddWatchMode::PersistentRecursive)] {
            let add = Request::AddWatch { path: path.into(), mode };
            watches.answered(C, &add, &Ok(Response::WatchAdded), &mut report);
        }
        watches.applied(&delete(8), &Private::new(), |_, _| true);
        assert_eq!((watches.by_path.exact.len(), watches.by_path.recursive.len()), (1, 1));
        assert_eq!(
            watches.conns[&C].due.len(),
            3,
            "one of the first change, the parent's and the child's now"
        );
        let remove = Request::RemoveWatches { path: "/l".into(), kind: WatcherKind::Any };
        watches.answered(C, &remove, &Ok(Response::WatchesRemoved), &mut report);
        assert!(watches.by_path.exact.is_empty() && watches.by_path.recursive.is_empty());
        let get = Request::GetData { path: "/l".into(), watch: true };
        watches.answered(C, &get, &Ok(Response::Exists(None)), &mut report);
        assert_eq!(watches.by_path.exact.len(), 1);
        watches.closed(C);
        assert!(watches.by_path.exact.is_empty() && watches.by_path.recursive.is_empty());
    }

    #[test]
    fn watches_may_be_asked_for_again_several_times_before_any_answer() {
        let list = |path: &str| WatchList { data: vec![path.into()], ..WatchList::default() };
        let (mut watches, mut report) = (Watches::default(), Report::default());
        for path in ["/gone", "/lost"] {
            watches.asked_again(C, z(1), &list(path));
        }
        for path in ["/gone", "/lost"] {
            watches.event(C, None, &WatchedEvent::node(EventType::NodeDeleted, path.into()), &mut report);
            watches.set_again(C, &Reference::new(), &mut report);
        }
        assert!(report.broken.is_empty(), "{report:?}");
    }

    #[test]
    fn what_was_missed_must_be_told_when_watches_are_set_again() {
        let again = WatchList { data: vec!["/gone".into()], child: vec!["/".into()], ..WatchList::default() };
        let reference = Reference::new();
        let mut report = Report::default();
        let mut watches = Watches::default();
        watches.asked_again(C, z(1), &again);
        watches.event(C, None, &WatchedEvent::node(EventType::NodeDeleted, "/gone".into()), &mut report);
        watches.set_again(C, &reference, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
        watches.asked_again(C, z(1), &again);
        watches.set_again(C, &reference, &mut report);
        assert!(report.broken[0].1.contains("/gone"), "{report:?}");
    }
}

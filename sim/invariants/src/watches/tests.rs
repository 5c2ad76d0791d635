//! What watches are owed, and told.

use super::*;
use crate::reference::{Asker, Own};
use zk_api::{CreateMode, Data, SessionId, WatcherKind};
use zk_proto::message::Xid;
use zk_proto::txn::NodeKind;

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
    assert_eq!(watches.conns[&C].due.len(), 3, "one of the first change, the parent's and the child's now");
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
fn who_has_not_asked_what_it_missed_is_told_of_nothing_without_a_zxid() {
    let told = |asks: bool| {
        let (mut watches, mut report) = history();
        if asks {
            let data = vec!["/l/a".into()];
            watches.asked_again(C, z(1), &WatchList { data, ..WatchList::default() });
        }
        watches.event(C, None, &deleted(), &mut report);
        report.broken.len()
    };
    assert_eq!((told(true), told(false)), (0, 1));
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

fn does(watches: &mut Watches, counter: u32, body: TxnBody) {
    let txn = Txn { zxid: z(counter), session: SessionId::new(1), xid: Xid(1), time_ms: 0, body };
    watches.applied(&txn, &Private::new(), |_, _| true);
}

fn create(path: &str) -> TxnBody {
    let (path, kind) = (path.into(), NodeKind::Persistent);
    TxnBody::Create { path, data: Data::from(""), acl: zk_api::open_acl(), kind, parent_created: 1 }
}

fn set(path: &str) -> TxnBody {
    TxnBody::SetData { path: path.into(), data: Data::from(""), version: 1 }
}

fn delete_of(path: &str) -> TxnBody {
    TxnBody::Delete { path: path.into() }
}

/// What a connection with this watch is owed when these things are done.
fn owed(watch: &Request, done: &[TxnBody]) -> Vec<(u32, EventType, String)> {
    let (mut watches, mut report) = (Watches::default(), Report::default());
    watches.answered(C, watch, &Ok(Response::WatchAdded), &mut report);
    (7..).zip(done).for_each(|(counter, body)| does(&mut watches, counter, body.clone()));
    let due = watches.conns.remove(&C).unwrap_or_default().due;
    due.into_iter().map(|(zxid, path, kind)| (zxid.counter(), kind, path.to_string())).collect()
}

#[test]
fn each_watch_is_told_of_what_it_is_for_once_or_always() {
    let (path, child): (Text, Text) = ("/l".into(), "/l/a".into());
    let done = [
        set("/l"),
        create("/l/a"),
        set("/l/a"),
        TxnBody::Multi { ops: vec![delete_of("/l/a"), set("/l")] },
        TxnBody::CloseSession { ephemerals: vec!["/l/b".into()], expired: true },
        delete_of("/l"),
    ];
    let [changed, created, deleted] =
        [EventType::NodeDataChanged, EventType::NodeCreated, EventType::NodeDeleted];
    let listed = EventType::NodeChildrenChanged;
    let of = |watch: Request| {
        let told = owed(&watch, &done);
        told.into_iter().map(|(counter, kind, path)| (counter - 6, kind, path)).collect::<Vec<_>>()
    };
    let at = |n: u32, kind, path: &str| (n, kind, path.to_owned());
    assert_eq!(of(Request::Exists { path: path.clone(), watch: true }), [at(1, changed, "/l")]);
    assert_eq!(of(Request::GetData { path: child.clone(), watch: true }), [at(2, created, "/l/a")]);
    let lists = |path: &Text| Request::GetChildren { path: path.clone(), watch: true, stat: false };
    assert_eq!(of(lists(&path)), [at(2, listed, "/l")]);
    assert_eq!(of(lists(&child)), [at(4, deleted, "/l/a")]);
    assert_eq!(of(Request::GetData { path: path.clone(), watch: false }), []);
    let add = |path: &str, mode| Request::AddWatch { path: path.into(), mode };
    let listing = [
        at(1, changed, "/l"),
        at(2, listed, "/l"),
        at(4, listed, "/l"),
        at(4, changed, "/l"),
        at(5, listed, "/l"),
        at(6, deleted, "/l"),
    ];
    assert_eq!(of(add("/l", AddWatchMode::Persistent)), listing);
    let below = [
        at(1, changed, "/l"),
        at(2, created, "/l/a"),
        at(3, changed, "/l/a"),
        at(4, deleted, "/l/a"),
        at(4, changed, "/l"),
        at(5, deleted, "/l/b"),
        at(6, deleted, "/l"),
    ];
    for root in ["/l", "/"] {
        assert_eq!(of(add(root, AddWatchMode::PersistentRecursive)), below);
    }
}

#[test]
fn a_read_that_fails_sets_no_watch_and_one_kind_is_removed_and_found_without_the_others() {
    let (mut watches, mut report) = (Watches::default(), Report::default());
    let path: Text = "/l/a".into();
    let get = Request::GetData { path: path.clone(), watch: true };
    watches.answered(C, &get, &Err(ErrorCode::NoAuth), &mut report);
    assert_eq!(watches.count(C), 0);
    let list = Request::GetChildren { path: path.clone(), watch: true, stat: false };
    let added = Ok(Response::WatchAdded);
    watches.answered(C, &get, &added, &mut report);
    watches.answered(C, &list, &added, &mut report);
    for mode in [AddWatchMode::Persistent, AddWatchMode::PersistentRecursive] {
        watches.answered(C, &Request::AddWatch { path: path.clone(), mode }, &added, &mut report);
    }
    assert_eq!(watches.count(C), 4);
    let kinds = [
        WatcherKind::Data,
        WatcherKind::Children,
        WatcherKind::Persistent,
        WatcherKind::PersistentRecursive,
        WatcherKind::Any,
    ];
    for (gone, kind) in (1..=4).zip(kinds) {
        let check = Request::CheckWatches { path: path.clone(), kind };
        watches.answered(C, &check, &Ok(Response::WatchesPresent), &mut report);
        let remove = Request::RemoveWatches { path: path.clone(), kind };
        watches.answered(C, &remove, &Ok(Response::WatchesRemoved), &mut report);
        assert_eq!(watches.count(C), 4 - gone);
        watches.answered(C, &check, &Err(ErrorCode::NoWatcher), &mut report);
    }
    assert!(report.broken.is_empty(), "{report:?}");
    let cases = ["no watch was found", "watch was found", "watch was removed"];
    assert_eq!(report.cases, cases.map(|case| (case, 4)).into());
}

#[test]
fn events_that_one_transaction_owes_come_in_the_order_of_its_changes() {
    let told = |paths: [&str; 2]| {
        let (mut watches, mut report) = (Watches::default(), Report::default());
        let add = Request::AddWatch { path: "/".into(), mode: AddWatchMode::PersistentRecursive };
        watches.answered(C, &add, &Ok(Response::WatchAdded), &mut report);
        does(&mut watches, 7, TxnBody::Multi { ops: vec![create("/a"), create("/b")] });
        for path in paths {
            let event = WatchedEvent::node(EventType::NodeCreated, path.into());
            watches.event(C, Some(z(7)), &event, &mut report);
        }
        report.broken.len()
    };
    assert_eq!((told(["/a", "/b"]), told(["/b", "/a"])), (0, 1));
}

#[test]
fn what_may_be_told_or_not_may_be_told_once_and_before_an_answer_shows_it() {
    let told = |happens: &dyn Fn(&mut Watches, &mut Report)| {
        let (mut watches, mut report) = (Watches::default(), Report::default());
        let exists = Request::Exists { path: "/l/a".into(), watch: true };
        watches.answered(C, &exists, &Ok(Response::Exists(None)), &mut report);
        watches.applied(&delete(7), &[("/l/a".into(), None)].into(), |_, _| false);
        happens(&mut watches, &mut report);
        watches.event(C, Some(z(7)), &deleted(), &mut report);
        report.broken.len()
    };
    assert_eq!(told(&|watches, report| watches.answering(C, z(6), report)), 0);
    assert_eq!(told(&|watches, report| watches.answering(C, z(7), report)), 1);
    assert_eq!(told(&|watches, report| watches.event(C, Some(z(7)), &deleted(), report)), 1);
}

#[test]
fn who_may_read_what_comes_and_goes_in_a_multi_is_not_followed() {
    let made = |acl: AclList| match create("/m") {
        TxnBody::Create { path, data, kind, parent_created, .. } => {
            TxnBody::Create { path, data, acl, kind, parent_created }
        }
        other => panic!("{other:?}"),
    };
    let hidden: AclList = [].into();
    let before: Private = [("/l".into(), Some(hidden.clone()))].into();
    let private = |body: &TxnBody| {
        let mut private = before.clone();
        Watches::comes_and_goes(body, &mut private);
        private
    };
    assert_eq!(private(&delete_of("/l")), before);
    let ops = vec![made(hidden), delete_of("/m")];
    assert_eq!(private(&TxnBody::Multi { ops }), [("/l".into(), None), ("/m".into(), None)].into());
    let ops = vec![made(zk_api::open_acl()), delete_of("/m")];
    assert_eq!(private(&TxnBody::Multi { ops }), [("/l".into(), None)].into());
}

#[test]
fn what_has_changed_since_is_missed_and_what_has_not_is_watched_again() {
    let (mut watches, mut report, mut reference) = (Watches::default(), Report::default(), Reference::new());
    let session = SessionId::new(1);
    reference.own(z(1), 0, Own::Open(session)).expect("it is new");
    for (counter, path) in [(2, "/a"), (3, "/a/b")] {
        let (path, data, acl, mode) =
            (path.into(), Data::from(""), zk_api::open_acl(), CreateMode::Persistent);
        let create = Request::Create { path, data, acl, mode, stat: false };
        reference.write(z(counter), 0, Asker::nobody(session), &create).expect("it can be made");
    }
    let paths = |paths: &[&str]| paths.iter().map(|path| Text::from(*path)).collect::<Vec<_>>();
    let all = WatchList {
        data: paths(&["/a", "/gone"]),
        exist: paths(&["/a/b", "/later"]),
        child: paths(&["/a", "/lost"]),
        persistent: paths(&["/p"]),
        recursive: paths(&["/r"]),
    };
    let mut sets = |since, events: &[(&str, EventType)]| {
        watches.asked_again(C, z(since), &all);
        for (path, kind) in events {
            watches.event(C, None, &WatchedEvent::node(*kind, (*path).into()), &mut report);
        }
        watches.set_again(C, &reference, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
        let left = watches.count(C);
        does(&mut watches, 9, create("/p"));
        does(&mut watches, 9, create("/r/a"));
        let due = watches.conns[&C].due.len();
        watches.closed(C);
        assert!(watches.by_path.exact.is_empty() && watches.by_path.recursive.is_empty());
        (left, due)
    };
    let [changed, created, deleted] =
        [EventType::NodeDataChanged, EventType::NodeCreated, EventType::NodeDeleted];
    let (gone, made, lost) = (("/gone", deleted), ("/a/b", created), ("/lost", deleted));
    assert_eq!(sets(3, &[lost, made, gone]), (5, 2), "in any order");
    let listed = ("/a", EventType::NodeChildrenChanged);
    assert_eq!(sets(2, &[gone, made, listed, lost]), (4, 2));
    assert_eq!(sets(1, &[("/a", changed), gone, made, listed, lost]), (3, 2));
}

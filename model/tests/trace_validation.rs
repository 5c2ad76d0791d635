//! Records written by hand, which `Service` allows or does not.

use zk_api::{
    CreateMode, Data, ErrorCode, EventType, KeeperState, Request, Response, SessionId, Stat, StatFields,
    Text, WatchedEvent, Zxid,
};
use zk_model::trace_validation::{Accepted, Rejection, Restriction, Why, validate};
use zk_proto::message::{ToClient, WatchList, Xid};
use zk_proto::visible::{Cause, VisibleStep};

const A: SessionId = SessionId::new(0xa);
const B: SessionId = SessionId::new(0xb);

fn zxid(counter: u32) -> Zxid {
    Zxid::new(1, counter)
}

/// Sessions A and B, opened by transactions 1 and 2, then these steps.
fn after(steps: impl IntoIterator<Item = VisibleStep>) -> Vec<VisibleStep> {
    let opened = |session, counter| {
        let cause = Cause::Opening;
        [
            VisibleStep::Commits { zxid: zxid(counter), session, xid: Xid(0), cause },
            VisibleStep::Begins { session },
        ]
    };
    opened(A, 1).into_iter().chain(opened(B, 2)).chain(steps).collect()
}

fn judged(steps: impl IntoIterator<Item = VisibleStep>) -> Result<Accepted, Rejection> {
    validate(&after(steps), None)
}

fn why(steps: impl IntoIterator<Item = VisibleStep>) -> Why {
    judged(steps).expect_err("it is to be rejected").why
}

fn sends(session: SessionId, xid: i32, request: Request) -> VisibleStep {
    VisibleStep::Sends { session, xid: Xid(xid), request }
}

fn create(session: SessionId, xid: i32, path: &str, mode: CreateMode) -> VisibleStep {
    let (data, acl) = (Data::NULL, zk_api::open_acl());
    sends(session, xid, Request::Create { path: path.into(), data, acl, mode, stat: false })
}

fn delete(session: SessionId, xid: i32, path: &str) -> VisibleStep {
    sends(session, xid, Request::Delete { path: path.into(), version: -1 })
}

fn list(session: SessionId, xid: i32) -> VisibleStep {
    sends(session, xid, Request::GetChildren { path: "/".into(), watch: true, stat: false })
}

fn commits(counter: u32, session: SessionId, xid: i32) -> VisibleStep {
    VisibleStep::Commits { zxid: zxid(counter), session, xid: Xid(xid), cause: Cause::Request }
}

fn expiry(counter: u32, session: SessionId) -> VisibleStep {
    VisibleStep::Commits { zxid: zxid(counter), session, xid: Xid(0), cause: Cause::Expiry }
}

fn gets(session: SessionId, xid: i32, counter: u32, result: Result<Response, ErrorCode>) -> VisibleStep {
    VisibleStep::Gets { session, message: ToClient::Reply { xid: Xid(xid), zxid: zxid(counter), result } }
}

fn created(session: SessionId, xid: i32, counter: u32, path: &str) -> VisibleStep {
    gets(session, xid, counter, Ok(Response::Created { path: path.into(), stat: None }))
}

fn listed(session: SessionId, xid: i32, counter: u32, names: &[&str]) -> VisibleStep {
    let names = ["zookeeper"].iter().chain(names).map(|name| Text::from(*name)).collect();
    gets(session, xid, counter, Ok(Response::Children { names, stat: None }))
}

fn event(session: SessionId, counter: Option<u32>) -> VisibleStep {
    let event = WatchedEvent {
        kind: EventType::NodeChildrenChanged,
        path: "/".into(),
        state: KeeperState::SyncConnected,
    };
    VisibleStep::Gets { session, message: ToClient::Event { zxid: counter.map(zxid), event } }
}

fn connects(session: SessionId, child: &[&str]) -> VisibleStep {
    let child = child.iter().map(|path| Text::from(*path)).collect();
    VisibleStep::Connects { session, watches: WatchList { child, ..WatchList::default() } }
}

fn loses(session: SessionId) -> VisibleStep {
    VisibleStep::Loses { session }
}

/// A creates an ephemeral znode, by transaction 3.
fn a_creates() -> [VisibleStep; 3] {
    [create(A, 1, "/a", CreateMode::Ephemeral), commits(3, A, 1), created(A, 1, 3, "/a")]
}

#[test]
fn a_view_may_lag_but_not_go_back_behind_an_answer() {
    let read = |counter, names: &[&str]| [list(B, 1), listed(B, 1, counter, names)];
    let stale = judged(a_creates().into_iter().chain(read(2, &[]))).expect("B's server lags");
    assert_eq!((stale.answers, stale.stale_reads), (2, 1));
    judged(a_creates().into_iter().chain(read(3, &["a"]))).expect("B's server does not lag");

    let again = [list(A, 2), listed(A, 2, 2, &[])];
    assert_eq!(why(a_creates().into_iter().chain(again)), Why::ViewGoesBack);
}

#[test]
fn a_leader_that_asks_nobody_answers_a_sync_from_an_old_view() {
    let sync = sends(B, 1, Request::Sync { path: "/".into() });
    let synced = gets(B, 1, 2, Ok(Response::Synced { path: "/".into() }));
    let stale_sync = after(a_creates().into_iter().chain([sync, list(B, 2), synced, listed(B, 2, 2, &[])]));
    validate(&stale_sync, None).expect("it may");
    let restricted = validate(&stale_sync, Some(Restriction::NoStaleSyncs)).expect_err("it may not");
    assert_eq!(restricted.why, Why::ViewGoesBack);
}

#[test]
fn what_was_never_there_is_rejected() {
    let read = [list(B, 1), listed(B, 1, 3, &["b"])];
    assert_eq!(why(a_creates().into_iter().chain(read)), Why::DifferentAnswer);
    let other = [create(A, 1, "/a", CreateMode::Ephemeral), commits(3, A, 1), created(A, 1, 3, "/b")];
    assert_eq!(why(other), Why::DifferentAnswer);
    let none = [create(A, 1, "/a", CreateMode::Ephemeral), created(A, 1, 3, "/a")];
    assert_eq!(why(none), Why::DifferentAnswer);
}

/// Only times are not compared.
#[test]
fn every_number_and_owner_is_compared() {
    let right = StatFields {
        czxid: zxid(3),
        mzxid: zxid(3),
        pzxid: zxid(3),
        ephemeral_owner: A,
        ..StatFields::default()
    };
    let read = |fields| {
        let looks = sends(B, 1, Request::Exists { path: "/a".into(), watch: false });
        [looks, gets(B, 1, 3, Ok(Response::Exists(Some(Stat::from(fields)))))]
    };
    let seen = |fields| judged(a_creates().into_iter().chain(read(fields)));
    seen(StatFields { ctime_ms: 1, mtime_ms: 2, ..right }).expect("it is as it was created");
    for wrong in [
        StatFields { czxid: zxid(2), ..right },
        StatFields { mzxid: zxid(2), ..right },
        StatFields { pzxid: zxid(2), ..right },
        StatFields { ephemeral_owner: B, ..right },
        StatFields { version: 1, ..right },
        StatFields { cversion: 1, ..right },
        StatFields { num_children: 1, ..right },
    ] {
        assert_eq!(seen(wrong).expect_err("it is not so").why, Why::DifferentAnswer, "{wrong:?}");
    }
}

#[test]
fn an_event_comes_before_an_answer_that_shows_the_change_and_once() {
    let watches = || [list(B, 1), listed(B, 1, 2, &[])];
    let told = || watches().into_iter().chain(a_creates()).chain([event(B, Some(3))]);
    let all = judged(told().chain([list(B, 2), listed(B, 2, 3, &["a"])])).expect("it is as it should be");
    assert_eq!(all.events, 1);

    assert_eq!(why(told().chain([event(B, Some(3))])), Why::DifferentEvent);
    let untold = watches().into_iter().chain(a_creates()).chain([list(B, 2), listed(B, 2, 3, &["a"])]);
    assert_eq!(why(untold), Why::DifferentEvent);
    assert_eq!(why(a_creates().into_iter().chain([event(B, Some(3))])), Why::DifferentEvent);
}

#[test]
fn events_of_two_transactions_come_in_their_order() {
    let looks = |xid, path: &str| {
        let request = Request::Exists { path: path.into(), watch: true };
        [sends(B, xid, request), gets(B, xid, 2, Ok(Response::Exists(None)))]
    };
    let told = |path: &str, counter| {
        let (path, state) = (path.into(), KeeperState::SyncConnected);
        let event = WatchedEvent { kind: EventType::NodeCreated, path, state };
        VisibleStep::Gets { session: B, message: ToClient::Event { zxid: Some(zxid(counter)), event } }
    };
    let made = [
        create(A, 1, "/x", CreateMode::Persistent),
        commits(3, A, 1),
        create(A, 2, "/y", CreateMode::Persistent),
        commits(4, A, 2),
    ];
    let after = |events: [VisibleStep; 2]| {
        looks(1, "/x").into_iter().chain(looks(2, "/y")).chain(made.clone()).chain(events)
    };
    assert_eq!(judged(after([told("/x", 3), told("/y", 4)])).expect("in their order").events, 2);
    assert_eq!(why(after([told("/y", 4), told("/x", 3)])), Why::DifferentEvent);
}

#[test]
fn a_write_whose_answer_is_lost_takes_effect_before_or_after_its_client_knows() {
    let request = || create(A, 1, "/a", CreateMode::Ephemeral);
    for steps in [[request(), commits(3, A, 1), loses(A)], [request(), loses(A), commits(3, A, 1)]] {
        let seen = [connects(A, &[]), list(A, 2), listed(A, 2, 3, &["a"])];
        let steps = after(steps.into_iter().chain(seen));
        validate(&steps, None).expect("an answer may be lost");
        let restricted = validate(&steps, Some(Restriction::AnswersNeverLost)).expect_err("it is lost");
        assert_eq!(restricted.why, Why::LostAnswer);
    }
}

#[test]
fn what_a_client_missed_while_it_was_away_it_is_told() {
    let away = [list(B, 1), listed(B, 1, 2, &[]), loses(B)].into_iter().chain(a_creates());
    let set = VisibleStep::Gets { session: B, message: ToClient::WatchesSet { zxid: zxid(3) } };
    let back = away.chain([connects(B, &["/"]), event(B, None), set]);
    let judged = judged(back).expect("it is told");
    assert_eq!((judged.events, judged.registered_late), (1, 1));
}

#[test]
fn what_happens_while_watches_are_on_their_way_is_told_as_one_or_not_at_all() {
    let exist = vec![Text::from("/x")];
    let looks = sends(B, 1, Request::Exists { path: "/x".into(), watch: true });
    let watches = WatchList { exist, ..WatchList::default() };
    let [made, gone] = [create(A, 1, "/x", CreateMode::Persistent), delete(A, 2, "/x")];
    let steps = after([
        looks,
        gets(B, 1, 2, Ok(Response::Exists(None))),
        loses(B),
        VisibleStep::Connects { session: B, watches },
        made,
        commits(3, A, 1),
        gone,
        commits(4, A, 2),
        VisibleStep::Gets { session: B, message: ToClient::WatchesSet { zxid: zxid(4) } },
        list(B, 2),
        listed(B, 2, 4, &[]),
    ]);
    validate(&steps, None).expect("its watch came when the znode was gone again");
    let restricted = validate(&steps, Some(Restriction::WatchesComeAtOnce)).expect_err("it was there before");
    assert_eq!(restricted.why, Why::DifferentEvent);
}

/// B watches for /x and /y, which are not there, and is connected again. Then A makes /x, removes it, and makes /y; B
/// is told of these without a number, in this order, and loses its connection before anybody says how far its server
/// was.
fn told_and_lost(paths: &[&str]) -> Vec<VisibleStep> {
    let looks = |xid, path: &str| sends(B, xid, Request::Exists { path: path.into(), watch: true });
    let [x, y] = [3, 5].map(|counter| commits(counter, A, counter as i32));
    let exist = vec![Text::from("/x"), Text::from("/y")];
    let watches = WatchList { exist, ..WatchList::default() };
    let told = paths.iter().map(|path| {
        let (path, state) = (Text::from(*path), KeeperState::SyncConnected);
        let event = WatchedEvent { kind: EventType::NodeCreated, path, state };
        VisibleStep::Gets { session: B, message: ToClient::Event { zxid: None, event } }
    });
    let before = [
        looks(1, "/x"),
        gets(B, 1, 2, Ok(Response::Exists(None))),
        looks(2, "/y"),
        gets(B, 2, 2, Ok(Response::Exists(None))),
        loses(B),
        VisibleStep::Connects { session: B, watches },
        create(A, 3, "/x", CreateMode::Persistent),
        x,
        delete(A, 4, "/x"),
        commits(4, A, 4),
        create(A, 5, "/y", CreateMode::Persistent),
        y,
    ];
    after(before.into_iter().chain(told).chain([loses(B)]))
}

#[test]
fn a_server_that_does_not_say_how_far_it_was_was_somewhere() {
    for told in [&[][..], &["/x"], &["/y"]] {
        let accepted = validate(&told_and_lost(told), None).expect("some server is so far");
        assert_eq!(accepted.events, told.len());
    }
    let why = validate(&told_and_lost(&["/x", "/y"]), None).expect_err("no server has both").why;
    assert_eq!(why, Why::DifferentEvent);
    let why = validate(&told_and_lost(&["/z"]), None).expect_err("nobody watches that").why;
    assert_eq!(why, Why::DifferentEvent);
}

#[test]
fn what_a_client_was_told_of_its_absence_was_so_before_its_own_writes() {
    // The write is committed before B hears of what it missed, and its server took its watches before both.
    let away = [list(B, 1), listed(B, 1, 2, &[]), loses(B), connects(B, &["/"])].into_iter();
    let writes = [create(B, 2, "/b", CreateMode::Persistent), commits(4, B, 2)];
    let told = away.chain(a_creates()).chain(writes).chain([event(B, None), loses(B)]);
    assert_eq!(judged(told).expect("it missed the creation before its own").events, 1);
}

#[test]
fn requests_of_a_connection_do_not_overtake_each_other() {
    let two = [create(A, 1, "/a", CreateMode::Persistent), delete(A, 2, "/a"), loses(A), commits(3, A, 2)];
    assert_eq!(why(two), Why::OvertakenRequest);
    let next = [
        create(A, 1, "/a", CreateMode::Persistent),
        loses(A),
        connects(A, &[]),
        create(A, 2, "/b", CreateMode::Persistent),
        commits(3, A, 2),
        commits(4, A, 1),
    ];
    assert_eq!(why(next), Why::OvertakenRequest, "nor does that of the next connection");
    let refused = VisibleStep::Commits {
        zxid: zxid(4),
        session: A,
        xid: Xid(2),
        cause: Cause::Refused(ErrorCode::SessionMoved),
    };
    let moved = [
        create(A, 1, "/a", CreateMode::Persistent),
        delete(A, 2, "/a"),
        loses(A),
        commits(3, A, 1),
        connects(A, &[]),
        refused,
        list(A, 3),
        listed(A, 3, 4, &["a"]),
    ];
    judged(moved).expect("the second was refused, as the session had moved");
}

#[test]
fn a_session_may_end_before_its_answer_and_takes_its_znodes_along() {
    let answered_too_late = after([
        create(A, 1, "/a", CreateMode::Ephemeral),
        commits(3, A, 1),
        expiry(4, A),
        created(A, 1, 3, "/a"),
        loses(A),
        VisibleStep::Expires { session: A },
        list(B, 1),
        listed(B, 1, 4, &[]),
    ]);
    validate(&answered_too_late, None).expect("the answer was under way");
    let restricted = validate(&answered_too_late, Some(Restriction::NoExpiryBeforeAnswer));
    assert_eq!(restricted.expect_err("it is not answered").why, Why::ExpiryBeforeAnswer);
}

#[test]
fn a_dead_session_is_served_where_its_end_is_not_known() {
    let back = || a_creates().into_iter().chain([expiry(4, A), loses(A), connects(A, &[])]);
    let served = after(back().chain([list(A, 2), listed(A, 2, 3, &["a"]), loses(A)]));
    let judged = validate(&served, None).expect("its server has not heard of its end");
    assert_eq!((judged.connected_after_the_end, judged.served_after_the_end), (1, 1));
    let restricted = validate(&served, Some(Restriction::EndsAreKnownAtOnce));
    assert_eq!(restricted.expect_err("it has").why, Why::ConnectedAfterTheEnd);

    let here = after(a_creates().into_iter().chain([expiry(4, A), list(A, 2), listed(A, 2, 3, &["a"])]));
    validate(&here, None).expect("its server has not heard of its end");
    let restricted = validate(&here, Some(Restriction::EndsAreKnownAtOnce));
    assert_eq!(restricted.expect_err("it has").why, Why::ServedAfterTheEnd);

    let knowing = back().chain([list(A, 2), listed(A, 2, 4, &[])]);
    assert_eq!(why(knowing), Why::ServedAfterTheEnd, "its server knows that it is over");
    let writes = back().chain([create(A, 2, "/b", CreateMode::Persistent), commits(5, A, 2)]);
    assert_eq!(why(writes), Why::LateRequest, "what a dead session writes is refused");
}

#[test]
fn a_view_goes_back_to_what_its_client_was_last_answered() {
    let told = || {
        let watches = [list(B, 1), listed(B, 1, 2, &[])];
        watches.into_iter().chain(a_creates()).chain([event(B, Some(3)), loses(B), connects(B, &[])])
    };
    let back = after(told().chain([list(B, 2), listed(B, 2, 2, &[]), event(B, Some(3))]));
    let judged = validate(&back, None).expect("an event tells it no zxid");
    assert_eq!((judged.went_back, judged.events), (1, 2));
    let restricted = validate(&back, Some(Restriction::ViewsNeverGoBack)).expect_err("it does not go back");
    assert_eq!(restricted.why, Why::ViewGoesBack);

    let answered = [list(B, 2), listed(B, 2, 3, &["a"]), loses(B), connects(B, &[])];
    let read = told().chain(answered).chain([list(B, 3), listed(B, 3, 2, &[])]);
    assert_eq!(why(read), Why::ViewGoesBack, "an answer tells it");
    let stays = [list(B, 2), listed(B, 2, 2, &[]), list(B, 3)];
    let same = told().chain(stays).chain([event(B, Some(3)), listed(B, 3, 2, &[])]);
    assert_eq!(why(same), Why::ViewGoesBack, "on one connection nothing goes back");
}

#[test]
fn a_lost_answer_tells_a_client_nothing() {
    let [sends, commits, _] = a_creates();
    let lost = [sends, commits, loses(A), connects(A, &[]), list(A, 2), listed(A, 2, 2, &[])];
    let behind = after(lost);
    validate(&behind, None).expect("its next server does not know of the znode");
    let restricted = validate(&behind, Some(Restriction::LostAnswersBind)).expect_err("it has to");
    assert_eq!(restricted.why, Why::ViewGoesBack);
}

#[test]
fn the_news_of_a_connection_may_come_when_the_session_is_over() {
    let back = a_creates().into_iter().chain([loses(A), expiry(4, A), connects(A, &[]), loses(A)]);
    let steps = after(back.chain([VisibleStep::Expires { session: A }]));
    let judged = validate(&steps, None).expect("its server did not know");
    assert_eq!((judged.connected_after_the_end, judged.expiries), (1, 1));
    let restricted = validate(&steps, Some(Restriction::EndsAreKnownAtOnce)).expect("it was on its way");
    assert_eq!((restricted.early_connects, restricted.expiries), (1, 1));
}

#[test]
fn a_client_may_be_told_of_an_end_that_is_not_committed_yet_or_never_is() {
    let told = || a_creates().into_iter().chain([loses(A), VisibleStep::Expires { session: A }]);
    assert_eq!(judged(told()).expect("a deposed leader says so").false_expiries, 1);
    let restricted = |steps: Vec<VisibleStep>| validate(&after(steps), Some(Restriction::NoFalseExpiries));
    assert_eq!(restricted(told().collect()).expect_err("it lives").why, Why::ExpiryThatWasNot);
    let on_its_way = told().chain([expiry(4, A)]).collect();
    assert_eq!(restricted(on_its_way).expect("it ends").early_ends, 1);
    // What B does only afterwards, and comes before it, shows that it was not on its way.
    let later = [create(B, 1, "/b", CreateMode::Persistent), commits(4, B, 1), expiry(5, A)];
    let was_not = told().chain(later).collect();
    assert_eq!(restricted(was_not).expect_err("it cannot have ended").why, Why::ExpiryThatWasNot);
}

#[test]
fn a_service_without_lag_rejects_an_old_view() {
    let stale = after(a_creates().into_iter().chain([list(B, 1), listed(B, 1, 2, &[])]));
    validate(&stale, None).expect("views lag");
    assert_eq!(validate(&stale, Some(Restriction::NoLag)).expect_err("they do not").why, Why::ViewGoesBack);
    let fresh = after(a_creates().into_iter().chain([list(B, 1), listed(B, 1, 3, &["a"])]));
    validate(&fresh, Some(Restriction::NoLag)).expect("nothing lags");
}

#[test]
fn a_record_that_contradicts_itself_is_said_to_be_one() {
    assert_eq!(why([commits(2, A, 1)]), Why::Record);
    assert_eq!(why([commits(3, A, 1)]), Why::LateRequest);
    assert_eq!(why([list(SessionId::new(0xc), 1)]), Why::Record);
    assert_eq!(why([expiry(3, A), VisibleStep::Expires { session: A }]), Why::Record, "it is connected");
    assert_eq!(why([expiry(3, A), expiry(4, A)]), Why::Record, "it is over");
    assert_eq!(why([connects(A, &[])]), Why::Record, "it is connected");
}

//! What is found in what clients send and are sent.

use super::world::*;
use super::*;
use zk_api::{Acl, AclList, AddWatchMode, Data, Op, Perms, WatchedEvent};
use zk_proto::message::WatchList;

#[test]
fn answers_come_in_the_order_of_what_was_sent_readable_or_not() {
    let delivers = |xids: [i32; 2]| {
        found(1, |world| {
            world.invariants.sent(C, S, Xid(1), &delete());
            world.invariants.sent_unreadable(C, Xid(2), true);
            for xid in xids {
                let refused = reply(xid, Zxid::new(1, 9), Err(ErrorCode::NoNode));
                world.invariants.delivered(C, &refused);
            }
        })
    };
    assert_eq!(delivers([1, 2]), []);
    assert_eq!(delivers([2, 1]), [Invariant::SessionFifo, Invariant::SessionFifo]);
}

#[test]
fn a_write_that_is_sent_when_another_is_acknowledged_comes_behind_it() {
    let comes_first = |request: &Request, is_refused: bool| {
        found(3, |world| {
            world.asks(C, S, 1, request);
            let zxid = world.does(S, 1, TxnBody::Error(ErrorCode::NoNode));
            world.invariants.delivered(C, &reply(1, zxid, Err(ErrorCode::NoNode)));
            world.invariants.sent(D, T, Xid(1), &delete());
            let code = if is_refused { ErrorCode::SessionMoved } else { ErrorCode::NoNode };
            let body = TxnBody::Error(code);
            let early = Txn { zxid: Zxid::new(1, 1), session: T, xid: Xid(1), time_ms: 0, body };
            world.invariants.committed(&early, true);
        })
    };
    assert_eq!(comes_first(&delete(), false), [Invariant::RealTimeOrderOfWrites]);
    assert_eq!(comes_first(&delete(), true), [], "what is refused is no write");
}

#[test]
fn a_write_is_answered_when_its_server_has_applied_it() {
    let answered = |applied: usize| {
        found(3, |world| {
            world.asks(D, T, 1, &delete());
            let txn = world.next(T, 1, TxnBody::Error(ErrorCode::NoNode));
            (0..applied).for_each(|server| world.applies(server, &txn));
            world.gets(D, &reply(1, txn.zxid, Err(ErrorCode::NoNode)));
        })
    };
    assert_eq!(answered(2), []);
    assert_eq!(answered(1), [Invariant::AnswersMatchReference], "its leader has");
}

#[test]
fn pongs_and_watches_that_are_set_show_what_their_server_has_applied() {
    let shown = |zxid: Zxid, happens: fn(&mut World)| {
        found(3, |world| {
            happens(world);
            let again = ToServer::SetWatches { since: zxid, watches: WatchList::default() };
            world.invariants.arrived(C, &again, 0);
            world.invariants.answering(C, &ToClient::WatchesSet { zxid });
            world.invariants.answering(C, &ToClient::Pong { zxid });
        })
    };
    assert_eq!(shown(Zxid::new(1, 2), |_| {}), []);
    for counter in [1, 3] {
        let wrong = [Invariant::AnswersMatchReference; 2];
        assert_eq!(shown(Zxid::new(1, counter), |_| {}), wrong, "{counter}");
    }
    let leads = |world: &mut World| world.invariants.established(0, 2, Zxid::new(1, 2), 0);
    assert_eq!(shown(Zxid::new(2, 0), leads), [], "its epoch has begun");
}

#[test]
fn what_cannot_be_read_is_heard_and_answered_with_its_error() {
    let refused = |code, at_ms| {
        found(1, |world| {
            world.invariants.sent_unreadable(C, Xid(1), false);
            world.invariants.refused(C, Xid(1), ErrorCode::MarshallingError, false, 2000);
            world.gets(C, &reply(1, Zxid::new(1, 1), Err(code)));
            world.expires(S, at_ms);
        })
    };
    assert_eq!(refused(ErrorCode::MarshallingError, 5000), []);
    assert_eq!(refused(ErrorCode::NoNode, 5000), [Invariant::AnswersMatchReference]);
    assert_eq!(refused(ErrorCode::MarshallingError, 4900), [Invariant::NoEarlyExpiry]);
}

#[test]
fn a_client_is_who_it_comes_as_and_whom_it_proves_to_be() {
    let who = |happens: fn(&mut World)| {
        let mut world = World::of(1);
        happens(&mut world);
        world.asks(C, S, 9, &Request::WhoAmI);
        let nobody = reply(9, Zxid::new(1, 1), Ok(Response::WhoAmI(Vec::new())));
        world.invariants.answering(C, &nobody);
        world.invariants.report.broken.pop().map(|(_, what)| what).unwrap_or_default()
    };
    assert_eq!(who(|_| {}), "");
    let office = who(|world| world.invariants.comes_from(C, Identity::new("ip", "10.0.0.1")));
    assert!(office.ends_with("should be Ok(WhoAmI([ip:10.0.0.1]))"), "{office}");
    let root = who(|world| {
        world.invariants.super_user(Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into()));
        let auth = Request::Auth { scheme: "digest".into(), credentials: "super:test".into() };
        world.asks(C, S, 8, &auth);
        world.gets(C, &reply(8, Zxid::ZERO, Ok(Response::Authenticated)));
    });
    assert!(root.ends_with("should be Ok(WhoAmI([super:, digest:super]))"), "{root}");
}

#[test]
fn a_client_that_comes_back_is_heard_by_the_server_that_leads() {
    let expires = |server, changed: fn(&mut World)| {
        found(3, |world| {
            changed(world);
            world.comes(ConnId(3), server, S, 2000);
            world.expires(S, 4000);
        })
    };
    assert_eq!(expires(0, |_| {}), [Invariant::NoEarlyExpiry]);
    assert_eq!(expires(1, |_| {}), [], "its leader has not heard");
    assert_eq!(expires(0, |world| world.invariants.stopped(0)), []);
}

#[test]
fn what_a_client_asks_on_a_new_connection_waits_for_what_it_wrote_on_former_ones() {
    let answered = |closes: bool| {
        found(3, |world| {
            world.asks(C, S, 1, &delete());
            let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
            world.invariants.proposed(0, &txn, 0);
            world.comes(ConnId(3), 0, S, 0);
            if closes {
                world.invariants.closed(ConnId(3));
            }
            world.invariants.sessions.insert(ConnId(3), S);
            world.invariants.answering(ConnId(3), &ToClient::Pong { zxid: Zxid::new(1, 2) });
        })
    };
    assert_eq!(answered(false), [Invariant::SessionFifo]);
    assert_eq!(answered(true), []);
    // The same where the server has passed it on to its leader.
    let forwarded = found(3, |world| {
        world.asks(D, T, 1, &delete());
        let identities = Arc::from([]);
        let write = ForwardedWrite::Request { request: delete(), identities };
        let ask = ToPeer::Ask(Ask::Write { session: T, xid: Xid(1), write });
        world.invariants.peer_sends(1, LINK, &ask);
        world.comes(ConnId(3), 1, T, 0);
        world.invariants.sessions.insert(ConnId(3), T);
        let event = WatchedEvent::node(EventType::NodeDeleted, "/a".into());
        world.invariants.watches(ConnId(3)).asked_again(ConnId(3), Zxid::ZERO, &WatchList::default());
        world.invariants.answering(ConnId(3), &ToClient::Event { zxid: None, event });
        assert_eq!(world.broken(), [], "an event is no answer");
        world.invariants.answering(ConnId(3), &ToClient::Pong { zxid: Zxid::new(1, 2) });
    });
    assert_eq!(forwarded, [Invariant::SessionFifo]);
}

#[test]
fn a_write_may_be_refused_as_its_session_has_moved_where_it_has() {
    let refused = |conn, comes: &[ConnId]| {
        found(3, |world| {
            for conn in comes {
                world.comes(*conn, 2, T, 0);
                world.invariants.sessions.insert(*conn, T);
            }
            let (path, data, acl) = ("/a".into(), Data::from("x"), open_acl());
            let create = Request::Create { path, data, acl, mode: CreateMode::Persistent, stat: false };
            world.asks(conn, T, 1, &create);
            world.does(T, 1, TxnBody::Error(ErrorCode::SessionMoved));
            world.invariants.at_rest(0, &world.trees[0], |_| true);
        })
    };
    let (third, fourth) = (ConnId(3), ConnId(4));
    assert_eq!(refused(D, &[]), [Invariant::AnswersMatchReference], "there should be a znode");
    assert_eq!(refused(D, &[third]), []);
    // It was told of its session before it came again: its leader knows of the former connection.
    assert_eq!(refused(third, &[third]), [Invariant::AnswersMatchReference]);
    // But of two on which it has asked, it may hear in any order.
    assert_eq!((refused(third, &[third, fourth]), refused(fourth, &[third, fourth])), (vec![], vec![]));
}

#[test]
fn what_a_client_tells_that_it_has_seen_counts_for_what_it_is_shown() {
    let shown = |told| {
        found(1, |world| {
            world.invariants.tells(C, Zxid::new(1, told));
            world.invariants.delivered(C, &ToClient::Pong { zxid: Zxid::new(1, 4) });
        })
    };
    assert_eq!((shown(4), shown(5)), (vec![], vec![Invariant::ZxidsNeverGoBack]));
}

#[test]
fn a_session_that_is_granted_is_the_one_that_was_asked_for() {
    let told = |session, happens: fn(&mut World)| {
        found(3, |world| {
            world.comes(ConnId(3), 0, S, 0);
            happens(world);
            world.invariants.answering(ConnId(3), &granted(session));
        })
    };
    assert_eq!(told(S, |_| {}), []);
    assert_eq!(told(T, |_| {}), [Invariant::SessionsToOwners]);
    let closed = told(S, |world| world.invariants.closed(ConnId(3)));
    assert_eq!(closed, [Invariant::SessionsToOwners], "nobody asks any more");
    // An end that is proposed is none that its client may be kept from, until it is lost.
    let ending = |world: &mut World| {
        let close = world.next(S, 1, TxnBody::CloseSession { ephemerals: Vec::new(), expired: false });
        world.invariants.proposed(0, &close, 0);
        world.comes(ConnId(3), 0, S, 0);
    };
    assert_eq!(told(S, ending), [Invariant::SessionsToOwners]);
}

/// Whether it is found that a connection is told, or not, of a znode that comes and goes with this list.
fn is_wrong(acl: &AclList, is_told: bool, in_multis: bool) -> bool {
    let broken = found(3, |world| {
        world.invariants.comes_from(D, Identity::new("ip", "10.0.0.1"));
        let path: Text = "/a".into();
        world.asks(D, T, 1, &Request::AddWatch { path: path.clone(), mode: AddWatchMode::Persistent });
        world.gets(D, &reply(1, Zxid::new(1, 2), Ok(Response::WatchAdded)));
        let (data, mode, kind) = (Data::from("x"), CreateMode::Persistent, NodeKind::Persistent);
        let create = (
            Op::Create { path: path.clone(), data: data.clone(), acl: acl.clone(), mode, stat: false },
            TxnBody::Create { path: path.clone(), data, acl: acl.clone(), kind, parent_created: 1 },
            EventType::NodeCreated,
        );
        let delete = (
            Op::Delete { path: path.clone(), version: -1 },
            TxnBody::Delete { path: path.clone() },
            EventType::NodeDeleted,
        );
        for (xid, (op, body, event)) in (1..).zip([create, delete]) {
            let (request, body) = match op {
                op if in_multis => (Request::Multi { ops: vec![op] }, TxnBody::Multi { ops: vec![body] }),
                Op::Delete { path, version } => (Request::Delete { path, version }, body),
                Op::Create { path, data, acl, mode, stat } => {
                    (Request::Create { path, data, acl, mode, stat }, body)
                }
                other => panic!("{other:?}"),
            };
            world.asks(C, S, xid, &request);
            let zxid = world.does(S, xid, body);
            if is_told {
                world.gets(
                    D,
                    &ToClient::Event { zxid: Some(zxid), event: WatchedEvent::node(event, path.clone()) },
                );
            }
            world.gets(D, &ToClient::Pong { zxid });
        }
    });
    assert!(broken.iter().all(|name| *name == Invariant::WatchBeforeAnswer), "{broken:?}");
    !broken.is_empty()
}

#[test]
fn who_may_read_is_told_of_changes_and_of_what_a_multi_makes_for_others_it_may_be_told() {
    let list = |scheme, id| [Acl { perms: Perms::READ, who: Identity::new(scheme, id) }].into();
    let (all, its_own, others) = (open_acl(), list("ip", "10.0.0.1"), list("digest", "ann:h"));
    for acl in [&all, &its_own] {
        assert!(!is_wrong(acl, true, false) && is_wrong(acl, false, false), "{acl:?}");
    }
    assert!(is_wrong(&others, true, false) && !is_wrong(&others, false, false));
    assert!(!is_wrong(&all, true, true) && is_wrong(&all, false, true));
    assert!(!is_wrong(&others, true, true) && !is_wrong(&others, false, true));
}

#[test]
fn watches_that_are_set_again_are_watches_of_the_server_that_says_so() {
    let again = WatchList { data: vec!["/gone".into()], ..WatchList::default() };
    let sets = |is_told: bool, asks: bool| {
        found(3, |world| {
            if asks {
                let message = ToServer::SetWatches { since: Zxid::new(1, 1), watches: again.clone() };
                world.invariants.arrived(D, &message, 0);
            }
            if is_told {
                let event = WatchedEvent::node(EventType::NodeDeleted, "/gone".into());
                world.gets(D, &ToClient::Event { zxid: None, event });
            }
            world.gets(D, &ToClient::WatchesSet { zxid: Zxid::new(1, 2) });
        })
    };
    assert_eq!(sets(true, true), []);
    assert_eq!(sets(false, true), [Invariant::WatchBeforeAnswer]);
    assert_eq!(sets(false, false), [Invariant::WatchBeforeAnswer]);
}

/// Whatever shows a change comes behind its event: an answer, a pong, and watches that are set again.
#[test]
fn watches_are_gone_with_their_connection_and_before_that_are_told_first() {
    let shows = |closes: bool, shown: fn(Zxid) -> ToClient| {
        found(3, |world| {
            world.asks(D, T, 1, &Request::GetData { path: "/".into(), watch: true });
            let root = world.trees[0].node("/").expect("there is a root");
            let answer = Response::Data { data: root.data.clone(), stat: root.stat() };
            world.gets(D, &reply(1, Zxid::new(1, 2), Ok(answer)));
            assert_eq!(world.invariants.watches_of(D), 1);
            let (path, data): (Text, _) = ("/".into(), Data::from("x"));
            world.asks(C, S, 1, &Request::SetData { path: path.clone(), data: data.clone(), version: -1 });
            let again = ToServer::SetWatches { since: Zxid::new(1, 2), watches: WatchList::default() };
            world.invariants.arrived(D, &again, 0);
            world.asks(D, T, 2, &exists());
            if closes {
                world.invariants.closed(D);
                assert_eq!(world.invariants.watches_of(D), 0);
            }
            let zxid = world.does(S, 1, TxnBody::SetData { path, data, version: 1 });
            if !closes {
                world.invariants.answering(D, &shown(zxid));
            }
        })
    };
    let pong = |zxid| ToClient::Pong { zxid };
    let shown =
        [pong, |zxid| ToClient::WatchesSet { zxid }, |zxid| reply(2, zxid, Ok(Response::Exists(None)))];
    for shown in shown {
        assert_eq!(shows(false, shown), [Invariant::WatchBeforeAnswer]);
    }
    assert_eq!(shows(true, pong), []);
}

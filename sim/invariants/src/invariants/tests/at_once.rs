//! What is to be answered as soon as it is read, and what is not.

use super::world::*;
use super::*;
use zk_api::WatchedEvent;
use zk_proto::message::WatchList;

/// Whether it is seen that something which has come on a connection is not answered when it was read.
fn is_owed(conn: ConnId, message: &ToServer, happens: impl FnOnce(&mut World)) -> bool {
    let mut world = World::of(3);
    happens(&mut world);
    world.invariants.arrived(conn, message, 0);
    world.invariants.read();
    match &world.broken()[..] {
        [] => false,
        [Invariant::AnswersInTime] => true,
        other => panic!("{other:?}"),
    }
}

fn request(request: Request) -> ToServer {
    ToServer::Request { xid: Xid(1), request }
}

fn auth(scheme: &str) -> Request {
    Request::Auth { scheme: scheme.into(), credentials: "u:p".into() }
}

#[test]
fn reads_pings_and_watches_are_answered_at_once_and_nothing_else() {
    let again = ToServer::SetWatches { since: Zxid::ZERO, watches: WatchList::default() };
    let sync = Request::Sync { path: "/".into() };
    for conn in [C, D] {
        for message in [ToServer::Ping, again.clone(), request(exists())] {
            assert!(is_owed(conn, &message, |_| {}), "{message:?}");
        }
        for message in [request(delete()), request(sync.clone()), request(auth("digest"))] {
            assert!(!is_owed(conn, &message, |_| {}), "{message:?}");
        }
        assert!(!is_owed(conn, &ToServer::Connect(asks_for(S)), |_| {}));
        assert!(!is_owed(conn, &ToServer::Ping, |world| world.asks(conn, S, 1, &delete())), "it waits");
        assert!(!is_owed(conn, &ToServer::Ping, |world| {
            world.asks(conn, S, 1, &auth("none"));
            world.gets(conn, &reply(1, Zxid::ZERO, Err(ErrorCode::AuthFailed)));
        }));
    }
    assert!(!is_owed(ConnId(3), &ToServer::Ping, |_| {}), "it has no session");
}

#[test]
fn a_leader_looks_at_nothing_of_who_may_be_about_to_end_and_a_learner_knows_of_no_end() {
    let ends = |session| {
        move |world: &mut World| {
            let close =
                world.next(session, 1, TxnBody::CloseSession { ephemerals: Vec::new(), expired: false });
            world.invariants.proposed(0, &close, 0);
        }
    };
    assert!(!is_owed(C, &ToServer::Ping, ends(S)) && is_owed(D, &ToServer::Ping, ends(T)));
    // Sessions may have ended in an epoch that is full.
    let fills = |world: &mut World| {
        world.invariants.set_last_counter(3);
        let last = world.next(T, 1, TxnBody::Error(ErrorCode::NoNode));
        world.invariants.proposed(0, &last, 0);
    };
    assert!(!is_owed(C, &ToServer::Ping, fills) && is_owed(D, &ToServer::Ping, fills));
}

#[test]
fn a_leader_may_wait_for_what_is_committed_and_one_of_the_past_or_that_stopped_for_anything() {
    let commits = |world: &mut World| {
        let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
        world.invariants.committed(&txn, true);
    };
    assert!(!is_owed(C, &ToServer::Ping, commits) && is_owed(D, &ToServer::Ping, commits));
    assert!(!is_owed(C, &ToServer::Ping, |world| world.invariants.stopped(0)));
    let another_leads = |world: &mut World| world.invariants.established(1, 2, Zxid::new(1, 2), 0);
    assert!(!is_owed(C, &ToServer::Ping, another_leads) && is_owed(D, &ToServer::Ping, another_leads));
}

#[test]
fn what_is_owed_is_owed_on_its_connection_until_that_is_over() {
    let pong = ToClient::Pong { zxid: Zxid::new(1, 2) };
    let event = WatchedEvent::node(EventType::NodeDeleted, "/a".into());
    let owes = |happens: &dyn Fn(&mut World)| {
        let mut world = World::of(3);
        world.invariants.arrived(D, &ToServer::Ping, 0);
        happens(&mut world);
        world.invariants.read();
        let tested = world.invariants.report.by_name()[Invariant::AnswersInTime.name()];
        (world.broken().contains(&Invariant::AnswersInTime), tested)
    };
    assert_eq!(owes(&|_| {}), (true, 1));
    assert_eq!(owes(&|world| world.invariants.answering(D, &pong)), (false, 1));
    assert_eq!(owes(&|world| world.invariants.answering(C, &pong)), (true, 1));
    let told = ToClient::Event { zxid: None, event };
    assert_eq!(owes(&|world| world.invariants.answering(D, &told)), (true, 1));
    assert_eq!(owes(&|world| world.invariants.closed(D)), (false, 0));
    assert_eq!(owes(&|world| world.invariants.closed(C)), (true, 1));
    // What comes next is read alone: the server has gone before it read the first.
    assert_eq!(owes(&|world| world.asks(C, S, 1, &delete())), (false, 0));
}

//! The invariants as a whole.

mod at_once;
mod clients;
mod servers;
mod trees;
mod world;

use super::*;
use world::{C, LINK, S, delete, expired, reply};
use zk_api::{CreateMode, EventType, Response, open_acl};
use zk_proto::message::ForwardedWrite;
use zk_proto::txn::NodeKind;

fn txn(counter: u32, xid: i32) -> Txn {
    let (path, kind) = ("/a".into(), NodeKind::Persistent);
    let body = TxnBody::Create { path, data: "x".into(), acl: open_acl(), kind, parent_created: 1 };
    Txn { zxid: Zxid::new(1, counter), session: S, xid: Xid(xid), time_ms: 0, body }
}

/// Which invariants this breaks.
fn breaks(happens: impl Fn(&mut Invariants)) -> Vec<Invariant> {
    let mut invariants = Invariants::default();
    invariants.sessions.insert(C, S);
    happens(&mut invariants);
    invariants.report.broken.into_iter().map(|(invariant, _)| invariant).collect()
}

#[test]
fn a_tree_that_no_request_made_is_caught_after_a_recovery_and_at_rest() {
    let mut tree = DataTree::new();
    tree.apply(&txn(1, 1));
    assert_eq!(breaks(|w| w.serves(0, &tree)), [Invariant::AcknowledgedWritesSurvive]);
    assert_eq!(breaks(|w| w.at_rest(0, &tree, |_| true)), [Invariant::AnswersMatchReference]);
    assert_eq!(breaks(|w| w.at_rest(0, &DataTree::new(), |_| true)), []);
}

#[test]
fn whatever_a_session_is_shown_must_not_be_older_than_before() {
    let zxids = [Zxid::new(1, 5), Zxid::new(1, 4)];
    let pongs = breaks(|w| zxids.iter().for_each(|zxid| w.delivered(C, &ToClient::Pong { zxid: *zxid })));
    assert_eq!(pongs, [Invariant::ZxidsNeverGoBack]);
    let again = breaks(|w| {
        zxids.iter().for_each(|zxid| w.delivered(C, &ToClient::WatchesSet { zxid: *zxid }));
    });
    assert_eq!(again, [Invariant::ZxidsNeverGoBack]);
}

#[test]
fn writes_of_a_session_that_commit_in_another_order_are_caught() {
    let commits = |xids: [i32; 2]| {
        breaks(|w| (1..).zip(xids).for_each(|(counter, xid)| w.committed(&txn(counter, xid), true)))
    };
    assert_eq!(commits([1, 2]), []);
    assert_eq!(commits([2, 1]), [Invariant::SessionFifo]);
}

#[test]
fn of_sessions_and_connections_that_are_gone_nothing_is_kept() {
    let mut invariants = Invariants::default();
    invariants.established(0, 1, Zxid::ZERO, 0);
    let (mut zxids, mut tree) = (1.., DataTree::new());
    let mut next = |session, xid, body| {
        let zxid = Zxid::new(1, zxids.next().expect("numbers enough"));
        Arc::new(Txn { zxid, session, xid: Xid(xid), time_ms: 0, body })
    };
    for n in 1..=3 {
        let (conn, session) = (ConnId(n as u64), SessionId::new(n));
        let open = next(session, 0, TxnBody::CreateSession { timeout_ms: 1000, password: [0; 16] });
        let (password, timeout_ms, last_zxid) = ([0; 16], 1000, Zxid::ZERO);
        let asks = ConnectRequest { last_zxid, timeout_ms, session: SessionId::NONE, password };
        invariants.connecting(conn, 0, &asks, (session, password), 0);
        tree.apply(&open);
        invariants.applied(0, &open, &tree);
        let granted = ConnectResponse { timeout_ms, session, password };
        invariants.answering(conn, &ToClient::Connected(granted));
        for xid in 1..=2 {
            invariants.sent(conn, session, Xid(xid), &delete());
            invariants.arrived(conn, &ToServer::Request { xid: Xid(xid), request: delete() }, 0);
        }
        let failed = next(session, 1, TxnBody::Error(ErrorCode::NoNode));
        invariants.proposed(0, &failed, 0);
        // Things are under way on another connection when it goes.
        let next_conn = ConnId(n as u64 + 100);
        invariants.connecting(next_conn, 0, &ConnectRequest { session, ..asks }, (session, password), 0);
        invariants.sessions.insert(next_conn, session);
        invariants.peer_reads(0, 1, LINK, &ToPeer::Ask(Ask::Sync { conn: next_conn }), 0);
        let attach = Ask::Attach { conn: next_conn, session, password, timeout_ms };
        invariants.peer_reads(0, 1, LINK, &ToPeer::Ask(attach), 0);
        let closes = ToServer::Request { xid: Xid(3), request: Request::CloseSession };
        invariants.arrived(next_conn, &closes, 0);
        invariants.tells(next_conn, failed.zxid);
        invariants.committed(&failed, true);
        invariants.applied(0, &failed, &tree);
        invariants.delivered(conn, &reply(1, failed.zxid, Err(ErrorCode::NoNode)));
        for conn in [conn, next_conn] {
            invariants.closed(conn);
            invariants.finished(conn);
        }
        let close = next(session, 0, expired());
        tree.apply(&close);
        invariants.applied(0, &close, &tree);
        // Who comes too late is refused.
        let late = ConnId(n as u64 + 200);
        invariants.connecting(late, 0, &ConnectRequest { session, ..asks }, (session, password), 0);
        let refused = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password };
        invariants.answering(late, &ToClient::Connected(refused));
        invariants.closed(late);
        invariants.finished(late);
    }
    assert!(invariants.report.broken.is_empty(), "{:?}", invariants.report);
    let left = format!(
        "{:?}",
        (&invariants.sessions, &invariants.answers, &invariants.real_time, &invariants.zxids)
    );
    let left = left
        + &format!(
            "{:?}",
            (
                &invariants.fifo,
                &invariants.moves,
                &invariants.syncs,
                &invariants.handshakes,
                &invariants.ensemble.views,
                &invariants.servers,
                &invariants.expiry
            )
        );
    assert!(!left.contains("0x") && !left.contains("c1") && !left.contains("Xid"), "{left}");
}

#[test]
fn a_commit_that_no_sync_came_before_is_caught() {
    assert_eq!(breaks(|w| w.committed(&txn(1, 1), false)), [Invariant::AcknowledgedWritesSurvive]);
}

#[test]
fn what_needs_nobody_and_waits_for_nothing_is_answered_at_once() {
    let pings = |happens: fn(&mut Invariants)| {
        let mut invariants = Invariants::new(Setup { voters: 3, ..Setup::default() });
        invariants.servers.insert(C, 1);
        invariants.sessions.insert(C, S);
        invariants.expiry.connected(C, 3000);
        invariants.moves.passed_on(1, S, Xid(1));
        invariants.moves.attaches(C, 1, S);
        happens(&mut invariants);
        invariants.arrived(C, &ToServer::Ping, 0);
        invariants.read();
        invariants.report.broken.iter().any(|(name, _)| *name == Invariant::AnswersInTime)
    };
    assert!(!pings(|_| {}), "a former write is under way");
    assert!(pings(|invariants| invariants.stopped(1)), "nothing will come of it");
    assert!(pings(|invariants| invariants.moves.applied(1, S, Xid(1))));
}

/// First seen as `no-early-expiry` under seed 700931 of suite/everything.toml.
#[test]
fn a_leader_that_is_behind_what_a_client_has_seen_has_not_heard_of_its_session() {
    let password = [7; 16];
    let expires = |last_zxid| {
        let mut invariants = Invariants::new(Setup { voters: 3, ..Setup::default() });
        invariants.established(1, 2, Zxid::new(1, 9), 0);
        let txn = |body| Txn { zxid: Zxid::new(2, 1), session: S, xid: Xid(0), time_ms: 0, body };
        invariants.proposed(1, &txn(TxnBody::CreateSession { timeout_ms: 3000, password }), 0);
        let request = ConnectRequest { last_zxid, timeout_ms: 3000, session: S, password };
        invariants.connecting(C, 1, &request, (SessionId::NONE, [0; 16]), 2000);
        let expired = TxnBody::CloseSession { ephemerals: Vec::new(), expired: true };
        invariants.proposed(1, &txn(expired), 3000);
        invariants.report.broken.into_iter().map(|(invariant, _)| invariant).collect::<Vec<_>>()
    };
    assert_eq!(expires(Zxid::new(2, 1)), [], "it is refused");
    assert_eq!(expires(Zxid::new(2, 0)), [Invariant::NoEarlyExpiry], "a leader shows its epoch's beginning");
}

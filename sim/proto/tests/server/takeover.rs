//! What a session that comes back on another connection finds of what it asked on the former one.

use crate::server::facts::{again, ask, create, exists, raw_session, replies};
use crate::server::rig::{Rig, config};
use zk_api::{CreateMode, Response, Zxid};
use zk_proto::message::ToServer;

/// First seen as `lock/no-recheck` stuck under seed 36: the look for a lost create came too early.
#[test]
fn a_session_reads_behind_its_own_writes_of_its_former_connection() {
    let mut rig = Rig::serving(config());
    let (former, granted) = raw_session(&mut rig, 1000);
    ask(&mut rig, former, 1, create("/a", CreateMode::Persistent));
    // Proposed, and not on the disk yet.
    while rig.deliver_up(former) {}
    let conn = rig.raw(again(&granted));
    ask(&mut rig, conn, 2, exists("/a", false));
    rig.say(conn, ToServer::Ping);
    while rig.deliver_up(conn) {}
    while rig.deliver_down(conn) {}
    assert_eq!(rig.seen(conn).len(), 1, "connected, and nothing answered");
    rig.settle();
    assert!(matches!(&replies(&rig, conn)[..], [(2, Ok(Response::Exists(Some(_))))]));
    assert_eq!(rig.seen(conn).len(), 3);
}

#[test]
fn a_server_whose_epoch_is_worn_out_goes_on_in_the_next() {
    let mut config = config();
    config.zab.last_counter = 3;
    let mut rig = Rig::serving(config);
    let (conn, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, conn, 1, create("/a", CreateMode::Persistent));
    ask(&mut rig, conn, 2, create("/b", CreateMode::Persistent));
    rig.settle();
    // Its last transaction stands all the same, and the next epoch begins at one.
    assert_eq!(rig.seen(conn).last(), Some(&None));
    assert_eq!(rig.applied, [1, 2, 3].map(|counter| Zxid::new(1, counter)));
    let (conn, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, conn, 1, exists("/b", false));
    rig.settle();
    assert_eq!(rig.applied.last(), Some(&Zxid::new(2, 1)));
    assert!(matches!(&replies(&rig, conn)[..], [(1, Ok(Response::Exists(Some(_))))]));
}

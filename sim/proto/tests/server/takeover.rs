//! What a session that comes back on another connection finds of what it asked on the former one.

use crate::facts::{again, ask, create, exists, raw_session, replies};
use crate::rig::{Rig, config};
use zk_api::{CreateMode, Response};
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

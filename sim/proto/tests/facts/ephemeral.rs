//! Ephemeral znodes and the end of their sessions.

use crate::facts::{after, last};
use zk_api::{Request, SessionId};
use zk_proto::prepare::{Caller, prepare};
use zk_proto::txn::TxnBody;

#[test]
fn any_session_may_delete_anothers() {
    let mut h = after(&["s1 create /a ephemeral", "s2 delete /a"]);
    assert_eq!(h.say("s1 ephemerals"), "[]");
    assert_eq!(h.tree.ephemeral_owners().len(), 0);
}

#[test]
fn expired_session_loses_its_ephemerals_and_no_others() {
    let lines = ["s1 create /a ephemeral", "s2 create /b ephemeral", "s1 create /c", "s1 expire", "ls /"];
    assert_eq!(last(&lines), "[b c zookeeper]");
}

#[test]
fn a_session_that_has_none_closes_as_well() {
    assert_eq!(last(&["close"]), "0:1 closed");
}

#[test]
fn closing_lists_the_ephemerals_that_are_there_by_then() {
    let h = after(&["create /a ephemeral", "create /b ephemeral", "delete /a"]);
    let caller = Caller { session: SessionId::new(1), identities: &[] };
    let body = prepare(&h.tree, &h.config, caller, &Request::CloseSession);
    assert_eq!(body, TxnBody::CloseSession { ephemerals: vec!["/b".into()], expired: false });
}

#[test]
fn get_ephemerals_lists_the_sessions_own_under_a_prefix() {
    let made =
        ["create /p", "s1 create /p/a ephemeral", "s1 create /pb ephemeral", "s2 create /p/c ephemeral"];
    let mut h = after(&made);
    assert_eq!(h.say("s1 ephemerals /"), "[/p/a /pb]");
    assert_eq!(h.say("s1 ephemerals \"\""), "[/p/a /pb]");
    assert_eq!(h.say("s1 ephemerals /p"), "[/p/a /pb]", "it is a prefix of the text, not of the path");
    assert_eq!(h.say("s1 ephemerals /p/"), "[/p/a]");
    assert_eq!(h.say("s3 ephemerals /"), "[]");
}

#[test]
fn a_znode_created_again_by_another_session_is_the_others() {
    let made = ["s1 create /a ephemeral", "s1 delete /a", "s2 create /a ephemeral", "s1 close", "ephemerals"];
    let mut h = after(&made);
    assert_eq!(h.say("s2 ephemerals"), "[/a]");
}

//! Revocation against a server by script.

use crate::script::{ME, Script, created, event, names, start, there};
use std::time::Duration;
use zk_api::{Data, ErrorCode, EventType, KeeperState, Response, SessionId, Stat, StatFields, ZPath, Zxid};
use zk_recipes::{Ended, Held, Lost, OnDisconnect, Revoked, Revoker, SharedLock};

const OWN: &str = "/lock/g-read-0000000005";
const READ_OWN: &str = "getData /lock/g-read-0000000005 watch";
const THEIRS: &str = "/lock/a-write-0000000004";

fn path(path: &str) -> ZPath {
    ZPath::parse(path).unwrap()
}

fn data(text: &str, owner: SessionId) -> Response {
    let stat =
        Stat::from(StatFields { ephemeral_owner: owner, czxid: Zxid::new(1, 7), ..StatFields::default() });
    Response::Data { data: Data::from(text), stat }
}

fn lock(script: &Script) -> SharedLock<Script> {
    SharedLock::new(script.clone(), &path("/lock"), "g").unwrap()
}

fn reading<'a>(script: &Script, lock: &'a mut SharedLock<Script>) -> Held<'a, Script> {
    let mut read = start(lock.read());
    script.answer("create /lock/g-read-", created(OWN));
    read.waits();
    script.answer("getChildren /lock", names(&["g-read-0000000005"]));
    read.waits();
    script.answer("exists /lock/g-read-0000000005", there(ME));
    read.ends().unwrap()
}

#[test]
fn a_holder_is_told_that_it_is_asked_back() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = reading(&script, &mut lock);
    let mut revoked = start(held.revoked(OnDisconnect::Stop));
    let fire = script.answer_watch(READ_OWN, data("", ME));
    revoked.waits();
    fire.complete(event(EventType::NodeDataChanged));
    revoked.waits();
    let _watch = script.answer_watch(READ_OWN, data("unlock", ME));
    assert_eq!(revoked.ends(), Revoked::Asked);
}

#[test]
fn other_data_are_nothing_to_stop_for_and_the_next_change_is_heard() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = reading(&script, &mut lock);
    let mut revoked = start(held.revoked(OnDisconnect::Stop));
    for text in ["", "hello", "unlocked"] {
        let fire = script.answer_watch(READ_OWN, data(text, ME));
        revoked.waits();
        fire.complete(event(EventType::NodeDataChanged));
        revoked.waits();
    }
    assert_eq!(script.asked(), [READ_OWN]);
}

#[test]
fn a_holder_whose_znode_was_deleted_is_told_so() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = reading(&script, &mut lock);
    let mut revoked = start(held.revoked(OnDisconnect::KeepUntilExpired));
    let fire = script.answer_watch(READ_OWN, data("", ME));
    revoked.waits();
    fire.complete(event(EventType::NodeDeleted));
    revoked.waits();
    script.fail(READ_OWN, ErrorCode::NoNode);
    assert_eq!(revoked.ends(), Revoked::Lost(Lost::NodeGone));
}

#[test]
fn a_lost_connection_is_a_matter_of_policy_and_afterwards_it_looks_again() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = reading(&script, &mut lock);
    let mut keep = start(held.revoked(OnDisconnect::KeepUntilExpired));
    let _watch = script.answer_watch(READ_OWN, data("", ME));
    keep.waits();
    script.set_state(KeeperState::Disconnected);
    keep.waits();
    assert_eq!(start(held.revoked(OnDisconnect::Stop)).ends(), Revoked::Lost(Lost::Disconnected));
    script.set_state(KeeperState::SyncConnected);
    keep.waits();
    let _watch = script.answer_watch(READ_OWN, data("unlock", ME));
    assert_eq!(keep.ends(), Revoked::Asked);
}

#[test]
fn who_stands_in_line_is_seen_with_kind_and_session() {
    let script = Script::new();
    let revoker = Revoker::new(script.clone(), &path("/lock"));
    let mut contenders = start(revoker.contenders());
    script.answer("getChildren /lock", names(&["b-read-0000000005", "other", "a-write-0000000004"]));
    contenders.waits();
    script.answer("exists /lock/a-write-0000000004", there(SessionId::new(9)));
    contenders.waits();
    script.answer("exists /lock/b-read-0000000005", Response::Exists(None));
    let seen = contenders.ends().unwrap();
    let told: Vec<_> = seen.iter().map(|s| (s.node.as_str(), s.kind, s.session)).collect();
    assert_eq!(told, [(THEIRS, "write", Some(SessionId::new(9))), ("/lock/b-read-0000000005", "read", None)]);
}

#[test]
fn asking_goes_on_until_it_is_known_and_what_is_gone_needs_no_asking() {
    let script = Script::new();
    let revoker = Revoker::new(script.clone(), &path("/lock"));
    let node = path(THEIRS);
    let mut ask = start(revoker.ask(&node));
    script.fail("setData /lock/a-write-0000000004", ErrorCode::ConnectionLoss);
    ask.waits();
    script.fail("setData /lock/a-write-0000000004", ErrorCode::NoNode);
    assert_eq!(ask.ends(), Ok(false));
}

#[test]
fn what_is_not_given_back_in_time_is_taken() {
    let script = Script::new();
    let revoker = Revoker::new(script.clone(), &path("/lock"));
    let node = path(THEIRS);
    let mut revoke = start(revoker.revoke(&node, Duration::from_secs(1)));
    script.answer("setData /lock/a-write-0000000004", Response::DataSet(Stat::default()));
    revoke.waits();
    let _watch = script.answer_watch("exists /lock/a-write-0000000004 watch", there(SessionId::new(9)));
    revoke.waits();
    script.wake();
    revoke.waits();
    script.fail("delete /lock/a-write-0000000004", ErrorCode::ConnectionLoss);
    revoke.waits();
    script.fail("delete /lock/a-write-0000000004", ErrorCode::NoNode);
    assert_eq!(revoke.ends(), Ok(Ended::Taken));
}

#[test]
fn what_is_given_back_in_time_is_not_taken() {
    let script = Script::new();
    let revoker = Revoker::new(script.clone(), &path("/lock"));
    let node = path(THEIRS);
    let mut revoke = start(revoker.revoke(&node, Duration::from_secs(1)));
    script.answer("setData /lock/a-write-0000000004", Response::DataSet(Stat::default()));
    revoke.waits();
    let fire = script.answer_watch("exists /lock/a-write-0000000004 watch", there(SessionId::new(9)));
    revoke.waits();
    fire.complete(event(EventType::NodeDeleted));
    revoke.waits();
    script.answer_watch("exists /lock/a-write-0000000004 watch", Response::Exists(None));
    assert_eq!(revoke.ends(), Ok(Ended::GivenBack));
    assert_eq!(script.asked(), [""; 0]);
}

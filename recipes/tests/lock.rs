//! The lock against a server by script.

use crate::script::{ME, ORDERED, Script, created, event, names, ordered, start, there};
use zk_api::{ErrorCode, EventType, KeeperState, Response, SessionId, ZPath, Zxid};
use zk_recipes::{Held, Lock, Lost, OnDisconnect, RecipeError};

const CREATE: &str = "create /lock/g-lock-";
const LIST: &str = "getChildren /lock";
const OWN: &str = "/lock/g-lock-0000000005";
const OWN_NAME: &str = "g-lock-0000000005";
const CHECK: &str = "exists /lock/g-lock-0000000005";
const DELETE: &str = "delete /lock/g-lock-0000000005";
const BEFORE: &str = "z-lock-0000000004";
const WATCH: &str = "exists /lock/z-lock-0000000004 watch";

fn lock(script: &Script) -> Lock<Script> {
    Lock::new(script.clone(), &ZPath::parse("/lock").unwrap(), "g").unwrap()
}

/// Acquires the lock without any trouble.
fn acquired<'a>(script: &Script, lock: &'a mut Lock<Script>) -> Held<'a, Script> {
    let mut acquire = start(lock.acquire());
    script.answer(CREATE, created(OWN));
    acquire.waits();
    script.answer(LIST, names(&[OWN_NAME]));
    acquire.waits();
    script.answer(CHECK, there(ME));
    acquire.ends().unwrap()
}

/// Runs `acquire` until it waits for the watch of the znode before.
macro_rules! behind {
    ($script:ident, $acquire:ident, $fire:ident) => {
        $script.answer(CREATE, created(OWN));
        $acquire.waits();
        $script.answer(LIST, names(&[BEFORE, OWN_NAME]));
        $acquire.waits();
        let $fire = $script.answer_watch(WATCH, there(SessionId::new(9)));
        $acquire.waits();
        assert_eq!($script.asked(), [""; 0]);
    };
}

#[test]
fn the_lowest_holds_once_its_own_znode_is_checked() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = acquired(&script, &mut lock);
    assert_eq!((held.node().as_str(), held.token()), (OWN, Zxid::new(1, 7)));
    let mut release = start(held.release());
    release.waits();
    script.answer(DELETE, Response::Deleted);
    assert_eq!(release.ends(), Ok(()));
    drop(lock);
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn it_waits_for_the_next_lower_by_number_and_for_no_other_child() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    script.answer(CREATE, created(OWN));
    acquire.waits();
    let all = [OWN_NAME, "a-lock-0000000006", "a-lock-0000000002", BEFORE, "b-lock-0000000003", "other"];
    script.answer(LIST, names(&all));
    acquire.waits();
    assert_eq!(script.asked(), [WATCH]);
}

#[test]
fn a_predecessor_that_is_gone_or_changed_makes_it_look_again() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    behind!(script, acquire, fire);
    fire.complete(event(EventType::NodeDataChanged));
    acquire.waits();
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    acquire.waits();
    script.answer_watch(WATCH, Response::Exists(None));
    acquire.waits();
    assert_eq!(script.asked(), [LIST]);
}

#[test]
fn a_lost_create_is_looked_up_once_there_is_a_connection() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    script.set_state(KeeperState::Disconnected);
    script.fail(CREATE, ErrorCode::ConnectionLoss);
    acquire.waits();
    assert_eq!(script.asked(), [""; 0], "nothing can be asked without a connection");
    script.set_state(KeeperState::SyncConnected);
    acquire.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[OWN_NAME]));
    acquire.waits();
    script.answer(CHECK, there(ME));
    assert_eq!(acquire.ends().unwrap().node().as_str(), OWN);
}

#[test]
fn a_create_that_comes_to_light_late_is_removed() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    script.fail(CREATE, ErrorCode::ConnectionLoss);
    acquire.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE]));
    acquire.waits();
    script.answer(CREATE, created("/lock/g-lock-0000000006"));
    acquire.waits();
    script.answer(LIST, names(&[OWN_NAME, "g-lock-0000000006"]));
    acquire.waits();
    script.answer("exists /lock/g-lock-0000000006", there(ME));
    acquire.waits();
    script.answer("delete /lock/g-lock-0000000006", Response::Deleted);
    acquire.waits();
    script.answer(LIST, names(&[OWN_NAME]));
    acquire.waits();
    script.answer(CHECK, there(ME));
    assert_eq!(acquire.ends().unwrap().node().as_str(), OWN);
}

#[test]
fn a_znode_of_another_session_is_neither_claimed_nor_deleted() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    script.fail(CREATE, ErrorCode::ConnectionLoss);
    acquire.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    acquire.waits();
    script.answer(CHECK, there(SessionId::new(9)));
    assert_eq!(acquire.ends().unwrap_err(), RecipeError::GuidInUse(ZPath::parse(OWN).unwrap()));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn a_waiter_whose_znode_was_deleted_makes_a_new_one() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    behind!(script, acquire, fire);
    fire.complete(event(EventType::NodeDeleted));
    acquire.waits();
    script.answer(LIST, names(&[]));
    acquire.waits();
    assert_eq!(script.asked(), [CREATE]);
}

#[test]
fn a_claim_whose_znode_is_gone_is_not_granted() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    script.answer(CREATE, created(OWN));
    acquire.waits();
    script.answer(LIST, names(&[OWN_NAME]));
    acquire.waits();
    script.answer(CHECK, Response::Exists(None));
    acquire.waits();
    assert_eq!(script.asked(), [LIST]);
}

#[test]
fn a_waiter_notices_the_end_of_its_session() {
    for by_watch in [true, false] {
        let script = Script::new();
        let mut lock = lock(&script);
        let mut acquire = start(lock.acquire());
        behind!(script, acquire, fire);
        script.set_state(KeeperState::Expired);
        if by_watch {
            fire.complete(zk_api::WatchedEvent::session_ended(KeeperState::Expired));
        }
        assert_eq!(acquire.ends().unwrap_err(), RecipeError::SessionLost);
        assert_eq!(script.asked(), [""; 0], "nothing can be asked of a session that is over");
    }
}

#[test]
fn a_waiter_looks_again_after_a_lost_connection() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    behind!(script, acquire, fire);
    script.set_state(KeeperState::Disconnected);
    acquire.waits();
    assert!(fire.is_abandoned());
    script.set_state(KeeperState::SyncConnected);
    acquire.waits();
    assert_eq!(script.asked(), [LIST]);
}

#[test]
fn a_lock_without_a_parent_says_so() {
    let script = Script::new();
    let mut lock = lock(&script);
    let acquire = start(lock.acquire());
    script.fail(CREATE, ErrorCode::NoNode);
    assert_eq!(acquire.ends().unwrap_err(), RecipeError::NoParent(ZPath::parse("/lock").unwrap()));
}

#[test]
fn a_counter_at_its_end_is_no_order() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    script.answer(CREATE, created("/lock/g-lock-2147483647"));
    acquire.waits();
    script.answer(LIST, names(&["g-lock-2147483647"]));
    acquire.waits();
    script.answer("exists /lock/g-lock-2147483647", there(ME));
    let error = acquire.ends().unwrap_err();
    assert_eq!(error, RecipeError::Exhausted(ZPath::parse("/lock/g-lock-2147483647").unwrap()));
    assert_eq!(script.asked(), ["delete /lock/g-lock-2147483647"]);
}

#[test]
fn a_release_goes_on_through_lost_connections_until_it_is_known() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut release = start(acquired(&script, &mut lock).release());
    script.set_state(KeeperState::Disconnected);
    script.fail(DELETE, ErrorCode::ConnectionLoss);
    release.waits();
    assert_eq!(script.asked(), [""; 0]);
    script.set_state(KeeperState::SyncConnected);
    release.waits();
    script.fail(DELETE, ErrorCode::NoNode);
    assert_eq!(release.ends(), Ok(()));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn a_release_of_a_session_that_is_over_says_so() {
    let script = Script::new();
    let mut lock = lock(&script);
    let release = start(acquired(&script, &mut lock).release());
    script.set_state(KeeperState::Expired);
    script.fail(DELETE, ErrorCode::SessionExpired);
    assert_eq!(release.ends(), Err(RecipeError::SessionLost));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn dropping_an_attempt_or_the_lock_held_deletes_the_znode() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    behind!(script, acquire, _fire);
    drop(acquire);
    script.answer(DELETE, Response::Deleted);

    let script = Script::new();
    let mut lock = self::lock(&script);
    drop(acquired(&script, &mut lock));
    assert_eq!(script.asked(), [DELETE]);
}

#[test]
fn an_attempt_dropped_in_its_create_is_removed_by_abandon() {
    let script = Script::new();
    let mut lock = lock(&script);
    drop(start(lock.acquire()));
    assert_eq!(script.asked(), [CREATE]);
    script.answer(CREATE, created(OWN));
    let mut abandon = start(lock.abandon());
    assert_eq!(script.asked(), [ORDERED, LIST], "both at once");
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    abandon.waits();
    script.answer(CHECK, there(ME));
    abandon.waits();
    script.fail(DELETE, ErrorCode::ConnectionLoss);
    abandon.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE]));
    assert_eq!(abandon.ends(), Ok(()));
    assert_eq!(start(lock.abandon()).ends(), Ok(()), "nothing is left to ask for");
}

#[test]
fn what_is_left_is_not_gone_on_with_by_the_next_attempt_but_removed() {
    let script = Script::new();
    let mut lock = lock(&script);
    drop(acquired(&script, &mut lock));
    // The deletion is on its way when the connection is lost: whoever took the znode up would lose it.
    script.fail(DELETE, ErrorCode::ConnectionLoss);
    let mut acquire = start(lock.acquire());
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[OWN_NAME]));
    acquire.waits();
    script.answer(CHECK, there(ME));
    acquire.waits();
    script.answer(DELETE, Response::Deleted);
    acquire.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[]));
    acquire.waits();
    assert_eq!(script.asked(), [CREATE]);
}

#[test]
fn a_holder_is_told_when_its_znode_is_deleted() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = acquired(&script, &mut lock);
    let mut lost = start(held.lost(OnDisconnect::KeepUntilExpired));
    let fire = script.answer_watch("exists /lock/g-lock-0000000005 watch", there(ME));
    lost.waits();
    fire.complete(event(EventType::NodeDeleted));
    assert_eq!(lost.ends(), Lost::NodeGone);
}

#[test]
fn a_lost_connection_is_a_matter_of_policy() {
    let script = Script::new();
    let mut lock = lock(&script);
    let held = acquired(&script, &mut lock);
    let stop = start(held.session_lost(OnDisconnect::Stop));
    let mut keep = start(held.session_lost(OnDisconnect::KeepUntilExpired));
    let mut watching = start(held.lost(OnDisconnect::KeepUntilExpired));
    script.set_state(KeeperState::Disconnected);
    script.fail("exists /lock/g-lock-0000000005 watch", ErrorCode::ConnectionLoss);
    watching.waits();
    assert_eq!(stop.ends(), Lost::Disconnected);
    keep.waits();
    script.set_state(KeeperState::Expired);
    assert_eq!((keep.ends(), watching.ends()), (Lost::SessionOver, Lost::SessionOver));
}

#[test]
fn contenders_are_listed_first_come_first() {
    let script = Script::new();
    let lock = lock(&script);
    let mut contenders = start(lock.contenders());
    contenders.waits();
    script.answer(LIST, names(&[OWN_NAME, "other", BEFORE]));
    let all: Vec<_> = contenders.ends().unwrap().iter().map(|node| node.name().to_owned()).collect();
    assert_eq!(all, [BEFORE, OWN_NAME]);
}

#[test]
fn checkpoints_tell_what_is_alive() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut acquire = start(lock.acquire());
    behind!(script, acquire, fire);
    fire.complete(event(EventType::NodeDeleted));
    acquire.waits();
    let alive = |label: &str, before: &str| {
        format!(r#"{label} [Text("/lock/g-lock-"), Text("{OWN}"), Text("{before}")]"#)
    };
    let list = alive("line/list", "");
    assert_eq!(script.checkpoints(), [list.clone(), alive("line/watch", "/lock/z-lock-0000000004"), list]);
}

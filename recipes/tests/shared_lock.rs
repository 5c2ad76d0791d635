//! The shared lock against a server by script.

use crate::script::{ME, Script, created, names, start, there};
use zk_api::{ErrorCode, KeeperState, MultiOutcome, OpResult, Response, SessionId, ZPath, Zxid};
use zk_recipes::{RecipeError, SharedLock};

const LIST: &str = "getChildren /lock";
const READ: &str = "/lock/g-read-0000000005";
const WRITE: &str = "/lock/g-write-0000000005";
const CHECK_WRITE: &str = "exists /lock/g-write-0000000005";
const DOWNGRADE: &str = "multi ";

fn lock(script: &Script) -> SharedLock<Script> {
    SharedLock::new(script.clone(), &ZPath::parse("/lock").unwrap(), "g").unwrap()
}

#[test]
fn a_reader_waits_for_the_next_lower_writer_and_for_no_reader() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut read = start(lock.read());
    script.answer("create /lock/g-read-", created(READ));
    read.waits();
    let all = ["a-read-0000000004", "w-write-0000000003", "v-write-0000000001", "z-write-0000000006"];
    script.answer(LIST, names(&[&all[..], &["g-read-0000000005"]].concat()));
    read.waits();
    assert_eq!(script.asked(), ["exists /lock/w-write-0000000003 watch"]);
}

#[test]
fn a_reader_holds_it_beside_readers_and_before_writers() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut read = start(lock.read());
    script.answer("create /lock/g-read-", created(READ));
    read.waits();
    script.answer(LIST, names(&["a-read-0000000004", "g-read-0000000005", "w-write-0000000006"]));
    read.waits();
    script.answer("exists /lock/g-read-0000000005", there(ME));
    assert_eq!(read.ends().unwrap().node().as_str(), READ);
}

#[test]
fn a_writer_waits_for_the_next_lower_of_any_kind() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut write = start(lock.write());
    script.answer("create /lock/g-write-", created(WRITE));
    write.waits();
    script.answer(LIST, names(&["a-read-0000000004", "w-write-0000000003", "g-write-0000000005"]));
    write.waits();
    assert_eq!(script.asked(), ["exists /lock/a-read-0000000004 watch"]);
}

#[test]
fn who_may_not_write_now_leaves_nothing_behind() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.try_write());
    script.answer("create /lock/g-write-", created(WRITE));
    attempt.waits();
    script.answer(LIST, names(&["a-read-0000000004", "g-write-0000000005"]));
    attempt.waits();
    script.fail("delete /lock/g-write-0000000005", ErrorCode::ConnectionLoss);
    attempt.waits();
    script.answer("delete /lock/g-write-0000000005", Response::Deleted);
    assert!(attempt.ends().unwrap().is_none());
    assert_eq!(script.asked(), [""; 0]);
}

/// Writes without any trouble, and asks for the downgrade.
macro_rules! downgrading {
    ($script:ident, $lock:ident, $downgrade:ident) => {
        let $script = Script::new();
        let mut $lock = lock(&$script);
        let mut write = start($lock.write());
        $script.answer("create /lock/g-write-", created(WRITE));
        write.waits();
        $script.answer(LIST, names(&["g-write-0000000005"]));
        write.waits();
        $script.answer(CHECK_WRITE, there(ME));
        let mut $downgrade = start(write.ends().unwrap().downgrade());
        $downgrade.waits();
    };
}

fn done() -> Response {
    let made = OpResult::Created { path: READ.into(), stat: None };
    Response::Multi(MultiOutcome::Applied(vec![made, OpResult::Deleted]))
}

fn failed(code: ErrorCode) -> Response {
    Response::Multi(MultiOutcome::Failed(vec![Some(code), Some(ErrorCode::RuntimeInconsistency)]))
}

#[test]
fn a_downgrade_keeps_the_number_and_the_token() {
    downgrading!(script, lock, downgrade);
    script.answer(DOWNGRADE, done());
    let held = downgrade.ends().unwrap();
    assert_eq!((held.node().as_str(), held.token()), (READ, Zxid::new(1, 7)));
    drop(held);
    assert_eq!(script.asked(), ["delete /lock/g-read-0000000005"]);
}

#[test]
fn a_downgrade_whose_answer_was_lost_is_looked_up() {
    downgrading!(script, lock, downgrade);
    script.set_state(KeeperState::Disconnected);
    script.fail(DOWNGRADE, ErrorCode::ConnectionLoss);
    downgrade.waits();
    script.set_state(KeeperState::SyncConnected);
    downgrade.waits();
    script.answer(DOWNGRADE, failed(ErrorCode::NodeExists));
    downgrade.waits();
    script.answer("exists /lock/g-read-0000000005", there(ME));
    assert_eq!(downgrade.ends().unwrap().node().as_str(), READ);
}

#[test]
fn a_downgrade_of_a_znode_that_somebody_has_deleted_holds_nothing() {
    for there_is in [Response::Exists(None), there(SessionId::new(9))] {
        downgrading!(script, lock, downgrade);
        script.answer(DOWNGRADE, failed(ErrorCode::NoNode));
        downgrade.waits();
        script.answer("exists /lock/g-read-0000000005", there_is);
        assert_eq!(downgrade.ends().unwrap_err(), RecipeError::Gone(ZPath::parse(WRITE).unwrap()));
    }
}

#[test]
fn dropping_a_downgrade_deletes_either_znode() {
    downgrading!(script, lock, downgrade);
    drop(downgrade);
    assert_eq!(
        script.asked(),
        [DOWNGRADE, "delete /lock/g-write-0000000005", "delete /lock/g-read-0000000005"]
    );
}

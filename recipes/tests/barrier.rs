//! The barrier against a server by script.

use crate::script::{ORDERED, Script, event, ordered, start};
use zk_api::{ErrorCode, EventType, KeeperState, MultiOutcome, Response, Stat, StatFields, ZPath, Zxid};
use zk_recipes::{Barrier, RecipeError};

const LOOK: &str = "exists /gate/barrier";
const WATCH: &str = "exists /gate/barrier watch";

fn barrier(script: &Script) -> Barrier<Script> {
    Barrier::new(script.clone(), &ZPath::parse("/gate/barrier").unwrap())
}

fn up(counter: u32) -> Response {
    Response::Exists(Some(Stat::from(StatFields { czxid: Zxid::new(1, counter), ..StatFields::default() })))
}

/// Runs `wait` until it waits for the watch.
macro_rules! waiting {
    ($script:ident, $wait:ident, $fire:ident) => {
        $script.answer(ORDERED, ordered());
        $script.answer(LOOK, up(7));
        $wait.waits();
        let $fire = $script.answer_watch(WATCH, up(7));
        $wait.waits();
        assert_eq!($script.asked(), [""; 0]);
    };
}

#[test]
fn a_barrier_that_is_down_is_passed_by_a_look_in_the_order_of_writes() {
    let script = Script::new();
    let barrier = barrier(&script);
    let wait = start(barrier.wait());
    assert_eq!(script.asked(), [ORDERED, LOOK], "both at once");
    script.answer(ORDERED, Response::Multi(MultiOutcome::Failed(vec![Some(ErrorCode::NoNode)])));
    script.answer(LOOK, up(7));
    assert_eq!(wait.ends(), Ok(()), "whatever the read behind it shows");
}

#[test]
fn the_deletion_lets_pass_without_another_look() {
    let script = Script::new();
    let barrier = barrier(&script);
    let mut wait = start(barrier.wait());
    waiting!(script, wait, fire);
    fire.complete(event(EventType::NodeDeleted));
    assert_eq!(wait.ends(), Ok(()));
}

#[test]
fn a_change_of_data_lets_nobody_pass() {
    let script = Script::new();
    let barrier = barrier(&script);
    let mut wait = start(barrier.wait());
    waiting!(script, wait, fire);
    fire.complete(event(EventType::NodeDataChanged));
    wait.waits();
    assert_eq!(script.asked(), [WATCH]);
    script.answer_watch(WATCH, up(7));
    wait.waits();
}

#[test]
fn another_barrier_than_the_one_that_was_seen_lets_pass() {
    let script = Script::new();
    let barrier = barrier(&script);
    let mut wait = start(barrier.wait());
    waiting!(script, wait, fire);
    fire.complete(event(EventType::NodeDataChanged));
    wait.waits();
    script.answer_watch(WATCH, up(9));
    assert_eq!(wait.ends(), Ok(()), "the one it has seen is gone");
}

#[test]
fn a_lost_connection_lets_nobody_pass_and_the_end_of_the_session_neither() {
    let script = Script::new();
    let barrier = barrier(&script);
    let mut wait = start(barrier.wait());
    waiting!(script, wait, _fire);
    script.set_state(KeeperState::Disconnected);
    wait.waits();
    assert_eq!(script.asked(), [""; 0]);
    script.set_state(KeeperState::SyncConnected);
    wait.waits();
    assert_eq!(script.asked(), [WATCH]);
    script.set_state(KeeperState::Expired);
    script.fail(WATCH, ErrorCode::SessionExpired);
    assert_eq!(wait.ends(), Err(RecipeError::SessionLost));
}

#[test]
fn raising_and_lowering_go_on_through_lost_answers() {
    let script = Script::new();
    let barrier = barrier(&script);
    let mut raise = start(barrier.raise("why".into()));
    script.fail("create /gate/barrier", ErrorCode::ConnectionLoss);
    raise.waits();
    script.fail("create /gate/barrier", ErrorCode::NodeExists);
    assert_eq!(raise.ends(), Ok(()));
    let mut lower = start(barrier.lower());
    script.fail("delete /gate/barrier", ErrorCode::ConnectionLoss);
    lower.waits();
    script.fail("delete /gate/barrier", ErrorCode::NoNode);
    assert_eq!(lower.ends(), Ok(()));
}

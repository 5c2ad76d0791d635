//! The double barrier against a server by script.

use crate::script::{ME, Script, event, start, there};
use zk_api::{
    ErrorCode, EventType, KeeperState, MultiOutcome, Response, SessionId, Stat, StatFields, Text, ZPath,
};
use zk_recipes::{DoubleBarrier, Inside, RecipeError};

const LOOK: &str = "getChildren /barrier";
const REGISTER: &str = "multi ";
const END: &str = "multi ";
const TURN: &str = "setData /barrier";
const TURNED: &str = "exists /barrier watch";
const CHECK: &str = "exists /barrier/g";
const REMOVE: &str = "delete /barrier/g";

fn member(script: &Script) -> DoubleBarrier<Script> {
    DoubleBarrier::new(script.clone(), &ZPath::parse("/barrier").unwrap(), "g", 2).unwrap()
}

/// The members, and the version.
fn view(version: i32, names: &[&str]) -> Response {
    let stat = Some(Stat::from(StatFields { version, ..StatFields::default() }));
    Response::Children { names: names.iter().map(|name| Text::from(*name)).collect(), stat }
}

fn at(version: i32) -> Response {
    Response::Exists(Some(Stat::from(StatFields { version, ..StatFields::default() })))
}

fn applied() -> Response {
    Response::Multi(MultiOutcome::Applied(Vec::new()))
}

fn failed(codes: &[Option<ErrorCode>]) -> Response {
    Response::Multi(MultiOutcome::Failed(codes.to_vec()))
}

/// In round 1, with these.
fn inside<'a>(script: &Script, barrier: &'a mut DoubleBarrier<Script>, names: &[&str]) -> Inside<'a, Script> {
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &[]));
    enter.waits();
    script.answer(REGISTER, applied());
    enter.waits();
    script.answer(LOOK, view(1, names));
    enter.waits();
    script.answer(CHECK, there(ME));
    enter.ends().unwrap()
}

#[test]
fn the_last_one_begins_the_round() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &["a"]));
    enter.waits();
    script.answer(REGISTER, applied());
    enter.waits();
    script.answer(LOOK, view(0, &["a", "g"]));
    enter.waits();
    script.answer(TURN, Response::DataSet(Stat::default()));
    enter.waits();
    script.answer(LOOK, view(1, &["a", "g"]));
    enter.waits();
    script.answer(CHECK, there(ME));
    assert_eq!(enter.ends().unwrap().node().as_str(), "/barrier/g");
}

#[test]
fn the_others_wait_for_the_round_and_for_no_member() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &[]));
    enter.waits();
    script.answer(REGISTER, applied());
    enter.waits();
    script.answer(LOOK, view(0, &["g"]));
    enter.waits();
    let fire = script.answer_watch(TURNED, at(0));
    enter.waits();
    assert_eq!(script.asked(), [""; 0]);
    fire.complete(event(EventType::NodeDataChanged));
    enter.waits();
    assert_eq!(script.asked(), [LOOK], "an event is no reason to pass");
}

#[test]
fn whoever_comes_late_waits_for_the_end_or_the_death_of_the_round() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(1, &["b", "a"]));
    enter.waits();
    script.answer_watch(TURNED, at(1));
    enter.waits();
    let fire = script.answer_watch("exists /barrier/a watch", there(SessionId::new(9)));
    enter.waits();
    fire.complete(event(EventType::NodeDeleted));
    enter.waits();
    script.answer(LOOK, view(1, &[]));
    enter.waits();
    assert_eq!(script.asked(), [TURN], "nobody is left to end it");
}

#[test]
fn a_registration_whose_answer_was_lost_is_found() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &[]));
    enter.waits();
    script.fail(REGISTER, ErrorCode::ConnectionLoss);
    enter.waits();
    script.answer(LOOK, view(0, &[]));
    enter.waits();
    script.answer(REGISTER, failed(&[None, Some(ErrorCode::NodeExists)]));
    enter.waits();
    script.answer(LOOK, view(1, &["a", "g"]));
    enter.waits();
    script.answer(CHECK, there(ME));
    assert!(enter.ends().is_ok());
}

#[test]
fn a_registration_for_a_round_that_runs_already_is_tried_again() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &["a"]));
    enter.waits();
    script.answer(REGISTER, failed(&[Some(ErrorCode::BadVersion), None]));
    enter.waits();
    assert_eq!(script.asked(), [LOOK]);
}

#[test]
fn the_znode_of_another_session_is_neither_claimed_nor_deleted() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &["a"]));
    enter.waits();
    script.answer(REGISTER, failed(&[None, Some(ErrorCode::NodeExists)]));
    enter.waits();
    script.answer(LOOK, view(1, &["a", "g"]));
    enter.waits();
    script.answer(CHECK, there(SessionId::new(9)));
    assert_eq!(enter.ends().unwrap_err(), RecipeError::GuidInUse(ZPath::parse("/barrier/g").unwrap()));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn the_lowest_stays_until_it_is_the_last_and_ends_the_round() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut leave = start(inside(&script, &mut barrier, &["h", "g"]).leave());
    script.answer(LOOK, view(1, &["h", "g"]));
    leave.waits();
    let fire = script.answer_watch("exists /barrier/h watch", there(SessionId::new(9)));
    leave.waits();
    fire.complete(event(EventType::NodeDeleted));
    leave.waits();
    script.answer(LOOK, view(1, &["g"]));
    leave.waits();
    script.answer(END, applied());
    leave.waits();
    script.answer(LOOK, view(2, &["z"]));
    assert_eq!(leave.ends(), Ok(()), "members of the next round are nobody to wait for");
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn the_others_remove_their_znodes_and_wait_for_the_lowest() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut leave = start(inside(&script, &mut barrier, &["a", "g"]).leave());
    script.answer(LOOK, view(1, &["a", "g"]));
    leave.waits();
    script.answer(REMOVE, Response::Deleted);
    leave.waits();
    let fire = script.answer_watch("exists /barrier/a watch", there(SessionId::new(9)));
    leave.waits();
    fire.complete(event(EventType::NodeDeleted));
    leave.waits();
    script.answer(LOOK, view(1, &[]));
    assert_eq!(leave.ends(), Ok(()), "the lowest has died");
}

#[test]
fn leaving_goes_on_through_lost_answers() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut leave = start(inside(&script, &mut barrier, &["g"]).leave());
    script.answer(LOOK, view(1, &["g"]));
    leave.waits();
    script.set_state(KeeperState::Disconnected);
    script.fail(END, ErrorCode::ConnectionLoss);
    leave.waits();
    assert_eq!(script.asked(), [""; 0]);
    script.set_state(KeeperState::SyncConnected);
    leave.waits();
    script.answer(LOOK, view(2, &[]));
    assert_eq!(leave.ends(), Ok(()));
}

#[test]
fn an_attempt_that_is_dropped_is_withdrawn_and_removed_for_certain_by_the_next() {
    let script = Script::new();
    let mut barrier = member(&script);
    let mut enter = start(barrier.enter());
    script.answer(LOOK, view(0, &[]));
    enter.waits();
    script.answer(REGISTER, applied());
    enter.waits();
    drop(enter);
    assert_eq!(script.asked(), [LOOK, REMOVE]);
    script.answer(LOOK, view(0, &["g"]));
    script.fail(REMOVE, ErrorCode::ConnectionLoss);
    let mut abandon = start(barrier.abandon());
    script.fail(REMOVE, ErrorCode::ConnectionLoss);
    abandon.waits();
    script.fail(REMOVE, ErrorCode::NoNode);
    assert_eq!(abandon.ends(), Ok(()));
}

#[test]
fn nothing_is_asked_of_a_session_that_is_over() {
    let script = Script::new();
    let mut barrier = member(&script);
    let leave = start(inside(&script, &mut barrier, &["a", "g"]).leave());
    script.set_state(KeeperState::Expired);
    script.fail(LOOK, ErrorCode::SessionExpired);
    assert_eq!(leave.ends(), Err(RecipeError::SessionLost));
    assert_eq!(script.asked(), [""; 0]);
}

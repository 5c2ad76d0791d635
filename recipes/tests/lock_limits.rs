//! The lock for who does not wait, or not for ever, against a server by script.

use crate::script::{ME, ORDERED, Script, created, names, ordered, start, there};
use std::time::Duration;
use zk_api::{ErrorCode, Response, SessionId, ZPath};
use zk_recipes::Lock;

const CREATE: &str = "create /lock/g-lock-";
const LIST: &str = "getChildren /lock";
const OWN: &str = "/lock/g-lock-0000000005";
const OWN_NAME: &str = "g-lock-0000000005";
const CHECK: &str = "exists /lock/g-lock-0000000005";
const DELETE: &str = "delete /lock/g-lock-0000000005";
const BEFORE: &str = "z-lock-0000000004";
const LIMIT: Duration = Duration::from_secs(2);

fn lock(script: &Script) -> Lock<Script> {
    Lock::new(script.clone(), &ZPath::parse("/lock").unwrap(), "g").unwrap()
}

#[test]
fn a_try_takes_the_lock_if_nobody_stands_before_it() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.try_acquire());
    script.answer(CREATE, created(OWN));
    attempt.waits();
    script.answer(LIST, names(&[OWN_NAME, "z-lock-0000000006"]));
    attempt.waits();
    script.answer(CHECK, there(ME));
    assert_eq!(attempt.ends().unwrap().unwrap().node().as_str(), OWN);
}

#[test]
fn a_try_that_fails_goes_on_until_its_znode_is_known_to_be_gone() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.try_acquire());
    script.answer(CREATE, created(OWN));
    attempt.waits();
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    attempt.waits();
    script.fail(DELETE, ErrorCode::ConnectionLoss);
    attempt.waits();
    script.fail(DELETE, ErrorCode::NoNode);
    assert!(attempt.ends().unwrap().is_none());
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn a_try_whose_create_was_lost_finds_its_znode_before_it_gives_up() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.try_acquire());
    script.fail(CREATE, ErrorCode::ConnectionLoss);
    attempt.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    attempt.waits();
    script.answer(CHECK, there(ME));
    attempt.waits();
    script.answer(DELETE, Response::Deleted);
    assert!(attempt.ends().unwrap().is_none());
}

#[test]
fn who_waits_for_too_long_deletes_its_znode_and_the_next_attempt_makes_sure() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.acquire_within(LIMIT));
    script.answer(CREATE, created(OWN));
    attempt.waits();
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    attempt.waits();
    let fire = script.answer_watch("exists /lock/z-lock-0000000004 watch", there(SessionId::new(9)));
    attempt.waits();
    script.wake();
    assert!(attempt.ends().unwrap().is_none());
    assert!(fire.is_abandoned());
    script.fail(DELETE, ErrorCode::ConnectionLoss);
    let abandon = start(lock.abandon());
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE]));
    assert_eq!(abandon.ends(), Ok(()));
}

#[test]
fn who_waits_for_too_long_in_its_create_is_cleaned_up_after() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.acquire_within(LIMIT));
    attempt.waits();
    script.wake();
    assert!(attempt.ends().unwrap().is_none());
    // The create takes effect, and nobody waits for its answer.
    script.answer(CREATE, created(OWN));
    let mut abandon = start(lock.abandon());
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE, OWN_NAME]));
    abandon.waits();
    script.answer(CHECK, there(ME));
    abandon.waits();
    script.answer(DELETE, Response::Deleted);
    abandon.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[BEFORE]));
    assert_eq!(abandon.ends(), Ok(()));
}

#[test]
fn who_gets_it_in_time_keeps_it_when_the_time_is_over() {
    let script = Script::new();
    let mut lock = lock(&script);
    let mut attempt = start(lock.acquire_within(LIMIT));
    script.answer(CREATE, created(OWN));
    attempt.waits();
    script.answer(LIST, names(&[OWN_NAME]));
    attempt.waits();
    script.answer(CHECK, there(ME));
    // Both at once: what was granted is not thrown away.
    script.wake();
    let held = attempt.ends().unwrap().expect("it was granted in time");
    assert_eq!(held.node().as_str(), OWN);
}

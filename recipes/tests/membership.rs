//! Membership and rosters against a server by script.

use crate::script::{ME, Script, event, names, start, there};
use zk_api::{Data, ErrorCode, EventType, KeeperState, MultiOutcome, OpResult, Response, SessionId, ZPath};
use zk_recipes::{Ghost, Membership, RecipeError, Roster};

const CREATE: &str = "create /group/me";
const LOOK: &str = "exists /group/me watch";
const LIST: &str = "getChildren /group watch";

fn group() -> ZPath {
    ZPath::parse("/group").unwrap()
}

fn member(script: &Script, ghost: Ghost) -> Membership<Script> {
    Membership::new(script.clone(), &group(), "me", Data::NULL, ghost).unwrap()
}

fn created() -> Response {
    crate::script::created("/group/me")
}

#[test]
fn a_lost_create_is_found_by_its_owner() {
    let script = Script::new();
    let member = member(&script, Ghost::Await);
    let mut join = start(member.join());
    script.set_state(KeeperState::Disconnected);
    script.fail(CREATE, ErrorCode::ConnectionLoss);
    join.waits();
    assert_eq!(script.asked(), [""; 0], "nothing can be asked without a connection");
    script.set_state(KeeperState::SyncConnected);
    join.waits();
    script.fail(CREATE, ErrorCode::NodeExists);
    join.waits();
    let _watch = script.answer_watch(LOOK, there(ME));
    assert_eq!(join.ends(), Ok(()));
}

#[test]
fn a_ghost_is_waited_for_and_not_taken_for_ones_own() {
    let script = Script::new();
    let member = member(&script, Ghost::Await);
    let mut join = start(member.join());
    script.fail(CREATE, ErrorCode::NodeExists);
    join.waits();
    let fire = script.answer_watch(LOOK, there(SessionId::new(9)));
    join.waits();
    assert_eq!(script.asked(), [""; 0], "it waits");
    fire.complete(event(EventType::NodeDeleted));
    join.waits();
    script.answer(CREATE, created());
    assert_eq!(join.ends(), Ok(()));
}

#[test]
fn a_ghost_may_be_replaced_in_one_transaction_and_one_that_has_gone_is_no_matter() {
    let script = Script::new();
    let member = member(&script, Ghost::Replace);
    let mut join = start(member.join());
    script.fail(CREATE, ErrorCode::NodeExists);
    join.waits();
    let _watch = script.answer_watch(LOOK, there(SessionId::new(9)));
    join.waits();
    let gone = vec![Some(ErrorCode::NoNode), Some(ErrorCode::RuntimeInconsistency)];
    script.answer("multi ", Response::Multi(MultiOutcome::Failed(gone)));
    join.waits();
    script.fail(CREATE, ErrorCode::NodeExists);
    join.waits();
    let _watch = script.answer_watch(LOOK, there(SessionId::new(9)));
    join.waits();
    let done = vec![OpResult::Deleted, OpResult::Created { path: "/group/me".into(), stat: None }];
    script.answer("multi ", Response::Multi(MultiOutcome::Applied(done)));
    join.waits();
    script.fail(CREATE, ErrorCode::NodeExists);
    join.waits();
    let _watch = script.answer_watch(LOOK, there(ME));
    assert_eq!(join.ends(), Ok(()));
}

#[test]
fn a_member_that_was_deleted_is_made_anew_also_after_a_change_of_its_data() {
    let script = Script::new();
    let member = member(&script, Ghost::Await);
    let mut keep = start(member.keep());
    let fire = script.answer_watch(LOOK, there(ME));
    keep.waits();
    fire.complete(event(EventType::NodeDataChanged));
    keep.waits();
    let fire = script.answer_watch(LOOK, there(ME));
    keep.waits();
    fire.complete(event(EventType::NodeDeleted));
    keep.waits();
    let _watch = script.answer_watch(LOOK, Response::Exists(None));
    keep.waits();
    script.answer(CREATE, created());
    keep.waits();
    assert_eq!(script.asked(), [LOOK], "it is watched again");
}

#[test]
fn a_member_notices_the_end_of_its_session() {
    let script = Script::new();
    let member = member(&script, Ghost::Await);
    let mut keep = start(member.keep());
    let fire = script.answer_watch(LOOK, there(ME));
    keep.waits();
    script.set_state(KeeperState::Expired);
    fire.complete(zk_api::WatchedEvent::session_ended(KeeperState::Expired));
    assert_eq!(keep.ends(), RecipeError::SessionLost);
}

#[test]
fn leaving_deletes_the_own_znode_and_nobody_elses() {
    let leave = |stat: Response, deletes: bool| {
        let script = Script::new();
        let member = member(&script, Ghost::Await);
        let mut leave = start(member.leave());
        let outcome = match stat {
            Response::Exists(None) => MultiOutcome::Failed(vec![Some(ErrorCode::NoNode)]),
            _ => MultiOutcome::Applied(vec![OpResult::Checked]),
        };
        script.answer("multi ", Response::Multi(outcome));
        script.answer("exists /group/me", stat);
        leave.go();
        if deletes {
            script.answer("delete /group/me", Response::Deleted);
        }
        assert_eq!(leave.ends(), Ok(()));
        assert_eq!(script.asked(), [""; 0]);
    };
    leave(there(ME), true);
    leave(there(SessionId::new(9)), false);
    leave(Response::Exists(None), false);
}

#[test]
fn a_group_that_is_not_there_is_told_and_names_are_checked() {
    let script = Script::new();
    let member = member(&script, Ghost::Await);
    let join = start(member.join());
    script.fail(CREATE, ErrorCode::NoNode);
    assert_eq!(join.ends(), Err(RecipeError::NoParent(group())));
    for name in ["", "a/b"] {
        assert!(Membership::new(script.clone(), &group(), name, Data::NULL, Ghost::Await).is_err());
    }
}

#[test]
fn a_roster_is_given_with_its_watch_and_only_when_it_has_changed() {
    let script = Script::new();
    let mut roster = Roster::new(script.clone(), &group());
    let mut changed = start(roster.changed());
    let fire = script.answer_watch(LIST, names(&["b", "a"]));
    changed.go();
    drop(changed);
    assert_eq!(roster.members().unwrap().iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
    let mut changed = start(roster.changed());
    assert_eq!(script.asked(), [""; 0], "the watch is set already");
    fire.complete(event(EventType::NodeChildrenChanged));
    changed.waits();
    let fire = script.answer_watch(LIST, names(&["a", "b"]));
    changed.waits();
    assert_eq!(script.asked(), [""; 0], "they are the same");
    // It is dropped as the next change comes, and nothing is lost of it.
    fire.complete(event(EventType::NodeChildrenChanged));
    drop(changed);
    let changed = start(roster.changed());
    let _watch = script.answer_watch(LIST, names(&["a"]));
    assert_eq!(changed.ends().unwrap().len(), 1);
}

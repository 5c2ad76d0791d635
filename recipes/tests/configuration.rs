//! Settings and configurations against a server by script.

use crate::script::{Script, event, names, start};
use std::collections::BTreeMap;
use zk_api::{
    Data, ErrorCode, EventType, KeeperState, MultiOutcome, OpResult, Response, Stat, StatFields, Text, ZPath,
    Zxid,
};
use zk_recipes::{Configuration, RecipeError, Setting};

const READ: &str = "getData /c watch";
const PLAIN: &str = "getData /c";
const LOOK: &str = "exists /c watch";

fn setting(script: &Script) -> Setting<Script> {
    Setting::new(script.clone(), &ZPath::parse("/c").unwrap())
}

fn configuration(script: &Script) -> Configuration<Script> {
    Configuration::new(script.clone(), &ZPath::parse("/c").unwrap())
}

fn stat(mzxid: u32) -> Stat {
    Stat::from(StatFields { mzxid: Zxid::new(1, mzxid), ..StatFields::default() })
}

fn data(text: &str, mzxid: u32) -> Response {
    Response::Data { data: Data::from(text), stat: stat(mzxid) }
}

#[test]
fn an_absent_value_is_told_and_watched_until_it_comes() {
    let script = Script::new();
    let mut setting = setting(&script);
    let mut changed = start(setting.changed());
    script.fail(READ, ErrorCode::NoNode);
    changed.waits();
    let fire = script.answer_watch(LOOK, Response::Exists(None));
    assert_eq!(changed.ends(), Ok(None));
    let mut changed = start(setting.changed());
    assert_eq!(script.asked(), [""; 0]);
    fire.complete(event(EventType::NodeCreated));
    changed.waits();
    let _watch = script.answer_watch(READ, data("x", 3));
    let value = changed.ends().unwrap().unwrap();
    assert_eq!((value.data, value.version), (Data::from("x"), Zxid::new(1, 3)));
}

#[test]
fn a_value_that_comes_between_two_looks_at_its_absence_is_read() {
    let script = Script::new();
    let mut setting = setting(&script);
    let mut changed = start(setting.changed());
    script.fail(READ, ErrorCode::NoNode);
    changed.waits();
    let _watch = script.answer_watch(LOOK, Response::Exists(Some(stat(3))));
    changed.waits();
    let _watch = script.answer_watch(READ, data("x", 3));
    assert_eq!(changed.ends().unwrap().unwrap().data, Data::from("x"));
}

#[test]
fn a_znode_made_anew_with_the_same_stat_version_is_another_value() {
    let script = Script::new();
    let mut setting = setting(&script);
    let changed = start(setting.changed());
    let fire = script.answer_watch(READ, data("x", 3));
    assert!(changed.ends().is_ok());
    let mut changed = start(setting.changed());
    fire.complete(event(EventType::NodeDeleted));
    changed.waits();
    let fire = script.answer_watch(READ, data("x", 3));
    changed.waits();
    fire.complete(event(EventType::NodeDeleted));
    changed.waits();
    let _watch = script.answer_watch(READ, data("y", 5));
    assert_eq!(changed.ends().unwrap().unwrap().version, Zxid::new(1, 5));
}

#[test]
fn a_follower_reads_again_after_a_lost_connection_and_notices_the_end_of_its_session() {
    let script = Script::new();
    let mut setting = setting(&script);
    let changed = start(setting.changed());
    let fire = script.answer_watch(READ, data("x", 3));
    assert!(changed.ends().is_ok());
    let mut changed = start(setting.changed());
    script.set_state(KeeperState::Disconnected);
    changed.waits();
    assert!(fire.is_abandoned());
    script.set_state(KeeperState::SyncConnected);
    changed.waits();
    let fire = script.answer_watch(READ, data("x", 3));
    changed.waits();
    script.set_state(KeeperState::Expired);
    fire.complete(zk_api::WatchedEvent::session_ended(KeeperState::Expired));
    assert_eq!(changed.ends(), Err(RecipeError::SessionLost));
}

#[test]
fn who_was_told_by_others_reads_behind_a_transaction_of_its_own() {
    let script = Script::new();
    let mut setting = setting(&script);
    let mut read = start(setting.synced());
    assert_eq!(script.asked(), ["multi ", PLAIN], "both at once");
    script.fail("multi ", ErrorCode::ConnectionLoss);
    script.fail(PLAIN, ErrorCode::ConnectionLoss);
    read.waits();
    let failed = vec![Some(ErrorCode::NoNode)];
    script.answer("multi ", Response::Multi(MultiOutcome::Failed(failed)));
    script.answer(PLAIN, data("x", 3));
    assert_eq!(read.ends().unwrap().unwrap().data, Data::from("x"), "it was made in between");
}

#[test]
fn setting_makes_the_znode_if_there_is_none_and_bears_a_lost_answer() {
    let script = Script::new();
    let mut setting = setting(&script);
    let mut set = start(setting.set(Data::from("x")));
    script.fail("setData /c", ErrorCode::NoNode);
    set.waits();
    script.fail("create /c", ErrorCode::ConnectionLoss);
    set.waits();
    script.answer("setData /c", Response::DataSet(stat(4)));
    assert_eq!(set.ends(), Ok(Zxid::new(1, 4)));
    let clear = start(setting.clear());
    script.fail("delete /c", ErrorCode::NoNode);
    assert_eq!(clear.ends(), Ok(()));
}

#[test]
fn values_are_read_between_two_looks_at_one_version() {
    let script = Script::new();
    let mut config = configuration(&script);
    let mut changed = start(config.changed());
    let _watch = script.answer_watch(READ, data("", 3));
    changed.waits();
    script.answer("getChildren /c", names(&["a"]));
    changed.waits();
    script.answer("getData /c/a", data("1", 3));
    changed.waits();
    script.answer("exists /c", Response::Exists(Some(stat(4))));
    changed.waits();
    // Something was changed in between: all over again.
    let _watch = script.answer_watch(READ, data("", 4));
    changed.waits();
    script.answer("getChildren /c", names(&["a"]));
    changed.waits();
    script.answer("getData /c/a", data("2", 4));
    changed.waits();
    script.answer("exists /c", Response::Exists(Some(stat(4))));
    let snapshot = changed.ends().unwrap();
    assert_eq!(snapshot.version, Zxid::new(1, 4));
    assert_eq!(snapshot.values, BTreeMap::from([("a".into(), Data::from("2"))]));
}

#[test]
fn a_value_that_vanishes_while_it_is_read_makes_it_read_again() {
    let script = Script::new();
    let mut config = configuration(&script);
    let mut changed = start(config.changed());
    let _watch = script.answer_watch(READ, data("", 3));
    changed.waits();
    script.answer("getChildren /c", names(&["a"]));
    changed.waits();
    script.fail("getData /c/a", ErrorCode::NoNode);
    changed.waits();
    assert_eq!(script.asked(), [READ]);
}

#[test]
fn publishing_is_one_transaction_and_is_tried_again_when_the_list_was_old() {
    let script = Script::new();
    let mut config = configuration(&script);
    let values: BTreeMap<Text, Data> = [("a".into(), Data::from("1"))].into();
    let mut publish = start(config.publish(&values));
    script.answer("getChildren /c", names(&["b"]));
    publish.waits();
    let old = vec![None, None, Some(ErrorCode::NoNode)];
    script.answer("multi ", Response::Multi(MultiOutcome::Failed(old)));
    publish.waits();
    script.answer("getChildren /c", names(&[]));
    publish.waits();
    let created = OpResult::Created { path: "/c/a".into(), stat: None };
    let done = vec![OpResult::DataSet(stat(7)), created];
    script.answer("multi ", Response::Multi(MultiOutcome::Applied(done)));
    assert_eq!(publish.ends(), Ok(Zxid::new(1, 7)));
}

#[test]
fn a_name_that_is_none_is_refused() {
    let script = Script::new();
    let mut config = configuration(&script);
    let values: BTreeMap<Text, Data> = [("a/b".into(), Data::NULL)].into();
    let mut publish = start(config.publish(&values));
    script.answer("getChildren /c", names(&[]));
    publish.go();
    let Err(RecipeError::Failed(error)) = publish.ends() else { panic!("it is no name") };
    assert_eq!(error.code, ErrorCode::BadArguments);
    assert_eq!(script.asked(), [""; 0]);
}

//! The election against a server by script. How candidates stand in line is told by the lock's tests.

use crate::script::{ME, Script, created, event, names, start, there};
use zk_api::{
    Data, ErrorCode, EventType, KeeperState, MultiOutcome, Op, OpResult, Request, Response, Stat, StatFields,
    ZPath, Zxid,
};
use zk_recipes::{Election, Leadership, RecipeError, leader, next_leader};

const OWN: &str = "/election/g-candidate-0000000005";
const ANNOUNCED: &str = "0000000100000007 g-candidate-0000000005\nhere";

fn parent() -> ZPath {
    ZPath::parse("/election").unwrap()
}

fn election(script: &Script) -> Election<Script> {
    Election::new(script.clone(), &parent(), "g").unwrap()
}

fn elected<'a>(script: &Script, election: &'a mut Election<Script>) -> Leadership<'a, Script> {
    let mut lead = start(election.lead());
    script.answer("create /election/g-candidate-", created(OWN));
    lead.waits();
    script.answer("getChildren /election", names(&["g-candidate-0000000005"]));
    lead.waits();
    script.answer(&format!("exists {OWN}"), there(ME));
    lead.ends().unwrap()
}

fn data(text: &str) -> Response {
    Response::Data { data: Data::from(text), stat: Stat::default() }
}

fn failed(codes: &[Option<ErrorCode>]) -> Response {
    Response::Multi(MultiOutcome::Failed(codes.to_vec()))
}

fn applied() -> Response {
    Response::Multi(MultiOutcome::Applied(vec![OpResult::Checked, OpResult::DataSet(Stat::default())]))
}

#[test]
fn who_stands_first_leads_without_being_told_and_its_epoch_is_its_candidates_creation() {
    let script = Script::new();
    let mut election = election(&script);
    let leadership = elected(&script, &mut election);
    assert_eq!((leadership.node().as_str(), leadership.epoch()), (OWN, Zxid::new(1, 7)));
    let mut resign = start(leadership.resign());
    resign.waits();
    script.answer(&format!("delete {OWN}"), Response::Deleted);
    assert_eq!(resign.ends(), Ok(()));
}

#[test]
fn an_announcement_whose_answer_is_lost_is_made_again() {
    let script = Script::new();
    let mut election = election(&script);
    let leadership = elected(&script, &mut election);
    let mut announce = start(leadership.announce(b"here"));
    script.set_state(KeeperState::Disconnected);
    script.fail("multi ", ErrorCode::ConnectionLoss);
    announce.waits();
    assert_eq!(script.asked(), [""; 0], "nothing can be asked without a connection");
    script.set_state(KeeperState::SyncConnected);
    announce.waits();
    script.answer("multi ", applied());
    assert_eq!(announce.ends(), Ok(()));
}

#[test]
fn an_announcement_is_made_only_while_its_candidate_is_there() {
    let script = Script::new();
    let mut election = election(&script);
    let leadership = elected(&script, &mut election);
    let _announce = start(leadership.announce(b"here"));
    let Request::Multi { ops } = script.oldest() else { panic!("{:?}", script.asked()) };
    assert!(
        matches!(&ops[..], [Op::Check { path, .. }, Op::SetData { path: told, .. }]
        if **path == *OWN && **told == *"/election"),
        "{ops:?}"
    );
}

#[test]
fn who_does_not_stand_any_more_announces_nothing_and_is_told() {
    let script = Script::new();
    let mut election = election(&script);
    let leadership = elected(&script, &mut election);
    let announce = start(leadership.announce(b"here"));
    let codes = [Some(ErrorCode::NoNode), Some(ErrorCode::RuntimeInconsistency)];
    script.answer("multi ", failed(&codes));
    assert_eq!(announce.ends(), Err(RecipeError::Gone(ZPath::parse(OWN).unwrap())));
    let announce = start(leadership.announce(b"here"));
    script.answer("multi ", failed(&[None, Some(ErrorCode::NoNode)]));
    assert_eq!(announce.ends(), Err(RecipeError::NoParent(parent())));
}

#[test]
fn a_leader_is_whoever_was_announced_and_is_still_there() {
    let look = |stat: Option<Stat>| {
        let script = Script::new();
        let (zk, parent) = (script.clone(), parent());
        let mut look = start(leader(&zk, &parent));
        script.answer("getData /election", data(ANNOUNCED));
        look.waits();
        script.answer(&format!("exists {OWN}"), Response::Exists(stat));
        look.ends().unwrap().map(|leader| (leader.epoch, leader.node, leader.identity))
    };
    let stat = Stat::from(StatFields { czxid: Zxid::new(1, 7), ..StatFields::default() });
    let there = (Zxid::new(1, 7), ZPath::parse(OWN).unwrap(), b"here".to_vec());
    assert_eq!(look(Some(stat)), Some(there));
    assert_eq!(look(None), None, "it is gone");
    let another = Stat::from(StatFields { czxid: Zxid::new(1, 8), ..stat.fields() });
    assert_eq!(look(Some(another)), None, "the parent was made anew, and with it the numbers");
}

#[test]
fn nobody_leads_before_the_first_announcement() {
    let script = Script::new();
    let (zk, parent) = (script.clone(), parent());
    let look = start(leader(&zk, &parent));
    script.answer("getData /election", data(""));
    assert_eq!(look.ends(), Ok(None));
}

#[test]
fn the_next_leader_is_waited_for_by_a_watch_and_across_a_lost_connection() {
    let script = Script::new();
    let (zk, parent) = (script.clone(), parent());
    let mut next = start(next_leader(&zk, &parent, Some(Zxid::new(1, 6))));
    let fire = script
        .answer_watch("getData /election watch", data("0000000100000006 z-candidate-0000000004\nthere"));
    next.waits();
    fire.complete(event(EventType::NodeDataChanged));
    next.waits();
    script.set_state(KeeperState::Disconnected);
    script.fail("getData /election watch", ErrorCode::ConnectionLoss);
    next.waits();
    script.set_state(KeeperState::SyncConnected);
    next.waits();
    let _watch = script.answer_watch("getData /election watch", data(ANNOUNCED));
    assert_eq!(next.ends().unwrap().epoch, Zxid::new(1, 7));
}

#[test]
fn who_waits_for_a_leader_notices_the_end_of_its_session() {
    let script = Script::new();
    let (zk, parent) = (script.clone(), parent());
    let next = start(next_leader(&zk, &parent, None));
    let fire = script.answer_watch("getData /election watch", data(""));
    script.set_state(KeeperState::Expired);
    fire.complete(zk_api::WatchedEvent::session_ended(KeeperState::Expired));
    assert_eq!(next.ends(), Err(RecipeError::SessionLost));
}

#[test]
fn dropping_the_lead_deletes_the_candidate() {
    let script = Script::new();
    let mut election = election(&script);
    drop(elected(&script, &mut election));
    assert_eq!(script.asked(), [format!("delete {OWN}")]);
}

//! The two-phase commit against a server by script.

use crate::script::{ME, Script, created, event, names, start, there};
use zk_api::{
    Data, ErrorCode, EventType, KeeperState, MultiOutcome, Op, OpResult, Request, Response, SessionId, Stat,
    Text, ZPath,
};
use zk_recipes::{Participant, RecipeError, Terms, Transaction, Verdict, Watching};

const TX: &str = "/tx/1";
const DECISION: &str = "getData /tx/1/decision watch";
const DECIDE: &str = "setData /tx/1/decision";
const OTHER: &str = "getData /tx/1/b";
const OTHER_WATCHED: &str = "getData /tx/1/b watch";
const OTHER_MEMBER: &str = "exists /sites/b watch";
const OWN_VOTE: &str = "setData /tx/1/a";

fn path(text: &str) -> ZPath {
    ZPath::parse(text).unwrap()
}

fn participant(script: &Script, name: &str) -> Participant<Script> {
    Participant::new(script.clone(), &path("/tx"), &path("/sites"), name).unwrap()
}

fn terms(watching: Watching) -> Terms {
    Terms { sites: ["a", "b"].map(Text::from).into(), watching, text: "pay 10".into() }
}

fn applied() -> Response {
    Response::Multi(MultiOutcome::Applied(vec![OpResult::Deleted]))
}

fn failed(code: ErrorCode) -> Response {
    Response::Multi(MultiOutcome::Failed(vec![Some(code), Some(ErrorCode::RuntimeInconsistency)]))
}

fn holds(data: impl Into<Data>) -> Response {
    Response::Data { data: data.into(), stat: Stat::default() }
}

fn done() -> Response {
    Response::DataSet(Stat::default())
}

/// A transaction of `a` and `b` that `a` has proposed.
fn proposed<'a>(script: &Script, by: &'a Participant<Script>, watching: Watching) -> Transaction<'a, Script> {
    let terms = terms(watching);
    let mut propose = start(by.propose("1", &terms));
    propose.waits();
    script.answer("multi ", applied());
    propose.ends().unwrap().expect("it is new")
}

/// The same, as `b` hears of it.
fn heard<'a>(script: &Script, by: &'a Participant<Script>) -> Transaction<'a, Script> {
    let mut hear = start(by.hear_of("1"));
    let fire = script.answer_watch("exists /tx/1 watch", Response::Exists(None));
    hear.waits();
    fire.complete(event(EventType::NodeCreated));
    hear.waits();
    script.answer_watch("exists /tx/1 watch", there(SessionId::NONE));
    hear.waits();
    script.answer("getData /tx/1", holds("coordinator\na\na b\npay 10"));
    hear.ends().unwrap()
}

#[test]
fn all_znodes_of_a_transaction_are_made_at_once_and_empty() {
    let script = Script::new();
    let a = participant(&script, "a");
    let (terms, mut made) = (terms(Watching::Coordinator), Vec::new());
    let propose = start(a.propose("1", &terms));
    let Request::Multi { ops } = script.oldest() else { panic!("one request") };
    for op in ops {
        let Op::Create { path, data, .. } = op else { panic!("creates alone") };
        made.push(format!("{path} {data:?}"));
    }
    let head = r#"/tx/1 "coordinator\na\na b\npay 10""#;
    assert_eq!(made, [head, "/tx/1/a null", "/tx/1/b null", "/tx/1/decision null"]);
    script.answer("multi ", applied());
    assert_eq!(propose.ends().unwrap().unwrap().coordinator(), "a");
}

#[test]
fn a_proposal_whose_answer_is_lost_is_found_with_the_terms_it_has() {
    let script = Script::new();
    let a = participant(&script, "a");
    let terms = terms(Watching::Coordinator);
    let mut propose = start(a.propose("1", &terms));
    script.fail("multi ", ErrorCode::ConnectionLoss);
    propose.waits();
    script.answer("multi ", failed(ErrorCode::NodeExists));
    propose.waits();
    script.answer("getData /tx/1", holds("each-other\nb\nb a c\n"));
    let found = propose.ends().unwrap().unwrap();
    assert_eq!((found.coordinator(), found.terms().sites.len()), ("b", 3));
    assert_eq!(found.terms().watching, Watching::EachOther);
}

#[test]
fn a_transaction_that_is_gone_is_not_there_and_not_aborted() {
    let script = Script::new();
    let a = participant(&script, "a");
    let terms = terms(Watching::Coordinator);
    let mut propose = start(a.propose("1", &terms));
    script.answer("multi ", failed(ErrorCode::NodeExists));
    propose.waits();
    script.fail("getData /tx/1", ErrorCode::NoNode);
    assert!(propose.ends().unwrap().is_none());

    let b = participant(&script, "b");
    let transaction = heard(&script, &b);
    let vote = start(transaction.vote(Verdict::Commit));
    script.fail("setData /tx/1/b", ErrorCode::NoNode);
    assert_eq!(vote.ends(), Ok(None));
    let decision = start(transaction.decision());
    assert_eq!(script.asked(), ["exists /sites/a watch", DECISION], "both at once");
    script.answer_watch("exists /sites/a watch", Response::Exists(None));
    script.fail(DECISION, ErrorCode::NoNode);
    assert!(decision.ends().unwrap().is_none());
}

#[test]
fn terms_that_cannot_be_written_or_leave_the_proposer_out_are_refused() {
    let script = Script::new();
    for (by, sites) in [("c", &["a", "b"][..]), ("a", &["a", "decision"]), ("a", &["a", "x y"])] {
        let by = participant(&script, by);
        let sites = sites.iter().map(|site| Text::from(*site)).collect();
        let terms = Terms { sites, ..terms(Watching::Coordinator) };
        let refused = start(by.propose("1", &terms)).ends().unwrap_err();
        assert!(matches!(refused, RecipeError::Failed(e) if e.code == ErrorCode::BadArguments));
    }
    assert!(Participant::new(script.clone(), &path("/tx"), &path("/sites"), "x y").is_err());
}

#[test]
fn a_vote_is_written_once_and_one_that_stands_is_given() {
    let script = Script::new();
    let a = participant(&script, "a");
    let transaction = proposed(&script, &a, Watching::Coordinator);
    let mut vote = start(transaction.vote(Verdict::Abort));
    assert!(matches!(script.oldest(), Request::SetData { version: 0, .. }));
    script.fail(OWN_VOTE, ErrorCode::ConnectionLoss);
    vote.waits();
    script.fail(OWN_VOTE, ErrorCode::BadVersion);
    vote.waits();
    script.answer("getData /tx/1/a", holds("commit"));
    assert_eq!(vote.ends(), Ok(Some(Verdict::Commit)));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn a_vote_to_abort_is_the_decision() {
    let script = Script::new();
    let a = participant(&script, "a");
    let transaction = proposed(&script, &a, Watching::Coordinator);
    let mut vote = start(transaction.vote(Verdict::Abort));
    script.answer(OWN_VOTE, done());
    vote.waits();
    let Request::SetData { data, version: 0, .. } = script.oldest() else { panic!("with a version") };
    assert_eq!(data, Verdict::Abort.data());
    script.fail(DECIDE, ErrorCode::BadVersion);
    assert_eq!(vote.ends(), Ok(Some(Verdict::Abort)));
}

#[test]
fn a_coordinator_commits_when_it_has_seen_every_vote() {
    let script = Script::new();
    let a = participant(&script, "a");
    let transaction = proposed(&script, &a, Watching::Coordinator);
    let mut decision = start(transaction.decision());
    script.answer("getData /tx/1/a", holds("commit"));
    decision.waits();
    script.answer(OTHER, holds(Data::NULL));
    decision.waits();
    script.answer_watch(OTHER_MEMBER, there(SessionId::new(2)));
    script.answer_watch(DECISION, holds(Data::NULL));
    let voted = script.answer_watch(OTHER_WATCHED, holds(Data::NULL));
    decision.waits();
    assert_eq!(script.asked(), [""; 0]);
    voted.complete(event(EventType::NodeDataChanged));
    decision.waits();
    script.answer(OTHER, holds("commit"));
    decision.waits();
    let Request::SetData { data, version: 0, .. } = script.oldest() else { panic!("with a version") };
    assert_eq!(data, Verdict::Commit.data());
    // Another was faster, and decided otherwise: what is written counts.
    script.fail(DECIDE, ErrorCode::BadVersion);
    decision.waits();
    script.answer_watch(DECISION, holds("abort"));
    assert_eq!(decision.ends().unwrap().unwrap().verdict(), Verdict::Abort);
}

#[test]
fn a_site_that_is_gone_without_a_vote_is_not_waited_for() {
    for vote in [Data::NULL, "commit".into()] {
        let script = Script::new();
        let a = participant(&script, "a");
        let transaction = proposed(&script, &a, Watching::EachOther);
        let mut decision = start(transaction.decision());
        script.answer("getData /tx/1/a", holds("commit"));
        decision.waits();
        script.answer(OTHER, holds(Data::NULL));
        decision.waits();
        script.answer_watch(OTHER_MEMBER, Response::Exists(None));
        script.answer_watch(DECISION, holds(Data::NULL));
        script.answer_watch(OTHER_WATCHED, holds(vote.clone()));
        decision.waits();
        // One that has voted before it went has voted.
        assert_eq!(script.asked(), [if vote.is_null() { DECIDE } else { OTHER }]);
    }
}

#[test]
fn whoever_waits_takes_over_from_a_coordinator_that_is_gone() {
    let script = Script::new();
    let b = participant(&script, "b");
    let transaction = heard(&script, &b);
    let mut decision = start(transaction.decision());
    let gone = script.answer_watch("exists /sites/a watch", there(SessionId::new(2)));
    script.answer_watch(DECISION, holds(Data::NULL));
    decision.waits();
    assert_eq!(script.asked(), [""; 0]);
    gone.complete(event(EventType::NodeDeleted));
    decision.waits();
    script.answer_watch("exists /sites/a watch", Response::Exists(None));
    script.answer_watch(DECISION, holds(Data::NULL));
    decision.waits();
    assert_eq!(script.asked(), ["getData /tx/1/a"]);
}

#[test]
fn a_collector_that_finds_a_vote_acknowledged_looks_for_the_decision() {
    let script = Script::new();
    let a = participant(&script, "a");
    let transaction = proposed(&script, &a, Watching::EachOther);
    let mut decision = start(transaction.decision());
    script.fail("getData /tx/1/a", ErrorCode::NoNode);
    decision.waits();
    script.answer_watch(DECISION, holds("commit"));
    assert_eq!(decision.ends().unwrap().unwrap().verdict(), Verdict::Commit);
}

#[test]
fn one_who_waits_notices_the_end_of_its_session_and_looks_again_after_a_lost_connection() {
    let script = Script::new();
    let b = participant(&script, "b");
    let transaction = heard(&script, &b);
    let mut decision = start(transaction.decision());
    let look = || {
        script.answer_watch("exists /sites/a watch", there(SessionId::new(2)));
        script.answer_watch(DECISION, holds(Data::NULL))
    };
    let fire = look();
    decision.waits();
    script.set_state(KeeperState::Disconnected);
    decision.waits();
    assert!(fire.is_abandoned() && script.asked().is_empty());
    script.set_state(KeeperState::SyncConnected);
    decision.waits();
    let _fire = look();
    decision.waits();
    script.set_state(KeeperState::Expired);
    assert_eq!(decision.ends().unwrap_err(), RecipeError::SessionLost);
}

#[test]
fn the_last_one_that_acknowledges_removes_the_transaction() {
    let script = Script::new();
    let a = participant(&script, "a");
    let transaction = proposed(&script, &a, Watching::EachOther);
    let mut decision = start(transaction.decision());
    script.answer("getData /tx/1/a", holds("abort"));
    decision.waits();
    script.answer(DECIDE, done());
    decision.waits();
    script.answer_watch(DECISION, holds("abort"));
    let mut acknowledge = start(decision.ends().unwrap().unwrap().acknowledge());
    script.fail("delete /tx/1/a", ErrorCode::ConnectionLoss);
    acknowledge.waits();
    script.fail("delete /tx/1/a", ErrorCode::NoNode);
    acknowledge.waits();
    let Request::Multi { ops } = script.oldest() else { panic!("both or none") };
    let both = ["/tx/1/decision", TX].map(|path| Op::Delete { path: path.into(), version: -1 });
    assert_eq!(ops, both);
    script.answer("multi ", failed(ErrorCode::NotEmpty));
    assert_eq!(acknowledge.ends(), Ok(()));
}

#[test]
fn a_former_life_is_waited_for_before_one_is_there() {
    let script = Script::new();
    let a = participant(&script, "a");
    let mut join = start(a.join());
    script.fail("create /sites/a", ErrorCode::NodeExists);
    join.waits();
    let gone = script.answer_watch("exists /sites/a watch", there(SessionId::new(9)));
    join.waits();
    assert_eq!(script.asked(), [""; 0]);
    gone.complete(event(EventType::NodeDeleted));
    join.waits();
    // The answer is lost, and the znode is its own.
    script.fail("create /sites/a", ErrorCode::ConnectionLoss);
    join.waits();
    script.fail("create /sites/a", ErrorCode::NodeExists);
    join.waits();
    script.answer_watch("exists /sites/a watch", there(ME));
    assert_eq!(join.ends(), Ok(()));
    let fresh = start(a.join());
    script.answer("create /sites/a", created("/sites/a"));
    assert_eq!(fresh.ends(), Ok(()));
}

#[test]
fn a_coordinator_waits_until_all_are_there() {
    let script = Script::new();
    let a = participant(&script, "a");
    let sites = terms(Watching::Coordinator).sites;
    let mut all = start(a.wait_for(&sites));
    let changed = script.answer_watch("getChildren /sites watch", names(&["a", "x"]));
    all.waits();
    changed.complete(event(EventType::NodeChildrenChanged));
    all.waits();
    script.answer_watch("getChildren /sites watch", names(&["x", "b", "a"]));
    assert_eq!(all.ends(), Ok(()));
}

#[test]
fn checkpoints_tell_on_whose_behalf_and_among_whom() {
    let script = Script::new();
    let b = participant(&script, "b");
    let transaction = heard(&script, &b);
    let abort = start(transaction.abort());
    script.answer(DECIDE, done());
    assert_eq!(abort.ends(), Ok(()));
    let hears = r#"commit/hear-of [Text("/tx/1")]"#;
    let reads = r#"commit/read [Text("/tx/1"), Text("hear-of")]"#;
    let decides = r#"commit/decide [Text("/tx/1"), Text("a"), Text("abort"), Text("abort")]"#;
    assert_eq!(script.checkpoints(), [hears, hears, reads, decides]);
}

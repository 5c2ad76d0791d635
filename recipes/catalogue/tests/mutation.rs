//! Each kind of mutation does what it says, and nothing before its turn.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zk_api::{
    Call, Completer, CreateMode, Data, Error, ErrorCode, EventType, KeeperState, Local, MultiOutcome, Op,
    OpResult, Pending, Request, Response, SessionId, Stat, StatFields, Text, Watch, ZPath, ZooKeeper,
    open_acl, race,
};
use zk_harness::event::{ActorId, End, Observation, Resource};
use zk_harness::mutation::{Kind, Mutated, Mutation, SAME, Word};
use zk_harness::probe::{Probe, Task};
use zk_harness::trial::{Actor, Role, Trial};
use zk_harness::words;

type Answer = Result<(Response, Option<Watch>), ErrorCode>;

/// An ensemble that answers what it was told to, and remembers what was asked.
#[derive(Default)]
struct Desk {
    answers: Mutex<VecDeque<Answer>>,
    sent: Mutex<Vec<Request>>,
    points: Mutex<Vec<Completer<()>>>,
    sleeps: Mutex<Vec<Completer<()>>>,
    changes: Mutex<Vec<Completer<KeeperState>>>,
    checkpoints: Mutex<Vec<Vec<i64>>>,
    said: Mutex<Vec<String>>,
}

impl Desk {
    fn sent(&self) -> Vec<String> {
        let told = |request: &Request| match request {
            Request::Create { path, mode, .. } => format!("create {path} {mode:?}"),
            Request::Delete { path, version } => format!("delete {path} {version}"),
            Request::Exists { path, watch } => format!("exists {path} {watch}"),
            Request::Multi { ops } => format!("multi of {}", ops.len()),
            request => request.name().to_owned(),
        };
        self.sent.lock().expect("nobody panics").iter().map(told).collect()
    }

    fn pass(&self, slots: &Mutex<Vec<Completer<()>>>) {
        for slot in slots.lock().expect("nobody panics").drain(..) {
            slot.complete(());
        }
    }

    fn ends(&self) {
        let changes = std::mem::take(&mut *self.changes.lock().expect("nobody panics"));
        for slot in changes {
            slot.complete(KeeperState::Expired);
        }
    }
}

fn slot<T>(slots: &Mutex<Vec<Completer<T>>>) -> Pending<T> {
    let (completer, pending) = Pending::slot();
    slots.lock().expect("nobody panics").push(completer);
    pending
}

impl ZooKeeper for Desk {
    fn submit(&self, request: Request) -> Call {
        let answer = self.answers.lock().expect("nobody panics").pop_front();
        let error = |code| Error { code, tried: request.name(), path: request.path() };
        let answer = answer.map(|answer| answer.map_err(error));
        self.sent.lock().expect("nobody panics").push(request);
        answer.map_or_else(|| Pending::slot().1, Pending::ready)
    }
    fn sleep(&self, _: Duration) -> Pending<()> {
        slot(&self.sleeps)
    }
    fn session(&self) -> SessionId {
        SessionId::new(1)
    }
    fn state(&self) -> KeeperState {
        KeeperState::Expired
    }
    fn state_change(&self) -> Pending<KeeperState> {
        slot(&self.changes)
    }
    fn checkpoint(&self, _: &'static str, locals: &[Local<'_>]) {
        let number = |local: &Local<'_>| if let Local::Number(n) = local { *n } else { 0 };
        self.checkpoints.lock().expect("nobody panics").push(locals.iter().map(number).collect());
    }
}

impl Probe for Desk {
    fn observe_of(&self, _: u8, what: Observation) {
        self.said.lock().expect("nobody panics").push(what.to_string());
    }
    fn point(&self) -> Pending<()> {
        slot(&self.points)
    }
    fn work(&self) -> Pending<()> {
        slot(&self.points)
    }
    fn write_of(&self, _: u8, _: Resource, _: Option<zk_api::Zxid>) -> Pending<bool> {
        Pending::ready(true)
    }
    fn guid(&self) -> Text {
        "own".into()
    }
    fn spawn(&self, _: Task) {}
    fn thread_ends(&self, _: u8) {}
}

type Zk = Arc<dyn ZooKeeper>;
type Code = fn(Zk, Arc<dyn Probe>) -> Actor;

/// What a test wants.
fn does(code: Code) -> Arc<Trial> {
    Arc::new(Trial::new("does", move |zk, probe, _| code(zk, probe)).setup(["/a"]))
}

/// Code with a mutation, and what it asks.
struct Run {
    trial: Mutated,
    desk: Arc<Desk>,
    actor: Actor,
}

impl Run {
    fn new(kind: Kind, nth: u8, answers: Vec<Answer>, code: Code) -> Run {
        Run::saying(kind, nth, None, answers, code)
    }

    fn saying(kind: Kind, nth: u8, word: Option<Word>, answers: Vec<Answer>, code: Code) -> Run {
        let trial = Mutated::none(does(code)).with(Mutation { kind, nth }, word);
        let desk = Arc::new(Desk { answers: Mutex::new(answers.into()), ..Desk::default() });
        let me = ActorId { process: 0, life: 0, thread: 0 };
        let role = Role { me, clients: 1, rounds: 1, effects: false };
        let actor = trial.explored().actor(desk.clone(), desk.clone(), role);
        Run { trial, desk, actor }
    }

    fn poll(&mut self) -> Poll<End> {
        Pin::new(&mut self.actor).poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Polls it, and gives what was sent.
    fn sends(mut self) -> (Poll<End>, Vec<String>) {
        let end = self.poll();
        (end, self.desk.sent())
    }
}

fn path() -> ZPath {
    ZPath::parse("/a/x").expect("a path")
}

fn deleted() -> Answer {
    Ok((Response::Deleted, None))
}

fn exists(version: i32) -> Answer {
    Ok((Response::Exists(Some(Stat::from(StatFields { version, ..StatFields::default() }))), None))
}

fn failed(code: ErrorCode) -> Answer {
    Err(code)
}

const DONE: Poll<End> = Poll::Ready(End::Done);
const FAILED: Poll<End> = Poll::Ready(End::Failed);

/// Deletes twice, and is done if both succeed.
fn deletes(zk: Zk, _: Arc<dyn Probe>) -> Actor {
    Box::pin(async move {
        for version in [3, 4] {
            if let Err(error) = zk.delete(&path(), version).await {
                return error.into();
            }
        }
        End::Done
    })
}

#[test]
fn the_mutation_comes_at_its_turn_and_never_again() {
    let run = |kind, nth| Run::new(kind, nth, vec![deleted(), deleted()], deletes).sends();
    assert_eq!(run(Kind::DeleteNotSent, 1), (DONE, vec!["delete /a/x 4".into()]));
    assert_eq!(run(Kind::DeleteNotSent, 2), (DONE, vec!["delete /a/x 3".into()]));
    assert_eq!(run(Kind::DeleteNotSent, 3).1.len(), 2);
    assert_eq!(run(Kind::AnyVersion, 2), (DONE, vec!["delete /a/x 3".into(), "delete /a/x -1".into()]));
    assert_eq!(run(Kind::ReturnsEarly, 2), (DONE, vec!["delete /a/x 3".into()]));
    assert_eq!(run(Kind::NeverReturns, 2), (Poll::Pending, vec!["delete /a/x 3".into()]));
    let answers = vec![deleted(), failed(ErrorCode::NoNode), deleted()];
    let (end, sent) = Run::new(Kind::WriteTwice, 1, answers, deletes).sends();
    assert_eq!((end, sent.join(", ")), (DONE, "delete /a/x 3, delete /a/x 3, delete /a/x 4".into()));
}

#[test]
fn an_error_is_taken_for_what_the_kind_takes_it_for() {
    let run = |kind, code| Run::new(kind, 1, vec![failed(code), deleted()], deletes).sends().0;
    assert_eq!(run(Kind::ErrorIsSuccess, ErrorCode::ConnectionLoss), DONE);
    assert_eq!(run(Kind::ErrorIsSuccess, ErrorCode::SessionExpired), Poll::Ready(End::SessionLost));
    assert_eq!(run(Kind::NoNodeIsDone, ErrorCode::NoNode), DONE);
    assert_eq!(run(Kind::NoNodeIsDone, ErrorCode::BadVersion), FAILED);
    assert_eq!(run(Kind::NodeExistsIsOwn, ErrorCode::NodeExists), FAILED, "a delete creates nothing");
    assert_eq!(run(Kind::DeafToEnd, ErrorCode::SessionExpired), Poll::Pending);
}

#[test]
fn a_create_loses_what_it_is_to_lose_and_takes_a_znode_for_its_own() {
    let code: Code = |zk, probe| {
        Box::pin(async move {
            let path = ZPath::parse(&format!("/a/{}", probe.guid())).expect("a path");
            match zk.create(&path, Data::NULL, CreateMode::EphemeralSequential).await {
                Ok(made) if *made == *"/a/own0000000000" => End::Done,
                _ => End::Failed,
            }
        })
    };
    let run = |kind| Run::new(kind, 1, vec![failed(ErrorCode::NodeExists)], code).sends();
    assert_eq!(run(Kind::NotSequential), (FAILED, vec!["create /a/own Ephemeral".into()]));
    assert_eq!(run(Kind::NotEphemeral), (FAILED, vec!["create /a/own PersistentSequential".into()]));
    assert_eq!(run(Kind::NodeExistsIsOwn), (DONE, vec!["create /a/own EphemeralSequential".into()]));
    assert_eq!(run(Kind::SameGuid), (FAILED, vec![format!("create /a/{SAME} EphemeralSequential")]));
}

#[test]
fn operations_of_a_multi_go_wrong_one_by_one() {
    let code: Code = |zk, _| {
        Box::pin(async move {
            let create = |mode| Op::Create {
                path: "/a/x".into(),
                data: Data::NULL,
                acl: open_acl(),
                mode,
                stat: false,
            };
            let delete = Op::Delete { path: "/a/y".into(), version: 2 };
            let ops = vec![create(CreateMode::Ephemeral), delete, create(CreateMode::Persistent)];
            match zk.multi(ops).await {
                Ok(MultiOutcome::Applied(results)) if results.get(1) == Some(&OpResult::Deleted) => End::Done,
                Ok(MultiOutcome::Failed(codes)) if codes.len() == 3 => End::SessionLost,
                _ => End::Failed,
            }
        })
    };
    let made = || OpResult::Created { path: "/a/x".into(), stat: None };
    let applied = || Ok((Response::Multi(MultiOutcome::Applied(vec![made(), made()])), None));
    let run = |kind, answer| Run::new(kind, 1, vec![answer], code).sends();
    assert_eq!(run(Kind::DeleteNotSent, applied()), (DONE, vec!["multi of 2".into()]));
    let codes = || vec![None, Some(ErrorCode::NodeExists)];
    let refused = || Ok((Response::Multi(MultiOutcome::Failed(codes())), None));
    assert_eq!(run(Kind::DeleteNotSent, refused()).0, Poll::Ready(End::SessionLost));
    let codes = || vec![Some(ErrorCode::NodeExists), None, None];
    let refused = || Ok((Response::Multi(MultiOutcome::Failed(codes())), None));
    assert_eq!(run(Kind::NodeExistsIsOwn, refused()).0, DONE);
    let mut wrong = Run::new(Kind::AnyVersion, 1, vec![applied()], code);
    assert!(wrong.poll().is_ready());
    let sent = wrong.desk.sent.lock().expect("nobody panics");
    let Request::Multi { ops } = &sent[0] else { panic!("{sent:?}") };
    assert_eq!(ops[1], Op::Delete { path: "/a/y".into(), version: -1 });
}

#[test]
fn what_a_multi_checks_is_any_version_as_well() {
    let code: Code = |zk, _| {
        Box::pin(async move {
            drop(zk.multi(vec![Op::Check { path: "/a/x".into(), version: 2 }]).await);
            End::Done
        })
    };
    let mut run = Run::new(Kind::AnyVersion, 1, vec![failed(ErrorCode::BadVersion)], code);
    assert_eq!(run.poll(), DONE);
    let sent = run.desk.sent.lock().expect("nobody panics");
    let Request::Multi { ops } = &sent[0] else { panic!("{sent:?}") };
    assert_eq!(ops[0], Op::Check { path: "/a/x".into(), version: -1 });
}

#[test]
fn a_mutation_that_does_not_come_to_its_turn_has_done_nothing() {
    let acted = |nth| {
        let mut run = Run::new(Kind::DeleteNotSent, nth, vec![deleted(), deleted()], deletes);
        assert_eq!(run.poll(), DONE);
        run.trial.log.seen().acted
    };
    assert_eq!([1, 2, 3].map(acted), [true, true, false]);
}

#[test]
fn a_read_that_finds_no_znode_is_not_done() {
    let code: Code =
        |zk, _| Box::pin(async move { if zk.data(&path()).await.is_ok() { End::Done } else { End::Failed } });
    let run = Run::new(Kind::NoNodeIsDone, 1, vec![failed(ErrorCode::NoNode)], code);
    assert_eq!(run.sends().0, FAILED);
}

#[test]
fn a_watch_that_is_not_set_tells_the_end_alone() {
    let code: Code = |zk, _| {
        Box::pin(async move {
            let Ok((_, watch)) = zk.exists_watch(&path()).await else { return End::Failed };
            if watch.await.kind == EventType::None { End::SessionLost } else { End::Done }
        })
    };
    let mut run = Run::new(Kind::NoWatch, 1, vec![exists(0)], code);
    assert_eq!((run.poll(), run.desk.sent()), (Poll::Pending, vec!["exists /a/x false".to_owned()]));
    run.desk.ends();
    assert_eq!(run.poll(), Poll::Ready(End::SessionLost));
    // Who polls reads again after each sleep, until there is a difference.
    let mut run = Run::new(Kind::Polls, 1, vec![exists(0), exists(0), exists(1)], code);
    for reads in [1, 2] {
        assert_eq!((run.poll(), run.desk.sent().len()), (Poll::Pending, reads));
        run.desk.pass(&run.desk.sleeps);
    }
    assert_eq!((run.poll(), run.desk.sent()), (DONE, vec!["exists /a/x false".to_owned(); 3]));
    // That the znode is gone is one as well.
    let mut run = Run::new(Kind::Polls, 1, vec![exists(0), failed(ErrorCode::NoNode)], code);
    assert_eq!(run.poll(), Poll::Pending);
    run.desk.pass(&run.desk.sleeps);
    assert_eq!(run.poll(), DONE);
    // A deaf one is not told of the end, whatever tells it.
    let (fired, watch) = Pending::slot();
    let Ok((response, _)) = exists(0) else { panic!("it is there") };
    let mut run = Run::new(Kind::DeafToEnd, 1, vec![Ok((response, Some(watch)))], code);
    assert_eq!(run.poll(), Poll::Pending);
    assert!(fired.send(zk_api::WatchedEvent::session_ended(KeeperState::Expired)));
    assert_eq!(run.poll(), Poll::Pending);
    // Of one that its own client has closed it is.
    let (fired, watch) = Pending::slot();
    let Ok((response, _)) = exists(0) else { panic!("it is there") };
    let mut run = Run::new(Kind::DeafToEnd, 1, vec![Ok((response, Some(watch)))], code);
    assert_eq!(run.poll(), Poll::Pending);
    assert!(fired.send(zk_api::WatchedEvent::session_ended(KeeperState::Closed)));
    assert_eq!(run.poll(), Poll::Ready(End::SessionLost));
}

#[test]
fn who_is_deaf_hears_of_no_end_by_the_state() {
    let code: Code = |zk, _| {
        Box::pin(async move {
            let change = zk.state_change();
            if zk.state().is_final() {
                return End::Failed;
            }
            change.await;
            End::SessionLost
        })
    };
    let mut run = Run::new(Kind::DeafToEnd, 1, Vec::new(), code);
    assert_eq!(run.poll(), Poll::Pending);
    run.desk.ends();
    assert_eq!(run.poll(), Poll::Pending);
}

#[test]
fn a_second_look_gives_what_the_first_one_gave() {
    let code: Code = |zk, _| {
        Box::pin(async move {
            let (first, second) = (zk.exists(&path()).await, zk.exists(&path()).await);
            let version = |look: Result<Option<Stat>, Error>| look.ok().flatten().map(|stat| stat.version());
            if version(first) == version(second) { End::Done } else { End::Failed }
        })
    };
    let run = |nth| Run::new(Kind::NoSecondLook, nth, vec![exists(0), exists(1)], code).sends();
    assert_eq!(run(1), (DONE, vec!["exists /a/x false".into()]));
    assert_eq!((run(2).0, run(2).1.len()), (FAILED, 2));
}

#[test]
fn a_late_request_is_sent_behind_a_scheduling_point_or_as_nobody_waits_for_it() {
    let mut run = Run::new(Kind::StepLate, 1, vec![deleted(), deleted()], deletes);
    assert_eq!((run.poll(), run.desk.sent().len()), (Poll::Pending, 0));
    run.desk.pass(&run.desk.points);
    assert_eq!((run.poll(), run.desk.sent().len()), (DONE, 2));
    let code: Code = |zk, _| {
        Box::pin(async move {
            drop(zk.delete(&path(), 7));
            race(zk.sleep(Duration::ZERO), std::future::ready(())).await;
            End::Done
        })
    };
    assert_eq!(Run::new(Kind::StepLate, 1, Vec::new(), code).sends(), (DONE, vec!["delete /a/x 7".into()]));
}

#[test]
fn what_is_said_is_said_twice_or_not_or_early() {
    let code: Code = |zk, probe| {
        Box::pin(async move {
            probe.observe(Observation::note(words::Word::own("begins"), "/a", 1));
            let _ = zk.delete(&path(), 1).await;
            probe.observe(Observation::note(words::Word::own("ends"), "/a", 2));
            End::Done
        })
    };
    let word = Some((0, Observation::note(words::Word::own("ends"), "/a", 2)));
    let said = |kind, nth, word| {
        let mut run = Run::saying(kind, nth, word, vec![deleted()], code);
        assert_eq!(run.poll(), DONE);
        run.desk.said.lock().expect("nobody panics").join(", ")
    };
    assert_eq!(said(Kind::SaysTwice, 2, None), "begins /a 1, ends /a 2, ends /a 2");
    assert_eq!(said(Kind::SaysNothing, 1, None), "ends /a 2");
    assert_eq!(said(Kind::SaysEarly, 2, word.clone()), "begins /a 1, ends /a 2");
    let mut run = Run::saying(Kind::SaysEarly, 2, word, Vec::new(), code);
    assert_eq!(run.poll(), Poll::Pending);
    assert_eq!(*run.desk.said.lock().expect("nobody panics"), ["begins /a 1", "ends /a 2"]);
}

#[test]
fn checkpoints_tell_how_near_the_mutation_is_and_no_more_once_it_is_over() {
    let code: Code = |zk, _| {
        Box::pin(async move {
            for _ in 0..4 {
                zk.checkpoint("again", &[]);
                let _ = zk.delete(&path(), 1).await;
            }
            End::Done
        })
    };
    let answers = || (0..4).map(|_| deleted()).collect();
    let mut run = Run::new(Kind::DeleteNotSent, 2, answers(), code);
    assert_eq!(run.poll(), DONE);
    let told = run.desk.checkpoints.lock().expect("nobody panics").clone();
    assert!(told[0] != told[1] && told[1] != told[2] && told[2] == told[3], "{told:?}");
}

#[test]
fn a_recipe_that_is_looked_at_shows_its_occasions_and_words() {
    let trial = Mutated::none(does(deletes));
    let desk = Arc::new(Desk { answers: Mutex::new([deleted(), deleted()].into()), ..Desk::default() });
    let role = Role { me: ActorId { process: 0, life: 0, thread: 0 }, clients: 1, rounds: 1, effects: false };
    let mut actor = trial.explored().actor(desk.clone(), desk.clone(), role);
    assert_eq!(Pin::new(&mut actor).poll(&mut Context::from_waker(Waker::noop())), DONE);
    let places = trial.log.seen().places;
    assert_eq!(places.get(&(Kind::DeleteNotSent, 2)).map(String::as_str), Some("delete /a/x"));
    assert!(!places.contains_key(&(Kind::DeleteNotSent, 3)) && !places.contains_key(&(Kind::NoWatch, 1)));
    assert_eq!(desk.sent().len(), 2);
}

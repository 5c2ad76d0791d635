//! Timelines of runs that are made up.

use super::{Happened as Moment, *};
use std::collections::BTreeMap;
use zk_api::Zxid;
use zk_harness::promise::Assumption;
use zk_simulator::Fault;

const P0: ActorId = ActorId { process: 0, life: 0, thread: 0 };
const P1: ActorId = ActorId { process: 1, life: 0, thread: 0 };

fn is(at_ns: u64, truth: GroundTruth) -> Moment {
    Moment { at_ns, place: Place::Simulation, what: TimelineEvent::Is(truth) }
}

fn at(at_ns: u64, place: Place, what: TimelineEvent) -> Moment {
    Moment { at_ns, place, what }
}

fn told(timeline: Vec<Moment>, violations: Vec<RunViolation>) -> Vec<String> {
    let run = Run {
        seed: 0,
        digest: 0,
        virtual_ns: 0,
        messages: 0,
        steps: 0,
        deviations: 0,
        disk_ops: 0,
        replay_error: None,
        ordered: Vec::new(),
        redrawn: None,
        visible: Vec::new(),
        tested: BTreeMap::new(),
        violations,
        sometimes: BTreeMap::new(),
        trace: Vec::new(),
        timeline,
        choices: BTreeMap::new(),
        herd: BTreeMap::new(),
        granted: 0,
        crossings: Vec::new(),
        told: zk_harness::heard::Told::default(),
    };
    super::told(&run).into_iter().map(|line| format!("{} {} {}", line.at, line.who, line.what)).collect()
}

fn opened(at_ns: u64, id: i64, actor: ActorId) -> Moment {
    is(at_ns, GroundTruth::SessionOpened { session: SessionId::new(id), actor })
}

fn created(path: &str, by: i64) -> GroundTruth {
    let session = SessionId::new(by);
    GroundTruth::NodeCreated { path: path.into(), by: session, owner: session, czxid: Zxid::new(1, 1) }
}

#[test]
fn a_session_and_its_connection_are_one_line() {
    let state = |at_ns, state| at(at_ns, Place::Client(P0), TimelineEvent::State(state));
    let connected = |at_ns| is(at_ns, GroundTruth::Connected { actor: P0 });
    let lines = told(
        vec![
            state(1, KeeperState::SyncConnected),
            opened(1, 7, P0),
            connected(1),
            state(2, KeeperState::Disconnected),
            is(2, GroundTruth::Disconnected { actor: P0 }),
            state(3, KeeperState::SyncConnected),
            connected(3),
            opened(4, 8, P1),
            is(5, GroundTruth::SessionClosed { session: SessionId::new(8), actor: P1, expired: true }),
        ],
        Vec::new(),
    );
    assert_eq!(
        lines,
        [
            "1 p0 is connected, with session 0x7",
            "2 p0 learns that its connection is lost",
            "3 p0 is connected again",
            "4 -- session 0x8 of p1 is opened",
            "5 -- session 0x8 of p1 expires",
        ]
    );
}

#[test]
fn changes_name_who_made_them_and_whom_they_wake() {
    let fired =
        |woken: Vec<ActorId>| GroundTruth::Fired { path: "/a".into(), kind: EventType::NodeDeleted, woken };
    let deleted = |by, owner| GroundTruth::NodeDeleted {
        path: "/a".into(),
        by: SessionId::new(by),
        owner: SessionId::new(owner),
        zxid: None,
    };
    let truths = [
        created("/a", 7),
        created("/b", 9),
        fired(Vec::new()),
        fired(vec![P0, P1]),
        deleted(7, 7),
        deleted(8, 7),
        deleted(0, 7),
        deleted(0, 0),
    ];
    let timeline = [opened(1, 7, P0), opened(1, 8, P1)];
    let lines = told(timeline.into_iter().chain(truths.map(|truth| is(2, truth))).collect(), Vec::new());
    assert_eq!(
        lines[2..],
        [
            "2 -- p0 creates /a",
            "2 -- an administrator creates /b",
            "2 -- the deletion of /a wakes p0, p1",
            "2 -- p0 deletes /a",
            "2 -- p1 deletes /a, which is of p0",
            "2 -- /a goes with the session of p0",
            "2 -- the server deletes /a",
        ]
    );
}

#[test]
fn what_was_broken_stands_after_what_broke_it() {
    let violation = |at_ns, violated_assumption| RunViolation {
        promise: "exclusion",
        at_ns,
        what: "p0 and p1\n  are inside".into(),
        violated_assumption,
    };
    let enters = |at_ns| {
        at(
            at_ns,
            Place::Client(P0),
            TimelineEvent::Observed(zk_harness::event::Observation::Enters { lock: "/lock".into() }),
        )
    };
    let fault = at(2, Place::Simulation, TimelineEvent::Fault(Fault::Expire { client: 0 }));
    let timeline = vec![enters(1), fault, enters(2), enters(3)];
    let expected = Some(Assumption::NoActionAfterSessionEnd);
    let lines = told(timeline, vec![violation(2, None), violation(9, expected)]);
    assert_eq!(
        lines,
        [
            "1 p0 enters the critical section of /lock",
            "2 -- the server ends the session of p0",
            "2 p0 enters the critical section of /lock",
            "2 -- exclusion: p0 and p1; are inside",
            "3 p0 enters the critical section of /lock",
            "9 -- exclusion: p0 and p1; are inside",
        ]
    );
}

#[test]
fn the_client_that_sets_the_znodes_up_is_not_told_of() {
    let states = [KeeperState::SyncConnected, KeeperState::Closed];
    let timeline = states.map(|state| at(1, Place::Client(P1), TimelineEvent::State(state)));
    assert_eq!(told(timeline.into(), Vec::new()), [""; 0]);
}

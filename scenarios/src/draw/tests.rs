//! Diagrams of runs that are made up.

use super::*;
use zk_api::SessionId;
use zk_harness::event::End;
use zk_harness::words;
use zk_model::{Counterexample, Does, Scene};
use zk_reports::{ArrowKind, PointKind};

const P0: ActorId = ActorId { process: 0, life: 0, thread: 0 };
const AGAIN: ActorId = ActorId { process: 0, life: 1, thread: 0 };

fn drawn(events: &[(u64, Event)]) -> Vec<(BarKind, u64, Option<u64>)> {
    let mut drawing = Drawing::new(Unit::Steps, vec!["s0".into()], 2, false);
    events.iter().for_each(|(at, event)| drawing.event(*at, event));
    let bars = drawing.diagram.bars;
    assert!(bars.iter().all(|bar| bar.lane == 1), "p0's lane is behind the server's");
    bars.into_iter().map(|bar| (bar.kind, bar.from, bar.until)).collect()
}

fn says(at: u64, what: Observation) -> (u64, Event) {
    (at, Event::Observed { actor: P0, what })
}

fn is(at: u64, truth: GroundTruth) -> (u64, Event) {
    (at, Event::Is(truth))
}

#[test]
fn what_is_held_lasts_from_the_grant_to_the_release() {
    let lock = Text::from("/lock");
    let bars = drawn(&[
        says(1, Observation::Attempts { lock: lock.clone() }),
        says(2, Observation::Granted { lock: lock.clone(), node: "/lock/n".into(), token: None }),
        says(3, Observation::Enters { lock: lock.clone() }),
        says(4, Observation::Enters { lock: lock.clone() }),
        says(5, Observation::Leaves { lock: lock.clone() }),
        says(6, Observation::Released { lock }),
    ]);
    assert_eq!(bars, [(BarKind::Holds, 2, Some(6)), (BarKind::Critical, 3, Some(5))]);
}

#[test]
fn what_two_threads_of_a_process_hold_are_two_bars() {
    let lock = Text::from("/lock");
    let second = |(at, event): (u64, Event)| match event {
        Event::Observed { actor, what } => (at, Event::Observed { actor: actor.of_thread(1), what }),
        event @ Event::Is(_) => (at, event),
    };
    let bars = drawn(&[
        says(1, Observation::Enters { lock: lock.clone() }),
        second(says(2, Observation::Enters { lock: lock.clone() })),
        says(3, Observation::Leaves { lock }),
        is(4, GroundTruth::Crashed { actor: P0 }),
    ]);
    let both = [(BarKind::Critical, 1, Some(3)), (BarKind::Critical, 2, Some(4))];
    assert_eq!(bars, [both[0], both[1], (BarKind::Down, 4, None)]);
}

#[test]
fn a_crash_ends_what_a_process_did_and_its_session_lives_on() {
    let [one, other] = [SessionId::new(1), SessionId::new(2)];
    let bars = drawn(&[
        is(1, GroundTruth::SessionOpened { session: one, actor: P0 }),
        says(2, Observation::begins(words::TAKES, "/queue/7", 1)),
        is(3, GroundTruth::Crashed { actor: P0 }),
        is(5, GroundTruth::SessionClosed { session: one, actor: P0, expired: true }),
        is(6, GroundTruth::SessionOpened { session: other, actor: AGAIN }),
        is(7, GroundTruth::Paused { actor: AGAIN }),
        is(8, GroundTruth::Finished { actor: AGAIN, end: End::Done }),
    ]);
    let expected = [
        (BarKind::Session, 1, Some(5)),
        (BarKind::Critical, 2, Some(3)),
        (BarKind::Down, 3, Some(6)),
        (BarKind::Session, 6, None),
        (BarKind::Pause, 7, None),
    ];
    assert_eq!(bars, expected);
}

#[test]
fn a_counterexample_has_its_messages_from_where_they_were_sent_and_ends_with_the_break() {
    let scene = |does| Scene {
        process: Some(1),
        does,
        paths: vec!["/lock".into()],
        events: Vec::new(),
        served: None,
        hears: 0,
        loses: false,
    };
    let example = Counterexample {
        what: "p1 waits\nfor ever".into(),
        script: Vec::new(),
        guids_fall: false,
        violated_assumption: None,
        inevitable_from: None,
        steps: vec!["p1 creates /lock".into(), "p1 crashes".into(), "p1 has its answer".into()],
        scenes: vec![
            scene(Does::Asks { sent: 0 }),
            scene(Does::Suffers),
            scene(Does::Hears { sent: 1, watch: true }),
        ],
    };
    let diagram = steps::diagram("no-waiter-stuck", &example, 2);
    let names: Vec<&str> = diagram.lanes.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names, ["ensemble", "p0", "p1"], "nobody writes outside");
    let arrows: Vec<_> = diagram.arrows.iter().map(|a| (a.kind, a.from, a.to, a.sent, a.arrived)).collect();
    assert_eq!(arrows, [(ArrowKind::Request, 2, 0, 0, Some(1)), (ArrowKind::Watch, 0, 2, 1, Some(3))]);
    let kinds: Vec<PointKind> = diagram.points.iter().map(|point| point.kind).collect();
    assert_eq!(kinds, [PointKind::Observed, PointKind::Fault, PointKind::Observed, PointKind::Broken]);
    let broken = diagram.points.last().expect("it is there");
    assert_eq!((broken.what.as_str(), broken.at), ("no-waiter-stuck: p1 waits; for ever", 3));
    assert_eq!(broken.lanes, [2]);
    assert_eq!(diagram.bars.len(), 2, "both have a session from the start");
}

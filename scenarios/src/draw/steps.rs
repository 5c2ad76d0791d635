//! A model's counterexample as a diagram: a step is a unit of time.

use super::{Drawing, paths_of};
use zk_model::{Counterexample, Does, Scene};
use zk_reports::{Arrow, ArrowKind, Diagram, Point, PointKind, Unit};
use zk_trials::event::{ActorId, Event, Fact};

/// The ensemble's lane; a model has it as one.
const ENSEMBLE: usize = 0;

/// Draws the way to break a promise.
pub(crate) fn diagram(promise: &str, example: &Counterexample, clients: u8) -> Diagram {
    let scenes = &example.scenes;
    let events = || scenes.iter().flat_map(|scene| &scene.events);
    let writes = events().any(|event| matches!(event, Event::Is(Fact::Wrote { .. })));
    let mut drawing = Drawing::new(Unit::Steps, vec!["ensemble".into()], clients.into(), writes);
    let opens = |process: &u8| {
        let is_first = |actor: &ActorId| actor.process == u16::from(*process) && actor.life == 0;
        events().any(|event| matches!(event, Event::Is(Fact::SessionOpened { actor, .. }) if is_first(actor)))
    };
    for process in (0..clients).filter(|process| !opens(process)) {
        // The others have their sessions from the start.
        let (actor, session) = (
            ActorId { process: process.into(), life: 0, thread: 0 },
            zk_api::SessionId::new(i64::from(process) + 1),
        );
        drawing.event(0, &Event::Is(Fact::SessionOpened { session, actor }));
    }
    for (nth, line) in example.steps.iter().enumerate() {
        step(&mut drawing, nth as u64 + 1, line, scenes.get(nth));
    }
    let last = example.steps.len() as u64;
    let (kind, at) = match example.excuse {
        None => (PointKind::Broken, last),
        Some(_) => (PointKind::Expected, last),
    };
    let what = format!("{promise}: {}", one_line(&example.what));
    drawing.point(Point { promise: Some(promise.into()), ..point(at, kind, what) });
    let Drawing { diagram, .. } = drawing;
    diagram.up_to(last, Diagram::KEPT)
}

fn point(at: u64, kind: PointKind, what: String) -> Point {
    let who = String::new();
    Point { lanes: Vec::new(), at, kind, who, what, promise: None, paths: Vec::new() }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

fn step(drawing: &mut Drawing, at: u64, line: &str, scene: Option<&Scene>) {
    let suffers = scene.is_some_and(|scene| scene.does == Does::Suffers);
    let mut paths: Vec<String> =
        scene.iter().flat_map(|scene| &scene.paths).map(ToString::to_string).collect();
    paths.extend(scene.iter().flat_map(|scene| &scene.events).flat_map(paths_of));
    paths.sort_unstable();
    paths.dedup();
    let kind = if suffers { PointKind::Fault } else { PointKind::Says };
    drawing.point(Point { paths: paths.clone(), ..point(at, kind, line.into()) });
    let Some(scene) = scene else { return };
    if let Some(lane) = scene.process.and_then(|process| drawing.client(process.into())) {
        let arrow = |from, to, sent: u32, kind| Arrow {
            from,
            to,
            sent: sent.into(),
            arrived: Some(at),
            kind,
            label: line.into(),
            paths,
        };
        drawing.diagram.arrows.extend(match scene.does {
            Does::Asks { sent } => Some(arrow(lane, ENSEMBLE, sent, ArrowKind::Request)),
            Does::Hears { sent, watch: true } => Some(arrow(ENSEMBLE, lane, sent, ArrowKind::Watch)),
            Does::Hears { sent, watch: false } => Some(arrow(ENSEMBLE, lane, sent, ArrowKind::Answer)),
            Does::Writes | Does::Suffers | Does::Moves => None,
        });
    }
    scene.events.iter().for_each(|event| drawing.event(at, event));
}

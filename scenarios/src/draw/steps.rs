//! A model's counterexample as a diagram: a step is a unit of time.

use super::Drawing;
use crate::story::Line;
use crate::story::cause::cause;
use crate::story::steps::{from_start, lines};
use zk_harness::event::{Event, GroundTruth};
use zk_model::{Counterexample, Does, Scene};
use zk_reports::{Arrow, ArrowKind, Diagram, PointKind, Unit};

/// The ensemble's lane; a model has it as one.
const ENSEMBLE: usize = 0;

/// Draws the way to break a promise.
pub(crate) fn diagram(promise: &str, example: &Counterexample, clients: u8) -> Diagram {
    let scenes = &example.scenes;
    let events = || scenes.iter().flat_map(|scene| &scene.events);
    let writes = events().any(|event| matches!(event, Event::Is(GroundTruth::Wrote { .. })));
    let mut drawing = Drawing::new(Unit::Steps, vec!["ensemble".into()], clients.into(), writes);
    // They have their sessions from the start.
    from_start(scenes, clients).iter().for_each(|opened| drawing.event(0, opened));
    let lines = lines(promise, example, clients);
    let matters = cause(&lines, lines.len() - 1, &|at| format!("step {at}")).lines;
    for (nth, line) in lines.iter().enumerate() {
        step(&mut drawing, promise, line, scenes.get(nth), matters.contains(&nth));
    }
    let last = example.steps.len() as u64;
    let Drawing { diagram, .. } = drawing;
    diagram.up_to(last, Diagram::KEPT)
}

fn step(drawing: &mut Drawing, promise: &str, line: &Line, scene: Option<&Scene>, is_cause: bool) {
    let point = Line { who: String::new(), ..line.clone() };
    drawing.line(point, PointKind::Observed, Some(promise.into()), is_cause);
    let (at, Some(scene)) = (line.at, scene) else { return };
    if let Some(lane) = scene.process.and_then(|process| drawing.client(process.into())) {
        let arrow = |from, to, sent: u32, kind| Arrow {
            from,
            to,
            sent: sent.into(),
            arrived: Some(at),
            kind,
            label: line.what.clone(),
            paths: line.paths.clone(),
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

//! A model's counterexample as lines: a step is one.

use super::{Call, Deed, Line};
use crate::draw::paths_of;
use crate::trial_list::mark;
use std::collections::{BTreeMap, VecDeque};
use zk_api::SessionId;
use zk_harness::event::{ActorId, Event, GroundTruth};
use zk_model::symmetry::actor_of;
use zk_model::{Counterexample, Does, Scene};
use zk_reports::{Mark, named_in};

/// The way to break a promise; its last line is the break.
pub(crate) fn lines(promise: &str, example: &Counterexample, clients: u8) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut unheard: BTreeMap<u16, VecDeque<usize>> = BTreeMap::new();
    for (nth, step) in example.steps.iter().enumerate() {
        let at = nth as u64 + 1;
        let scene = example.scenes.get(nth);
        if let Some(scene) = scene {
            hears(&mut lines, &mut unheard, scene, at);
        }
        let mut line = line(at, step, scene);
        if let Some(call) = scene.and_then(|scene| served(scene, at)) {
            if call.heard.is_none() && scene.is_some_and(|scene| scene.served.iter().all(|it| !it.is_ghost)) {
                unheard.entry(call.actor.process).or_default().push_back(nth);
            }
            line.deeds.insert(0, Deed::Call(call));
        }
        lines.push(line);
    }
    for nth in unheard.into_values().flatten() {
        if let Some(Deed::Call(call)) = lines[nth].deeds.first_mut() {
            call.is_open = true;
        }
    }
    if let Some(first) = lines.first_mut() {
        let opened = from_start(&example.scenes, clients).into_iter().map(Deed::Event);
        first.deeds.splice(0..0, opened);
    }
    lines.push(broken(promise, example));
    lines
}

fn line(at: u64, step: &str, scene: Option<&Scene>) -> Line {
    let events = || scene.iter().flat_map(|scene| &scene.events);
    let mut paths: Vec<String> =
        scene.iter().flat_map(|scene| &scene.paths).map(ToString::to_string).collect();
    paths.extend(events().flat_map(paths_of));
    paths.sort_unstable();
    paths.dedup();
    let suffers = scene.is_some_and(|scene| scene.does == Does::Suffers);
    let who = named_in(step).first().map_or(String::new(), ToString::to_string);
    let mark = if suffers { Mark::Fault } else { Mark::Event };
    let deeds = events().cloned().map(Deed::Event).collect();
    Line { paths, deeds, ..Line::new(at, who, mark, step.into()) }
}

fn broken(promise: &str, example: &Counterexample) -> Line {
    let what = example.what.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    let (at, mark) = (example.steps.len() as u64, mark(example.violated_assumption));
    Line::new(at, String::new(), mark, format!("{promise}: {what}"))
}

/// The request that is served in a step.
fn served(scene: &Scene, at: u64) -> Option<Call> {
    let served = scene.served.as_ref()?;
    let answer = served.answer.clone().map(|answer| (answer, None));
    // What is not on its way is there already.
    let heard = (answer.is_none() && !served.is_ghost).then_some(at);
    Some(Call { actor: served.actor, request: served.request.clone(), answer, heard, is_open: false })
}

/// Answers that reach a process, or will never do.
fn hears(lines: &mut [Line], unheard: &mut BTreeMap<u16, VecDeque<usize>>, scene: &Scene, at: u64) {
    let Some(process) = scene.process else { return };
    let Some(waiting) = unheard.get_mut(&process.into()) else { return };
    if scene.loses {
        waiting.clear();
    }
    for heard in waiting.drain(..scene.hears.min(waiting.len())) {
        for deed in &mut lines[heard].deeds {
            if let Deed::Call(call) = deed {
                call.heard = Some(at);
            }
        }
    }
}

/// The sessions that an event names.
fn sessions_of(event: &Event) -> Vec<SessionId> {
    match event {
        Event::Is(GroundTruth::NodeCreated { by, .. } | GroundTruth::NodeWritten { by, .. }) => vec![*by],
        Event::Is(GroundTruth::NodeDeleted { by, owner, .. }) => vec![*by, *owner],
        Event::Is(GroundTruth::SessionClosed { session, .. }) => vec![*session],
        Event::Is(_) | Event::Observed { .. } => Vec::new(),
    }
}

/// The sessions that processes have from the start.
pub(crate) fn from_start(scenes: &[Scene], clients: u8) -> Vec<Event> {
    let events = || scenes.iter().flat_map(|scene| &scene.events);
    let opens = |process: &u8| {
        let is_first = |actor: &ActorId| actor.process == u16::from(*process) && actor.life == 0;
        events().any(
            |event| matches!(event, Event::Is(GroundTruth::SessionOpened { actor, .. }) if is_first(actor)),
        )
    };
    let opened = (0..clients).filter(|process| !opens(process)).map(|process| {
        let actor = ActorId { process: process.into(), life: 0, thread: 0 };
        let mut named = events().flat_map(sessions_of);
        let session = named.find(|session| actor_of(*session) == Some(actor));
        let session = session.unwrap_or(SessionId::new(i64::from(process) + 1));
        Event::Is(GroundTruth::SessionOpened { session, actor })
    });
    opened.collect()
}

//! Requests with their answers, put together from the messages of a run and from what they have changed.

use crate::story::words::{answered, asked};
use crate::story::{Call, Deed, Line, Told};
use std::collections::BTreeMap;
use zk_api::{EventType, Request, Response, SessionId};
use zk_harness::event::{ActorId, Event, GroundTruth};
use zk_proto::message::{ToClient, ToServer};
use zk_reports::Mark;
use zk_simulator::timeline::{Moment, Place, TimelineEvent};
use zk_simulator::{Carried, Crossing, Run};

/// The lines of a run's requests, and what they have changed.
pub(super) struct Calls {
    /// Where each stands, and what it is: in order. Behind all that happens in that instant, unless it changed
    /// something.
    pub(super) lines: Vec<Line>,
    /// Which moments of the timeline tell what a request has changed, and the first of each request: its line.
    pub(super) changes: BTreeMap<usize, Option<Line>>,
}

/// A request on its way.
struct Asked {
    call: Call,
    sent: u64,
    /// When it was answered, or came to a server, or was sent: the last of these that is known.
    at: u64,
    arrived: bool,
    /// The moments that tell what it has changed.
    changes: Vec<usize>,
}

/// Puts the requests of a run together.
pub(super) fn calls(run: &Run) -> Calls {
    let mut asked = collected(&run.crossings);
    let told = |asked: &Asked| run.timeline.iter().any(|moment| is_session_of(moment, asked.call.actor));
    // Whoever has no session that anybody was told of sets the znodes up; the end of a session is told as ground truth.
    let mut known: BTreeMap<u16, bool> = BTreeMap::new();
    asked.retain(|one| {
        let is_told = *known.entry(one.call.actor.process).or_insert_with(|| told(one));
        is_told && one.call.request != Request::CloseSession
    });
    matched(&mut asked, &run.timeline);
    let mut calls = Calls { lines: lost_events(&run.crossings, &known), changes: BTreeMap::new() };
    for one in asked {
        let mut line = line(&one);
        for at in &one.changes {
            if let TimelineEvent::Is(truth) = &run.timeline[*at].what {
                line.deeds.push(Deed::Event(Event::Is(truth.clone())));
            }
        }
        match one.changes.split_first() {
            None => calls.lines.push(line),
            Some((first, others)) => {
                line.at = run.timeline[*first].at_ns;
                calls.changes.insert(*first, Some(line));
                calls.changes.extend(others.iter().map(|at| (*at, None)));
            }
        }
    }
    calls.lines.sort_by_key(|line| line.at);
    calls
}

fn is_session_of(moment: &Moment, of: ActorId) -> bool {
    matches!(
        &moment.what,
        TimelineEvent::Is(GroundTruth::SessionOpened { actor, .. }) if actor.process == of.process
    )
}

fn collected(crossings: &[Crossing]) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    let mut open: BTreeMap<(u16, i32), usize> = BTreeMap::new();
    for crossing in crossings {
        match (&crossing.what, crossing.from, crossing.to) {
            (Carried::ToServer(ToServer::Request { xid, request }), Place::Client(actor), _) => {
                open.insert((actor.process, xid.0), all.len());
                let call =
                    Call { actor, request: request.clone(), answer: None, heard: None, is_open: false };
                let at = crossing.arrived_ns.unwrap_or(crossing.sent_ns);
                let arrived = crossing.arrived_ns.is_some();
                all.push(Asked { call, sent: crossing.sent_ns, at, arrived, changes: Vec::new() });
            }
            (Carried::ToClient(ToClient::Reply { xid, zxid, result }), _, Place::Client(actor)) => {
                let Some(one) = open.get(&(actor.process, xid.0)) else { continue };
                all[*one].call.answer = Some((result.clone(), Some(*zxid)));
                all[*one].call.heard = crossing.arrived_ns;
                all[*one].at = crossing.sent_ns;
            }
            _ => {}
        }
    }
    all
}

/// Finds for each change the request that asked for it.
fn matched(asked: &mut [Asked], timeline: &[Moment]) {
    let mut owners: BTreeMap<SessionId, ActorId> = BTreeMap::new();
    // The writes of each process that may still change something.
    let mut open: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (nth, one) in asked.iter().enumerate().filter(|(_, one)| one.call.request.is_write()) {
        open.entry(one.call.actor.process).or_default().push(nth);
    }
    let mut last: Option<(usize, u64, SessionId)> = None;
    for (at, moment) in timeline.iter().enumerate() {
        let TimelineEvent::Is(truth) = &moment.what else { continue };
        let (path, by, zxid) = match truth {
            GroundTruth::SessionOpened { session, actor } => {
                owners.insert(*session, *actor);
                continue;
            }
            GroundTruth::NodeCreated { path, by, czxid: zxid, .. }
            | GroundTruth::NodeWritten { path, by, mzxid: zxid, .. } => (path, *by, Some(*zxid)),
            GroundTruth::NodeDeleted { path, by, zxid, .. } => (path, *by, *zxid),
            _ => continue,
        };
        let Some(actor) = owners.get(&by) else { continue };
        let is_about = |one: &Asked| {
            one.call.request.paths().iter().any(|asked| match one.call.request {
                Request::Delete { .. } | Request::SetData { .. } => asked == path,
                _ => path.starts_with(&**asked),
            })
        };
        // One transaction has several changes.
        if let Some((one, _, _)) =
            last.filter(|(one, when, who)| *when == moment.at_ns && *who == by && is_about(&asked[*one]))
        {
            asked[one].changes.push(at);
            continue;
        }
        let open = open.entry(actor.process).or_default();
        let is_of = |one: &Asked| one.call.actor.life == actor.life && is_about(one);
        // The answer to a write has its zxid; without one, it is the first that came to a server.
        let answered =
            |one: &Asked| one.call.answer.as_ref().is_some_and(|(result, of)| result.is_ok() && *of == zxid);
        let unanswered = |one: &Asked| one.call.answer.is_none() && one.arrived && one.sent <= moment.at_ns;
        let found = open.iter().position(|one| is_of(&asked[*one]) && answered(&asked[*one]));
        let found =
            found.or_else(|| open.iter().position(|one| is_of(&asked[*one]) && unanswered(&asked[*one])));
        if let Some(nth) = found {
            let one = open.remove(nth);
            asked[one].changes.push(at);
            last = Some((one, moment.at_ns, by));
        }
    }
}

fn line(one: &Asked) -> Line {
    let call = &one.call;
    let answer = match (call.result(), call.heard) {
        (Some(result), Some(_)) => answered(&call.request, result),
        (Some(result), None) => format!("{}; the answer is lost", answered(&call.request, result)),
        (None, _) if !one.changes.is_empty() => "done; the answer is lost".into(),
        (None, _) if one.arrived => "no answer".into(),
        (None, _) => "lost on its way".into(),
    };
    let mut paths: Vec<String> = call.request.paths().iter().map(ToString::to_string).collect();
    if let Some(Ok(Response::Created { path, .. })) = call.result() {
        paths = vec![path.to_string()];
    }
    let what = format!("{}: {answer}", asked(&call.request));
    let deeds = vec![Deed::Call(call.clone())];
    Line { paths, deeds, told: Told::InText, ..Line::new(one.at, call.actor.to_string(), Mark::Event, what) }
}

/// Events of watches that did not get to whom they were for.
fn lost_events(crossings: &[Crossing], known: &BTreeMap<u16, bool>) -> Vec<Line> {
    let lost = crossings.iter().filter_map(|crossing| {
        let (Carried::ToClient(ToClient::Event { event, .. }), Place::Client(actor), None) =
            (&crossing.what, crossing.to, crossing.arrived_ns)
        else {
            return None;
        };
        let is_told = known.get(&actor.process) == Some(&true) && event.kind != EventType::None;
        let what = format!("the event of its watch is lost: {:?} {}", event.kind, event.path);
        let line = Line::new(crossing.sent_ns, actor.to_string(), Mark::Event, what);
        is_told.then(|| Line { paths: vec![event.path.to_string()], told: Told::InText, ..line })
    });
    lost.collect()
}

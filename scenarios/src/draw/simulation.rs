//! A run of the simulator as a diagram.

use super::Drawing;
use crate::run::{event_of, lines};
use crate::story::words::{answered, asked};
use crate::story::{Line, Told};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{EventType, Request, Response};
use zk_harness::event::GroundTruth;
use zk_proto::message::{Answer, Ask, ToClient, ToPeer, ToServer};
use zk_proto::zab::message::Packet;
use zk_reports::{Arrow, ArrowKind, BarKind, Cause, Diagram, LaneKind, Mark, PointKind, Unit};
use zk_simulator::timeline::{Moment, Place, TimelineEvent};
use zk_simulator::{Carried, Crossing, Fault, Run, Scenario};

/// Draws a run that was traced, up to `until`, with why it was broken, and the moment from which on that was not
/// avoided any more.
pub(crate) fn diagram(scenario: &Scenario, run: &Run, cause: Option<&Cause>, until: u64) -> Diagram {
    let wrote = |moment: &Moment| matches!(moment.what, TimelineEvent::Is(GroundTruth::Wrote { .. }));
    let writes = run.timeline.iter().any(wrote);
    let servers = (0..scenario.machines()).map(|id| format!("s{id}")).collect();
    let mut drawing = Drawing::new(Unit::Nanoseconds, servers, scenario.clients, writes);
    let mut leader = None;
    for moment in &run.timeline {
        happens(&mut drawing, moment, &mut leader);
    }
    let moments = cause.into_iter().flat_map(|cause| &cause.moments);
    let matters: BTreeSet<(u64, &str, &str)> =
        moments.map(|moment| (moment.virtual_ns, &*moment.who, &*moment.what)).collect();
    for line in lines(run) {
        let is_cause = matters.contains(&(line.at, &line.who, &line.what));
        // A request is an arrow; of those that matter it is told in words what became of it.
        if line.told == Told::InText && !is_cause {
            continue;
        }
        let event = if line.who.starts_with('p') { PointKind::Observed } else { PointKind::Is };
        let promise = promise_of(&line.what);
        drawing.line(line, event, promise, is_cause);
    }
    if let Some(lost) = cause.and_then(|cause| cause.no_return.as_ref()) {
        let line = Line::new(lost.virtual_ns, "--".into(), Mark::Event, lost.to_string());
        drawing.line(line, PointKind::Is, None, true);
    }
    let mut asked = BTreeMap::new();
    for crossing in &run.crossings {
        crosses(&mut drawing, crossing, &mut asked);
    }
    let Drawing { mut diagram, .. } = drawing;
    diagram.points.sort_by_key(|point| point.at);
    let all = diagram.arrows.len();
    if diagram.items() > Diagram::KEPT {
        diagram.arrows.retain(|arrow| arrow.kind != ArrowKind::Peer);
    }
    diagram.left_out.peers = (all - diagram.arrows.len()) as u64;
    diagram.up_to(until, Diagram::KEPT)
}

/// A timeline says `exclusion: …`.
fn promise_of(what: &str) -> Option<String> {
    what.split_once(": ").map(|(promise, _)| promise.to_string())
}

/// What lasts from here, or until here.
fn happens(drawing: &mut Drawing, moment: &Moment, leader: &mut Option<usize>) {
    let at = moment.at_ns;
    let here = match moment.place {
        Place::Server(id) => Some(usize::from(id)),
        Place::Client(actor) => drawing.client(actor.process),
        Place::Simulation => None,
    };
    if let Some(event) = event_of(moment) {
        drawing.event(at, &event);
    }
    match (&moment.what, here) {
        (TimelineEvent::Down, Some(lane)) => {
            drawing.end_all(at, lane, &[BarKind::Leads, BarKind::Pause]);
            drawing.begin(at, (lane, 0), BarKind::Down, "", format!("s{lane} is down"));
        }
        (TimelineEvent::Started { .. }, Some(lane)) => drawing.end_all(at, lane, &[BarKind::Down]),
        (TimelineEvent::Leads { epoch, .. }, Some(lane)) => {
            *leader = Some(lane);
            drawing.begin(at, (lane, 0), BarKind::Leads, "", format!("s{lane} leads epoch {epoch}"));
        }
        (TimelineEvent::Serves { serves: false }, Some(lane)) => {
            drawing.end_all(at, lane, &[BarKind::Leads]);
        }
        (TimelineEvent::Fault(fault), _) => strikes(drawing, at, fault, *leader),
        (TimelineEvent::Heal, _) => heals(drawing, at),
        (
            TimelineEvent::Is(_)
            | TimelineEvent::Observed(_)
            | TimelineEvent::Down
            | TimelineEvent::Started { .. }
            | TimelineEvent::Leads { .. }
            | TimelineEvent::Restored { .. }
            | TimelineEvent::Serves { .. }
            | TimelineEvent::Prints { .. }
            | TimelineEvent::State(_)
            | TimelineEvent::Broken { .. },
            _,
        ) => {}
    }
}

/// Faults that last and say how long.
fn strikes(drawing: &mut Drawing, at: u64, fault: &Fault, leader: Option<usize>) {
    let mut lasts = |lane: usize, kind, for_ms: u64, label: String| {
        if drawing.diagram.lanes.get(lane).is_some_and(|lane| lane.kind == LaneKind::Server) {
            drawing.diagram.bars.push(zk_reports::Bar {
                lane,
                from: at,
                until: Some(at + for_ms * 1_000_000),
                kind,
                label,
                paths: Vec::new(),
            });
        }
    };
    match fault {
        Fault::ServerPause { server, for_ms } => {
            lasts((*server).into(), BarKind::Pause, *for_ms, format!("s{server} stands still"));
        }
        Fault::LeaderPause { for_ms } => {
            let lane = leader.unwrap_or(usize::MAX);
            lasts(lane, BarKind::Pause, *for_ms, format!("s{lane}, the leader, stands still"));
        }
        Fault::Partition { cut, for_ms } => {
            let mut servers: Vec<u8> = cut.iter().flatten().copied().collect();
            servers.sort_unstable();
            servers.dedup();
            for server in servers {
                let ways = cut.iter().filter(|way| way.contains(&server));
                let ways: Vec<String> = ways.map(|[from, to]| format!("s{from} to s{to}")).collect();
                let label = format!("nothing gets from {}", ways.join(", "));
                lasts(server.into(), BarKind::Partition, *for_ms, label);
            }
        }
        // The others strike at once, or what they do is told by what happens then.
        _ => {}
    }
}

/// Nothing outlasts the end of faults.
fn heals(drawing: &mut Drawing, at: u64) {
    let Diagram { lanes, bars, .. } = &mut drawing.diagram;
    for bar in bars {
        if matches!(bar.kind, BarKind::Partition | BarKind::Pause) && lanes[bar.lane].kind == LaneKind::Server
        {
            bar.until = bar.until.map(|until| until.min(at));
        }
    }
}

/// A message. `asked` are a client's requests by its process and their number.
fn crosses(drawing: &mut Drawing, crossing: &Crossing, asked: &mut BTreeMap<(u16, i32), Request>) {
    let lane = |place: Place| match place {
        Place::Server(id) => Some((usize::from(id), None)),
        Place::Client(actor) => drawing.client(actor.process).map(|lane| (lane, Some(actor.process))),
        Place::Simulation => None,
    };
    let (Some((from, sender)), Some((to, receiver))) = (lane(crossing.from), lane(crossing.to)) else {
        return;
    };
    let said = match &crossing.what {
        Carried::ToServer(message) => {
            if let (ToServer::Request { xid, request }, Some(process)) = (message, sender) {
                asked.insert((process, xid.0), request.clone());
            }
            to_server(message)
        }
        Carried::ToClient(message) => {
            let request = match (message, receiver) {
                (ToClient::Reply { xid, .. }, Some(process)) => asked.get(&(process, xid.0)),
                _ => None,
            };
            to_client(message, request)
        }
        Carried::ToPeer(message) => {
            to_peer(message).map(|label| (ArrowKind::Peer, label.to_string(), Vec::new()))
        }
    };
    let Some((kind, label, paths)) = said else {
        drawing.diagram.left_out.idle += 1;
        return;
    };
    let (sent, arrived) = (crossing.sent_ns, crossing.arrived_ns);
    drawing.diagram.arrows.push(Arrow { from, to, sent, arrived, kind, label, paths });
}

/// What a message is, what it says, and of which znodes; `None` if it only keeps something alive.
type Said = Option<(ArrowKind, String, Vec<String>)>;

fn to_server(message: &ToServer) -> Said {
    match message {
        ToServer::Ping => None,
        ToServer::Connect(_) => Some((ArrowKind::Session, "connects".into(), Vec::new())),
        ToServer::SetWatches { .. } => {
            Some((ArrowKind::Session, "registers its watches again".into(), Vec::new()))
        }
        ToServer::Request { request, .. } => Some((ArrowKind::Request, asked(request), znodes(request))),
    }
}

fn znodes(request: &Request) -> Vec<String> {
    request.paths().iter().map(ToString::to_string).collect()
}

fn to_client(message: &ToClient, request: Option<&Request>) -> Said {
    match message {
        ToClient::Pong { .. } => None,
        ToClient::Connected(response) => {
            let label = if response.timeout_ms == 0 { "no session" } else { "is connected" };
            Some((ArrowKind::Session, label.into(), Vec::new()))
        }
        ToClient::WatchesSet { .. } => Some((ArrowKind::Session, "watches registered".into(), Vec::new())),
        ToClient::Reply { result, .. } => {
            // An answer to nothing that was asked here is no answer.
            let request = request?;
            let mut paths = znodes(request);
            if let Ok(Response::Created { path, .. }) = result {
                // In the place of what its name begins with.
                paths = vec![path.to_string()];
            }
            paths.sort_unstable();
            paths.dedup();
            let name = format!("{} {}", request.name(), request.path());
            Some((ArrowKind::Answer, format!("{}: {}", name.trim_end(), answered(request, result)), paths))
        }
        ToClient::Event { event, .. } => {
            let what = match event.kind {
                EventType::None => "the session ends",
                EventType::NodeCreated => "created",
                EventType::NodeDeleted => "deleted",
                EventType::NodeDataChanged => "data changed",
                EventType::NodeChildrenChanged => "children changed",
            };
            let paths = Some(event.path.to_string()).filter(|path| !path.is_empty());
            Some((ArrowKind::Watch, format!("{what} {}", event.path), paths.into_iter().collect()))
        }
    }
}

fn to_peer(message: &ToPeer) -> Option<&'static str> {
    Some(match message {
        ToPeer::Zab(Packet::Ping) | ToPeer::Ask(Ask::Touch { .. }) => return None,
        ToPeer::Zab(packet) => match packet {
            Packet::FollowerInfo { .. } => "I am here",
            Packet::LeaderInfo { .. } => "follow me",
            Packet::AckEpoch { .. } => "I follow",
            Packet::Diff => "the rest of my history follows",
            Packet::Trunc { .. } => "cut your log",
            Packet::Snap(_) => "take my state",
            Packet::Proposal(_) => "proposal",
            Packet::NewLeader { .. } => "that was my history",
            Packet::AckNewLeader { .. } => "I have it",
            Packet::UpToDate { .. } => "serve",
            Packet::Ack { .. } => "acknowledges",
            Packet::Commit { .. } => "commit",
            Packet::Inform(_) => "informs",
            Packet::Ping => return None,
        },
        ToPeer::Ask(ask) => match ask {
            Ask::Open { .. } => "open a session",
            Ask::Attach { .. } => "may this session come?",
            Ask::Write { .. } => "forwards a write",
            Ask::Sync { .. } => "sync",
            Ask::Follows { .. } => "I follow",
            Ask::Touch { .. } => return None,
        },
        ToPeer::Answer(Answer::Asks { .. }) => "do you follow?",
        ToPeer::Answer(Answer::Attached { .. } | Answer::Synced { .. }) => "answers",
    })
}

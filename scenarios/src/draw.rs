//! Runs as space-time diagrams: from the simulator (`simulation`, feature `run`), from a recipe's model (`steps`), and
//! from that of an ensemble (`servers`).
//!
//! What both share is here: lanes, and what lasts by what the promises see.

pub(crate) mod servers;
#[cfg(feature = "run")]
pub(crate) mod simulation;
pub(crate) mod steps;

use crate::story::Line;
use std::collections::BTreeMap;
use zk_api::Text;
use zk_harness::event::{ActorId, Event, GroundTruth, Observation};
use zk_reports::{Bar, BarKind, Diagram, Lane, LaneKind, Mark, Point, PointKind, Unit, each_once, named_in};

/// The lane of what is outside, if anybody writes there.
const OUTSIDE: &str = "outside";

/// A diagram that grows as a run is told.
pub(crate) struct Drawing {
    diagram: Diagram,
    /// What goes on, by its lane, its kind and its name: its number.
    open: BTreeMap<(usize, BarKind, u8, String), usize>,
}

impl Drawing {
    /// Nothing has happened yet. `servers` are their names.
    pub(crate) fn new(unit: Unit, servers: Vec<String>, clients: u16, writes: bool) -> Drawing {
        let lane = |name: String, kind| Lane { name, kind };
        let mut lanes: Vec<Lane> = servers.into_iter().map(|name| lane(name, LaneKind::Server)).collect();
        lanes.extend((0..clients).map(|process| lane(format!("p{process}"), LaneKind::Client)));
        lanes.extend(writes.then(|| lane(OUTSIDE.into(), LaneKind::Resource)));
        Drawing { diagram: Diagram::new(unit, lanes), open: BTreeMap::new() }
    }

    /// The lane of a client process. An administrator has none.
    pub(crate) fn client(&self, process: u16) -> Option<usize> {
        self.lane(&format!("p{process}"))
    }

    fn lane(&self, name: &str) -> Option<usize> {
        self.diagram.lanes.iter().position(|lane| lane.name == name)
    }

    /// The lanes of those that a sentence names; the first is whose it is.
    fn lanes_of(&self, who: &str, what: &str) -> Vec<usize> {
        let names = named_in(who).into_iter().chain(named_in(what));
        each_once(names.filter_map(|name| self.lane(name)))
    }

    /// A line of the run in words. `event` is what kind of thing happens where it has no mark; `promise` is what breaks
    /// where something does.
    pub(crate) fn line(&mut self, line: Line, event: PointKind, promise: Option<String>, is_cause: bool) {
        let Line { at, who, mark, what, paths, .. } = line;
        let (kind, promise) = match mark {
            Mark::Event => (event, None),
            Mark::Fault => (PointKind::Fault, None),
            Mark::Broken => (PointKind::Broken, promise),
            Mark::Expected => (PointKind::Expected, promise),
            Mark::Undecided => (PointKind::Undecided, promise),
        };
        let lanes = self.lanes_of(&who, &what);
        self.diagram.points.push(Point { lanes, at, kind, who, what, promise, paths, is_cause });
    }

    /// Begins a bar of a lane and a thread, unless it has begun.
    pub(crate) fn begin(
        &mut self,
        at: u64,
        (lane, thread): (usize, u8),
        kind: BarKind,
        name: &str,
        label: String,
    ) {
        let key = (lane, kind, thread, name.to_string());
        if self.open.contains_key(&key) {
            return;
        }
        self.open.insert(key, self.diagram.bars.len());
        let paths = Some(name.to_string()).filter(|name| name.starts_with('/')).into_iter().collect();
        self.diagram.bars.push(Bar { lane, from: at, until: None, kind, label, paths });
    }

    /// Ends it.
    fn end(&mut self, at: u64, (lane, thread): (usize, u8), kind: BarKind, name: &str) {
        if let Some(bar) = self.open.remove(&(lane, kind, thread, name.to_string())) {
            self.diagram.bars[bar].until = Some(at);
        }
    }

    /// All of these kinds are over on a lane.
    pub(crate) fn end_all(&mut self, at: u64, lane: usize, kinds: &[BarKind]) {
        self.end_where(at, |on, kind, _| on == lane && kinds.contains(&kind));
    }

    fn end_where(&mut self, at: u64, is_over: impl Fn(usize, BarKind, u8) -> bool) {
        let open = self.open.keys();
        let over: Vec<_> =
            open.filter(|(lane, kind, thread, _)| is_over(*lane, *kind, *thread)).cloned().collect();
        over.iter().for_each(|(lane, kind, thread, name)| self.end(at, (*lane, *thread), *kind, name));
    }

    /// What a promise sees.
    pub(crate) fn event(&mut self, at: u64, event: &Event) {
        match event {
            Event::Observed { actor, what } => {
                if let Some(lane) = self.client(actor.process) {
                    self.says(at, lane, *actor, what);
                }
            }
            Event::Is(truth) => self.is(at, truth),
        }
    }

    fn says(&mut self, at: u64, lane: usize, actor: ActorId, what: &Observation) {
        let of = (lane, actor.thread);
        match what {
            Observation::Granted { lock, .. } | Observation::Shares { lock, .. } => {
                let label = format!("{actor} believes that it holds {lock}");
                self.begin(at, of, BarKind::Holds, lock, label);
            }
            Observation::Released { lock } | Observation::GivesUp { lock, .. } => {
                self.end(at, of, BarKind::Holds, lock);
            }
            Observation::Enters { lock } => {
                let label = format!("{actor} is in the critical section of {lock}");
                self.begin(at, of, BarKind::Critical, lock, label);
            }
            Observation::Leaves { lock } => self.end(at, of, BarKind::Critical, lock),
            Observation::Begins { what, about, .. } => {
                self.begin(at, of, BarKind::Critical, about, format!("{actor} {what} {about}"));
            }
            Observation::Ends { about, .. } => self.end(at, of, BarKind::Critical, about),
            Observation::Attempts { .. } | Observation::Notes { .. } => {}
        }
    }

    fn is(&mut self, at: u64, truth: &GroundTruth) {
        const WORK: [BarKind; 2] = [BarKind::Holds, BarKind::Critical];
        let Some(lane) = truth.actor().and_then(|actor| self.client(actor.process)) else { return };
        match truth {
            GroundTruth::SessionOpened { session, actor } => {
                self.end_all(at, lane, &[BarKind::Down]);
                let label = format!("session {session} of {actor}");
                self.begin(at, (lane, 0), BarKind::Session, &session.to_string(), label);
            }
            GroundTruth::SessionClosed { session, .. } => {
                self.end(at, (lane, 0), BarKind::Session, &session.to_string());
            }
            GroundTruth::Crashed { actor } => {
                self.end_all(at, lane, &[BarKind::Holds, BarKind::Critical, BarKind::Pause]);
                self.begin(at, (lane, 0), BarKind::Down, "", format!("{actor} has crashed"));
            }
            GroundTruth::Paused { actor } => {
                self.begin(at, (lane, 0), BarKind::Pause, "", format!("{actor} is paused"));
            }
            GroundTruth::Resumed { .. } => self.end_all(at, lane, &[BarKind::Pause]),
            GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor } => {
                self.end_where(at, |on, kind, thread| {
                    on == lane && thread == actor.thread && WORK.contains(&kind)
                });
            }
            GroundTruth::Wrote { token, accepted, .. } => {
                let Some(to) = self.lane(OUTSIDE) else { return };
                let token = token.map(|token| format!(" with token {token}")).unwrap_or_default();
                let fate = if *accepted { "" } else { ", refused" };
                self.diagram.arrows.push(zk_reports::Arrow {
                    from: lane,
                    to,
                    sent: at,
                    arrived: Some(at),
                    kind: zk_reports::ArrowKind::Write,
                    label: format!("a write{token}{fate}"),
                    paths: Vec::new(),
                });
            }
            GroundTruth::NodeCreated { .. }
            | GroundTruth::NodeWritten { .. }
            | GroundTruth::NodeDeleted { .. }
            | GroundTruth::Fired { .. }
            | GroundTruth::Disconnected { .. }
            | GroundTruth::Connected { .. }
            | GroundTruth::LearnsExpiry { .. }
            | GroundTruth::Polls { .. } => {}
        }
    }
}

/// The znodes that an event is about.
pub(crate) fn paths_of(event: &Event) -> Vec<String> {
    let texts = |texts: &[&Text]| texts.iter().map(|text| text.to_string()).collect();
    match event {
        Event::Observed { what, .. } => match (what, what.told()) {
            (Observation::Granted { lock, node, .. } | Observation::Shares { lock, node, .. }, _) => {
                texts(&[lock, node])
            }
            (_, Some((_, about, _))) => path_in(about).into_iter().map(String::from).collect(),
            (_, None) => texts(&[what.subject()]),
        },
        Event::Is(
            GroundTruth::NodeCreated { path, .. }
            | GroundTruth::NodeWritten { path, .. }
            | GroundTruth::NodeDeleted { path, .. }
            | GroundTruth::Fired { path, .. },
        ) => texts(&[path]),
        Event::Is(_) => Vec::new(),
    }
}

/// The znode that something is said of, without what is said of it: `/config` of `/config{name=18}` and `/tx/7: pay`.
fn path_in(about: &str) -> Option<&str> {
    let path = about.split([' ', '{', ':']).next()?;
    path.starts_with('/').then_some(path)
}

#[cfg(test)]
mod tests;

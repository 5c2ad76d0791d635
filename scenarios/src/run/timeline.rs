//! The timeline of a run in sentences.

mod calls;
mod faults;

use crate::draw::paths_of;
use crate::story::words::whose;
use crate::story::{Deed, Line, Told};
use crate::trial_list::mark;
use calls::{Calls, calls};
use std::collections::BTreeMap;
use zk_api::{EventType, KeeperState, SessionId};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Resource};
use zk_reports::{Mark, Moment};
use zk_simulator::timeline::{Moment as Happened, Place, TimelineEvent};
use zk_simulator::{Run, RunViolation};

/// Where something happens that happens at no process.
const NOBODY: &str = "--";

/// Tells a run that was traced, for a text.
pub(super) fn told(run: &Run) -> Vec<Line> {
    let mut lines = lines(run);
    lines.retain(|line| line.told != Told::InPictures);
    lines
}

/// A line for a report.
pub(super) fn moment_of(line: &Line) -> Moment {
    Moment { virtual_ns: line.at, who: line.who.clone(), mark: line.mark, what: line.what.clone() }
}

/// Tells a run that was traced, in order of time, with its requests and what was broken in their places.
///
/// Left out is what would be said twice (a client's state beside what it learns) or says nothing (a change that
/// nobody watched).
pub(crate) fn lines(run: &Run) -> Vec<Line> {
    let Calls { lines: calls, mut changes } = calls(run);
    let mut calls = calls.into_iter().peekable();
    let mut teller = Teller::default();
    let mut violations = run.violations.iter().peekable();
    let mut break_before = |teller: &mut Teller, at_ns: u64| {
        while let Some(violation) = violations.next_if(|violation| violation.at_ns < at_ns) {
            teller.broken(violation);
        }
    };
    for (at, moment) in run.timeline.iter().enumerate() {
        // What broke a promise stands before the line that says so, and so does all of the same instant.
        while let Some(call) = calls.next_if(|call| call.at < moment.at_ns) {
            break_before(&mut teller, call.at);
            teller.lines.push(call);
        }
        break_before(&mut teller, moment.at_ns);
        match changes.remove(&at) {
            None => teller.moment(moment, &run.timeline[at + 1..]),
            Some(call) => {
                teller.lines.extend(call);
                let told = teller.lines.len();
                teller.moment(moment, &run.timeline[at + 1..]);
                for line in &mut teller.lines[told..] {
                    (line.told, line.deeds) = (Told::InPictures, Vec::new());
                }
            }
        }
    }
    for call in calls {
        break_before(&mut teller, call.at);
        teller.lines.push(call);
    }
    violations.for_each(|violation| teller.broken(violation));
    teller.lines
}

/// Tells events as they were seen from outside, each with its time: one line for each that says something. Whose
/// sessions those are, which may have begun before, was heard by then.
#[cfg(feature = "live")]
pub(super) fn sentences<'a>(
    sessions: &BTreeMap<SessionId, ActorId>,
    events: impl Iterator<Item = &'a (u64, Event)>,
) -> Vec<String> {
    let moment = |(at_ns, event): &(u64, Event)| {
        let (place, what) = match event {
            Event::Observed { actor, what } => (Place::Client(*actor), TimelineEvent::Observed(what.clone())),
            Event::Is(truth) => (Place::Simulation, TimelineEvent::Is(truth.clone())),
        };
        Happened { at_ns: *at_ns, place, what }
    };
    let moments: Vec<Happened> = events.map(moment).collect();
    let mut teller = Teller { sessions: sessions.clone(), ..Teller::default() };
    for (at, moment) in moments.iter().enumerate() {
        teller.moment(moment, &moments[at + 1..]);
    }
    let line = |line: Line| {
        // Wall time, in the same columns as a replay's.
        format!("{:>9.3}s  {:<3} {}", line.at as f64 / 1e9, line.who, line.what)
    };
    teller.lines.into_iter().map(line).collect()
}

#[derive(Default)]
struct Teller {
    sessions: BTreeMap<SessionId, ActorId>,
    lines: Vec<Line>,
    /// The znodes of the next line, and what it tells.
    about: Vec<String>,
    deeds: Vec<Deed>,
}

impl Teller {
    fn add(&mut self, at: u64, who: impl ToString, mark: Mark, what: String) {
        let (who, paths) = (who.to_string(), self.about.clone());
        let deeds = std::mem::take(&mut self.deeds);
        self.lines.push(Line { at, who, mark, what, paths, deeds, told: Told::Everywhere });
    }

    fn broken(&mut self, violation: &RunViolation) {
        let what = violation.what.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        self.about.clear();
        self.deeds.clear();
        let mark = mark(violation.violated_assumption);
        self.add(violation.at_ns, NOBODY, mark, format!("{}: {what}", violation.promise));
    }

    /// `later` is what follows.
    fn moment(&mut self, moment: &Happened, later: &[Happened]) {
        let at_ns = moment.at_ns;
        let event = event_of(moment);
        self.about = event.as_ref().map(paths_of).unwrap_or_default();
        self.deeds = event.map(Deed::Event).into_iter().collect();
        let here = match moment.place {
            Place::Simulation => NOBODY.to_string(),
            Place::Server(id) => format!("s{id}"),
            Place::Client(actor) => actor.to_string(),
        };
        let what = match &moment.what {
            TimelineEvent::Started { zxid } => format!("starts, with a state up to {zxid}"),
            TimelineEvent::Leads { epoch, last } => {
                format!("leads epoch {epoch}, with a history up to {last}")
            }
            TimelineEvent::Restored { zxid } => format!("takes over its leader's state up to {zxid}"),
            TimelineEvent::Serves { serves: true } => "serves".into(),
            TimelineEvent::Serves { serves: false } => "has no leader, and sends its clients away".into(),
            TimelineEvent::Down => "is down".into(),
            TimelineEvent::State(state) => {
                // Whoever has no session that anybody was told of sets the znodes up.
                let is_told = matches!(moment.place, Place::Client(me) if self.has_session(me));
                let Some(what) = said_of_state(*state).filter(|_| is_told) else { return };
                what.into()
            }
            TimelineEvent::Observed(observation) => observation.to_string(),
            TimelineEvent::Prints { line } => format!("prints: {line}"),
            TimelineEvent::Is(truth) => {
                let Some((who, what)) = self.truth(truth, at_ns, later) else { return };
                return self.add(at_ns, who, Mark::Event, what);
            }
            TimelineEvent::Fault(fault) => {
                return self.add(at_ns, here, Mark::Fault, faults::sentence(fault));
            }
            TimelineEvent::Heal => "faults are over, and everything heals".into(),
            // It is among the violations, with more words.
            TimelineEvent::Broken { .. } => return,
        };
        self.add(at_ns, here, Mark::Event, what);
    }

    /// Who, and what; `None` for what needs no line.
    fn truth(&mut self, truth: &GroundTruth, at_ns: u64, later: &[Happened]) -> Option<(String, String)> {
        let of_actor = |actor: &ActorId, what: &str| Some((actor.to_string(), what.to_string()));
        let of_simulation = |what: String| Some((NOBODY.to_string(), what));
        match truth {
            GroundTruth::SessionOpened { session, actor } => {
                self.sessions.insert(*session, *actor);
                let mut now = later.iter().take_while(|moment| moment.at_ns == at_ns);
                let connected = TimelineEvent::Is(GroundTruth::Connected { actor: *actor });
                match now.any(|moment| moment.what == connected) {
                    true => of_actor(actor, &format!("is connected, with session {session}")),
                    false => of_simulation(format!("session {session} of {actor} is opened")),
                }
            }
            GroundTruth::Connected { actor } => match self.has_just_told(*actor, at_ns) {
                true => None,
                false => of_actor(actor, "is connected again"),
            },
            GroundTruth::SessionClosed { session, actor, expired } => {
                let end = if *expired { "expires" } else { "is closed" };
                of_simulation(format!("session {session} of {actor} {end}"))
            }
            GroundTruth::NodeCreated { path, by, .. } => {
                of_simulation(format!("{} creates {path}", self.name(*by)))
            }
            // Its creation was told.
            GroundTruth::NodeWritten { data, .. } if data.bytes().is_empty() => None,
            GroundTruth::NodeWritten { path, by, data, .. } => {
                let text = String::from_utf8_lossy(data.bytes());
                of_simulation(format!("{} writes {:?} to {path}", self.name(*by), text))
            }
            GroundTruth::NodeDeleted { path, by, owner, .. } => {
                of_simulation(self.deleted(path, *by, *owner))
            }
            GroundTruth::Fired { woken, .. } if woken.is_empty() => None,
            GroundTruth::Fired { path, kind, woken } => {
                let woken: Vec<String> = woken.iter().map(ActorId::to_string).collect();
                of_simulation(format!("{} wakes {}", change(*kind, path), woken.join(", ")))
            }
            GroundTruth::Disconnected { actor } => of_actor(actor, "learns that its connection is lost"),
            GroundTruth::LearnsExpiry { actor } => of_actor(actor, "learns that its session is dead"),
            GroundTruth::Crashed { actor } => of_actor(actor, "crashes"),
            GroundTruth::Paused { actor } => of_actor(actor, "is paused"),
            GroundTruth::Resumed { actor } => of_actor(actor, "goes on after its pause"),
            GroundTruth::Wrote { resource, actor, token, accepted } => {
                let resource = match resource {
                    Resource::Fenced => "fenced",
                    Resource::FencedShared => "fenced, shared",
                    Resource::Unfenced => "unfenced",
                };
                let token = token.map(|token| format!(" with token {token}")).unwrap_or_default();
                let refused = if *accepted { "" } else { ", and is refused" };
                of_simulation(format!("a write of {actor}{token} reaches the {resource} resource{refused}"))
            }
            GroundTruth::Polls { actor, request, .. } => {
                of_actor(actor, &format!("polls: asks {request} again and again"))
            }
            GroundTruth::ThreadEnded { actor } => of_actor(actor, "ends: this thread alone"),
            GroundTruth::Finished { actor, end } => of_actor(
                actor,
                match end {
                    End::Done => "has done all it was to do",
                    End::SessionLost => "ends: its session was lost",
                    End::Failed => "ends: it failed",
                    End::Exited => "ends its process",
                },
            ),
        }
    }

    fn has_session(&self, actor: ActorId) -> bool {
        self.sessions.values().any(|known| *known == actor)
    }

    /// Whether the line before says already that an actor is connected.
    fn has_just_told(&self, actor: ActorId, at_ns: u64) -> bool {
        let who = actor.to_string();
        let mut now = self.lines.iter().rev().take_while(|line| line.at == at_ns);
        now.any(|line| line.who == who && line.what.starts_with("is connected"))
    }

    fn name(&self, session: SessionId) -> String {
        whose(self.sessions.get(&session).copied(), session)
    }

    fn deleted(&self, path: &str, by: SessionId, owner: SessionId) -> String {
        match (by == SessionId::NONE, owner == SessionId::NONE) {
            (true, false) => format!("{path} goes with the session of {}", self.name(owner)),
            (false, false) if by != owner => {
                format!("{} deletes {path}, which is of {}", self.name(by), self.name(owner))
            }
            _ => format!("{} deletes {path}", self.name(by)),
        }
    }
}

/// What the ground truth does not say.
fn said_of_state(state: KeeperState) -> Option<&'static str> {
    match state {
        KeeperState::SyncConnected | KeeperState::Disconnected | KeeperState::Expired => None,
        KeeperState::AuthFailed => Some("learns that its credentials are refused"),
        KeeperState::Closed => Some("has closed its session"),
    }
}

fn change(kind: EventType, path: &str) -> String {
    match kind {
        EventType::None => "the end of a session".into(),
        EventType::NodeCreated => format!("the creation of {path}"),
        EventType::NodeDeleted => format!("the deletion of {path}"),
        EventType::NodeDataChanged => format!("new data of {path}"),
        EventType::NodeChildrenChanged => format!("a change among the children of {path}"),
    }
}

/// What promises are told of a moment.
pub(crate) fn event_of(moment: &Happened) -> Option<Event> {
    match (&moment.what, moment.place) {
        (TimelineEvent::Is(truth), _) => Some(Event::Is(truth.clone())),
        (TimelineEvent::Observed(what), Place::Client(actor)) => {
            Some(Event::Observed { actor, what: what.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

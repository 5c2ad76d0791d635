//! The monitor: every event in one order, and what the promises find in them.

use crate::run::timeline::sentences;
use crate::trial_list::assumption;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use zk_api::{SessionId, Zxid};
use zk_harness::event::{ActorId, Event, GroundTruth, Observation, Resource};
use zk_harness::outside::Outside;
use zk_harness::promise::{AnyPromise, Assumption, Finding, Rest};
use zk_reports::{Happened, LiveBreak, LivePromise, Verdict};

/// A number of an event: how many there were up to it.
pub(crate) type At = u64;

/// So many lines are shown before a break.
const SHOWN: usize = 30;

/// So many breaks have their lines.
const MOST_SHOWN: u32 = 200;

/// Sees events one at a time, whoever tells them: their order is that of the calls.
///
/// The resource is in here as well, so that a write and the fact that it has arrived are one.
pub(crate) struct Monitor(Mutex<Watching>);

#[derive(Clone)]
struct Watching {
    began: Instant,
    seen: At,
    promises: Vec<MonitoredPromise>,
    outside: Outside,
    lives: BTreeMap<ActorId, Life>,
    recent: VecDeque<(u64, Event)>,
    sessions: BTreeMap<SessionId, ActorId>,
    suspicions: Vec<Suspicion>,
    panics: Vec<LiveBreak>,
    happened: Happened,
    rounds_done: BTreeMap<u16, u64>,
    /// What is told now is of no run any more.
    is_over: bool,
    /// Whether every end of a session is told as it commits: then nobody who acts is of unknown state.
    ends_are_told: bool,
    /// How many breaks have their lines.
    shown: u32,
}

/// A promise and what came of it.
#[derive(Clone)]
struct MonitoredPromise {
    promise: Box<dyn AnyPromise>,
    tested: u64,
    broken: Vec<LiveBreak>,
    expected: Vec<(Assumption, LiveBreak)>,
}

/// What is seen of one life.
#[derive(Clone)]
struct Life {
    began: At,
    granted: Option<At>,
    ended: Option<At>,
    /// Its session is proven to have lived when this event was seen.
    lived: Option<At>,
}

/// A break that is a defect if everybody concerned lived on.
#[derive(Clone)]
struct Suspicion {
    at: At,
    promise: usize,
    concerned: Vec<ActorId>,
    seen: LiveBreak,
}

/// What came of a run.
pub(crate) struct Outcome {
    pub(crate) promises: Vec<LivePromise>,
    pub(crate) invariants: Vec<LivePromise>,
    pub(crate) happened: Happened,
}

impl Monitor {
    /// Sessions end unheard, or the servers tell when they end.
    pub(crate) fn new(promises: Vec<Box<dyn AnyPromise>>, ends_are_told: bool) -> Monitor {
        let monitored = |mut promise: Box<dyn AnyPromise>| {
            if !ends_are_told {
                promise.judges_from_outside();
            }
            MonitoredPromise { promise, tested: 0, broken: Vec::new(), expected: Vec::new() }
        };
        Monitor(Mutex::new(Watching {
            began: Instant::now(),
            seen: 0,
            promises: promises.into_iter().map(monitored).collect(),
            outside: Outside::default(),
            lives: BTreeMap::new(),
            recent: VecDeque::new(),
            sessions: BTreeMap::new(),
            suspicions: Vec::new(),
            panics: Vec::new(),
            happened: Happened::default(),
            rounds_done: BTreeMap::new(),
            is_over: false,
            ends_are_told,
            shown: 0,
        }))
    }

    /// Another one that has seen the same.
    #[cfg(feature = "serve")]
    pub(crate) fn copy(&self) -> Monitor {
        Monitor(Mutex::new(self.open().clone()))
    }

    fn open(&self) -> MutexGuard<'_, Watching> {
        // A promise that panicked has spoilt the run anyway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees an event. Gives those whose proof of life is wanted.
    pub(crate) fn see(&self, event: &Event) -> Vec<ActorId> {
        self.open().see(event)
    }

    /// A life begins, with its session.
    pub(crate) fn begins(&self, actor: ActorId, session: SessionId) {
        let mut watching = self.open();
        let now = watching.now_ns();
        for truth in [GroundTruth::SessionOpened { session, actor }, GroundTruth::Connected { actor }] {
            watching.see_at(now, &Event::Is(truth));
        }
    }

    /// A write reaches the resource. Gives whether it is accepted, and those whose proof of life is wanted.
    pub(crate) fn wrote(
        &self,
        actor: ActorId,
        resource: Resource,
        token: Option<Zxid>,
    ) -> (bool, Vec<ActorId>) {
        let mut watching = self.open();
        let accepted = watching.outside.write(resource, token);
        let truth = GroundTruth::Wrote { resource, actor, token, accepted };
        (accepted, watching.see(&Event::Is(truth)))
    }

    /// An actor's code has panicked.
    pub(crate) fn panicked(&self, actor: ActorId, message: &str) {
        let mut watching = self.open();
        let seen = watching.seen_now(format!("{actor} panicked: {message}"));
        watching.panics.push(seen);
    }

    /// How many events there were.
    pub(crate) fn seen(&self) -> At {
        self.open().seen
    }

    /// A session is proven to have lived when this event was seen.
    pub(crate) fn lived(&self, actor: ActorId, at: At) {
        if let Some(life) = self.open().lives.get_mut(&actor) {
            life.lived = life.lived.max(Some(at));
        }
    }

    /// Those whose code has not ended.
    pub(crate) fn unfinished(&self) -> Vec<ActorId> {
        let watching = self.open();
        watching.lives.iter().filter(|(_, life)| life.ended.is_none()).map(|(actor, _)| *actor).collect()
    }

    /// How often a process has left what it was granted, in all its lives.
    pub(crate) fn rounds_done(&self, process: u16) -> u64 {
        self.open().rounds_done.get(&process).copied().unwrap_or(0)
    }

    /// The same of all processes.
    pub(crate) fn all_rounds_done(&self) -> u64 {
        self.open().rounds_done.values().sum()
    }

    /// Shows what is left.
    pub(crate) fn at_rest(&self, rest: &Rest) {
        self.open().ask_promises(None, |promise, found| promise.at_rest(rest, found));
    }

    /// The run is over: nothing that is told from now on counts.
    pub(crate) fn end(&self) {
        self.open().is_over = true;
    }

    /// What came of everything.
    pub(crate) fn finish(&self) -> Outcome {
        let mut watching = self.open();
        watching.resolve();
        let lives = watching.lives.len() as u64;
        let panics = std::mem::take(&mut watching.panics);
        let no_panic = LivePromise {
            name: "no-panic".into(),
            about: "No actor's code panics.".into(),
            verdict: Some(Verdict::of(panics.len() as u64, 0, lives)),
            tested: lives,
            broken: panics.len() as u64,
            first: panics.into_iter().next(),
            ..LivePromise::default()
        };
        Outcome {
            promises: watching.promises.drain(..).map(MonitoredPromise::result).collect(),
            invariants: vec![no_panic],
            happened: watching.happened,
        }
    }
}

impl Watching {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn see(&mut self, event: &Event) -> Vec<ActorId> {
        self.see_at(self.now_ns(), event)
    }

    fn see_at(&mut self, at_ns: u64, event: &Event) -> Vec<ActorId> {
        if self.is_over {
            return Vec::new();
        }
        self.seen += 1;
        self.note(event);
        self.recent.push_back((at_ns, event.clone()));
        let suspicions = self.suspicions.len();
        self.ask_promises(Some(event), |promise, found| promise.see(event, found));
        // Some events make no line.
        while self.recent.len() > 2 * SHOWN {
            self.recent.pop_front();
        }
        let new = self.suspicions[suspicions..].iter();
        new.flat_map(|suspicion| suspicion.concerned.iter().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// Takes what those find that can be judged from outside, at this event or at rest.
    fn ask_promises(&mut self, event: Option<&Event>, ask: impl Fn(&mut dyn AnyPromise, &mut Vec<Finding>)) {
        let mut found = Vec::new();
        for index in 0..self.promises.len() {
            if self.promises[index].promise.terms().judged_from_outside {
                ask(&mut *self.promises[index].promise, &mut found);
                for finding in found.drain(..) {
                    self.found(index, finding, event);
                }
            }
        }
    }

    /// Takes note of who does what.
    fn note(&mut self, event: &Event) {
        let at = self.seen;
        match event {
            Event::Observed { actor, what: Observation::Granted { .. } } => {
                self.happened.grants += 1;
                if let Some(life) = self.lives.get_mut(&actor.main()) {
                    life.granted = Some(at);
                }
            }
            Event::Observed { actor, what: Observation::Leaves { .. } } if actor.thread == 0 => {
                *self.rounds_done.entry(actor.process).or_default() += 1;
            }
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.happened.sessions += 1;
                self.sessions.insert(*session, *actor);
                let life = Life { began: at, granted: None, ended: None, lived: None };
                self.lives.insert(*actor, life);
            }
            Event::Is(GroundTruth::SessionClosed { actor, expired, .. }) => {
                self.happened.sessions_lost += u64::from(*expired);
                self.ends(*actor);
            }
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::Crashed { actor }) => {
                self.ends(*actor)
            }
            Event::Is(GroundTruth::LearnsExpiry { .. }) => self.happened.sessions_lost += 1,
            Event::Is(GroundTruth::Disconnected { .. }) => self.happened.disconnections += 1,
            Event::Is(GroundTruth::Wrote { accepted, .. }) => {
                self.happened.writes += 1;
                self.happened.refused += u64::from(!accepted);
            }
            Event::Observed { .. } | Event::Is(_) => {}
        }
    }

    /// A promise has found something, in an event or at rest.
    fn found(&mut self, promise: usize, finding: Finding, event: Option<&Event>) {
        self.promises[promise].tested += 1;
        let Finding::Broken(violation) = finding else { return };
        let seen = self.seen_now(violation.what);
        match (violation.violated_assumption, event) {
            (Some(violated_assumption), _) => {
                self.promises[promise].expected.push((violated_assumption, seen))
            }
            (None, Some(event)) if !self.ends_are_told => {
                let concerned = self.concerned(actor_of(event));
                self.suspicions.push(Suspicion { at: self.seen, promise, concerned, seen });
            }
            (None, Some(_) | None) => self.promises[promise].broken.push(seen),
        }
    }

    /// Nothing more comes of this life.
    fn ends(&mut self, actor: ActorId) {
        let at = self.seen;
        if let Some(life) = self.lives.get_mut(&actor) {
            life.ended.get_or_insert(at);
        }
    }

    /// All who could have a part in what this actor does now.
    fn concerned(&self, actor: Option<ActorId>) -> Vec<ActorId> {
        let life = actor.and_then(|actor| self.lives.get(&actor));
        let since = life.map_or(0, |life| life.granted.unwrap_or(life.began));
        let has_part = |life: &Life| life.ended.is_none_or(|ended| ended >= since);
        let all = self.lives.iter().filter(|(other, life)| has_part(life) || Some(**other) == actor);
        all.map(|(actor, _)| *actor).collect()
    }

    fn seen_now(&mut self, what: String) -> LiveBreak {
        // Only the first of each kind are shown: one that breaks at every turn is not to fill the memory.
        self.shown = self.shown.saturating_add(1);
        let lines =
            if self.shown <= MOST_SHOWN { sentences(&self.sessions, self.recent.iter()) } else { Vec::new() };
        let timeline = lines[lines.len().saturating_sub(SHOWN)..].to_vec();
        LiveBreak { seed: None, seconds: self.began.elapsed().as_secs_f64(), what, timeline }
    }

    /// Decides what every suspicion comes to.
    fn resolve(&mut self) {
        for suspicion in std::mem::take(&mut self.suspicions) {
            let lived = |actor: &&ActorId| {
                self.lives.get(actor).is_some_and(|life| life.lived.is_some_and(|at| at >= suspicion.at))
            };
            let unknown: Vec<String> =
                suspicion.concerned.iter().filter(|actor| !lived(actor)).map(ActorId::to_string).collect();
            let Suspicion { promise, mut seen, .. } = suspicion;
            let result = &mut self.promises[promise];
            if unknown.is_empty() {
                result.broken.push(seen);
            } else {
                let who = unknown.join(" and ");
                seen.what.push_str(&format!("; nobody knows whether the session of {who} lived then"));
                result.expected.push((Assumption::SessionsKnownToLive, seen));
            }
        }
    }
}

impl MonitoredPromise {
    fn result(self) -> LivePromise {
        let (broken, expected) = (self.broken.len() as u64, self.expected.len() as u64);
        let assumptions: BTreeSet<&str> = self.expected.iter().map(|(why, _)| assumption(*why)).collect();
        let assumptions: Vec<&str> = assumptions.into_iter().collect();
        let verdict = Verdict::of(broken, expected, self.tested).resting_on(&assumptions);
        let is_judged = self.promise.terms().judged_from_outside;
        LivePromise {
            name: self.promise.name().into(),
            about: self.promise.terms().about.into(),
            verdict: is_judged.then_some(verdict),
            tested: self.tested,
            broken,
            expected,
            assumptions: assumptions.into_iter().map(String::from).collect(),
            first: self.broken.into_iter().next(),
            first_expected: self.expected.into_iter().next().map(|(_, seen)| seen),
        }
    }
}

/// Which process does it.
fn actor_of(event: &Event) -> Option<ActorId> {
    match event {
        Event::Observed { actor, .. } | Event::Is(GroundTruth::Wrote { actor, .. }) => Some(actor.main()),
        Event::Is(_) => None,
    }
}

#[cfg(test)]
mod tests;

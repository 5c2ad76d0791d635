//! Breadth-first through an ensemble's states: shortest counterexamples, honest limits.

use super::action::Action;
use super::config::EnsembleConfig;
use super::describe::retrace;
use super::model::EnsembleModel;
use super::node::Node;
use super::peer_node::PeerNode;
use super::progress::{is_serving, look_for_progress};
use super::server_node::ServerNode;
use super::state::State;
use super::watch::{InvariantCheck, names};
use crate::check::{Check, Counterexample, Progress, PromiseReport, Verdict};
use crate::limits::Limits;
use crate::livelock::Edges;
use crate::quiet::quietly;
use crate::search::{Found, LOOK_EVERY, TELL_EVERY};
use crate::tree::{Number, Tree};
use std::time::Instant;

/// With several threads, so many states are expanded before what they lead to is taken in.
const CHUNK: usize = 1024;
/// For less than so many it is not worth to begin threads.
const CHUNK_LEAST: usize = 128;

/// From every state, once faults stop, it may come to be that a quorum serves.
pub const PROGRESS_POSSIBLE: &str = "ProgressPossible";
/// No round that is fair to everybody keeps a quorum from serving for ever.
pub const NO_FAIR_CYCLE: &str = "NoFairCycle";
/// An interesting case: a planted bug has made a difference.
pub const PLANTED: &str = "a planted bug made a difference";
/// An interesting case: something is broken that no planted bug can have broken.
pub const BROKEN_WITHOUT: &str = "something is broken without a planted bug";
/// Nothing panics.
pub const NO_PANIC: &str = "NoPanic";

pub(super) struct Search<'a, N: Node> {
    pub(super) model: &'a EnsembleModel<N>,
    pub(super) tree: Tree,
    /// What liveness is looked for in, or why it is not.
    pub(super) edges: Result<Edges, String>,
    pub(super) found: Found,
    invariants: InvariantCheck,
    beyond: u64,
    reached: Reached,
}

/// Explores an ensemble of whole servers, or of bare peers, as [`check_ensemble`] does, which is compiled for both in this
/// crate: not in each that asks, with whatever optimisation that has.
pub fn check_nodes(is_whole: bool, config: &EnsembleConfig, progress: &mut dyn FnMut(Progress)) -> Check {
    match is_whole {
        true => check_ensemble::<ServerNode>(config, progress),
        false => check_ensemble::<PeerNode>(config, progress),
    }
}

/// Explores an ensemble. `progress` is called now and then.
pub fn check_ensemble<N: Node>(config: &EnsembleConfig, progress: &mut dyn FnMut(Progress)) -> Check {
    let started = Instant::now();
    let model = EnsembleModel::<N>::new(config);
    let invariants = [PROGRESS_POSSIBLE, NO_FAIR_CYCLE, NO_PANIC];
    let edges = if config.liveness { Ok(Edges::default()) } else { Err("it was not asked for".to_owned()) };
    let promises = names::<N>().into_iter().chain(invariants).map(PromiseReport::new).collect();
    let mut search = Search {
        model: &model,
        tree: Tree::default(),
        edges,
        found: Found { promises, ..Found::default() },
        invariants: InvariantCheck::default(),
        beyond: 0,
        reached: Reached::default(),
    };
    search.run(started, progress);
    look_for_progress(&mut search);
    let mut found =
        Found { states: search.tree.len(), sometimes: search.reached.list(search.beyond), ..search.found };
    for (report, tested) in found.promises.iter_mut().zip(&search.invariants.tested) {
        report.tested = *tested;
    }
    let verdict = match (found.violated, found.ran_out.clone()) {
        (Some((promise, steps)), _) => {
            Verdict::Violated { promise: found.promises[promise].name.to_owned(), steps }
        }
        (None, Some(ran_out)) => Verdict::Undecided { ran_out },
        (None, None) => Verdict::Holds,
    };
    found.into_check(verdict, started)
}

/// What is one step away from a state.
struct Steps<N: Node> {
    /// How many of the actions need no fault, all actions, and whether a quorum serves; or why it panics.
    enabled: Result<(usize, Vec<Action>, bool), String>,
    /// Where each action leads: `None` if that is out of the bounds; or why it panics.
    reached: Vec<Result<Option<State<N>>, String>>,
}

impl<N: Node> Steps<N> {
    fn from(model: &EnsembleModel<N>, state: &State<N>, records: bool) -> Steps<N> {
        let mut actions = Vec::with_capacity(16);
        match quietly(|| model.actions(state, &mut actions)) {
            Ok(free) => {
                let step = |action: &Action| quietly(|| model.step(state, *action));
                let reached = actions.iter().map(step).collect();
                let serves = records && is_serving(model, state);
                Steps { enabled: Ok((free, actions, serves)), reached }
            }
            Err(what) => Steps { enabled: Err(what), reached: Vec::new() },
        }
    }
}

impl<N: Node> Search<'_, N> {
    fn run(&mut self, started: Instant, progress: &mut dyn FnMut(Progress)) {
        let mut level: Vec<(State<N>, Number)> = Vec::new();
        for (nth, state) in self.model.starts.iter().enumerate() {
            if let Some(number) = self.tree.start(state.fingerprint, nth as u16) {
                self.look(state, number, 0);
                level.push((state.clone(), number));
            }
        }
        let (mut seen, mut depth) = (0_u64, 0);
        let at_once = if self.model.config.threads > 1 { CHUNK } else { 1 };
        while !level.is_empty() && self.found.violated.is_none() {
            if self.model.config.max_depth.is_some_and(|max| depth >= max) {
                self.found.ran_out = Some(format!("depth {depth}"));
                return;
            }
            let mut next = Vec::new();
            let mut behind = level.into_iter();
            while behind.len() > 0 {
                let chunk: Vec<_> = behind.by_ref().take(at_once).collect();
                let expanded = self.steps_from(&chunk);
                for ((_, number), steps) in chunk.iter().zip(expanded) {
                    seen += 1;
                    if seen.is_multiple_of(LOOK_EVERY) && self.has_run_out(started) {
                        return;
                    }
                    if seen.is_multiple_of(TELL_EVERY) {
                        let frontier = (behind.len() + next.len()) as u64;
                        progress(Progress { states: self.tree.len(), frontier, depth });
                    }
                    self.expand(steps, *number, depth, &mut next);
                }
            }
            if !next.is_empty() {
                depth += 1;
                self.found.depth = depth;
            }
            level = next;
        }
    }

    fn has_run_out(&mut self, started: Instant) -> bool {
        let config = &self.model.config;
        let limits =
            Limits { time: config.time_limit, memory: config.max_memory, stop: config.stop.as_ref() };
        let most = config.max_states.unwrap_or(u64::MAX).min(u64::from(u32::MAX));
        self.found.ran_out = match limits.reached(started) {
            None => (self.tree.len() >= most).then(|| format!("states: {most}")),
            reached => reached,
        };
        self.found.ran_out.is_some()
    }

    /// What is one step away from each of these, by as many threads as there are to be. What is found does not
    /// depend on how many that are: it is taken in order.
    fn steps_from(&self, states: &[(State<N>, Number)]) -> Vec<Steps<N>> {
        let model = self.model;
        let records = self.edges.is_ok();
        let all = |states: &[(State<N>, Number)]| -> Vec<Steps<N>> {
            states.iter().map(|(state, _)| Steps::from(model, state, records)).collect()
        };
        let threads = model.config.threads.max(1);
        if threads == 1 || states.len() < CHUNK_LEAST {
            return all(states);
        }
        std::thread::scope(|scope| {
            let parts = states.chunks(states.len().div_ceil(threads));
            let running: Vec<_> = parts.map(|part| scope.spawn(move || all(part))).collect();
            let done = running.into_iter().map(|thread| thread.join().expect("what panics is caught"));
            done.flatten().collect()
        })
    }

    fn expand(&mut self, steps: Steps<N>, number: Number, depth: u32, next: &mut Vec<(State<N>, Number)>) {
        let (free, actions, is_serving) = match steps.enabled {
            Ok(enabled) => enabled,
            Err(what) => return self.panicked(&what, number, None, depth),
        };
        if self.edges.as_ref().is_ok_and(Edges::is_full) {
            self.edges = Err("there are too many transitions to be recorded".to_owned());
        }
        if let Ok(edges) = &mut self.edges {
            edges.state(is_serving);
        }
        for (nth, (action, reached)) in actions.into_iter().zip(steps.reached).enumerate() {
            self.found.transitions += 1;
            let reached = match reached {
                Ok(reached) => reached,
                Err(what) => {
                    self.edges = Err("a step panics".to_owned());
                    self.panicked(&what, number, Some(nth as u16), depth + 1);
                    continue;
                }
            };
            let Some(reached) = reached else {
                self.beyond += 1;
                continue;
            };
            self.reached.count(action, &reached);
            let target = match self.tree.reach(reached.fingerprint, number, nth as u16) {
                Err(known) => known,
                Ok(new) => {
                    self.look(&reached, new, depth + 1);
                    next.push((reached, new));
                    new
                }
            };
            if let (Ok(edges), true) = (&mut self.edges, nth < free) {
                edges.add(action.label(), false, target);
            }
        }
    }

    /// Looks at the invariants in a new state.
    fn look(&mut self, state: &State<N>, number: Number, steps: u32) {
        match quietly(|| self.invariants.look(state)) {
            Ok(broken) => {
                let is_marked = !state.ghost.deviated.is_empty();
                self.reached.unmarked += u64::from(!broken.is_empty() && !is_marked);
                for (promise, what) in broken {
                    self.broken(promise, what, number, &[], steps);
                }
            }
            Err(what) => self.panicked(&what, number, None, steps),
        }
    }

    fn panicked(&mut self, what: &str, number: Number, nth: Option<u16>, steps: u32) {
        let promise = self
            .found
            .promises
            .iter()
            .position(|report| report.name == NO_PANIC)
            .expect("it is an invariant");
        let nth: Vec<u16> = nth.into_iter().collect();
        self.broken(promise, format!("it panics: {what}"), number, &nth, steps);
    }

    /// Notes what is broken in a state, or by these actions behind it.
    pub(super) fn broken(&mut self, promise: usize, what: String, number: Number, then: &[u16], steps: u32) {
        if self.found.promises[promise].broken.is_none() {
            let (start, mut path) = self.tree.path(number);
            path.extend(then);
            let steps = retrace(self.model, usize::from(start), &path);
            self.found.promises[promise].broken =
                Some(Counterexample { what, steps, ..Counterexample::default() });
        }
        if self.found.violated.is_none_or(|(_, shortest)| steps < shortest) {
            self.found.violated = Some((promise, steps));
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        self.found.violated.is_some()
    }
}

/// How often interesting cases were reached, against checks that hold because nothing happens.
#[derive(Debug, Default)]
struct Reached {
    crashes: u64,
    torn: u64,
    restarts: u64,
    lost: u64,
    breaks: u64,
    cuts: u64,
    early: u64,
    waited: u64,
    proposed: u64,
    images: u64,
    established: u64,
    committed: usize,
    /// A planted bug has made a difference.
    deviated: u64,
    /// Something was broken where none has.
    unmarked: u64,
}

impl Reached {
    fn count<N: Node>(&mut self, action: Action, state: &State<N>) {
        match action {
            Action::Crash { outcome, .. } => {
                self.crashes += 1;
                self.torn += u64::from(outcome > 0);
            }
            Action::Restart { .. } => self.restarts += 1,
            Action::Lose { .. } => self.lost += 1,
            Action::Break { .. } => self.breaks += 1,
            Action::Cut { .. } => self.cuts += 1,
            Action::Early { .. } => self.early += 1,
            Action::Wait { .. } => self.waited += 1,
            Action::Propose { .. } => self.proposed += 1,
            Action::Image { .. } => self.images += 1,
            Action::Datagram { .. }
            | Action::Link { .. }
            | Action::Packet { .. }
            | Action::Written { .. }
            | Action::Mend { .. }
            | Action::Piece { .. }
            | Action::Fire { .. } => {}
        }
        self.established += u64::from(state.ghost.initial.len() > 1);
        self.deviated += u64::from(!state.ghost.deviated.is_empty());
        self.committed = self.committed.max(state.ghost.committed.len());
    }

    fn list(&self, beyond: u64) -> Vec<(&'static str, u64)> {
        vec![
            ("a server crashed", self.crashes),
            ("a crash left a part of a write, or all of it", self.torn),
            ("a server started again", self.restarts),
            ("what was on its way was lost", self.lost),
            ("a link broke", self.breaks),
            ("two servers were cut off from each other", self.cuts),
            ("a timer came early", self.early),
            ("a server waited in vain", self.waited),
            ("a transaction was proposed", self.proposed),
            ("a snapshot was sent", self.images),
            ("a transaction stood", self.committed as u64),
            ("a second epoch was established", self.established),
            (PLANTED, self.deviated),
            (BROKEN_WITHOUT, self.unmarked),
            ("a step was not taken, as it would begin a round beyond the bounds", beyond),
        ]
    }
}

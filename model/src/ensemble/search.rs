//! The search of an ensemble's states: what breaks in them, and whether a quorum comes to serve.

use super::action::Action;
use super::config::EnsembleConfig;
use super::describe::retrace;
use super::model::EnsembleModel;
use super::node::Node;
use super::peer_node::PeerNode;
use super::progress::{NO_FAIR_CYCLE, PROGRESS_POSSIBLE, is_serving, without_progress};
use super::server_node::ServerNode;
use super::starts::ensemble_model;
use super::state::State;
use super::watch::{InvariantCheck, Judged, names};
use crate::explorer::{Explored, Judge, Panic, Place, Space, explore};
use crate::limits::Limits;
use crate::livelock::Edges;
use crate::tree::{Tree, Way};
use crate::verdict::{Check, Counterexample, Found, Progress, PromiseReport, Verdict};
use std::time::Instant;

/// An interesting case: a planted bug has made a difference.
pub const PLANTED: &str = "a planted bug made a difference";
/// An interesting case: something is broken that no planted bug can have broken.
pub const BROKEN_WITHOUT: &str = "something is broken without a planted bug";
/// Nothing panics.
pub const NO_PANIC: &str = "NoPanic";

struct Search<'a, N: Judged> {
    model: &'a EnsembleModel<N>,
    found: Found,
    invariants: InvariantCheck,
    reached: Reached,
}

/// Explores an ensemble of whole servers, or of bare peers, as [`check_ensemble`] does, which is compiled for both in
/// this crate: not in each that asks, with whatever optimisation that has.
pub fn check_nodes(is_whole: bool, config: &EnsembleConfig, progress: &mut dyn FnMut(Progress)) -> Check {
    match is_whole {
        true => check_ensemble::<ServerNode>(config, progress),
        false => check_ensemble::<PeerNode>(config, progress),
    }
}

/// Explores an ensemble. `progress` is called now and then.
pub fn check_ensemble<N: Judged>(config: &EnsembleConfig, progress: &mut dyn FnMut(Progress)) -> Check {
    let started = Instant::now();
    let model = ensemble_model::<N>(config);
    let invariants = [PROGRESS_POSSIBLE, NO_FAIR_CYCLE, NO_PANIC];
    let edges = if config.liveness { Ok(Edges::default()) } else { Err("it was not asked for".to_owned()) };
    let promises = names::<N>().into_iter().chain(invariants).map(PromiseReport::new).collect();
    let mut search = Search {
        model: &model,
        found: Found { promises, ..Found::default() },
        invariants: InvariantCheck::default(),
        reached: Reached::default(),
    };
    let (mut tree, mut starts) = (Tree::default(), Vec::new());
    for (nth, state) in model.starts.iter().enumerate() {
        if let Some(number) = tree.start(state.fingerprint, nth as u16) {
            search.look(&tree, state, Place { state: number, nth: None, steps: 0 });
            starts.push((state.clone(), number));
        }
    }
    let limits = Limits {
        time: config.time_limit,
        memory: config.max_memory,
        stop: config.stop.as_ref(),
        states: config.max_states,
        depth: config.max_depth,
        threads: config.threads,
    };
    let Explored { tree, edges, transitions, depth, ran_out } =
        explore((&model, &mut search), (limits, started), (tree, edges), starts, progress);
    search.found = Found { states: tree.len(), transitions, depth, ran_out, ..search.found };
    search.look_for_progress(&tree, edges);
    let mut found = Found { sometimes: search.reached.list(), ..search.found };
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

impl<N: Node> Space for EnsembleModel<N> {
    type State = State<N>;
    type Action = Action;
    type Taken = State<N>;

    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) -> usize {
        EnsembleModel::actions(self, state, actions)
    }

    fn take(&self, state: &State<N>, action: Action) -> Option<State<N>> {
        self.step(state, action)
    }

    fn fingerprint(taken: &State<N>) -> u64 {
        taken.fingerprint
    }

    fn into_state(taken: State<N>) -> State<N> {
        taken
    }

    fn is_end(&self, state: &State<N>, _: usize) -> bool {
        is_serving(self, state)
    }

    fn label(action: Action, _: &State<N>) -> (u16, bool) {
        (action.label(), false)
    }
}

impl<N: Judged> Judge<EnsembleModel<N>> for Search<'_, N> {
    fn takes(&mut self, _: &Tree, _: &State<N>, action: Action, taken: Option<&State<N>>, _: Place) {
        match taken {
            Some(taken) => self.reached.count(action, taken),
            None => self.reached.beyond += 1,
        }
    }

    fn arrives(&mut self, tree: &Tree, taken: &State<N>, at: Place) {
        self.look(tree, taken, at);
    }

    fn panics(&mut self, tree: &Tree, panic: &Panic, at: Place) {
        let what = format!("it panics: {}", panic.what);
        self.broken(self.number(NO_PANIC), what, &at.path(tree), at.steps);
    }

    fn is_answered(&self) -> bool {
        self.found.violated.is_some()
    }
}

impl<N: Judged> Search<'_, N> {
    /// Looks at the invariants in a new state.
    fn look(&mut self, tree: &Tree, state: &State<N>, at: Place) {
        match Panic::caught(|| self.invariants.look(state)) {
            Ok(broken) => {
                let is_marked = !state.ghost.deviated.is_empty();
                self.reached.unmarked += u64::from(!broken.is_empty() && !is_marked);
                for (promise, what) in broken {
                    self.broken(promise, what, &at.path(tree), at.steps);
                }
            }
            Err(panic) => self.panics(tree, &panic, at),
        }
    }

    /// Once everything is explored.
    fn look_for_progress(&mut self, tree: &Tree, edges: Result<Edges, String>) {
        let edges = match edges {
            _ if self.found.violated.is_some() => Err("the search ended with what it was for".to_owned()),
            _ if self.found.ran_out.is_some() => Err("the search was cut short".to_owned()),
            edges => edges,
        };
        for (name, tested) in [(PROGRESS_POSSIBLE, tree.len()), (NO_FAIR_CYCLE, 1)] {
            let nth = self.number(name);
            let report = &mut self.found.promises[nth];
            match &edges {
                Ok(_) => report.tested = tested,
                Err(why) => report.unchecked = Some(why.clone()),
            }
        }
        let Ok(edges) = edges else { return };
        for (name, what, path) in without_progress(self.model, tree, &edges) {
            self.broken(self.number(name), what, &path, path.1.len() as u32);
        }
    }

    /// The number of an invariant.
    fn number(&self, name: &str) -> usize {
        self.found.promises.iter().position(|report| report.name == name).expect("it is an invariant")
    }

    /// Notes what is broken at the end of a path.
    fn broken(&mut self, promise: usize, what: String, path: &Way, steps: u32) {
        let report = &mut self.found.promises[promise];
        if report.broken.is_none() {
            let steps = retrace(self.model, usize::from(path.0), &path.1);
            report.broken = Some(Counterexample { what, steps, ..Counterexample::default() });
        }
        if self.found.violated.is_none_or(|(_, shortest)| steps < shortest) {
            self.found.violated = Some((promise, steps));
        }
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
    /// A step led beyond the bounds.
    beyond: u64,
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

    fn list(&self) -> Vec<(&'static str, u64)> {
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
            ("a step was not taken, as it would begin a round beyond the bounds", self.beyond),
        ]
    }
}

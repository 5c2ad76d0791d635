//! The same model for stateright: its searches as a second opinion, its Explorer to look around.
//!
//! ```
//! use zk_model::{CheckConfig, model::RecipeModel, reads::Reads, search, stateright};
//! use zk_harness::trial::Bounds;
//! # let lock = zk_catalogue::trials().remove(0);
//! # let config = CheckConfig::new(Bounds::clients(2));
//!
//! let model = || RecipeModel::new(lock.clone(), &config, Reads::at_first());
//! let own = search::search(&model(), &config, &mut |_| ());
//! assert_eq!(stateright::search(model(), &config).states, own.states, "two searches, one model");
//! ```

use crate::action::Action;
use crate::config::CheckConfig;
use crate::describe::describe;
use crate::livelock;
use crate::model::{RecipeModel, Taken};
use crate::monitors::Findings;
use crate::quiet::{in_which_promise, quietly};
use crate::search::{note_cut_audit, retrace};
use crate::state::State;
use crate::stop::Stop;
use crate::verdict::{Counterexample, Found};
use stateright::{Checker, Model, Property};
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use zk_harness::promise::{Assumption, Violation};

/// The model, and which of its promises were put to the test so far, as bits.
struct Instrumented {
    model: RecipeModel,
    tested: AtomicU64,
    /// The first way in which a promise was broken, unless that was meant.
    open: OnceLock<(usize, Violation)>,
    /// What panicked, if anything did.
    panic: OnceLock<Stop>,
}

impl Instrumented {
    fn of(model: RecipeModel) -> Instrumented {
        Instrumented { model, tested: AtomicU64::new(0), open: OnceLock::new(), panic: OnceLock::new() }
    }

    fn stop(&self) -> Option<&Stop> {
        self.model.stop().or(self.panic.get())
    }

    /// Whether nothing is broken where it is owed.
    fn note(&self, findings: &Findings) -> bool {
        self.tested.fetch_or(findings.tested, Ordering::Relaxed);
        for (nth, violation) in &findings.broken {
            if violation.violated_assumption == Some(Assumption::NobodyMeantToWait) {
                self.open.get_or_init(|| (*nth, violation.clone()));
            }
        }
        findings.broken.iter().all(|(_, violation)| violation.violated_assumption.is_some())
    }
}

impl Model for Instrumented {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Taken { state, findings, .. } = self.model.init();
        self.note(&findings);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        match quietly(|| self.model.step(state, action)) {
            Ok(Taken { state, findings, .. }) => {
                self.note(&findings);
                Some(state)
            }
            Err(what) => {
                let _ = self.panic.set(match in_which_promise() {
                    Some(promise) => Stop::Beyond(format!("the promise {promise} panics: {what}")),
                    None => Stop::Panic(what),
                });
                None
            }
        }
    }

    fn format_action(&self, action: &Action) -> String {
        format!("{action:?}")
    }

    fn format_step(&self, state: &State, action: Action) -> Option<String> {
        let taken = self.model.step(state, action);
        Some(format!("{}\n{:?}", describe(state, action, &taken), taken.state))
    }

    /// One property alone: with several, its counterexamples are not the shortest.
    fn properties(&self) -> Vec<Property<Instrumented>> {
        vec![Property::always("every promise", |instrumented: &Instrumented, state: &State| {
            // Nothing more can be relied on: one state that says no ends the search.
            if instrumented.stop().is_some() || instrumented.model.is_broken(state) {
                return false;
            }
            let mut actions = Vec::new();
            let free = instrumented.model.actions(state, &mut actions);
            free > 0 || instrumented.note(&instrumented.model.rest(state))
        })]
    }
}

/// Explores with stateright's breadth-first search, which does not say which promise is broken: the report is
/// for the first that the last step of its path breaks. It tells what was put to the test, but not how often, and of
/// expected violations only that there is one which leaves the verdict open, without the way to it.
///
/// It knows no honest limits, so a search that may be cut is not for it: `max_states` and `max_depth` make the
/// outcome undecided whenever they are reached, and the time limit is not looked at.
pub fn search(model: RecipeModel, config: &CheckConfig) -> Found {
    let mut found = Found::of(&model.promises);
    livelock::unchecked(&mut found.promises, "this search does not look for it");
    let mut builder = Instrumented::of(model).checker().threads(1);
    if let Some(states) = config.max_states {
        builder = builder.target_state_count(usize::try_from(states).unwrap_or(usize::MAX));
    }
    if let Some(depth) = config.max_depth {
        builder = builder.target_max_depth(depth as usize);
    }
    let checker = builder.spawn_bfs().join();
    found.reads = checker.model().model.reads();
    found.states = checker.unique_state_count() as u64;
    found.transitions = checker.state_count() as u64;
    found.depth = checker.max_depth() as u32;
    let instrumented = checker.model();
    found.stop = instrumented.stop().cloned();
    found.leaves_out = instrumented.model.leaves_out();
    let tested = checker.model().tested.load(Ordering::Relaxed);
    for (nth, report) in found.promises.iter_mut().enumerate() {
        report.tested = tested >> nth & 1;
    }
    if let Some((nth, Violation { what, violated_assumption, .. })) = instrumented.open.get().cloned() {
        let example = Counterexample { what, violated_assumption, ..Counterexample::default() };
        found.promises[nth].expected = Some(example);
    }
    if let Some(stop) = &found.stop {
        found.ran_out = Some(stop.why());
        return found;
    }
    note_cut_audit(&instrumented.model, &mut found.promises);
    if let Some(path) = checker.discovery("every promise") {
        blame(&checker.model().model, path.into_vec(), &mut found);
        // It ends there, whatever was asked.
        found.ran_out =
            found.violated.map(|(broken, _)| format!("{} is broken", found.promises[broken].name));
        return found;
    }
    let states = config.max_states.filter(|max| checker.state_count() as u64 >= *max);
    let depth = config.max_depth.filter(|max| found.depth >= *max);
    found.ran_out =
        states.map(|n| format!("states: {n}")).or_else(|| depth.map(|depth| format!("depth {depth}")));
    found
}

/// Finds out which promise a path breaks.
fn blame(model: &RecipeModel, path: Vec<(State, Option<Action>)>, found: &mut Found) {
    let mut broken = model.init().findings.broken;
    let mut taken = Vec::new();
    for (state, action) in &path {
        match action {
            Some(action) => {
                taken.extend(model.all_actions(state).iter().position(|other| other == action));
                broken.extend(model.step(state, *action).findings.broken);
            }
            None => broken.extend(model.rest(state).broken),
        }
    }
    broken.retain(|(_, violation)| violation.violated_assumption.is_none());
    // The one that is sought, if it is among them.
    broken.sort_by_key(|(promise, _)| Some(*promise) != model.to_break);
    if let Some((promise, violation)) = broken.into_iter().next() {
        let (steps, scenes, script) = retrace(model, &taken);
        found.violated = Some((promise, steps.len() as u32));
        let what = violation.what;
        let example = Counterexample { what, steps, scenes, script, ..Counterexample::default() };
        found.promises[promise].broken = Some(example);
    }
}

/// Serves stateright's Explorer until the process ends.
pub fn explore(model: RecipeModel, address: SocketAddr) {
    Instrumented::of(model).checker().serve(address);
}

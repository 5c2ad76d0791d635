//! The search of a recipe's states: what promises find on the way, and what comes round.
//!
//! ```
//! use zk_model::search::search;
//! use zk_model::{CheckConfig, model::RecipeModel, reads::Reads};
//! use zk_harness::trial::Bounds;
//! # let lock = zk_catalogue::trials().remove(0);
//! # let config = CheckConfig::new(Bounds::clients(2));
//!
//! let model = RecipeModel::new(lock, &config, Reads::at_first());
//! let found = search(&model, &config, &mut |_| ());
//! assert!(found.violated.is_none() && found.ran_out.is_none());
//! assert!(found.promises.iter().any(|promise| promise.name == "fifo" && promise.tested > 0));
//! ```

use crate::action::Action;
use crate::config::CheckConfig;
use crate::describe::describe;
use crate::explorer::{Explored, Judge, Panic, Place, Space, explore};
use crate::inevitable::inevitable_from;
use crate::limits::Limits;
use crate::link::{Client, Phase};
use crate::livelock::{self, Edges, Livelock};
use crate::model::{RecipeModel, Taken};
use crate::monitors::{Findings, Monitors};
use crate::own_promises::{HONEST_CHECKPOINTS, OWN_PROMISES};
use crate::process::AUDITED;
use crate::quiet::quietly;
use crate::scene::Scene;
use crate::script::script_step;
use crate::state::State;
use crate::stop::Stop;
use crate::story::Story;
use crate::tree::{Number, Tree};
use crate::verdict::{Counterexample, Found, Progress, PromiseReport};
use std::sync::Arc;
use std::time::Instant;
use zk_harness::event::Event;
use zk_harness::promise::{Assumption, Violation};
use zk_harness::promises::NO_POLLING;
use zk_harness::script::ScriptStep;

struct Search<'a> {
    model: &'a RecipeModel,
    config: &'a CheckConfig,
    started: Instant,
    found: Found,
    reached: Sometimes,
}

/// Explores everything within the bounds, or until something breaks or runs out.
///
/// When a promise is broken where it is owed, the states as deep as that one are still looked at, and no
/// deeper ones; but where a certain promise is to be broken, the search goes on until that one is.
pub fn search(model: &RecipeModel, config: &CheckConfig, progress: &mut dyn FnMut(Progress)) -> Found {
    let (found, reached) = (Found::of(&model.promises), Sometimes::default());
    let mut search = Search { model, config, started: Instant::now(), found, reached };
    let Explored { tree, edges, transitions, depth, ran_out } = search.explore(progress);
    let Found { stop, .. } = &search.found;
    let ran_out = ran_out.or(stop.as_ref().map(Stop::why));
    search.found = Found { states: tree.len().max(1), transitions, depth, ran_out, ..search.found };
    search.look_for_livelocks(&tree, edges);
    search.found.sometimes = search.reached.list();
    search.found.leaves_out = model.leaves_out();
    note_cut_audit(model, &mut search.found.promises);
    if config.ranks {
        livelock::judged_alone(&mut search.found.promises);
    }
    search.found.reads = model.reads();
    search.found
}

/// Says so where the audit of checkpoints has left out histories.
pub fn note_cut_audit(model: &RecipeModel, promises: &mut [PromiseReport]) {
    if model.audit_is_cut() {
        let report = promises.iter_mut().find(|report| report.name == HONEST_CHECKPOINTS);
        let report = report.expect("every recipe promises it");
        report.unchecked = Some(format!("in the first {AUDITED} histories of each"));
        report.tested = report.tested.max(1);
    }
}

/// Where to record transitions.
fn edges(config: &CheckConfig) -> Result<Edges, String> {
    match (config.livelock, config.reductions.symmetry) {
        (false, _) => Err("it was not asked for".to_owned()),
        // A way round may end with the processes' roles exchanged, and then says nothing of whose step is taken.
        (true, true) => Err("it is not looked for with symmetry".to_owned()),
        (true, false) => Ok(Edges::default()),
    }
}

impl Space for RecipeModel {
    type State = State;
    type Action = Action;
    type Taken = Taken;

    fn actions(&self, state: &State, actions: &mut Vec<Action>) -> usize {
        RecipeModel::actions(self, state, actions)
    }

    fn take(&self, state: &State, action: Action) -> Option<Taken> {
        Some(self.step(state, action))
    }

    fn fingerprint(taken: &Taken) -> u64 {
        taken.state.fingerprint
    }

    fn into_state(taken: Taken) -> State {
        taken.state
    }

    /// Every actor has ended, or nothing moves.
    fn is_end(&self, state: &State, free: usize) -> bool {
        let goes_on = |client: &Arc<Client>| !client.node.is_done && client.node.end.is_none();
        free == 0 || !state.clients.iter().any(goes_on)
    }

    fn label(action: Action, taken: &Taken) -> (u16, bool) {
        (livelock::label(action), taken.events.iter().all(|events| events.items.is_empty()))
    }
}

impl Judge<RecipeModel> for Search<'_> {
    fn expands(&mut self, tree: &Tree, state: &State, free: usize, at: Place) {
        if free == 0 {
            self.reached.quiet += 1;
            match Panic::caught(|| self.model.rest(state)) {
                Ok(findings) => self.judge(tree, &findings, at),
                Err(panic) => self.panics(tree, &panic, at),
            }
        }
    }

    fn takes(&mut self, tree: &Tree, state: &State, action: Action, taken: Option<&Taken>, at: Place) {
        let Some(taken) = taken else { return };
        self.reached.count(state, action, taken);
        if let Some(heard) = &self.model.scope.trial.heard {
            for event in taken.events.iter().flat_map(|events| &*events.items) {
                if let Event::Observed { actor, what } = event {
                    self.found.told.add(heard, *actor, what);
                }
            }
        }
        if taken.findings.tested != 0 || !taken.findings.broken.is_empty() {
            self.judge(tree, &taken.findings, at);
        }
    }

    fn panics(&mut self, tree: &Tree, panic: &Panic, at: Place) {
        let Some(promise) = panic.promise else { return self.stop_at_panic(&panic.what) };
        let violation = Violation::new(format!("the promise {promise} panics: {}", panic.what), None);
        let own = self.model.promises.len() - OWN_PROMISES.len();
        let findings = Findings { broken: vec![(own, violation)], ..Findings::default() };
        self.judge(tree, &findings, at);
    }

    /// Something is broken, and that which is known to break as well.
    fn is_answered(&self) -> bool {
        let is_broken = |nth: usize| self.found.promises[nth].broken.is_some();
        self.found.violated.is_some() && self.model.to_break.is_none_or(is_broken)
    }

    /// What was broken before is a better answer.
    fn must_stop(&mut self) -> bool {
        if self.found.stop.is_none() {
            self.found.stop = self.model.stop().cloned();
        }
        self.found.stop.is_some()
    }

    /// The actors have read what the model does not vary.
    fn is_outdated(&self) -> bool {
        !self.model.scope.varied.has(self.model.reads())
    }
}

impl<'a> Search<'a> {
    fn explore(&mut self, progress: &mut dyn FnMut(Progress)) -> Explored {
        let (mut tree, mut starts) = (Tree::default(), Vec::new());
        match quietly(|| self.model.init()) {
            Err(what) => self.stop_at_panic(&what),
            Ok(_) if self.must_stop() => {}
            Ok(Taken { state, findings, .. }) => {
                let number = tree.start(state.fingerprint, 0).expect("it is the first");
                self.judge(&tree, &findings, Place { state: number, nth: None, steps: 0 });
                starts.push((state, number));
            }
        }
        let (limits, edges) = ((self.limits(), self.started), edges(self.config));
        explore((self.model, self), limits, (tree, edges), starts, progress)
    }

    fn limits(&self) -> Limits<'a> {
        let CheckConfig { time_limit: time, max_memory: memory, stop, max_states, max_depth, .. } =
            self.config;
        Limits {
            time: *time,
            memory: *memory,
            stop: stop.as_ref(),
            states: *max_states,
            depth: *max_depth,
            threads: 1,
        }
    }

    /// Once everything is explored.
    fn look_for_livelocks(&mut self, tree: &Tree, edges: Result<Edges, String>) {
        let edges = match edges {
            _ if self.found.ran_out.is_some() => Err("the search was cut short".to_owned()),
            _ if self.is_answered() => Err("the search ended with what it was for".to_owned()),
            _ if self.is_outdated() => Err("the search begins anew".to_owned()),
            _ if self.model.waits_for_upkeep() => Err("what has a time to live stays".to_owned()),
            edges => edges,
        };
        let polling = self.model.promises.iter().position(|name| *name == NO_POLLING);
        let found = edges.as_ref().ok().and_then(Edges::polling);
        let found = found.filter(|found| !self.config.ranks || self.comes_round(tree, found));
        if let (Some(nth), Some(found)) = (polling, found) {
            self.goes_round(
                tree,
                nth,
                "somebody asks the same again and again, and nothing else happens to it: in a model timers, however \
                 long, fire at any time (a trial may opt out of this)",
                &found,
            );
        }
        let nth = self.model.promises.len() - 1;
        match edges.map(|edges| edges.livelock()) {
            Err(why) => livelock::unchecked(&mut self.found.promises, &why),
            Ok(Some(found)) if self.config.ranks && !self.comes_round(tree, &found) => {
                let why = "what comes round by the order of numbers does not by the numbers themselves";
                livelock::unchecked(&mut self.found.promises, why);
            }
            Ok(None) => self.found.promises[nth].tested = 1,
            Ok(Some(found)) => {
                let what = "what happens comes round again and again, and an actor never comes to its end";
                self.goes_round(tree, nth, what, &found);
            }
        }
    }

    /// A promise is broken by something that goes round.
    fn goes_round(&mut self, tree: &Tree, nth: usize, what: &str, Livelock { state, round }: &Livelock) {
        let mut example = self.retraced(&Violation::new(what.to_owned(), None), &path(tree, *state, &[]));
        let way = example.steps.len();
        (example.steps, example.scenes, example.script) = retrace(self.model, &path(tree, *state, round));
        example.steps[way..].iter_mut().for_each(|step| step.insert_str(0, "round and round: "));
        let steps = example.steps.len() as u32;
        let report = &mut self.found.promises[nth];
        if report.broken.is_none() {
            (report.tested, report.broken) = (report.tested.max(1), Some(example));
            self.found.violated = self.found.violated.or(Some((nth, steps)));
        }
    }

    /// Whether these actions lead from a state to one like it, and from there again. Where numbers are compared by
    /// their order alone, states were taken for one that need not be.
    fn comes_round(&self, tree: &Tree, Livelock { state, round }: &Livelock) -> bool {
        let act = |state: State, nth: usize| {
            self.model.all_actions(&state).get(nth).map(|action| self.model.step(&state, *action).state)
        };
        let start = path(tree, *state, &[]).into_iter().try_fold(self.model.init().state, act);
        let round = || round.iter().map(|nth| usize::from(*nth));
        let Some(start) = start else { return false };
        let once = round().try_fold(start.clone(), act);
        let twice = once.clone().and_then(|once| round().try_fold(once, act));
        once.as_ref() == Some(&start) && twice.as_ref() == Some(&start)
    }

    fn stop_at_panic(&mut self, what: &str) {
        self.found.stop = Some(Stop::Panic(what.to_owned()));
    }

    /// Notes what promises found at a place.
    fn judge(&mut self, tree: &Tree, findings: &Findings, at: Place) {
        let mut tested = findings.tested;
        while tested != 0 {
            self.found.promises[tested.trailing_zeros() as usize].tested += 1;
            tested &= tested - 1;
        }
        // What a promise remembers of numbers need not be true of a tree that was taken for one with the same order.
        let broken: &[_] = if self.config.ranks { &[] } else { &findings.broken };
        for (promise, violation) in broken {
            let owed = violation.violated_assumption.is_none();
            let report = &self.found.promises[*promise];
            let known = if owed { &report.broken } else { &report.expected };
            // What leaves the verdict open is told before what is expected.
            let open = Some(Assumption::NobodyMeantToWait);
            let is_open = |assumption| !owed && assumption == open;
            if known.as_ref().is_none_or(|known| {
                is_open(violation.violated_assumption) && !is_open(known.violated_assumption)
            }) {
                let example =
                    self.counterexample(*promise, violation, &path(tree, at.state, at.nth.as_slice()));
                let report = &mut self.found.promises[*promise];
                let place = if owed { &mut report.broken } else { &mut report.expected };
                *place = Some(example);
            }
            if owed && self.found.violated.is_none_or(|(_, shortest)| at.steps < shortest) {
                self.found.violated = Some((*promise, at.steps));
            }
        }
    }

    fn counterexample(&self, promise: usize, violation: &Violation, path: &[usize]) -> Counterexample {
        let most = self.config.inevitable_within.filter(|_| violation.violated_assumption.is_none());
        let gives_up = |most| move |states| states >= most || self.limits().reached(self.started).is_some();
        let inevitable_from =
            most.and_then(|most| inevitable_from(self.model, path, promise, &gives_up(most)));
        Counterexample { inevitable_from, ..self.retraced(violation, path) }
    }

    fn retraced(&self, violation: &Violation, path: &[usize]) -> Counterexample {
        let (what, violated_assumption) = (violation.what.clone(), violation.violated_assumption);
        let (steps, scenes, script) = retrace(self.model, path);
        Counterexample { what, violated_assumption, steps, scenes, script, ..Counterexample::default() }
    }
}

/// The numbers of the actions from the start to a state, and then these.
fn path(tree: &Tree, state: Number, then: &[u16]) -> Vec<usize> {
    let (_, path) = tree.path(state);
    path.iter().chain(then).map(|nth| usize::from(*nth)).collect()
}

/// Takes the actions of these numbers from the first state on, and tells each in a line, as data to be drawn, and all
/// as a script. A step that panics is the last, and has no scene.
pub(crate) fn retrace(model: &RecipeModel, path: &[usize]) -> (Vec<String>, Vec<Scene>, Vec<ScriptStep>) {
    let mut state = model.init().state;
    let (mut lines, mut scenes, mut story) = (Vec::new(), Vec::new(), Story::new(&state));
    let mut script = Vec::new();
    for &nth in path {
        let action = model.all_actions(&state)[nth];
        script.extend(script_step(model, &state, action));
        match quietly(|| model.step(&state, action)) {
            Ok(taken) => {
                lines.push(describe(&state, action, &taken));
                scenes.push(story.step(&state, action, &taken));
                state = taken.state;
            }
            // A promise's: without them there is a step.
            Err(what) => {
                let monitors = Arc::new(Monitors::new(Vec::new(), state.monitors.seen.len()));
                let unseen = State { monitors, ..state.clone() };
                lines.push(match quietly(|| model.step(&unseen, action)) {
                    Ok(taken) => describe(&unseen, action, &taken),
                    Err(_) => format!("{action:?}: panics: {what}"),
                });
            }
        }
    }
    // Else its code would begin at once elsewhere.
    let is_known = |p| {
        let mut own = script.iter().filter(|step| !matches!(step, ScriptStep::CatchUp(_)));
        own.any(|step| step.process() == Some(p))
    };
    let unbegun = state.clients.iter().filter(|client| client.phase == Phase::Unbegun);
    let unbegun = unbegun.map(|client| client.actor()).filter(|actor| actor.life == 0);
    let last: Vec<_> = unbegun.map(|actor| actor.process).filter(|p| !is_known(*p)).collect();
    script.extend(last.into_iter().map(ScriptStep::Begin));
    (lines, scenes, script)
}

/// The case that a state was reached in which nothing moves any more, and what is left was judged.
pub const AT_REST: &str = "nothing moved any more";

/// How often interesting cases were reached, against checks that hold because nothing happens.
#[derive(Debug, Default)]
struct Sometimes {
    quiet: u64,
    expiry: u64,
    unanswered: u64,
    unserved: u64,
    in_flight: u64,
    crash: u64,
    pause: u64,
    restart: u64,
    admin: u64,
    stale: u64,
    finished: u64,
}

impl Sometimes {
    fn count(&mut self, state: &State, action: Action, taken: &Taken) {
        let is_done = |state: &State| state.clients.iter().all(|client| client.node.is_done);
        self.stale += u64::from(taken.stale);
        match action {
            Action::Expire(_) => self.expiry += 1,
            Action::Crash(_) => self.crash += 1,
            Action::Pause(_) => self.pause += 1,
            Action::Begin(_, _) | Action::Early(_, _) => {
                self.restart += u64::from(taken.state.left.restarts < state.left.restarts);
            }
            Action::Delete(_) | Action::Set(..) => self.admin += 1,
            Action::Drop(me, ghosts) => {
                let client = &state.clients[usize::from(me)];
                self.unanswered += u64::from(!client.inbox.is_empty());
                self.unserved += u64::from(client.queue.len() > usize::from(ghosts));
                self.in_flight += u64::from(ghosts > 0);
            }
            _ => self.finished += u64::from(is_done(&taken.state)),
        }
    }

    fn list(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("a session expired", self.expiry),
            ("a connection dropped with an answer or an event lost", self.unanswered),
            ("a connection dropped with a request lost", self.unserved),
            ("a connection dropped with a write in flight", self.in_flight),
            ("a process crashed", self.crash),
            ("a process was paused", self.pause),
            ("a process began another life", self.restart),
            ("an administrator changed something", self.admin),
            ("a read was served from an old state", self.stale),
            ("every process came to its end", self.finished),
            (AT_REST, self.quiet),
        ]
    }
}

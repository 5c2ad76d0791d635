//! Whether the model can show what the world showed.

use super::actor::Fuzzed;
use super::program::Program;
use super::world::{Change, Seen, change, told};
use std::collections::{BTreeSet, BinaryHeap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zk_model::CheckConfig;
use zk_model::actions::Action;
use zk_model::model::{RecipeModel, Taken};
use zk_model::reads::Reads;
use zk_model::state::{Left, State};
use zk_trials::event::Event;
use zk_trials::trial::Bounds;

/// What the model says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It shows the same, after so many states.
    Shown,
    /// It cannot. What the run that came nearest told.
    NotShown { nearest: Vec<Vec<String>> },
    /// The search was cut short.
    Cut,
    /// The model itself is broken.
    Broken(String),
}

/// How many states a search may look at: where transactions take effect in the order of the world, and where not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) in_order: usize,
    pub(crate) in_any: usize,
}

pub(crate) fn model(program: &Arc<Program>, bounds: Bounds, varied: Reads) -> RecipeModel {
    let config = CheckConfig { livelock: false, ..CheckConfig::new(bounds) };
    RecipeModel::new(Arc::new(Fuzzed { program: program.clone(), log: None }), &config, varied)
}

/// What comes of a model that varies whatever its processes read on the way.
fn with_all_that_is_read<T>(
    program: &Arc<Program>,
    bounds: Bounds,
    look: impl Fn(&RecipeModel) -> T,
    is_final: impl Fn(&T) -> bool,
) -> T {
    let mut varied = Reads::default();
    loop {
        let model = model(program, bounds, varied);
        let found = look(&model);
        if is_final(&found) || varied.has(model.reads()) {
            return found;
        }
        varied = varied.and(model.reads());
    }
}

/// Looks for a run of the model in which each process tells the same.
pub(crate) fn follow(program: &Arc<Program>, seen: &Seen, effort: Effort) -> Answer {
    let in_order = |model: &RecipeModel| {
        let first = Search::new(model, seen, true).run(effort.in_order);
        match first {
            Answer::Shown | Answer::Broken(_) => first,
            Answer::NotShown { .. } | Answer::Cut => Search::new(model, seen, false).run(effort.in_any),
        }
    };
    with_all_that_is_read(program, seen.bounds, in_order, |answer| *answer == Answer::Shown)
}

struct Search<'a> {
    model: &'a RecipeModel,
    seen: &'a Seen,
    /// Whether transactions take effect in the order of the world.
    ordered: bool,
    known: HashSet<(u64, At)>,
    open: BinaryHeap<Open>,
    number: u64,
    nearest: At,
    broken: Option<String>,
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct At {
    says: Vec<u16>,
    changes: u16,
}

impl At {
    fn told(&self) -> usize {
        self.says.iter().map(|n| usize::from(*n)).sum()
    }
}

/// A state to go on from. The furthest first, then that with the fewest faults, then the newest.
struct Open {
    key: (usize, std::cmp::Reverse<u32>, u64),
    state: State,
    at: At,
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.key == other.key
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Open) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// How many faults there may still be.
fn left(left: &Left) -> u32 {
    let Left { expiries, drops, crashes, pauses, restarts, admin } = *left;
    [expiries, drops, crashes, pauses, restarts, admin].map(u32::from).iter().sum()
}

impl<'a> Search<'a> {
    fn new(model: &'a RecipeModel, seen: &'a Seen, ordered: bool) -> Search<'a> {
        let nearest = At { says: vec![0; seen.says.len()], changes: 0 };
        Search {
            model,
            seen,
            ordered,
            known: HashSet::new(),
            open: BinaryHeap::new(),
            number: 0,
            nearest,
            broken: None,
        }
    }

    fn run(mut self, most: usize) -> Answer {
        let start = self.nearest.clone();
        match caught(|| self.model.init()) {
            Ok(taken) => self.reach(taken, &start),
            Err(what) => return Answer::Broken(what),
        }
        let mut actions = Vec::new();
        while let Some(Open { state, at, .. }) = self.open.pop() {
            actions.clear();
            let free = self.model.actions(&state, &mut actions);
            if free == 0 && self.is_all(&at) {
                return Answer::Shown;
            }
            if self.known.len() > most {
                return Answer::Cut;
            }
            // What is put there last is looked at first.
            for action in actions.iter().rev() {
                match self.step(&state, *action) {
                    Ok(taken) => self.reach(taken, &at),
                    Err(what) => return Answer::Broken(what),
                }
                if let Some(what) = self.broken.take() {
                    return Answer::Broken(what);
                }
            }
        }
        let nearest = self.seen.says.iter().zip(&self.nearest.says);
        let nearest = nearest.map(|(says, n)| says[..usize::from(*n)].to_vec()).collect();
        Answer::NotShown { nearest }
    }

    fn step(&self, state: &State, action: Action) -> Result<Taken, String> {
        caught(|| self.model.step(state, action))
    }

    fn is_all(&self, at: &At) -> bool {
        let told = self.seen.says.iter().zip(&at.says).all(|(says, n)| says.len() == usize::from(*n));
        told && (!self.ordered || usize::from(at.changes) == self.seen.changes.len())
    }

    fn reach(&mut self, taken: Taken, before: &At) {
        if let Some((nth, violation)) = taken.findings.broken.first() {
            self.broken = Some(format!("{}: {}", self.model.promises[*nth], violation.what));
            return;
        }
        let mut at = before.clone();
        for event in taken.events.iter().flat_map(|events| &events.items) {
            if !self.goes_on(&mut at, event) {
                return;
            }
        }
        if at.told() > self.nearest.told() {
            self.nearest = at.clone();
        }
        if !self.known.insert((taken.state.fingerprint, at.clone())) {
            return;
        }
        self.number += 1;
        let spent = left(&Left::of(&self.model.bounds)) - left(&taken.state.left);
        let key = (at.told() + usize::from(at.changes), std::cmp::Reverse(spent), self.number);
        self.open.push(Open { key, state: taken.state, at });
    }

    /// Whether an event is what comes next in the world.
    fn goes_on(&self, at: &mut At, event: &Event) -> bool {
        match event {
            Event::Says { actor, what } => {
                let Some((name, about, _)) = what.told() else { return true };
                let place = &mut at.says[usize::from(actor.process)];
                let next = self.seen.says[usize::from(actor.process)].get(usize::from(*place));
                *place += 1;
                next.is_some_and(|next| *next == told(name, about))
            }
            Event::Is(fact) if self.ordered => {
                let Some(change) = change(fact) else { return true };
                let next: Option<&Change> = self.seen.changes.get(usize::from(at.changes));
                at.changes += 1;
                next == Some(&change)
            }
            Event::Is(_) => true,
        }
    }
}

/// What a panic says.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("the model panics: {}", text.unwrap_or_default())
    })
}

/// All that the processes can tell, if there are no more than so many states.
pub(crate) fn outcomes(
    program: &Arc<Program>,
    bounds: Bounds,
    most: usize,
) -> Option<BTreeSet<Vec<Vec<String>>>> {
    let all = |model: &RecipeModel| outcomes_of(model, program.processes.len(), most);
    with_all_that_is_read(program, bounds, all, Option::is_none)
}

fn outcomes_of(model: &RecipeModel, processes: usize, most: usize) -> Option<BTreeSet<Vec<Vec<String>>>> {
    let mut known = HashSet::new();
    let mut outcomes = BTreeSet::new();
    let mut open: Vec<(State, Vec<Vec<String>>)> = Vec::new();
    let reach = |taken: Taken, before: &[Vec<String>]| {
        let mut says = before.to_vec();
        for event in taken.events.iter().flat_map(|events| &events.items) {
            if let Event::Says { actor, what } = event
                && let Some((name, about, _)) = what.told()
            {
                says[usize::from(actor.process)].push(told(name, about));
            }
        }
        (taken.state, says)
    };
    let mut add = |(state, says): (State, Vec<Vec<String>>), open: &mut Vec<_>| {
        let mut hasher = DefaultHasher::new();
        says.hash(&mut hasher);
        if known.insert((state.fingerprint, hasher.finish())) {
            open.push((state, says));
        }
        known.len()
    };
    add(reach(model.init(), &vec![Vec::new(); processes]), &mut open);
    let mut actions = Vec::new();
    while let Some((state, says)) = open.pop() {
        actions.clear();
        if model.actions(&state, &mut actions) == 0 {
            outcomes.insert(says.clone());
        }
        for action in &actions {
            if add(reach(model.step(&state, *action), &says), &mut open) > most {
                return None;
            }
        }
    }
    Some(outcomes)
}

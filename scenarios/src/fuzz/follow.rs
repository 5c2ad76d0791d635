//! Whether the model can show what the simulator showed.

use super::actor::Fuzzed;
use super::blind::Blind;
use super::program::Program;
use super::simulation::{Change, Mark, Says, Seen, change, told};
use crate::run::message;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zk_harness::event::Event;
use zk_harness::trial::Bounds;
use zk_model::CheckConfig;
use zk_model::actions::Action;
use zk_model::link::Phase;
use zk_model::model::{RecipeModel, Taken};
use zk_model::reads::Reads;
use zk_model::state::{Left, State};
use zk_model::symmetry::actor_of;

/// What the model says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It shows the same. `unheard`: by the loss of a connection that nobody noticed.
    Shown { unheard: bool },
    /// It cannot. What the run that came nearest told.
    NotShown { nearest: Says },
    /// The search was cut short.
    Cut,
    /// The model itself is broken.
    Broken(String),
}

/// How many states a search may look at.
pub(crate) type Effort = usize;

/// What a model of a program is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Like {
    pub(crate) bounds: Bounds,
    pub(crate) blind: Option<Blind>,
}

fn model(program: &Arc<Program>, like: Like, varied: Reads) -> RecipeModel {
    let config = CheckConfig { livelock: false, ..CheckConfig::new(like.bounds) };
    let anonymous = like.blind == Some(Blind::Identities);
    RecipeModel::new(
        Arc::new(Fuzzed { program: program.clone(), log: None, anonymous }.trial()),
        &config,
        varied,
    )
}

/// Whether all processes have ended: a run of the simulator is over some time after that, whatever other tasks they
/// have.
fn is_over(state: &State) -> bool {
    state.clients.iter().all(|client| client.node.end.is_some() || client.phase == Phase::Crashed)
}

/// What can happen next in a model that is blind to something; gives how many of these come by themselves, and first.
fn actions(model: &RecipeModel, blind: Option<Blind>, state: &State, actions: &mut Vec<Action>) -> usize {
    actions.clear();
    let free = model.actions(state, actions);
    let Some(blind) = blind else { return free };
    let mut faults = actions.split_off(free);
    let is_there = |action: &Action| !blind.leaves_out(state, *action);
    actions.retain(is_there);
    let free = actions.len();
    faults.retain(is_there);
    actions.append(&mut faults);
    free
}

/// What comes of a model that varies whatever its processes read on the way.
fn with_all_that_is_read<T>(
    program: &Arc<Program>,
    like: Like,
    look: impl Fn(&RecipeModel) -> T,
    is_cut: impl Fn(&T) -> bool,
) -> T {
    let mut varied = Reads::at_first();
    loop {
        let model = model(program, like, varied);
        let found = look(&model);
        let read = model.reads().without(like.blind.map_or(Reads::default(), Blind::unread));
        if is_cut(&found) || varied.has(read) {
            return found;
        }
        varied = varied.and(read);
    }
}

/// How often clients may have found no server while nobody waited for what failed by that: no record tells.
const UNHEARD_DROPS: u8 = 2;

/// Looks for a run of the model in which each process tells the same, and all in the same order.
pub(crate) fn follow(program: &Arc<Program>, seen: &Seen, effort: Effort, blind: Option<Blind>) -> Answer {
    let with_drops = |more: u8| {
        let in_order = |model: &RecipeModel| Search::new(model, seen, more > 0, blind).run(effort);
        let bounds = Bounds { drops: seen.bounds.drops.saturating_add(more), ..seen.bounds };
        with_all_that_is_read(program, Like { bounds, blind }, in_order, |_| false)
    };
    match with_drops(0) {
        Answer::NotShown { .. } => with_drops(UNHEARD_DROPS),
        answer => answer,
    }
}

struct Search<'a> {
    model: &'a RecipeModel,
    seen: &'a Seen,
    /// Drops may meet anybody.
    unheard: bool,
    blind: Option<Blind>,
    known: HashSet<(u64, At)>,
    /// The states to go on from. The furthest is taken first, then that with the fewest faults, then the newest.
    open: BTreeMap<(usize, Reverse<u32>, u64), (State, At)>,
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

/// How many faults there may still be.
fn left(left: &Left) -> u32 {
    let Left { expiries, drops, crashes, pauses, restarts, admin } = *left;
    [expiries, drops, crashes, pauses, restarts, admin].map(u32::from).iter().sum()
}

impl<'a> Search<'a> {
    fn new(model: &'a RecipeModel, seen: &'a Seen, unheard: bool, blind: Option<Blind>) -> Search<'a> {
        let nearest = At { says: vec![0; seen.says.len()], changes: 0 };
        Search {
            model,
            seen,
            unheard,
            blind,
            known: HashSet::new(),
            open: BTreeMap::new(),
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
        let mut next = Vec::new();
        while let Some((_, (state, at))) = self.open.pop_last() {
            let free = actions(self.model, self.blind, &state, &mut next);
            if (free == 0 || is_over(&state)) && self.is_all(&at) {
                return Answer::Shown { unheard: self.unheard };
            }
            if self.known.len() > most {
                return Answer::Cut;
            }
            let waits = next[..free].iter().all(|action| matches!(action, Action::CatchUp(_)));
            next.retain(|action| self.is_worth(&state, *action, &at, waits));
            // What is put there last is looked at first.
            for action in next.iter().rev() {
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

    /// Whether a step can be on the way. Faults meet whom they have met in the simulator. A view that nobody looks at,
    /// with no request to be served, no watch to fire and no end of its session to be learnt, may as well change later:
    /// nobody can tell when it did, as it may lag behind all there is. `waits`: nothing else is left to do.
    fn is_worth(&self, state: &State, action: Action, at: &At, waits: bool) -> bool {
        let met = &self.seen.met;
        let process = |me: u8| state.clients[usize::from(me)].actor().process;
        match action {
            Action::Drop(me, _) => self.unheard || met.drops.contains(&process(me)),
            Action::Expire(me) | Action::FalseExpiry(me) => {
                let client = &state.clients[usize::from(me)];
                // That of one who keeps it alive no more has to come.
                let is_fault = client.phase == Phase::Running && !client.state.is_final();
                !is_fault || met.expiries.contains(&process(me))
            }
            Action::Crash(me) => met.crashes.contains(&process(me)),
            Action::Delete(_) | Action::Set(..) => {
                let next = self.seen.changes.get(usize::from(at.changes));
                next.is_some_and(Change::is_administrators)
            }
            Action::CatchUp(me) => {
                let (service, place) = (&state.service, usize::from(me));
                let client = &state.clients[place];
                let is_asked = !client.queue.is_empty() || !client.lives;
                waits || is_asked || service.watches(place) || service.registers(place)
            }
            _ => true,
        }
    }

    fn step(&self, state: &State, action: Action) -> Result<Taken, String> {
        caught(|| self.model.step(state, action))
    }

    fn is_all(&self, at: &At) -> bool {
        let told = self.seen.says.iter().zip(&at.says).all(|(says, n)| says.len() == usize::from(*n));
        told && usize::from(at.changes) == self.seen.changes.len()
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
        let spent = left(&Left::of(&self.model.scope.bounds)) - left(&taken.state.left);
        let key = (at.told() + usize::from(at.changes), Reverse(spent), self.number);
        self.open.insert(key, (taken.state, at));
    }

    /// Whether it is this process that tells something next, and everything that took effect before has done so.
    fn is_told_next(&self, at: &At, process: u16) -> bool {
        let mut told = self.seen.order.iter().enumerate().filter(|(_, mark)| **mark != Mark::Changed);
        told.nth(at.told()).is_some_and(|(place, mark)| {
            *mark == Mark::Told(process) && place <= at.told() + usize::from(at.changes)
        })
    }

    /// Whether this takes effect next, and everything that was told before has been told. A write whose connection is
    /// lost takes effect in a model before what its client asks next, which may be answered by a server that is behind:
    /// then it is only seen later, and in the simulator it may come later.
    fn is_changed_next(&self, at: &At, change: &Change) -> bool {
        let nth = usize::from(at.changes);
        let mut changed = self.seen.order.iter().enumerate().filter(|(_, mark)| **mark == Mark::Changed);
        let is_in_place = changed.nth(nth).is_some_and(|(place, _)| place == at.told() + nth);
        let is_of_lost = |by| self.unheard || self.seen.met.drops.contains(&by);
        let may_be_early = change.by.is_some_and(is_of_lost) && !change.is_end();
        self.seen.changes.get(nth) == Some(change) && (may_be_early || is_in_place)
    }

    /// Whether an event is what comes next in the simulator.
    fn goes_on(&self, at: &mut At, event: &Event) -> bool {
        match event {
            Event::Observed { actor, what } => {
                let Some((name, about, _)) = what.told() else { return true };
                let is_next = self.is_told_next(at, actor.process);
                let place = &mut at.says[usize::from(actor.process)];
                let next = self.seen.says[usize::from(actor.process)].get(usize::from(*place));
                *place += 1;
                is_next && next.is_some_and(|next| *next == told(name.text(), about))
            }
            Event::Is(truth) => {
                let owner = |session| actor_of(session).map(|actor| actor.process);
                let Some(change) = change(truth, owner) else { return true };
                let is_next = self.is_changed_next(at, &change);
                at.changes += 1;
                is_next
            }
        }
    }
}

/// What a panic says.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| format!("the model panics: {}", message(&*panic).unwrap_or_default()))
}

/// All that the processes can tell, if there are no more than so many states.
pub(crate) fn outcomes(program: &Arc<Program>, like: Like, most: usize) -> Option<BTreeSet<Says>> {
    let all = |model: &RecipeModel| outcomes_of(model, like.blind, program.processes.len(), most);
    with_all_that_is_read(program, like, all, Option::is_none)
}

fn outcomes_of(
    model: &RecipeModel,
    blind: Option<Blind>,
    processes: usize,
    most: usize,
) -> Option<BTreeSet<Says>> {
    let mut texts = Texts::default();
    let mut known = HashSet::new();
    let mut outcomes = HashSet::new();
    let mut open: Vec<(State, Vec<usize>)> = Vec::new();
    let mut reach = |taken: Taken, before: &[usize], open: &mut Vec<_>| {
        let mut says = before.to_vec();
        for event in taken.events.iter().flat_map(|events| &events.items) {
            if let Event::Observed { actor, what } = event
                && let Some((name, about, _)) = what.told()
            {
                let text = &mut says[usize::from(actor.process)];
                *text = texts.then(*text, told(name.text(), about));
            }
        }
        if known.insert((taken.state.fingerprint, says.clone())) {
            open.push((taken.state, says));
        }
        known.len()
    };
    reach(model.init(), &vec![Texts::EMPTY; processes], &mut open);
    let mut next = Vec::new();
    while let Some((state, says)) = open.pop() {
        if actions(model, blind, &state, &mut next) == 0 {
            outcomes.insert(says.clone());
        }
        for action in &next {
            if reach(model.step(&state, *action), &says, &mut open) > most {
                return None;
            }
        }
    }
    Some(outcomes.into_iter().map(|says| says.into_iter().map(|text| texts.all(text)).collect()).collect())
}

/// What a process has told so far, by number: each continues an earlier one by something more.
#[derive(Default)]
struct Texts {
    numbers: HashMap<(usize, String), usize>,
    /// The text that each continues, and by what; the first continues [`Texts::EMPTY`].
    texts: Vec<(usize, String)>,
}

impl Texts {
    const EMPTY: usize = 0;

    fn then(&mut self, text: usize, more: String) -> usize {
        let next = self.texts.len() + 1;
        let number = *self.numbers.entry((text, more.clone())).or_insert(next);
        if number == next {
            self.texts.push((text, more));
        }
        number
    }

    fn all(&self, mut text: usize) -> Vec<String> {
        let mut all = Vec::new();
        while text != Texts::EMPTY {
            let (before, more) = &self.texts[text - 1];
            all.push(more.clone());
            text = *before;
        }
        all.reverse();
        all
    }
}

//! The shortest way to something, within small bounds: a breadth-first search, as `explore` is a depth-first one.
//!
//! A state is kept as the way that leads there, and made again when its turn comes.

use crate::zab::explore::{Budget, actions, fingerprint, forget_idle_timers};
use crate::zab::rig::{Action, Rig};
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// What a search has come to.
#[derive(Debug)]
pub struct Nearest<T> {
    /// How many states were seen.
    pub states: usize,
    /// What was looked for, and after how many actions.
    pub found: Option<(T, usize)>,
}

/// A state, by its last action and the state before.
struct Way {
    action: Action,
    before: Option<Rc<Way>>,
    depth: usize,
}

fn replay(start: &Rig, budget: Budget, way: Option<&Rc<Way>>) -> (Rig, Budget) {
    let mut actions = Vec::new();
    let mut at = way;
    while let Some(way) = at {
        actions.push(way.action);
        at = way.before.as_ref();
    }
    let mut state = (start.clone(), budget);
    for action in actions.into_iter().rev() {
        state = follow(&state.0, state.1, action).expect("it was within the bounds before");
    }
    state
}

fn follow(rig: &Rig, budget: Budget, action: Action) -> Option<(Rig, Budget)> {
    let budget = budget.after(&action)?;
    let mut rig = rig.clone();
    rig.act(action);
    forget_idle_timers(&mut rig);
    Some((rig, budget))
}

/// Looks for the nearest state that is `wanted`, among the first so many.
pub fn nearest<T>(
    mut start: Rig,
    budget: Budget,
    states_max: usize,
    wanted: impl Fn(&Rig) -> Option<T>,
) -> Nearest<T> {
    forget_idle_timers(&mut start);
    let mut known = HashSet::from([fingerprint(&start, budget)]);
    let mut frontier: VecDeque<Option<Rc<Way>>> = VecDeque::from([None]);
    while let Some(way) = frontier.pop_front() {
        let (rig, left) = replay(&start, budget, way.as_ref());
        let depth = way.as_ref().map_or(0, |way| way.depth) + 1;
        for action in actions(&rig) {
            let Some((next, left)) = follow(&rig, left, action) else { continue };
            if !known.insert(fingerprint(&next, left)) {
                continue;
            }
            let states = known.len();
            if let Some(found) = wanted(&next) {
                return Nearest { states, found: Some((found, depth)) };
            }
            if states >= states_max {
                return Nearest { states, found: None };
            }
            frontier.push_back(Some(Rc::new(Way { action, before: way.clone(), depth })));
        }
    }
    Nearest { states: known.len(), found: None }
}

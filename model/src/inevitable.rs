//! From which step of a counterexample on its promise is broken whatever happens.

use crate::action::Action;
use crate::model::RecipeModel;
use crate::monitors::Findings;
use crate::quiet::quietly;
use crate::state::State;
use std::collections::HashMap;

/// What comes after a state, as far as it avoids the break.
enum After {
    /// In some continuation the promise is kept for good.
    Avoided,
    /// In none.
    Broken,
    /// There were too many to look at all of them.
    Unknown,
}

/// A continuation of so many steps is followed no further: each step of one that never ends replays a longer history.
const LONGEST: usize = 300;

/// The first step, counted from 1, behind which every continuation within the bounds breaks the promise of this number
/// where it is owed; 0 if each does from the start. `None` if that was not found out before `gives_up` said so, which
/// is asked with the number of states that were looked at behind one step.
///
/// A continuation ends where nothing moves unless a fault makes it. One that goes round for ever avoids the break.
pub fn inevitable_from(
    model: &RecipeModel,
    path: &[usize],
    promise: usize,
    gives_up: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let states = states(model, path)?;
    // What is lost stays lost: the states are halved. Behind the last one it is broken.
    let (mut first, mut last) = (0, path.len());
    while first < last {
        let middle = first + (last - first) / 2;
        match after(model, states.get(middle)?, promise, gives_up) {
            After::Avoided => first = middle + 1,
            After::Broken => last = middle,
            After::Unknown => return None,
        }
    }
    Some(first)
}

/// The states on the way, but for the last.
fn states(model: &RecipeModel, path: &[usize]) -> Option<Vec<State>> {
    let mut states = vec![quietly(|| model.init()).ok()?.state];
    for nth in &path[..path.len().saturating_sub(1)] {
        let state = states.last()?;
        let action = *model.all_actions(state).get(*nth)?;
        let next = quietly(|| model.step(state, action)).ok()?.state;
        states.push(next);
    }
    Some(states)
}

/// Whether the promise is broken where it is owed.
fn breaks(findings: &Findings, promise: usize) -> bool {
    findings.broken.iter().any(|(nth, violation)| *nth == promise && violation.violated_assumption.is_none())
}

/// A state on the way to where the search is, and what is still to be tried there.
struct Open {
    fingerprint: u64,
    state: State,
    left: Vec<Action>,
}

/// Looks for a continuation that keeps the promise: to an end, or round to a state that it has come from.
fn after(model: &RecipeModel, from: &State, promise: usize, gives_up: &dyn Fn(usize) -> bool) -> After {
    // Whether a state is on the way; of one that is not, nothing that avoids the break comes.
    let mut known: HashMap<u64, bool> = HashMap::new();
    let Some(first) = open(model, from.clone(), promise) else { return After::Avoided };
    known.insert(first.fingerprint, true);
    let mut way = vec![first];
    while let Some(open_now) = way.last_mut() {
        let Some(action) = open_now.left.pop() else {
            known.insert(open_now.fingerprint, false);
            way.pop();
            continue;
        };
        // What panics is no way to keep it.
        let Ok(taken) = quietly(|| model.step(&open_now.state, action)) else { continue };
        if breaks(&taken.findings, promise) {
            continue;
        }
        match known.get(&taken.state.fingerprint) {
            Some(true) => return After::Avoided,
            Some(false) => continue,
            None if way.len() >= LONGEST || gives_up(known.len()) => return After::Unknown,
            None => {}
        }
        let Some(next) = open(model, taken.state, promise) else { return After::Avoided };
        known.insert(next.fingerprint, true);
        way.push(next);
    }
    After::Broken
}

/// What can come of a state; `None` if it may be the end, and the promise is kept there.
fn open(model: &RecipeModel, state: State, promise: usize) -> Option<Open> {
    let mut left = Vec::new();
    let free = model.actions(&state, &mut left);
    let is_kept = free == 0 && quietly(|| model.rest(&state)).is_ok_and(|found| !breaks(&found, promise));
    // What moves by itself is tried first: without further faults it is over sooner.
    left.rotate_left(free);
    (!is_kept).then_some(Open { fingerprint: state.fingerprint, state, left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{CheckConfig, Verdict, check};
    use crate::reads::Reads;
    use std::collections::HashSet;
    use std::sync::Arc;
    use zk_harness::event::End;
    use zk_harness::trial::Trial;

    /// The end of each continuation that breaks nothing on its way, without a promise's breaks; no way may go round.
    fn kept_ends(model: &RecipeModel, from: State, promise: usize) -> usize {
        let (mut known, mut open, mut kept) = (HashSet::new(), vec![from], 0);
        while let Some(state) = open.pop() {
            let mut actions = Vec::new();
            if model.actions(&state, &mut actions) == 0 && !breaks(&model.rest(&state), promise) {
                kept += 1;
            }
            for action in actions {
                let taken = model.step(&state, action);
                if !breaks(&taken.findings, promise) && known.insert(taken.state.fingerprint) {
                    open.push(taken.state);
                }
            }
        }
        kept
    }

    fn trial(name: &str) -> Arc<Trial> {
        zk_catalogue::trials().into_iter().find(|trial| trial.about.name == name).expect("it is there")
    }

    /// The state behind the first steps of the counterexample by which a variant is known, and what it says.
    fn behind(name: &str, config: &CheckConfig, steps: usize) -> (RecipeModel, State, usize) {
        let model = RecipeModel::new(trial(name), config, Reads::default());
        let promise = model.to_break.expect("it is known to break");
        let told = example(name, config).0;
        let mut state = model.init().state;
        for line in &told[..steps] {
            let mut actions = Vec::new();
            model.actions(&state, &mut actions);
            let is_it = |action: &Action| {
                let taken = model.step(&state, *action);
                (*line == crate::describe::describe(&state, *action, &taken)).then_some(taken.state)
            };
            state = actions.iter().find_map(is_it).expect("a step can be taken");
        }
        (model, state, promise)
    }

    fn example(name: &str, config: &CheckConfig) -> (Vec<String>, Option<usize>) {
        let found = check(trial(name), config, &mut |_| {});
        let Verdict::Violated { .. } = found.verdict else { panic!("{name}: {:?}", found.verdict) };
        let known = trial(name).about.breaks.expect("it is known to break").promise;
        let report = found.promises.into_iter().find(|report| report.name == known).expect("it is promised");
        let example = report.broken.expect("it is broken");
        (example.steps, example.inevitable_from)
    }

    #[test]
    fn nothing_avoids_the_break_behind_the_step_and_something_does_before_it() {
        for (name, last) in [("lock/simple", 7), ("queue/herd", 7), ("barrier/no-recheck", 0)] {
            let about = trial(name).about;
            let config = CheckConfig { reductions: about.reductions, ..CheckConfig::new(about.bounds) };
            let config = CheckConfig { inevitable_within: Some(10_000), ..config };
            let (steps, from) = example(name, &config);
            let last = if last == 0 { steps.len() } else { last };
            assert_eq!(from, Some(last), "{name}: {steps:#?}");
            let (model, state, promise) = behind(name, &config, last - 1);
            assert!(kept_ends(&model, state, promise) > 0, "{name}");
            if last < steps.len() {
                let (model, state, promise) = behind(name, &config, last);
                assert_eq!(kept_ends(&model, state, promise), 0, "{name}");
            }
        }
    }

    #[test]
    fn a_continuation_without_an_end_is_given_up() {
        let endless = Trial::new("endless", |zk, _, role| async move {
            let path: zk_api::ZPath = "/t".parse().expect("it is a path");
            if role.me.process == 0 {
                loop {
                    let _ = zk.set_data(&path, zk_api::Data::NULL, -1).await;
                }
            }
            End::Failed
        });
        let endless = Arc::new(endless.setup(["/t"]));
        let config =
            CheckConfig { inevitable_within: Some(usize::MAX), ..CheckConfig::new(endless.about.bounds) };
        let found = check(endless, &config, &mut |_| {});
        let report =
            found.promises.iter().find(|report| report.name == "no-failure").expect("it is a standard one");
        assert!(report.broken.as_ref().expect("it is broken").inevitable_from.is_none());
    }

    #[test]
    fn nothing_is_said_where_not_every_continuation_was_looked_at() {
        let bounds = trial("lock/simple").about.bounds;
        let config = CheckConfig { inevitable_within: Some(1), ..CheckConfig::new(bounds) };
        assert_eq!(example("lock/simple", &config).1, None);
    }
}

//! Every trial by both engines, against what the catalogue expects of it.

mod arguments;
mod herd;

pub(crate) use arguments::{Contenders, JudgeArguments, JudgeFormat, MAX_STATES};
pub(crate) use herd::herd;

use crate::BadInput;
use crate::check::default_config;
use crate::run::{SeedRange, Target, default_jobs, each_of, sweep};
use crate::trial_list::Trials;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;
use zk_harness::trial::{FoundBy, Trial};
use zk_model::CheckConfig;
use zk_reports::{
    Answer, CheckReport, Engines, Expected, JUDGE_SCHEMA, JudgeReport, JudgedPromise, JudgedTrial,
    SweepReport, Verdict, each_once,
};

pub(crate) const ABOUT: &str = "\
Judges recipes and variants by both engines, against what the catalogue expects

Each trial is explored within its own bounds, and run under the same seeds. What
is not catalogued as wrong must hold in every run of the model and under every
seed, each promise having been put to the test; a variant known to be wrong must
be caught by the promise and by the engines that the catalogue names.

Exit 0 if all agree, 1 if something does not, 3 if a search had no end or a
promise was never put to the test.";

/// What is to be judged.
pub(crate) fn trials(catalogue: &Trials, what: &[String]) -> Result<Vec<Arc<Trial>>, BadInput> {
    let is_of = |trial: &Arc<Trial>, what: &str| {
        let name = trial.about.name;
        name == what || name.strip_prefix(what).is_some_and(|rest| rest.starts_with('/'))
    };
    let all = catalogue.trials();
    if let Some(unknown) = what.iter().find(|what| !all.iter().any(|trial| is_of(trial, what))) {
        catalogue.find(unknown)?;
    }
    let is_asked = |trial: &&Arc<Trial>| what.is_empty() || what.iter().any(|what| is_of(trial, what));
    Ok(all.iter().filter(is_asked).cloned().collect())
}

/// How much each trial is given.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    /// The file of the scenario; `None` is the default one.
    pub(crate) scenario: Option<String>,
    pub(crate) seeds: u64,
    pub(crate) max_states: u64,
    /// How many trials at a time.
    pub(crate) jobs: usize,
}

impl JudgeArguments {
    pub(crate) fn effort(&self) -> Effort {
        let jobs = self.jobs.map_or_else(default_jobs, usize::from);
        Effort { scenario: self.scenario.clone(), seeds: self.seeds, max_states: self.max_states, jobs }
    }
}

/// Judges them all. `progress` learns how many are done.
pub(crate) fn judge(
    catalogue: &Trials,
    what: &[String],
    effort: &Effort,
    progress: &mut dyn FnMut(u64),
) -> Result<JudgeReport, BadInput> {
    let began = Instant::now();
    let trials = trials(catalogue, what)?;
    let results = each_of(&trials, effort.jobs, |trial| judge_one(catalogue, trial, effort), progress);
    let trials = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(JudgeReport {
        schema: JUDGE_SCHEMA.into(),
        what: what.to_vec(),
        seeds: effort.seeds,
        max_states: effort.max_states,
        answer: worst(trials.iter().map(|trial| trial.answer)),
        trials,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

pub(crate) fn worst(answers: impl Iterator<Item = Answer>) -> Answer {
    answers.fold(Answer::Held, |worst, answer| match (worst, answer) {
        (Answer::Broken, _) | (_, Answer::Broken) => Answer::Broken,
        (Answer::Undecided, _) | (_, Answer::Undecided) => Answer::Undecided,
        (Answer::Held, Answer::Held) => Answer::Held,
    })
}

pub(crate) fn judge_one(
    catalogue: &Trials,
    trial: &Arc<Trial>,
    effort: &Effort,
) -> Result<JudgedTrial, BadInput> {
    let about = trial.about;
    // Other trials have memory, too: states are a limit for each, and the same on every machine.
    let config =
        CheckConfig { max_states: Some(effort.max_states), max_memory: None, ..default_config(&about) };
    let check = |config: &CheckConfig| crate::check::check(about.name, trial, config, &mut |_| {});
    let model = check(&config);
    // A search for what is known to break stops there; what is known to hold needs one to the end.
    let kept = trial
        .keeps
        .first()
        .map(|kept| check(&CheckConfig { promise: Some(kept.to_string()), ..config.clone() }));
    let target = Target::resolve(catalogue, about.name, effort.scenario.as_deref())?.of_seeds()?;
    // Other trials have the other cores.
    let chaos = sweep(&target, &SeedRange::new(0, effort.seeds)?, 1)?;
    Ok(judged(trial, &model, kept.as_ref(), &chaos))
}

/// Puts the two together. `kept` is the search to the end for a variant that keeps some promises.
fn judged(
    trial: &Trial,
    model: &CheckReport,
    kept: Option<&CheckReport>,
    chaos: &SweepReport,
) -> JudgedTrial {
    let names = model.all().map(|promise| promise.name.as_str());
    let all = names.chain(chaos.invariants.iter().map(|result| result.name.as_str()));
    let owed: BTreeSet<&str> = model.promises.iter().map(|promise| promise.name.as_str()).collect();
    let mut promises = Vec::new();
    for name in each_once(all) {
        let keeps = trial.keeps.contains(&name);
        let searched = if keeps { kept.unwrap_or(model) } else { model };
        let promise = promise(name, searched, chaos, keeps);
        // Of invariants, only breaks are told.
        let broken = promise.model == Verdict::Broken || promise.chaos == Verdict::Broken;
        if owed.contains(name) || broken {
            promises.push(promise);
        }
    }
    let mut judged = JudgedTrial {
        name: model.recipe.clone(),
        about: model.about.clone(),
        source: trial.about.source.into(),
        catalogued: model.catalogued.clone(),
        found_by: match trial.found_by {
            FoundBy::Model => Engines::Model,
            FoundBy::Chaos => Engines::Chaos,
            FoundBy::Both => Engines::Both,
        },
        bounds: model.bounds,
        model: model.verdict,
        ran_out: model.ran_out.clone(),
        states: model.states,
        depth: model.depth,
        scenario: trial.scenario.iter().map(|(key, value)| format!("{key}={value}")).collect(),
        promises,
        wrong: Vec::new(),
        answer: Answer::Held,
    };
    // Of what was never put to the test, `compare` hears promise by promise.
    let ended = |check: &CheckReport| check.exhaustive || check.ran_out.is_none();
    let ended = (ended(model), ended(kept.unwrap_or(model)));
    (judged.wrong, judged.answer) = compare(&judged, ended, &trial.keeps);
    judged
}

fn promise(name: &str, model: &CheckReport, chaos: &SweepReport, keeps: bool) -> JudgedPromise {
    let checked = model.all().find(|promise| promise.name == name);
    let swept = chaos.promise(name);
    let path = checked.and_then(|checked| checked.broken.as_ref().or(checked.expected.as_ref()));
    let expected = match &model.catalogued {
        Some(known) if known.promise == name => Expected::Breaks,
        Some(_) if !keeps => Expected::Either,
        Some(_) | None => Expected::Holds,
    };
    JudgedPromise {
        name: name.into(),
        expected,
        model: checked.map_or(Verdict::NeverTested, |checked| checked.verdict),
        steps: path.map(|path| path.steps.len() as u32),
        chaos: swept.map_or(Verdict::NeverTested, |swept| swept.verdict),
        broken: swept.map_or(0, |swept| swept.broken),
        broken_as_expected: swept.map_or(0, |swept| swept.expected),
        first_seed: chaos.failures.iter().find(|failure| failure.promise == name).map(|failure| failure.seed),
        assumptions: swept.map_or_else(Vec::new, |swept| swept.assumptions.clone()),
    }
}

/// Where engines and catalogue do not agree, and what that comes to. `ended` tells of the search for what is known to
/// break, and of that for what is known to hold.
fn compare(trial: &JudgedTrial, ended: (bool, bool), keeps: &[&str]) -> (Vec<String>, Answer) {
    let (mut wrong, mut open) = (Vec::new(), Vec::new());
    for promise in &trial.promises {
        let name = &promise.name;
        match promise.expected {
            Expected::Either => {}
            Expected::Breaks => {
                let (by_model, by_chaos) =
                    (promise.model == Verdict::Broken, promise.chaos == Verdict::Broken);
                if trial.found_by != Engines::Chaos && !by_model {
                    if ended.0 { &mut wrong } else { &mut open }
                        .push(format!("{name} is not broken in the model"));
                }
                if trial.found_by != Engines::Model && !by_chaos {
                    wrong.push(format!("{name} is broken under no seed"));
                }
            }
            Expected::Holds => {
                if promise.model == Verdict::Broken {
                    wrong.push(format!("{name} is broken in the model"));
                }
                if promise.chaos == Verdict::Broken {
                    let seed =
                        promise.first_seed.map_or(String::new(), |seed| format!(", first under {seed}"));
                    wrong.push(format!("{name} is broken under {} seeds{seed}", promise.broken));
                }
                if [promise.model, promise.chaos].contains(&Verdict::Undecided) {
                    open.push(format!("{name} is undecided: only its author can say whether it is intended"));
                }
                if promise.model == Verdict::NeverTested && promise.chaos == Verdict::NeverTested {
                    open.push(format!("{name} was never put to the test"));
                }
            }
        }
    }
    if let Some(known) = &trial.catalogued
        && !trial.promises.iter().any(|promise| promise.name == known.promise)
    {
        wrong.push(format!("{} is no promise of it", known.promise));
    }
    if (trial.catalogued.is_none() || !keeps.is_empty()) && !ended.1 {
        let ran_out = trial.ran_out.as_deref().unwrap_or("the search was cut short");
        open.push(format!("the model is not explored to the end ({ran_out})"));
    }
    let answer = Answer::found(!wrong.is_empty(), !open.is_empty());
    wrong.append(&mut open);
    (wrong, answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Answer::{Broken, Held, Undecided};

    #[test]
    fn the_worst_answer_counts_wherever_it_stands() {
        let all = |answers: [Answer; 2]| worst(answers.into_iter());
        assert_eq!([all([Held, Undecided]), all([Undecided, Held])], [Undecided; 2]);
        assert_eq!([all([Broken, Undecided]), all([Undecided, Broken])], [Broken; 2]);
        assert_eq!((all([Held, Held]), worst(std::iter::empty())), (Held, Held));
    }
}

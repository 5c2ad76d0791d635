//! How strong the promises of a recipe are: it goes wrong on purpose, in one way after the other.

mod arguments;
mod outcomes;
mod subject;

use crate::BadInput;
use crate::run::{Asked, Target, default_jobs, each_of, is_program};
use crate::trial_list::Trials;
pub(crate) use arguments::MutateArguments;
use outcomes::{Compared, compare};
use std::sync::Arc;
use subject::{Came, NO_END, Subject, within};
use zk_harness::mutation::{Mutated, Mutation, Word};
use zk_harness::trial::{Bounds, Promises};
use zk_model::CheckConfig;
use zk_reports::{MUTATE_SCHEMA, MutateReport, MutateTally, MutatedRecipe, MutationFate, MutationResult};

pub(crate) const ABOUT: &str = "\
Tells how strong a recipe's promises are, by mutations of the recipe

Between the recipe and its session stands a wrapper that does one thing wrong at
its nth occasion: a delete is not sent, a watch is not set, an error is taken for
success. Each such mutation is given the same seeds, and the model within the
recipe's bounds, or as much of them as its model has an end in. It is killed if a
promise that the recipe keeps is broken, or never put to the test any more.

A mutation that is not killed is equivalent if both recipes have the same set of
outcomes in those bounds: what is said, what takes effect, and what is left. Else
it survives, and a run that only one of the two has is told, with the promises of
the library that would notice it. Where a search is cut short, it is not decided.

Exit 0 if enough are killed of those not equivalent, 1 if too few are, and 3 if
that hangs on those that are not decided.";

/// Mutates them all. `progress` learns which recipe it is at, and how many of its mutations are done.
pub(crate) fn mutate(
    catalogue: &Trials,
    how: &MutateArguments,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<MutateReport, BadInput> {
    let all = catalogue.trials().iter().map(|trial| &trial.about);
    let right = || all.filter(|about| about.breaks.is_none()).map(|about| about.name.to_owned()).collect();
    let all: Vec<String> = if how.all_right { right() } else { how.what.clone() };
    let targets: Vec<Target> =
        all.iter().map(|what| target(catalogue, what, how)).collect::<Result<_, _>>()?;
    let mut recipes = Vec::new();
    for target in targets {
        let name = target.trial.about.name;
        progress(name, 0);
        recipes.push(recipe(catalogue, target, how, &mut |done| progress(name, done))?);
    }
    let tally = MutateTally::of(recipes.iter().flat_map(|recipe: &MutatedRecipe| &recipe.mutations));
    Ok(MutateReport {
        schema: MUTATE_SCHEMA.into(),
        seeds: how.seeds,
        max_states: how.max_states,
        occasions: how.occasions,
        at_least: how.at_least,
        recipes,
        answer: tally.answer(how.at_least),
    })
}

/// What is mutated, and the scenario that it is run in. With one server, fewer seeds come to each occasion: it is the
/// recipe that goes wrong, and not the ensemble.
fn target(catalogue: &Trials, what: &str, how: &MutateArguments) -> Result<Target, BadInput> {
    if !is_program(what) {
        catalogue.find(what)?;
    }
    let set = ["servers=1", "observers=0"].map(String::from).into();
    let asked = Asked { set, promises: how.promises.clone(), ..Asked::default() };
    Target::asked(catalogue, what, asked)
}

fn recipe(
    catalogue: &Trials,
    target: Target,
    how: &MutateArguments,
    progress: &mut dyn FnMut(u64),
) -> Result<MutatedRecipe, BadInput> {
    let trial = target.trial.clone();
    // A program that went wrong by itself cannot be told from one whose promises notice something.
    let goes_on = || {
        trial.programs().and_then(|programs| programs.fault()).map_or(Ok(()), |what| Err(BadInput::new(what)))
    };
    let subject = Subject::of(catalogue, target, how);
    goes_on()?;
    let jobs = how.jobs.map_or_else(default_jobs, usize::from);
    let one = |mutation: &(Mutation, Option<Word>, String)| result(&subject, mutation);
    let mutations = each_of(&subject.mutations(how.occasions), jobs, one, progress);
    goes_on()?;
    let library = (subject.library.promises)().iter().map(|promise| promise.name().to_owned()).collect();
    Ok(MutatedRecipe {
        name: trial.about.name.into(),
        bounds: subject.configs.iter().map(|config| bounds(config.bounds)).collect::<Vec<_>>().join("; or "),
        states: subject.states,
        broken: subject.broken.clone(),
        library,
        mutations,
    })
}

/// What came of one mutation.
fn result(subject: &Subject, (mutation, word, place): &(Mutation, Option<Word>, String)) -> MutationResult {
    let mutated = subject.trial.with(*mutation, word.clone());
    let mut result = MutationResult {
        kind: mutation.kind.name().into(),
        nth: mutation.nth,
        place: place.clone(),
        ..MutationResult::default()
    };
    let cut = match subject.tries(&mutated) {
        Came::NotReached => return result,
        Came::Killed(killed) => {
            result.fate = MutationFate::Killed;
            result.killed = Some(killed);
            return result;
        }
        Came::Unnoticed(cut) => cut,
    };
    (result.fate, result.why) = match differs(subject, &mutated) {
        Compared::Same => (MutationFate::Equivalent, None),
        Compared::Cut(why) => (MutationFate::NotDecided, Some(why)),
        Compared::Differs { run, lost } => {
            (result.run, result.lost) = (run, lost);
            result.killed = subject.tries_further(&mutated);
            match (&result.killed, cut) {
                (Some(_), _) => (MutationFate::Killed, None),
                (None, Some(why)) => (MutationFate::NotDecided, Some(why)),
                (None, None) => (MutationFate::Survived, None),
            }
        }
    };
    if result.fate == MutationFate::Survived {
        result.noticed_by = subject.noticed_by(&mutated);
    } else {
        result.run.clear();
    }
    result
}

/// Whether there is a difference: first without faults, which is soon seen.
fn differs(subject: &Subject, mutated: &Mutated) -> Compared {
    let nothing: Promises = Arc::new(Vec::new);
    let (right, other) = (subject.trial.held_to(nothing.clone(), false), mutated.held_to(nothing, false));
    let mut all = subject.configs.clone();
    if let Some(first) = all.first().cloned() {
        let Bounds { clients, rounds, effects, .. } = first.bounds;
        let bounds = Bounds { rounds, effects, ..Bounds::clients(clients) };
        all.insert(0, CheckConfig { bounds, ..first });
    }
    let mut cut = all.is_empty().then(|| NO_END.to_owned());
    for config in all {
        let config = within(mutated, &CheckConfig { livelock: false, audit: false, ..config });
        let most = config.max_states.map_or(usize::MAX, |most| most as usize);
        match compare(&right, &other, &config, most) {
            Compared::Same => {}
            Compared::Cut(why) => cut = Some(why),
            differs @ Compared::Differs { .. } => return differs,
        }
    }
    match cut {
        Some(why) => Compared::Cut(why),
        // What never came about makes no difference, and that says nothing.
        None if !other.log.seen().acted => Compared::Cut("it never comes about in these models".into()),
        None => Compared::Same,
    }
}

/// Bounds in words.
fn bounds(bounds: Bounds) -> String {
    let Bounds { clients, rounds, expiries, drops, crashes, pauses, restarts, admin, lag, .. } = bounds;
    let mut words = format!("{clients} clients × {rounds} rounds");
    let named = [
        (expiries, "expiries"),
        (drops, "drops"),
        (crashes, "crashes"),
        (pauses, "pauses"),
        (restarts, "restarts"),
        (admin, "admin changes"),
        (lag, "lag"),
    ];
    for (many, name) in named.into_iter().filter(|(many, _)| *many > 0) {
        words.push_str(&format!(", {name} {many}"));
    }
    words
}

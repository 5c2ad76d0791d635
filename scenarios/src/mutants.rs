//! The kill matrix: bugs planted into every server, and what finds them. It proves the invariants.

mod chaos;
mod models;

use crate::BadInput;
use crate::output::Format;
use crate::run::default_jobs;
use crate::trial_list::Trials;
use crate::typed::whole;
use chaos::{Chaos, Tally};
use clap::Args;
use models::{explore, models};
use std::collections::BTreeSet;
use std::time::Instant;
use zk_proto::mutant::{self, Mutant};
use zk_proto::zab::invariants;
use zk_reports::{Answer, Beyond, Fate, Kill, MUTANTS_SCHEMA, ModelKill, MutantResult, MutantsReport};
use zk_simulator::Invariant;

pub(crate) const ABOUT: &str = "\
Plants known bugs into the simulated servers, one at a time, and tells what found each

Every bug is one small deviation: those that ZooKeeper had, wrong fixes of them,
slips of its specifications, and some of our own. Each is given the same seeds of
an ensemble in which everything fails, and the same small models. A find counts
once the bug has made a difference; without any bug, the same must be green.

Exit 1 if a bug was not found, or by nothing that was expected to find it, or if
the canary was, which harms nobody. Releases have no such bugs: build with
`--features mutants`.";

const LACKS: &str = "mutants: there are no bugs to plant in this build, as in any release; one that is built with \
                     `--features mutants` has them";

#[derive(Args, Debug)]
pub(crate) struct MutantsArguments {
    /// Which bugs [default: all]
    names: Vec<String>,
    /// How many seeds each is given
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "300", value_parser = whole(1..=1_000_000u64))]
    seeds: u64,
    /// How many seeds at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    jobs: Option<u16>,
    /// Explore models of at most so many states as well, until something breaks; 0 for none
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "100000", value_parser = whole(0..=1_000_000_000u64))]
    max_states: u64,
    /// Write report.json and index.html into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<std::path::PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

impl MutantsArguments {
    /// Which bugs are to be planted.
    pub(crate) fn mutants(&self) -> Result<Vec<Mutant>, BadInput> {
        if self.names.is_empty() {
            return Ok(Mutant::ALL.to_vec());
        }
        let find = |name: &String| {
            Mutant::find(name).ok_or_else(|| {
                let known = Mutant::ALL.map(Mutant::name);
                let hint = crate::bad_input::did_you_mean(name, known);
                bad!("{name}: no mutant of this name{hint}")
            })
        };
        self.names.iter().map(find).collect()
    }
}

/// Plants them all. `progress` learns how many are done.
pub(crate) fn mutants(
    catalogue: &Trials,
    arguments: &MutantsArguments,
    progress: &mut dyn FnMut(u64),
) -> Result<MutantsReport, BadInput> {
    let began = Instant::now();
    let mutants = arguments.mutants()?;
    if !mutant::ARE_THERE {
        return Err(BadInput::new(LACKS.to_owned()));
    }
    let jobs = arguments.jobs.map_or_else(default_jobs, usize::from);
    let chaos = Chaos::new(catalogue, arguments.seeds, jobs)?;
    let mut unmutated = chaos.plant(None)?.kills();
    let models = if arguments.max_states == 0 { Vec::new() } else { models() };
    if let Some(kill) = explore(&models, arguments.max_states, None) {
        let invariant = format!("{} ({})", kill.invariants.join(", "), kill.bounds);
        unmutated.push(Kill { invariant, seeds: 0, first_seed: 0, expected: false });
    }
    let mut results = Vec::new();
    for (done, mutant) in (1..).zip(&mutants) {
        let own = models.iter().filter(|bounds| bounds.is_whole == mutant.is_of_server());
        let model = explore(own, arguments.max_states, Some(*mutant));
        results.push(result(*mutant, chaos.plant(Some(*mutant))?, model));
        progress(done);
    }
    let whole = mutants.len() == Mutant::ALL.len();
    let mut never_broken = if whole { never_broken(&results) } else { Vec::new() };
    let beyond = beyond(&chaos, &mut never_broken)?;
    let wrong = wrong(&unmutated, &results, &never_broken);
    Ok(MutantsReport {
        schema: MUTANTS_SCHEMA.into(),
        command: None,
        scenario: "scenarios/suite/ensemble.toml".into(),
        clients: chaos.names(),
        seeds: arguments.seeds,
        unmutated,
        models: models.iter().map(|bounds| bounds.name.to_owned()).collect(),
        max_states: arguments.max_states,
        mutants: results,
        beyond,
        never_broken,
        answer: if wrong.is_empty() { Answer::Held } else { Answer::Broken },
        wrong,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

fn result(mutant: Mutant, tally: Tally, model: Option<ModelKill>) -> MutantResult {
    let (acted, caught, kills) = (tally.acted, tally.caught, tally.kills());
    let first_seed = kills.iter().filter(|kill| kill.expected).map(|kill| kill.first_seed).min();
    let by_family = first_seed.is_some() || model.as_ref().is_some_and(|kill| kill.expected);
    let fate = match (by_family, kills.is_empty() && model.is_none(), acted) {
        (true, _, _) => Fate::Killed,
        (false, false, _) => Fate::KilledByOthers,
        (false, true, 0) => Fate::NeverActed,
        (false, true, _) => Fate::Survived,
    };
    MutantResult {
        name: mutant.name().into(),
        source: mutant.source().into(),
        what: mutant.what().into(),
        family: mutant.family().iter().map(|name| (*name).into()).collect(),
        acted,
        caught,
        first_seed,
        kills,
        model,
        fate,
    }
}

/// Invariants that nothing has broken.
fn never_broken(results: &[MutantResult]) -> Vec<String> {
    let by_seeds = results.iter().flat_map(|result| &result.kills).map(|kill| kill.invariant.as_str());
    let by_models = results.iter().flat_map(|result| &result.model).flat_map(|kill| &kill.invariants);
    let broken: BTreeSet<&str> = by_seeds.chain(by_models.map(String::as_str)).collect();
    let names = invariants::ALL.iter().map(|(name, _)| *name).chain(server_invariants());
    names.filter(|name| !broken.contains(name)).map(str::to_owned).collect()
}

/// The invariants of servers.
fn server_invariants() -> impl Iterator<Item = &'static str> {
    let of_servers = Invariant::ALL.into_iter().filter(|invariant| match invariant {
        // Another name for liveness.
        Invariant::EveryServerServes => false,
        // Of recipes, and of runs.
        Invariant::NoPanic | Invariant::NoSpin | Invariant::StepBudget | Invariant::EveryStepEnds => false,
        Invariant::AcknowledgedWritesSurvive
        | Invariant::AnswersMatchReference
        | Invariant::RealTimeOrderOfWrites
        | Invariant::ZxidsNeverGoBack
        | Invariant::SessionFifo
        | Invariant::WatchBeforeAnswer
        | Invariant::EphemeralsOfDeadSessionsGone
        | Invariant::NoEarlyExpiry
        | Invariant::NoLateExpiry
        | Invariant::AnswersInTime
        | Invariant::SessionsToOwners
        | Invariant::SyncShowsCommitted
        | Invariant::ServersAgree
        | Invariant::MultiIsAtomic => true,
    });
    of_servers.map(Invariant::name)
}

/// Invariants that nothing has broken first are looked for beyond what a bug breaks first, in the same seeds: by those
/// in whose families they are. Those that are found are never broken no more.
fn beyond(chaos: &Chaos, never_broken: &mut Vec<String>) -> Result<Vec<Beyond>, BadInput> {
    let mut found = Vec::new();
    for invariant in std::mem::take(never_broken) {
        match first_beyond(chaos, &invariant)? {
            Some((mutant, seed)) => found.push(Beyond { invariant, mutant: mutant.name().into(), seed }),
            None => never_broken.push(invariant),
        }
    }
    Ok(found)
}

fn first_beyond(chaos: &Chaos, invariant: &str) -> Result<Option<(Mutant, u64)>, BadInput> {
    let own = Mutant::ALL.into_iter().filter(|mutant| mutant.family().contains(&invariant));
    let own: Vec<Mutant> = own.collect();
    for seeds in chaos.parts() {
        for mutant in &own {
            if let Some(seed) = chaos.breaks(invariant, *mutant, &seeds)? {
                return Ok(Some((*mutant, seed)));
            }
        }
    }
    Ok(None)
}

fn wrong(unmutated: &[Kill], results: &[MutantResult], never_broken: &[String]) -> Vec<String> {
    let mut wrong: Vec<String> = unmutated
        .iter()
        .map(|kill| format!("without any mutant, {} was broken in seed {}", kill.invariant, kill.first_seed))
        .collect();
    for result in results {
        let is_canary = result.name == Mutant::Canary.name();
        match (result.fate, is_canary) {
            (Fate::Killed, false) | (Fate::Survived, true) => {}
            (Fate::Killed | Fate::KilledByOthers, true) => {
                wrong.push("the canary harms nobody, and was found all the same".into());
            }
            (Fate::NeverActed, _) => wrong.push(format!("{} never made a difference", result.name)),
            (Fate::Survived, false) => wrong.push(format!("{} was not found", result.name)),
            (Fate::KilledByOthers, false) => {
                wrong.push(format!("{} was found by none of its family", result.name));
            }
        }
    }
    if !never_broken.is_empty() {
        wrong.push(format!("no mutant breaks {}", never_broken.join(", ")));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_of_invariants() {
        let known: BTreeSet<&str> = invariants::ALL
            .iter()
            .map(|(name, _)| *name)
            .chain(server_invariants())
            .chain(["liveness"])
            .collect();
        for mutant in Mutant::ALL {
            let strange = mutant.family().into_iter().find(|name| !known.contains(name));
            assert_eq!(strange, None, "{}", mutant.name());
        }
    }
}

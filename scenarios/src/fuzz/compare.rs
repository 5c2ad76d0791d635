//! One program in both engines.

use super::blind::Blind;
use super::follow::{Answer, Effort, Like, follow, outcomes};
use super::generate::{Feature, features};
use super::program::Program;
use super::simulation::{Exclusion, Ran, Says, Seen, run};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How much is done for each program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How many runs of the simulator.
    pub(crate) runs: u64,
    /// How many states the search for one run may look at.
    pub(crate) effort: Effort,
    /// Up to how many states a model is gone through to its end.
    pub(crate) enumerate: usize,
    /// What the model is made blind to, if anything: then there is to be a difference.
    pub(crate) blind: Option<Blind>,
}

/// Where the engines differ.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The simulator's seed.
    pub(crate) seed: u64,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The model cannot show what the simulator showed; what it told that came nearest.
    NotShown { seen: Seen, nearest: Says },
    /// Something is broken in one of them.
    Broken(String),
}

/// What came of some programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) programs: u64,
    pub(crate) runs: u64,
    /// What the processes of runs told that were compared.
    pub(crate) observations: u64,
    /// Programs of which a run was not compared.
    pub(crate) excluded: u64,
    pub(crate) exclusions: BTreeMap<Exclusion, u64>,
    /// Programs whose models were gone through to the end, without faults.
    pub(crate) enumerated: u64,
    pub(crate) outcomes: u64,
    /// How many of these outcomes the simulator reached.
    pub(crate) reached: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.programs += other.programs;
        self.runs += other.runs;
        self.observations += other.observations;
        self.excluded += other.excluded;
        self.enumerated += other.enumerated;
        self.outcomes += other.outcomes;
        self.reached += other.reached;
        for (why, runs) in &other.exclusions {
            *self.exclusions.entry(*why).or_default() += runs;
        }
    }
}

/// The first of a program's runs.
pub(crate) fn first_run(seed: u64) -> u64 {
    seed.wrapping_mul(1_000)
}

/// Runs a program in the simulator, from a first seed on, and asks the model about each run.
pub(crate) fn compare(program: &Arc<Program>, first: u64, plan: &Plan) -> (Tally, Option<Difference>) {
    let mut tally = Tally { programs: 1, ..Tally::default() };
    let mut known: BTreeMap<Seen, Answer> = BTreeMap::new();
    let mut calm: BTreeSet<Seen> = BTreeSet::new();
    for seed in (0..plan.runs).map(|nth| first.wrapping_add(nth)) {
        tally.runs += 1;
        let seen = match run(program, seed) {
            Ran::Seen(seen) => seen,
            Ran::Excluded(why) => {
                *tally.exclusions.entry(why).or_default() += 1;
                continue;
            }
            Ran::Broken(what) => return (tally, Some(Difference { seed, kind: Kind::Broken(what) })),
        };
        let answer =
            known.entry(seen.clone()).or_insert_with(|| follow(program, &seen, plan.effort, plan.blind));
        match answer {
            Answer::Shown { .. } => {
                tally.observations += seen.says.iter().map(|says| says.len() as u64).sum::<u64>();
            }
            Answer::Cut => *tally.exclusions.entry(Exclusion::Cut).or_default() += 1,
            Answer::NotShown { nearest } => {
                let kind = Kind::NotShown { seen, nearest: nearest.clone() };
                return (tally, Some(Difference { seed, kind }));
            }
            Answer::Broken(what) => {
                let kind = Kind::Broken(what.clone());
                return (tally, Some(Difference { seed, kind }));
            }
        }
        if seen.is_calm() && *answer != (Answer::Shown { unheard: true }) {
            calm.insert(seen);
        }
    }
    tally.excluded = u64::from(!tally.exclusions.is_empty());
    let difference = enumerate(program, first, &calm, plan, &mut tally);
    (tally, difference)
}

/// Goes through the whole model of a program without faults, if it is small, and compares what both can tell.
fn enumerate(
    program: &Arc<Program>,
    first: u64,
    calm: &BTreeSet<Seen>,
    plan: &Plan,
    tally: &mut Tally,
) -> Option<Difference> {
    let bounds = calm.iter().map(|seen| seen.bounds).max()?;
    let all = outcomes(program, Like { bounds, blind: plan.blind }, plan.enumerate)?;
    let told: BTreeSet<&Says> = calm.iter().map(|seen| &seen.says).collect();
    tally.enumerated = 1;
    tally.outcomes = all.len() as u64;
    tally.reached = told.iter().filter(|says| all.contains(**says)).count() as u64;
    let has_tasks = features(program).contains(&Feature::Tasks);
    // A run of the simulator is over some time after its processes have ended, whatever other tasks they have.
    let is_begun = |says: &Says| {
        let begins = |whole: &Says| whole.iter().zip(says).all(|(whole, says)| whole.starts_with(says));
        has_tasks && all.iter().any(begins)
    };
    let strange = calm.iter().find(|seen| !all.contains(&seen.says) && !is_begun(&seen.says))?;
    let kind = Kind::NotShown { seen: strange.clone(), nearest: Vec::new() };
    Some(Difference { seed: first, kind })
}

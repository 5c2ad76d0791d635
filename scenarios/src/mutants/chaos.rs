//! The seeds that every bug is given.

use crate::BadInput;
use crate::run::{SeedRange, Target, each_seed, requests};
use crate::trial_list::Trials;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zk_harness::trial::Trial;
use zk_proto::mutant::Mutant;
use zk_reports::Kill;
use zk_simulator::{Run, RunOptions, Scenario};

/// The scenario that finds them.
const SCENARIO: &str = include_str!("../../suite/ensemble.toml");

/// So many seeds at a time where it is enough to find one.
const AT_A_TIME: u64 = 32;

/// What seeds are run under.
pub(super) struct Chaos {
    scenario: Scenario,
    /// What clients do, in turns: the scenario's recipe, and all sorts of things.
    trials: [Arc<Trial>; 2],
    seeds: u64,
    jobs: usize,
}

impl Chaos {
    pub(super) fn new(catalogue: &Trials, seeds: u64, jobs: usize) -> Result<Chaos, BadInput> {
        let scenario: Scenario = toml::from_str(SCENARIO).expect("the suite's files are scenarios");
        let Target { trial, scenario, .. } = Target::of_scenario(catalogue, &scenario)?;
        Ok(Chaos { scenario, trials: [trial, Arc::new(requests())], seeds, jobs })
    }

    /// What clients do, in turns.
    pub(super) fn names(&self) -> Vec<String> {
        self.trials.iter().map(|trial| trial.about.name.to_owned()).collect()
    }

    fn run(&self, seed: u64, mutant: Option<Mutant>, beyond: bool) -> Run {
        let turn = (seed % 2) as usize;
        // To look at all peers so often costs much. Where clients ask most, and beyond what was broken first, it is
        // enough to do so now and then: what is wrong in what ever happened stays so.
        let check_always = turn == 0 && !beyond;
        let options = RunOptions { mutant, beyond, check_always, ..RunOptions::default() };
        let trial = &self.trials[turn];
        let mut scenario = self.scenario.clone();
        if mutant == Some(Mutant::RotIsTheEnd) {
            // Nothing rots in the scenario: where much does, less is judged.
            scenario.faults.disk_rot = 8;
        }
        zk_simulator::run(trial, &scenario, seed, &options)
    }

    /// All seeds with a bug, or without any.
    pub(super) fn plant(&self, mutant: Option<Mutant>) -> Result<Tally, BadInput> {
        let mut tally = Tally::default();
        let one = |seed: u64, _: bool| self.run(seed, mutant, false);
        let seeds = SeedRange::new(0, self.seeds)?;
        each_seed(&seeds, self.jobs, &one, &mut |run| tally.add(run, mutant))?;
        Ok(tally)
    }

    /// The seeds in parts, where it is enough to find one.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let seeds = self.seeds;
        (0..seeds.div_ceil(AT_A_TIME)).map(move |n| n * AT_A_TIME..seeds.min((n + 1) * AT_A_TIME))
    }

    /// The first of these seeds in which an invariant is broken by a bug, be it after others.
    pub(super) fn breaks(
        &self,
        invariant: &str,
        mutant: Mutant,
        seeds: &Range<u64>,
    ) -> Result<Option<u64>, BadInput> {
        // What goes on though something is broken may come to where nothing of ours was made to be.
        let one = |seed: u64, _: bool| {
            let run = catch_unwind(AssertUnwindSafe(|| self.run(seed, Some(mutant), true)));
            run.unwrap_or_else(|_| self.run(seed, Some(mutant), false))
        };
        let mut found = None;
        each_seed(&SeedRange::new(seeds.start, seeds.end)?, self.jobs, &one, &mut |run| {
            if run.owed().any(|violation| named(violation.promise) == invariant) && run.deviations > 0 {
                found.get_or_insert(run.seed);
            }
        })?;
        Ok(found)
    }
}

/// What the seeds gave.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) acted: u64,
    pub(super) caught: u64,
    /// What was broken first, alone or with others, by name.
    broken: BTreeMap<&'static str, Kill>,
}

impl Tally {
    fn add(&mut self, run: &Run, mutant: Option<Mutant>) {
        let counts = mutant.is_none() || run.deviations > 0;
        self.acted += u64::from(run.deviations > 0);
        let mut owed = run.owed().filter(|_| counts);
        let first_ns = owed.clone().next().map(|violation| violation.at_ns);
        self.caught += u64::from(first_ns.is_some());
        for violation in owed.by_ref().take_while(|violation| Some(violation.at_ns) == first_ns) {
            let name = named(violation.promise);
            let kill = self.broken.entry(name).or_insert_with(|| {
                let expected = mutant.is_some_and(|mutant| mutant.family().contains(&name));
                Kill { invariant: name.into(), seeds: 0, first_seed: run.seed, expected }
            });
            kill.seeds += 1;
        }
    }

    /// What was broken, the most frequent first.
    pub(super) fn kills(self) -> Vec<Kill> {
        let mut kills: Vec<Kill> = self.broken.into_values().collect();
        kills.sort_by_key(|kill| std::cmp::Reverse(kill.seeds));
        kills
    }
}

/// An ensemble that does not serve when faults are over is not live.
fn named(invariant: &'static str) -> &'static str {
    match invariant {
        "every-server-serves" => "liveness",
        other => other,
    }
}

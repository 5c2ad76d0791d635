//! What many runs come to.

use super::Target;
use super::build::build;
use crate::trial_list::{assumption, catalogued, told};
use std::collections::{BTreeMap, BTreeSet};
use zk_harness::heard::Told;
use zk_reports::{
    Confidence, Failure, HerdPoint, PromiseResult, Reached, SWEEP_SCHEMA, Seeds, SweepReport, Verdict,
};
use zk_simulator::{Herd, Run, RunViolation};

/// The invariant that only a sweep can watch.
pub(super) const DETERMINISM: &str = "determinism";
const DETERMINISM_ABOUT: &str = "One seed gives one run, to the byte.";

/// What the runs so far come to. Runs are added in the order of their seeds.
#[derive(Clone, Default)]
pub(super) struct Tally {
    results: BTreeMap<String, PromiseResult>,
    sometimes: BTreeMap<&'static str, Reached>,
    herd: BTreeMap<u16, HerdPoint>,
    told: Told,
    failures: Vec<Failure>,
    /// How many seeds there were.
    pub(super) runs: u64,
    virtual_ns: u64,
    messages: u64,
    steps: u64,
    digest: u64,
    /// How many of them were run twice.
    pub(super) twice: u64,
    /// How many of them broke something.
    pub(super) broken_seeds: u64,
}

impl Tally {
    /// Adds a run.
    pub(super) fn add(&mut self, target: &Target, run: &Run) {
        self.runs += 1;
        self.virtual_ns = self.virtual_ns.saturating_add(run.virtual_ns);
        self.messages += run.messages;
        self.steps += run.steps;
        self.digest = self.digest.wrapping_add(run.digest);
        for (name, times) in &run.tested {
            self.result(name).tested += times;
        }
        for (name, times) in &run.sometimes {
            let case = self.sometimes.entry(name).or_insert_with(|| never_reached(name));
            case.seeds += u64::from(*times > 0);
            case.times += times;
        }
        for (contenders, herd) in &run.herd {
            let Herd { changes, woken, most } = *herd;
            let point = HerdPoint { contenders: (*contenders).into(), changes, woken, most };
            self.herd.entry(*contenders).and_modify(|all| all.add(point)).or_insert(point);
        }
        self.told.merge(&run.told);
        // A promise counts once a seed, owed and expected apart.
        let mut counted = BTreeSet::new();
        for violation in &run.violations {
            if counted.insert((violation.promise, violation.violated_assumption.is_some())) {
                self.violation(failure(target, run, violation), violation);
            }
        }
        self.broken_seeds += u64::from(run.owed().next().is_some());
    }

    fn violation(&mut self, failure: Failure, violation: &RunViolation) {
        let result = self.result(violation.promise);
        match violation.violated_assumption {
            Some(violated_assumption) => {
                result.expected += 1;
                result.assumptions.push(assumption(violated_assumption).into());
                result.assumptions.sort();
                result.assumptions.dedup();
                result.first_expected.get_or_insert(failure);
            }
            None => {
                result.broken += 1;
                if result.broken <= SweepReport::KEPT as u64 {
                    self.failures.push(failure);
                }
            }
        }
    }

    /// Notes that a seed was run twice, and how the second run differed.
    pub(super) fn compared(&mut self, target: &Target, run: &Run, difference: Option<String>) {
        self.twice += 1;
        self.result(DETERMINISM).tested += 1;
        if let Some(what) = difference {
            let at_ns = run.virtual_ns;
            let violation = RunViolation { promise: DETERMINISM, at_ns, what, violated_assumption: None };
            self.violation(failure(target, run, &violation), &violation);
        }
    }

    /// What became of one promise or invariant so far; its verdict is not said yet.
    fn result(&mut self, name: &str) -> &mut PromiseResult {
        // Looked up first: a name is new once a sweep, and known a million times.
        if !self.results.contains_key(name) {
            let result = PromiseResult {
                name: name.into(),
                about: if name == DETERMINISM { DETERMINISM_ABOUT } else { "" }.into(),
                ..PromiseResult::default()
            };
            self.results.insert(name.into(), result);
        }
        self.results.get_mut(name).expect("it was just put there")
    }

    /// Promises in the trial's order; whatever else there is are invariants.
    pub(super) fn results(&mut self, target: &Target) -> (Vec<PromiseResult>, Vec<PromiseResult>) {
        let owed = target.trial.owed();
        owed.iter().for_each(|promise| self.result(promise.name()).about = promise.terms().about.into());
        let mut all = std::mem::take(&mut self.results);
        for result in all.values_mut() {
            result.verdict = Verdict::of(result.broken, result.expected, result.tested);
            result.verdict = result.verdict.resting_on(&result.assumptions);
        }
        let promises = owed.iter().filter_map(|promise| {
            let result = all.remove(promise.name())?;
            let untested = result.verdict == Verdict::NeverTested;
            let tested_when = untested.then(|| promise.terms().tested_when.into());
            Some(PromiseResult { tested_when, ..result })
        });
        let promises = promises.collect();
        (promises, all.into_values().collect())
    }

    /// The interesting cases.
    pub(super) fn sometimes(&self) -> Vec<Reached> {
        self.sometimes.values().cloned().collect()
    }

    /// What all of it comes to, in seeds of which the caller has to say which they were.
    pub(super) fn report(mut self, target: &Target, seeds: Seeds) -> SweepReport {
        let about = target.trial.about;
        let (promises, invariants) = self.results(target);
        // What no seed reached is there as well.
        for case in zk_simulator::cases(&target.scenario) {
            self.sometimes.entry(case).or_insert_with(|| never_reached(case));
        }
        let mut report = SweepReport {
            regressions: Vec::new(),
            schema: SWEEP_SCHEMA.into(),
            build: build(),
            what: target.what.clone(),
            recipe: about.name.into(),
            about: about.summary.into(),
            catalogued: catalogued(&about),
            scenario: serde_json::to_value(&target.scenario).expect("a scenario is plain data"),
            facts: target.facts(),
            confidence: Confidence::of([].iter(), 0),
            seeds,
            until_covered: None,
            answer: zk_reports::Answer::Undecided,
            virtual_seconds: 0.0,
            virtual_ns: self.virtual_ns,
            messages: self.messages,
            steps: self.steps,
            digest: self.digest,
            wall_seconds: None,
            sometimes: self.sometimes(),
            told: told(&target.trial, &self.told),
            herd: self.herd.into_values().collect(),
            promises,
            invariants,
            failures: self.failures,
        };
        report.settle();
        report
    }
}

fn never_reached(case: &str) -> Reached {
    Reached { name: case.into(), seeds: 0, times: 0 }
}

pub(super) fn failure(target: &Target, run: &Run, violation: &RunViolation) -> Failure {
    // What two runs show, one does not.
    let promise = Some(violation.promise).filter(|promise| *promise != DETERMINISM);
    Failure {
        seed: run.seed,
        promise: violation.promise.into(),
        digest: run.digest,
        virtual_ns: violation.at_ns,
        what: violation.what.clone(),
        replay: target.replay_command(run.seed, promise),
        cause: None,
        diagram: None,
    }
}

//! The judge: shows every event to every promise, and keeps what they find.

use crate::executor::{Caught, quietly};
use crate::result::RunViolation;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_harness::event::Event;
use zk_harness::heard::{Heard, Told};
use zk_harness::promise::{AnyPromise, Assumption, Finding, Rest};
use zk_harness::pulse::{Acting, Pulse};
use zk_harness::trial::Trial;
use zk_invariants::Invariant;

/// The promises of a run and what came of them.
#[derive(Default)]
pub struct Judge {
    promises: Vec<Box<dyn AnyPromise>>,
    names: Vec<&'static str>,
    /// Whose code has panicked: they are shown nothing more.
    panicked: Vec<bool>,
    tested: Vec<u64>,
    /// In order of time; the first of each name with and without a violated assumption.
    violations: Vec<RunViolation>,
    found: Vec<Finding>,
    /// What is heard, where that is known, and what was told.
    heard: Option<Arc<Heard>>,
    told: Told,
    pulse: Pulse,
    /// What ends the run once it is broken, with a violated assumption or without.
    sought: Option<(&'static str, bool)>,
    /// What every promise assumes and is not so in this run, since some time.
    failed: Option<Assumption>,
    /// Whether an invariant was broken since then.
    pub has_violated_assumption: bool,
}

impl Judge {
    /// Nothing has been seen yet.
    pub fn new(trial: &Trial, pulse: Pulse, sought: Option<(&'static str, bool)>) -> Judge {
        let (promises, heard) = (trial.held_to(), trial.heard.clone());
        let names = promises.iter().map(|promise| promise.name()).collect();
        let (panicked, tested) = (vec![false; promises.len()], vec![0; promises.len()]);
        Judge { promises, names, panicked, tested, heard, pulse, sought, ..Judge::default() }
    }

    /// What every promise assumes is not so in this run: from now on nothing is owed.
    pub fn fails(&mut self, assumption: Assumption) {
        self.failed.get_or_insert(assumption);
    }

    /// Shows an event.
    pub fn see(&mut self, now_ns: u64, event: &Event) {
        if let (Some(heard), Event::Observed { actor, what }) = (&self.heard, event) {
            self.told.add(heard, *actor, what);
        }
        self.each(now_ns, |promise, found| promise.see(event, found));
    }

    /// Shows what is left.
    pub fn at_rest(&mut self, now_ns: u64, rest: &Rest) {
        self.each(now_ns, |promise, found| promise.at_rest(rest, found));
    }

    fn each(&mut self, now_ns: u64, show: impl Fn(&mut Box<dyn AnyPromise>, &mut Vec<Finding>)) {
        let mut found = std::mem::take(&mut self.found);
        for index in 0..self.promises.len() {
            if self.panicked[index] {
                continue;
            }
            let name = self.names[index];
            self.pulse.acts(Acting::Promise(name));
            if let Err(Caught::Panic(what)) = quietly(|| show(&mut self.promises[index], &mut found)) {
                self.panicked[index] = true;
                let what = format!("the promise {name} panics: {what}");
                let promise = Invariant::NoPanic.name();
                self.keep(RunViolation { promise, at_ns: now_ns, what, violated_assumption: None });
            }
            for finding in found.drain(..) {
                self.tested[index] += 1;
                match finding {
                    Finding::Tested => {}
                    Finding::Broken(v) => {
                        self.keep(RunViolation {
                            promise: name,
                            at_ns: now_ns,
                            what: v.what,
                            violated_assumption: v.violated_assumption.or(self.failed),
                        });
                    }
                }
            }
        }
        self.found = found;
    }

    /// An invariant was broken. Tells whether somebody is to blame: whatever a server has lost,
    /// nothing panics or goes on for ever.
    pub fn broken(&mut self, now_ns: u64, name: &'static str, what: String) -> bool {
        let of_code =
            [Invariant::NoPanic, Invariant::NoSpin, Invariant::StepBudget, Invariant::EveryStepEnds];
        let violated_assumption =
            self.failed.filter(|_| of_code.iter().all(|invariant| invariant.name() != name));
        self.has_violated_assumption |= violated_assumption.is_some();
        self.keep(RunViolation { promise: name, at_ns: now_ns, what, violated_assumption });
        violated_assumption.is_none()
    }

    fn keep(&mut self, violation: RunViolation) {
        let same = |v: &RunViolation| {
            v.promise == violation.promise
                && v.violated_assumption.is_some() == violation.violated_assumption.is_some()
        };
        if !self.violations.iter().any(same) {
            self.violations.push(violation);
        }
    }

    /// Whether that is broken which ends the run.
    pub fn has_found(&self) -> bool {
        let sought = |v: &RunViolation| self.sought == Some((v.promise, v.violated_assumption.is_some()));
        self.sought.is_some() && self.violations.iter().any(sought)
    }

    /// How often each promise was put to the test, what was broken, and what was told.
    pub fn finish(mut self, now_ns: u64) -> (BTreeMap<&'static str, u64>, Vec<RunViolation>, Told) {
        let now = self.promises.iter().map(|promise| promise.name());
        let renamed = self.names.iter().zip(now).find(|(before, now)| *before != now);
        if let Some((before, now)) = renamed {
            let what = format!("the promise {before} calls itself {now} in the end: terms() must not change");
            let promise = Invariant::NoPanic.name();
            self.keep(RunViolation { promise, at_ns: now_ns, what, violated_assumption: None });
        }
        (self.names.into_iter().zip(self.tested).collect(), self.violations, self.told)
    }
}

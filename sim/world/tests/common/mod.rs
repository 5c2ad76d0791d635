//! Trials made of a piece of code, and what they said.

#![allow(dead_code, reason = "not every test file uses all of it")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::{Text, ZPath, ZooKeeper};
use zk_trials::event::{End, Observation};
use zk_trials::probe::Probe;
use zk_trials::promise::AnyPromise;
use zk_trials::trial::{About, AnyTrial, Bounds, Part, Reductions, Trial};
use zk_world::schedule::TimedFault;
use zk_world::{Fault, Run, RunOptions, Scenario, Schedule, run_schedule};

pub type Zk = Arc<dyn ZooKeeper>;
pub type Watcher = Arc<dyn Probe>;
pub type Code = Pin<Box<dyn Future<Output = End> + Send>>;

struct Scripted<F>(F);

impl<F: Fn(Zk, Watcher, Part) -> Code + Send + Sync + 'static> Trial for Scripted<F> {
    fn opts_out(&self) -> &'static [&'static str] {
        &zk_trials::promises::STANDARD
    }
    fn about(&self) -> About {
        About {
            name: "scripted",
            summary: "A piece of code.",
            source: "a test",
            breaks: None,
            bounds: Bounds::clients(1),
            reductions: Reductions::default(),
        }
    }

    fn setup(&self) -> Vec<Text> {
        vec!["/t".into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        Vec::new()
    }

    fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> impl Future<Output = End> + Send
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        (self.0)(Arc::new(zk), Arc::new(probe), part)
    }
}

/// A trial of which each actor runs this code, below `/t`.
pub fn scripted<F>(code: impl Fn(Zk, Watcher, Part) -> F + Send + Sync + 'static) -> Arc<dyn AnyTrial>
where
    F: Future<Output = End> + Send + 'static,
{
    Arc::new(Scripted(move |zk, probe, part| -> Code { Box::pin(code(zk, probe, part)) }))
}

/// One client, without faults but those of a schedule.
pub fn calm() -> Scenario {
    Scenario { clients: 1, rounds: 1, ..Scenario::default() }.without_faults()
}

/// Runs under given faults, with lines.
pub fn run_with(trial: &Arc<dyn AnyTrial>, scenario: &Scenario, seed: u64, faults: &[(u64, Fault)]) -> Run {
    let faults = faults.iter().map(|(at_ms, fault)| TimedFault { at_ms: *at_ms, fault: fault.clone() });
    let schedule = Schedule { faults: faults.collect() };
    run_schedule(trial, scenario, seed, &schedule, &RunOptions { trace: true, ..RunOptions::default() })
}

/// Says something that the trace then shows.
pub fn say(probe: &Watcher, what: impl std::fmt::Display) {
    probe.observe(Observation::GivesUp { lock: "/t".into(), why: what.to_string().into() });
}

/// What was said, in order.
pub fn said(run: &Run) -> Vec<String> {
    run.trace
        .iter()
        .filter_map(|line| Some(line.split_once("why: \"")?.1.trim_end_matches("\" }").to_owned()))
        .collect()
}

/// The times at which lines with this in them stand, in milliseconds.
pub fn times(run: &Run, what: &str) -> Vec<u64> {
    let time = |line: &String| {
        let seconds: f64 = line.split_once("s ").expect("a line has a time").0.parse().expect("seconds");
        (seconds * 1000.0).round() as u64
    };
    run.trace.iter().filter(|line| line.contains(what)).map(time).collect()
}

pub fn path(path: &str) -> ZPath {
    path.parse().expect("a test's paths are valid")
}

/// One of the published trials.
pub fn published(name: &str) -> Arc<dyn AnyTrial> {
    zk_trials::catalogue().into_iter().find(|t| t.about().name == name).expect("a trial of this name")
}

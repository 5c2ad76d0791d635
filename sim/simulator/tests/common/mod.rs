//! Trials made of a piece of code, and what they said.

#![allow(dead_code, reason = "not every test file uses all of it")]

use std::future::Future;
use std::sync::Arc;
use zk_api::{ZPath, ZooKeeper};
use zk_harness::event::{End, Observation};
use zk_harness::probe::Probe;
use zk_harness::trial::{Role, Trial};
use zk_simulator::schedule::TimedFault;
use zk_simulator::{Fault, Run, RunOptions, Scenario, Schedule, run_schedule};

pub type Zk = Arc<dyn ZooKeeper>;
pub type Watcher = Arc<dyn Probe>;

/// A trial of which each actor runs this code, below `/t`.
pub fn scripted<F>(code: impl Fn(Zk, Watcher, Role) -> F + Send + Sync + 'static) -> Arc<Trial>
where
    F: Future<Output = End> + Send + 'static,
{
    Arc::new(Trial::new("scripted", code).setup(["/t"]).opts_out(&zk_harness::promises::STANDARD))
}

/// One client and one server, without faults but those of a schedule.
pub fn calm() -> Scenario {
    Scenario { clients: 1, rounds: 1, servers: 1, observers: 0, ..Scenario::default() }.without_faults()
}

/// Runs under given faults, with lines.
pub fn run_with(trial: &Arc<Trial>, scenario: &Scenario, seed: u64, faults: &[(u64, Fault)]) -> Run {
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
pub fn published(name: &str) -> Arc<Trial> {
    zk_catalogue::trials().into_iter().find(|t| t.about.name == name).expect("a trial of this name")
}

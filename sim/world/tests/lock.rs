//! The lock and its variants under chaos.

use std::sync::Arc;
use zk_trials::trial::AnyTrial;
use zk_world::{Run, RunOptions, Scenario, run};

fn trial(name: &str) -> Arc<dyn AnyTrial> {
    zk_trials::catalogue().into_iter().find(|t| t.about().name == name).expect("a trial of this name")
}

fn show(run: &Run) -> String {
    format!("seed {}: {:?}", run.seed, run.violations)
}

#[test]
fn the_lock_keeps_its_promises_through_all_faults() {
    let lock = trial("lock");
    for seed in 0..20 {
        let run = run(&lock, &Scenario::default(), seed, &RunOptions::default());
        let broken: Vec<_> = run.violations.iter().filter(|v| v.excuse.is_none()).collect();
        assert!(broken.is_empty(), "{}", show(&run));
    }
}

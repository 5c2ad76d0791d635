//! What it costs to keep the whole trace (lines, timeline, messages) instead of its digest alone.
//!
//! `cargo bench -p zk-simulator --bench trace`: the same seeds with and without, in turns.

use std::time::{Duration, Instant};
use zk_simulator::{RunOptions, Scenario, run};

fn main() {
    let lock = zk_catalogue::trials().into_iter().find(|t| t.about.name == "lock").expect("the lock");
    for (servers, seeds) in [(1, 400), (3, 200)] {
        let scenario = Scenario { servers, observers: 0, ..Scenario::default() };
        let [mut digest, mut whole] = [Duration::ZERO; 2];
        let (mut steps, mut lines) = (0, 0);
        for seed in 0..seeds {
            for (trace, sum) in [(false, &mut digest), (true, &mut whole)] {
                let options = RunOptions { trace, ..RunOptions::default() };
                let since = Instant::now();
                let run = run(&lock, &scenario, seed, &options);
                *sum += since.elapsed();
                steps += if trace { 0 } else { run.steps };
                lines += run.trace.len();
            }
        }
        println!(
            "lock on {servers} servers, {seeds} seeds: digest alone {:.0} ns an event, whole trace {:.0} ns, \
             {:.2} times as long, {} lines a run",
            digest.as_nanos() as f64 / steps as f64,
            whole.as_nanos() as f64 / steps as f64,
            whole.as_secs_f64() / digest.as_secs_f64(),
            lines / seeds as usize,
        );
    }
}

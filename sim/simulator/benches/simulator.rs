//! How fast the simulator is, and whether it keeps its memory: on one core, faults on, everything checked.
//!
//! `cargo bench -p zk-simulator`. Each figure is printed with its load.

use std::sync::Arc;
use std::time::{Duration, Instant};
use zk_harness::trial::Trial;
use zk_simulator::{RunOptions, Scenario, run};

/// What a number of runs took and gave.
#[derive(Default)]
struct Sum {
    runs: u64,
    virtual_ns: u64,
    messages: u64,
    steps: u64,
    wall: Duration,
    cpu_s: f64,
}

fn sweep(trial: &Arc<Trial>, scenario: &Scenario, seeds: std::ops::Range<u64>) -> Sum {
    sweep_with(trial, scenario, seeds, &RunOptions::default())
}

fn sweep_with(
    trial: &Arc<Trial>,
    scenario: &Scenario,
    seeds: std::ops::Range<u64>,
    options: &RunOptions,
) -> Sum {
    let mut sum = Sum::default();
    let (begin, cpu_s) = (Instant::now(), cpu_seconds());
    for seed in seeds {
        let run = run(trial, scenario, seed, options);
        sum.runs += 1;
        sum.virtual_ns += run.virtual_ns;
        sum.messages += run.messages;
        sum.steps += run.steps;
    }
    sum.wall = begin.elapsed();
    sum.cpu_s = cpu_seconds() - cpu_s;
    sum
}

/// Per second of one core, as the machine may be busy with other things; per wall second beside it.
fn print(load: &str, sum: &Sum) {
    let (wall, cpu) = (sum.wall.as_secs_f64(), sum.cpu_s);
    let virtual_s = sum.virtual_ns as f64 / 1e9;
    println!("{load}");
    println!(
        "  {:>8.0} virtual seconds per core second ({:.0} per wall second)",
        virtual_s / cpu,
        virtual_s / wall
    );
    println!("  {:>8.0} ns per message ({} messages)", cpu * 1e9 / sum.messages as f64, sum.messages);
    println!("  {:>8.0} ns per queue event ({} events)", cpu * 1e9 / sum.steps as f64, sum.steps);
    println!(
        "  {:>8.0} seeds per core second ({} seeds, {:.1} virtual s each)",
        sum.runs as f64 / cpu,
        sum.runs,
        virtual_s / sum.runs as f64
    );
}

/// What it costs to watch: the same seeds with all watchers and without any, in turns.
fn print_watching(load: &str, trial: &Arc<Trial>, scenario: &Scenario, seeds: u64) {
    let (mut checked, mut unchecked) = (0.0, 0.0);
    for seed in 0..seeds {
        checked += sweep(trial, scenario, seed..seed + 1).wall.as_secs_f64();
        let options = RunOptions { unchecked: true, ..RunOptions::default() };
        unchecked += sweep_with(trial, scenario, seed..seed + 1, &options).wall.as_secs_f64();
    }
    println!("{load}: checking takes {:.2} times as long as not checking", checked / unchecked);
}

/// What this process and its threads have had of the cores, in steps of a hundredth.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name in parentheses: state is the first, user and system time the 12th and 13th.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Memory of this process that is in use, in kilobytes.
fn resident_kb() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split(' ').nth(1)?.parse::<u64>().ok()? * 4)
}

fn main() {
    let lock = zk_catalogue::trials().into_iter().find(|t| t.about.name == "lock").expect("the lock");
    let scenario = Scenario { servers: 1, observers: 0, ..Scenario::default() };
    sweep(&lock, &scenario, 0..100);
    let sum = sweep(&lock, &scenario, 0..2_000);
    print("lock, 5 clients x 3 rounds, default faults, all checked", &sum);
    let many = Scenario { rounds: 100, ..scenario.clone() };
    let sum = sweep(&lock, &many, 0..100);
    print("lock, 5 clients x 100 rounds, default faults, all checked", &sum);
    for servers in [3, 5] {
        let ensemble = Scenario { servers, ..scenario.clone() };
        let sum = sweep(&lock, &ensemble, 0..1_000);
        print(&format!("lock on {servers} servers, 5 clients x 3 rounds, default faults, all checked"), &sum);
    }
    let busy = Scenario { servers: 3, ..many.clone() };
    let sum = sweep(&lock, &busy, 0..50);
    print("lock on 3 servers, 5 clients x 100 rounds, default faults, all checked", &sum);
    print_watching("lock on 3 servers, 100 rounds", &lock, &busy, 30);
    let three = Scenario { servers: 3, ..scenario.clone() };
    print_watching("lock on 3 servers, 3 rounds", &lock, &three, 500);
    print_watching("lock on 1 server, 3 rounds", &lock, &scenario, 1_000);
    let calm = scenario.clone().without_faults();
    let sum = sweep(&lock, &calm, 0..1_000);
    print("lock, 5 clients x 3 rounds, no faults, all checked", &sum);
    let single = Scenario { clients: 1, rounds: 1, work_ms: [0, 1], ..calm };
    let sum = sweep(&lock, &single, 0..2_000);
    print("lock, 1 client x 1 round, no faults, all checked: what a run costs at least", &sum);
    let Some(before) = resident_kb() else { return };
    sweep(&lock, &scenario, 0..10_000);
    let after = resident_kb().unwrap_or(before);
    println!("memory over 10000 seeds in one process: {before} kB before, {after} kB after");
}

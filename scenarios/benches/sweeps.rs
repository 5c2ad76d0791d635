//! What comes after a sweep: shrinking, in runs tried per second, and reading, merging and writing saved reports.
//!
//! `cargo bench -p zoocheck --bench sweeps`. Everything is the command itself, as somebody with a red build waits for
//! it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Variants of different families, and a seed that breaks what they are catalogued for.
const SHRUNK: [(&str, u64); 4] = [
    ("lock/adopts-ghost", 4),
    ("leader-latch/reset-race", 21),
    ("queue/lost-delete", 17),
    ("barrier/no-recheck", 5),
];
const SEEDS: u64 = 10_000;
const SHARDS: u64 = 4;
const TURNS: usize = 3;

/// The output of a command, and how long it took.
fn zoocheck(dir: &Path, arguments: &str) -> (String, f64) {
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoocheck"));
    let output = command.current_dir(dir).args(arguments.split(' ')).output().expect("it starts");
    assert_ne!(output.status.code(), Some(2), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).expect("UTF-8"), began.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    for (variant, seed) in SHRUNK {
        let rates = (0..TURNS).map(|turn| {
            let file = format!("{}-{turn}.toml", variant.replace('/', "-"));
            let (told, seconds) = zoocheck(dir, &format!("shrink {variant} --seed {seed} -o {file}"));
            let runs = told.split_once(" runs;").expect("how many runs it took").0;
            let runs = runs.rsplit(' ').next().expect("a number");
            runs.parse::<f64>().expect("a number") / seconds
        });
        println!("shrink {variant:<28} {:>8.0} runs tried a second", median(rates.collect()));
    }
    let mut swept = 0.0;
    for index in 1..=SHARDS {
        let arguments = format!("run lock/java --seeds {SEEDS} --shard {index}/{SHARDS} --report {index}");
        swept += zoocheck(dir, &arguments).1;
    }
    println!("run lock/java, {SEEDS} seeds in {SHARDS} shards {:>8.0} seeds a second", SEEDS as f64 / swept);
    let merge = |turn: usize| {
        let shards: Vec<String> = (1..=SHARDS).map(|index| index.to_string()).collect();
        zoocheck(dir, &format!("report {} -o all-{turn}", shards.join(" "))).1
    };
    println!(
        "report of {SHARDS} shards, merged and written {:>8.3} s",
        median((0..TURNS).map(merge).collect())
    );
    let show = |_| zoocheck(dir, "report all-0").1;
    println!("report of {SEEDS} seeds, read and written   {:>8.3} s", median((0..TURNS).map(show).collect()));
    let size = std::fs::metadata(dir.join("all-0/report.json")).expect("it is there").len();
    println!("report.json                            {:>8} kB", size / 1000);
}

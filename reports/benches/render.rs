//! How long it takes to write the report of 10,000 seeds, with all it may have: pages, JSON, JUnit, Markdown.
//!
//! `cargo bench -p zk-reports`; the median of many.

#[path = "../tests/sample/mod.rs"]
#[allow(dead_code)]
mod sample;

use std::hint::black_box;
use std::time::Instant;
use zk_reports::{Report, SweepReport, junit, to_json};

const TIMES: usize = 15;

fn main() {
    // Thirty promises, each broken in at least a hundred seeds, and ten diagrams as large as they get.
    let report = sample::sweep(30, 1000);
    println!("a report of {} seeds, {} breaks kept:", report.seeds.count, report.failures.len());
    timed("index.html", || report.html());
    timed("report.json", || to_json(&report));
    timed("junit.xml", || junit(&report.suite().expect("it has cases")));
    timed("summary.md", || report.markdown());
    let saved = to_json(&report);
    timed("index.html from saved JSON", || {
        serde_json::from_str::<SweepReport>(&saved).expect("it reads what it wrote").html()
    });
}

fn timed(name: &str, write: impl Fn() -> String) {
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..TIMES {
        let since = Instant::now();
        bytes = black_box(write()).len();
        times.push(since.elapsed());
    }
    times.sort();
    println!("  {name}: {:.1} ms, {} kB", times[TIMES / 2].as_secs_f64() * 1000.0, bytes / 1000);
}

//! How many clients a release wakes, by how many contend.

use crate::text::table;
use crate::verdict::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The version of [`HerdReport`]'s JSON.
pub const HERD_SCHEMA: &str = "zoocheck-herd/1";

/// Trials × contenders. Apart from `wall_seconds` it is a function of the build and of what was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdReport {
    /// [`HERD_SCHEMA`].
    pub schema: String,
    /// The seed of all runs.
    pub seed: u64,
    /// Each trial.
    pub trials: Vec<HerdTrial>,
    /// Undecided if a recipe that is not known to be wrong has not been granted to everybody.
    pub answer: Answer,
    /// How long it took.
    pub wall_seconds: f64,
}

/// One trial: a run for each number of contenders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdTrial {
    /// Its name.
    pub name: String,
    /// It is known to be wrong.
    pub wrong: bool,
    /// The runs, the fewest contenders first.
    pub runs: Vec<HerdRun>,
}

/// A run without faults, in which all come before the first lets go, and each holds once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdRun {
    /// How many there were.
    pub contenders: u64,
    /// How many were granted what they asked for. Fewer than there were: the others waited in vain.
    pub granted: u64,
    /// Whom changes woke while somebody waited, all together.
    pub woken: u64,
    /// The most that one change woke.
    pub most: u64,
}

impl HerdRun {
    /// Clients woken, for each time that somebody held.
    pub fn per_release(&self) -> Option<f64> {
        (self.granted > 0).then(|| self.woken as f64 / self.granted as f64)
    }

    fn cell(&self) -> String {
        let short = if self.granted < self.contenders { "*" } else { "" };
        match self.per_release() {
            None => "-".into(),
            Some(0.0) => format!("0{short}"),
            Some(mean) if mean < 10.0 => format!("{mean:.2}{short}"),
            Some(mean) => format!("{mean:.1}{short}"),
        }
    }
}

/// The heads of the columns.
fn contenders(report: &HerdReport) -> Vec<String> {
    let runs = report.trials.first().map_or(&[][..], |trial| &trial.runs);
    runs.iter().map(|run| run.contenders.to_string()).collect()
}

/// What is said below the table, line by line.
fn notes(report: &HerdReport) -> Vec<String> {
    let mut notes = Vec::new();
    for trial in &report.trials {
        for run in trial.runs.iter().filter(|run| run.granted < run.contenders) {
            let HerdRun { contenders, granted, .. } = run;
            notes.push(format!(
                "* {}: {granted} of {contenders} were granted what they asked for",
                trial.name
            ));
        }
    }
    notes
}

/// For people.
pub fn herd_text(report: &HerdReport) -> String {
    let mut out = String::from("clients woken by a release, by how many contend\n\n");
    let plain = |text: String| (text.clone(), text);
    let mut rows = vec![["contenders".into()].into_iter().chain(contenders(report)).map(plain).collect()];
    for trial in &report.trials {
        let cells = trial.runs.iter().map(HerdRun::cell);
        rows.push(std::iter::once(trial.name.clone()).chain(cells).map(plain).collect::<Vec<_>>());
    }
    out.push_str(&table(&rows));
    let notes = notes(report);
    if !notes.is_empty() {
        let _ = write!(out, "\n{}\n", notes.join("\n"));
    }
    let _ = writeln!(
        out,
        "\nOne run for each, under seed {}: one server, no faults, latency 1 ms; all ask before the first lets go,\n\
         and each holds once. {:.0} s",
        report.seed, report.wall_seconds
    );
    out
}

/// For a README: the same in any run of one build.
pub fn herd_markdown(report: &HerdReport) -> String {
    let mut out = String::new();
    let heads = contenders(report);
    let _ = writeln!(out, "| contenders | {} |", heads.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(heads.len()));
    for trial in &report.trials {
        let cells: Vec<String> = trial.runs.iter().map(HerdRun::cell).collect();
        let _ = writeln!(out, "| `{}` | {} |", trial.name, cells.join(" | "));
    }
    for note in notes(report) {
        let _ = write!(out, "\n{note}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(granted: u64) -> HerdReport {
        let runs = vec![
            HerdRun { contenders: 1, granted: 1, woken: 0, most: 0 },
            HerdRun { contenders: 40, granted, woken: 780, most: 39 },
        ];
        let trials = vec![HerdTrial { name: "lock/simple".into(), wrong: true, runs }];
        HerdReport { schema: HERD_SCHEMA.into(), seed: 1, trials, answer: Answer::Held, wall_seconds: 1.0 }
    }

    #[test]
    fn a_table_tells_how_many_each_release_wakes() {
        let table = "| contenders | 1 | 40 |\n|---|---:|---:|\n| `lock/simple` | 0 | 19.5 |\n";
        assert_eq!(herd_markdown(&report(40)), table);
        assert!(herd_text(&report(40)).contains("\ncontenders   1  40\nlock/simple  0  19.5\n\nOne run"));
    }

    #[test]
    fn who_waited_in_vain_is_told() {
        for text in [herd_text(&report(30)), herd_markdown(&report(30))] {
            assert!(text.contains("26.0*"), "{text}");
            assert!(text.contains("* lock/simple: 30 of 40 were granted what they asked for\n"), "{text}");
        }
        assert_eq!(report(0).trials[0].runs[1].cell(), "-");
    }
}

//! How many clients a release wakes, by how many contend.

use crate::markdown::markdown;
use crate::page::{Block, Cell, Group, Line, Mood, Page, row};
use crate::{HerdReport, HerdRun, HerdTrial, Report};

impl Report for HerdReport {
    fn heading(&self) -> String {
        "judge --herd".into()
    }

    fn page(&self) -> Page {
        let mut page = vec![
            Line::from("clients woken by a release, by how many contend").into(),
            Block::Table("", vec![table(self, Mood::Plain)]),
        ];
        let notes = notes(self);
        if !notes.is_empty() {
            page.extend([Block::Blank, Block::Told(notes)]);
        }
        let how = format!(
            "One run for each, under seed {}: one server, no faults, latency 1 ms; all ask before the first lets go, and \
             each holds once. {:.0} s",
            self.seed, self.wall_seconds
        );
        page.extend([Block::Blank, Line::from(how).wrapped(0).into()]);
        page
    }

    /// For a README: the same in any run of one build.
    fn table(&self) -> String {
        let notes = notes(self).into_iter().map(|note| Line::from(note).into());
        markdown(&std::iter::once(Block::Table("", vec![table(self, Mood::Strong)])).chain(notes).collect())
    }
}

fn table(report: &HerdReport, name: Mood) -> Group {
    let runs = report.trials.first().map_or(&[][..], |trial| &trial.runs);
    let cells = |trial: &HerdTrial| trial.runs.iter().map(|run| cell(run).into()).collect::<Vec<_>>();
    let rows = report.trials.iter().map(|trial| row(Cell::new(name, &trial.name), cells(trial)));
    let mut group = Group::new(["contenders"], rows.collect());
    group.heads.extend(runs.iter().map(|run| run.contenders.to_string()));
    group
}

fn cell(run: &HerdRun) -> String {
    let short = if run.granted < run.contenders { "*" } else { "" };
    match run.per_release() {
        None => "-".into(),
        Some(0.0) => format!("0{short}"),
        Some(mean) if mean < 10.0 => format!("{mean:.2}{short}"),
        Some(mean) => format!("{mean:.1}{short}"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Paint;
    use crate::{Answer, HERD_SCHEMA, HerdTrial};

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
        assert_eq!(report(40).table(), table);
        assert!(
            report(40).text(Paint::PLAIN).contains("\ncontenders   1  40\nlock/simple  0  19.5\n\nOne run")
        );
    }

    #[test]
    fn who_waited_in_vain_is_told() {
        for (text, star) in [(report(30).text(Paint::PLAIN), "*"), (report(30).table(), "\\*")] {
            assert!(text.contains(&format!("26.0{star}")), "{text}");
            let told = format!("\n{star} lock/simple: 30 of 40 were granted what they asked for\n");
            assert!(text.contains(&told), "{text}");
        }
        assert_eq!(cell(&report(0).trials[0].runs[1]), "-");
    }
}

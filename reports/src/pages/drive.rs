//! Client programs in real time.

use super::assumption_note;
use super::live::{first_break, group};
use crate::drive::{DriveFailure, DriveReport};
use crate::page::{Block, Line, Mood, Page, below};
use crate::report::Report;
use crate::suite::{Suite, of_drive};
use crate::verdict::{Answer, Verdict};
use crate::words::{count, of, wall};

impl Report for DriveReport {
    fn heading(&self) -> String {
        self.program.clone()
    }

    fn page(&self) -> Page {
        let report = self;
        let settings = format!(
            "{} × {}, {}, session timeout {} ms, faults for {} s a seed",
            of(report.clients.into(), "client"),
            of(report.rounds.into(), "round"),
            of(report.servers.into(), "server"),
            count(report.session_timeout_ms),
            report.fault_seconds
        );
        let mut promises = group("promise", &report.promises);
        let notes =
            report.promises.iter().filter_map(|result| assumption_note(&result.name, &result.assumptions));
        promises.notes = notes.collect();
        let mut page = vec![
            Block::Title(report.program.clone(), format!("owes {}", report.owed.join(", "))),
            below(
                "in real time, which is not deterministic: a seed fixes only the faults, and a rerun may end differently",
            ),
            below(settings),
            Block::Table("Verdicts", vec![promises]),
        ];
        page.push(below(invariants_line(report)));
        for result in report.all() {
            // What was broken as expected is told where nothing else is to be told of that promise.
            match (&result.first, &result.first_expected) {
                (Some(first), _) => page.push(first_break(result, first, true)),
                (None, Some(first)) => page.push(first_break(result, first, false)),
                (None, None) => {}
            }
        }
        page.extend(report.failures.iter().flat_map(failure));
        for undecided in &report.undecided {
            let line = format!("seed {} came to no end: {}", undecided.seed, undecided.why);
            page.push(Line::new(Mood::Odd, line).wrapped(2).into());
        }
        closing(&mut page, report);
        page
    }

    fn suite(&self) -> Option<Suite> {
        Some(of_drive(self))
    }
}

/// The invariants at the servers, in a line: there are many of them, and they are seldom broken.
fn invariants_line(report: &DriveReport) -> String {
    let so = |verdict| report.invariants.iter().filter(|result| result.verdict == Some(verdict)).count();
    let (held, broken, idle) = (so(Verdict::Held), so(Verdict::Broken), so(Verdict::NeverTested));
    format!("invariants at the servers: {held} held, {broken} broken, {idle} never put to the test")
}

fn failure(failure: &DriveFailure) -> Vec<Block> {
    let again = match failure.again {
        0 => "not tried again".into(),
        again => format!(
            "tried again {}, broken {}",
            of(again.into(), "time"),
            of(failure.broken_again.into(), "time")
        ),
    };
    let line = format!("seed {} broke {}; {again}", failure.seed, failure.broken.join(", "));
    let mut parts = vec![Block::Blank, Line::new(Verdict::Broken, line).wrapped(2).into()];
    parts.push(Line::from(failure.command.as_str()).indent(2).into());
    if !failure.output.is_empty() {
        parts.push(below("the last lines of a program that failed:"));
        parts.push(Block::Told(failure.output.iter().map(|line| format!("  {line}")).collect()));
    }
    parts
}

fn closing(page: &mut Page, report: &DriveReport) {
    let happened = &report.happened;
    let happened = format!(
        "{} in {}; {}, {}, {} expired; {}; {}, {} refused",
        of(report.seeds, "seed"),
        wall(report.wall_seconds),
        of(report.faults, "fault"),
        of(happened.sessions, "session"),
        count(happened.sessions_lost),
        of(happened.grants, "grant"),
        of(happened.writes, "write"),
        count(happened.refused)
    );
    page.extend([Block::Blank, Line::from(happened).into()]);
    page.push(Block::Answer(report.answer, Line::new(report.answer, answer(report)).wrapped(2)));
}

/// The answer in words.
fn answer(report: &DriveReport) -> String {
    let untested = report.promises.iter().filter(|result| result.verdict == Some(Verdict::NeverTested));
    let untested: Vec<&str> = untested.map(|result| result.name.as_str()).collect();
    match report.answer {
        Answer::Held => "every judged promise held".into(),
        Answer::Broken => format!("BROKEN: {}", report.broken().collect::<Vec<_>>().join(", ")),
        Answer::Undecided => match &report.interrupted {
            Some(why) => format!("undecided: {why}"),
            None if !report.undecided.is_empty() => {
                format!("undecided: {} came to no end", of(report.undecided.len() as u64, "seed"))
            }
            None if untested.is_empty() => "undecided: no promise of it can be judged from outside".into(),
            None => format!("undecided: never put to the test: {}", untested.join(", ")),
        },
    }
}

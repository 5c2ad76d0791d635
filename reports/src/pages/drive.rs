//! Client programs in real time.

use super::live::{answer, breaks, owed};
use crate::page::{Block, Line, Mood, Page, below};
use crate::suite::of_drive;
use crate::words::wall;
use crate::{DriveFailure, DriveReport, LiveReport, Report, Suite, Verdict, count, of};

impl Report for DriveReport {
    fn heading(&self) -> String {
        self.program.clone()
    }

    fn page(&self) -> Page {
        let settings = format!(
            "{} × {}, {}, session timeout {} ms, faults for {} s a seed",
            of(self.clients.into(), "client"),
            of(self.rounds.into(), "round"),
            of(self.servers.into(), "server"),
            count(self.session_timeout_ms),
            self.fault_seconds
        );
        let mut page = vec![
            Block::Title(self.program.clone(), format!("owes {}", self.owed.join(", "))),
            below(
                "in real time, which is not deterministic: a seed fixes only the faults, and a rerun may end differently",
            ),
            below(settings),
            Block::Table("Verdicts", vec![owed(&self.promises)]),
        ];
        page.push(below(invariants_line(self)));
        page.extend(breaks(self.all()));
        page.extend(self.failures.iter().flat_map(failure));
        for undecided in &self.undecided {
            let line = format!("seed {} came to no end: {}", undecided.seed, undecided.why);
            page.push(Line::new(Mood::Odd, line).wrapped(2).into());
            page.push(Line::from(undecided.command.as_str()).indent(2).into());
        }
        closing(&mut page, self);
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
    let words = answer(report.answer, &report.promises, &report.invariants, open(report));
    page.push(Block::Answer(report.answer, Line::new(report.answer, words).wrapped(2)));
}

/// What left it undecided, beside promises that were not put to the test.
fn open(report: &DriveReport) -> Option<String> {
    let endless = report.undecided.len() as u64;
    let endless = (endless > 0).then(|| format!("{} came to no end", of(endless, "seed")));
    let unjudged = || LiveReport::unjudged_words(&report.unjudged, &report.promises);
    let unjudged = (!report.unjudged.is_empty()).then(unjudged);
    report.interrupted.clone().or(endless).or(unjudged)
}

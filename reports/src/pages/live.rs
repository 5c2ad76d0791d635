//! A run on a live ensemble.

use super::parts::{about, assumption_note, broken, end, known, verdict_word};
use crate::page::{Block, Cell, Group, Line, Mood, Page, below};
use crate::suite::of_live;
use crate::words::wall;
use crate::{Answer, LiveBreak, LivePromise, LiveReport, Report, Suite, Verdict, count, named, of, open};

impl Report for LiveReport {
    fn heading(&self) -> String {
        self.what.clone()
    }

    fn page(&self) -> Page {
        let settings = format!(
            "{} × {}, session timeout {} ms",
            of(self.clients.into(), "client"),
            of(self.rounds.into(), "round"),
            count(self.session_timeout_ms)
        );
        let mut page = vec![
            Block::Title(self.recipe.clone(), self.about.clone()),
            below(format!("on {}, a live ensemble: this run cannot be repeated", self.connect)),
            below(settings),
            Block::Table("Verdicts", vec![owed(&self.promises), group("invariants", &self.invariants)]),
        ];
        page.extend(breaks(self.all()));
        closing(&mut page, self);
        page
    }

    fn suite(&self) -> Option<Suite> {
        Some(of_live(self))
    }
}

/// Promises, with the assumptions that did not hold.
pub(super) fn owed(promises: &[LivePromise]) -> Group {
    let notes = promises.iter().filter_map(|result| assumption_note(&result.name, &result.assumptions));
    Group { notes: notes.collect(), ..group("promise", promises) }
}

fn group(heading: &str, results: &[LivePromise]) -> Group {
    let row = |result: &LivePromise| {
        let [verdict, tested] = match result.verdict {
            None => [Cell::new(Mood::Odd, "not judged on a live ensemble"), "not counted".into()],
            Some(verdict) => {
                [Cell::new(verdict, verdict_words(verdict, result)), count(result.tested).into()]
            }
        };
        vec![Cell::from(&result.name).about(&result.about), verdict, tested]
    };
    Group::new([heading, "verdict", "tested"], results.iter().map(row).collect())
}

/// What became of a promise on a live ensemble, in words.
fn verdict_words(verdict: Verdict, result: &LivePromise) -> String {
    let times = |number: u64| of(number, "time");
    match verdict {
        Verdict::Held => "held".into(),
        Verdict::Broken if result.expected > 0 => {
            format!("BROKEN {}, and as expected {}", times(result.broken), times(result.expected))
        }
        Verdict::Broken => format!("BROKEN {}", times(result.broken)),
        Verdict::BrokenAsExpected => format!("broken as expected {}", times(result.expected)),
        Verdict::NeverTested | Verdict::Undecided => verdict_word(verdict).into(),
    }
}

/// The first breaks. What was broken as expected is told where nothing else is to be told of that promise.
pub(super) fn breaks<'a>(results: impl Iterator<Item = &'a LivePromise>) -> impl Iterator<Item = Block> {
    results.filter_map(|result| match (&result.first, &result.first_expected) {
        (Some(first), _) => Some(first_break(result, first, true)),
        (None, first) => first.as_ref().map(|first| first_break(result, first, false)),
    })
}

fn first_break(result: &LivePromise, first: &LiveBreak, owed: bool) -> Block {
    let mut body: Page = about(&result.about).into_iter().collect();
    body.push(below(format!("first {}", first.at())));
    body.push(Block::Told(first.timeline.iter().map(|line| format!("  {line}")).collect()));
    body.extend(end(&first.what));
    let expected = result.verdict.unwrap_or(Verdict::BrokenAsExpected);
    Block::Card(broken(&result.name, if owed { Verdict::Broken } else { expected }), body)
}

fn closing(page: &mut Page, report: &LiveReport) {
    let happened = &report.happened;
    let happened = format!(
        "{} in {}; {}, {} lost; {} lost; {}, {} refused",
        of(happened.grants, "grant"),
        wall(report.wall_seconds),
        of(happened.sessions, "session"),
        count(happened.sessions_lost),
        of(happened.disconnections, "connection"),
        of(happened.writes, "write"),
        count(happened.refused)
    );
    page.extend([Block::Blank, Line::from(happened).into()]);
    if !report.left.is_empty() {
        let left = format!("left behind, and removed: {}", report.left.join(", "));
        page.push(Line::new(Mood::Odd, left).wrapped(2).into());
    }
    let words = answer(report.answer, &report.promises, &report.invariants, report.ran_out.clone());
    page.push(Block::Answer(report.answer, Line::new(report.answer, words).wrapped(2)));
    page.extend(known(report.catalogue_note()));
}

/// The answer in words. `open` is what left it undecided, if it is not told by the promises.
pub(super) fn answer(
    answer: Answer,
    promises: &[LivePromise],
    invariants: &[LivePromise],
    open: Option<String>,
) -> String {
    let broken: Vec<&str> = named(promises.iter().chain(invariants), Verdict::Broken).collect();
    match answer {
        Answer::Held => LiveReport::held_words(promises, invariants),
        Answer::Broken => format!("BROKEN: {}", broken.join(", ")),
        Answer::Undecided => {
            format!("undecided: {}", open.unwrap_or_else(|| not_judged(promises, invariants)))
        }
    }
}

/// Why it is open, or that there was nothing to test.
fn not_judged(promises: &[LivePromise], invariants: &[LivePromise]) -> String {
    let leaves_open = open(promises, invariants);
    match () {
        () if !leaves_open.is_empty() => leaves_open,
        () if promises.iter().all(|result| result.verdict.is_none()) => {
            "no promise of it can be judged from outside".into()
        }
        () => "nothing that it promises of its own can be judged from outside".into(),
    }
}

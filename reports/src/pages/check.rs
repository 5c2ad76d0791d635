//! A check of a recipe, and what its page has in common with that of an ensemble.

use super::parts::{broken, end, failed, known, occasions, unheard, verdict_word};
use crate::answers::{bounds, check_answer};
use crate::check::{CheckReport, CheckedPromise, Judgement, Limits, Path, Picture};
use crate::page::{Block, Cell, Group, Line, Mood, Page, answer, below};
use crate::report::Report;
use crate::suite::{Suite, of_check};
use crate::verdict::{CatalogueNote, Verdict, named};
use crate::words::{count, of, wall};

impl Report for CheckReport {
    fn heading(&self) -> String {
        format!("check {}", self.what)
    }

    fn page(&self) -> Page {
        let mut page = head(self);
        page.extend(self.command.clone().map(Block::Command));
        let livelocks = self.how.finds_only_livelocks();
        let unbroken = if livelocks { Some("not looked for (--ranks)") } else { None };
        page.push(verdicts("promise", &self.promises, self.exhaustive, unbroken));
        page.extend(in_a_line("invariants", &self.invariants));
        page.push(Block::Cases(self.sometimes.clone(), None));
        page.extend(ways(self.all(), self.promise.as_deref(), &self.pictures));
        let took = wall(self.wall_seconds);
        let took = match self.histories {
            Some(histories) => format!("{} different histories of inputs, {took}", count(histories)),
            None => took,
        };
        page.extend(explored(self.states, self.transitions, took));
        let never_tested: Vec<&str> = named(&self.promises, Verdict::NeverTested).collect();
        // What was asked, and explored to the end, is answered below.
        let is_told = !livelocks && (!self.exhaustive || self.asked.is_some());
        page.extend(untested(&never_tested, self.exhaustive).filter(|_| is_told));
        let promises = self.promises.iter();
        page.extend(occasions(promises.map(|promise| (&*promise.name, promise.tested_when.as_deref()))));
        let is_sought = |note: &CatalogueNote<'_>| !livelocks || !matches!(note, CatalogueNote::NotSeen(_));
        page.extend(known(self.catalogue_note().filter(is_sought)));
        page.extend(how_far(self.verdict == Judgement::Undecided && !self.exhaustive && !livelocks));
        let left_out = self.left_out.iter().map(|left_out| format!("explored in one way only: {left_out}"));
        page.extend(left_out.map(|line| Line::new(Mood::Odd, line).wrapped(0).into()));
        page.extend(unheard(self.told.as_ref()));
        page.push(answer(self.verdict.answer(), check_answer(self)));
        page
    }

    fn suite(&self) -> Option<Suite> {
        Some(of_check(self))
    }
}

fn head(report: &CheckReport) -> Page {
    let how = &report.how;
    let mut facts = vec![format!("{} engine", how.engine)];
    // What everybody has is not told.
    let unusual = [
        (how.eager, "eager delivery"),
        (how.symmetry, "symmetry"),
        (!how.keys, "without checkpoints"),
        (!how.audit, "checkpoints not audited"),
        (!how.memo, "nothing remembered"),
        (!how.effects, "without writes to the outside resource"),
        (how.true_zxids, "true zxids"),
    ];
    facts.extend(unusual.iter().filter(|(is, _)| *is).map(|(_, name)| name.to_string()));
    let clients = "one server, whose clients may see an older state if views lag";
    let mut page = vec![
        Block::Title(report.recipe.clone(), report.about.clone()),
        below(format!("bounds: {}", bounds(&report.bounds))),
        below(format!("model: {}, {clients}", report.holds_in)),
        below(format!("search: {}", facts.join(", "))),
    ];
    if !how.unproven.is_empty() {
        let names = how.unproven.join(", ");
        let warning = format!("not shown to give the same verdict for {}: {names}", report.recipe);
        page.push(below(Line::new(Mood::Odd, warning)));
    }
    page.extend(limits(&report.limits));
    page
}

/// When it gives up, if ever.
pub(super) fn limits(limits: &Limits) -> Option<Block> {
    let limits = [
        limits.time_seconds.map(|s| format!("{s} s")),
        limits.max_states.map(|n| format!("{} states", count(n))),
        limits.max_memory.map(|bytes| format!("{} MB", count(bytes / 1_000_000))),
        limits.max_depth.map(|n| format!("depth {n}")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    (!limits.is_empty()).then(|| below(format!("gives up after: {}", limits.join(", or "))))
}

/// What became of promises, or of invariants; of what is not broken, `unbroken` says more where it is given.
pub(super) fn verdicts(
    head: &str,
    results: &[CheckedPromise],
    exhaustive: bool,
    unbroken: Option<&str>,
) -> Block {
    let steps = |path: &Option<Path>| of(path.as_ref().map_or(0, |path| path.steps.len() as u64), "step");
    let row = |result: &CheckedPromise| {
        let (mood, words) = match result.verdict {
            Verdict::Held | Verdict::NeverTested if unbroken.is_some() => {
                (Mood::Odd, unbroken.unwrap_or_default().into())
            }
            Verdict::Held if exhaustive => (Mood::Good, "holds".into()),
            Verdict::Held => (Mood::Odd, "not broken so far".into()),
            Verdict::Broken => (Mood::Bad, format!("BROKEN ({})", steps(&result.broken))),
            Verdict::BrokenAsExpected => {
                (Mood::Odd, format!("broken as expected ({})", steps(&result.expected)))
            }
            Verdict::NeverTested | Verdict::Undecided => (Mood::Odd, verdict_word(result.verdict).into()),
        };
        let tested = result.tested.map_or("not counted".into(), count);
        vec![Cell::from(&result.name), Cell::new(mood, words), tested.into()]
    };
    Block::Table("Verdicts", vec![Group::new([head, "verdict", "tested"], results.iter().map(row).collect())])
}

/// The search's own invariants have no tests to count: they are told in a line.
pub(super) fn in_a_line(head: &str, results: &[CheckedPromise]) -> Page {
    let mut line = Line::new(Mood::Strong, format!("{head}:"));
    for (nth, result) in results.iter().enumerate() {
        let (mood, words) = match (result.verdict, &result.partly) {
            (Verdict::Broken, _) => (Mood::Bad, format!("{} BROKEN", result.name)),
            (Verdict::NeverTested, _) => (Mood::Odd, format!("{} not checked", result.name)),
            (Verdict::Undecided, _) => (Mood::Odd, format!("{} undecided", result.name)),
            (_, Some(left_out)) => (Mood::Plain, format!("{} ({left_out})", result.name)),
            (_, None) => (Mood::Plain, result.name.clone()),
        };
        line = line.then(Mood::Plain, if nth == 0 { " " } else { ", " }).then(mood, words);
    }
    if results.is_empty() { Page::new() } else { vec![Block::Blank, line.wrapped(head.len() + 2).into()] }
}

/// The shortest ways to break what was broken; that which the verdict names comes first.
pub(super) fn ways<'a>(
    all: impl Iterator<Item = &'a CheckedPromise>,
    first: Option<&str>,
    pictures: &[Picture],
) -> Page {
    let (mut named, others): (Vec<_>, Vec<_>) = all.partition(|result| Some(&*result.name) == first);
    named.extend(others);
    let of_one = |result: &'a CheckedPromise| {
        let owed = result.broken.iter().map(move |path| way(result, path, true, pictures));
        owed.chain(result.expected.iter().map(move |path| way(result, path, false, pictures)))
    };
    named.into_iter().flat_map(of_one).collect()
}

fn way(result: &CheckedPromise, path: &Path, owed: bool, pictures: &[Picture]) -> Block {
    let mut body: Page = path.assumption.iter().map(|it| below(failed(std::slice::from_ref(it)))).collect();
    body.extend(path.why.iter().map(|sentence| below(sentence.as_str())));
    body.extend(path.inevitable().map(below));
    body.push(Block::Steps(path.steps.clone(), path.matters.clone()));
    body.extend(end(&path.what));
    let picture = pictures.iter().find(|(name, is, _)| *name == result.name && *is == owed);
    body.extend(picture.map(|(_, _, diagram)| Block::Diagram(diagram.clone())));
    let expected = Verdict::BrokenAsExpected.resting_on(path.assumption.as_slice());
    Block::Card(broken(&result.name, if owed { Verdict::Broken } else { expected }), body)
}

/// How much was explored.
pub(super) fn explored(states: u64, transitions: u64, took: String) -> Page {
    let line = format!("{}, {}, {took}", of(states, "state"), of(transitions, "transition"));
    vec![Block::Blank, Line::from(line).into()]
}

/// What nothing has put to the test.
pub(super) fn untested(names: &[&str], exhaustive: bool) -> Option<Block> {
    let scope = if exhaustive { "within these bounds" } else { "so far" };
    let line = format!("not put to the test {scope}: {}", names.join(", "));
    (!names.is_empty()).then(|| Line::new(Mood::Odd, line).wrapped(0).into())
}

pub(super) fn how_far(undecided: bool) -> Option<Block> {
    let line = "--max-states, --max-depth and --time-limit say how far a search may go";
    undecided.then(|| Line::from(line).into())
}

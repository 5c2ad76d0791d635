//! A sweep.

use super::parts::{about, broken, failed, known, occasions, unheard, verdict_words, verdicts, what, why};
use crate::answers::sweep_answer;
use crate::merge::first_of_shard;
use crate::page::{Block, Cell, Group, Line, Mood, Page, below, missed};
use crate::report::Report;
use crate::suite::{Suite, of_sweep};
use crate::sweep::{Missing, Regression, SLEPT_ON, SweepReport, shard_of};
use crate::text::{Paint, text};
use crate::verdict::{CatalogueNote, Failure, PromiseResult, Verdict, named};
use crate::words::{count, of, seconds, wall};

/// How many breaks without a picture are listed, of each promise.
const LISTED: usize = 10;

/// A sweep in which all is well, in a few lines. Its last line says how to see more.
pub fn sweep_brief(report: &SweepReport, paint: Paint) -> String {
    let mut page = head(report, 1);
    page.push(Block::Blank);
    for (title, results) in [("promises", &report.promises), ("invariants", &report.invariants)] {
        page.push(Line::from(format!("{title}: {}", tally(results))).wrapped(2).into());
    }
    let missed = missed(&report.sometimes);
    let reached = report.sometimes.len() - missed.len();
    let never = if missed.is_empty() { String::new() } else { format!("; never: {}", missed.join(", ")) };
    let line = format!("cases reached: {reached} of {}{never}", report.sometimes.len());
    page.push(Line::from(line).wrapped(2).into());
    closing(&mut page, report);
    page.push(Line::from("-v shows every promise and every case").into());
    text(&page, paint)
}

impl Report for SweepReport {
    fn heading(&self) -> String {
        self.what.clone()
    }

    fn page(&self) -> Page {
        let mut page = head(self, self.facts.len());
        let seeds = self.seeds.count;
        page.push(verdicts(&self.promises, &self.invariants, seeds, &|result| {
            verdict_words(result, seeds, "seed")
        }));
        page.push(Block::Cases(self.sometimes.clone(), Some(seeds)));
        page.extend(self.regressions.iter().filter_map(again));
        page.extend(self.firsts().map(|(result, failure, how)| first(self, result, failure, how)));
        page.extend(others(self));
        if !self.herd.is_empty() {
            page.push(Block::Herd(self.herd.clone()));
        }
        closing(&mut page, self);
        page
    }

    fn suite(&self) -> Option<Suite> {
        Some(of_sweep(self))
    }
}

/// What was run.
fn head(report: &SweepReport, facts: usize) -> Page {
    let seeds = &report.seeds;
    let shard = seeds.shard.as_ref().map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let ran = format!(
        "seeds {}..{}{shard}: {} run, {} of them twice, to compare",
        seeds.first,
        seeds.end,
        count(seeds.count),
        count(seeds.twice)
    );
    let mut page = vec![
        Block::Title(report.recipe.clone(), report.about.clone()),
        Block::Facts(report.facts.iter().take(facts).cloned().collect()),
        below(ran),
    ];
    page.extend(regressions(report));
    page
}

/// How many cases of past failures were tried, and which of them could not be.
fn regressions(report: &SweepReport) -> Page {
    let all = &report.regressions;
    if all.is_empty() {
        return Page::new();
    }
    let broken = match all.iter().filter(|case| case.broken.is_some()).count() {
        0 => "none breaks".into(),
        1 => "1 breaks".into(),
        many => format!("{many} break"),
    };
    let tried = below(format!("{}, tried first: {broken}", of(all.len() as u64, "past failure")));
    let replay_error =
        all.iter().filter_map(|case| Some(format!("{}: {}", case.file, case.replay_error.as_ref()?)));
    let replay_error = replay_error.map(|words| Line::new(Mood::Odd, words).wrapped(2).into());
    std::iter::once(tried).chain(replay_error).collect()
}

/// A past failure that is there again.
fn again(case: &Regression) -> Option<Block> {
    let failure = case.broken.as_ref()?;
    let mut body = vec![below(format!("in {}, which was kept for {}", case.file, case.breaks))];
    body.extend(what(&failure.what));
    body.extend(failure.cause.iter().flat_map(why));
    body.push(Block::Command(failure.replay.clone()));
    Some(Block::Card(broken(&failure.promise, Verdict::Broken), body))
}

/// How many held, and which did not.
fn tally(results: &[PromiseResult]) -> String {
    let mut parts = vec![format!("{} held", named(results, Verdict::Held).count())];
    use Verdict::{Broken, BrokenAsExpected, NeverTested, Undecided};
    for verdict in [Broken, Undecided, BrokenAsExpected, NeverTested] {
        let names: Vec<&str> = named(results, verdict).collect();
        if !names.is_empty() {
            parts.push(format!("{}: {}", super::parts::verdict_word(verdict), names.join(", ")));
        }
    }
    parts.join("; ")
}

/// The first break of a promise.
fn first(report: &SweepReport, result: &PromiseResult, failure: &Failure, how: Verdict) -> Block {
    let owed = how == Verdict::Broken;
    let mut body: Page = about(&result.about).into_iter().collect();
    body.push(below(format!("first in seed {}, at {}", failure.seed, seconds(failure.virtual_ns))));
    body.extend(what(&failure.what));
    if let Some(cause) = &failure.cause {
        body.extend(why(cause));
        body.push(Block::Blank);
    }
    body.push(below(format!("digest {:016x}", failure.digest)));
    body.extend(match owed {
        true => rate_words(report, &failure.promise).map(below),
        false => Some(below(failed(&result.assumptions))),
    });
    body.push(Block::Command(failure.replay.clone()));
    body.extend(shrink_command(&failure.replay, &failure.promise).filter(|_| owed).map(Block::Command));
    body.extend(failure.diagram.clone().map(Block::Diagram));
    let title = broken(&failure.promise, how);
    if how == Verdict::BrokenAsExpected {
        Block::Aside(title.words(), body)
    } else {
        Block::Card(title, body)
    }
}

/// Some more of each promise.
fn others(report: &SweepReport) -> Option<Block> {
    let of_one = |name| report.failures.iter().filter(move |failure| failure.promise == name);
    let row = |failure: &Failure| {
        let cells = [failure.promise.clone(), failure.seed.to_string(), failure.what.clone()];
        let [promise, seed, what] = cells.map(Cell::from);
        vec![promise, seed, what.about(&failure.replay)]
    };
    let rows: Vec<_> = report.broken().flat_map(|name| of_one(name).skip(1).take(LISTED)).map(row).collect();
    let firsts = report.broken().filter(|name| of_one(name).next().is_some()).count();
    let hidden = report.failures.len().saturating_sub(firsts + rows.len()) as u64;
    let words = format!(
        "More seeds that broke something: {} shown, {} more in report.json",
        rows.len(),
        count(hidden)
    );
    let table = |rows| Block::Table("", vec![Group::new(["promise", "seed", "what"], rows)]);
    (!rows.is_empty()).then(|| Block::Aside(words, vec![table(rows)]))
}

/// The command that makes a run smaller, from the one that shows it again.
fn shrink_command(replay: &str, promise: &str) -> Option<String> {
    let (program, rest) = replay.split_once(" replay ")?;
    let rest = rest.strip_suffix(&format!(" --promise {promise}")).unwrap_or(rest);
    let command = format!("{program} shrink {rest} --promise {promise} --keep");
    rest.contains("--seed ").then_some(command)
}

/// In how many seeds nothing was judged at rest.
fn slept_words(report: &SweepReport) -> Option<String> {
    let seeds = report.slept_on();
    (seeds > 0).then(|| format!("not judged at rest in {}: {SLEPT_ON}", of(seeds, "seed")))
}

fn closing(page: &mut Page, report: &SweepReport) {
    let wall_seconds = report.wall_seconds.filter(|wall_seconds| *wall_seconds > 0.0);
    let took = wall_seconds.map(|wall_seconds| {
        let rate = count((report.virtual_seconds / wall_seconds) as u64);
        format!(" in {} ({rate} per second)", wall(wall_seconds))
    });
    let took = took.unwrap_or_default();
    page.push(Block::Blank);
    page.push(Line::from(format!("{} virtual seconds{took}", count(report.virtual_seconds as u64))).into());
    let (messages, steps) = (count(report.messages), count(report.steps));
    page.push(
        Line::from(format!("{messages} messages, {steps} steps, digest {:016x}", report.digest)).into(),
    );
    let unseen = unseen_words(report).filter(|_| report.confidence.rates.is_empty());
    page.extend(unseen.map(|words| Line::from(words).into()));
    page.extend(covered_words(report).map(|(covered, words)| {
        let mood = if covered { Mood::Plain } else { Mood::Odd };
        Line::new(mood, words).wrapped(2).into()
    }));
    page.extend(unheard(report.told.as_ref()));
    page.extend(slept_words(report).map(|words| Line::new(Mood::Odd, words).wrapped(2).into()));
    page.extend(missing_words(report).map(|words| Line::new(Mood::Odd, words).wrapped(2).into()));
    let promises = report.promises.iter();
    page.extend(occasions(promises.map(|promise| (&*promise.name, promise.tested_when.as_deref()))));
    page.push(Block::Answer(report.answer, Line::new(report.answer, sweep_answer(report)).wrapped(2)));
    page.extend(known(report.catalogue_note()));
    if let Some(CatalogueNote::NotSeen(_)) = report.catalogue_note() {
        page.push(Line::from("the model takes every run within small bounds:").into());
        page.push(Line::new(Mood::Strong, format!("zoocheck check {}", report.recipe)).into());
    }
    let again = report.regressions.iter().find_map(|case| case.broken.as_ref());
    let foremost = report.foremost();
    let kept = foremost.filter(|failure| report.broken().any(|name| name == failure.promise));
    if let Some(command) = kept.and_then(|failure| shrink_command(&failure.replay, &failure.promise)) {
        page.push(
            Line::from("to make it small, and keep it as a case that is tried first from then on:").into(),
        );
        page.push(Line::new(Mood::Strong, command).into());
    }
    if let Some(failure) = again.or(foremost) {
        page.push(Line::from("the same build, scenario and seed give the same run again:").into());
        page.push(Line::new(Mood::Strong, &failure.replay).into());
    }
}

/// How often a promise breaks, and how many green seeds say that it does not any more; `None` of one that does not
/// break.
fn rate_words(report: &SweepReport, promise: &str) -> Option<String> {
    let known = &report.confidence;
    let rate = known.rates.iter().find(|rate| rate.promise == promise)?;
    let (low, high, level) = (percent(rate.low), percent(rate.high), percent(known.level));
    let rates = match report.seeds.count {
        1 => "in the one seed that was run".into(),
        _ => format!("in {low} to {high} of all seeds ({level})"),
    };
    Some(format!(
        "{rates}; after a fix, {} {} at most a {} chance that it is still there",
        of(rate.green_seeds, "fresh green seed"),
        if rate.green_seeds == 1 { "leaves" } else { "leave" },
        percent(1.0 - known.level),
    ))
}

/// What such a sweep would have seen; `None` if it has no seeds.
fn unseen_words(report: &SweepReport) -> Option<String> {
    let known = &report.confidence;
    let (rate, sure) = (percent(known.unseen_below), percent(known.level));
    let line = format!("a break in {rate} of seeds or more would have shown, with {sure} confidence");
    (report.seeds.count > 0).then_some(line)
}

/// A share as `0.62 %`, with two digits that count.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent > 0.0 { (1.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize } else { 0 };
    let text = format!("{percent:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// Whether a sweep until nothing new is reached came to its end, and how that went.
fn covered_words(report: &SweepReport) -> Option<(bool, String)> {
    let until = report.until_covered.as_ref()?;
    let quiet = of(until.quiet, "seed");
    let last = until
        .last_new
        .map_or("nothing was reached at all".into(), |seed| format!("the last new case came in seed {seed}"));
    let line = match until.covered {
        true => format!("covered: nothing new in {quiet}; {last}"),
        false => format!("not covered: never {quiet} in a row with nothing new; {last}"),
    };
    Some((until.covered, line))
}

/// Which seeds were not run though they were asked for; `None` if all were.
fn missing_words(report: &SweepReport) -> Option<String> {
    let missing = missing(report);
    let what = match (report.seeds.endless, report.seeds.interrupted) {
        (true, _) => "ended by a step that goes on",
        (false, true) => "interrupted",
        (false, false) => "partial",
    };
    (!missing.is_empty()).then(|| format!("{what}: these seeds were not run: {}", missing.join(", ")))
}

/// What adjoins is one: shards that leave off at seeds next to one another, and shards of which nothing was run.
fn missing(report: &SweepReport) -> Vec<String> {
    let seeds = &report.seeds;
    let shard = |one: &Missing| shard_of(one.shard.as_deref()?);
    let mut missing: Vec<&Missing> = seeds.missing.iter().collect();
    missing.sort_by_key(|one| shard(one));
    // The first seed of a shard in a range that begins there.
    let begins = |one: &Missing, first: u64| {
        shard(one).is_some_and(|(index, of)| first_of_shard((first, seeds.end), index, of) == Some(one.from))
    };
    let from = missing.iter().map(|one| one.from).min().unwrap_or(seeds.end);
    let of = missing.first().and_then(|one| shard(one)).map_or(0, |(_, of)| of);
    if of > 0 && missing.len() as u64 == of && missing.iter().all(|one| begins(one, from)) {
        return vec![format!("those from {from} on")];
    }
    let is_next = |one: &Missing, next: &Missing| {
        let numbers = shard(one).zip(shard(next));
        let adjoin = numbers.is_some_and(|((one, _), (next, _))| one.checked_add(1) == Some(next));
        adjoin && begins(one, seeds.first) && begins(next, seeds.first)
    };
    let told = |block: &[&Missing]| {
        let one = block[0];
        match (&one.shard, block.last().and_then(|last| last.shard.as_ref())) {
            (Some(first), Some(last)) if block.len() > 1 => format!("all of shards {first} to {last}"),
            (Some(shard), _) if begins(one, seeds.first) => format!("all of shard {shard}"),
            (Some(shard), _) => format!("those of shard {shard} from {} on", one.from),
            (None, _) => format!("those from {} on", one.from),
        }
    };
    missing.chunk_by(|one, next| is_next(one, next)).map(told).collect()
}

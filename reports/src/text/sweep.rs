//! A sweep, for people.

use super::{Paint, count, coverage, heading, of, promise_tables, seconds, verdict_words, wall, wrapped};
use crate::merge::first_of_shard;
use crate::sweep::{Failure, Missing, PromiseResult, SweepReport};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::fmt::Write;

/// A sweep as text. Its last line is the command to type next, if something was broken, or the answer.
pub fn sweep_text(report: &SweepReport, paint: Paint) -> String {
    let mut out = String::new();
    header(&mut out, report, paint);
    let seeds = report.seeds.count;
    promise_tables(&mut out, paint, &report.promises, &report.invariants, &|r| {
        verdict_words(r, seeds, "seed")
    });
    coverage(&mut out, paint, &report.sometimes, &|case| of(case.seeds, "seed"));
    for name in report.broken() {
        if let Some(failure) = report.failures.iter().find(|failure| failure.promise == name) {
            first_failure(&mut out, report, failure, paint);
        }
    }
    closing(&mut out, report, paint);
    out
}

/// A sweep in which all is well, in a few lines. Its last line says how to see more.
pub fn sweep_brief(report: &SweepReport, paint: Paint) -> String {
    let mut out = String::new();
    heading(&mut out, paint, &report.recipe, &report.about, &report.facts[..report.facts.len().min(1)]);
    ran(&mut out, report);
    for (title, results) in [("promises", &report.promises), ("always watched", &report.invariants)] {
        let _ = writeln!(out, "{}", wrapped(&format!("{title}: {}", tally(results)), 2));
    }
    let missed: Vec<&str> =
        report.sometimes.iter().filter(|case| case.seeds == 0).map(|case| case.name.as_str()).collect();
    let reached = report.sometimes.len() - missed.len();
    let never = if missed.is_empty() { String::new() } else { format!("; never: {}", missed.join(", ")) };
    let line = format!("cases reached: {reached} of {}{never}", report.sometimes.len());
    let _ = writeln!(out, "{}", wrapped(&line, 2));
    closing(&mut out, report, paint);
    let _ = writeln!(out, "-v tells of each promise and each case");
    out
}

/// How many held, and which did not.
fn tally(results: &[PromiseResult]) -> String {
    let held = results.iter().filter(|result| result.verdict == Verdict::Held).count();
    let mut parts = vec![format!("{held} held")];
    for (verdict, words) in [
        (Verdict::Broken, "BROKEN"),
        (Verdict::BrokenAsExpected, "broken as expected"),
        (Verdict::NeverTested, "never put to the test"),
    ] {
        let names = results.iter().filter(|result| result.verdict == verdict);
        let names: Vec<&str> = names.map(|result| result.name.as_str()).collect();
        if !names.is_empty() {
            parts.push(format!("{words}: {}", names.join(", ")));
        }
    }
    parts.join("; ")
}

fn header(out: &mut String, report: &SweepReport, paint: Paint) {
    heading(out, paint, &report.recipe, &report.about, &report.facts);
    ran(out, report);
}

/// Which seeds were run.
fn ran(out: &mut String, report: &SweepReport) {
    let seeds = &report.seeds;
    let shard = seeds.shard.as_ref().map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "  seeds {}..{}{shard}: {} run, {} of them twice, to compare\n",
        seeds.first,
        seeds.end,
        count(seeds.count),
        count(seeds.twice)
    );
}

fn first_failure(out: &mut String, report: &SweepReport, failure: &Failure, paint: Paint) {
    let about = report.promise(&failure.promise).map(|result| result.about.as_str()).unwrap_or_default();
    let _ = writeln!(out, "\n{}", paint.bad(&format!("{}: broken", failure.promise)));
    if !about.is_empty() {
        let _ = writeln!(out, "  {}", wrapped(about, 2));
    }
    let _ = writeln!(out, "  first in seed {}, at {}", failure.seed, seconds(failure.virtual_ns));
    for line in failure.what.lines() {
        let _ = writeln!(out, "  {}", wrapped(line, 4).trim_start());
    }
    if let Some(cause) = &failure.cause {
        super::replay::why(out, cause, paint);
        out.push('\n');
    }
    let _ = writeln!(out, "  digest {:016x}", failure.digest);
    if let Some(line) = rate_words(report, &failure.promise) {
        let _ = writeln!(out, "  {}", wrapped(&line, 4));
    }
}

/// How often a promise breaks, and how many green seeds say that it does not any more; `None` of one that does not break.
pub(crate) fn rate_words(report: &SweepReport, promise: &str) -> Option<String> {
    let known = &report.confidence;
    let rate = known.rates.iter().find(|rate| rate.promise == promise)?;
    Some(format!(
        "in {} to {} of all seeds ({}); after a fix, {} leave at most {} that it is still there",
        percent(rate.low),
        percent(rate.high),
        percent(known.level),
        of(rate.green_seeds, "fresh green seed"),
        percent(1.0 - known.level),
    ))
}

fn closing(out: &mut String, report: &SweepReport, paint: Paint) {
    let wall_seconds = report.wall_seconds.filter(|wall_seconds| *wall_seconds > 0.0);
    let took = wall_seconds.map(|wall_seconds| {
        let rate = count((report.virtual_seconds / wall_seconds) as u64);
        format!(" in {} ({rate} per second)", wall(wall_seconds))
    });
    let _ = writeln!(
        out,
        "\n{} virtual seconds{}\n{} messages, {} steps",
        count(report.virtual_seconds as u64),
        took.unwrap_or_default(),
        count(report.messages),
        count(report.steps),
    );
    confidence(out, report);
    incomplete(out, report, paint);
    let _ = writeln!(out, "{}", paint.answer(report.answer, &wrapped(&answer_words(report), 2)));
    if let Some(note) = report.catalogue_note() {
        let line = wrapped(&note.to_string(), 2);
        let line = match note {
            CatalogueNote::AsCatalogued(_) => line,
            CatalogueNote::Other(_) | CatalogueNote::NotSeen(_) => paint.odd(&line),
        };
        let _ = writeln!(out, "{line}");
    }
    if let Some(failure) = report.failures.first() {
        let _ = writeln!(out, "the same build, scenario and seed give the same run again:");
        let _ = writeln!(out, "{}", paint.strong(&failure.replay));
    }
}

fn confidence(out: &mut String, report: &SweepReport) {
    if let Some(line) = unseen_words(report).filter(|_| report.confidence.rates.is_empty()) {
        let _ = writeln!(out, "{line}");
    }
}

/// What such a sweep would have seen; `None` if it has no seeds.
pub(crate) fn unseen_words(report: &SweepReport) -> Option<String> {
    let known = &report.confidence;
    let (rate, sure) = (percent(known.unseen_below), percent(known.level));
    let line = format!("what breaks in {rate} of all seeds or more would have shown here, with {sure}");
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

/// What was not run though it was asked for, and how far the search for what is new came.
fn incomplete(out: &mut String, report: &SweepReport, paint: Paint) {
    if let Some((covered, line)) = covered_words(report) {
        let line = if covered { line } else { paint.odd(&line) };
        let _ = writeln!(out, "{}", wrapped(&line, 2));
    }
    if let Some(line) = missing_words(report) {
        let _ = writeln!(out, "{}", paint.odd(&wrapped(&line, 2)));
    }
}

/// Whether a sweep until nothing new is reached came to its end, and how that went.
pub(crate) fn covered_words(report: &SweepReport) -> Option<(bool, String)> {
    let until = report.until_covered.as_ref()?;
    let quiet = of(until.quiet, "seed");
    let last = until.last_new.map_or("nothing was reached at all".into(), |seed| {
        format!("the last that was new came in seed {seed}")
    });
    let line = match until.covered {
        true => format!("covered: nothing new in {quiet}; {last}"),
        false => format!("not covered: there is no end of {quiet} with nothing new; {last}"),
    };
    Some((until.covered, line))
}

/// Which seeds were not run though they were asked for; `None` if all were.
pub(crate) fn missing_words(report: &SweepReport) -> Option<String> {
    let missing = missing(report);
    let what = if report.seeds.interrupted { "interrupted" } else { "partial" };
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
    let told = |part: &[&Missing]| {
        let one = part[0];
        match (&one.shard, part.last().and_then(|last| last.shard.as_ref())) {
            (Some(first), Some(last)) if part.len() > 1 => format!("all of shards {first} to {last}"),
            (Some(shard), _) if begins(one, seeds.first) => format!("all of shard {shard}"),
            (Some(shard), _) => format!("those of shard {shard} from {} on", one.from),
            (None, _) => format!("those from {} on", one.from),
        }
    };
    missing.chunk_by(|one, next| is_next(one, next)).map(told).collect()
}

/// `2/4` as numbers.
fn shard_of(shard: &str) -> Option<(u64, u64)> {
    let (index, of) = shard.split_once('/')?;
    Some((index.parse().ok()?, of.parse().ok()?)).filter(|(index, of)| (1..=*of).contains(index))
}

/// The answer of a sweep in words.
pub(crate) fn answer_words(report: &SweepReport) -> String {
    let untested = report.promises.iter().filter(|result| result.verdict == Verdict::NeverTested);
    let untested: Vec<&str> = untested.map(|result| result.name.as_str()).collect();
    match report.answer {
        Answer::Held => {
            let excused = report.all().any(|result| result.verdict == Verdict::BrokenAsExpected);
            let but = if excused { ", but for what was broken as expected" } else { "" };
            format!("every promise held{but}")
        }
        Answer::Broken => format!("BROKEN: {}", report.broken().collect::<Vec<_>>().join(", ")),
        Answer::Undecided if !untested.is_empty() => {
            format!("undecided: never put to the test: {}", untested.join(", "))
        }
        Answer::Undecided if !report.is_complete() => "undecided: not all seeds were run".into(),
        Answer::Undecided => "undecided: not covered".into(),
    }
}

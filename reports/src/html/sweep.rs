//! A sweep's page.

use super::{
    Banner, Break, Case, Note, Page, Row, Top, cases, drawn, rendered, shrink_command, thousandths, verdict,
};
use crate::sweep::{Failure, HerdPoint, PromiseResult, SweepReport};
use crate::text::{count, covered_words, failed, missing_words, rate_words, seconds, unseen_words, wall};
use crate::verdict::{CatalogueNote, Verdict};
use askama::Template;

/// How many breaks without a picture are listed, of each promise.
const LISTED: usize = 10;

/// A sweep as a page.
pub fn sweep_html(report: &SweepReport) -> String {
    let breaks = breaks(report);
    let others = others(report, &breaks);
    let (reached, unreached) = cases(&report.sometimes, report.seeds.count);
    let is_broken =
        |result: &PromiseResult| matches!(result.verdict, Verdict::Broken | Verdict::BrokenAsExpected);
    let row = |result: &PromiseResult| row(result, report.seeds.count);
    rendered(&SweepPage {
        page: Page::new(format!("{}: zoocheck", report.what)),
        top: Top {
            title: report.recipe.clone(),
            about: report.about.clone(),
            answer: Banner::new(report.answer, crate::text::sweep_answer(report)),
            notes: notes(report),
            figures: figures(report),
        },
        tables: vec![
            ("promise", report.promises.iter().map(row).collect(), true),
            // Long, and seldom of interest.
            (
                "always watched",
                report.invariants.iter().map(row).collect(),
                report.invariants.iter().any(is_broken),
            ),
        ],
        hidden: count((report.failures.len().saturating_sub(breaks.len() + others.len())) as u64),
        failures: breaks,
        others,
        herd: (!report.herd.is_empty()).then(|| herd(&report.herd)),
        reached,
        unreached,
        r: report,
    })
}

#[derive(Template)]
#[template(path = "sweep.html")]
struct SweepPage<'a> {
    page: Page,
    r: &'a SweepReport,
    top: Top,
    tables: Vec<(&'static str, Vec<Row>, bool)>,
    failures: Vec<Break>,
    others: Vec<&'a Failure>,
    hidden: String,
    herd: Option<HerdCurve>,
    reached: Vec<Case>,
    unreached: Vec<String>,
}

/// What limits the answer, how sure it is, and how it compares with the catalogue.
fn notes(report: &SweepReport) -> Vec<Note> {
    let unseen = unseen_words(report).filter(|_| report.confidence.rates.is_empty());
    let covered = covered_words(report).map(|(covered, words)| match covered {
        true => Note::plain(words),
        false => Note::limit(words),
    });
    let known = report.catalogue_note().map(|known: CatalogueNote<'_>| Note::plain(known.to_string()));
    [missing_words(report).map(Note::limit), covered, unseen.map(Note::plain), known]
        .into_iter()
        .flatten()
        .collect()
}

fn figures(report: &SweepReport) -> Vec<(String, &'static str)> {
    let seeds = &report.seeds;
    let mut figures = vec![
        (report.what.clone(), "what was run"),
        (count(seeds.count), "seeds"),
        (format!("{}..{}", seeds.first, seeds.end), "of the range"),
    ];
    figures.extend(seeds.shard.clone().map(|shard| (shard, "shard")));
    figures.extend([
        (count(seeds.twice), "run twice, to compare"),
        (count(report.virtual_seconds as u64), "virtual seconds"),
        (count(report.messages), "messages"),
    ]);
    figures.extend(report.wall_seconds.map(|seconds| (wall(seconds), "on the wall")));
    figures
}

fn row(result: &PromiseResult, seeds: u64) -> Row {
    let (class, words) = verdict(result.verdict);
    let mut broken = Vec::new();
    if result.broken > 0 {
        broken.push(format!("{} of {} seeds", count(result.broken), count(seeds)));
    }
    if result.expected > 0 {
        broken.push(format!("{} of {} seeds, as expected", count(result.expected), count(seeds)));
    }
    Row {
        name: result.name.clone(),
        about: result.about.clone(),
        class,
        verdict: words,
        tested: count(result.tested),
        broken: broken.join("; "),
        meter: [thousandths(result.broken, seeds), thousandths(result.expected, seeds)],
        why: if result.assumptions.is_empty() { String::new() } else { failed(&result.assumptions) },
    }
}

/// The first of each promise that broke, those that were not to be expected first.
fn breaks(report: &SweepReport) -> Vec<Break> {
    let firsts: Vec<(&PromiseResult, &Failure, Verdict)> = report.firsts().collect();
    let pictures = firsts.iter().filter(|(_, failure, _)| failure.diagram.is_some()).count();
    let one = |(result, failure, how): (&PromiseResult, &Failure, Verdict)| {
        let (class, words) = verdict(how);
        let mut what: Vec<String> = failure.what.lines().map(String::from).collect();
        what.extend(match how {
            Verdict::BrokenAsExpected => Some(failed(&result.assumptions)),
            Verdict::Broken | Verdict::Held | Verdict::NeverTested => rate_words(report, &failure.promise),
        });
        let mut commands = vec![failure.replay.clone()];
        commands.extend(shrink_command(&failure.replay, &failure.promise).filter(|_| how == Verdict::Broken));
        Break {
            class,
            verdict: words,
            promise: failure.promise.clone(),
            place: format!(
                "first in seed {}, at {}; digest {:016x}",
                failure.seed,
                seconds(failure.virtual_ns),
                failure.digest
            ),
            what,
            commands,
            steps: Vec::new(),
            drawn: failure.diagram.as_ref().map(|diagram| drawn(diagram, pictures)),
        }
    };
    firsts.into_iter().map(one).collect()
}

/// Some more of each promise.
fn others<'a>(report: &'a SweepReport, breaks: &[Break]) -> Vec<&'a Failure> {
    let of_one = |one: &Break| {
        let same = report.failures.iter().filter(|failure| failure.promise == one.promise);
        same.skip(1).take(LISTED).collect::<Vec<_>>()
    };
    breaks.iter().filter(|one| one.class == "broken").flat_map(of_one).collect()
}

/// Wake-ups by contenders, as a curve.
struct HerdCurve {
    grid: Vec<(u64, String)>,
    mean: String,
    most: String,
    dots: Vec<(u64, u64, u64, String)>,
    told: String,
}

fn herd(points: &[HerdPoint]) -> HerdCurve {
    let widest = points.iter().map(|point| point.contenders).max().unwrap_or(1).max(2);
    let highest = points.iter().map(|point| point.most).max().unwrap_or(1).max(2);
    let x = |contenders: u64| 50 + (contenders.saturating_sub(1)) * 490 / (widest - 1);
    // In thousandths, as a mean is no whole number.
    let y = |thousandths: u64| 205 - thousandths * 190 / (highest * 1000);
    let mean = |point: &HerdPoint| (u128::from(point.woken) * 1000 / u128::from(point.changes.max(1))) as u64;
    let line = |value: &dyn Fn(&HerdPoint) -> u64| {
        let dots = points.iter().map(|point| format!("{},{}", x(point.contenders), y(value(point))));
        dots.collect::<Vec<_>>().join(" ")
    };
    let dot = |point: &HerdPoint| {
        let mean = mean(point);
        let tip = format!(
            "{} wait: {}.{:02} woken by a change, {} at most, over {} changes",
            point.contenders,
            mean / 1000,
            mean % 1000 / 10,
            point.most,
            count(point.changes)
        );
        (x(point.contenders), y(mean), point.contenders, tip)
    };
    let dots: Vec<_> = points.iter().map(dot).collect();
    let step = highest.div_ceil(5);
    HerdCurve {
        grid: (0..=highest / step).map(|nth| (y(nth * step * 1000), (nth * step).to_string())).collect(),
        mean: line(&mean),
        most: line(&|point| point.most * 1000),
        told: dots.last().map(|(_, _, _, tip)| format!("With {tip}.")).unwrap_or_default(),
        dots,
    }
}

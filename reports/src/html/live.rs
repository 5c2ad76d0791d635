//! The page of a run on a live ensemble.

use super::{Banner, Note, Page, Top, rendered, verdict};
use crate::live::{LiveBreak, LivePromise, LiveReport};
use crate::text::{NOT_JUDGED, count, failed, live_answer, live_verdict, wall};
use crate::verdict::{CatalogueNote, Verdict};
use askama::Template;

/// A run on a live ensemble as a page. It has no picture: nobody saw the messages.
pub fn live_html(report: &LiveReport) -> String {
    let left = (!report.left.is_empty())
        .then(|| Note::limit(format!("left behind, and removed: {}", report.left.join(", "))));
    let known = report.catalogue_note().map(|known: CatalogueNote<'_>| Note::plain(known.to_string()));
    let happened = &report.happened;
    rendered(&LivePage {
        page: Page::new(format!("{}: zoocheck", report.what)),
        top: Top {
            title: report.recipe.clone(),
            about: format!(
                "{} On {}, which is live: what happens here happens once.",
                report.about, report.connect
            ),
            answer: Banner::new(report.answer, live_answer(report)),
            notes: left.into_iter().chain(known).collect(),
            figures: vec![
                (report.what.clone(), "what was run"),
                (count(report.clients.into()), "clients"),
                (count(report.rounds.into()), "rounds each"),
                (count(happened.grants), "grants"),
                (count(happened.sessions), "sessions"),
                (count(happened.sessions_lost), "sessions lost"),
                (count(happened.disconnections), "connections lost"),
                (count(happened.writes), "writes outside"),
                (wall(report.wall_seconds), "on the wall"),
            ],
        },
        tables: vec![
            ("promise", report.promises.iter().map(row).collect()),
            ("always watched", report.invariants.iter().map(row).collect()),
        ],
        breaks: report.all().flat_map(breaks).collect(),
    })
}

#[derive(Template)]
#[template(path = "live.html")]
struct LivePage {
    page: Page,
    top: Top,
    tables: Vec<(&'static str, Vec<Row>)>,
    breaks: Vec<Break>,
}

struct Row {
    name: String,
    about: String,
    class: &'static str,
    verdict: String,
    tested: String,
    why: String,
}

struct Break {
    class: &'static str,
    verdict: &'static str,
    promise: String,
    place: String,
    what: Vec<String>,
    timeline: Vec<String>,
}

fn row(result: &LivePromise) -> Row {
    let (class, words, tested) = match result.verdict {
        None => ("never-tested", NOT_JUDGED.to_string(), "not counted".to_string()),
        Some(known) => (verdict(known).0, live_verdict(known, result), count(result.tested)),
    };
    Row {
        name: result.name.clone(),
        about: result.about.clone(),
        class,
        verdict: words,
        tested,
        why: if result.assumptions.is_empty() { String::new() } else { failed(&result.assumptions) },
    }
}

fn breaks(result: &LivePromise) -> Vec<Break> {
    let one = |first: &LiveBreak, how: Verdict| {
        let (class, words) = verdict(how);
        Break {
            class,
            verdict: words,
            promise: result.name.clone(),
            place: format!("first at {:.3} s", first.seconds),
            what: first.what.lines().map(String::from).collect(),
            timeline: first.timeline.clone(),
        }
    };
    let owed = result.first.iter().map(|first| one(first, Verdict::Broken));
    owed.chain(result.first_expected.iter().map(|first| one(first, Verdict::BrokenAsExpected))).collect()
}

//! Reports as pages: one file each, that works from a disk, fetches nothing, and is read by keyboard and on a phone.
//!
//! | file | what is in it |
//! |---|---|
//! | `templates/*.html` | the pages; whatever is put into them is escaped by the templates' crate |
//! | `templates/report.css`, `report.js` | the style sheet, and what a page does; both are put into it |
//! | `layout` | where everything of a diagram stands |
//! | `sweep`, `check`, `judge`, `mutants`, `live` | what a page of each says; that of an ensemble is in `check` |
//!
//! Each page forbids itself the network, and every script and style but its own, which are named by their hashes.

mod check;
mod judge;
mod layout;
mod live;
mod mutants;
mod sweep;

pub use check::{check_html, ensemble_html};
pub use judge::judge_html;
pub(crate) use layout::shortened;
pub use live::live_html;
pub use mutants::mutants_html;
pub use sweep::sweep_html;

use crate::Reached;
use crate::diagram::Diagram;
use crate::text::count;
use crate::verdict::{Answer, Verdict};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use layout::Drawn;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("../templates/report.css");
const SCRIPT: &str = include_str!("../templates/report.js");

/// How many messages, bars and points all diagrams of a page have together, so that it stays small.
const ITEMS: usize = 4_500;

/// What every page has.
struct Page {
    title: String,
    policy: String,
    style: &'static str,
    script: &'static str,
}

impl Page {
    fn new(title: String) -> Page {
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
             form-action 'none'",
            hash(STYLE),
            hash(SCRIPT)
        );
        Page { title, policy, style: STYLE, script: SCRIPT }
    }
}

/// The answer of the whole.
struct Banner {
    class: &'static str,
    words: String,
}

impl Banner {
    fn new(answer: Answer, words: String) -> Banner {
        let class = match answer {
            Answer::Held => "held",
            Answer::Broken => "broken",
            Answer::Undecided => "undecided",
        };
        Banner { class, words }
    }
}

/// A line below the answer.
struct Note {
    class: &'static str,
    words: String,
}

impl Note {
    /// As any other line.
    fn plain(words: String) -> Note {
        Note { class: "", words }
    }

    /// One that limits the answer.
    fn limit(words: String) -> Note {
        Note { class: "undecided", words }
    }
}

/// What every page begins with.
struct Top {
    title: String,
    about: String,
    answer: Banner,
    notes: Vec<Note>,
    /// Each with what it counts.
    figures: Vec<(String, &'static str)>,
}

/// A promise in a table.
struct Row {
    name: String,
    about: String,
    class: &'static str,
    verdict: &'static str,
    tested: String,
    broken: String,
    /// Thousandths: broken, and broken as expected.
    meter: [u64; 2],
    why: String,
}

/// A break with its picture.
struct Break {
    class: &'static str,
    verdict: &'static str,
    promise: String,
    place: String,
    what: Vec<String>,
    commands: Vec<String>,
    /// The way there in words, where it is not drawn.
    steps: Vec<String>,
    drawn: Option<Drawn>,
}

/// An interesting case.
struct Case {
    name: String,
    seeds: String,
    times: String,
    /// Thousandths of the seeds.
    share: u64,
}

fn verdict(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Held => ("held", "held"),
        Verdict::Broken => ("broken", "BROKEN"),
        Verdict::BrokenAsExpected => ("broken-as-expected", "broken as expected"),
        Verdict::NeverTested => ("never-tested", "never put to the test"),
    }
}

/// Those that were reached, and the names of those that were not.
fn cases(all: &[Reached], seeds: u64) -> (Vec<Case>, Vec<String>) {
    let (reached, unreached): (Vec<_>, Vec<_>) = all.iter().partition(|case| case.times > 0);
    let case = |case: &Reached| Case {
        name: case.name.clone(),
        seeds: count(case.seeds),
        times: count(case.times),
        share: thousandths(case.seeds, seeds),
    };
    (reached.into_iter().map(case).collect(), unreached.into_iter().map(|case| case.name.clone()).collect())
}

fn thousandths(of: u64, all: u64) -> u64 {
    match all {
        0 => 0,
        // What happened is seen.
        all => (u128::from(of) * 1000 / u128::from(all)).max(u128::from(of > 0) * 12) as u64,
    }
}

/// A diagram, cut to its share of the page where there are `all`.
fn drawn(diagram: &Diagram, all: usize) -> Drawn {
    let most = ITEMS / all.max(1);
    if diagram.items() > most {
        return layout::lay_out(&diagram.clone().up_to(diagram.until, most));
    }
    layout::lay_out(diagram)
}

/// The command that makes a run smaller, from the one that shows it again.
pub(crate) fn shrink_command(replay: &str, promise: &str) -> Option<String> {
    let (program, rest) = replay.split_once(" replay ")?;
    let rest = rest.strip_suffix(&format!(" --promise {promise}")).unwrap_or(rest);
    let command = format!("{program} shrink {rest} --promise {promise} -o small.toml");
    rest.contains("--seed ").then_some(command)
}

fn rendered(page: &impl askama::Template) -> String {
    page.render().expect("writing into memory does not fail")
}

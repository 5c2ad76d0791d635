//! What came of a sweep, a replay or a check, as data: versioned JSON, JUnit, and text for people.
//!
//! | module | what is in it |
//! |---|---|
//! | `sweep` | [`SweepReport`]: many seeds of one scenario |
//! | `replay` | [`ReplayReport`]: one seed again |
//! | `check` | [`CheckReport`]: a model explored |
//! | `ensemble` | [`EnsembleReport`]: an ensemble explored |
//! | `compare` | [`CompareReport`]: recipes side by side |
//! | `mutants` | [`MutantsReport`]: the kill matrix |
//! | `mutate` | [`MutateReport`]: how strong the promises of recipes are |
//! | `exhaust` | [`ExhaustReport`]: one seed, some of its events in every order |
//! | `live` | [`LiveReport`]: one run on a live ensemble |
//! | `drive` | [`DriveReport`]: client programs in real time |
//! | `verdict` | [`Verdict`] of one promise, [`Answer`] of the whole |
//! | `cause` | [`Cause`]: why a promise was broken, and the [`Moment`]s that matter |
//! | `diagram` | [`Diagram`]: a piece of a run, to be drawn |
//! | `report` | [`Report`]: how each is shown |
//! | `page` | what can stand on a page for people |
//! | `pages` | what stands on the page of each report |
//! | `text` | a page as text, with colours if asked for |
//! | `html` | a page for browsers, with its diagrams |
//! | `markdown` | a page as Markdown |
//! | `words` | numbers and times in words |
//! | `suite` | [`Suite`]: a report as cases |
//! | `annotations` | cases as annotations of a build |
//! | `mermaid` | a diagram for wherever Markdown is shown |
//! | `junit` | cases for CI systems |
//! | `confidence` | [`Confidence`]: how much confidence a number of seeds gives |
//! | `merge` | merging the reports of shards into that of the sweep they share |
//! | `saved` | reports that were saved, read again |
//! | `schema` | [`schemas`]: JSON Schemas, derived from the types |
//! | `files` | files that are there whole or not at all |
//!
//! `tests/testdata/keys.txt` has every key of every JSON form; a change that breaks old readers raises the number in
//! [`SWEEP_SCHEMA`] and its like. Nothing here knows what a promise or a seed is for.

mod annotations;
mod cause;
mod check;
mod compare;
mod confidence;
mod diagram;
mod drive;
mod ensemble;
mod exhaust;
mod files;
mod herd;
mod html;
mod judge;
mod junit;
mod live;
mod markdown;
mod merge;
mod mermaid;
mod mutants;
mod mutate;
mod page;
mod pages;
mod replay;
mod report;
mod saved;
mod schema;
mod suite;
mod sweep;
mod text;
mod verdict;
mod words;

pub use annotations::annotations;
pub use cause::{Cause, Mark, Moment, NoReturn};
pub use check::{Bounds, CHECK_SCHEMA, CheckReport, CheckedPromise, How, Judgement, Limits, Path, Picture};
pub use compare::{BrokenUnder, COMPARE_SCHEMA, CompareReport, ComparedRecipe, Cost, UnderFault};
pub use confidence::{Confidence, Rate};
pub use diagram::{
    Arrow, ArrowKind, Bar, BarKind, DIAGRAM_SCHEMA, Diagram, Lane, LaneKind, LeftOut, Point, PointKind, Unit,
};
pub use drive::{DRIVE_SCHEMA, DriveFailure, DriveReport, DriveUndecided};
pub use ensemble::{ENSEMBLE_SCHEMA, EnsembleBounds, EnsembleReport, WholeServers};
pub use exhaust::{BrokenOrder, EXHAUST_SCHEMA, ExhaustReport};
pub use files::{
    FileError, prepare_dir, prepare_file, prepare_new_dir, prepare_report_dir, write_dir, write_report,
    write_so_far, write_whole,
};
pub use herd::{HERD_SCHEMA, HerdReport, HerdRun, HerdTrial};
pub use judge::{Engines, Expected, JUDGE_SCHEMA, JudgeReport, JudgedPromise, JudgedTrial};
pub use junit::junit;
pub use live::{Happened, LIVE_SCHEMA, LiveBreak, LivePromise, LiveReport};
pub use merge::{MergeError, difference, first_of_shard, merge};
pub use mermaid::{MERMAID_KEPT, mermaid};
pub use mutants::{Beyond, Fate, Kill, MUTANTS_SCHEMA, ModelKill, MutantResult, MutantsReport};
pub use mutate::{
    Killed, MUTATE_SCHEMA, MutateReport, MutateTally, MutatedRecipe, MutationFate, MutationResult,
};
pub use pages::{costs_markdown, judge_by_promises, replay_text, sweep_brief};
pub use replay::{Lines, REPLAY_SCHEMA, ReplayReport, Seen};
pub use report::Report;
pub use saved::{REPORT_FILE, ReadError, read_sweep, report_file};
pub use schema::schemas;
pub use suite::Suite;
pub use sweep::{
    Failure, HerdPoint, Missing, PromiseResult, Reached, Regression, SWEEP_SCHEMA, Seeds, SweepReport,
    UntilCovered,
};
pub use text::Paint;
pub use verdict::{Answer, CatalogueNote, Catalogued, Verdict, needs};
pub use words::{count, named_in, of, seconds, wrapped};

/// A report as JSON, indented, with a newline at its end.
pub fn to_json<T: serde::Serialize>(report: &T) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("reports have string keys and finite numbers");
    text.push('\n');
    text
}

/// A 64-bit number as 16 hex digits: JSON readers keep 53 bits of a number.
pub(crate) mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

//! What came of a sweep, a replay or a check, as data: versioned JSON, JUnit, and text for people.
//!
//! | item | what it is |
//! |---|---|
//! | [`SweepReport`] | many seeds of one scenario |
//! | [`ReplayReport`] | one seed again |
//! | [`ExhaustReport`] | one seed, some of its events in every order |
//! | [`CheckReport`] | a model explored |
//! | [`EnsembleReport`] | an ensemble explored |
//! | [`JudgeReport`] | recipes swept and checked, each with its verdict |
//! | [`CompareReport`] | recipes side by side |
//! | [`HerdReport`] | how many clients a release wakes, by how many contend |
//! | [`MutantsReport`] | the kill matrix |
//! | [`MutateReport`] | how strong the promises of recipes are |
//! | [`LiveReport`] | one run on a live ensemble |
//! | [`DriveReport`] | client programs in real time |
//! | [`Verdict`], [`Answer`] | of one promise, and of the whole |
//! | [`Cause`], [`Moment`] | why a promise was broken, and the moments that matter |
//! | [`Diagram`], [`mermaid()`] | a piece of a run, to be drawn, and as a Mermaid diagram |
//! | [`Confidence`] | how much confidence a number of seeds gives |
//! | [`Report`], [`Paint`] | how each report is shown: as text, with colours if asked for, as HTML, as Markdown |
//! | [`Suite`], [`junit()`], [`annotations()`] | a report as cases, for CI systems |
//! | [`to_json`], [`SCHEMAS`] | a report as JSON, and the JSON Schemas of all, derived from the types |
//! | [`read_sweep`], [`merge()`] | reports that were saved, read again; those of shards, merged |
//! | [`write_report`], [`write_dir`] | files that are there whole or not at all |
//! | [`count`], [`seconds`], [`of`], [`each_once`] | numbers and times in words, and what they name |
//!
//! `tests/testdata/keys.txt` has every key of every JSON form; a change that breaks old readers raises the number in
//! [`SWEEP_SCHEMA`] and its like. Nothing here knows what a promise or a seed is for.
//!
//! Each form of JSON has a schema, which says its name and version:
//!
//! ```
//! use zk_reports::{SCHEMAS, SWEEP_SCHEMA};
//!
//! let (name, schema) = SCHEMAS.into_iter().find(|(name, _)| *name == SWEEP_SCHEMA).expect("it has one");
//! let schema = schema(name);
//! assert_eq!(schema["properties"]["schema"]["const"], SWEEP_SCHEMA);
//! assert_eq!(schema["additionalProperties"], false);
//! ```
//!
//! A report is data, and each is shown in the same forms:
//!
//! ```
//! use zk_reports::{Answer, HERD_SCHEMA, HerdReport, HerdRun, HerdTrial, Paint, Report, to_json};
//!
//! let run = HerdRun { contenders: 8, granted: 8, woken: 28, most: 7 };
//! let trial = HerdTrial { name: "lock/simple".into(), wrong: true, runs: vec![run] };
//! let (schema, answer) = (HERD_SCHEMA.into(), Answer::Held);
//! let report = HerdReport { schema, seed: 7, trials: vec![trial], answer, wall_seconds: 0.5 };
//! assert!(to_json(&report).contains("\"woken\": 28"));
//! assert!(report.text(Paint::PLAIN).contains("lock/simple"));
//! assert!(report.html().starts_with("<!doctype html>"));
//! ```
//!
//! A diagram of two lanes and one message:
//!
//! ```
//! use zk_reports::{Arrow, ArrowKind, Diagram, Lane, LaneKind, Unit, mermaid};
//!
//! let lane = |name: &str, kind| Lane { name: name.into(), kind };
//! let lanes = vec![lane("s0", LaneKind::Server), lane("p0", LaneKind::Client)];
//! let mut diagram = Diagram::new(Unit::Steps, lanes);
//! let (kind, label, paths) = (ArrowKind::Request, "create /a".into(), vec!["/a".into()]);
//! diagram.arrows.push(Arrow { from: 1, to: 0, sent: 1, arrived: Some(2), kind, label, paths });
//! diagram.until = 2;
//! assert!(mermaid(&diagram).ends_with("l1->>l0: create /a\n"));
//! ```

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `sweep`, `replay`, `exhaust`, `live`, `drive` | a report each: of runs |
// | `check`, `ensemble` | likewise, of models |
// | `judge`, `compare`, `mutants`, `mutate`, `herd` | likewise, of recipes and of the checker itself |
// | `verdict` | `Verdict` and `Answer`; `PromiseResult` and `Failure` |
// | `cause` | `Cause` and `Moment` |
// | `diagram` | `Diagram` |
// | `report` | `Report`: how each is shown |
// | `page` | what can stand on a page for people |
// | `pages` | what stands on the page of each report |
// | `text` | a page as text, with colours if asked for |
// | `html` | a page for browsers, with its diagrams |
// | `markdown` | a page as Markdown |
// | `words`, `answers` | numbers and times in words; answers in words |
// | `suite` | `Suite`: a report as cases |
// | `annotations` | cases as annotations of a build |
// | `mermaid` | a diagram for wherever Markdown is shown |
// | `junit`, `json` | cases for CI systems; reports as JSON |
// | `confidence` | `Confidence` |
// | `merge` | merging the reports of shards into that of the sweep they share |
// | `saved` | reports that were saved, read again |
// | `schema` | `SCHEMAS`, `SchemaMaker` |
// | `files` | files that are there whole or not at all |

mod annotations;
mod answers;
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
mod json;
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
mod told;
mod verdict;
mod words;

pub use annotations::annotations;
pub use answers::open;
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
pub use json::to_json;
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
pub use schema::{SCHEMAS, SchemaMaker};
pub use suite::Suite;
pub use sweep::{
    HerdPoint, Missing, Reached, Regression, SLEPT_ON, SWEEP_SCHEMA, Seeds, SweepReport, UntilCovered,
};
pub use text::Paint;
pub use told::{Told, Unheard};
pub use verdict::{
    Answer, CatalogueNote, Catalogued, Failure, Judged, PromiseResult, UNSAID, Verdict, named, needs,
};
pub use words::{count, each_once, named_in, of, seconds, wrapped};

//! Lines of a run, and those of them that say why a promise was broken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// In sentences.
    pub why: Vec<String>,
    /// Of the timeline, the lines that matter, worked back from the break; that is the last.
    pub moments: Vec<Moment>,
}

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// When, in virtual time.
    pub virtual_ns: u64,
    /// Where: a process, or `--` for what is at none of them.
    pub who: String,
    /// What kind of line it is.
    pub mark: Mark,
    /// What happened, in a short sentence that may begin with `who`.
    pub what: String,
}

/// Which lines of a timeline stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// None of the others.
    Event,
    /// A fault that was injected.
    Fault,
    /// A promise was broken.
    Broken,
    /// A promise was broken, as was to be expected.
    Expected,
}

impl Mark {
    /// What a line begins with.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Mark::Event => "",
            Mark::Fault => "FAULT ",
            Mark::Broken => "BROKEN ",
            Mark::Expected => "BROKEN AS EXPECTED ",
        }
    }

    /// Its class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Mark::Event => "",
            Mark::Fault => "fault",
            Mark::Broken => "broken",
            Mark::Expected => "expected",
        }
    }
}

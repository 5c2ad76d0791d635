//! Lines of a run, and those of them that say why a promise was broken.

use crate::words::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// In sentences.
    pub why: Vec<String>,
    /// The lines of the timeline that matter, traced back from the break, which is the last of them.
    pub moments: Vec<Moment>,
    /// From when on the break was no longer avoided, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_return: Option<NoReturn>,
}

/// From when on a break was no longer avoided: the run was repeated up to some event, and after that everything but its
/// faults was drawn anew, a number of times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoReturn {
    /// When that event came, in virtual time.
    pub virtual_ns: u64,
    /// Which event.
    pub what: String,
    /// How often it was drawn anew. After the event, it breaks every time.
    pub redraws: u32,
    /// How often the break is avoided after the event before.
    pub avoided: u32,
}

/// An event is named where one in so many redraws from just before it avoids the break: of fewer, it may be chance that
/// none is left.
const SHARP: u32 = 4;

impl std::fmt::Display for NoReturn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NoReturn { virtual_ns, what, redraws, avoided } = self;
        match avoided {
            0 => write!(f, "With the same faults and other delays, {redraws} of {redraws} runs break it."),
            few if few * SHARP < *redraws => write!(
                f,
                "Decided by {} ({what}): with the same faults and other delays from then on, {redraws} of {redraws} runs break it.",
                seconds(*virtual_ns)
            ),
            _ => write!(
                f,
                "Turning point at {}: {what}. With the same faults and other delays from then on, {redraws} of {redraws} \
                 runs break it; from just before, {}.",
                seconds(*virtual_ns),
                redraws - avoided
            ),
        }
    }
}

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// When, in virtual time.
    pub virtual_ns: u64,
    /// Where: a process, or `--` for what happens at no process.
    pub who: String,
    /// What kind of line it is.
    pub mark: Mark,
    /// What happened, in a short sentence that may begin with `who`.
    pub what: String,
}

/// Which lines of a timeline stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Mark {
    /// None of the others.
    #[strum(serialize = "")]
    Event,
    /// A fault that was injected.
    Fault,
    /// A promise was broken.
    Broken,
    /// A promise was broken, as was to be expected.
    Expected,
    /// A promise was broken, unless that was meant.
    Undecided,
}

impl Mark {
    /// What a line begins with.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Mark::Event => "",
            Mark::Fault => "FAULT ",
            Mark::Broken => "BROKEN ",
            Mark::Expected => "BROKEN AS EXPECTED ",
            Mark::Undecided => "UNDECIDED ",
        }
    }

    /// Its class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        self.into()
    }
}

//! A run as lines, each with what it is of: what people are told, and what causes are followed in.
//!
//! Both engines tell their runs so: the simulator in `run::timeline`, models in `steps`.

pub(crate) mod cause;
mod past;
pub(crate) mod steps;
pub(crate) mod words;

use zk_api::{ErrorCode, Request, Response, Zxid};
use zk_harness::event::{ActorId, Event};
use zk_reports::Mark;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// When: in virtual nanoseconds, or which step of a model.
    pub(crate) at: u64,
    /// Where: a process, or `--` for what is at none of them.
    pub(crate) who: String,
    /// What kind of line it is.
    pub(crate) mark: Mark,
    /// What happened, in a short sentence that may begin with `who`.
    pub(crate) what: String,
    /// The znodes it is about.
    pub(crate) paths: Vec<String>,
    /// What it tells, in order.
    pub(crate) deeds: Vec<Deed>,
    /// Who tells it.
    pub(crate) told: Told,
}

impl Line {
    /// One that stands everywhere, and says nothing of znodes.
    pub(crate) fn new(at: u64, who: String, mark: Mark, what: String) -> Line {
        Line { at, who, mark, what, paths: Vec::new(), deeds: Vec::new(), told: Told::Everywhere }
    }
}

/// Where a line stands: a request is an arrow in a picture, and what it changes is a part of its line in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "run"), allow(dead_code, reason = "steps of a model stand everywhere"))]
pub(crate) enum Told {
    /// Everywhere.
    Everywhere,
    /// In a text alone: a request with its answer.
    InText,
    /// In a picture alone: what a request has changed.
    InPictures,
}

/// What a line tells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    /// A request is served.
    Call(Call),
    /// What a promise sees.
    Event(Event),
}

/// A request, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Who asks.
    pub(crate) actor: ActorId,
    /// For what.
    pub(crate) request: Request,
    /// What it was answered, and by which state, if that is known.
    pub(crate) answer: Option<(Result<Response, ErrorCode>, Option<Zxid>)>,
    /// When the answer was there, unless it was lost.
    pub(crate) heard: Option<u64>,
    /// It is still on its way where the story ends.
    pub(crate) is_open: bool,
}

impl Call {
    /// What it was answered, whether or not anybody heard it.
    pub(crate) fn result(&self) -> Option<&Result<Response, ErrorCode>> {
        self.answer.as_ref().map(|(result, _)| result)
    }

    /// Whether it was done, and who asked for it was not told so.
    pub(crate) fn is_done_untold(&self) -> bool {
        self.heard.is_none() && !self.is_open && matches!(self.result(), None | Some(Ok(_)))
    }
}

//! What reports have in common: a page, which can be shown in several forms.

use crate::html::html;
use crate::markdown::markdown;
use crate::page::Page;
use crate::text::text;
use crate::{CheckReport, CompareReport, EnsembleReport, JudgeReport, LiveReport, Paint, Suite, SweepReport};
use std::fmt;

/// What came of a command.
pub trait Report: serde::Serialize {
    /// The heading of its page for browsers.
    fn heading(&self) -> String;

    /// What stands on its page, in the order in which text has it.
    fn page(&self) -> Page;

    /// Its cases, for CI systems.
    fn suite(&self) -> Option<Suite> {
        None
    }

    /// As text. Its last line is the answer, or the command to type next.
    fn text(&self, paint: Paint) -> String {
        text(&self.page(), paint)
    }

    /// As a page for browsers.
    fn html(&self) -> String {
        html(&self.heading(), &self.page())
    }

    /// As Markdown, for `$GITHUB_STEP_SUMMARY` and its like.
    fn markdown(&self) -> String {
        markdown(&self.page())
    }

    /// As Markdown for a file beside the code.
    fn table(&self) -> String {
        self.markdown()
    }
}

macro_rules! shown_as_text {
    ($($report:ty)*) => {
        $(impl fmt::Display for $report {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text(Paint::PLAIN))
            }
        })*
    };
}

shown_as_text!(SweepReport CheckReport EnsembleReport LiveReport JudgeReport CompareReport);

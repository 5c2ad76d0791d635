//! How far it is, on stderr.

use crate::output::{Format, is_watched};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::time::{Duration, Instant};

/// Tells how far it is: a bar on a terminal, a plain line now and then elsewhere, nothing for a machine that reads
/// JSON.
pub(crate) enum Progress {
    Bar(ProgressBar),
    Lines { last: Instant },
    Quiet,
}

/// The time between two plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Progress {
    /// `total` is `None` where nobody can know it.
    pub(crate) fn new(format: Format, total: Option<u64>) -> Progress {
        match (is_watched(), format) {
            (true, _) => {
                let (bar, style) = match total {
                    Some(total) => (ProgressBar::new(total), "{bar:32} {pos}/{len} {msg}"),
                    None => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
                };
                bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
                Progress::Bar(bar)
            }
            (false, Format::Human) => Progress::Lines { last: Instant::now() },
            (false, Format::Json) => Progress::Quiet,
        }
    }

    /// So far; `line` is called only if it will be shown, and says all.
    pub(crate) fn at(&mut self, position: u64, note: impl FnOnce() -> String, line: impl FnOnce() -> String) {
        match self {
            Progress::Bar(bar) => {
                bar.set_position(position);
                bar.set_message(note());
            }
            Progress::Lines { last } if last.elapsed() >= BETWEEN_LINES => {
                *last = Instant::now();
                // Nobody to tell is no reason to stop.
                let _ = writeln!(std::io::stderr(), "{}", line());
            }
            Progress::Lines { .. } | Progress::Quiet => {}
        }
    }
}

impl Drop for Progress {
    /// The bar makes room for the result.
    fn drop(&mut self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

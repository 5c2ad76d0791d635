//! How far it is, on stderr.

#[cfg(feature = "run")]
use crate::BadInput;
use crate::output::{Format, is_interactive};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tells how far it is.
pub(crate) struct Progress {
    shown: Shown,
    /// How far it was last, for who is told if a signal ends the command.
    last: Option<Arc<Mutex<String>>>,
}

/// A bar on a terminal, a plain line now and then elsewhere, nothing for a machine that reads JSON.
enum Shown {
    Bar(ProgressBar),
    Lines { last: Instant },
    Quiet,
}

/// The time between two plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Progress {
    /// `total` is `None` where nobody can know it.
    pub(crate) fn new(format: Format, total: Option<u64>) -> Progress {
        let shown = match (is_interactive(), format) {
            (true, _) => {
                let (bar, style) = match total {
                    Some(total) => (ProgressBar::new(total), "{bar:32} {pos}/{len} {msg}"),
                    None => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
                };
                bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
                Shown::Bar(bar)
            }
            (false, Format::Human) => Shown::Lines { last: Instant::now() },
            (false, Format::Json) => Shown::Quiet,
        };
        Progress { shown, last: None }
    }

    /// The same of a command that has no answer before its end: a signal ends it, and how far it was is the last line.
    #[cfg(feature = "run")]
    pub(crate) fn without_answer(format: Format, total: Option<u64>) -> Result<Progress, BadInput> {
        let last = Arc::new(Mutex::new("nothing done yet".to_owned()));
        crate::interrupt::end_with(last.clone())?;
        let mut progress = Progress::new(format, total);
        progress.last = Some(last);
        Ok(progress)
    }

    /// So far; `line` says all.
    pub(crate) fn at(&mut self, position: u64, note: impl FnOnce() -> String, line: impl Fn() -> String) {
        if let Some(last) = &self.last {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = line();
        }
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_position(position);
                bar.set_message(note());
            }
            Shown::Lines { last } if last.elapsed() >= BETWEEN_LINES => {
                *last = Instant::now();
                // Nobody to tell is no reason to stop.
                let _ = writeln!(std::io::stderr(), "{}", line());
            }
            Shown::Lines { .. } | Shown::Quiet => {}
        }
    }
}

impl Drop for Progress {
    /// The bar makes room for the result.
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

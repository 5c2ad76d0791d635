//! How far it is, on stderr.

use crate::output::{Format, is_watched};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::time::{Duration, Instant};
use zk_reports::count;

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

/// How fast it goes.
pub(crate) struct Pace {
    began: Instant,
    from: u64,
}

impl Pace {
    /// Of what begins now, at that position.
    pub(crate) fn from(position: u64) -> Pace {
        Pace { began: Instant::now(), from: position }
    }

    /// `120 a second, 4 s left`.
    pub(crate) fn words(&self, position: u64, total: u64) -> String {
        pace(position - self.from, total - position, self.began.elapsed())
    }
}

fn pace(done: u64, left: u64, took: Duration) -> String {
    let a_second = done as f64 / took.as_secs_f64().max(1e-3);
    if a_second <= 0.0 {
        return "not begun".into();
    }
    let rate = if a_second < 10.0 { format!("{a_second:.1}") } else { count(a_second as u64) };
    let left = (left as f64 / a_second).ceil() as u64;
    let left = match (left / 3600, left / 60 % 60, left % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{} h {minutes} min", count(hours)),
    };
    format!("{rate} a second, {left} left")
}

impl Drop for Progress {
    /// The bar makes room for the result.
    fn drop(&mut self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_tells_rate_and_time_left() {
        assert_eq!(pace(100, 50, Duration::from_secs(10)), "10 a second, 5 s left");
        assert_eq!(pace(3, 10, Duration::from_secs(2)), "1.5 a second, 7 s left");
        assert_eq!(pace(12_000, 6_000_000, Duration::from_secs(10)), "1,200 a second, 1 h 23 min left");
        assert_eq!(pace(10, 905, Duration::from_secs(1)), "10 a second, 1 min 31 s left");
        assert_eq!(pace(0, 5, Duration::ZERO), "not begun");
    }
}

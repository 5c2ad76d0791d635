//! How fast a sweep goes, and how long it will.

use std::time::{Duration, Instant};
use zk_reports::count;

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

//! Clocks: each process has its own, which may be wrong.

/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// A process's clock: an offset, and a rate in parts per thousand away from true.
#[derive(Clone, Debug)]
pub struct Clock {
    /// True time when the rate was last changed.
    anchor_ns: u64,
    /// What the clock showed then, in nanoseconds since the Unix epoch.
    shown_ns: i64,
    rate_permille: i64,
    /// All its jumps together.
    jumped_ms: i64,
}

/// What a right clock shows at the start of a run: an arbitrary day.
const START_NS: i64 = 1_700_000_000_000 * 1_000_000;

/// No clock is wrong by more at the start.
const MOST_OFFSET_NS: i64 = 10_000_000_000;

impl Default for Clock {
    fn default() -> Clock {
        Clock::new(0)
    }
}

impl Clock {
    /// A clock that is wrong by `offset_ms`.
    pub fn new(offset_ms: i64) -> Clock {
        Clock { anchor_ns: 0, shown_ns: START_NS + offset_ms * 1_000_000, rate_permille: 1000, jumped_ms: 0 }
    }

    /// What it shows, in nanoseconds since the Unix epoch.
    pub fn wall_ns(&self, now_ns: u64) -> i64 {
        let passed = now_ns - self.anchor_ns;
        // Most clocks keep the right time, and to divide 128 bits takes long.
        let shown = match self.rate_permille {
            1000 => passed as i64,
            rate => (i128::from(passed) * i128::from(rate) / 1000) as i64,
        };
        self.shown_ns + shown
    }

    /// The same in milliseconds.
    pub fn now_ms(&self, now_ns: u64) -> i64 {
        self.wall_ns(now_ns).div_euclid(1_000_000)
    }

    /// How far it has gone on in this run, but for its jumps.
    pub fn steady_ns(&self, now_ns: u64) -> u64 {
        let passed = self.wall_ns(now_ns) - self.jumped_ms * 1_000_000 - START_NS;
        u64::try_from(passed + MOST_OFFSET_NS).unwrap_or(0)
    }

    /// What it would show if it had never jumped.
    pub fn steady_ms(&self, now_ns: u64) -> i64 {
        self.now_ms(now_ns) - self.jumped_ms
    }

    /// How long it really takes until this clock has gone on by `local_ns`. Rounded up, so that it then shows it.
    pub fn real_ns(&self, local_ns: u64) -> u64 {
        (u128::from(local_ns) * 1000).div_ceil(self.rate_permille as u128) as u64
    }

    /// From now on it runs fast (or slow, below zero) by so many parts per thousand. Gives by how many the rate
    /// has changed.
    pub fn skew(&mut self, now_ns: u64, permille: i32) -> u64 {
        self.shown_ns = self.wall_ns(now_ns);
        self.anchor_ns = now_ns;
        let before = std::mem::replace(&mut self.rate_permille, (1000 + i64::from(permille)).max(1));
        before.abs_diff(self.rate_permille)
    }

    /// It jumps. Timers that run do not.
    pub fn jump(&mut self, by_ms: i64) {
        self.shown_ns += by_ms * 1_000_000;
        self.jumped_ms += by_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_fires_its_timers_early() {
        let mut clock = Clock::new(0);
        clock.skew(0, 250);
        assert_eq!(clock.real_ns(1_000), 800);
        assert_eq!(clock.now_ms(800_000_000) - clock.now_ms(0), 1000);
    }

    #[test]
    fn a_jump_moves_the_clock_and_no_timer() {
        let mut clock = Clock::new(-5);
        let before = clock.now_ms(0);
        clock.jump(-2_000);
        assert_eq!(clock.now_ms(0) - before, -2_000);
        assert_eq!(clock.steady_ms(0), before);
        assert_eq!(clock.real_ns(1_000), 1_000);
    }

    #[test]
    fn a_change_of_rate_does_not_move_the_clock() {
        let mut clock = Clock::new(0);
        clock.skew(0, -500);
        let before = clock.now_ms(10_000_000_000);
        clock.skew(10_000_000_000, 0);
        assert_eq!(clock.now_ms(10_000_000_000), before);
        assert_eq!(before - Clock::new(0).now_ms(0), 5_000);
    }
}

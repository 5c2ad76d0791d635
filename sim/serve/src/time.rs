//! Time since the start, by a clock that nobody sets.

/// Nanoseconds since the start.
pub(crate) type Nanos = u64;

/// A millisecond.
pub(crate) const MS: Nanos = 1_000_000;

/// Milliseconds of the clock that nobody sets.
pub(crate) fn steady_ms(now: Nanos) -> i64 {
    i64::try_from(now / MS).unwrap_or(i64::MAX)
}

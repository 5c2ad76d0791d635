//! The order of a process's timers: which of them may be over first.

use std::cmp::Ordering;
use std::time::Duration;

/// A clock may go so many times as fast at one time as at another: the simulator's, at half the true rate or half as
/// fast again.
const RATES: u32 = 3;

/// The timers before which no other is over for certain, as far as the process's clock can tell; all of them if it may
/// `stand_still`. Each is told by how long it is, and how old.
pub fn over_first(timers: &[(Duration, u8)], stand_still: bool) -> impl Iterator<Item = u8> {
    let is_first = move |timer| stand_still || !timers.iter().any(|other| is_over_before(other, timer));
    (0_u8..).zip(timers).filter(move |(_, timer)| is_first(timer)).map(|(nth, _)| nth)
}

/// Whether a timer is over for certain before another. What was set in one step is told by one clock at one rate; that
/// may change before the next.
fn is_over_before((short, age): &(Duration, u8), (long, other): &(Duration, u8)) -> bool {
    match age.cmp(other) {
        Ordering::Equal => short < long,
        Ordering::Greater => short.saturating_mul(RATES) <= *long,
        Ordering::Less => false,
    }
}

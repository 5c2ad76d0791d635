//! Transaction ids.

use std::fmt;

/// The id of a transaction: the epoch of the leader that proposed it, and a counter within the epoch.
///
/// Totally ordered, epochs first. Zero is before every transaction.
///
/// ```
/// use zk_api::Zxid;
/// let first = Zxid::new(1, 1);
/// assert!(Zxid::ZERO < first && first.next() < Zxid::new(2, 0));
/// assert_eq!(first.to_string(), "1:1");
/// assert_eq!(Zxid::from_i64(first.to_i64()), first);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid {
    /// The leader's epoch.
    pub epoch: u32,
    /// Counts the epoch's transactions, from 1.
    pub counter: u32,
}

impl Zxid {
    /// Before every transaction.
    pub const ZERO: Zxid = Zxid { epoch: 0, counter: 0 };

    /// The transaction number `counter` of `epoch`.
    pub const fn new(epoch: u32, counter: u32) -> Zxid {
        Zxid { epoch, counter }
    }

    /// The next transaction of the same epoch. The counter must not be at its maximum: a leader gives up
    /// its epoch before it gets there.
    pub fn next(self) -> Zxid {
        Zxid { counter: self.counter.checked_add(1).expect("an epoch ends before its counter"), ..self }
    }

    /// The form on the wire: the epoch in the high 32 bits.
    pub const fn to_i64(self) -> i64 {
        ((self.epoch as i64) << 32) | self.counter as i64
    }

    /// From the form on the wire.
    pub const fn from_i64(zxid: i64) -> Zxid {
        Zxid { epoch: (zxid >> 32) as u32, counter: zxid as u32 }
    }
}

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.counter)
    }
}

impl fmt::Debug for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

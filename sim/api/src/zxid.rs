//! Transaction ids.

use crate::Text;
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The id of a transaction: the epoch of the leader that proposed it, and a counter within the epoch.
///
/// Totally ordered, epochs first. Zero is before every transaction.
///
/// The order of zxids tells what came first, and no more: how many transactions lie between two, and whether one leader
/// has proposed both, is an accident. Looking at the number, hashing it or printing it is noted, as a model checker has
/// other numbers in the same order: see [`Zxid::were_numbered`]. Comparing two, or keeping one as a
/// [text](Zxid::to_text) or as a [local](crate::Local::Zxid), is not.
///
/// ```
/// use zk_api::Zxid;
/// let first = Zxid::new(1, 1);
/// assert!(Zxid::ZERO < first && first.next() < Zxid::new(2, 0));
/// assert_eq!(first.to_string(), "1:1");
/// assert_eq!(Zxid::from_i64(first.to_i64()), first);
/// assert_eq!(Zxid::from_text(&first.to_text()), Some(first));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Zxid {
    epoch: u32,
    counter: u32,
}

thread_local! {
    static NUMBERED: Cell<bool> = const { Cell::new(false) };
}

impl Zxid {
    /// Before every transaction.
    pub const ZERO: Zxid = Zxid { epoch: 0, counter: 0 };

    /// The transaction number `counter` of `epoch`.
    pub const fn new(epoch: u32, counter: u32) -> Zxid {
        Zxid { epoch, counter }
    }

    /// The leader's epoch.
    pub fn epoch(self) -> u32 {
        NUMBERED.set(true);
        self.epoch
    }

    /// Counts the epoch's transactions, from 1.
    pub fn counter(self) -> u32 {
        NUMBERED.set(true);
        self.counter
    }

    /// The next transaction of the same epoch. The counter must not be at its maximum: a leader gives up
    /// its epoch before it gets there.
    pub fn next(self) -> Zxid {
        let counter = self.counter().checked_add(1).expect("an epoch ends before its counter");
        Zxid { counter, ..self }
    }

    /// The form on the wire: the epoch in the high 32 bits.
    pub fn to_i64(self) -> i64 {
        NUMBERED.set(true);
        self.bits() as i64
    }

    /// From the form on the wire.
    pub const fn from_i64(zxid: i64) -> Zxid {
        Zxid { epoch: (zxid >> 32) as u32, counter: zxid as u32 }
    }

    /// A text, for example to put into a znode; such texts sort in the order of their zxids. Only [`Zxid::from_text`]
    /// should look into it: it alone does so without a note.
    pub fn to_text(self) -> Text {
        format!("{:016x}", self.bits()).into()
    }

    /// Reads a text made by [`Zxid::to_text`]; `None` if it is not one.
    pub fn from_text(text: &str) -> Option<Zxid> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let bits = (text.len() == 16 && text.bytes().all(is_digit)).then(|| u64::from_str_radix(text, 16))?;
        bits.ok().map(|bits| Zxid::from_i64(bits as i64))
    }

    /// Whether this thread has looked at more of any zxid than its order among others since it last called this.
    pub fn were_numbered() -> bool {
        NUMBERED.take()
    }

    /// Does `work` without noting that it looks at the number of a zxid: the caller answers for that.
    pub fn unnoted<T>(work: impl FnOnce() -> T) -> T {
        let before = NUMBERED.get();
        let done = work();
        NUMBERED.set(before);
        done
    }

    const fn bits(self) -> u64 {
        ((self.epoch as u64) << 32) | self.counter as u64
    }
}

impl Hash for Zxid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        NUMBERED.set(true);
        (self.epoch, self.counter).hash(state);
    }
}

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch(), self.counter())
    }
}

impl fmt::Debug for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Local, Stat, StatFields};
    use std::collections::BTreeSet;
    use std::hint::black_box;

    fn is_noted<T>(look: impl FnOnce() -> T) -> bool {
        Zxid::were_numbered();
        black_box(look());
        Zxid::were_numbered()
    }

    #[test]
    fn each_look_at_a_number_is_noted_and_no_comparison_is() {
        let (zxid, later) = (Zxid::new(1, 2), Zxid::new(2, 1));
        let stat = Stat::from(StatFields { czxid: zxid, ..StatFields::default() });
        let same = stat;
        let looks: [&dyn Fn() -> String; 8] = [
            &|| zxid.epoch().to_string(),
            &|| zxid.counter().to_string(),
            &|| (zxid.next() == later).to_string(),
            &|| zxid.to_i64().to_string(),
            &|| zxid.to_string(),
            &|| format!("{zxid:?}"),
            &|| format!("{stat:?}"),
            &|| format!("{:?}", Local::Zxid(zxid)),
        ];
        assert!(looks.iter().all(is_noted));
        let comparisons: [&dyn Fn() -> bool; 8] = [
            &|| zxid == later,
            &|| zxid < later,
            &|| zxid.max(later) == later,
            &|| BTreeSet::from([zxid, later]).contains(&zxid),
            &|| Zxid::from_i64(7) > Zxid::ZERO,
            &|| zxid.to_text() < later.to_text(),
            &|| Zxid::from_text(&zxid.to_text()) == Some(zxid),
            &|| stat.czxid() < later && stat == same && stat <= same,
        ];
        assert!(comparisons.iter().all(|compare| !is_noted(compare)));
    }

    #[test]
    fn texts_are_in_the_order_of_their_zxids_and_nothing_else_is_one() {
        let zxids = [Zxid::ZERO, Zxid::new(0, 9), Zxid::new(0, 10), Zxid::new(1, 0), Zxid::new(u32::MAX, 1)];
        assert!(zxids.map(Zxid::to_text).is_sorted());
        assert!(zxids.iter().all(|zxid| Zxid::from_text(&zxid.to_text()) == Some(*zxid)));
        for other in ["", "7", "+00000000000007", "00000000000000070", "000000000000000A", "000000000000000g"]
        {
            assert_eq!(Zxid::from_text(other), None, "{other}");
        }
    }
}

//! What a resource that a lock protects needs to know of tokens.

use zk_api::Zxid;

/// In which mode a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Alone.
    Exclusive,
    /// Together with others in this mode.
    Shared,
}

/// The memory of a resource that compares tokens: it refuses whoever comes after a later holder.
///
/// Locks can end without their holders knowing. A resource that asks for the holder's token with every access, and asks
/// its `Fence`, is safe all the same. It must keep the fence as durably as it keeps what it protects, and ask in the
/// same step in which it acts.
///
/// ```
/// use zk_api::Zxid;
/// use zk_recipes::{Fence, Mode};
/// let mut fence = Fence::default();
/// let token = |counter| Zxid::new(1, counter);
/// assert!(fence.admits(Mode::Shared, token(4)) && fence.admits(Mode::Shared, token(3)));
/// assert!(fence.admits(Mode::Exclusive, token(5)));
/// assert!(!fence.admits(Mode::Shared, token(4)), "somebody has written since");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence {
    exclusive: Option<Zxid>,
    shared: Option<Zxid>,
}

impl Fence {
    /// The highest token that was admitted in this mode.
    pub fn highest(&self, mode: Mode) -> Option<Zxid> {
        match mode {
            Mode::Exclusive => self.exclusive,
            Mode::Shared => self.shared,
        }
    }

    /// Whether an access by a holder with this token may pass; if so, it is remembered.
    ///
    /// Exclusive access passes if no higher token was seen; shared access passes if no higher token of an exclusive
    /// holder was seen.
    pub fn admits(&mut self, mode: Mode, token: Zxid) -> bool {
        let token = Some(token);
        let (limit, seen) = match mode {
            Mode::Exclusive => (self.exclusive.max(self.shared), &mut self.exclusive),
            Mode::Shared => (self.exclusive, &mut self.shared),
        };
        let passes = token >= limit;
        if passes {
            *seen = (*seen).max(token);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharers_pass_in_any_order_and_writers_only_behind_all() {
        let mut fence = Fence::default();
        let token = |counter| Zxid::new(1, counter);
        assert!(fence.admits(Mode::Shared, token(6)) && fence.admits(Mode::Shared, token(5)));
        assert!(!fence.admits(Mode::Exclusive, token(5)));
        assert!(fence.admits(Mode::Exclusive, token(7)) && fence.admits(Mode::Exclusive, token(7)));
        assert!(!fence.admits(Mode::Shared, token(6)));
        assert!(fence.admits(Mode::Shared, token(8)) && !fence.admits(Mode::Exclusive, token(7)));
        assert_eq!(
            [Mode::Exclusive, Mode::Shared].map(|mode| fence.highest(mode)),
            [7, 8].map(|n| Some(token(n)))
        );
    }
}

//! What is late between two servers: nothing overtakes it.

use crate::time::Nanos;
use std::collections::BTreeMap;

/// By whom it was sent, and to whom: how much of it, and when the last of it is there.
#[derive(Debug, Default)]
pub(super) struct Late(BTreeMap<(u8, u8), (u64, Nanos)>);

impl Late {
    /// When something that is sent now and is to be there at `due` is there: behind whatever is late already.
    /// `None` if that is at once; what is not is to be [landed](Late::landed).
    pub(super) fn sent(&mut self, from: u8, to: u8, now: Nanos, due: Nanos) -> Option<Nanos> {
        match self.0.get_mut(&(from, to)) {
            Some((count, last)) => {
                (*count, *last) = (*count + 1, due.max(*last));
                Some(*last)
            }
            None if due > now => {
                self.0.insert((from, to), (1, due));
                Some(due)
            }
            None => None,
        }
    }

    /// Something that was late is late no more.
    pub(super) fn landed(&mut self, from: u8, to: u8) {
        if let Some((count, _)) = self.0.get_mut(&(from, to)) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&(from, to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overtakes_what_is_late() {
        let mut late = Late::default();
        assert_eq!(late.sent(0, 1, 5, 5), None);
        assert_eq!(late.sent(0, 1, 5, 9), Some(9));
        assert_eq!((late.sent(0, 1, 9, 9), late.sent(1, 0, 9, 9)), (Some(9), None));
        late.landed(0, 1);
        late.landed(0, 1);
        assert_eq!(late.sent(0, 1, 9, 9), None);
    }
}

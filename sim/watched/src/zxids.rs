//! What a session sees never goes back in time.

use crate::{Invariant, Report};
use std::collections::BTreeMap;
use zk_api::{SessionId, Zxid};

/// The newest transaction each session has seen.
#[derive(Debug, Default)]
pub struct Zxids {
    seen: BTreeMap<SessionId, Zxid>,
}

const NAME: Invariant = Invariant::ZxidsNeverGoBack;

impl Zxids {
    /// A session is over.
    pub fn forget(&mut self, session: SessionId) {
        self.seen.remove(&session);
    }

    pub fn delivered(&mut self, session: SessionId, zxid: Zxid, report: &mut Report) {
        let seen = self.seen.entry(session).or_default();
        let before = *seen;
        report.check(NAME, zxid >= before, || format!("{session} was shown {zxid} after {before}"));
        *seen = before.max(zxid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_shown_older_things_is_caught_and_others_are_not() {
        let (mut zxids, mut report) = (Zxids::default(), Report::default());
        let (a, b) = (SessionId(1), SessionId(2));
        zxids.delivered(a, Zxid::new(1, 5), &mut report);
        zxids.delivered(a, Zxid::new(1, 5), &mut report);
        zxids.delivered(b, Zxid::new(1, 3), &mut report);
        assert!(report.broken.is_empty());
        zxids.delivered(a, Zxid::new(1, 4), &mut report);
        assert_eq!(report.broken[0].0, NAME);
        assert_eq!(report.by_name()[NAME.name()], 4);
    }
}

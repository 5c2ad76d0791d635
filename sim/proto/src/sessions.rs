//! Sessions: the table that transactions make, and the leader's watch over silent ones.
//!
//! ```
//! use zk_api::SessionId;
//! use zk_proto::sessions::{SessionTracker, grant_timeout};
//!
//! let tick_ms = 500;
//! assert_eq!(grant_timeout(60_000, tick_ms), 10_000, "at most 20 ticks");
//! let mut tracker = SessionTracker::new(tick_ms, 0);
//! tracker.track(SessionId::new(7), 1000);
//! tracker.pass(1000);
//! assert_eq!(tracker.tick(), [], "the deadline is rounded up");
//! tracker.pass(1500);
//! assert_eq!(tracker.tick(), [SessionId::new(7)]);
//! ```

use crate::message::Password;
use crate::txn::{Txn, TxnBody};
use std::collections::BTreeMap;
use zk_api::SessionId;

/// A session as the ensemble knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// The timeout granted when it was opened.
    pub timeout_ms: u32,
    /// What proves that a client owns it.
    pub password: Password,
}

/// The sessions that are open after some transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionTable {
    open: BTreeMap<SessionId, Session>,
}

impl SessionTable {
    /// Applies a transaction. Applying it again is harmless.
    pub fn apply(&mut self, txn: &Txn) {
        match &txn.body {
            TxnBody::CreateSession { timeout_ms, password } => {
                self.insert(txn.session, Session { timeout_ms: *timeout_ms, password: *password });
            }
            TxnBody::CloseSession { .. } => {
                self.open.remove(&txn.session);
            }
            TxnBody::Create { .. }
            | TxnBody::Delete { .. }
            | TxnBody::SetData { .. }
            | TxnBody::SetAcl { .. }
            | TxnBody::Check { .. }
            | TxnBody::Multi { .. }
            | TxnBody::Error(_)
            | TxnBody::MultiError(_) => {}
        }
    }

    /// Puts a session of a snapshot in place.
    pub fn insert(&mut self, id: SessionId, session: Session) {
        self.open.insert(id, session);
    }

    /// An open session.
    pub fn find(&self, id: SessionId) -> Option<&Session> {
        self.open.get(&id)
    }

    /// All open sessions, in order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SessionId, &Session)> {
        self.open.iter().map(|(id, session)| (*id, session))
    }
}

/// Grants a timeout: what was asked for, but at least 2 and at most 20 ticks.
///
/// Source: ZooKeeper 3.9, `minSessionTimeout` and `maxSessionTimeout`.
pub fn grant_timeout(asked_ms: u32, tick_ms: u32) -> u32 {
    asked_ms.clamp(tick_ms.saturating_mul(2), tick_ms.saturating_mul(20))
}

/// The leader's watch over sessions that were silent for too long.
///
/// Deadlines are rounded up to the next border of a tick, so that many sessions are looked at together: a
/// session of `x` ms lives for `x` to `x` plus one tick after its last message.
/// Time only goes forward: it is what passes between inputs. A wall clock that is set back does not stop it.
/// Source: ZooKeeper 3.9, `ExpiryQueue`; its clock is `nanoTime`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionTracker {
    tick_ms: i64,
    /// The wall clock when it was last looked at.
    wall_ms: i64,
    /// What has passed since the last border of a tick that was told.
    passed_ms: i64,
    /// When each session that is not closing expires, from that border on; a border as well.
    deadlines_ms: BTreeMap<SessionId, i64>,
}

impl SessionTracker {
    /// Watches over no session yet. A tick has at least one millisecond.
    pub fn new(tick_ms: u32, wall_ms: i64) -> SessionTracker {
        let tick_ms = i64::from(tick_ms.max(1));
        SessionTracker { tick_ms, wall_ms, passed_ms: 0, deadlines_ms: BTreeMap::new() }
    }

    /// Lets the time go on.
    pub fn pass(&mut self, wall_ms: i64) {
        let passed = wall_ms.saturating_sub(self.wall_ms).max(0);
        self.passed_ms = self.passed_ms.saturating_add(passed);
        self.wall_ms = wall_ms;
    }

    /// The wall clock was set by somebody: no time has passed.
    pub fn jumped(&mut self, by_ms: i64) {
        self.wall_ms = self.wall_ms.saturating_add(by_ms);
    }

    /// Begins to watch over a session, or begins anew.
    pub fn track(&mut self, session: SessionId, timeout_ms: u32) {
        let due_ms = self.passed_ms.saturating_add(i64::from(timeout_ms));
        let deadline_ms = (due_ms / self.tick_ms).saturating_add(1).saturating_mul(self.tick_ms);
        self.deadlines_ms.insert(session, deadline_ms);
    }

    /// A message of the session came. False if it is not watched over: it is closing, or there is none.
    pub fn touch(&mut self, session: SessionId, timeout_ms: u32) -> bool {
        let watched = self.deadlines_ms.contains_key(&session);
        if watched {
            self.track(session, timeout_ms);
        }
        watched
    }

    /// Stops watching over a session, which is being closed. False if it was not watched over.
    pub fn forget(&mut self, session: SessionId) -> bool {
        self.deadlines_ms.remove(&session).is_some()
    }

    /// The timer of the ticks has fired: the sessions that expire now, the longest overdue first.
    pub fn tick(&mut self) -> Vec<SessionId> {
        // The timer is what tells that a tick is over, whatever the wall clock says.
        let borders = (self.passed_ms / self.tick_ms).max(1);
        let told_ms = borders.saturating_mul(self.tick_ms);
        self.passed_ms = (self.passed_ms - told_ms).max(0);
        let mut overdue = Vec::new();
        for (session, deadline_ms) in &mut self.deadlines_ms {
            *deadline_ms = deadline_ms.saturating_sub(told_ms);
            if *deadline_ms <= 0 {
                overdue.push((*deadline_ms, *session));
            }
        }
        overdue.sort_unstable();
        overdue.into_iter().map(|(_, session)| session).collect()
    }

    /// The sessions watched over, and how long each may be silent yet.
    pub fn left_ms(&self) -> impl Iterator<Item = (SessionId, i64)> {
        self.deadlines_ms.iter().map(|(session, deadline_ms)| (*session, deadline_ms - self.passed_ms))
    }

    /// How long it is to the next border.
    pub fn next_tick_ms(&self) -> u32 {
        u32::try_from((self.tick_ms - self.passed_ms).max(1)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionId = SessionId::new(1);
    const B: SessionId = SessionId::new(2);

    /// How long after its last message a session of 1 s expires, with ticks of 500 ms.
    fn lifetime(touched_ms: i64) -> i64 {
        let mut tracker = SessionTracker::new(500, 0);
        tracker.pass(touched_ms);
        tracker.track(A, 1000);
        let mut border_ms = 0;
        loop {
            border_ms += 500;
            if border_ms <= touched_ms {
                tracker.tick();
                continue;
            }
            tracker.pass(border_ms);
            if tracker.tick() == [A] {
                return border_ms - touched_ms;
            }
        }
    }

    #[test]
    fn a_silent_session_expires_after_one_to_one_and_a_half_timeouts() {
        assert_eq!([0, 1, 250, 499, 500].map(lifetime), [1500, 1499, 1250, 1001, 1500]);
    }

    #[test]
    fn timeouts_are_clamped_to_2_and_20_ticks() {
        assert_eq!([0, 999, 1500, 99_999].map(|asked| grant_timeout(asked, 500)), [1000, 1000, 1500, 10_000]);
    }

    #[test]
    fn a_paused_server_expires_overdue_sessions_at_once() {
        let mut tracker = SessionTracker::new(500, 0);
        tracker.track(B, 1000);
        tracker.track(A, 2000);
        tracker.pass(60_000);
        assert_eq!(tracker.tick(), [B, A]);
        assert!(tracker.next_tick_ms() <= 500);
    }

    #[test]
    fn a_clock_that_is_set_expires_nobody_and_keeps_nobody_alive() {
        let mut tracker = SessionTracker::new(500, 1_000_000);
        tracker.track(A, 1000);
        tracker.jumped(3_600_000);
        tracker.pass(4_600_100);
        assert!(tracker.tick().is_empty());
        // Set back without being told: the ticks go on.
        tracker.pass(0);
        assert!(tracker.tick().is_empty());
        assert_eq!(tracker.tick(), [A]);
    }

    #[test]
    fn a_closing_session_is_not_touched() {
        let mut tracker = SessionTracker::new(500, 0);
        tracker.track(A, 1000);
        assert!(tracker.touch(A, 1000) && tracker.forget(A));
        assert!(!tracker.touch(A, 1000) && !tracker.forget(A));
    }
}

//! A session that nobody closes ends when it was silent for its timeout: no sooner, and not much later, by its leader's
//! own clock.
//!
//! Heard is whatever reaches a server that serves: by the leader what comes to it, and what has come to a learner when
//! that learner next answers its leader's ping, whatever it says there. A client that comes back is heard where its
//! password is right and its session is not about to end. A server that begins to lead gives every session its whole
//! timeout again. Who was expired by force is none of this.

use crate::{Invariant, Report};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_api::{Request, SessionId};
use zk_proto::message::{ConnId, Password};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::message::LinkId;

/// Sessions, and when each was heard of, in milliseconds of the leader's clock, not counting its jumps.
#[derive(Debug, Default)]
pub struct Expiry {
    /// Sessions that were opened and have not ended, as far as the leader of the newest epoch knows.
    open: BTreeMap<SessionId, Open>,
    /// When that leader began.
    led_ms: i64,
    /// It cannot propose any more in its epoch: what it still takes and refuses comes to nothing.
    is_worn_out: bool,
    learners: BTreeMap<u8, Learner>,
    /// The timeout that is granted on each connection.
    timeouts: BTreeMap<ConnId, u32>,
    /// Connections to which the server does not listen any more.
    deaf: BTreeSet<ConnId>,
    /// The session that is being expired by force.
    forced: Option<SessionId>,
    /// By how much ticks may have been shorter or longer than the clock says. A timer that runs as the rate of its
    /// clock changes comes too early or too late by the clock's new rate, once each time.
    short_ms: i64,
}

#[derive(Debug)]
struct Open {
    password: Password,
    /// What it was opened with, and what was granted or asked for last.
    opened_with_ms: u32,
    timeout_ms: u32,
    heard_ms: i64,
    /// Its beginning is committed.
    stands: bool,
    /// Its end is proposed.
    is_ending: bool,
}

/// What a learner has heard, and with which timeouts.
#[derive(Debug, Default)]
struct Learner {
    heard: BTreeMap<SessionId, u32>,
    /// What is on its way to a leader, one for each message that tells of sessions or answers a ping.
    told: VecDeque<(LinkId, BTreeMap<SessionId, u32>)>,
}

/// What clocks that are read in whole milliseconds may hide.
const ROUNDED_MS: i64 = 10;

impl Expiry {
    /// Whether the leader's epoch is at its end.
    pub fn is_worn_out(&self) -> bool {
        self.is_worn_out
    }

    /// Whether a client with this password owns a session that lives, as far as the leader of the newest epoch knows.
    pub fn is_owner(&self, session: SessionId, password: &Password) -> bool {
        self.open.get(&session).is_some_and(|open| open.password == *password && !open.is_ending)
    }

    /// A client that asks for its session comes to the leader, or a learner asks for it.
    pub fn attaches(&mut self, session: SessionId, password: &Password, timeout_ms: u32, now_ms: i64) {
        if self.is_owner(session, password) {
            self.hear(session, timeout_ms, now_ms);
        }
    }

    /// A server tells a client that it is connected.
    pub fn connected(&mut self, conn: ConnId, timeout_ms: u32) {
        self.timeouts.insert(conn, timeout_ms);
    }

    /// Something of a connected client's arrives at the leader.
    pub fn heard(&mut self, conn: ConnId, session: SessionId, now_ms: i64) {
        if let Some(timeout_ms) = self.listens(conn) {
            self.hear(session, timeout_ms, now_ms);
        }
    }

    /// The same, at another server.
    pub fn heard_elsewhere(&mut self, conn: ConnId, session: SessionId, server: u8) {
        if let Some(timeout_ms) = self.listens(conn) {
            self.learners.entry(server).or_default().heard.insert(session, timeout_ms);
        }
    }

    /// Whether its server looks at what comes on a connection of this session, which may be about to end: for certain,
    /// as a leader knows more of that than its learners.
    pub fn looks_at(&self, conn: ConnId, session: SessionId, is_at_leader: bool) -> bool {
        let lives = || self.open.get(&session).is_some_and(|open| !open.is_ending) && !self.is_worn_out;
        self.listens(conn).is_some() && (!is_at_leader || lives())
    }

    /// With which timeout a server listens to a connection, if it does.
    fn listens(&self, conn: ConnId) -> Option<u32> {
        self.timeouts.get(&conn).filter(|_| !self.deaf.contains(&conn)).copied()
    }

    /// Behind a close, and behind credentials that prove nothing, nothing is listened to.
    pub fn arrived(&mut self, conn: ConnId, request: &Request) {
        let is_last = match request {
            Request::CloseSession => true,
            Request::Auth { scheme, credentials } => crate::reference::proves(scheme, credentials).is_err(),
            _ => false,
        };
        if is_last {
            self.deaf.insert(conn);
        }
    }

    /// A server's end of a connection is closed.
    pub fn closed(&mut self, conn: ConnId) {
        self.timeouts.remove(&conn);
        self.deaf.remove(&conn);
    }

    /// A learner tells of sessions, or answers its leader's ping.
    pub fn tells(&mut self, server: u8, link: LinkId) {
        let learner = self.learners.entry(server).or_default();
        let heard = std::mem::take(&mut learner.heard);
        learner.told.push_back((link, heard));
    }

    /// That arrives: at the leader of the newest epoch, by whose clock it is so late, or at another server.
    pub fn told(&mut self, by: u8, link: LinkId, leaders_ms: Option<i64>) {
        let Some(learner) = self.learners.get_mut(&by) else { return };
        // What was sent on a former link, and has not come by now, never will.
        learner.told.retain(|(on, _)| *on >= link);
        if learner.told.front().is_some_and(|(on, _)| *on == link)
            && let (Some((_, heard)), Some(now_ms)) = (learner.told.pop_front(), leaders_ms)
        {
            heard.into_iter().for_each(|(session, timeout_ms)| self.hear(session, timeout_ms, now_ms));
        }
    }

    /// A server does not serve any more.
    pub fn stopped(&mut self, server: u8) {
        if let Some(learner) = self.learners.get_mut(&server) {
            learner.heard.clear();
        }
    }

    /// A server begins to lead. What is not committed by then is as if it had never been; what stands for being in
    /// its history is told next.
    pub fn leads(&mut self, now_ms: i64) {
        (self.led_ms, self.is_worn_out) = (now_ms, false);
        self.open.retain(|_, open| open.stands);
        for open in self.open.values_mut() {
            (open.heard_ms, open.timeout_ms, open.is_ending) = (now_ms, open.opened_with_ms, false);
        }
    }

    /// The leader has looked for sessions that were silent for too long, as it does with every tick: a session may live
    /// for a tick longer than its timeout, and what is left of a tick then.
    pub fn ticked(&mut self, tick_ms: u32, now_ms: i64, report: &mut Report) {
        let grace_ms = 2 * i64::from(tick_ms) + self.short_ms + ROUNDED_MS;
        let owed = self.open.iter().filter(|(_, open)| open.stands && !open.is_ending && !self.is_worn_out);
        let late =
            owed.clone().find(|(_, open)| now_ms - open.heard_ms > i64::from(open.timeout_ms) + grace_ms);
        if owed.clone().next().is_some() {
            report.check(Invariant::NoLateExpiry, late.is_none(), || {
                let told = late.map(|(id, open)| (id, now_ms - open.heard_ms, open.timeout_ms));
                format!("a session lives on after so many of so many ms of silence: {told:?}")
            });
        }
    }

    /// The rate of a server's clock has changed while the timer of a tick runs.
    pub fn skewed(&mut self, tick_ms: u32, changed_permille: u64) {
        let short_ms = (u64::from(tick_ms) * changed_permille).div_ceil(1000);
        self.short_ms = self.short_ms.saturating_add_unsigned(short_ms);
    }

    /// Whom the nemesis expires at this moment.
    pub fn forces(&mut self, session: Option<SessionId>) {
        self.forced = session;
    }

    /// The leader proposes a transaction, which may be the last of its epoch.
    pub fn proposed(&mut self, txn: &Txn, is_last: bool, now_ms: i64, report: &mut Report) {
        self.is_worn_out |= is_last;
        match &txn.body {
            TxnBody::CreateSession { .. } => self.opens(txn, now_ms),
            TxnBody::CloseSession { expired, .. } => {
                let Some(open) = self.open.get_mut(&txn.session) else { return };
                open.is_ending = true;
                if !expired || self.forced == Some(txn.session) {
                    return;
                }
                let (silent_ms, timeout_ms) = (now_ms - open.heard_ms, i64::from(open.timeout_ms));
                // Clocks are read in whole milliseconds.
                let is_due = silent_ms + 1 + self.short_ms >= timeout_ms;
                report.check(Invariant::NoEarlyExpiry, is_due, || {
                    format!("{} expired after {silent_ms} of {timeout_ms} ms of silence", txn.session)
                });
            }
            _ => {}
        }
    }

    /// A transaction is committed.
    pub fn committed(&mut self, txn: &Txn) {
        match &txn.body {
            TxnBody::CreateSession { .. } => {
                if !self.open.contains_key(&txn.session) {
                    self.opens(txn, self.led_ms);
                }
                self.open.entry(txn.session).and_modify(|open| open.stands = true);
            }
            TxnBody::CloseSession { .. } => _ = self.open.remove(&txn.session),
            _ => {}
        }
    }

    fn opens(&mut self, txn: &Txn, heard_ms: i64) {
        if let TxnBody::CreateSession { timeout_ms, password } = txn.body {
            let (opened_with_ms, stands, is_ending) = (timeout_ms, false, false);
            let open = Open { password, opened_with_ms, timeout_ms, heard_ms, stands, is_ending };
            self.open.insert(txn.session, open);
        }
    }

    fn hear(&mut self, session: SessionId, timeout_ms: u32, now_ms: i64) {
        if let Some(open) = self.open.get_mut(&session) {
            (open.heard_ms, open.timeout_ms) = (now_ms.max(open.heard_ms), timeout_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;
    use zk_proto::message::Xid;

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId::new(7);
    const PASSWORD: Password = [7; 16];
    const L: LinkId = LinkId(1);

    fn txn(body: TxnBody) -> Txn {
        Txn { zxid: Zxid::new(1, 1), session: S, xid: Xid(0), time_ms: 0, body }
    }

    /// A session of 3 s that a leader has opened at 1 s, and is connected.
    fn history(change: impl Fn(&mut Expiry)) -> (Expiry, Report) {
        let (mut expiry, mut report) = (Expiry::default(), Report::default());
        let open = txn(TxnBody::CreateSession { timeout_ms: 3000, password: PASSWORD });
        expiry.proposed(&open, false, 1000, &mut report);
        expiry.committed(&open);
        expiry.connected(C, 3000);
        change(&mut expiry);
        (expiry, report)
    }

    fn expired_at(now_ms: i64, change: impl Fn(&mut Expiry)) -> Report {
        let (mut expiry, mut report) = history(change);
        let close = TxnBody::CloseSession { ephemerals: Vec::new(), expired: true };
        expiry.proposed(&txn(close), false, now_ms, &mut report);
        report
    }

    fn is_early(now_ms: i64, change: impl Fn(&mut Expiry)) -> bool {
        expired_at(now_ms, change).broken.iter().any(|(name, _)| *name == Invariant::NoEarlyExpiry)
    }

    /// Whether it is seen to live too long when its leader has looked for the silent at this time, with ticks of 500
    /// ms.
    fn is_late(now_ms: i64, change: impl Fn(&mut Expiry)) -> bool {
        let (mut expiry, mut report) = history(change);
        expiry.ticked(500, now_ms, &mut report);
        report.broken.iter().any(|(name, _)| *name == Invariant::NoLateExpiry)
    }

    #[test]
    fn an_expiry_after_the_timeout_passes() {
        let report = expired_at(4000, |_| {});
        assert!(report.broken.is_empty() && report.by_name()[Invariant::NoEarlyExpiry.name()] == 1);
        assert!(is_early(3998, |_| {}));
    }

    /// First seen as `lock/no-recheck` under seed 461: 2,998 ms of silence by a clock that had just become slow.
    #[test]
    fn a_tick_that_a_change_of_rate_made_shorter_is_no_early_expiry() {
        assert!(!is_early(3998, |expiry| expiry.skewed(500, 18)));
        assert!(is_early(3980, |expiry| expiry.skewed(500, 18)));
    }

    #[test]
    fn an_expiry_too_early_after_a_message_is_caught() {
        assert!(is_early(4500, |expiry| expiry.heard(C, S, 2000)));
    }

    #[test]
    fn what_a_learner_has_heard_counts_when_it_answers_a_ping_whatever_it_tells() {
        let hears = |expiry: &mut Expiry| expiry.heard_elsewhere(C, S, 1);
        assert!(!is_early(4500, hears), "the leader cannot know of it");
        let told = |expiry: &mut Expiry| {
            hears(expiry);
            expiry.tells(1, L);
            expiry.told(1, L, Some(2000));
        };
        assert!(is_early(4500, told));
        assert!(!is_early(4500, |expiry| {
            hears(expiry);
            expiry.tells(1, L);
            expiry.told(1, LinkId(2), Some(2000));
        }));
    }

    #[test]
    fn what_is_lost_with_a_link_does_not_hide_what_comes_on_the_next() {
        assert!(is_early(4500, |expiry| {
            expiry.tells(1, L);
            expiry.heard_elsewhere(C, S, 1);
            expiry.tells(1, LinkId(2));
            expiry.told(1, LinkId(2), Some(2000));
        }));
    }

    #[test]
    fn who_asks_for_a_session_that_is_about_to_end_is_not_its_owner() {
        let close = txn(TxnBody::CloseSession { ephemerals: Vec::new(), expired: false });
        let (mut expiry, mut report) = history(|_| {});
        assert!(expiry.is_owner(S, &PASSWORD));
        expiry.proposed(&close, false, 2000, &mut report);
        assert!(!expiry.is_owner(S, &PASSWORD));
    }

    #[test]
    fn a_new_leader_knows_the_timeout_that_a_session_was_opened_with_alone() {
        let shorter = |expiry: &mut Expiry| expiry.attaches(S, &PASSWORD, 1500, 1000);
        assert!(!is_early(3500, shorter));
        assert!(is_early(3500, |expiry| {
            shorter(expiry);
            expiry.leads(1000);
        }));
    }

    #[test]
    fn a_client_that_comes_back_is_heard_if_it_has_the_password() {
        assert!(is_early(4500, |expiry| expiry.attaches(S, &PASSWORD, 3000, 2000)));
        assert!(!is_early(4500, |expiry| expiry.attaches(S, &[9; 16], 3000, 2000)));
        // It may have asked for another timeout.
        assert!(!is_early(3500, |expiry| expiry.attaches(S, &PASSWORD, 1500, 2000)));
    }

    #[test]
    fn an_expiry_too_early_after_a_restart_is_caught() {
        assert!(is_early(4500, |expiry| expiry.leads(2000)));
    }

    #[test]
    fn an_expiry_by_force_and_what_a_deaf_server_does_not_hear_are_none_of_this() {
        assert!(!is_early(1500, |expiry| expiry.forces(Some(S))));
        let wrong = Request::Auth { scheme: "none".into(), credentials: "x".into() };
        for last in [Request::CloseSession, wrong] {
            assert!(!is_early(4000, |expiry| {
                expiry.arrived(C, &last);
                expiry.heard(C, S, 3000);
            }));
        }
    }

    #[test]
    fn a_session_that_outlives_its_silence_is_caught() {
        assert!(!is_late(5000, |_| {}));
        assert!(is_late(5100, |_| {}));
        assert!(!is_late(5100, |expiry| expiry.heard(C, S, 1100)));
        assert!(!is_late(7000, |expiry| expiry.leads(3000)) && is_late(7100, |expiry| expiry.leads(3000)));
    }

    #[test]
    fn a_session_that_ends_or_of_which_nobody_knows_does_not_live_too_long() {
        let close = txn(TxnBody::CloseSession { ephemerals: Vec::new(), expired: false });
        assert!(!is_late(9000, |expiry| expiry.proposed(&close, false, 2000, &mut Report::default())));
        assert!(!is_late(9000, |expiry| expiry.committed(&close)));
        // Its end was proposed, and lost with its leader.
        assert!(is_late(9000, |expiry| {
            expiry.proposed(&close, false, 2000, &mut Report::default());
            expiry.leads(2500);
        }));
    }

    #[test]
    fn silence_is_as_long_as_whole_milliseconds_can_tell() {
        assert!(!is_early(3999, |_| {}) && is_early(3998, |_| {}));
        assert!(!is_late(5010, |_| {}) && is_late(5011, |_| {}));
    }

    #[test]
    fn a_close_is_no_expiry_and_another_request_no_close() {
        let close = TxnBody::CloseSession { ephemerals: Vec::new(), expired: false };
        let (mut expiry, mut report) = history(|_| {});
        expiry.proposed(&txn(close), false, 1500, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
        let sync = Request::Sync { path: "/".into() };
        let right = Request::Auth { scheme: "digest".into(), credentials: "x".into() };
        for request in [sync, right] {
            assert!(is_early(4500, |expiry| {
                expiry.arrived(C, &request);
                expiry.heard(C, S, 3000);
            }));
        }
    }

    #[test]
    fn what_comes_late_on_a_former_link_takes_nothing_from_the_next() {
        let tells = |expiry: &mut Expiry, last| {
            expiry.heard_elsewhere(C, S, 1);
            expiry.tells(1, LinkId(2));
            expiry.told(1, L, Some(2000));
            expiry.told(1, last, Some(2000));
        };
        assert!(!is_early(4500, |expiry| tells(expiry, L)));
        assert!(is_early(4500, |expiry| tells(expiry, LinkId(2))));
    }

    #[test]
    fn a_new_leader_knows_what_stands_and_nothing_else() {
        let mut report = Report::default();
        let open = txn(TxnBody::CreateSession { timeout_ms: 3000, password: PASSWORD });
        let mut expiry = Expiry::default();
        expiry.proposed(&open, true, 1000, &mut report);
        assert!(expiry.is_owner(S, &PASSWORD) && expiry.is_worn_out());
        expiry.leads(2000);
        assert!(!expiry.is_owner(S, &PASSWORD) && !expiry.is_worn_out());
        // It is found in its history after all, and is heard of as it begins.
        expiry.committed(&open);
        assert!(expiry.is_owner(S, &PASSWORD));
        expiry.ticked(500, 6010, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
        let expired = TxnBody::CloseSession { ephemerals: Vec::new(), expired: true };
        expiry.proposed(&txn(expired), false, 4900, &mut report);
        assert_eq!(report.broken[0].0, Invariant::NoEarlyExpiry);
    }

    #[test]
    fn who_is_not_committed_or_whose_leader_can_end_nothing_does_not_live_too_long() {
        let mut report = Report::default();
        let open = txn(TxnBody::CreateSession { timeout_ms: 3000, password: PASSWORD });
        let mut expiry = Expiry::default();
        expiry.proposed(&open, false, 1000, &mut report);
        expiry.ticked(500, 9000, &mut report);
        assert_eq!(report.by_name()[Invariant::NoLateExpiry.name()], 0);
        assert!(!is_late(9000, |expiry| {
            let last = txn(TxnBody::Error(zk_api::ErrorCode::NoNode));
            expiry.proposed(&last, true, 2000, &mut Report::default());
        }));
    }
}

//! A peer's history in memory: a snapshot it begins at, and every transaction since.

use super::aside::Aside;
use crate::txn::Txn;
use std::sync::Arc;
use zk_api::Zxid;

/// The transactions behind a snapshot, ascending.
///
/// In any two histories, what comes before a transaction that both have is the same. That is Zab's work; here
/// it is used in [`History::plan`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct History {
    /// The last transaction of the snapshot, which is committed.
    base: Zxid,
    /// Strictly ascending, and all behind `base`.
    log: Vec<Arc<Txn>>,
    /// How often the log was cut or begun anew. Between two of these it is added to at its end, and forgotten up to
    /// `base`.
    rewrites: Aside<u64>,
}

/// How a learner catches up: where its history leaves the leader's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plan {
    /// It ends here, which the leader has; it needs what comes behind.
    Diff { from: Zxid },
    /// It goes on where the leader's does not: it must be cut behind this one first.
    Trunc { to: Zxid },
    /// It ends before the leader's log begins, or so far back that a snapshot is shorter.
    Snap,
}

impl History {
    /// The history behind a snapshot. Panics if the log does not ascend from there.
    pub fn new(base: Zxid, log: Vec<Arc<Txn>>) -> History {
        let ascends = log.iter().try_fold(base, |last, txn| (last < txn.zxid).then_some(txn.zxid));
        assert!(ascends.is_some(), "a log ascends from its snapshot");
        History { base, log, rewrites: Aside::default() }
    }

    /// The last transaction of the snapshot.
    pub fn base(&self) -> Zxid {
        self.base
    }

    /// Everything behind the snapshot.
    pub fn log(&self) -> &[Arc<Txn>] {
        &self.log
    }

    /// How often that was cut or begun anew.
    pub(super) fn rewrites(&self) -> u64 {
        self.rewrites.0
    }

    /// The last transaction; `base` if there is none behind it.
    pub fn last(&self) -> Zxid {
        self.log.last().map_or(self.base, |txn| txn.zxid)
    }

    /// How many come up to and with `zxid`. Looked for from the end, which is where most look, and which is at hand.
    fn count(&self, zxid: Zxid) -> usize {
        let all = self.log.len();
        let mut near = 1;
        while near < all && self.log[all - near].zxid > zxid {
            near *= 2;
        }
        let from = all.saturating_sub(near);
        from + self.log[from..].partition_point(|txn| txn.zxid <= zxid)
    }

    /// What comes up to and with `zxid`.
    pub(super) fn up_to(&self, zxid: Zxid) -> &[Arc<Txn>] {
        &self.log[..self.count(zxid)]
    }

    /// What comes behind `zxid`.
    pub fn after(&self, zxid: Zxid) -> &[Arc<Txn>] {
        &self.log[self.count(zxid)..]
    }

    /// What comes behind `from`, up to and with `to`.
    pub fn between(&self, from: Zxid, to: Zxid) -> &[Arc<Txn>] {
        let begin = self.count(from);
        &self.log[begin..self.count(to).max(begin)]
    }

    /// The last transaction up to and with `zxid`; `None` if that is further back than the log.
    pub fn floor(&self, zxid: Zxid) -> Option<Zxid> {
        match self.count(zxid).checked_sub(1) {
            Some(before) => Some(self.log[before].zxid),
            None => (self.base <= zxid).then_some(self.base),
        }
    }

    /// The transaction before `zxid`, if this one is in the log.
    pub fn before(&self, zxid: Zxid) -> Option<Zxid> {
        let at = self.log.binary_search_by_key(&zxid, |txn| txn.zxid).ok()?;
        Some(at.checked_sub(1).map_or(self.base, |before| self.log[before].zxid))
    }

    /// Whether a history can go on with `zxid`: the next of its last epoch, or the first of a later one.
    pub fn goes_on_with(&self, zxid: Zxid) -> bool {
        let last = self.last();
        if zxid.epoch() == last.epoch() {
            last.counter().checked_add(1) == Some(zxid.counter())
        } else {
            zxid.epoch() > last.epoch() && zxid.counter() == 1
        }
    }

    /// Adds a transaction behind the last.
    pub(super) fn append(&mut self, txn: Arc<Txn>) {
        debug_assert!(self.last() < txn.zxid, "a log ascends");
        self.log.push(txn);
    }

    /// Cuts the log behind `to`, which it has, and gives what was cut off.
    pub(super) fn truncate(&mut self, to: Zxid) -> Vec<Arc<Txn>> {
        debug_assert_eq!(self.floor(to), Some(to), "a log is cut where it has a transaction");
        self.rewrites.0 += 1;
        self.log.split_off(self.count(to))
    }

    /// Begins anew at a snapshot.
    pub(super) fn restart_at(&mut self, base: Zxid) {
        self.base = base;
        self.rewrites.0 += 1;
        self.log.clear();
    }

    /// Forgets everything up to `to`, which a snapshot shows.
    pub(super) fn trim(&mut self, to: Zxid) {
        self.log.drain(..self.log.partition_point(|txn| txn.zxid <= to));
        self.base = self.base.max(to);
    }

    /// Picks how a learner whose last transaction is `last` catches up.
    ///
    /// A snapshot would show everything up to `delivered`. One is never sent to a learner that may have
    /// delivered more than it shows, so not to one whose log reaches further.
    pub fn plan(&self, last: Zxid, delivered: Zxid, diff_max: u32) -> Plan {
        let Some(common) = self.floor(last) else { return Plan::Snap };
        if self.after(common).len() > diff_max as usize && delivered > last {
            return Plan::Snap;
        }
        if common == last { Plan::Diff { from: common } } else { Plan::Trunc { to: common } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zab::tests::sample::{history, txn};

    #[test]
    fn a_learner_that_ends_in_the_log_gets_the_difference() {
        let leader = history((1, 2), &[(1, 3), (1, 4), (2, 1)]);
        assert_eq!(leader.plan(Zxid::new(1, 4), Zxid::ZERO, 9), Plan::Diff { from: Zxid::new(1, 4) });
        assert_eq!(leader.plan(Zxid::new(1, 2), Zxid::ZERO, 9), Plan::Diff { from: Zxid::new(1, 2) });
    }

    #[test]
    fn a_learner_with_a_tail_of_its_own_is_cut_where_the_histories_part() {
        let leader = history((0, 0), &[(1, 1), (1, 2), (3, 1)]);
        assert_eq!(leader.plan(Zxid::new(1, 5), Zxid::ZERO, 9), Plan::Trunc { to: Zxid::new(1, 2) });
        assert_eq!(leader.plan(Zxid::new(2, 1), Zxid::ZERO, 9), Plan::Trunc { to: Zxid::new(1, 2) });
        assert_eq!(leader.plan(Zxid::new(3, 2), Zxid::ZERO, 9), Plan::Trunc { to: Zxid::new(3, 1) });
    }

    #[test]
    fn a_learner_from_before_the_log_gets_a_snapshot() {
        let leader = history((1, 2), &[(1, 3)]);
        assert_eq!(leader.plan(Zxid::new(1, 1), Zxid::new(1, 2), 9), Plan::Snap);
    }

    #[test]
    fn a_long_difference_is_a_snapshot_unless_the_learner_may_know_more() {
        let leader = history((0, 0), &[(1, 1), (1, 2), (1, 3)]);
        assert_eq!(leader.plan(Zxid::new(1, 1), Zxid::new(1, 2), 1), Plan::Snap);
        let diff = Plan::Diff { from: Zxid::new(1, 1) };
        assert_eq!(leader.plan(Zxid::new(1, 1), Zxid::new(1, 1), 1), diff);
        assert_eq!(leader.plan(Zxid::new(1, 1), Zxid::new(1, 2), 2), diff);
    }

    #[test]
    fn a_history_goes_on_without_a_gap() {
        let history = history((1, 2), &[]);
        assert!(history.goes_on_with(Zxid::new(1, 3)) && history.goes_on_with(Zxid::new(4, 1)));
        for wrong in [Zxid::new(1, 2), Zxid::new(1, 4), Zxid::new(2, 2), Zxid::new(0, 1)] {
            assert!(!history.goes_on_with(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_place_is_found_in_logs_of_every_length() {
        for length in 0..20 {
            let zxids: Vec<(u32, u32)> = (1..=length).map(|n| (1, 2 * n)).collect();
            let log = history((0, 0), &zxids);
            for zxid in (0..2 * length + 2).map(|n| Zxid::new(1, n)) {
                let naive: Vec<_> = log.log().iter().filter(|txn| txn.zxid <= zxid).cloned().collect();
                assert_eq!(log.up_to(zxid), naive);
            }
        }
    }

    #[test]
    fn what_a_snapshot_shows_may_be_forgotten() {
        let mut trimmed = history((0, 0), &[(1, 1), (1, 2)]);
        trimmed.trim(Zxid::new(1, 1));
        assert_eq!(trimmed, history((1, 1), &[(1, 2)]));
        assert_eq!(trimmed.before(Zxid::new(1, 2)), Some(Zxid::new(1, 1)));
        trimmed.append(txn((1, 3)));
        assert_eq!(trimmed.truncate(Zxid::new(1, 1)), [txn((1, 2)), txn((1, 3))]);
    }
}

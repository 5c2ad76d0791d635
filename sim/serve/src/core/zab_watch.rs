//! What is followed to judge Zab by.

use std::collections::BTreeMap;
use zk_api::Zxid;
use zk_proto::zab::Peer;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::invariants::{self, Broken};

/// What Zab promises is checked at each change of roles, and when so many transactions more are committed than
/// there were at the last time, at least.
const CHECK_EVERY: usize = 64;

/// Each time by a fourth of all that are kept, so that a transaction is looked at a few times, however many there are.
const CHECK_SHARE: usize = 4;

/// What is followed to judge Zab by.
#[derive(Debug, Default)]
pub(super) struct ZabWatch {
    pub(super) ghost: Ghost,
    /// Whether something has happened that is to be looked at.
    pub(super) is_due: bool,
    /// How many committed transactions were kept when it was last checked.
    checked: usize,
    /// What came before this one is forgotten: it was judged, and every server's disk shows it.
    pub(super) forgotten: Zxid,
    /// How often it was checked.
    pub(super) checks: u64,
    /// What was broken, each invariant once.
    pub(super) broken: BTreeMap<&'static str, String>,
}

impl ZabWatch {
    /// Whether it is time to check.
    pub(super) fn is_time(&self) -> bool {
        let every = CHECK_EVERY.max(self.checked / CHECK_SHARE);
        self.is_due || self.ghost.committed.len() >= self.checked + every
    }

    /// Forgets what came before `shown`, unless something is broken: then all is kept to be shown.
    pub(super) fn forget_before(&mut self, shown: Zxid) {
        self.forgotten = shown;
        if self.broken.is_empty() {
            self.ghost.forget_before(shown);
            self.checked = self.ghost.committed.len();
        }
    }

    /// Checks what Zab promises, all of it.
    pub(super) fn check(&mut self, peers: &[&Peer]) {
        self.is_due = false;
        for Broken { invariant, what } in invariants::check_all(peers, &self.ghost) {
            self.broken.entry(invariant).or_insert(what);
        }
        self.checks += 1;
        self.checked = self.ghost.committed.len();
    }
}

//! What is checked among the servers: the invariants of Zab, on what ever happened.

use zk_proto::zab::Peer;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::invariants::Broken;
use zk_proto::zab::invariants::growing::Checker;

/// The invariants of Zab are checked after so many commits at the latest, and at each change of roles.
const CHECK_EVERY: u64 = 64;

/// What ever happened among the servers, and what was checked of that.
#[derive(Default)]
pub struct ZabChecks {
    history: Ghost,
    checker: Checker,
    /// How often the invariants were checked.
    checks: u64,
    commits: u64,
    /// The newest epoch that was established.
    epoch: u32,
}

impl ZabChecks {
    /// What ever happened, to be told more.
    pub fn history(&mut self) -> &mut Ghost {
        &mut self.history
    }

    /// A server has started.
    pub fn started(&mut self, peer: &Peer) {
        self.history.started(peer);
    }

    /// A server has committed something. Whether a check is due.
    pub fn commit(&mut self) -> bool {
        self.commits += 1;
        self.commits.is_multiple_of(CHECK_EVERY)
    }

    /// A leader establishes an epoch. Whether there is no newer one.
    pub fn establish(&mut self, epoch: u32) -> bool {
        let is_newest = epoch >= self.epoch;
        self.epoch = self.epoch.max(epoch);
        is_newest
    }

    /// What does not hold among these.
    pub fn check(&mut self, peers: &[&Peer]) -> Vec<Broken> {
        self.checks += 1;
        self.checker.check_all(peers, &self.history)
    }

    /// How often that was checked.
    pub fn checks(&self) -> u64 {
        self.checks
    }
}

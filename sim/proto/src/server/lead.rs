//! What only the leader has: the tree ahead of what stands, the watch over sessions, and the syncs that wait.
//!
//! A leader that asks a quorum before it answers a sync hears from each of it that it still follows. Nobody of whom
//! that is so has promised a later epoch before, so nothing has been committed behind this leader's back when the sync
//! came.

use crate::ids::{ConnId, ServerId};
use crate::sessions::{SessionTable, SessionTracker};
use crate::tree::DataTree;
use crate::txn::{Txn, TxnBody};
use crate::zab::PeerConfig;
use crate::zab::message::LinkId;
use std::collections::BTreeMap;
use zk_api::{SessionId, Zxid};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lead {
    /// Its epoch.
    pub(super) epoch: u32,
    /// The tree as it will be when everything proposed is applied; the tree itself when nothing is in flight.
    pub(super) ahead: DataTree,
    /// The sessions, likewise.
    pub(super) sessions: SessionTable,
    /// Watches over the sessions that are open ahead and not closing.
    pub(super) tracker: SessionTracker,
    /// Where sessions were last attached, as far as this leader knows: it has not heard of all that were
    /// attached under another.
    pub(super) owners: BTreeMap<SessionId, Place>,
    /// Syncs that are not answered, in the order in which they came.
    syncs: Vec<AskedSync>,
    /// How often the learners were asked whether they follow.
    asked: u64,
    /// The last of these that each has answered.
    follows: BTreeMap<ServerId, u64>,
}

/// A sync that a client wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AskedSync {
    /// What must be committed first.
    pub(super) after: Zxid,
    /// Which of the questions to its quorum must be answered first; zero for none.
    pub(super) round: u64,
    /// From which learner it came; `None` for the leader's own client.
    pub(super) link: Option<LinkId>,
    pub(super) conn: ConnId,
}

/// Where a session is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// At the leader itself.
    Here,
    /// At the learner on this link.
    Learner(LinkId),
}

impl Lead {
    /// The epoch is established, and nothing is in flight.
    pub(super) fn new(epoch: u32, tree: DataTree, sessions: SessionTable, tracker: SessionTracker) -> Lead {
        Lead {
            epoch,
            ahead: tree,
            sessions,
            tracker,
            owners: BTreeMap::new(),
            syncs: Vec::new(),
            asked: 0,
            follows: BTreeMap::new(),
        }
    }

    /// Takes a proposal into account.
    pub(super) fn proposed(&mut self, txn: &Txn) {
        self.ahead.apply(txn);
        self.sessions.apply(txn);
        if matches!(txn.body, TxnBody::CloseSession { .. }) {
            self.owners.remove(&txn.session);
        }
    }

    /// Whether a session is attached at this place, as far as is known; if nothing is, it is from now on.
    pub(super) fn is_owned_by(&mut self, session: SessionId, place: Place) -> bool {
        *self.owners.entry(session).or_insert(place) == place
    }

    /// A question that is to be put to the quorum.
    pub(super) fn next_round(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// The question that is to be put again, if a sync waits for an answer.
    pub(super) fn open_round(&self) -> Option<u64> {
        self.syncs.iter().any(|sync| sync.round > 0).then_some(self.asked)
    }

    /// A learner has answered a question: it followed when that was put.
    pub(super) fn follows(&mut self, server: ServerId, round: u64) {
        let last = self.follows.entry(server).or_default();
        *last = round.max(*last);
    }

    /// Whether a quorum has followed since a question was put.
    pub(super) fn is_confirmed(&self, round: u64, config: &PeerConfig) -> bool {
        let follows = self.follows.iter().filter(|(_, last)| **last >= round).map(|(server, _)| *server);
        round == 0 || config.is_quorum(&follows.chain([config.id]).collect())
    }

    /// A sync waits.
    pub(super) fn push_sync(&mut self, sync: AskedSync) {
        self.syncs.push(sync);
    }

    /// The syncs that wait for nothing behind `committed`, of which all commits were sent.
    pub(super) fn due_syncs(&mut self, committed: Zxid, config: &PeerConfig) -> Vec<AskedSync> {
        let syncs = std::mem::take(&mut self.syncs);
        let is_due = |sync: &AskedSync| {
            // This server's own clients wait for its tree.
            self.is_confirmed(sync.round, config) && (sync.link.is_none() || sync.after <= committed)
        };
        let (due, wait) = syncs.into_iter().partition(is_due);
        self.syncs = wait;
        due
    }
}

//! What only the leader has: the tree ahead of what stands, and the watch over sessions.

use crate::ids::{ConnId, ServerId};
use crate::sessions::{SessionTable, SessionTracker};
use crate::tree::DataTree;
use crate::txn::{Txn, TxnBody};
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
    pub(super) syncs: Vec<AskedSync>,
    /// How often the learners were asked whether they follow.
    pub(super) asked: u64,
    /// The last of these that each has answered.
    pub(super) follows: BTreeMap<ServerId, u64>,
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
}

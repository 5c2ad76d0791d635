//! What a server does that leads: it begins, and gives transactions their places in the order.

use super::lead::Lead;
use super::{Server, ServerStep, Syncs, Timer};
use crate::message::Xid;
use crate::sessions::SessionTracker;
use crate::txn::TxnBody;
use crate::zab::{self, Draft};
use std::collections::BTreeMap;
use zk_api::{SessionId, Zxid};

impl Server {
    /// The epoch is established: every session gets its full timeout, and the leader's timers begin.
    pub(super) fn begin_leading(&mut self, epoch: u32, step: &mut ServerStep<'_>) {
        let mut tracker = SessionTracker::new(self.config.tick_ms, step.now_ms);
        for (id, session) in self.sessions.iter() {
            tracker.track(id, self.config.grants_otherwise(session.timeout_ms, step.out));
        }
        step.set_timer(Timer::Sessions, tracker.next_tick_ms());
        step.set_timer(Timer::Containers, self.config.container_check_ms);
        self.lead = Some(Lead {
            epoch,
            ahead: self.config.counts_otherwise(self.tree.clone(), step.out),
            sessions: self.sessions.clone(),
            tracker,
            owners: BTreeMap::new(),
            syncs: Vec::new(),
            asked: 0,
            follows: BTreeMap::new(),
        });
    }

    /// Gives a transaction its place in the order and sends it on its way. `None` if the epoch is at its end:
    /// then everybody is sent away soon, and nothing comes of it.
    pub(super) fn propose(
        &mut self,
        session: SessionId,
        xid: Xid,
        body: TxnBody,
        step: &mut ServerStep<'_>,
    ) -> Option<Zxid> {
        let zxid = self.peer.next_zxid()?;
        let draft = Draft { session, xid, time_ms: step.now_ms, body };
        self.zab(zab::Event::Propose(draft), step);
        Some(zxid)
    }

    /// The last transaction that a session has asked for and that is not applied here: it may stand, on the disks of
    /// others, before it is on this server's.
    pub(super) fn last_unapplied_of(&self, session: SessionId) -> Option<Zxid> {
        let unapplied = self.peer.history().after(self.tree.last_zxid());
        unapplied.iter().rev().find(|txn| txn.session == session).map(|txn| txn.zxid)
    }

    /// What a `sync` at the leader waits for: see [`Syncs`].
    pub(super) fn sync_point(&self) -> Zxid {
        match self.config.syncs {
            Syncs::AsShipped => self.peer.in_flight().next_back().map_or(Zxid::ZERO, |txn| txn.zxid),
            Syncs::AskQuorum => self.peer.history().last(),
        }
    }

    /// The last transaction that this server shows to clients. A leader of an ensemble counts from the
    /// beginning of its epoch, though nothing has happened in it.
    ///
    /// Source: measured; a server that is alone does not.
    pub(super) fn shown(&self) -> Zxid {
        let last = self.tree.last_zxid();
        match &self.lead {
            Some(lead) if self.config.zab.voters.len() + self.config.zab.observers.len() > 1 => {
                last.max(Zxid::new(lead.epoch, 0))
            }
            Some(_) | None => last,
        }
    }
}

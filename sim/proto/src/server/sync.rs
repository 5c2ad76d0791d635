//! Syncs: what a leader waits for, and whom it asks, before a client is told that it sees everything.
//!
//! Where a quorum is asked, each of it says that it still follows. Nobody of whom that is so has promised a later epoch
//! before, so nothing has been committed behind this leader's back when the sync came.

use super::connection::Waiting;
use super::lead::AskedSync;
use super::{Output, Server, ServerStep, Syncs};
use crate::message::{Answer, Ask, ConnId, ToPeer};
use crate::mutant::Mutant;
use crate::zab::message::LinkId;
use zk_api::Zxid;

impl Server {
    /// A client of this server's wants to see everything: what is to be applied before it is told so, if that is known.
    pub(super) fn begin_sync(&mut self, conn: ConnId, step: &mut ServerStep<'_>) -> Option<Zxid> {
        if self.lead.is_none() {
            if self.deviates(Mutant::SyncWithoutLeader, step) {
                return Some(Zxid::ZERO);
            }
            self.ask(Ask::Sync { conn }, step);
            return None;
        }
        let round = self.take_sync(None, conn, step);
        if !self.is_confirmed(round) {
            return None;
        }
        // Its connection does not know of it yet.
        self.lead.as_mut().and_then(|lead| lead.syncs.pop()).map(|sync| sync.after)
    }

    /// Takes a sync, and asks whom it has to. Gives the question that must be answered. Only called while this server
    /// leads.
    pub(super) fn take_sync(&mut self, link: Option<LinkId>, conn: ConnId, step: &mut ServerStep<'_>) -> u64 {
        let after = self.sync_point();
        let lead = self.lead.as_mut().expect("whoever takes a sync leads");
        let round = match self.config.syncs {
            Syncs::AsShipped => 0,
            Syncs::AskQuorum => {
                lead.asked += 1;
                lead.asked
            }
        };
        lead.syncs.push(AskedSync { after, round, link, conn });
        if round > 0 {
            for (link, _) in self.peer.serving_links() {
                step.out.push(Output::SendPeer { link, message: ToPeer::Answer(Answer::Asks { round }) });
            }
        }
        round
    }

    /// Asks again with each ping, as a learner that has come since was not asked.
    pub(super) fn ask_again(&mut self, link: LinkId, step: &mut ServerStep<'_>) {
        let Some(lead) = &self.lead else { return };
        let round = lead.asked;
        if lead.syncs.iter().any(|sync| sync.round > 0) {
            step.out.push(Output::SendPeer { link, message: ToPeer::Answer(Answer::Asks { round }) });
        }
    }

    /// A learner says that it follows.
    pub(super) fn follows(&mut self, link: LinkId, round: u64, step: &mut ServerStep<'_>) {
        let links = self.peer.serving_links();
        let Some((_, server)) = links.iter().find(|(serving, _)| *serving == link) else { return };
        let Some(lead) = &mut self.lead else { return };
        let last = lead.follows.entry(*server).or_default();
        *last = round.max(*last);
        self.answer_syncs(self.peer.committed(), step);
    }

    /// Whether a quorum has followed since a question was asked.
    fn is_confirmed(&self, round: u64) -> bool {
        let Some(lead) = &self.lead else { return false };
        let follows = lead.follows.iter().filter(|(_, last)| **last >= round).map(|(server, _)| *server);
        round == 0 || self.config.zab.is_quorum(&follows.chain([self.config.zab.id]).collect())
    }

    /// Answers the syncs that wait for nothing behind `committed`, of which all commits were sent.
    pub(super) fn answer_syncs(&mut self, committed: Zxid, step: &mut ServerStep<'_>) {
        let Some(lead) = self.lead.as_mut().filter(|lead| !lead.syncs.is_empty()) else { return };
        let syncs = std::mem::take(&mut lead.syncs);
        let is_due = |sync: &AskedSync| {
            // This server's own clients wait for its tree.
            self.is_confirmed(sync.round) && (sync.link.is_none() || sync.after <= committed)
        };
        let (due, wait) = syncs.into_iter().partition(is_due);
        self.lead.as_mut().expect("it was just seen to lead").syncs = wait;
        for AskedSync { after, link, conn, .. } in due {
            match link {
                Some(link) => {
                    let message = ToPeer::Answer(Answer::Synced { conn });
                    step.out.push(Output::SendPeer { link, message });
                }
                None => self.may_sync(conn, after, step),
            }
        }
    }

    /// The first sync of a connection that waits to be told how far.
    pub(super) fn may_sync(&mut self, conn: ConnId, told: Zxid, step: &mut ServerStep<'_>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let syncs = connection.waiting.iter_mut().filter_map(|waiting| match waiting {
            Waiting::Sync { after, .. } => Some(after),
            _ => None,
        });
        // Answers come in the order of the syncs.
        if let Some(after) = syncs.into_iter().find(|after| after.is_none()) {
            *after = Some(told);
        }
        self.drain(conn, step);
    }
}

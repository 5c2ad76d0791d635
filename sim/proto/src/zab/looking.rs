//! Looking for a leader: everybody is for the best history it has heard of, until a quorum is for the same.
//!
//! That only makes it likely that one peer with a good history comes to lead. What is safe is decided later, by
//! promises on disk; so datagrams may be lost, and a peer may decide for one that does not lead.

use super::election::{Decided, Election};
use super::message::{Notification, Stand, Vote};
use super::{Out, Output, Peer, Role, State, Timer};
use crate::ids::ServerId;

impl Peer {
    /// Begins a new round, for itself. What is in memory is on disk.
    pub(super) fn look(&mut self, out: Out<'_>) {
        self.round += 1;
        self.vote = self.own_vote();
        self.state = State::Looking(Election::default());
        self.notify_again(out);
        self.count(out);
    }

    /// A candidate's claim is what it would find after a crash.
    fn own_vote(&self) -> Option<Vote> {
        let vote =
            Vote { epoch: self.storage.current_epoch(), zxid: self.history.last(), leader: self.config.id };
        self.config.votes().then_some(vote)
    }

    fn notification(&self) -> Notification {
        let stand = match &self.state {
            State::Settling | State::Looking(_) => Stand::Looking,
            State::Learning(_) => Stand::Following,
            State::Leading(_) => Stand::Leading,
        };
        Notification { round: self.round, vote: self.vote, stand }
    }

    fn notify(&self, to: ServerId, out: Out<'_>) {
        out.push(Output::Notify { to, notification: self.notification() });
    }

    fn notify_all(&self, out: Out<'_>) {
        self.config.other_voters().for_each(|to| self.notify(to, out));
    }

    /// Says for whom this peer is, now and by a timer, for as long as it looks.
    pub(super) fn notify_again(&mut self, out: Out<'_>) {
        if matches!(self.state, State::Looking(_)) {
            self.notify_all(out);
            out.push(Output::SetTimer { timer: Timer::Notify, after_ms: self.config.notify_ms });
        }
    }

    pub(super) fn notified(&mut self, from: ServerId, notification: Notification, out: Out<'_>) {
        let is_known = self.config.is_voter(from) || self.config.observers.contains(&from);
        if !is_known || from == self.config.id {
            return;
        }
        match &self.state {
            State::Settling => {}
            State::Learning(_) | State::Leading(_) => {
                if notification.stand == Stand::Looking {
                    self.notify(from, out);
                }
            }
            State::Looking(_) => self.weigh(from, notification, out),
        }
    }

    fn weigh(&mut self, from: ServerId, notification: Notification, out: Out<'_>) {
        let Some(vote) = notification.vote else {
            // An observer asks.
            self.forget_decision(from);
            return self.notify(from, out);
        };
        if !self.config.is_voter(from) || !self.config.is_voter(vote.leader) {
            return;
        }
        match notification.stand {
            Stand::Looking => {
                self.forget_decision(from);
                self.weigh_candidate(from, notification.round, vote, out);
            }
            Stand::Following | Stand::Leading => {
                self.weigh_leader(from, notification.stand, notification.round, vote, out);
            }
        }
    }

    /// What a peer had decided is over when it looks again.
    fn forget_decision(&mut self, from: ServerId) {
        if let State::Looking(election) = &mut self.state {
            election.decided.remove(&from);
        }
    }

    /// Another looks as well.
    fn weigh_candidate(&mut self, from: ServerId, round: u64, vote: Vote, out: Out<'_>) {
        let config = self.config.clone();
        let (State::Looking(election), Some(mine)) = (&mut self.state, self.vote) else { return };
        if round < self.round {
            // It learns of the newer round by this.
            return self.notify(from, out);
        }
        if round > self.round {
            // What was counted belongs to a round that nobody finishes any more.
            self.round = round;
            *election = Election { decided: std::mem::take(&mut election.decided), ..Election::default() };
            let own = self.own_vote();
            self.vote = if own.is_some_and(|own| config.judges(&own, &vote, out)) { own } else { Some(vote) };
            self.notify_all(out);
        } else if config.judges(&vote, &mine, out) {
            election.finalizing = false;
            self.vote = Some(vote);
            self.notify_all(out);
        }
        self.record(from, vote);
        self.count(out);
    }

    /// Another has decided.
    fn weigh_leader(&mut self, from: ServerId, stand: Stand, round: u64, vote: Vote, out: Out<'_>) {
        let State::Looking(election) = &mut self.state else { return };
        election.decided.insert(from, Decided { leads: stand == Stand::Leading, round, vote });
        if let Some(leader) = election.established(&self.config) {
            self.round = leader.round;
            self.vote = Some(leader.vote);
            return self.decide(leader.vote.leader, out);
        }
        if round == self.round {
            self.record(from, vote);
            self.count(out);
        }
    }

    fn record(&mut self, from: ServerId, vote: Vote) {
        if let State::Looking(election) = &mut self.state {
            election.votes.insert(from, vote);
        }
    }

    /// Decides if everybody agrees; waits a little for better votes if a quorum does.
    fn count(&mut self, out: Out<'_>) {
        let (State::Looking(election), Some(vote)) = (&mut self.state, self.vote) else { return };
        let side = election.side(self.config.id, vote);
        if side == self.config.voters {
            return self.decide(vote.leader, out);
        }
        let agreed = self.config.is_quorum(&side);
        if agreed && !election.finalizing {
            out.push(Output::SetTimer { timer: Timer::Finalize, after_ms: self.config.finalize_ms });
        }
        election.finalizing = agreed;
    }

    /// No better vote came while it waited.
    pub(super) fn finalize(&mut self, out: Out<'_>) {
        match (&self.state, self.vote) {
            (State::Looking(election), Some(vote)) if election.finalizing => self.decide(vote.leader, out),
            _ => {}
        }
    }

    fn decide(&mut self, leader: ServerId, out: Out<'_>) {
        self.become_role(Role::Joining { leader }, out);
        if leader == self.config.id {
            self.lead(out)
        } else {
            self.join(leader, out)
        }
        self.set_tick(out);
    }

    /// The votes this peer knows of: its own, and those it has heard.
    pub fn votes(&self) -> Vec<Vote> {
        let heard = match &self.state {
            State::Looking(election) => election.votes.values().copied().collect(),
            State::Settling | State::Learning(_) | State::Leading(_) => Vec::new(),
        };
        self.vote.into_iter().chain(heard).collect()
    }
}

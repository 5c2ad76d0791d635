//! Looking for a leader: everybody is for the best history it has heard of, until a quorum is for the same.
//!
//! That only makes it likely that one peer with a good history comes to lead. What is safe is decided later, by
//! promises on disk; so datagrams may be lost, and a peer may decide for one that does not lead.

use super::config::PeerConfig;
use super::deviate::judges;
use super::event::{Out, Output, Timer};
use super::message::{Notification, Stand, Vote};
use super::own::{Next, Own};
use crate::ids::ServerId;
use std::collections::{BTreeMap, BTreeSet};

/// A peer that looks for a leader. For whom it is itself is in [`Own::vote`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Election {
    /// For whom the other voters are in this round, whether they still look or have decided.
    votes: BTreeMap<ServerId, Vote>,
    /// What those say who have decided, in whatever round: a leader may be at work already.
    decided: BTreeMap<ServerId, Decided>,
    /// A quorum agrees, and the wait for better votes has begun.
    finalizing: bool,
}

/// What a peer says that has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Decided {
    leads: bool,
    round: u64,
    vote: Vote,
}

impl Election {
    /// A leader other than this peer that says it leads, with a quorum on its side. Others may remember this
    /// peer as the leader from its former life, which is over.
    fn established(&self, config: &PeerConfig) -> Option<Decided> {
        let leaders = self.decided.iter().filter(|(server, said)| said.leads && said.vote.leader == **server);
        let mut leaders = leaders.map(|(_, said)| *said).filter(|said| said.vote.leader != config.id);
        leaders.find(|leader| {
            let side = self.decided.iter().filter(|(_, said)| said.vote.leader == leader.vote.leader);
            config.is_quorum(&side.map(|(server, _)| *server).collect())
        })
    }

    /// Who is for `vote`, this peer with them.
    fn side(&self, me: ServerId, vote: Vote) -> BTreeSet<ServerId> {
        let agree = self.votes.iter().filter(|(_, their)| **their == vote);
        agree.map(|(server, _)| *server).chain([me]).collect()
    }

    /// A new round, in which this peer is for itself. What is in memory is on disk.
    pub(super) fn begin(own: &mut Own, out: Out<'_>) -> (Election, Next) {
        own.round += 1;
        own.vote = own.claim();
        let mut election = Election::default();
        election.notify_again(own, out);
        let next = election.count(own, out);
        (election, next)
    }

    /// Says for whom this peer is, now and by a timer, for as long as it looks.
    pub(super) fn notify_again(&self, own: &Own, out: Out<'_>) {
        own.notify_all(Stand::Looking, out);
        out.push(Output::SetTimer { timer: Timer::Notify, after_ms: own.config.notify_ms });
    }

    /// What another member of the ensemble says.
    pub(super) fn weigh(&mut self, own: &mut Own, from: ServerId, said: Notification, out: Out<'_>) -> Next {
        let Some(vote) = said.vote else {
            // An observer asks.
            self.forget_decision(from);
            own.notify(from, Stand::Looking, out);
            return Next::GoesOn;
        };
        if !own.config.is_voter(from) || !own.config.is_voter(vote.leader) {
            return Next::GoesOn;
        }
        match said.stand {
            Stand::Looking => {
                self.forget_decision(from);
                self.weigh_candidate(own, from, said.round, vote, out)
            }
            Stand::Following | Stand::Leading => {
                let leads = said.stand == Stand::Leading;
                self.weigh_leader(own, from, Decided { leads, round: said.round, vote }, out)
            }
        }
    }

    /// What a peer had decided is over when it looks again.
    fn forget_decision(&mut self, from: ServerId) {
        self.decided.remove(&from);
    }

    /// Another looks as well.
    fn weigh_candidate(
        &mut self,
        own: &mut Own,
        from: ServerId,
        round: u64,
        vote: Vote,
        out: Out<'_>,
    ) -> Next {
        let Some(mine) = own.vote else { return Next::GoesOn };
        if round < own.round {
            // It learns of the newer round by this.
            own.notify(from, Stand::Looking, out);
            return Next::GoesOn;
        }
        if round > own.round {
            // What was counted belongs to a round that nobody finishes any more.
            own.round = round;
            *self = Election { decided: std::mem::take(&mut self.decided), ..Election::default() };
            let best = own.claim().filter(|best| judges(&own.config, best, &vote, out));
            own.vote = best.or(Some(vote));
            own.notify_all(Stand::Looking, out);
        } else if judges(&own.config, &vote, &mine, out) {
            self.finalizing = false;
            own.vote = Some(vote);
            own.notify_all(Stand::Looking, out);
        }
        self.votes.insert(from, vote);
        self.count(own, out)
    }

    /// Another has decided.
    fn weigh_leader(&mut self, own: &mut Own, from: ServerId, said: Decided, out: Out<'_>) -> Next {
        self.decided.insert(from, said);
        if let Some(leader) = self.established(&own.config) {
            own.round = leader.round;
            own.vote = Some(leader.vote);
            return Next::Decides { leader: leader.vote.leader };
        }
        if said.round != own.round {
            return Next::GoesOn;
        }
        self.votes.insert(from, said.vote);
        self.count(own, out)
    }

    /// Decides if everybody agrees; waits a little for better votes if a quorum does.
    fn count(&mut self, own: &Own, out: Out<'_>) -> Next {
        let Some(vote) = own.vote else { return Next::GoesOn };
        let side = self.side(own.config.id, vote);
        if side == own.config.voters {
            return Next::Decides { leader: vote.leader };
        }
        let agreed = own.config.is_quorum(&side);
        if agreed && !self.finalizing {
            out.push(Output::SetTimer { timer: Timer::Finalize, after_ms: own.config.finalize_ms });
        }
        self.finalizing = agreed;
        Next::GoesOn
    }

    /// The wait for better votes is over.
    pub(super) fn finalize(&self, own: &Own) -> Next {
        match own.vote {
            Some(vote) if self.finalizing => Next::Decides { leader: vote.leader },
            Some(_) | None => Next::GoesOn,
        }
    }

    /// The votes that were heard.
    pub(super) fn votes(&self) -> impl Iterator<Item = Vote> {
        self.votes.values().copied()
    }
}

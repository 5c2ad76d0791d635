//! A sync's answer shows all that its leader had proposed when it heard of the sync, and is given on its word.
//!
//! That is what released versions promise: a leader that does not know yet of a later one gives its word as well. Where
//! a leader asks a quorum first, the answer shows all that was committed by anybody.

use crate::{Invariant, Report};
use std::collections::{BTreeMap, VecDeque};
use zk_api::Zxid;
use zk_proto::message::ConnId;

/// What syncs are to show.
#[derive(Debug, Default)]
pub struct Syncs {
    /// The last that each server has proposed or found in its history as it began to lead.
    proposed: BTreeMap<u8, Zxid>,
    /// The last that anybody has committed.
    pub committed: Zxid,
    conns: BTreeMap<ConnId, Of>,
}

/// The syncs of a connection, in order.
#[derive(Debug, Default)]
struct Of {
    /// Of which its leader has heard, and what they are to show.
    asked: VecDeque<Zxid>,
    /// On which it has given its word.
    given: VecDeque<Zxid>,
}

const NAME: Invariant = Invariant::SyncShowsCommitted;

impl Syncs {
    /// A server begins to lead with a history that ends here, or proposes this.
    pub fn leads(&mut self, server: u8, last: Zxid) {
        self.proposed.insert(server, last);
    }

    /// A leader hears of a sync on a learner's connection.
    pub fn asked(&mut self, leader: u8, conn: ConnId, asks_quorum: bool) {
        let own = self.proposed.get(&leader).copied().unwrap_or_default();
        let shows = if asks_quorum { own.max(self.committed) } else { own };
        self.conns.entry(conn).or_default().asked.push_back(shows);
    }

    /// The learner hears its word.
    pub fn given(&mut self, conn: ConnId) {
        if let Some(of) = self.conns.get_mut(&conn) {
            of.given.extend(of.asked.pop_front());
        }
    }

    /// A learner answers a sync that has applied everything up to `applied`.
    pub fn answers(&mut self, conn: ConnId, applied: Zxid, report: &mut Report) {
        let shows = self.conns.get_mut(&conn).and_then(|of| of.given.pop_front());
        report.check(NAME, shows.is_some_and(|shows| shows <= applied), || match shows {
            Some(shows) => format!("{conn:?}: a sync is answered at {applied}, should show {shows}"),
            None => format!("{conn:?}: a sync is answered at {applied} without its leader's word"),
        });
    }

    /// A connection is over.
    pub fn closed(&mut self, conn: ConnId) {
        self.conns.remove(&conn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: ConnId = ConnId(1);

    fn z(counter: u32) -> Zxid {
        Zxid::new(1, counter)
    }

    fn is_caught(happens: impl Fn(&mut Syncs, &mut Report)) -> bool {
        let (mut syncs, mut report) = (Syncs::default(), Report::default());
        syncs.leads(0, z(5));
        happens(&mut syncs, &mut report);
        !report.broken.is_empty()
    }

    #[test]
    fn an_answer_behind_the_leaders_word_passes_and_one_before_is_caught() {
        let answered_at = |counter| {
            is_caught(|syncs, report| {
                syncs.asked(0, C, false);
                syncs.leads(0, z(6));
                syncs.given(C);
                syncs.answers(C, z(counter), report);
            })
        };
        assert!(!answered_at(5) && answered_at(4));
    }

    #[test]
    fn an_answer_without_the_leaders_word_is_caught() {
        assert!(is_caught(|syncs, report| syncs.answers(C, z(9), report)));
        assert!(is_caught(|syncs, report| {
            syncs.asked(0, C, false);
            syncs.answers(C, z(9), report);
        }));
        // One word is for one sync.
        assert!(is_caught(|syncs, report| {
            syncs.asked(0, C, false);
            syncs.given(C);
            syncs.answers(C, z(9), report);
            syncs.answers(C, z(9), report);
        }));
    }

    #[test]
    fn a_leader_that_asks_a_quorum_knows_of_what_others_have_committed() {
        for (asks_quorum, caught) in [(false, false), (true, true)] {
            assert_eq!(
                caught,
                is_caught(|syncs, report| {
                    syncs.committed = z(7);
                    syncs.asked(0, C, asks_quorum);
                    syncs.given(C);
                    syncs.answers(C, z(6), report);
                })
            );
        }
    }
}

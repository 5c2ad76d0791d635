//! `abort-validity`.

use super::commitment::{Told, told, transaction_of};
use super::findings::broken_at;
use crate::context::{below, parent};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use zk_api::{SessionId, Text};

/// Where nobody has failed and all vote to commit, all commit.
///
/// A site fails if it loses its session, crashes, or is so slow that another says it waits no longer. After a lost
/// session or a crash, every transaction that is under way then may abort, and so may those that begin before the
/// failed site is there again: by an ephemeral znode where sites show themselves so, and otherwise by its next session.
/// If another site waits no longer, only that one transaction may.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbortValidity {
    root: &'static str,
    /// Whoever has no znode below this one, if it is known, is not waited for.
    sites: Option<&'static str>,
    /// The last session that each process has opened, and whether a znode shows that it is there.
    there: BTreeMap<SessionId, (ActorId, bool)>,
    /// Whether anybody has shown itself.
    show_themselves: bool,
    /// Who has failed, and is not there again.
    failed: BTreeSet<ActorId>,
    /// Transactions that have begun, and those that somebody may have failed in.
    begun: BTreeSet<Text>,
    exempt: BTreeSet<Text>,
    /// Transactions with a vote to abort.
    refused: BTreeSet<Text>,
    /// Transactions of one site, which has nobody to fail it.
    alone: BTreeSet<Text>,
}

impl AbortValidity {
    /// For the transactions below one znode, whose sites are present below another.
    pub fn of(root: &'static str, sites: &'static str) -> Self {
        AbortValidity { sites: Some(sites), ..AbortValidity::of_any_sites(root) }
    }

    /// The same where any ephemeral znode that is not a transaction's shows that its site is present.
    pub fn of_any_sites(root: &'static str) -> Self {
        let (there, failed) = (BTreeMap::new(), BTreeSet::new());
        let (begun, exempt, refused, alone) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (sites, show_themselves) = (None, false);
        AbortValidity { root, sites, there, show_themselves, failed, begun, exempt, refused, alone }
    }

    fn begins(&mut self, transaction: &str) {
        self.begun.insert(transaction.into());
        if !self.failed.is_empty() {
            self.exempt.insert(transaction.into());
        }
    }

    /// It has lost one of its sessions, or all with its life.
    fn fails(&mut self, actor: ActorId, event: &Event) {
        self.exempt.extend(self.begun.iter().cloned());
        match event {
            Event::Is(GroundTruth::SessionClosed { session, .. }) => drop(self.there.remove(session)),
            Event::Is(_) | Event::Observed { .. } => self.there.retain(|_, (other, _)| *other != actor),
        }
        // Its next session, or life, may be there already.
        if !self.is_there(actor) {
            self.failed.insert(actor);
        }
    }

    fn opens(&mut self, actor: ActorId, session: SessionId) {
        self.there.retain(|_, (other, _)| other.process != actor.process);
        self.there.insert(session, (actor, false));
        self.comes_back(actor);
    }

    fn shows_itself(&mut self, session: SessionId) {
        self.show_themselves = true;
        if let Some((actor, shown)) = self.there.get_mut(&session) {
            *shown = true;
            let actor = *actor;
            self.comes_back(actor);
        }
    }

    fn comes_back(&mut self, actor: ActorId) {
        if self.is_there(actor) {
            self.failed.retain(|other| other.process != actor.process);
        }
    }

    fn is_there(&self, actor: ActorId) -> bool {
        let is_enough = |shown: bool| shown || !self.show_themselves;
        self.there.values().any(|(other, shown)| other.process == actor.process && is_enough(*shown))
    }
}

impl Promise for AbortValidity {
    fn terms(&self) -> Terms {
        Terms::of("abort-validity")
            .about("Where nobody fails and all vote to commit, nobody aborts (AC4).")
            .tested_when("A site commits in a transaction of two sites or more, in which nobody has failed.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Is(GroundTruth::NodeCreated { path, owner, .. }) = event
            && *owner != SessionId::NONE
            && self.sites.map_or(!below(self.root, path), |sites| parent(path) == sites)
        {
            self.shows_itself(*owner);
        }
        match told(self.root, event) {
            Some(Told::Failed(actor)) => self.fails(actor, event),
            Some(Told::Begun(actor, session)) => self.opens(actor, session),
            Some(Told::Impatient(transaction)) => {
                self.exempt.insert(transaction.into());
            }
            Some(Told::Written(path, commits, _)) => {
                let Some(transaction) = transaction_of(self.root, path) else { return };
                self.begins(transaction);
                if !commits && !path.ends_with("/decision") {
                    self.refused.insert(transaction.into());
                }
            }
            Some(Told::Proposed(transaction, sites)) => {
                self.begins(transaction);
                if sites < 2 {
                    self.alone.insert(transaction.into());
                }
            }
            Some(Told::Done(transaction, ..)) if self.exempt.contains(transaction) => {}
            Some(Told::Done(transaction, _, true)) => {
                found.extend((!self.alone.contains(transaction)).then_some(Finding::Tested));
            }
            Some(Told::Done(transaction, by, false)) if !self.refused.contains(transaction) => {
                let what = format!("p{by} aborts {transaction}, though nobody has failed or voted so");
                found.push(broken_at(what, once(transaction).chain(self.sites)));
            }
            Some(Told::Voted(transaction, _, false)) => {
                self.refused.insert(transaction.into());
            }
            Some(Told::Done(..) | Told::Voted(..)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;

    fn aborts_after(mut events: Vec<Event>) -> Vec<Finding> {
        events.extend([written("/tx/1/decision", "abort"), does(1, "aborts")]);
        findings(AbortValidity::of("/tx", "/sites"), events)
    }

    #[test]
    fn to_abort_without_a_cause_breaks_it() {
        let elsewhere = [written("/tx/2/p0", "abort"), notes(0, "votes to abort", "/tx/2")];
        let agrees = [written("/tx/1/p0", "commit"), notes(0, "votes to commit", "/tx/1")];
        for events in [vec![], agrees.to_vec(), elsewhere.to_vec()] {
            let what = "p1 aborts /tx/1, though nobody has failed or voted so";
            assert_eq!(broken_by(&aborts_after(events)), [(what, None)]);
        }
    }

    #[test]
    fn a_vote_to_abort_or_a_failure_is_a_cause() {
        let by_word = notes(0, "votes to abort", "/tx/1");
        for cause in [written("/tx/1/p0", "abort"), by_word, crashed(0), closed(2), impatient(0)] {
            assert_eq!(aborts_after(vec![opened(0), opened(2), written("/tx/1/p1", "commit"), cause]), []);
        }
        // Whoever comes later finds nobody there.
        assert_eq!(aborts_after(vec![opened(0), crashed(0)]), []);
    }

    /// Nothing was judged any more once anybody had failed: a site that came back could abort all there was.
    #[test]
    fn a_failure_is_no_cause_once_the_next_life_is_there() {
        let next = Event::Is(GroundTruth::SessionOpened {
            session: session(7),
            actor: ActorId { life: 1, ..actor(0) },
        });
        let what = "p1 aborts /tx/1, though nobody has failed or voted so";
        let found = aborts_after(vec![opened(0), crashed(0), next.clone()]);
        assert_eq!(broken_by(&found), [(what, None)]);
        // That its former session ends meanwhile is a cause of what is under way.
        let under_way = written("/tx/1/p1", "commit");
        assert_eq!(aborts_after(vec![opened(0), crashed(0), next.clone(), under_way, closed(0)]), []);
        let found = aborts_after(vec![opened(0), crashed(0), next, closed(0)]);
        assert_eq!(broken_by(&found), [(what, None)]);
    }

    /// It has a session before it is waited for again.
    #[test]
    fn where_sites_show_themselves_a_failure_is_a_cause_until_its_next_life_does() {
        let next = || opened_anew(0);
        let shows = |p| created(&format!("/sites/p{p}"), p);
        let shows_again = || {
            let (path, by) = ("/sites/p0".into(), session(7));
            Event::Is(GroundTruth::NodeCreated { path, by, owner: by, czxid: zk_api::Zxid::new(1, 1) })
        };
        let before = || vec![opened(0), opened(1), shows(0), shows(1)];
        for fails in [closed(0), crashed(0)] {
            let back = [before(), vec![fails.clone(), next()]].concat();
            assert_eq!(aborts_after(back.clone()), [], "{fails:?}");
            let there = [back, vec![shows_again()]].concat();
            assert_eq!(broken_by(&aborts_after(there)).len(), 1, "{fails:?}");
        }
        assert_eq!(aborts_after([before(), vec![next(), closed(0)]].concat()), []);
        let there_before = [before(), vec![next(), shows_again(), closed(0)]].concat();
        assert_eq!(broken_by(&aborts_after(there_before)).len(), 1);
        // Not by what outlives it, nor by what is elsewhere.
        let lasts = GroundTruth::NodeCreated {
            path: "/sites/p0".into(),
            by: session(0),
            owner: SessionId::NONE,
            czxid: zk_api::Zxid::new(1, 1),
        };
        for other in [Event::Is(lasts), created("/elsewhere/p0", 0)] {
            let back = vec![opened(0), opened(1), other, closed(0), next()];
            assert_eq!(broken_by(&aborts_after(back)).len(), 1);
        }
    }

    #[test]
    fn where_sites_may_show_themselves_anywhere_each_does_that_is_not_a_transactions() {
        let fails = |shows: &str| {
            let fails = vec![opened(0), opened(1), created(shows, 0), crashed(0), opened_anew(0)];
            let aborts = vec![written("/tx/1/decision", "abort"), does(1, "aborts")];
            broken_by(&findings(AbortValidity::of_any_sites("/tx"), [fails, aborts].concat())).len()
        };
        assert_eq!(
            ["/up/p0", "/p0", "/tx/1/p0"].map(fails),
            [0, 0, 1],
            "it is not there again but by its session"
        );
    }

    /// Once its former session had ended, who was there by the next one already was taken to have failed for good.
    #[test]
    fn a_session_that_ends_is_no_cause_of_what_begins_when_the_next_one_is_there() {
        let what = "p1 aborts /tx/1, though nobody has failed or voted so";
        for life in [0, 1] {
            let actor = ActorId { life, ..actor(0) };
            let next = Event::Is(GroundTruth::SessionOpened { session: session(7), actor });
            let found = aborts_after(vec![opened(0), next.clone(), opened(2), closed(0)]);
            assert_eq!(broken_by(&found), [(what, None)]);
            let last = Event::Is(GroundTruth::SessionClosed { session: session(7), actor, expired: true });
            assert_eq!(aborts_after(vec![opened(0), next.clone(), closed(0), last]), []);
            let dies = Event::Is(GroundTruth::Crashed { actor });
            assert_eq!(aborts_after(vec![opened(0), next.clone(), dies]), [], "the former life is over");
            assert_eq!(aborts_after(vec![opened(0), proposes(2), next, closed(0)]), [], "it was under way");
        }
    }

    #[test]
    fn a_proposal_is_a_beginning_and_of_two_sites_one_can_fail_the_other() {
        let judge = |events| findings(AbortValidity::of("/tx", "/sites"), events);
        assert_eq!(judge(vec![proposes(2), does(0, "commits")]), [Finding::Tested]);
        assert_eq!(judge(vec![opened(0), crashed(0), proposes(2), does(1, "aborts")]), []);
    }

    #[test]
    fn to_commit_is_a_test_it_passes() {
        assert_eq!(findings(AbortValidity::of("/tx", "/sites"), vec![does(0, "commits")]), [Finding::Tested]);
        let alone = vec![proposes(1), does(0, "commits")];
        assert_eq!(findings(AbortValidity::of("/tx", "/sites"), alone), [], "one site has nobody to fail it");
    }
}

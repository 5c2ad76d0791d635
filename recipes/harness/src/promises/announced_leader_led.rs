//! `announced-leader-led`.

use super::findings::broken;
use crate::context::{SessionTracker, below};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::BTreeSet;
use zk_api::{SessionId, Text};

/// Whoever is announced as the leader leads, and whoever is found to lead knew that it was elected.
///
/// An announcement is a write of the election's own znode. When it takes effect, its writer must own the oldest of the
/// candidates' znodes. An actor that asks who leads says "finds" and the candidate's znode; the znode's owner must have
/// said by then that it was granted the lead: a candidate that stands first may not know that yet, and may never. Who
/// says "finds" and the election's own znode has found nobody, which cannot be as long as it leads, is announced
/// itself, and has not lost its connection since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnnouncedLeaderLed {
    election: &'static str,
    tracker: SessionTracker,
    /// The candidates' znodes that exist, oldest first, and whose they are.
    queue: Vec<(Text, SessionId)>,
    /// By which znodes somebody was elected.
    elected: BTreeSet<Text>,
    /// Who was announced last, and stands still.
    announced: Option<SessionId>,
    /// Who leads, and has been connected since it was granted that. Others may ask a server that is behind what they
    /// write.
    leads: BTreeSet<ActorId>,
}

impl AnnouncedLeaderLed {
    /// For one election.
    pub fn of(election: &'static str) -> Self {
        AnnouncedLeaderLed {
            election,
            tracker: SessionTracker::of(election),
            queue: Vec::new(),
            elected: BTreeSet::new(),
            announced: None,
            leads: BTreeSet::new(),
        }
    }

    fn announced(&self, by: SessionId, found: &mut Vec<Finding>) {
        // Whoever made the znode has announced nobody.
        if !self.tracker.knows(by) {
            return;
        }
        match self.queue.first() {
            Some((_, owner)) if *owner == by && self.queue.len() > 1 => found.push(Finding::Tested),
            Some((_, owner)) if *owner == by => {}
            Some((first, _)) => {
                found.push(broken(format!("session {by} was announced while {first} stood first"), None));
            }
            None => found.push(broken(format!("session {by} was announced and did not stand"), None)),
        }
    }
}

impl Promise for AnnouncedLeaderLed {
    fn terms(&self) -> Terms {
        Terms::of("announced-leader-led")
            .about("Whoever is announced leads then, and whoever is found to lead knew of its election.")
            .tested_when(
                "A leader is announced while another candidate stands, or somebody else finds who leads.",
            )
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.tracker.see(event);
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, .. })
                if *owner != SessionId::NONE && below(self.election, path) =>
            {
                self.queue.push((path.clone(), *owner));
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if below(self.election, path) => {
                self.queue.retain(|(queued, _)| queued != path);
                self.announced =
                    self.announced.filter(|session| self.queue.iter().any(|(_, owner)| owner == session));
            }
            Event::Is(GroundTruth::NodeWritten { path, by, .. }) if **path == *self.election => {
                self.announced(*by, found);
                self.announced = Some(*by).filter(|by| self.queue.iter().any(|(_, owner)| owner == by));
            }
            Event::Observed { actor, what: Observation::Granted { lock, node, .. } }
                if **lock == *self.election =>
            {
                self.elected.insert(node.clone());
                self.leads.insert(actor.main());
            }
            Event::Observed { actor, what: Observation::Leaves { lock } } if **lock == *self.election => {
                self.leads.remove(&actor.main());
            }
            Event::Is(GroundTruth::Disconnected { actor }) => {
                self.leads.remove(actor);
            }
            Event::Observed { actor, what } => {
                let Some((words::FINDS, node, _)) = what.told() else { return };
                let announced = self.announced.and_then(|session| self.tracker.live.get(&session));
                let leads = self.leads.contains(&actor.main());
                if node == self.election && leads && announced == Some(&actor.main()) {
                    found.push(broken(
                        format!("{actor} finds that nobody leads, though it was announced"),
                        None,
                    ));
                }
                if below(self.election, node) {
                    let owner = self.queue.iter().find(|(queued, _)| **queued == *node);
                    let owner = owner.and_then(|(_, session)| self.tracker.live.get(session));
                    match self.elected.contains(node) {
                        // Who leads knows that.
                        true => found.extend((owner != Some(&actor.main())).then_some(Finding::Tested)),
                        false => {
                            let what = format!("{actor} finds that {node} leads, which does not know");
                            found.push(broken(what, None));
                        }
                    }
                }
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use zk_api::{Data, Zxid};

    const A: &str = "/lock/a-n-0000000000";
    const B: &str = "/lock/b-n-0000000001";

    fn announces(p: u16) -> Event {
        let (path, by, mzxid) = (LOCK.into(), session(p), Zxid::new(1, 9));
        Event::Is(GroundTruth::NodeWritten { path, by, owner: SessionId::NONE, data: Data::NULL, mzxid })
    }

    fn finds(p: u16, node: &str) -> Event {
        Event::Observed { actor: actor(p), what: Observation::note(words::FINDS, node, 0) }
    }

    fn judge(events: Vec<Event>) -> Vec<Finding> {
        let stand = vec![opened(0), opened(1), created(A, 0), created(B, 1)];
        findings(AnnouncedLeaderLed::of(LOCK), [stand, events].concat())
    }

    #[test]
    fn an_announcement_by_who_does_not_stand_first_breaks_it() {
        let what = "session 0x2 was announced while /lock/a-n-0000000000 stood first";
        assert_eq!(broken_by(&judge(vec![announces(1)])), [(what, None)]);
        let what = "session 0x1 was announced and did not stand";
        let gone = vec![vanished(A, 0), vanished(B, 1), announces(0)];
        assert_eq!(broken_by(&judge(gone)), [(what, None)]);
    }

    #[test]
    fn finding_who_does_not_know_breaks_it() {
        let what = "p1 finds that /lock/a-n-0000000000 leads, which does not know";
        assert_eq!(broken_by(&judge(vec![finds(1, A)])), [(what, None)]);
    }

    #[test]
    fn to_find_nobody_breaks_it_for_who_leads_and_is_announced() {
        let announced = || vec![granted_as(0, A, None), announces(0)];
        let found = |then: Vec<Event>| broken_by(&judge([announced(), then].concat())).len();
        let what = "p0 finds that nobody leads, though it was announced";
        assert_eq!(broken_by(&judge([announced(), vec![finds(0, LOCK)]].concat())), [(what, None)]);
        assert_eq!(found(vec![finds(1, LOCK)]), 0, "it may be behind");
        assert_eq!(found(vec![vanished(A, 0), finds(0, LOCK)]), 0);
        assert_eq!(found(vec![closed(0), finds(0, LOCK)]), 0);
        assert_eq!(found(vec![vanished(B, 1), finds(0, LOCK)]), 1);
        assert_eq!(found(vec![finds(0, A), finds(1, A)]), 0);
        let not_standing = vec![granted_as(0, A, None), vanished(A, 0), announces(0), finds(0, LOCK)];
        assert_eq!(broken_by(&judge(not_standing)).len(), 1, "that it was announced does");
        assert_eq!(found(vec![leaves(0), finds(0, LOCK)]), 0, "it has said that it leads no more");
        let lost = |p| Event::Is(GroundTruth::Disconnected { actor: actor(p) });
        assert_eq!(found(vec![lost(0), finds(0, LOCK)]), 0, "its next server may be behind");
        assert_eq!(found(vec![lost(1), finds(0, LOCK)]), 1);
        let written = vec![granted_as(0, A, None), lost(0), announces(0), finds(0, LOCK)];
        assert_eq!(broken_by(&judge(written)), [], "nor does it know that this was done");
        assert_eq!(broken_by(&judge(vec![granted_as(0, A, None), finds(0, LOCK)])), []);
    }

    #[test]
    fn who_was_elected_may_be_announced_and_found_even_when_it_is_gone() {
        let events = vec![granted_as(0, A, None), announces(0), vanished(A, 0), finds(1, A), announces(99)];
        assert_eq!(judge(events), [Finding::Tested, Finding::Tested]);
        assert_eq!(judge(vec![vanished(A, 0), announces(1)]), [], "nobody else stands");
    }

    #[test]
    fn what_is_no_candidates_stands_for_nobody() {
        let (path, by, owner, czxid) = ("/lock/terms".into(), session(1), SessionId::NONE, Zxid::new(1, 1));
        let nobodys = Event::Is(GroundTruth::NodeCreated { path, by, owner, czxid });
        for other in [nobodys, created("/locks/a-n-0000000000", 1)] {
            let first = vec![opened(0), opened(1), other, created(A, 0), created(B, 1), announces(0)];
            assert_eq!(findings(AnnouncedLeaderLed::of(LOCK), first), [Finding::Tested]);
        }
        assert_eq!(judge(vec![finds(1, "/locks/a-n-0000000000")]), []);
    }
}

//! `no-foreign-delete`.

use super::findings::broken;
use super::revocation_heeded::UNLOCK;
use crate::context::{SessionTracker, within};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// No session deletes the ephemeral znode of another session, unless it was opened in that session's place; and no
/// thread deletes the znode by which another thread of its session holds the lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoForeignDelete {
    lock: &'static str,
    tracker: SessionTracker,
    /// By which znode a thread holds the lock, where several ask on one session.
    held: BTreeMap<ActorId, Text>,
    /// The contenders' znodes that somebody has asked to give back, if whoever has asked may delete them.
    asked: Option<BTreeSet<Text>>,
}

impl NoForeignDelete {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        NoForeignDelete { lock, tracker: SessionTracker::of(lock), held: BTreeMap::new(), asked: None }
    }

    /// Allows the deletion of a znode whose owner was asked to give back what it holds.
    #[must_use]
    pub fn but_of_asked(self) -> Self {
        NoForeignDelete { asked: Some(BTreeSet::new()), ..self }
    }

    fn hear(&mut self, actor: ActorId, what: &Observation) {
        match what {
            Observation::Granted { lock, node, .. }
                if **lock == *self.lock && self.tracker.threaded.contains(&actor.main()) =>
            {
                self.held.insert(actor, node.clone());
            }
            // It goes on by another one.
            Observation::Shares { lock, .. }
            | Observation::Leaves { lock }
            | Observation::Released { lock }
            | Observation::GivesUp { lock, .. }
                if **lock == *self.lock =>
            {
                self.held.remove(&actor);
            }
            _ => {}
        }
    }
}

impl NoForeignDelete {
    /// It is an administrator; or he has deleted what it had there before, and it takes the next one's for its own.
    fn assumption(&self, path: &Text, by: SessionId) -> Option<Assumption> {
        let is_his = |actor: &ActorId| self.tracker.lost_to_another(*actor, path);
        self.tracker.opened.get(&by).is_none_or(is_his).then_some(Assumption::NoAdministrator)
    }
}

impl Promise for NoForeignDelete {
    fn terms(&self) -> Terms {
        let about = match self.asked {
            None => "No client deletes the znode of another.",
            Some(_) => {
                "No client deletes the znode of another that was not asked to give back what it holds."
            }
        };
        Terms::of("no-foreign-delete")
            .about(about)
            .tested_when("Somebody deletes its own ephemeral znode where there was another session that it could have been of.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let Event::Is(truth @ GroundTruth::NodeDeleted { path, by, owner, .. }) = event else {
            if let Some(dead) = self.tracker.see(event) {
                self.held.retain(|actor, _| actor.main() != dead);
            }
            match event {
                Event::Observed { actor, what } => self.hear(*actor, what),
                Event::Is(GroundTruth::NodeWritten { path, data, .. }) if data.bytes() == UNLOCK => {
                    if let Some(asked) = &mut self.asked {
                        asked.insert(path.clone());
                    }
                }
                Event::Is(_) => {}
            }
            return;
        };
        let was_asked = self.asked.as_mut().is_some_and(|asked| asked.remove(path));
        let assumption = self.assumption(path, *by);
        if self.tracker.victim(truth).is_some() {
            self.tracker.see(event);
        }
        if *by == SessionId::NONE || *owner == SessionId::NONE || !within(self.lock, path) {
            return;
        }
        let [who, whose] = [by, owner].map(|session| self.tracker.opened.get(session));
        // Whose client has renewed its session still has the znodes of the former one.
        if who == whose {
            let holds = |(_, node): &(&ActorId, &Text)| *node == path;
            match self.held.iter().find(holds) {
                Some((holder, _)) => {
                    let what = format!("session {by} deleted {path}, by which {holder} holds the lock");
                    found.push(broken(what, None));
                }
                // A session that was alone has nobody else's to delete.
                None => {
                    let is_test = who.is_some() && self.tracker.opened.len() > 1;
                    found.extend(is_test.then_some(Finding::Tested));
                }
            }
        } else if was_asked {
            found.push(Finding::Tested);
        } else {
            found.push(broken(format!("session {by} deleted {path} of session {owner}"), assumption));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const A: &str = "/lock/a-lock-0000000000";

    #[test]
    fn deleting_the_znode_of_another_breaks_it() {
        let found = findings(NoForeignDelete::of(LOCK), vec![opened(0), opened(1), deleted(A, 1, 0)]);
        assert_eq!(broken_by(&found), [("session 0x2 deleted /lock/a-lock-0000000000 of session 0x1", None)]);
    }

    #[test]
    fn whoever_has_a_new_session_may_delete_what_is_left_of_the_former_one() {
        let of = |p| Event::Is(GroundTruth::SessionOpened { session: SessionId::new(77), actor: actor(p) });
        let left = GroundTruth::NodeDeleted {
            path: A.into(),
            by: SessionId::new(77),
            owner: session(0),
            zxid: None,
        };
        let judge = |p| {
            findings(NoForeignDelete::of(LOCK), vec![opened(0), opened(1), of(p), Event::Is(left.clone())])
        };
        assert_eq!(judge(0), [Finding::Tested]);
        assert_eq!(broken_by(&judge(1)).len(), 1);
    }

    /// A leader that begins with what its predecessor had not committed commits all of it before it does any.
    #[test]
    fn the_end_of_either_session_may_be_told_before_its_request_is_done() {
        let next = Event::Is(GroundTruth::SessionOpened { session: session(77), actor: actor(0) });
        let judge = |ends, by| {
            findings(
                NoForeignDelete::of(LOCK),
                vec![opened(0), opened(1), next.clone(), ends, deleted(A, by, 0)],
            )
        };
        assert_eq!(judge(closed(0), 77), [Finding::Tested], "of the former one");
        assert_eq!(broken_by(&judge(closed(0), 1)).len(), 1);
        let foreign = "session 0x2 deleted /lock/a-lock-0000000000 of session 0x1";
        assert_eq!(broken_by(&judge(closed(1), 1)), [(foreign, None)]);
    }

    #[test]
    fn what_is_nobodys_or_elsewhere_or_an_administrators_own_is_not_judged() {
        let administrators = deleted(A, ADMIN, ADMIN);
        for gone in
            [deleted("/lock/readme", 1, NOBODY), deleted("/locks/a-lock-0000000000", 1, 0), administrators]
        {
            assert_eq!(findings(NoForeignDelete::of(LOCK), vec![opened(0), opened(1), gone]), []);
        }
    }

    const HIS: Option<Assumption> = Some(Assumption::NoAdministrator);

    #[test]
    fn an_administrator_violates_an_assumption() {
        for dies in [vec![], vec![closed(0)]] {
            let events = [vec![opened(0), opened(1)], dies, vec![deleted(A, ADMIN, 0)]].concat();
            assert_eq!(broken_by(&findings(NoForeignDelete::of(LOCK), events))[0].1, HIS);
        }
    }

    #[test]
    fn who_takes_the_next_ones_for_what_an_administrator_has_deleted_is_expected_to() {
        let judge = |by| {
            let made = vec![opened(0), opened(1), created(A, 0), deleted(A, by, 0), created(A, 1)];
            let found = findings(NoForeignDelete::of(LOCK), [made, vec![deleted(A, 0, 1)]].concat());
            broken_by(&found).into_iter().map(|(_, assumption)| assumption).collect::<Vec<_>>()
        };
        assert_eq!(judge(ADMIN), [HIS, HIS]);
        assert_eq!(judge(1), [None, None], "not for what another actor has");
    }

    #[test]
    fn deleting_ones_own_beside_another_is_a_test_it_passes_and_expiry_is_none() {
        let own = vec![opened(0), deleted(A, 0, 0), vanished(A, 0)];
        assert_eq!(findings(NoForeignDelete::of(LOCK), own.clone()), [], "nobody else is there");
        let beside = [vec![opened(1)], own].concat();
        assert_eq!(findings(NoForeignDelete::of(LOCK), beside), [Finding::Tested]);
    }

    #[test]
    fn a_thread_that_deletes_what_another_holds_the_lock_by_breaks_it() {
        let held = vec![opened(0), opened(1), by_thread(1, attempts(0)), granted(0)];
        let gone = deleted("/lock/a-lock-0000000000", 0, 0);
        let judge = |more: Vec<Event>| findings(NoForeignDelete::of(LOCK), [held.clone(), more].concat());
        let what = "session 0x1 deleted /lock/a-lock-0000000000, by which p0 holds the lock";
        assert_eq!(broken_by(&judge(vec![gone.clone()])), [(what, None)]);
        assert_eq!(judge(vec![leaves(0), gone.clone()]), [Finding::Tested]);
        assert_eq!(judge(vec![shares(0), gone.clone()]), [Finding::Tested], "it goes on by another one");
        assert_eq!(judge(vec![closed(0), gone.clone()]), [Finding::Tested]);
        // Nor does it hold it less because it has another.
        let node = "/elsewhere/a-lock-0000000000".into();
        let what_else = Observation::Granted { lock: "/elsewhere".into(), node, token: None };
        let both = vec![Event::Observed { actor: actor(0), what: what_else }, gone];
        assert_eq!(broken_by(&judge(both)), [(what, None)]);
    }

    /// Whoever has one thread knows which znode is whose.
    #[test]
    fn who_has_one_thread_may_delete_what_it_holds_the_lock_by() {
        let (mut promise, mut found) = (NoForeignDelete::of(LOCK), Vec::new());
        for event in [opened(0), opened(1), granted(0), deleted(A, 0, 0)] {
            promise.see(&event, &mut found);
        }
        assert_eq!(found, [Finding::Tested]);
    }

    #[test]
    fn what_was_asked_back_may_be_taken_and_nothing_else() {
        let node = "/lock/a-lock-0000000000";
        let before = || vec![opened(0), opened(1), created(node, 0)];
        let judge = || NoForeignDelete::of(LOCK).but_of_asked();
        let asked = [before(), vec![asked_back(node), deleted(node, 1, 0)]].concat();
        assert_eq!(findings(judge(), asked), [Finding::Tested]);
        let at_once = [before(), vec![deleted(node, 1, 0)]].concat();
        assert_eq!(broken_by(&findings(judge(), at_once)).len(), 1);
    }
}

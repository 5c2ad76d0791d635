//! Promises that are owed as long as no administrator has changed what they are about.

use crate::context::{below, parent, within};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Rest, Subject, Terms, anew};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// A promise of a recipe that keeps what it knows in znodes and cannot restore it: a violation after an administrator's
/// deletion or write is expected, as [`Assumption::NoAdministrator`] does not hold, if the change concerns what the
/// violation is [about](crate::promise::Violation::about).
///
/// A change concerns the znode that was changed, all znodes below it, and all above it. It concerns an actor
///
/// - whose ephemeral znode it was, until it makes another one in that place, or beside it (where others than its main
///   thread tell of something, that may be another one's);
/// - that makes an ephemeral znode in the place of the one that is gone: the former owner may take it for its own;
/// - where the znode was nobody's: for good, or until the actor [has come to the end](Observation::Ends) of what it is
///   a part of, if it lies [within](Undisturbed::within) the root; and never, if its loss is
///   [borne](Undisturbed::sparing).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Undisturbed<P> {
    /// Changes elsewhere do not matter.
    root: Option<&'static str>,
    /// Nobody's znodes below this one concern no actor.
    spared: Option<&'static str>,
    promise: P,
    /// Those of actors; all others are administrators'. Behind names nothing may stand that is none of theirs: where
    /// processes are taken for each other, it would be the last one's.
    sessions: BTreeMap<SessionId, ActorId>,
    /// Whose threads beside the main one tell of something.
    threaded: BTreeSet<ActorId>,
    /// What was changed, and whom that concerns.
    changed: BTreeMap<Text, Concern>,
}

/// Whom a change concerns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Concern {
    /// These.
    Only(BTreeSet<ActorId>),
    /// All but these, who are through with it.
    AllBut(BTreeSet<ActorId>),
}

impl<P: Promise> Undisturbed<P> {
    /// Wraps a promise. Panics if it has assumptions of its own, but for [`Assumption::NobodyMeantToWait`].
    pub fn of(promise: P) -> Self {
        let Terms { name, assumes, .. } = promise.terms();
        let is_open = assumes == [Assumption::NobodyMeantToWait];
        assert!(assumes.is_empty() || is_open, "{name} says itself what it assumes");
        let (sessions, threaded, changed) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Undisturbed { root: None, spared: None, promise, sessions, threaded, changed }
    }

    /// Blames only changes of this znode and of znodes below or above it. Below it, an actor that has come to the end
    /// of something is through with what that was about.
    pub fn within(self, root: &'static str) -> Self {
        Undisturbed { root: Some(root), ..self }
    }

    /// Expects every actor to bear the loss or change of nobody's znodes below this one.
    pub fn sparing(self, parent: &'static str) -> Self {
        Undisturbed { spared: Some(parent), ..self }
    }

    fn take_note(&mut self, event: &Event) {
        if let Event::Observed { actor, .. } = event
            && actor.thread > 0
        {
            self.threaded.insert(actor.main());
        }
        match event {
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
            }
            Event::Is(
                GroundTruth::NodeDeleted { path, by, owner, .. }
                | GroundTruth::NodeWritten { path, by, owner, .. },
            ) => {
                let is_his = *by != SessionId::NONE && !self.sessions.contains_key(by);
                if is_his && self.root.is_none_or(|root| are_related(root, path)) {
                    self.change(path, *owner);
                }
            }
            Event::Is(GroundTruth::NodeCreated { path, by, .. }) => self.replace(path, *by),
            Event::Is(_) => {}
            Event::Observed { actor, what: Observation::Ends { about, .. } } => self.end(actor.main(), about),
            Event::Observed { .. } => {}
        }
    }

    fn change(&mut self, path: &Text, owner: SessionId) {
        let nobody = Concern::Only(BTreeSet::new());
        let before = self.changed.remove(path).unwrap_or(nobody);
        let concern = match (before, self.sessions.get(&owner)) {
            (Concern::Only(mut actors), Some(actor)) => {
                actors.insert(*actor);
                Concern::Only(actors)
            }
            (before, None) if self.spared.is_some_and(|parent| below(parent, path)) => before,
            (_, None) | (Concern::AllBut(_), _) => Concern::AllBut(BTreeSet::new()),
        };
        self.changed.insert(path.clone(), concern);
    }

    /// A znode is made in the place of one that was changed, or beside it.
    fn replace(&mut self, path: &Text, by: SessionId) {
        let Some(actor) = self.sessions.get(&by) else { return };
        for (changed, concern) in &mut self.changed {
            let Concern::Only(actors) = concern else { continue };
            if parent(changed) != parent(path) {
                continue;
            }
            let was_own = actors.contains(actor);
            if was_own && !self.threaded.contains(actor) {
                actors.remove(actor);
            } else if changed == path {
                actors.insert(*actor);
            }
        }
    }

    /// An actor has come to the end of something.
    fn end(&mut self, actor: ActorId, about: &str) {
        let Some(root) = self.root else { return };
        for (changed, concern) in &mut self.changed {
            if let Concern::AllBut(actors) = concern
                && below(root, changed)
                && within(about, changed)
            {
                actors.insert(actor);
            }
        }
    }

    fn concerns(&self, about: &Subject) -> bool {
        match about {
            Subject::Unsaid => false,
            Subject::Znodes(znodes) => {
                let is_about = |changed: &Text| znodes.iter().any(|znode| are_related(znode, changed));
                self.changed.keys().any(is_about)
            }
            Subject::Actors(actors) => self.changed.values().any(|concern| match concern {
                Concern::Only(those) => actors.iter().any(|actor| those.contains(&actor.main())),
                Concern::AllBut(others) => actors.iter().any(|actor| !others.contains(&actor.main())),
            }),
        }
    }

    fn mark_expected(&self, found: &mut [Finding]) {
        for finding in found {
            if let Finding::Broken(violation) = finding
                && self.concerns(&violation.about)
            {
                violation.violated_assumption = Some(Assumption::NoAdministrator);
            }
        }
    }
}

/// Whether one is the other, or lies below it.
fn are_related(one: &str, other: &str) -> bool {
    within(one, other) || within(other, one)
}

impl<P: Promise> Promise for Undisturbed<P> {
    fn terms(&self) -> Terms {
        let terms = self.promise.terms();
        terms.assumes(match terms.assumes {
            [] => &[Assumption::NoAdministrator],
            _ => &[Assumption::NoAdministrator, Assumption::NobodyMeantToWait],
        })
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.promise.begins_with(setup);
    }

    fn judges_from_outside(&mut self) {
        self.promise.judges_from_outside();
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.take_note(event);
        let found = anew(found, |found| self.promise.see(event, found));
        self.mark_expected(found);
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        self.mark_expected(anew(found, |found| self.promise.at_rest(rest, found)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{Agreement, LiveMembersListed, NoFailure, NoWaiterStuck};
    use super::*;
    use crate::event::End;

    const HIS: Option<Assumption> = Some(Assumption::NoAdministrator);
    const A: &str = "/group/a";
    const B: &str = "/group/b";

    fn writes(path: &str, p: u16, owner: SessionId) -> Event {
        let (path, by, mzxid) = (path.into(), session(p), zk_api::Zxid::new(1, 7));
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data: "abort".into(), mzxid })
    }

    fn fails(p: u16) -> Event {
        Event::Is(GroundTruth::Finished { actor: actor(p), end: End::Failed })
    }

    fn ends(p: u16, about: &str) -> Event {
        Event::Observed { actor: actor(p), what: Observation::ends(crate::words::IS_THROUGH_WITH, about, 0) }
    }

    /// The assumption that is violated where the last one of these fails.
    fn failed(judge: Undisturbed<NoFailure>, events: Vec<Event>) -> Option<Assumption> {
        let opened = (0..3).map(opened).collect();
        broken_by(&findings(judge, [opened, events].concat())).last().expect("somebody fails").1
    }

    fn stuck_after(events: Vec<Event>) -> Option<Assumption> {
        let rest = Rest { unfinished: vec![actor(0), actor(1)], ..Rest::default() };
        let all = [vec![opened(0), opened(1)], events].concat();
        let found = resting(Undisturbed::of(NoWaiterStuck).within("/tx"), all, &rest);
        let mark_expected: Vec<_> = broken_by(&found).iter().map(|(_, assumption)| *assumption).collect();
        assert_eq!(mark_expected[0], mark_expected[1]);
        mark_expected[0]
    }

    #[test]
    fn who_loses_its_znode_or_finds_other_data_in_it_breaks_as_expected_and_nobody_else() {
        for change in [deleted(A, 99, 0), writes(A, 99, session(0))] {
            assert_eq!(failed(Undisturbed::of(NoFailure), vec![change.clone(), fails(0)]), HIS);
            assert_eq!(failed(Undisturbed::of(NoFailure), vec![change.clone(), fails(1)]), None);
            assert_eq!(failed(Undisturbed::of(NoFailure), vec![fails(0), change]), None);
        }
    }

    /// What may be meant is expected where an administrator was at it.
    #[test]
    fn what_its_author_alone_can_say_is_left_open_unless_an_administrator_was_at_it() {
        let promise = || Undisturbed::of(NoWaiterStuck::standard());
        assert_eq!(promise().terms().assumes, [Assumption::NoAdministrator, Assumption::NobodyMeantToWait]);
        let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        let failed = |dies| {
            let events = vec![opened(0), opened(1), attempts(0), dies];
            broken_by(&resting(promise(), events, &rest))[0].1
        };
        assert_eq!(failed(closed(1)), Some(Assumption::NobodyMeantToWait));
        assert_eq!(failed(deleted(A, ADMIN, 0)), HIS);
    }

    #[test]
    fn who_has_made_another_znode_beside_it_breaks_as_expected_no_more() {
        let after =
            |made| failed(Undisturbed::of(NoFailure), vec![deleted(A, 99, 0), created(made, 0), fails(0)]);
        assert_eq!([after(A), after(B), after("/claims/a")], [None, None, HIS]);
    }

    #[test]
    fn who_takes_the_place_of_another_may_lose_it_to_that_one() {
        let loses = vec![deleted(A, 99, 0), created(A, 1)];
        for p in [0, 1] {
            assert_eq!(failed(Undisturbed::of(NoFailure), [loses.clone(), vec![fails(p)]].concat()), HIS);
        }
        assert_eq!(failed(Undisturbed::of(NoFailure), [loses, vec![fails(2)]].concat()), None);
        let beside = vec![deleted(A, 99, 0), created(B, 1), fails(1)];
        assert_eq!(failed(Undisturbed::of(NoFailure), beside), None, "it stands beside it");
    }

    #[test]
    fn a_znode_that_is_nobodys_concerns_all_until_they_are_through_with_it_or_none_who_must_bear_it() {
        let change = deleted("/tx/1/p0", 99, NOBODY);
        let of = |events| failed(Undisturbed::of(NoFailure).within("/tx"), events);
        assert_eq!(of(vec![change.clone(), fails(1)]), HIS);
        assert_eq!(of(vec![change.clone(), ends(1, "/tx/2"), ends(0, "/tx/1"), fails(1)]), HIS);
        assert_eq!(of(vec![change.clone(), ends(1, "/tx/1"), fails(1)]), None);
        assert_eq!(of(vec![deleted("/sites/p0", 99, 0), fails(0)]), None);
        let spared = || Undisturbed::of(NoFailure).sparing("/tx");
        assert_eq!(failed(spared(), vec![change, fails(1)]), None);
        assert_eq!(failed(spared(), vec![deleted("/tx", 99, NOBODY), ends(1, "/tx"), fails(1)]), HIS);
    }

    #[test]
    fn who_waits_is_expected_to_with_whom_it_waits_for() {
        let change = deleted("/tx/1/p0", 99, NOBODY);
        assert_eq!(stuck_after(vec![change.clone()]), HIS);
        assert_eq!(stuck_after(vec![change.clone(), ends(0, "/tx/1")]), HIS);
        assert_eq!(stuck_after(vec![change, ends(0, "/tx/1"), ends(1, "/tx/1")]), None);
        assert_eq!(stuck_after(vec![deleted("/sites/p1", 99, 1)]), None);
    }

    /// Who waited behind the znode of one that is done, and can not delete what an administrator has written, was a
    /// defect.
    #[test]
    fn who_waits_is_expected_to_if_what_is_left_of_another_was_changed() {
        let wrote = |writer| {
            let rest = Rest {
                unfinished: vec![actor(1)],
                sessions: vec![(session(0), actor(0))],
                ..Rest::default()
            };
            let events = vec![opened(0), opened(1), writes(A, writer, session(0)), finished(0)];
            broken_by(&resting(Undisturbed::of(NoWaiterStuck), events, &rest))[0].1
        };
        assert_eq!([99, 0].map(wrote), [HIS, None]);
    }

    #[test]
    fn what_the_own_people_or_the_ensemble_do_violates_no_assumption() {
        for change in [deleted("/tx/1", 0, NOBODY), vanished("/tx/1", 0), writes("/tx/1", 0, SessionId::NONE)]
        {
            assert_eq!(stuck_after(vec![change.clone()]), None);
            // It is done, though its session has ended meanwhile.
            assert_eq!(stuck_after(vec![closed(0), change]), None);
        }
    }

    #[test]
    fn of_znodes_a_change_concerns_itself_and_what_is_above_and_below() {
        use super::super::commitment::testing::does;
        let assumption = |path: &str| {
            let events = vec![opened(0), deleted(path, 99, NOBODY), does(0, "commits"), does(1, "aborts")];
            broken_by(&findings(Undisturbed::of(Agreement::of("/tx")), events))[0].1
        };
        assert_eq!(["/tx/1", "/tx/1/p0", "/tx"].map(assumption), [HIS; 3]);
        assert_eq!(["/tx/2/p0", "/tx/11", "/sites/p0"].map(assumption), [None; 3]);
    }

    #[test]
    fn a_member_is_unlisted_by_the_deletion_of_its_own_znode_alone() {
        let joins = Event::Observed { actor: actor(0), what: Observation::note(crate::words::JOINS, A, 0) };
        let rest = Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() };
        let assumption = |change| {
            let events = vec![opened(0), opened(1), joins.clone(), change];
            broken_by(&resting(Undisturbed::of(LiveMembersListed::of("/group")), events, &rest))[0].1
        };
        assert_eq!([assumption(deleted(A, 99, 0)), assumption(deleted(B, 99, 1))], [HIS, None]);
    }

    #[test]
    fn the_root_itself_concerns_all_for_good() {
        let change = vec![deleted("/tx", 99, NOBODY), ends(1, "/tx"), fails(1)];
        assert_eq!(failed(Undisturbed::of(NoFailure).within("/tx"), change), HIS);
    }

    #[test]
    fn what_is_about_nothing_is_expected_after_no_change() {
        let led = super::super::OneTermPerElection::of(LOCK);
        let events = vec![opened(0), deleted("/lock/x", 99, NOBODY), granted(0), granted(0)];
        assert_eq!(broken_by(&findings(Undisturbed::of(led), events))[0].1, None);
    }

    /// Who had lost its znode broke it as a defect once another thread of its process had made one.
    #[test]
    fn what_one_thread_makes_is_no_sign_that_another_has_lost_nothing() {
        let tells = |thread| by_thread(thread, attempts(0));
        let made = |told: &[Event]| {
            let loses = [deleted(A, 99, 0), created(B, 0), fails(0)];
            let (mut promise, mut found) = (Undisturbed::of(NoFailure), Vec::new());
            [&[opened(0)], told, &loses].concat().iter().for_each(|event| promise.see(event, &mut found));
            broken_by(&found)[0].1
        };
        assert_eq!((made(&[tells(0)]), made(&[tells(1), tells(2)])), (None, HIS));
    }
}

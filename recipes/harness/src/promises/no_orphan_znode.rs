//! `no-orphan-znode`.

use super::findings::broken;
use crate::context::{SessionTracker, below, parent, within};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::standing::Standing;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// At rest, each contender's znode belongs to an attempt that goes on, and each attempt has one at most. No znode
/// stands for two attempts: an actor that kept it when releasing the lock would come before all that wait.
///
/// Znodes of sessions that have ended are the ensemble's to remove, and are not judged here; nor is that of an attempt
/// that crashed, which its session's expiry will remove. A persistent one that was made within an attempt stands for it
/// if it outlives it, and somebody that asks while nobody has the lock gives up: nobody has had it since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoOrphanZnode {
    lock: &'static str,
    tracker: SessionTracker,
    /// Whose attempt has not ended yet.
    attempting: BTreeSet<ActorId>,
    /// The contenders' znodes that exist, whose they are, and whether they were there as their owner's attempt began.
    nodes: BTreeMap<Text, (ActorId, bool)>,
    /// Where znodes were made within attempts: what is elsewhere is no contender's.
    lines: BTreeSet<Text>,
    /// Persistent znodes that were made within attempts.
    persistent: BTreeMap<Text, Persistent>,
    /// Who asks while there are any, and nobody has the lock.
    unopposed: BTreeSet<ActorId>,
    /// Whether anything else was changed at the lock, or nobody will tell: the lock may be elsewhere, behind a
    /// client's chroot.
    is_there: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Persistent {
    maker: ActorId,
    by: SessionId,
    /// Who gave up though nobody had it, and the maker's attempt was over.
    shut_out: Option<ActorId>,
}

impl NoOrphanZnode {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        let (tracker, nodes, persistent) = (SessionTracker::of(lock), BTreeMap::new(), BTreeMap::new());
        let (attempting, lines, unopposed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        NoOrphanZnode { lock, tracker, attempting, nodes, lines, persistent, unopposed, is_there: false }
    }

    /// Notes that somebody has changed something at the lock. Where znodes were made, that is known already.
    fn looks_for_it(&mut self, event: &Event) {
        if let Event::Is(
            GroundTruth::NodeCreated { path, by, .. }
            | GroundTruth::NodeWritten { path, by, .. }
            | GroundTruth::NodeDeleted { path, by, .. },
        ) = event
        {
            let is_at_lock = within(self.lock, path) && self.tracker.live.contains_key(by);
            self.is_there |= is_at_lock && self.lines.is_empty();
        }
    }

    /// Somebody asks for the lock.
    fn attempts(&mut self, actor: ActorId) {
        let asks = |process: &ActorId| self.tracker.asking(*process) > 0;
        let is_had = self.tracker.standing.iter().any(|(_, how)| how != Standing::Waits)
            || self.nodes.values().any(|(owner, _)| !asks(owner));
        self.unopposed.extend((!is_had && !self.persistent.is_empty()).then_some(actor));
        // Another of its threads may have one for an attempt of its own.
        if !self.attempting.iter().any(|other| other.main() == actor.main()) {
            let own = self.nodes.values_mut().filter(|(owner, _)| *owner == actor.main());
            own.for_each(|(_, is_old)| *is_old = true);
        }
        self.attempting.insert(actor);
    }

    fn is_made(&mut self, path: &Text, by: SessionId, owner: SessionId) {
        let Some(maker) = self.tracker.live.get(&by).copied() else { return };
        let is_within = self.attempting.iter().any(|other| other.main() == maker);
        if owner == by {
            self.lines.extend(is_within.then(|| parent(path).into()));
            self.nodes.insert(path.clone(), (maker, false));
        } else if is_within {
            self.persistent.insert(path.clone(), Persistent { maker, by, shut_out: None });
        }
    }

    /// Somebody has the lock: what others have made keeps nobody out, unless it is for a share as well.
    fn is_had(&mut self, actor: ActorId) {
        if self.tracker.standing.get(actor) != Some(Standing::Shares) {
            self.persistent.retain(|_, node| node.maker == actor.main());
        }
        self.persistent.values_mut().for_each(|node| node.shut_out = None);
        self.unopposed.clear();
    }

    /// The dead have what they had until their session ends, and who asked may have been the next one.
    fn dies(&mut self, process: ActorId) {
        self.unopposed.clear();
        if self.attempting.iter().any(|other| other.main() == process) {
            let own = |other: &ActorId| other.main() == process;
            self.persistent.values_mut().for_each(|node| node.shut_out = node.shut_out.filter(own));
        }
    }

    fn gives_up(&mut self, actor: ActorId) {
        self.ends(actor);
        if self.unopposed.remove(&actor) {
            for node in self.persistent.values_mut() {
                let goes_on = self.attempting.iter().any(|other| other.main() == node.maker);
                if !goes_on || !self.tracker.live.contains_key(&node.by) {
                    node.shut_out = Some(actor);
                }
            }
        }
    }

    /// Gives whether its attempt is over: another one goes on around what it has taken once more.
    fn ends(&mut self, actor: ActorId) -> bool {
        self.tracker.standing.get(actor).is_none() && self.attempting.remove(&actor)
    }
}

impl Promise for NoOrphanZnode {
    fn terms(&self) -> Terms {
        Terms::of("no-orphan-znode")
            .about("No contender's znode outlives the attempt that it stands for.")
            .tested_when(
                "Somebody that asked for the lock, and was granted it, is done with it, and something was changed \
                 there.",
            )
            // It hears of attempts, and looks at what is left at rest.
            .judged_from_outside()
    }

    fn judges_from_outside(&mut self) {
        self.is_there = true;
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.tracker.see(event) {
            self.dies(dead);
        }
        match event {
            Event::Observed { actor, what } => match what {
                Observation::Attempts { lock } if **lock == *self.lock => self.attempts(*actor),
                Observation::Granted { lock, node, .. } if **lock == *self.lock => {
                    self.is_had(*actor);
                    if self.nodes.get(node) == Some(&(actor.main(), true)) {
                        let what =
                            format!("{actor} is granted the lock by {node}, which it had before it asked");
                        found.push(broken(what, None));
                    }
                }
                Observation::Shares { lock, .. } | Observation::Enters { lock, .. }
                    if **lock == *self.lock =>
                {
                    self.is_had(*actor);
                }
                Observation::Released { lock } if **lock == *self.lock => {
                    let is_seen = self.is_there || !self.lines.is_empty();
                    found.extend((self.ends(*actor) && is_seen).then_some(Finding::Tested));
                }
                Observation::GivesUp { lock, .. } if **lock == *self.lock => self.gives_up(*actor),
                _ => {}
            },
            // Its other threads go on.
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.attempting.remove(actor);
            }
            Event::Is(GroundTruth::NodeCreated { path, by, owner, .. }) if below(self.lock, path) => {
                self.is_made(path, *by, *owner);
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => {
                self.nodes.remove(path);
                self.persistent.remove(path);
            }
            Event::Is(GroundTruth::Disconnected { actor } | GroundTruth::Paused { actor }) => {
                self.unopposed.retain(|other| other.main() != *actor);
            }
            Event::Is(_) => {}
        }
        self.looks_for_it(event);
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (path, Persistent { maker, shut_out, .. }) in &self.persistent {
            // What contenders stand below is there for all of them.
            let is_parent = self.lines.iter().any(|line| within(path, line));
            if let Some(other) = shut_out.filter(|_| !is_parent) {
                let what =
                    format!("{path} is left of {maker}, and keeps {other} from the lock, which nobody has");
                found.push(broken(what, None));
            }
        }
        let mut standing = BTreeMap::new();
        let is_contender = |path: &Text| {
            below(self.lock, path) && (self.lines.is_empty() || self.lines.contains(parent(path)))
        };
        for (path, actor) in rest.owned().filter(|(path, _)| is_contender(path)) {
            // Each of its threads may try by itself.
            let attempts = self.attempting.iter().filter(|other| other.main() == actor).count();
            let stand = standing.entry(actor).or_insert(0);
            *stand += 1;
            if attempts == 0 {
                found.push(broken(format!("{path} is left of {actor}, which does not try any more"), None));
            } else if *stand > attempts {
                found.push(broken(format!("{path} is one more of {actor}, for one attempt"), None));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use zk_api::Zxid;

    fn at_rest(events: Vec<Event>, nodes: &[(&str, u16)]) -> Vec<Finding> {
        let mut promise = NoOrphanZnode::of(LOCK);
        let mut found = Vec::new();
        for event in events {
            promise.see(&event, &mut found);
        }
        let nodes = nodes.iter().map(|(path, p)| ((*path).into(), session(*p))).collect();
        let sessions = [0, 1].map(|p| (session(p), actor(p))).into();
        promise.at_rest(&Rest { nodes, sessions, ..Rest::default() }, &mut found);
        found
    }

    #[test]
    fn a_znode_that_outlives_its_attempt_breaks_it() {
        for end in [released(0), gives_up(0), finished(0)] {
            let found = at_rest(vec![attempts(0), end], &[("/lock/a-lock-0000000000", 0)]);
            let what = "/lock/a-lock-0000000000 is left of p0, which does not try any more";
            assert_eq!(broken_by(&found), [(what, None)]);
        }
    }

    #[test]
    fn a_znode_that_stands_for_the_next_attempt_as_well_breaks_it() {
        const NODE: &str = "/lock/a-lock-0000000000";
        let round = [attempts(0), granted(0), released(0)];
        let made = [opened(0), attempts(0), created(NODE, 0)];
        let judge =
            |events: &[&[Event]]| findings(NoOrphanZnode::of(LOCK), [&[&made[..]], events].concat().concat());
        let broken = judge(&[&round[1..], &round]);
        let what = format!("p0 is granted the lock by {NODE}, which it had before it asked");
        assert_eq!(broken_by(&broken), [(&*what, None)]);
        let anew = [vanished(NODE, 0), attempts(0), created(NODE, 0)];
        assert_eq!(broken_by(&judge(&[&round[1..], &anew, &round[1..]])), []);
        assert_eq!(
            broken_by(&judge(&[&[by_thread(1, attempts(0))], &round[1..]])),
            [],
            "one of its threads has it"
        );
        // An answer comes late, and another one stands there by now.
        let others = [opened(1), attempts(1), created(NODE, 1), released(1), attempts(1), granted(0)];
        assert_eq!(broken_by(&judge(&[&[vanished(NODE, 0)], &others])), []);
    }

    #[test]
    fn two_znodes_for_one_attempt_break_it() {
        let nodes = [("/lock/lock-0000000000", 0), ("/lock/lock-0000000001", 0)];
        let found = at_rest(vec![attempts(0)], &nodes);
        assert_eq!(broken_by(&found), [("/lock/lock-0000000001 is one more of p0, for one attempt", None)]);
    }

    #[test]
    fn a_waiter_may_have_its_znode_and_the_dead_are_not_judged() {
        let nodes = [("/lock/a-lock-0000000000", 0), ("/lock/b-lock-0000000001", 7)];
        assert_eq!(at_rest(vec![attempts(0)], &nodes), []);
        assert_eq!(at_rest(vec![attempts(0), crashed(0)], &nodes), []);
        let why = "there is no more to do".into();
        let elsewhere = Observation::GivesUp { lock: "/elsewhere".into(), why };
        let gives_up = Event::Observed { actor: actor(0), what: elsewhere };
        assert_eq!(at_rest(vec![attempts(0), gives_up], &nodes), []);
        assert_eq!(at_rest(vec![], &[("/elsewhere/a-lock-0000000000", 0)]), []);
    }

    /// Any quiet rest was a test of it, and a trial whose actors return at once was green.
    #[test]
    fn it_takes_an_attempt_that_has_had_the_lock_and_is_over() {
        assert_eq!(at_rest(vec![opened(0), finished(0)], &[]), []);
        assert_eq!(at_rest(vec![attempts(0), gives_up(0)], &[]), []);
        assert_eq!(at_rest(vec![released(0)], &[]), [], "it has not asked");
        let round = |made| vec![opened(0), attempts(0), made, granted(0), released(0)];
        assert_eq!(at_rest(round(created("/lock/a-lock-0000000000", 0)), &[]), [Finding::Tested]);
    }

    /// Behind a chroot, all was green.
    #[test]
    fn it_takes_a_change_at_the_lock_where_changes_are_told() {
        let round = |made| vec![opened(0), attempts(0), made, granted(0), released(0)];
        for (change, is_there) in [
            (created("/app/lock/a-lock-0000000000", 0), false),
            (created("/locks", 0), false),
            (sets("/lock", 7, 1), false),
            (sets("/lock", 0, 1), true),
            (deleted("/lock/a", 0, 0), true),
        ] {
            let tested = if is_there { vec![Finding::Tested] } else { vec![] };
            assert_eq!(findings(NoOrphanZnode::of(LOCK), round(change.clone())), tested, "{change:?}");
        }
        let mut from_outside = NoOrphanZnode::of(LOCK);
        Promise::judges_from_outside(&mut from_outside);
        assert_eq!(findings(from_outside, round(opened(1))), [Finding::Tested]);
        let mut undisturbed = crate::promises::Undisturbed::of(NoOrphanZnode::of(LOCK));
        Promise::judges_from_outside(&mut undisturbed);
        assert_eq!(findings(undisturbed, round(opened(1))), [Finding::Tested]);
    }

    #[test]
    fn each_thread_of_a_session_may_have_one() {
        let nodes_left = ["/lock/a-lock-0000000000", "/lock/b-lock-0000000001"];
        let nodes = nodes_left.iter().map(|path| ((*path).into(), session(0))).collect();
        let rest = Rest { nodes, sessions: vec![(session(0), actor(0))], ..Rest::default() };
        let judge = |events| resting(NoOrphanZnode::of(LOCK), events, &rest);
        assert_eq!(judge(vec![attempts(0), by_thread(1, attempts(0))]), []);
        let what = "/lock/b-lock-0000000001 is one more of p0, for one attempt";
        assert_eq!(broken_by(&judge(vec![by_thread(1, attempts(0))])), [(what, None)]);
        let found = judge(vec![attempts(0), by_thread(1, attempts(0)), finished(0)]);
        assert_eq!(broken_by(&found), [(what, None)], "the other goes on when the main one has ended");
    }

    /// With the end of the first section within another one the attempt was over, though the outer one went on.
    #[test]
    fn a_section_within_another_goes_on_by_the_same_znode() {
        const NODE: &str = "/lock/a-lock-0000000000";
        let inner = [attempts(0), granted(0), enters(0), leaves(0), released(0)];
        let outer = [opened(0), attempts(0), created(NODE, 0), granted(0), enters(0)];
        let ends = [leaves(0), released(0)];
        let judge =
            |events: &[&[Event]], there: &[(&str, u16)]| broken_by(&at_rest(events.concat(), there)).len();
        let there = &[(NODE, 0)][..];
        assert_eq!(judge(&[&outer, &inner, &inner], there), 0);
        assert_eq!(judge(&[&outer, &inner, &[attempts(0), gives_up(0)], &inner], there), 0);
        assert_eq!(judge(&[&outer, &inner, &ends], there), 1);
        assert_eq!(judge(&[&outer, &inner, &ends, &inner], &[]), 1, "it kept it for the next attempt");
        let anew = [attempts(0), created("/lock/a-lock-0000000001", 0), gives_up(0)];
        assert_eq!(
            judge(&[&outer, &anew], there),
            0,
            "what it asked for by another one is over, and it is inside"
        );
        assert_eq!(judge(&[&outer, &anew, &ends], there), 1);
    }

    /// Who registers elsewhere below the lock for as long as it lives left that behind with its attempt.
    #[test]
    fn what_is_where_no_attempt_makes_a_znode_is_no_contender() {
        const MEMBER: &str = "/lock/members/p0";
        let (joins, left) = ([opened(0), created(MEMBER, 0)], [(MEMBER, 0)]);
        let asks = [attempts(0), created("/lock/line/a-0000000000", 0), granted(0)];
        let done = [vanished("/lock/line/a-0000000000", 0), released(0)];
        let judge = |events: &[&[Event]]| broken_by(&at_rest(events.concat(), &left)).len();
        assert_eq!(judge(&[&joins, &asks, &done]), 0);
        assert_eq!(judge(&[&joins, &asks[..1], &done[1..]]), 1, "it may be what the attempts stand on");
        let beside = [attempts(0), created("/lock/members/a-0000000000", 0), granted(0)];
        assert_eq!(judge(&[&joins, &beside, &[released(0)]]), 1);
    }

    /// A persistent znode for a lock outlived whoever held it by that, and all the others gave up for ever.
    #[test]
    fn a_persistent_znode_that_keeps_all_others_out_breaks_it() {
        const NODE: &str = "/lock/holder";
        let made = |by: u16| {
            let (path, by) = (NODE.into(), session(by));
            Event::Is(GroundTruth::NodeCreated { path, by, owner: SessionId::NONE, czxid: Zxid::new(1, 1) })
        };
        let holds = || vec![opened(0), opened(1), attempts(0), made(0), enters(0)];
        let nodes = vec![(NODE.into(), SessionId::NONE)];
        let rest = Rest { nodes, sessions: vec![(session(1), actor(1))], ..Rest::default() };
        let judge = |then: Vec<Event>| {
            let events = [holds(), then].concat();
            broken_by(&resting(NoOrphanZnode::of(LOCK), events, &rest)).len()
        };
        let tries = || vec![attempts(1), gives_up(1)];
        assert_eq!(judge([vec![crashed(0), closed(0)], tries()].concat()), 1);
        assert_eq!(judge([vec![leaves(0), released(0)], tries()].concat()), 1, "it is not deleted");
        assert_eq!(judge([vec![crashed(0)], tries()].concat()), 0, "its session lives");
        assert_eq!(judge(tries()), 0, "it holds the lock");
        assert_eq!(judge([tries(), vec![crashed(0), closed(0)]].concat()), 0, "nobody has asked since");
        let dead = || vec![crashed(0), closed(0)];
        for gets in [enters(1), granted(1)] {
            assert_eq!(judge([dead(), tries(), vec![attempts(1), gets]].concat()), 0, "it keeps nobody out");
        }
        let has_had = vec![attempts(1), enters(1), leaves(1), released(1)];
        assert_eq!(judge([dead(), has_had, tries()].concat()), 0, "nor did it before");
        let has_shared = |gets| judge([dead(), vec![attempts(1), gets, leaves(1)], tries()].concat());
        assert_eq!((has_shared(shares(1)), has_shared(granted(1))), (1, 0), "it may be for a share");
        // Who has made it has the lock again, or has it in its next session.
        let (ends, again) = (|| vec![leaves(0), released(0)], || vec![attempts(0), enters(0)]);
        assert_eq!(judge([ends(), tries(), again()].concat()), 0);
        let meanwhile = [ends(), vec![attempts(1)], again(), ends(), vec![gives_up(1)]].concat();
        assert_eq!(judge(meanwhile), 0);
        assert_eq!(judge([vec![opened_anew(0), enters(0), closed(0)], tries()].concat()), 0);
        let both = vec![opened(2), attempts(2), created("/lock/a-lock-0000000000", 2)];
        assert_eq!(judge([dead(), both.clone(), tries()].concat()), 1, "another asks as well");
        let ends =
            [vec![enters(2)], vec![crashed(2)], vec![vanished("/lock/a-lock-0000000000", 2), closed(2)]];
        for end in ends {
            let meanwhile = [vec![attempts(1)], end.clone(), vec![gives_up(1)]].concat();
            assert_eq!(judge([dead(), both.clone(), meanwhile].concat()), 0, "{end:?}");
            let before = judge([dead(), both.clone(), end.clone(), tries()].concat());
            assert_eq!(before, usize::from(end.len() > 1), "{end:?}");
        }
        let leaves = [both.clone(), vec![granted(2), leaves(2)], tries()];
        assert_eq!(judge([dead(), leaves.concat()].concat()), 0, "it has left, and not released it");
        let lost = Event::Is(GroundTruth::Disconnected { actor: actor(1) });
        assert_eq!(judge([dead(), vec![attempts(1), lost, gives_up(1)]].concat()), 0);
        let paused = |p| Event::Is(GroundTruth::Paused { actor: actor(p) });
        assert_eq!(judge([dead(), vec![attempts(1), paused(1), gives_up(1)]].concat()), 0, "it is late");
        assert_eq!(judge([dead(), vec![attempts(1), paused(2), gives_up(1)]].concat()), 1);
        let next_dies = |dies: Event| judge([dead(), both.clone(), tries(), vec![dies]].concat());
        assert_eq!(next_dies(crashed(2)), 0, "it may have been the next one");
        assert_eq!(next_dies(crashed(3)), 1);
        let again = vec![attempts(1), crashed(1)];
        assert_eq!(judge([dead(), tries(), again].concat()), 1, "it was shut out before");
        let gone = deleted(NODE, 1, NOBODY);
        assert_eq!(judge([dead(), tries(), vec![gone]].concat()), 0);
        let asked = vec![opened(0), opened(1), attempts(1), attempts(0), made(0), gives_up(0), gives_up(1)];
        let found = resting(NoOrphanZnode::of(LOCK), asked, &rest);
        assert_eq!(broken_by(&found), [], "the other one asked before it");
        let before = vec![opened(0), opened(1), made(0), attempts(0), enters(0), crashed(0), closed(0)];
        let found = resting(NoOrphanZnode::of(LOCK), [before, tries()].concat(), &rest);
        assert_eq!(broken_by(&found), [], "it was made before");
    }

    /// What the first one made for all to stand below was taken for what keeps the others out.
    #[test]
    fn what_contenders_stand_below_keeps_nobody_out() {
        let persistent = |path: &str| GroundTruth::NodeCreated {
            path: path.into(),
            by: session(0),
            owner: SessionId::NONE,
            czxid: Zxid::new(1, 1),
        };
        let judge = |made: &str| {
            let contender = "/lock/parent/line/a-0000000000";
            let first = vec![opened(0), opened(1), attempts(0), Event::Is(persistent(made))];
            let then = vec![created(contender, 0), granted(0), vanished(contender, 0), released(0)];
            let nodes = vec![(made.into(), SessionId::NONE)];
            let rest = Rest { nodes, sessions: vec![(session(1), actor(1))], ..Rest::default() };
            let events = [first, then, vec![attempts(1), gives_up(1)]].concat();
            broken_by(&resting(NoOrphanZnode::of(LOCK), events, &rest)).len()
        };
        assert_eq!((judge("/lock/parent"), judge("/lock/parent/line"), judge("/lock/holder")), (0, 0, 1));
    }
}

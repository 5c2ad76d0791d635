//! `barrier-holds`, `barrier-releases`, `no-opening-missed` and `raised-as-told`.
//!
//! A waiter says of the barrier's znode that it *comes to* it, *sees* it up, *passes* it. An actor that raises and
//! lowers the barrier says that it *raises* it, *has raised* it, *lowers* it, *has lowered* it. It is up at the
//! beginning if its znode is of the setup.

use super::findings::{broken, promise_of_barrier};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::BTreeMap;
use zk_api::{SessionId, Text};

/// Who waits at a barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Waiters {
    node: &'static str,
    is_up: bool,
    /// Somebody has said, since it was raised, that it lowers it.
    is_lowered: bool,
    /// It has gone with the session of whoever raised it.
    is_lost: bool,
    waiting: BTreeMap<ActorId, Wait>,
    sessions: BTreeMap<SessionId, ActorId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Wait {
    /// The barrier was up at some time since it came.
    was_up: bool,
    /// The barrier was down at some time since it came, and not only because a session had ended.
    was_down: bool,
    /// It has said that it sees it up.
    has_seen: bool,
    /// The barrier was lowered after that.
    owed: bool,
}

impl Waiters {
    fn of(node: &'static str) -> Waiters {
        Waiters { node, ..Waiters::default() }
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.is_up = is_set_up(self.node, setup);
    }

    /// Gives who passes, and what happened while it waited, if it has told that it came.
    fn see(&mut self, event: &Event) -> Option<(ActorId, Option<Wait>)> {
        match event {
            Event::Observed { actor, what } => match what.told()? {
                (words::COMES_TO, node, _) if node == self.node => {
                    let wait = Wait { was_up: self.is_up, was_down: !self.is_up, ..Wait::default() };
                    self.waiting.insert(*actor, wait);
                }
                (words::LOWERS, node, _) if node == self.node => self.is_lowered = true,
                (words::SEES, node, _) if node == self.node => {
                    self.waiting.entry(*actor).and_modify(|wait| wait.has_seen = true);
                }
                (words::PASSES, node, _) if node == self.node => {
                    return Some((*actor, self.waiting.remove(actor)));
                }
                _ => {}
            },
            Event::Is(GroundTruth::NodeCreated { path, .. }) if **path == *self.node => {
                (self.is_up, self.is_lowered) = (true, false);
                self.waiting.values_mut().for_each(|wait| wait.was_up = true);
            }
            Event::Is(GroundTruth::NodeDeleted { path, by, .. }) if **path == *self.node => {
                (self.is_up, self.is_lost) = (false, *by == SessionId::NONE);
                // Nor does it count as lowered if one that waits deletes it.
                let waits = |by: &ActorId| self.waiting.keys().any(|waits| waits.main() == *by);
                let by_waiter = self.sessions.get(by).is_some_and(waits);
                let is_lowered = self.is_lowered || !self.is_lost && !by_waiter;
                for wait in self.waiting.values_mut() {
                    wait.was_down |= is_lowered;
                    wait.owed |= wait.has_seen;
                }
            }
            Event::Is(
                GroundTruth::Finished { actor, .. }
                | GroundTruth::ThreadEnded { actor }
                | GroundTruth::Crashed { actor },
            ) => drop(self.waiting.remove(actor)),
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
            }
            Event::Is(_) => {}
        }
        None
    }

    /// Those who still wait at rest.
    fn stuck<'a>(&'a self, rest: &'a Rest) -> impl Iterator<Item = (ActorId, Wait)> + 'a {
        self.waiting.iter().map(|(actor, wait)| (*actor, *wait)).filter(|(actor, _)| rest.goes_on(*actor))
    }
}

fn is_set_up(node: &str, setup: &[Text]) -> bool {
    setup.iter().any(|path| **path == *node)
}

promise_of_barrier!(
    /// No waiter passes a barrier that nobody has lowered since the waiter came. This holds as well after the end of
    /// the waiter's session, and after that of the raiser's, with which an ephemeral barrier would go.
    BarrierHolds(Waiters)
);

impl Promise for BarrierHolds {
    fn terms(&self) -> Terms {
        Terms::of("barrier-holds")
            .about("Nobody passes a barrier that was up, and not lowered, all the time since it came there.")
            .tested_when("Somebody passes that was at the barrier while it was up.")
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.0.begins_with(setup);
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, wait)) = self.0.see(event) {
            match wait.map(|wait| (wait.was_down, wait.was_up)) {
                // It may have come just now, for all that is known.
                None if self.0.is_up => {
                    let what = format!(
                        "{actor} passes {}, which is up, and has not said that it comes",
                        self.0.node
                    );
                    found.push(broken(what, None));
                }
                Some((false, _)) => {
                    let why = match self.0.is_up {
                        true => "was up all the time",
                        false if self.0.is_lost => "nobody has lowered: it went with a session",
                        false => "nobody has lowered: one that waits has deleted it",
                    };
                    found.push(broken(format!("{actor} passes {}, which {why}", self.0.node), None));
                }
                Some((true, true)) => found.push(Finding::Tested),
                Some((true, false)) | None => {}
            }
        }
    }
}

promise_of_barrier!(
    /// Nobody waits for ever at a barrier that is down.
    BarrierReleases(Waiters)
);

impl Promise for BarrierReleases {
    fn terms(&self) -> Terms {
        Terms::of("barrier-releases")
            .about("At rest, nobody whose session lives waits at a barrier that is down.")
            .tested_when("Somebody passes that was at the barrier while it was up.")
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.0.begins_with(setup);
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((_, Some(wait))) = self.0.see(event) {
            found.extend((wait.was_up && wait.was_down).then_some(Finding::Tested));
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if self.0.is_up {
            return;
        }
        found.extend(self.0.stuck(rest).map(|(actor, _)| {
            broken(format!("{actor} waits for ever at {}, which is down", self.0.node), None)
        }));
    }
}

promise_of_barrier!(
    /// Whoever has seen the barrier up passes once that barrier is lowered, even if another is raised at once.
    NoOpeningMissed(Waiters)
);

impl Promise for NoOpeningMissed {
    fn terms(&self) -> Terms {
        Terms::of("no-opening-missed")
            .about(
                "At rest, nobody waits who has seen a barrier that was lowered since, though it is up again.",
            )
            .tested_when(
                "Somebody that has seen a barrier which was lowered since passes while it is up again.",
            )
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.0.begins_with(setup);
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((_, Some(wait))) = self.0.see(event)
            && wait.owed
            && self.0.is_up
        {
            found.push(Finding::Tested);
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (actor, _) in self.0.stuck(rest).filter(|(_, wait)| wait.owed) {
            let what = format!("{actor} waits on at {}, which was lowered since it has seen it", self.0.node);
            found.push(broken(what, None));
        }
    }
}

/// An actor that says it has raised or lowered the barrier is right: at some time since it began to, the barrier was up
/// or down, respectively.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RaisedAsTold {
    node: &'static str,
    is_up: bool,
    /// Who is about it: whether it raises, and whether it was so at some time since.
    about: BTreeMap<ActorId, (bool, bool)>,
}

impl RaisedAsTold {
    /// The promise for the barrier at this znode.
    pub fn of(node: &'static str) -> Self {
        RaisedAsTold { node, is_up: false, about: BTreeMap::new() }
    }

    fn is(&mut self, up: bool) {
        self.is_up = up;
        self.about.values_mut().for_each(|(raises, was)| *was |= *raises == up);
    }

    fn has(&mut self, actor: ActorId, raised: bool, found: &mut Vec<Finding>) {
        match self.about.remove(&actor) {
            Some((raises, false)) if raises == raised => {
                let what = if raised { "raised" } else { "lowered" };
                let what = format!("{actor} says that it has {what} {}, which never was so", self.node);
                found.push(broken(what, None));
            }
            Some((raises, true)) if raises == raised => found.push(Finding::Tested),
            Some(_) | None => {}
        }
    }
}

impl Promise for RaisedAsTold {
    fn terms(&self) -> Terms {
        Terms::of("raised-as-told")
            .about("Whoever says that it has raised, or lowered, the barrier has.")
            .tested_when("Somebody that began to raise the barrier, or to lower it, says that it has.")
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.is_up = is_set_up(self.node, setup);
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => match what.told() {
                Some((words::RAISES, node, _)) if node == self.node => {
                    self.about.insert(*actor, (true, self.is_up));
                }
                Some((words::LOWERS, node, _)) if node == self.node => {
                    self.about.insert(*actor, (false, !self.is_up));
                }
                Some((words::HAS_RAISED, node, _)) if node == self.node => self.has(*actor, true, found),
                Some((words::HAS_LOWERED, node, _)) if node == self.node => self.has(*actor, false, found),
                _ => {}
            },
            Event::Is(GroundTruth::NodeCreated { path, .. }) if **path == *self.node => self.is(true),
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if **path == *self.node => self.is(false),
            Event::Is(
                GroundTruth::Finished { actor, .. }
                | GroundTruth::ThreadEnded { actor }
                | GroundTruth::Crashed { actor },
            ) => drop(self.about.remove(actor)),
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::promise::AnyPromise;

    const NODE: &str = "/gate/barrier";

    fn up() -> Event {
        created(NODE, 9)
    }
    fn down() -> Event {
        deleted(NODE, 9, 9)
    }
    fn comes(p: u16) -> Event {
        notes(p, "comes to", NODE)
    }
    fn sees(p: u16) -> Event {
        notes(p, "sees", NODE)
    }
    fn passes(p: u16) -> Event {
        notes(p, "passes", NODE)
    }
    fn waiting(p: u16) -> Rest {
        Rest { unfinished: vec![actor(p)], sessions: vec![(SessionId::new(1), actor(p))], ..Rest::default() }
    }

    #[test]
    fn passing_a_barrier_that_stays_up_breaks_it() {
        let found = findings(BarrierHolds::of(NODE), vec![up(), comes(1), passes(1)]);
        assert_eq!(broken_by(&found), [("p1 passes /gate/barrier, which was up all the time", None)]);
    }

    /// Who looked, saw it up and passed was not judged if it had not told that it came.
    #[test]
    fn passing_one_that_is_up_breaks_it_though_it_is_not_told_who_comes() {
        let found = |then: Vec<Event>| findings(BarrierHolds::of(NODE), then);
        let what = "p1 passes /gate/barrier, which is up, and has not said that it comes";
        assert_eq!(broken_by(&found(vec![created(NODE, 0), passes(1)])), [(what, None)]);
        assert_eq!(found(vec![passes(1)]), []);
        assert_eq!(found(vec![created(NODE, 0), vanished(NODE, 0), passes(1)]), []);
    }

    /// One of the setup was taken for down: that it was lowered was believed, and that it was raised was not.
    #[test]
    fn one_of_the_setup_is_up() {
        let judged = |promise: &mut dyn AnyPromise, events: &[Event]| {
            let mut found = Vec::new();
            promise.begins_with(&["/gate".into(), NODE.into()]);
            events.iter().for_each(|event| promise.see(event, &mut found));
            found
        };
        let says = |word| notes(0, word, NODE);
        let told = |word, has| judged(&mut RaisedAsTold::of(NODE), &[says(word), says(has)]);
        let what = "p0 says that it has lowered /gate/barrier, which never was so";
        assert_eq!(broken_by(&told("lowers", "has lowered")), [(what, None)]);
        assert_eq!(told("raises", "has raised"), [Finding::Tested]);
        let found = judged(&mut BarrierHolds::of(NODE), &[comes(1), passes(1)]);
        assert_eq!(broken_by(&found), [("p1 passes /gate/barrier, which was up all the time", None)]);
        let lowered = [comes(1), sees(1), down(), passes(1)];
        assert_eq!(judged(&mut BarrierReleases::of(NODE), &lowered), [Finding::Tested]);
        let raised_again = [comes(1), sees(1), down(), up(), passes(1)];
        assert_eq!(judged(&mut NoOpeningMissed::of(NODE), &raised_again), [Finding::Tested]);
    }

    #[test]
    fn passing_one_that_went_with_a_session_breaks_it_unless_it_was_to_be_lowered() {
        let judged = |events| findings(BarrierHolds::of(NODE), events);
        let found = judged(vec![up(), comes(1), vanished(NODE, 9), passes(1)]);
        let what = "p1 passes /gate/barrier, which nobody has lowered: it went with a session";
        assert_eq!(broken_by(&found), [(what, None)]);
        let lowers = notes(9, "lowers", NODE);
        let both = vec![up(), comes(1), lowers.clone(), vanished(NODE, 9), passes(1)];
        assert_eq!(judged(both), [Finding::Tested]);
        let again = vec![up(), lowers, down(), up(), comes(1), vanished(NODE, 9), passes(1)];
        assert_eq!(broken_by(&judged(again)), [(what, None)]);
    }

    /// It counted as lowered, by whomever.
    #[test]
    fn passing_one_that_a_waiter_has_deleted_breaks_it_unless_it_was_to_be_lowered() {
        let judged = |before: Vec<Event>| {
            let then = vec![deleted(NODE, 1, 9), passes(2)];
            let found = findings(BarrierHolds::of(NODE), [vec![opened(1), up()], before, then].concat());
            broken_by(&found).iter().map(|(what, _)| what.to_string()).collect::<Vec<_>>()
        };
        let what = "p2 passes /gate/barrier, which nobody has lowered: one that waits has deleted it";
        assert_eq!(judged(vec![comes(1), comes(2)]), [what]);
        assert!(judged(vec![comes(2)]).is_empty(), "it does not wait, and need not tell");
        assert!(judged(vec![comes(1), comes(2), notes(1, "lowers", NODE)]).is_empty());
    }

    #[test]
    fn passing_after_it_was_down_is_a_test_it_passes_if_it_was_up_as_well() {
        let found = findings(BarrierHolds::of(NODE), vec![up(), comes(1), down(), up(), passes(1)]);
        assert_eq!(found, [Finding::Tested]);
        assert_eq!(findings(BarrierHolds::of(NODE), vec![comes(1), passes(1)]), []);
        let raised = vec![comes(1), up(), down(), passes(1)];
        assert_eq!(findings(BarrierHolds::of(NODE), raised), [Finding::Tested], "raised as it waited");
    }

    #[test]
    fn waiting_at_a_barrier_that_is_down_breaks_it_and_at_one_that_is_up_does_not() {
        let events = vec![up(), comes(1)];
        assert_eq!(resting(BarrierReleases::of(NODE), events, &waiting(1)), []);
        let found = resting(BarrierReleases::of(NODE), vec![up(), comes(1), down()], &waiting(1));
        assert_eq!(broken_by(&found), [("p1 waits for ever at /gate/barrier, which is down", None)]);
        assert_eq!(resting(BarrierReleases::of(NODE), vec![], &Rest::default()), []);
    }

    /// Any rest at which the barrier was down was a test of it.
    #[test]
    fn its_release_takes_a_barrier_that_was_up_while_somebody_was_there() {
        let found = |events| findings(BarrierReleases::of(NODE), events);
        assert_eq!(found(vec![up(), comes(1), down(), passes(1)]), [Finding::Tested]);
        assert_eq!(found(vec![up(), down(), comes(1), passes(1)]), []);
        assert_eq!(found(vec![comes(1), passes(1), up(), down()]), []);
        assert_eq!(found(vec![up(), comes(1), passes(1)]), [], "nobody has released it");
    }

    #[test]
    fn to_say_that_it_was_raised_or_lowered_when_it_never_was_breaks_it() {
        let judged = |events| findings(RaisedAsTold::of(NODE), events);
        let said = |whats: [&str; 2]| whats.map(|what| notes(0, what, NODE));
        let [raises, raised] = said(["raises", "has raised"]);
        let [lowers, lowered] = said(["lowers", "has lowered"]);
        let found = judged(vec![raises.clone(), raised.clone()]);
        assert_eq!(
            broken_by(&found),
            [("p0 says that it has raised /gate/barrier, which never was so", None)]
        );
        let found = judged(vec![up(), lowers.clone(), lowered.clone()]);
        assert_eq!(
            broken_by(&found),
            [("p0 says that it has lowered /gate/barrier, which never was so", None)]
        );
        assert_eq!(judged(vec![raises.clone(), up(), raised.clone()]), [Finding::Tested]);
        assert_eq!(judged(vec![up(), lowers.clone(), down(), lowered.clone()]), [Finding::Tested]);
        // Another may have changed it again.
        assert_eq!(judged(vec![raises, up(), down(), raised]), [Finding::Tested]);
        assert_eq!(judged(vec![up(), lowers, down(), up(), lowered]), [Finding::Tested]);
    }

    #[test]
    fn an_opening_that_was_seen_by_nobody_but_the_one_who_waits_is_owed() {
        let missed = vec![up(), comes(1), sees(1), down(), up()];
        let found = resting(NoOpeningMissed::of(NODE), missed, &waiting(1));
        assert_eq!(
            broken_by(&found),
            [("p1 waits on at /gate/barrier, which was lowered since it has seen it", None)]
        );
        let unseen = vec![up(), comes(1), down(), up(), sees(1)];
        assert_eq!(resting(NoOpeningMissed::of(NODE), unseen, &waiting(1)), []);
        let passing =
            |events: Vec<Event>| findings(NoOpeningMissed::of(NODE), [events, vec![passes(1)]].concat());
        assert_eq!(passing(vec![up(), comes(1), sees(1), down(), up()]), [Finding::Tested]);
        assert_eq!(passing(vec![up(), comes(1), down(), up()]), [], "it has not seen it");
        // So does whoever passes no barrier that is up again.
        assert_eq!(passing(vec![up(), comes(1), sees(1), down()]), []);
    }
}

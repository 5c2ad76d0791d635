//! `nothing-left-behind`.

use super::findings::broken_for;
use crate::context::{RunningThreads, below, within};
use crate::event::{ActorId, End, Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use std::collections::BTreeSet;

/// At rest, nobody whose code has ended has left an ephemeral znode, though its session lives on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NothingLeftBehind {
    parent: &'static str,
    /// Who has told of something there, and has not ended.
    busy: BTreeSet<ActorId>,
    running: RunningThreads,
}

impl NothingLeftBehind {
    /// For what is below this znode.
    pub fn of(parent: &'static str) -> Self {
        NothingLeftBehind { parent, busy: BTreeSet::new(), running: RunningThreads::default() }
    }
}

impl Promise for NothingLeftBehind {
    fn terms(&self) -> Terms {
        Terms::of("nothing-left-behind")
            .about("At rest, whoever has come to its end has left no ephemeral znode.")
            .tested_when("Somebody that has told of something it does there comes to its end.")
            // It looks at what is left at rest, and hears of who has done something.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.running.see(event);
        match event {
            Event::Observed { actor, what } if within(self.parent, what.subject()) => {
                self.busy.insert(actor.main());
            }
            Event::Is(GroundTruth::Finished { actor, end }) => {
                let is_left = self.busy.remove(actor) && *end != End::SessionLost;
                found.extend(is_left.then_some(Finding::Tested));
            }
            Event::Is(GroundTruth::Crashed { actor }) => drop(self.busy.remove(actor)),
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (path, actor) in rest.owned().filter(|(path, _)| below(self.parent, path)) {
            if !rest.unfinished.contains(&actor) && !self.running.any_of(actor) {
                found.push(broken_for(format!("{path} is left of {actor}, which has ended"), &[actor]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn an_ephemeral_of_one_that_has_ended_breaks_it() {
        let nodes =
            vec![("/b/p0".into(), session(0)), ("/b/p1".into(), session(1)), ("/c/p0".into(), session(0))];
        let sessions = vec![(session(0), actor(0)), (session(1), actor(1))];
        let rest = Rest { unfinished: vec![actor(1)], nodes, sessions, ..Rest::default() };
        let found = resting(NothingLeftBehind::of("/b"), vec![], &rest);
        assert_eq!(broken_by(&found), [("/b/p0 is left of p0, which has ended", None)]);
        assert_eq!(resting(NothingLeftBehind::of("/d"), vec![], &rest), []);
    }

    /// With the main thread's end, all counted as ended.
    #[test]
    fn what_a_thread_has_that_goes_on_is_not_left() {
        let nodes = vec![("/b/p0".into(), session(0))];
        let rest = Rest { nodes, sessions: vec![(session(0), actor(0))], ..Rest::default() };
        let goes_on = vec![by_thread(1, notes(0, "arrives at", "/b")), finished(0)];
        let ended = Event::Is(GroundTruth::ThreadEnded { actor: actor(0).of_thread(1) });
        let left = |events| resting(NothingLeftBehind::of("/b"), events, &rest).len();
        assert_eq!(left(goes_on.clone()), 0);
        let of_others = vec![opened(1), by_thread(1, notes(1, "arrives at", "/b")), crashed(1)];
        assert_eq!(left([goes_on.clone(), of_others.clone()].concat()), 0);
        assert_eq!(left([of_others[..2].to_vec(), vec![finished(0)]].concat()), 1, "it is another one's");
        assert_eq!(left([goes_on.clone(), vec![closed(0)]].concat()), 1, "it has another session");
        assert_eq!(left([goes_on, vec![ended]].concat()), 1);
    }

    /// Any quiet rest was a test of it, and a trial whose actors return at once was green.
    #[test]
    fn it_takes_one_that_does_something_there_and_ends() {
        let parent = NothingLeftBehind::of("/b");
        assert_eq!(findings(parent.clone(), vec![opened(0), finished(0)]), []);
        assert_eq!(findings(parent.clone(), vec![notes(0, "takes", "/c/1"), finished(0)]), []);
        let takes = notes(0, "takes", "/b/1");
        assert_eq!(findings(parent.clone(), vec![takes.clone(), finished(0)]), [Finding::Tested]);
        let lost = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::SessionLost });
        assert_eq!(findings(parent, vec![takes, lost]), []);
    }
}

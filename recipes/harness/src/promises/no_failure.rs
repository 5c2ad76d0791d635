//! `no-failure`.

use super::findings::broken_for;
use crate::event::{ActorId, End, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::SessionId;

/// Nobody's code fails in a way that it does not handle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoFailure {
    sessions: BTreeMap<SessionId, ActorId>,
    /// Who has ever told of something, or changed a znode.
    busy: BTreeSet<ActorId>,
    /// Who has closed its last session itself.
    closed: BTreeSet<ActorId>,
}

/// The promise as it begins.
#[expect(non_upper_case_globals, reason = "trials name it as if it had no state")]
pub const NoFailure: NoFailure =
    NoFailure { sessions: BTreeMap::new(), busy: BTreeSet::new(), closed: BTreeSet::new() };

impl Promise for NoFailure {
    fn terms(&self) -> Terms {
        Terms::of("no-failure")
            .about("Nobody gives up because of an error that it does not handle.")
            .tested_when("Somebody that has told of something, or changed a znode, comes to its end.")
            // It hears of ends, and of who told of something before.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, .. } => {
                self.busy.insert(actor.main());
            }
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
                self.closed.remove(actor);
            }
            Event::Is(GroundTruth::SessionClosed { actor, expired: false, .. }) => {
                self.closed.insert(*actor);
            }
            Event::Is(
                GroundTruth::NodeCreated { by, .. }
                | GroundTruth::NodeWritten { by, .. }
                | GroundTruth::NodeDeleted { by, .. },
            ) => self.busy.extend(self.sessions.get(by)),
            Event::Is(GroundTruth::Finished { actor, end }) => match end {
                End::Done => found.extend(self.busy.contains(actor).then_some(Finding::Tested)),
                End::SessionLost if self.closed.contains(actor) => {
                    let what = format!("{actor} fails: it goes on without the session that it has closed");
                    found.push(broken_for(what, &[*actor]));
                }
                End::SessionLost | End::Exited => {}
                End::Failed => found.push(broken_for(format!("{actor} fails"), &[*actor])),
            },
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_failure_breaks_it_and_an_end_is_a_test_it_passes() {
        let failed = Event::Is(GroundTruth::Finished { actor: actor(1), end: End::Failed });
        let found = findings(NoFailure, vec![attempts(0), finished(0), failed]);
        assert_eq!(found[0], Finding::Tested);
        assert_eq!(broken_by(&found), [("p1 fails", None)]);
    }

    /// An end for want of a session was believed, whoever had closed it.
    #[test]
    fn who_goes_on_without_a_session_that_it_has_closed_fails() {
        let lost = Event::Is(GroundTruth::Finished { actor: actor(1), end: End::SessionLost });
        let what = "p1 fails: it goes on without the session that it has closed";
        let found = findings(NoFailure, vec![opened(1), closes(1), lost.clone()]);
        assert_eq!(broken_by(&found), [(what, None)]);
        assert_eq!(findings(NoFailure, vec![opened(1), closed(1), lost.clone()]), []);
        assert_eq!(findings(NoFailure, vec![opened(1), closes(1), opened(1), closed(1), lost]), []);
    }

    /// Actors that return at once were a test of it, and a trial of such was green.
    #[test]
    fn the_end_of_one_that_has_done_nothing_is_no_test() {
        assert_eq!(findings(NoFailure, vec![opened(0), finished(0)]), []);
        assert_eq!(findings(NoFailure, vec![opened(0), created("/a", 1), finished(0)]), []);
        let silent = vec![opened(0), created("/a", 0), finished(0)];
        assert_eq!(findings(NoFailure, silent), [Finding::Tested]);
    }
}

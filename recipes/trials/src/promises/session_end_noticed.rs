//! `session-end-noticed`.

use super::broken;
use crate::event::{ActorId, End, Event, Fact};
use crate::promise::{Finding, Promise, Rest};
use std::collections::BTreeSet;

/// Whoever is told that its session is over makes an end: it neither waits on, nor ends as if all were done.
///
/// Only a process that ends so can begin anew with another session; one that waits on waits for what no server will
/// ever tell it. Who is told as it ends anyhow is not judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionEndNoticed {
    /// Who was told and has not ended yet.
    told: BTreeSet<ActorId>,
    /// Who has ended. Its session may end afterwards; nobody is left to notice.
    ended: BTreeSet<ActorId>,
}

impl Promise for SessionEndNoticed {
    fn name(&self) -> &'static str {
        "session-end-noticed"
    }

    fn about(&self) -> &'static str {
        "Whoever is told that its session is over ends, and does not pass for done."
    }

    fn tested_when(&self) -> &'static str {
        "Somebody that was told of the end of its session comes to its end."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(Fact::LearnsExpiry { actor }) if !self.ended.contains(actor) => {
                self.told.insert(*actor);
            }
            // Its client has renewed it.
            Event::Is(Fact::SessionOpened { actor, .. }) => {
                self.told.remove(actor);
            }
            Event::Is(Fact::Finished { actor, end }) => {
                self.ended.insert(*actor);
                if self.told.remove(actor) {
                    found.push(match end {
                        End::SessionLost | End::Failed => Finding::Tested,
                        End::Done => {
                            broken(format!("{actor} takes itself for done though its session is over"), None)
                        }
                    });
                }
            }
            Event::Is(Fact::Crashed { actor }) => {
                self.ended.insert(*actor);
                self.told.remove(actor);
            }
            Event::Is(_) | Event::Says { .. } => {}
        }
    }

    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        let waits = |actor| broken(format!("{actor} waits on though its session is over"), None);
        found.extend(self.told.iter().map(waits));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn learns(p: u16) -> Event {
        Event::Is(Fact::LearnsExpiry { actor: actor(p) })
    }

    fn ends(p: u16, end: End) -> Event {
        Event::Is(Fact::Finished { actor: actor(p), end })
    }

    #[test]
    fn waiting_on_breaks_it() {
        let mut promise = SessionEndNoticed::default();
        let mut found = Vec::new();
        promise.see(&learns(0), &mut found);
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(broken_by(&found), [("p0 waits on though its session is over", None)]);
    }

    #[test]
    fn passing_for_done_breaks_it() {
        let found = findings(SessionEndNoticed::default(), vec![learns(0), ends(0, End::Done)]);
        assert_eq!(broken_by(&found), [("p0 takes itself for done though its session is over", None)]);
    }

    #[test]
    fn an_end_is_a_test_it_passes_and_who_is_done_before_is_not_judged() {
        let events = [learns(0), ends(0, End::SessionLost), ends(1, End::Done), learns(1), crashed(2)];
        let mut promise = SessionEndNoticed::default();
        let mut found = Vec::new();
        events.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(found, [Finding::Tested]);
    }
}

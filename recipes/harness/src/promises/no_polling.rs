//! `no-polling`.

use super::findings::broken_for;
use crate::event::{End, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};

/// The promise's name.
pub const NO_POLLING: &str = "no-polling";

/// Nobody asks the same thing again and again while nothing happens to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoPolling;

impl Promise for NoPolling {
    fn terms(&self) -> Terms {
        Terms::of(NO_POLLING)
            .about("Nobody asks the same thing again and again where a watch would tell when to.")
            .tested_when("Somebody comes to its end.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::Polls { actor, request, times }) => {
                let what = format!(
                    "{actor} polls: {request} is answered the same {times} times, and nothing else happens to it"
                );
                found.push(broken_for(what, &[*actor]));
            }
            Event::Is(GroundTruth::Finished { end: End::Done, .. }) => found.push(Finding::Tested),
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn who_polls_breaks_it_and_who_comes_to_its_end_without_keeps_it() {
        let polls =
            Event::Is(GroundTruth::Polls { actor: actor(0), request: "exists /lock".into(), times: 5 });
        let found = findings(NoPolling, vec![polls]);
        let what = "p0 polls: exists /lock is answered the same 5 times, and nothing else happens to it";
        assert_eq!(broken_by(&found), [(what, None)]);
        assert_eq!(findings(NoPolling, vec![finished(0)]), [Finding::Tested]);
    }
}

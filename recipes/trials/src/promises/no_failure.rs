//! `no-failure`.

use super::broken_for;
use crate::event::{End, Event, Fact};
use crate::promise::{Finding, Promise};

/// Nobody's code fails in a way that it does not handle.
///
/// It has no state: each end tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoFailure;

impl Promise for NoFailure {
    fn name(&self) -> &'static str {
        "no-failure"
    }

    fn about(&self) -> &'static str {
        "Nobody gives up because of an error that it does not handle."
    }

    /// It hears of ends alone.
    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Is(Fact::Finished { actor, end }) = event {
            match end {
                End::Done => found.push(Finding::Tested),
                End::SessionLost => {}
                End::Failed => found.push(broken_for(format!("{actor} fails"), &[*actor])),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_failure_breaks_it_and_an_end_is_a_test_it_passes() {
        let failed = Event::Is(Fact::Finished { actor: actor(1), end: End::Failed });
        let found = findings(NoFailure, vec![finished(0), failed]);
        assert_eq!(found[0], Finding::Tested);
        assert_eq!(broken_by(&found), [("p1 fails", None)]);
    }
}

//! `no-waiter-stuck`.

use super::broken_for;
use crate::event::Event;
use crate::promise::{Finding, Promise, Rest};

/// When faults are over and nothing moves any more, every actor with a live session has come to its end.
///
/// It has no state: what is left at rest tells all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoWaiterStuck;

impl Promise for NoWaiterStuck {
    fn name(&self) -> &'static str {
        "no-waiter-stuck"
    }

    fn about(&self) -> &'static str {
        "At rest, no actor whose session lives still waits."
    }

    /// It looks at what is left at rest alone.
    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, _event: &Event, _found: &mut Vec<Finding>) {}

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if rest.unfinished.is_empty() {
            found.push(Finding::Tested);
        }
        for actor in &rest.unfinished {
            // It may be for another who waits.
            found.push(broken_for(format!("{actor} waits for ever"), &rest.unfinished));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn an_actor_that_waits_at_rest_breaks_it() {
        let mut found = Vec::new();
        let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
        NoWaiterStuck.at_rest(&rest, &mut found);
        assert_eq!(broken_by(&found), [("p1 waits for ever", None)]);
    }

    #[test]
    fn nobody_left_is_a_test_it_passes() {
        let mut found = Vec::new();
        NoWaiterStuck.at_rest(&Rest::default(), &mut found);
        assert_eq!(found, [Finding::Tested]);
    }
}

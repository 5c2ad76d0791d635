//! Promises that a recipe does not make, measured all the same.

use crate::event::Event;
use crate::promise::{Assumption, Finding, Promise, Rest, Terms, anew};
use zk_api::Text;

/// A promise that the recipe does not make: what it finds is reported with its rate, and is no defect.
///
/// Its name stays, so that recipes can be compared. Each violation is expected: by [`Assumption::Promised`], unless it
/// violates another assumption already.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Measured<P>(pub P);

fn only_measured(found: &mut [Finding]) {
    for finding in found {
        if let Finding::Broken(violation) = finding {
            violation.violated_assumption.get_or_insert(Assumption::Promised);
        }
    }
}

impl<P: Promise> Promise for Measured<P> {
    fn terms(&self) -> Terms {
        self.0.terms().assumes(&[Assumption::Promised])
    }

    fn begins_with(&mut self, setup: &[Text]) {
        self.0.begins_with(setup);
    }

    fn judges_from_outside(&mut self) {
        self.0.judges_from_outside();
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        only_measured(anew(found, |found| self.0.see(event, found)));
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        only_measured(anew(found, |found| self.0.at_rest(rest, found)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings::broken;
    use super::super::testing::*;
    use super::super::{NoWaiterStuck, OneWokenPerDeletion};
    use super::*;
    use zk_api::EventType;

    #[test]
    fn what_is_only_measured_is_told_and_expected() {
        let mut found = vec![broken("somebody else's".into(), None)];
        let herd = fired("/lock/holder", EventType::NodeDeleted, &[1, 2]);
        Measured(OneWokenPerDeletion::of(LOCK)).see(&herd, &mut found);
        Measured(NoWaiterStuck).at_rest(&Rest { unfinished: vec![actor(3)], ..Rest::default() }, &mut found);
        let assumptions: Vec<_> = broken_by(&found).iter().map(|(_, assumption)| *assumption).collect();
        assert_eq!(assumptions, [None, Some(Assumption::Promised), Some(Assumption::Promised)]);
    }
}

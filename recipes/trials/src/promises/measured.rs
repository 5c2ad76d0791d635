//! Promises that a recipe does not make, measured all the same.

use super::broken;
use crate::event::Event;
use crate::promise::{Assumption, Finding, Promise, Rest, Terms};

/// A promise that the recipe does not make: what it finds is reported with its rate, and is no defect.
///
/// Its name stays, so that recipes can be compared. Each violation is expected: by [`Assumption::Promised`], unless it
/// violates another assumption already.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Measured<P>(pub P);

fn only_measured(finding: Finding) -> Finding {
    match finding {
        Finding::Tested => Finding::Tested,
        Finding::Broken(v) => broken(v.what, v.violated_assumption.or(Some(Assumption::Promised))),
    }
}

impl<P: Promise> Promise for Measured<P> {
    fn terms(&self) -> Terms {
        self.0.terms().assumes(&[Assumption::Promised])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let before = found.len();
        self.0.see(event, found);
        let new = found.split_off(before);
        found.extend(new.into_iter().map(only_measured));
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let before = found.len();
        self.0.at_rest(rest, found);
        let new = found.split_off(before);
        found.extend(new.into_iter().map(only_measured));
    }
}

#[cfg(test)]
mod tests {
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

//! `nothing-left-behind`.

use super::{below, broken_for};
use crate::event::Event;
use crate::promise::{Finding, Promise, Rest};

/// At rest, nobody whose code has ended has left an ephemeral znode, though its session lives on.
///
/// It has no state: what is left at rest tells all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NothingLeftBehind {
    parent: &'static str,
}

impl NothingLeftBehind {
    /// For what is below this znode.
    pub fn of(parent: &'static str) -> Self {
        NothingLeftBehind { parent }
    }
}

impl Promise for NothingLeftBehind {
    fn name(&self) -> &'static str {
        "nothing-left-behind"
    }

    fn about(&self) -> &'static str {
        "At rest, whoever has come to its end has left no ephemeral znode."
    }

    /// It looks at what is left at rest alone.
    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, _event: &Event, _found: &mut Vec<Finding>) {}

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let before = found.len();
        for (path, owner) in rest.nodes.iter().filter(|(path, _)| below(self.parent, path)) {
            let of = rest.sessions.iter().find(|(session, _)| session == owner);
            if let Some((_, actor)) = of
                && !rest.unfinished.contains(actor)
            {
                found.push(broken_for(format!("{path} is left of {actor}, which has ended"), &[*actor]));
            }
        }
        if found.len() == before {
            found.push(Finding::Tested);
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
        let rest = Rest { unfinished: vec![actor(1)], nodes, sessions };
        let found = resting(NothingLeftBehind::of("/b"), vec![], &rest);
        assert_eq!(broken_by(&found), [("/b/p0 is left of p0, which has ended", None)]);
        assert_eq!(resting(NothingLeftBehind::of("/d"), vec![], &rest), [Finding::Tested]);
    }
}

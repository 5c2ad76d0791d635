//! What every recipe is held to, unless its author opts out of it by name.

use super::{
    NO_POLLING, NoFailure, NoLitter, NoPolling, NoSecondZnode, NoWaiterStuck, SessionEndNoticed, Undisturbed,
};
use crate::event::Event;
use crate::promise::{AnyPromise, Assumption, Finding, Promise, Rest, Terms, anew};

/// The names of the standard promises. A trial that lists one of them itself is held to its own version, which may be
/// stricter or rest on other assumptions.
pub const STANDARD: [&str; 6] =
    ["no-waiter-stuck", "session-end-noticed", "no-failure", "no-second-znode", "no-litter", NO_POLLING];

/// The promises `own`, followed by the standard ones that are neither among them nor in `opts_out`.
pub fn with_standard(own: Vec<Box<dyn AnyPromise>>, opts_out: &[&str]) -> Vec<Box<dyn AnyPromise>> {
    let standard: [Box<dyn AnyPromise>; STANDARD.len()] = [
        Box::new(Standard(Undisturbed::of(NoWaiterStuck::standard()))),
        Box::new(Standard(SessionEndNoticed::of_midst())),
        Box::new(Standard(Undisturbed::of(NoFailure))),
        Box::new(Standard(NoSecondZnode::default())),
        Box::new(Standard(Undisturbed::of(NoLitter::default()))),
        Box::new(Standard(NoPolling)),
    ];
    let mut all = own;
    for promise in standard {
        let name = promise.name();
        if !opts_out.contains(&name) && all.iter().all(|other| other.name() != name) {
            all.push(promise);
        }
    }
    all
}

/// One that its trial does not list: whoever reads that it is broken learns why it is judged, and how not to be held to
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Standard<P>(P);

const HOW_TO_OPT_OUT: &str =
    " (a standard promise: Trial::opts_out, or --promises without=NAME for a program, opts out of it)";

const HOW_TO_SAY: &str = " (if that is intended, a trial lists NoWaiterStuck::but_who_stays(), and a program opts out by \
                          --promises without=no-waiter-stuck; if it is not, this is how it gets stuck)";

fn tell(found: &mut [Finding]) {
    for finding in found {
        if let Finding::Broken(violation) = finding {
            violation.what.push_str(match violation.violated_assumption {
                Some(Assumption::NobodyMeantToWait) => HOW_TO_SAY,
                _ => HOW_TO_OPT_OUT,
            });
        }
    }
}

impl<P: Promise> Promise for Standard<P> {
    fn terms(&self) -> Terms {
        self.0.terms()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        tell(anew(found, |found| self.0.see(event, found)));
    }
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        tell(anew(found, |found| self.0.at_rest(rest, found)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{actor, attempts, broken_by, closed, opened, session};
    use super::*;
    use crate::event::{End, GroundTruth};

    #[test]
    fn what_is_listed_or_opted_out_of_is_not_added() {
        let names = |own, opts_out: &[&str]| {
            with_standard(own, opts_out).iter().map(|promise| promise.name()).collect::<Vec<_>>()
        };
        assert_eq!(names(Vec::new(), &[]), STANDARD);
        let own: Vec<Box<dyn AnyPromise>> = vec![Box::new(NoFailure)];
        assert_eq!(
            names(own, &["no-waiter-stuck", "no-second-znode"]),
            ["no-failure", "session-end-noticed", "no-litter", NO_POLLING]
        );
    }

    #[test]
    fn what_is_broken_says_how_to_opt_out_unless_the_trial_lists_it_itself() {
        let fails = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::Failed });
        let sessions = vec![(session(0), actor(0))];
        let rest = Rest { unfinished: vec![actor(0)], sessions, ..Rest::default() };
        let broken = |own| {
            let mut found = Vec::new();
            for mut promise in with_standard(own, &[]) {
                promise.see(&fails, &mut found);
                promise.at_rest(&rest, &mut found);
            }
            broken_by(&found).iter().map(|(what, _)| what.contains("opts out of it")).collect::<Vec<_>>()
        };
        assert_eq!(broken(Vec::new()), [true, true]);
        let own: Vec<Box<dyn AnyPromise>> = vec![Box::new(NoFailure), Box::new(NoWaiterStuck)];
        assert_eq!(broken(own), [false, false]);
        let mut found = Vec::new();
        for mut promise in with_standard(Vec::new(), &[]) {
            [opened(0), opened(1), attempts(0), closed(1)].iter().for_each(|it| promise.see(it, &mut found));
            promise.at_rest(&rest, &mut found);
        }
        let what = format!("p0 waits on for /lock, which nobody has{HOW_TO_SAY}");
        assert_eq!(broken_by(&found), [(&*what, Some(Assumption::NobodyMeantToWait))]);
    }
}

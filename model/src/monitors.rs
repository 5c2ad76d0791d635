//! Promises as part of a state.

use crate::digest::{Digest, Digester, digest_all};
use crate::quiet::in_promise;
use crate::symmetry::Eyes;
use std::hash::Hasher;
use std::sync::Arc;
use zk_api::Zxid;
use zk_harness::event::Event;
use zk_harness::promise::{AnyPromise, Finding, Rest, Violation};

/// The promises of a trial, each as it is after what it has seen.
#[derive(Clone, Debug)]
pub struct Monitors {
    /// `None` once it was broken where it was owed: what comes after that tells nothing new, and states that
    /// differ in nothing else are one. An expected violation leaves a promise as it is, so that it can still be
    /// broken for good.
    promises: Vec<Option<Box<dyn AnyPromise>>>,
    /// Which were broken where they were owed, as bits.
    pub broken: u64,
    /// What tells them from others.
    pub digest: Digest,
    /// What each process sees of them; empty without symmetry.
    pub seen: Vec<Digest>,
}

/// What promises have to say.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Which were put to the test, as bits.
    pub tested: u64,
    /// Which were broken, and how.
    pub broken: Vec<(usize, Violation)>,
    /// One has looked at the number of a zxid, and not to say how it was broken.
    pub numbered: bool,
}

impl Findings {
    /// Adds what one promise found.
    fn add(&mut self, nth: usize, found: Vec<Finding>) {
        let is_broken = found.iter().any(|finding| matches!(finding, Finding::Broken(_)));
        self.numbered |= Zxid::were_numbered() && !is_broken;
        for finding in found {
            self.tested |= 1 << nth;
            match finding {
                Finding::Tested => {}
                Finding::Broken(violation) => self.broken.push((nth, violation)),
            }
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Findings) {
        self.tested |= other.tested;
        self.numbered |= other.numbered;
        self.broken.extend(other.broken.iter().cloned());
    }
}

impl Monitors {
    /// As they begin. `clients` is how many processes' eyes to look with: none without symmetry.
    pub fn new(promises: Vec<Box<dyn AnyPromise>>, clients: usize) -> Monitors {
        let promises = promises.into_iter().map(Some).collect();
        let mut monitors = Monitors { promises, broken: 0, digest: 0, seen: vec![0; clients] };
        monitors.seal();
        monitors
    }

    /// Shows them events.
    pub fn see(&self, events: &[Event]) -> (Arc<Monitors>, Findings) {
        let mut next = self.clone();
        let mut findings = Findings::default();
        Zxid::were_numbered();
        for (nth, slot) in next.promises.iter_mut().enumerate() {
            let Some(promise) = slot else { continue };
            let mut found = Vec::new();
            in_promise(promise.name(), || {
                for event in events {
                    promise.see(event, &mut found);
                    if found.iter().any(is_owed) {
                        break;
                    }
                }
            });
            if found.iter().any(is_owed) {
                *slot = None;
                next.broken |= 1 << nth;
            }
            findings.add(nth, found);
        }
        next.seal();
        (Arc::new(next), findings)
    }

    /// Shows them what is left at rest.
    pub fn rest(&self, rest: &Rest) -> Findings {
        let mut findings = Findings::default();
        Zxid::were_numbered();
        for (nth, promise) in self.promises.iter().enumerate() {
            let mut found = Vec::new();
            if let Some(promise) = promise {
                in_promise(promise.name(), || promise.at_rest(rest, &mut found));
            }
            findings.add(nth, found);
        }
        findings
    }

    fn seal(&mut self) {
        let mut digester = Digester::new(0x3019);
        for promise in &self.promises {
            digester.write_u8(promise.is_some().into());
            if let Some(promise) = promise {
                promise.hash_into(&mut digester);
            }
        }
        self.digest = digester.end();
        for me in 0..self.seen.len() {
            let seen = self.promises.iter().map(|promise| {
                let mut eyes = Eyes::new(0x3019, me);
                if let Some(promise) = promise {
                    promise.hash_into(&mut eyes);
                }
                eyes.end()
            });
            self.seen[me] = digest_all(self.broken, seen);
        }
    }
}

fn is_owed(finding: &Finding) -> bool {
    matches!(finding, Finding::Broken(violation) if violation.violated_assumption.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_harness::event::{ActorId, GroundTruth, Observation};
    use zk_harness::promise::{Assumption, Promise, Terms};

    /// Broken by every crash; the first is expected.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct NoCrash(u8);

    impl Promise for NoCrash {
        fn terms(&self) -> Terms {
            Terms::of("no-crash").about("Nobody crashes.").assumes(&[Assumption::Promised])
        }

        fn see(&mut self, _event: &Event, found: &mut Vec<Finding>) {
            let violated_assumption = (self.0 == 0).then_some(Assumption::Promised);
            self.0 += 1;
            found.push(Finding::Broken(Violation::new("a crash".into(), violated_assumption)));
        }
    }

    #[test]
    fn a_promise_broken_as_expected_can_still_be_broken_for_good_and_then_is_silent() {
        let crash = [Event::Is(GroundTruth::Crashed { actor: ActorId { process: 0, life: 0, thread: 0 } })];
        let fresh = || Monitors::new(vec![Box::new(NoCrash(0))], 0);
        let assumptions = |findings: &Findings| {
            findings.broken.iter().map(|(_, v)| v.violated_assumption).collect::<Vec<_>>()
        };
        let (monitors, first) = fresh().see(&crash);
        assert_eq!((assumptions(&first), monitors.broken), (vec![Some(Assumption::Promised)], 0));
        let (monitors, second) = monitors.see(&crash);
        assert_eq!((assumptions(&second), monitors.broken), (vec![None], 1));
        // The same if they come in one step.
        let [crash_event] = &crash;
        let (at_once, both) = fresh().see(&[crash_event.clone(), crash_event.clone(), crash_event.clone()]);
        assert_eq!((assumptions(&both), at_once.broken), (vec![Some(Assumption::Promised), None], 1));
        let (monitors, third) = monitors.see(&crash);
        assert_eq!((assumptions(&third), monitors.broken), (vec![], 1));
    }

    /// Looks at the number of each token, and takes the counter of 7 for a bad one.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct NoSeven;

    impl Promise for NoSeven {
        fn terms(&self) -> Terms {
            Terms::of("no-seven").about("No token has the counter 7.")
        }

        fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
            let Event::Observed { what: Observation::Granted { token: Some(token), .. }, .. } = event else {
                return;
            };
            found.push(match token.counter() {
                7 => Finding::Broken(Violation::new(format!("{token} is given"), None)),
                _ => Finding::Tested,
            });
        }
    }

    #[test]
    fn a_promise_that_looks_at_a_number_is_noted_unless_it_is_broken_then() {
        let granted = |token| {
            let actor = ActorId { process: 0, life: 0, thread: 0 };
            let what = Observation::Granted { lock: "/lock".into(), node: "/lock/a".into(), token };
            [Event::Observed { actor, what }]
        };
        for (counter, is_noted) in [(None, false), (Some(6), true), (Some(7), false)] {
            let events = granted(counter.map(|counter| Zxid::new(0, counter)));
            let (_, findings) = Monitors::new(vec![Box::new(NoSeven)], 0).see(&events);
            assert_eq!(findings.numbered, is_noted, "{counter:?}");
        }
    }
}

//! A step that never ends is a finding that names it.

mod common;

use common::{calm, scripted};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::{Text, ZooKeeper};
use zk_trials::event::{End, Event};
use zk_trials::probe::Probe;
use zk_trials::promise::{AnyPromise, Finding, Promise};
use zk_trials::trial::{About, AnyTrial, Part, Trial};
use zk_world::{Run, RunOptions, run};

/// What is found of a run that came to no end: that alone.
fn found(run: &Run) -> &str {
    let [only] = &run.violations[..] else { panic!("{:?}", run.violations) };
    assert_eq!((only.promise, only.excuse), ("every-step-ends", None));
    &only.what
}

#[test]
fn a_recipe_that_never_ends_its_turn_is_found_and_named() {
    let endless = scripted(|_, _, _| -> Pin<Box<dyn Future<Output = End> + Send>> {
        Box::pin(async {
            loop {
                std::hint::spin_loop();
            }
        })
    });
    let run = run(&endless, &calm(), 1, &RunOptions::default());
    assert_eq!(found(&run), "the recipe of p0 does not end its turn");
}

/// A trial of nothing, whose promise looks for ever.
struct Looked;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Looks;

impl Promise for Looks {
    fn name(&self) -> &'static str {
        "looks-for-ever"
    }

    fn about(&self) -> &'static str {
        "What it sees is never enough."
    }

    fn see(&mut self, _: &Event, _: &mut Vec<Finding>) {
        loop {
            std::hint::spin_loop();
        }
    }
}

impl Trial for Looked {
    fn opts_out(&self) -> &'static [&'static str] {
        &zk_trials::promises::STANDARD
    }
    fn about(&self) -> About {
        About::new("looked", "Nothing happens.")
    }

    fn setup(&self) -> Vec<Text> {
        Vec::new()
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Looks)]
    }

    async fn actor<Z, P>(&self, _: Z, _: P, _: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        End::Done
    }
}

#[test]
fn a_promise_that_never_ends_its_look_is_found_and_named() {
    let trial: Arc<dyn AnyTrial> = Arc::new(Looked);
    let run = run(&trial, &calm(), 1, &RunOptions::default());
    assert_eq!(found(&run), "the promise looks-for-ever does not end its look");
}

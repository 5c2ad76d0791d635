//! A step that never ends is a finding that names it.

use crate::common::{calm, scripted};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::ZooKeeper;
use zk_harness::event::{End, Event};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Terms};
use zk_harness::trial::{Role, Trial};
use zk_simulator::{Run, RunOptions, run};

/// What is found of a run that came to no end: that alone.
fn found(run: &Run) -> &str {
    let [only] = &run.violations[..] else { panic!("{:?}", run.violations) };
    assert_eq!((only.promise, only.violated_assumption), ("every-step-ends", None));
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

/// A trial of nothing, whose promise looks for ever, or panics.
#[derive(Clone)]
struct Looked {
    panics: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Looks {
    panics: bool,
}

impl Promise for Looks {
    fn terms(&self) -> Terms {
        Terms::of("looks-for-ever").about("What it sees is never enough.")
    }

    fn see(&mut self, _: &Event, _: &mut Vec<Finding>) {
        assert!(!self.panics, "it has seen enough");
        loop {
            std::hint::spin_loop();
        }
    }
}

impl From<Looked> for Trial {
    fn from(Looked { panics }: Looked) -> Trial {
        async fn actor(_: Arc<dyn ZooKeeper>, _: Arc<dyn Probe>, _: Role) -> End {
            End::Done
        }
        let setup = { Vec::new() };
        let mut trial = Trial::new("looked", actor)
            .summary("Nothing happens.")
            .opts_out(&zk_harness::promises::STANDARD)
            .promises(move || vec![Box::new(Looks { panics })]);
        trial.setup = setup;
        trial
    }
}

#[test]
fn a_promise_that_never_ends_its_look_is_found_and_named() {
    let trial: Arc<Trial> = Arc::new(Looked { panics: false }.into());
    let run = run(&trial, &calm(), 1, &RunOptions::default());
    assert_eq!(found(&run), "the promise looks-for-ever does not end its look");
}

#[test]
fn a_promise_that_panics_is_named_and_the_run_goes_on() {
    let trial: Arc<Trial> = Arc::new(Looked { panics: true }.into());
    let run = run(&trial, &calm(), 1, &RunOptions::default());
    let [only] = &run.violations[..] else { panic!("{:?}", run.violations) };
    assert_eq!((only.promise, only.violated_assumption), ("no-panic", None));
    let panicked = "the promise looks-for-ever panics: it has seen enough (";
    assert!(only.what.starts_with(panicked), "{}", only.what);
}

//! A step that never ends is a finding that names it.

mod common;

use common::{calm, scripted};
use std::future::Future;
use std::pin::Pin;
use zk_trials::event::End;
use zk_world::{RunOptions, run};

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
    let [found] = &run.violations[..] else { panic!("{:?}", run.violations) };
    assert_eq!(
        (found.promise, found.what.as_str()),
        ("every-step-ends", "the recipe of p0 does not end its turn")
    );
    assert_eq!(found.excuse, None);
}

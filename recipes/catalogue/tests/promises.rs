//! The promises that the built-in trials owe.

use std::collections::BTreeMap;
use zk_api::SessionId;
use zk_harness::event::{ActorId, End, Event, GroundTruth};
use zk_harness::promise::{AnyPromise, NOT_SAID, Rest};

/// Each of the catalogue's once, by its name.
fn all() -> BTreeMap<&'static str, Box<dyn AnyPromise>> {
    let promises = zk_catalogue::trials().into_iter().flat_map(|trial| trial.owed());
    promises.map(|promise| (promise.name(), promise)).collect()
}

/// Eight of them took any quiet rest for a test, so that a trial whose actors return at once was green.
#[test]
fn nothing_is_tested_by_actors_that_return_at_once() {
    for (name, mut promise) in all() {
        let mut found = Vec::new();
        for process in 0..3 {
            let actor = ActorId { process, life: 0, thread: 0 };
            let session = SessionId::new(i64::from(process) + 1);
            let truths = [GroundTruth::SessionOpened { session, actor }, GroundTruth::Connected { actor }];
            let end = GroundTruth::Finished { actor, end: End::Done };
            truths.into_iter().chain([end]).for_each(|truth| promise.see(&Event::Is(truth), &mut found));
        }
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(found, [], "{name}");
    }
}

/// Those with promises of their own were once held to no order of what they tell.
#[test]
fn the_actors_of_every_trial_tell_in_order() {
    for trial in zk_catalogue::trials() {
        assert!(
            trial.owed().iter().any(|promise| promise.name() == "tells-in-order"),
            "{}",
            trial.about.name
        );
    }
}

#[test]
fn each_says_in_a_sentence_what_puts_it_to_the_test() {
    for (name, promise) in all() {
        assert_ne!(promise.terms().tested_when, NOT_SAID, "{name}");
        assert!(promise.terms().tested_when.ends_with('.'), "{name}");
    }
}

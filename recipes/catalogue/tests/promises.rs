//! The promises that the built-in trials owe.

use std::collections::BTreeMap;
use zk_api::SessionId;
use zk_harness::event::{ActorId, End, Event, GroundTruth};
use zk_harness::promise::{AnyPromise, NOT_SAID, Rest};
use zk_harness::trial::About;

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

/// Two of them were searched without what their own variants break by.
#[test]
fn each_recipe_is_searched_with_the_drops_and_the_restarts_by_which_its_variants_break() {
    let family = |about: &About| about.name.split('/').next();
    let faults = |about: &About| [about.bounds.drops, about.bounds.restarts].map(|most| most > 0);
    let all = zk_catalogue::trials().into_iter().map(|trial| trial.about);
    let (wrong, right): (Vec<_>, Vec<_>) = all.partition(|about| about.breaks.is_some());
    // A test of models searches the lock with another life.
    for variant in wrong.iter().filter(|variant| variant.name != "lock/adopts-ghost") {
        let of_family = right.iter().filter(|recipe| family(recipe) == family(variant));
        let searched: Vec<_> = of_family.map(faults).collect();
        let has_all = |has: &[bool; 2]| has.iter().zip(faults(variant)).all(|(has, needs)| *has || !needs);
        assert!(searched.is_empty() || searched.iter().any(has_all), "{}", variant.name);
    }
}

#[test]
fn each_says_in_a_sentence_what_puts_it_to_the_test() {
    for (name, promise) in all() {
        assert_ne!(promise.terms().tested_when, NOT_SAID, "{name}");
        assert!(promise.terms().tested_when.ends_with('.'), "{name}");
    }
}

//! Twins of the catalogue's variants whose code runs in a thread beside the main one: each is judged as the variant is.

use std::sync::Arc;
use zoocheck::api::Pending;
use zoocheck::reports::Judgement;
use zoocheck::trials::common::AnyProbe;
use zoocheck::trials::event::End;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::trial::{Code, Trial};
use zoocheck::{Answer, Catalogue};

/// Whether the main thread waits for the other one, and ends as that does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Main {
    Waits,
    EndsAtOnce,
}

fn in_a_thread(trial: &Trial, main: Main) -> Trial {
    let Code::Actor(act) = trial.code.clone() else { panic!("{} is a program", trial.about.name) };
    trial.clone().code(move |zk, probe: AnyProbe, role| {
        let thread: AnyProbe = Arc::new(probe.thread(7));
        let code = act(zk, thread, role);
        let (completer, ends) = Pending::slot();
        probe.spawn(Box::pin(async move {
            completer.complete(code.await);
        }));
        async move {
            match main {
                Main::Waits => ends.await,
                Main::EndsAtOnce => End::Done,
            }
        }
    })
}

/// Promises that took threads for other processes, or only their main threads for waiting, held what these break.
#[test]
fn a_wrong_variant_is_found_in_a_thread_as_well() {
    for name in [
        "lock/simple",
        "try-lock/waits",
        "shared-lock/one-by-one",
        "election/goes-on",
        "barrier/raised-again",
        "double-barrier/missing-slash",
        "queue/watch-lost",
        "membership/leaves-once",
        "membership/node-exists-is-joined",
    ] {
        let built_in = Catalogue::default();
        let trial = built_in.find(name).expect("it is there");
        let config = built_in.check_config(name).expect("it is there");
        let promise = trial.about.breaks.expect("it is wrong").promise;
        for main in [Main::Waits, Main::EndsAtOnce] {
            let check = Catalogue::empty().with(in_a_thread(&trial, main)).check(name, &config);
            let check = check.expect("a check");
            let found = (check.verdict, check.promise.as_deref());
            assert_eq!(found, (Judgement::Violated, Some(promise)), "{main:?}: {check}");
        }
    }
}

/// A thread that ends without a word has given up what it waited for.
#[test]
fn a_right_recipe_is_right_in_a_thread_as_well() {
    let built_in = Catalogue::default();
    for name in
        ["lock", "try-lock", "shared-lock", "barrier", "queue", "membership", "configuration/notified"]
    {
        let trial = built_in.find(name).expect("it is there");
        for main in [Main::Waits, Main::EndsAtOnce] {
            let catalogue = Catalogue::empty().with(in_a_thread(&trial, main));
            let scenario = catalogue.scenario(name).expect("it is there");
            let sweep = catalogue.sweep(&scenario, 0..60).expect("a sweep");
            assert_ne!(sweep.answer, Answer::Broken, "{main:?}: {sweep}");
        }
    }
}

/// A task that the end of a session had woken stood still, and what it did before it looked was held against it.
#[test]
fn what_a_thread_does_before_it_looks_at_its_sessions_end_is_not_held_against_it() {
    let (built_in, name) = (Catalogue::default(), "configuration/notified");
    let config = built_in.check_config(name).expect("it is there");
    let trial = built_in.find(name).expect("it is there");
    let check = Catalogue::empty().with(in_a_thread(&trial, Main::Waits)).check(name, &config);
    let check = check.expect("a check");
    assert_eq!(check.verdict, Judgement::Holds, "{check}");
}

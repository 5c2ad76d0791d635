//! Recipes that go wrong by themselves are verdicts with counterexamples, not crashes of the checker.

use crate::common::{broken, full, run};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, Local, ZPath, ZooKeeper};
use zk_harness::event::{End, Event};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Rest, Terms};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{Check, CheckConfig, Engine, Verdict};

/// How a recipe goes wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It tries again at once whatever the error is, on a dead session too.
    Spin,
    /// It submits without ever waiting.
    Flood,
    /// It panics when it is told that its znode exists.
    Panic,
    /// Its checkpoint forgets a local that decides what comes next.
    Forgets,
    /// The same, two requests later.
    ForgetsForLong,
    /// The same, and the checkpoint knows it.
    Remembers,
    /// Its checkpoint forgets how often it has tried, which decides at this try.
    Counts(u32),
    /// It submits so many requests at once.
    Submits(u32),
    /// It submits so many requests at once, and waits for either of two that it has not waited for yet.
    Races(u32),
    /// The same, but first it waits for one of them or for a while.
    RacesTime(u32),
    /// It sets data of so many bytes.
    Sets(usize),
    /// It submits many requests and gives them up, again and again.
    GivesUp,
    /// It never ends its turn.
    Burns,
    /// A task of its own does the same forgetting, but then checkpoints do not count.
    Spawns,
}

#[derive(Clone)]
struct Wrong(Way);

impl From<Wrong> for Trial {
    fn from(it: Wrong) -> Trial {
        let code = it.clone();
        Trial::new("wrong", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Goes wrong.")
            .source("this test")
            .bounds(Bounds::clients(1))
            .promises(Vec::new)
            .setup(["/a"])
    }
}

impl Wrong {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let path: ZPath = "/a/x".parse().expect("a path");
        let create = || zk.create(&path, Data::NULL, CreateMode::Persistent);
        match self.0 {
            Way::Spin => {
                probe.point().await;
                while create().await.is_err() {}
            }
            Way::Flood => loop {
                drop(create());
            },
            Way::Panic => {
                create().await.expect("nobody else creates it");
            }
            Way::Counts(last) => {
                for tries in 1..=last {
                    zk.checkpoint("tries", &[]);
                    let is_last = tries == last;
                    match is_last {
                        true => drop(zk.delete(&path, -1).await),
                        false => drop(zk.exists(&path).await),
                    }
                }
            }
            Way::Submits(many) => {
                let calls: Vec<_> = (0..many).map(|_| zk.exists(&path)).collect();
                for call in calls {
                    drop(call.await);
                }
            }
            Way::Sets(bytes) => drop(zk.set_data(&path, Data::from(vec![0_u8; bytes]), -1).await),
            Way::RacesTime(many) => {
                let calls: Vec<_> = (0..many).map(|_| zk.exists(&path)).collect();
                let mut calls = calls.into_iter();
                if let Some(one) = calls.next() {
                    drop(zk_api::race(zk.sleep(Duration::from_secs(1)), one).await);
                }
                for call in calls {
                    drop(call.await);
                }
            }
            Way::Races(many) => {
                let calls: Vec<_> = (0..many).map(|_| zk.exists(&path)).collect();
                let mut calls = calls.into_iter();
                while let (Some(one), Some(other)) = (calls.next(), calls.next()) {
                    drop(zk_api::race(one, other).await);
                }
            }
            Way::GivesUp => loop {
                (0..200).for_each(|_| drop(create()));
                probe.point().await;
            },
            Way::Forgets | Way::ForgetsForLong | Way::Remembers => forget(self.0, &zk, role, &path).await,
            Way::Burns => {
                drop(create().await);
                burn();
            }
            Way::Spawns => {
                let (zk, path) = (zk.clone(), path.clone());
                probe.spawn(Box::pin(async move { forget(Way::Forgets, &zk, role, &path).await }));
                // It goes on for as long as the task may.
                for _ in 0..4 {
                    probe.point().await;
                }
            }
        }
        End::Done
    }
}

fn burn() {
    while std::hint::black_box(true) {
        std::hint::spin_loop();
    }
}

async fn forget(way: Way, zk: &impl ZooKeeper, role: Role, path: &ZPath) {
    let mine = zk.create(path, Data::NULL, CreateMode::Persistent).await.is_ok();
    let number = if way == Way::Remembers { mine.into() } else { 0 };
    zk.checkpoint("after the create", &[Local::Number(number), Local::Number(role.rounds.into())]);
    if way == Way::ForgetsForLong {
        let _ = zk.exists(path).await;
        let _ = zk.exists(path).await;
    } else {
        let _ = zk.exists(path).await;
    }
    if mine {
        let _ = zk.delete(path, -1).await;
    }
}

/// A trial whose promise panics at rest, or never ends its look.
#[derive(Clone)]
struct WrongAtRest {
    burns: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rests {
    burns: bool,
}

impl Promise for Rests {
    fn terms(&self) -> Terms {
        Terms::of("rests").about("It rests.")
    }

    fn see(&mut self, _event: &Event, _found: &mut Vec<Finding>) {}
    fn at_rest(&self, _rest: &Rest, _found: &mut Vec<Finding>) {
        match self.burns {
            true => burn(),
            false => panic!("at rest"),
        }
    }
}

impl From<WrongAtRest> for Trial {
    fn from(WrongAtRest { burns }: WrongAtRest) -> Trial {
        async fn actor(_zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, _role: Role) -> End {
            End::Done
        }
        Trial::new("wrong", actor)
            .bounds(Bounds::clients(1))
            .opts_out(&zk_harness::promises::STANDARD)
            .promises(move || vec![Box::new(Rests { burns })])
    }
}

fn of(way: Way, config: &CheckConfig) -> Check {
    run(Arc::new(Wrong(way).into()), config)
}

#[test]
fn a_recipe_that_tries_again_on_a_dead_session_is_a_violation() {
    let check = of(Way::Spin, &full(1, 1, 0, 0));
    assert_eq!(broken(&check), ["no-spin"]);
    let example = check.promises.iter().find_map(|promise| promise.broken.clone()).expect("it is broken");
    assert!(example.steps.iter().any(|step| step.contains("p0's session expires")), "{:?}", example.steps);
    assert_eq!(of(Way::Spin, &full(1, 0, 0, 0)).verdict, Verdict::Holds);
}

#[test]
fn a_recipe_that_never_waits_is_a_violation_from_the_start() {
    let check = of(Way::Flood, &full(1, 0, 0, 0));
    assert_eq!(check.verdict, Verdict::Violated { promise: "no-spin".into(), steps: 0 });
}

#[test]
fn a_turn_that_never_ends_is_a_violation_that_names_whose_it_is() {
    let burns = |trial: Trial, whose: &str| {
        let check = run(Arc::new(trial), &full(1, 0, 0, 0));
        assert_eq!(check.verdict, Verdict::Violated { promise: "every-step-ends".into(), steps: 0 });
        let example = check.promises.iter().find_map(|promise| promise.broken.clone()).expect("it is broken");
        assert_eq!(example.what, whose);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| burns(Wrong(Way::Burns).into(), "the recipe of p0 does not end its turn"));
        burns(WrongAtRest { burns: true }.into(), "the promise rests does not end its look");
    });
}

#[test]
fn many_requests_at_once_are_no_spin() {
    assert_eq!(of(Way::Submits(70), &full(1, 0, 0, 0)).verdict, Verdict::Holds);
}

#[test]
fn answers_that_come_together_to_code_that_chooses_are_left_out_by_name() {
    for engine in [Engine::Own, Engine::Stateright] {
        for races in [Way::Races, Way::RacesTime] {
            let verdict = |many| of(races(many), &CheckConfig { engine, ..full(1, 0, 0, 0) }).verdict;
            assert_eq!(verdict(4), Verdict::Holds);
            let Verdict::Undecided { ran_out } = verdict(6) else { panic!("{:?}", verdict(6)) };
            assert!(
                ran_out.starts_with("where code waits for more than four calls and watches"),
                "{ran_out}"
            );
        }
    }
}

#[test]
fn more_requests_than_a_state_counts_are_undecided() {
    for engine in [Engine::Own, Engine::Stateright] {
        let config = CheckConfig { engine, ..full(1, 0, 0, 0) };
        let check = of(Way::Submits(300), &config);
        let ran_out = "p0 asks or waits for more than 254 things at once".to_owned();
        assert_eq!((broken(&check), check.verdict), (vec![], Verdict::Undecided { ran_out }));
    }
}

/// A server closes the connection of whoever sends more, which no model does.
#[test]
fn a_request_that_is_too_long_for_a_server_is_undecided() {
    assert_eq!(of(Way::Sets(1_000_000), &full(1, 0, 0, 0)).verdict, Verdict::Holds);
    let Verdict::Undecided { ran_out } = of(Way::Sets(1_200_000), &full(1, 0, 0, 0)).verdict else {
        panic!("it is more than a server takes")
    };
    assert!(ran_out.starts_with("p0 asks with 1200"), "{ran_out}");
}

/// The model cannot count what was given up and not answered, and says so by a panic of its own.
#[test]
fn a_panic_of_the_model_is_not_the_recipes() {
    for engine in [Engine::Own, Engine::Stateright] {
        let check = of(Way::GivesUp, &CheckConfig { engine, ..full(1, 0, 0, 0) });
        assert!(broken(&check).is_empty());
        let Verdict::Undecided { ran_out } = check.verdict else { panic!("{:?}", check.verdict) };
        assert!(ran_out.starts_with("the model panics, a defect of zoocheck: "), "{ran_out}");
    }
}

#[test]
fn a_panic_of_a_promise_says_whose_it_is() {
    let check = of(Way::Submits(1), &full(1, 0, 0, 0));
    assert_eq!(check.verdict, Verdict::Holds);
    let check = run(Arc::new(WrongAtRest { burns: false }.into()), &full(1, 0, 0, 0));
    assert_eq!(broken(&check), ["no-panic"]);
    let example = check.promises.iter().find_map(|promise| promise.broken.clone()).expect("it is broken");
    assert_eq!(example.what, "the promise rests panics: at rest");
}

#[test]
fn a_panic_is_a_violation_and_says_what_it_says() {
    let check = of(Way::Panic, &full(2, 0, 0, 0));
    assert_eq!(broken(&check), ["no-panic"]);
    let example = check.promises.iter().find_map(|promise| promise.broken.clone()).expect("it is broken");
    assert!(example.what.contains("nobody else creates it"), "{}", example.what);
    assert_eq!(of(Way::Panic, &full(1, 0, 0, 0)).verdict, Verdict::Holds);
}

#[test]
fn the_audit_catches_a_checkpoint_that_forgets_a_local() {
    for way in [Way::Forgets, Way::ForgetsForLong] {
        let mut config = full(2, 0, 0, 0);
        assert_eq!(broken(&of(way, &config)), ["honest-checkpoints"]);
        // Without the audit nothing is said; without keys there is nothing to say.
        config.audit = false;
        assert!(broken(&of(way, &config)).is_empty());
        (config.audit, config.keys) = (true, false);
        assert!(broken(&of(way, &config)).is_empty());
    }
    assert_eq!(of(Way::Remembers, &full(2, 0, 0, 0)).verdict, Verdict::Holds);
}

/// The audit followed four histories once, and said nothing of the fifth.
#[test]
fn the_audit_tells_what_it_did_not_follow() {
    let config = full(1, 0, 0, 0);
    assert_eq!(broken(&of(Way::Counts(6), &config)), ["honest-checkpoints"]);
    for engine in [Engine::Own, Engine::Stateright] {
        let unchecked = |tries: u32| {
            // What goes round by such a checkpoint does not by the code.
            let check = of(Way::Counts(tries), &CheckConfig { engine, livelock: false, ..config.clone() });
            let audit = check.promises.into_iter().find(|promise| promise.name == "honest-checkpoints");
            (check.verdict, audit.and_then(|audit| audit.unchecked))
        };
        let in_part = Some("in the first 16 histories of each".to_owned());
        assert_eq!(unchecked(100), (Verdict::Holds, in_part));
        assert_eq!(unchecked(1), (Verdict::Holds, None));
    }
}

#[test]
fn a_checkpoint_of_one_task_says_nothing_of_another() {
    // Deep enough for two histories with one key to part, not deep enough for the task to be alone.
    let mut config = full(2, 0, 0, 0);
    config.max_depth = Some(5);
    assert!(broken(&of(Way::Spawns, &config)).is_empty());
}

//! What goes on for ever without an end is found, and what only may take long is not.

use crate::common::{broken, full, run, trial};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, Local, ZPath, ZooKeeper};
use zk_harness::event::End;
use zk_harness::probe::Probe;
use zk_harness::promises::NoWaiterStuck;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{Check, CheckConfig, Engine, PromiseReport, Verdict};

/// How two processes stand in each other's way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Each announces itself, and looks again and again until the other one is gone.
    AfterYou,
    /// Each announces itself; who sees the other takes it back, waits a while and tries again (S-096).
    BackOff,
    /// The same with data that they set, and reset.
    Resets,
    /// One goes as soon as it likes, and the other looks again and again until it has.
    Polls,
    /// One announces itself and ends, and the other looks again and again until it is gone.
    Leaves,
    /// One waits for what never happens, while the other looks at what never changes.
    Forgotten,
}

#[derive(Clone)]
struct Meets(Way);

impl From<Meets> for Trial {
    fn from(it: Meets) -> Trial {
        let code = it.clone();
        let setup = {
            match it.0 {
                Way::Resets => vec!["/a".into(), "/a/0".into(), "/a/1".into()],
                _ => vec!["/a".into()],
            }
        };
        let mut trial = Trial::new("meets", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Two processes meet.")
            .source("this test")
            .bounds(Bounds::clients(2))
            .promises(|| vec![Box::new(NoWaiterStuck)]);
        trial.setup = setup;
        trial
    }
}

impl Meets {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let node = |process: u16| ZPath::parse(&format!("/a/{process}")).expect("a path");
        let (own, other) = (node(role.me.process), node(1 - role.me.process));
        let first = role.me.process == 0;
        match self.0 {
            Way::AfterYou => {
                announce(&zk, &own).await;
                poll(&zk, &other).await;
            }
            Way::BackOff => loop {
                zk.checkpoint("announces", &[]);
                announce(&zk, &own).await;
                if zk.exists(&other).await.is_ok_and(|stat| stat.is_none()) {
                    let _ = zk.delete(&own, -1).await;
                    break;
                }
                let _ = zk.delete(&own, -1).await;
                zk.checkpoint("waits", &[]);
                zk.sleep(Duration::from_secs(1)).await;
            },
            Way::Resets => loop {
                let set = |data: &str| zk.set_data(&own, Data::from(data), -1);
                zk.checkpoint("sets", &[]);
                let _ = set("busy").await;
                let is_busy = zk.data(&other).await.is_ok_and(|(data, _)| data == Data::from("busy"));
                let _ = set("idle").await;
                if !is_busy {
                    break;
                }
                zk.checkpoint("waits", &[]);
                zk.sleep(Duration::from_secs(1)).await;
            },
            Way::Polls if first => {
                announce(&zk, &own).await;
                probe.point().await;
                let _ = zk.delete(&own, -1).await;
            }
            Way::Leaves if first => announce(&zk, &own).await,
            Way::Forgotten if first => {
                announce(&zk, &own).await;
                let Ok((_, watch)) = zk.exists_watch(&own).await else { return End::Failed };
                watch.await;
            }
            Way::Polls | Way::Leaves => poll(&zk, &other).await,
            Way::Forgotten => poll(&zk, &ZPath::parse("/a").expect("a path")).await,
        }
        End::Done
    }
}

async fn announce(zk: &impl ZooKeeper, own: &ZPath) {
    let _ = zk.create(own, Data::NULL, CreateMode::Ephemeral).await;
}

async fn poll(zk: &impl ZooKeeper, other: &ZPath) {
    loop {
        zk.checkpoint("polls", &[Local::Text(other.as_str())]);
        match zk.exists(other).await {
            Ok(Some(_)) => zk.sleep(Duration::from_secs(1)).await,
            Ok(None) | Err(_) => return,
        }
    }
}

fn of(way: Way, change: impl Fn(&mut CheckConfig)) -> Check {
    let mut config = full(2, 0, 0, 0);
    config.max_states = Some(200_000);
    change(&mut config);
    run(Arc::new(Meets(way).into()), &config)
}

fn livelock(check: &Check) -> &PromiseReport {
    check.promises.iter().find(|promise| promise.name == "no-livelock").expect("every recipe promises it")
}

#[test]
fn two_who_wait_for_each_other_by_polling_are_a_livelock() {
    let check = of(Way::AfterYou, |_| ());
    assert_eq!(broken(&check), ["no-livelock"]);
    let steps = livelock(&check).broken.as_ref().expect("it is broken").steps.clone();
    assert_eq!(check.verdict, Verdict::Violated { promise: "no-livelock".into(), steps: steps.len() as u32 });
    let round: Vec<&String> =
        steps.iter().skip_while(|step| !step.starts_with("round and round: ")).collect();
    // Both take part, as both may.
    for who in ["p0", "p1"] {
        assert!(round.iter().any(|step| step.contains(who)), "{steps:?}");
    }
    assert!(steps.iter().rev().take(round.len()).all(|step| step.starts_with("round and round: ")));
}

/// A storm of resets: each round the numbers of the data grow, so that no search came to its end. By their order alone,
/// what comes round is seen, and it is tried by the numbers themselves before anything is said.
#[test]
fn two_who_set_and_reset_in_step_are_a_livelock() {
    let check = of(Way::Resets, |config| config.ranks = true);
    assert_eq!(broken(&check), ["no-livelock"]);
    let steps = livelock(&check).broken.as_ref().expect("it is broken").steps.join("\n");
    for what in ["p0 sets /a/0", "p1 sets /a/1", "p0's timer", "p1's timer"] {
        assert!(steps.contains(&format!("round and round: {what}")), "{what}: {steps}");
    }
    // Nobody has to ask for that: a search that runs out is followed by one of that kind.
    let by_itself = of(Way::Resets, |config| config.max_states = Some(20_000));
    assert_eq!(broken(&by_itself), ["no-livelock"]);
    let neither = of(Way::Resets, |config| config.max_states = Some(50));
    assert!(matches!(neither.verdict, Verdict::Undecided { .. }));
}

/// Nothing but their luck ends it. Without ranks the creates alone would tell each time round from the last.
#[test]
fn two_who_back_off_in_step_are_a_livelock() {
    let check = of(Way::BackOff, |config| config.ranks = true);
    assert_eq!(broken(&check), ["no-livelock"]);
    let steps = livelock(&check).broken.as_ref().expect("it is broken").steps.join("\n");
    for what in ["p0 creates", "p1 creates", "p0 deletes", "p1 deletes", "p0's timer", "p1's timer"] {
        assert!(steps.contains(&format!("round and round: {what}")), "{what}: {steps}");
    }
    // What finds it says of nothing that it holds.
    let ranked = of(Way::Polls, |config| config.ranks = true);
    assert!(matches!(ranked.verdict, Verdict::Undecided { .. }) && broken(&ranked).is_empty());
}

/// Promises remember tokens, which are numbers of a tree that may not be the one that they were taken from: such a
/// search broke `tokens-increase`.
#[test]
fn the_order_of_numbers_breaks_no_promise_but_those_of_what_goes_round() {
    let config = CheckConfig { ranks: true, effects: true, ..full(2, 1, 1, 0) };
    let ranked = run(trial("try-lock"), &config);
    assert!(matches!(ranked.verdict, Verdict::Undecided { .. }) && broken(&ranked).is_empty(), "{ranked:?}");
    assert!(ranked.promises.iter().all(|promise| promise.unchecked.is_some()), "{ranked:?}");
}

#[test]
fn a_poll_for_somebody_who_goes_on_is_none() {
    let check = of(Way::Polls, |_| ());
    assert_eq!(check.verdict, Verdict::Holds);
    assert!(livelock(&check).tested > 0 && livelock(&check).unchecked.is_none());
}

/// Nothing is ever at rest here, so that nobody asks who still waits.
#[test]
fn a_waiter_who_is_stuck_is_found_behind_one_who_polls() {
    assert_eq!(broken(&of(Way::Forgotten, |_| ())), ["no-livelock"]);
}

/// That another has come to its end is no end for all.
#[test]
fn who_polls_for_one_that_has_ended_is_a_livelock() {
    assert_eq!(broken(&of(Way::Leaves, |_| ())), ["no-livelock"]);
}

#[test]
fn the_lock_has_none() {
    for config in [full(3, 1, 0, 0), full(2, 1, 1, 1)] {
        let check = run(trial("lock"), &config);
        assert_eq!(check.verdict, Verdict::Holds);
        assert!(livelock(&check).tested > 0);
    }
}

#[test]
fn what_was_not_looked_for_is_not_said_to_hold() {
    let asked = of(Way::AfterYou, |config| {
        (config.livelock, config.promise) = (false, Some("no-livelock".into()));
    });
    assert!(matches!(asked.verdict, Verdict::Undecided { .. }), "{:?}", asked.verdict);
    let says = |change: fn(&mut CheckConfig), what: &str| {
        let check = of(Way::AfterYou, change);
        let report = livelock(&check);
        assert!(report.broken.is_none() && report.tested == 0);
        let why = report.unchecked.as_deref().unwrap_or("");
        assert!(why.contains(what), "{why}");
    };
    says(|config| config.livelock = false, "not asked for");
    says(|config| config.reductions.symmetry = true, "symmetry");
    says(|config| config.max_states = Some(5), "cut short");
    says(|config| config.engine = Engine::Stateright, "this search");
}

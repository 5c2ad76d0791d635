//! Runs whose events come in an order that was given: scripts, step by step, and other orders of a few events.

use crate::common::{calm, path, published, said, say, scripted};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, ZooKeeper};
use zk_harness::event::End;
use zk_harness::trial::Trial;
use zk_simulator::order::Order;
use zk_simulator::script::{Script, WrittenStep};
use zk_simulator::{OneRun, Recorded, Run, RunOptions, Scenario, Schedule, run};

fn script(clients: u16, steps: &[&str]) -> Scenario {
    let steps = steps.iter().map(|step| WrittenStep(step.parse().expect(step))).collect();
    let one = OneRun {
        seed: 0,
        breaks: String::new(),
        what: String::new(),
        digest: String::new(),
        build: String::new(),
        schedule: Schedule::default(),
        choices: Recorded::default(),
        script: Some(Script { effects: true, lag: 0, guids_fall: false, steps }),
    };
    Scenario {
        clients,
        tick_ms: 10_000,
        session_timeout_ms: 200_000,
        heal_seconds: 4_000,
        run: Some(one),
        ..calm()
    }
}

fn traced(trial: &Arc<Trial>, scenario: &Scenario) -> Run {
    run(trial, scenario, 0, &RunOptions { trace: true, ..RunOptions::default() })
}

/// Each process creates `/t/a`, and says what came of it.
fn who_is_first() -> Arc<Trial> {
    scripted(|zk, probe, role| async move {
        let made = zk.create(&path("/t/a"), Data::NULL, CreateMode::Ephemeral).await;
        say(&probe, format!("{} {}", role.me, if made.is_ok() { "makes it" } else { "does not" }));
        End::Done
    })
}

#[test]
fn requests_are_served_in_the_order_of_a_script() {
    for [first, second] in [["p0", "p1"], ["p1", "p0"]] {
        let steps =
            [format!("serve {first}"), format!("serve {second}"), "deliver p0".into(), "deliver p1".into()];
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let run = traced(&who_is_first(), &script(2, &steps));
        assert_eq!(run.replay_error, None);
        let mut said = said(&run);
        said.sort();
        let mut expected = [format!("{first} makes it"), format!("{second} does not")];
        expected.sort();
        assert_eq!(said, expected);
    }
}

#[test]
fn a_step_that_cannot_be_taken_is_named_and_ends_the_run() {
    let says =
        |steps: &[&str]| traced(&who_is_first(), &script(2, steps)).replay_error.expect("it cannot be taken");
    assert_eq!(says(&["deliver p0"]), "step 1 of 1, 'deliver p0': no message is on its way to it");
    assert_eq!(says(&["serve p0", "serve p0"]), "step 2 of 2, 'serve p0': no request is on its way");
    assert!(says(&["point p1 0"]).ends_with("it does not wait for that"));
    assert!(says(&["resume p1"]).ends_with("it is not paused"));
    assert!(says(&["drop p0 2"]).ends_with("not so many writes are on their way"));
    assert!(says(&["catch-up p0"]).ends_with("no views lag in this script"));
    for step in
        ["crash p7", "reconnect p7", "serve p200", "deliver p2", "timer p3 0", "serve-lost p9", "pause p2"]
    {
        let (_, who) = step.split_once(" p").expect("a process");
        let who = who.split(' ').next().expect("its number");
        assert!(says(&[step]).ends_with(&format!("there is no p{who}")), "{step}");
    }
    assert!(says(&["crash p0", "serve p0"]).ends_with("it has no connection"));
}

#[test]
fn a_lost_answer_a_write_in_flight_and_an_end_are_as_the_script_says() {
    let trial = scripted(|zk, probe, _| async move {
        let made = zk.create(&path("/t/a"), Data::NULL, CreateMode::Ephemeral).await;
        say(&probe, if made.is_ok() { "made" } else { "unknown" });
        let there = zk.exists(&path("/t/a")).await;
        say(&probe, format!("{:?}", there.map(|stat| stat.is_some()).ok()));
        End::Done
    });
    let runs = |steps: &[&str]| {
        let run = traced(&trial, &script(1, steps));
        assert_eq!(run.replay_error, None, "{steps:?}");
        said(&run)
    };
    // It was served, and the answer lost.
    assert_eq!(runs(&["serve p0", "drop p0 0", "reconnect p0"]), ["unknown", "Some(true)"]);
    // It was lost itself.
    assert_eq!(runs(&["drop p0 0", "reconnect p0"]), ["unknown", "Some(false)"]);
    // It arrived after all.
    assert_eq!(runs(&["drop p0 1", "serve-lost p0", "reconnect p0"]), ["unknown", "Some(true)"]);
    // The session ended first; the client learns it where it comes back.
    assert_eq!(runs(&["expire p0", "deliver p0", "reconnect p0"]), ["unknown", "None"]);
}

#[test]
fn a_pause_holds_and_a_sleep_takes_its_time() {
    let trial = scripted(|zk, probe, role| async move {
        if role.me.process == 0 {
            zk.sleep(Duration::from_secs(5)).await;
            say(&probe, "slept");
        } else {
            let _ = zk.exists(&path("/t")).await;
            say(&probe, "looked");
        }
        End::Done
    });
    let steps = ["serve p1", "pause p1", "timer p0 0", "resume p1", "deliver p1"];
    let run = traced(&trial, &script(2, &steps));
    assert_eq!((run.replay_error.as_deref(), said(&run).join(" ").as_str()), (None, "slept looked"));
    assert!(run.virtual_ns > 5_000_000_000);
}

#[test]
fn a_script_is_the_same_run_every_time() {
    let scenario = script(2, &["serve p1", "deliver p1", "serve p0"]);
    assert_eq!(traced(&who_is_first(), &scenario), traced(&who_is_first(), &scenario));
    let text = toml::to_string(&scenario).expect("it can be written");
    assert_eq!(toml::from_str::<Scenario>(&text).expect("it can be read"), scenario);
    let wrong = text.replace("serve p1", "serves p1");
    let error = toml::from_str::<Scenario>(&wrong).expect_err("no step").to_string();
    assert!(error.contains("'serves p1' is no step of a script"), "{error}");
}

fn in_order(trial: &Arc<Trial>, scenario: &Scenario, seed: u64, picks: Vec<u32>, steps: u32) -> Run {
    let order = Order { from_ns: 100_000_000, steps, picks };
    run(trial, scenario, seed, &RunOptions { order: Some(order), ..RunOptions::default() })
}

#[test]
fn the_order_of_time_is_the_run_itself() {
    let lock = published("lock");
    for servers in [1, 3] {
        let scenario = Scenario { servers, observers: 0, ..Scenario::default() };
        for seed in 0..20 {
            let plain = run(&lock, &scenario, seed, &RunOptions::default());
            let ordered = in_order(&lock, &scenario, seed, Vec::new(), 50);
            assert_eq!(ordered.ordered.len(), 50);
            assert!(ordered.ordered.iter().any(|step| step.of > 1));
            assert_eq!(Run { ordered: Vec::new(), ..ordered }, plain, "seed {seed}, {servers} servers");
        }
    }
}

/// Nothing overtakes in its own line: all invariants hold whatever the order.
#[test]
fn no_order_breaks_what_servers_and_networks_promise() {
    let lock = published("lock");
    let mut digests = BTreeSet::new();
    for servers in [1, 3] {
        let scenario = Scenario { servers, observers: 0, ..Scenario::default() };
        for seed in 0..60 {
            // Whatever number is picked, one of those that can be next is.
            let picks = (0..200).map(|nth: u64| (nth * seed % 5) as u32).collect();
            let run = in_order(&lock, &scenario, seed, picks, 200);
            assert!(
                run.violations.iter().all(|v| v.violated_assumption.is_some()),
                "seed {seed}: {:?}",
                run.violations
            );
            digests.insert(run.digest);
        }
    }
    assert_eq!(digests.len(), 120);
}

#[test]
fn no_order_lets_a_sleep_end_before_messages_that_were_sent_long_before() {
    let trial = scripted(|zk, probe, role| async move {
        if role.me.process == 0 {
            zk.sleep(Duration::from_secs(5)).await;
            say(&probe, "slept");
        } else {
            for _ in 0..20 {
                let _ = zk.exists(&path("/t")).await;
            }
            say(&probe, "looked");
        }
        End::Done
    });
    for from_ns in [0, 10_000_000, 30_000_000] {
        // Always the last of those that can come next.
        let order = Order { from_ns, steps: 80, picks: vec![u32::MAX; 80] };
        let options = RunOptions { trace: true, order: Some(order), ..RunOptions::default() };
        let run = run(&trial, &Scenario { clients: 2, ..calm() }, 0, &options);
        assert!(run.ordered.iter().any(|step| step.of > 1), "{:?}", run.ordered);
        assert_eq!(said(&run), ["looked", "slept"], "from {from_ns}");
    }
}

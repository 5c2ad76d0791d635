//! Actors: what becomes of one that panics, spins, is killed, or ends.

use crate::common::{calm, path, run_with, said, say, scripted, times};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, Pending, ZooKeeper};
use zk_harness::event::{End, Observation};
use zk_harness::trial::Trial;
use zk_simulator::schedule::When;
use zk_simulator::{Fault, Run, RunOptions, Scenario, run};

fn broken(run: &Run) -> Vec<&str> {
    run.violations.iter().map(|v| v.promise).collect()
}

#[test]
fn a_panic_is_a_violation_and_the_others_go_on() {
    let trial = scripted(|zk, probe, role| async move {
        zk.exists(&path("/t")).await.expect("it is connected");
        assert!(role.me.process != 0, "number {} is unlucky", role.me.process);
        say(&probe, "done");
        End::Done
    });
    let run = run_with(&trial, &Scenario { clients: 3, ..calm() }, 1, &[]);
    assert_eq!(broken(&run), ["no-panic"]);
    assert!(run.violations[0].what.contains("p0 panicked: number 0 is unlucky"), "{:?}", run.violations);
    assert_eq!(said(&run).len(), 2);
}

#[test]
fn submitting_without_end_is_a_violation_and_not_a_hang() {
    let trial = scripted(|zk, _, _| async move {
        loop {
            drop(zk.exists(&path("/t")));
        }
    });
    assert_eq!(broken(&run(&trial, &calm(), 1, &RunOptions::default())), ["no-spin"]);
}

#[test]
fn retrying_on_a_dead_session_without_end_is_a_violation() {
    let trial = scripted(|zk, _, _| async move {
        let _ = zk.close().await;
        while zk.exists(&path("/t")).await.is_err() {}
        End::Done
    });
    assert_eq!(broken(&run(&trial, &calm(), 1, &RunOptions::default())), ["no-spin"]);
}

#[test]
fn looking_at_the_state_without_end_is_a_violation() {
    let trial = scripted(|zk, _, _| async move {
        while !zk.state().is_final() {}
        End::Done
    });
    assert_eq!(broken(&run(&trial, &calm(), 1, &RunOptions::default())), ["no-spin"]);
}

#[test]
fn sleeping_no_time_at_all_runs_out_of_steps() {
    let trial = scripted(|zk, _, _| async move {
        loop {
            zk.sleep(Duration::ZERO).await;
        }
    });
    let scenario = Scenario { step_budget: 10_000, ..calm() };
    let run = run(&trial, &scenario, 1, &RunOptions::default());
    assert_eq!((broken(&run), run.steps), (vec!["step-budget"], 10_001));
}

#[test]
fn polling_without_a_pause_runs_out_of_steps_ten_times_as_soon() {
    let trial = scripted(|zk, _, _| async move {
        let free = path("/t");
        while zk.exists(&free).await.is_ok() {}
        End::Done
    });
    let scenario = Scenario { clients: 1, step_budget: 10_000, ..calm() };
    let run = run(&trial, &scenario, 1, &RunOptions::default());
    assert_eq!(broken(&run), ["step-budget"]);
    assert!((1_001..2_000).contains(&run.steps), "{}", run.steps);
}

#[test]
fn nothing_of_a_run_outlives_it() {
    let held = Arc::new(());
    let (for_main, waits) =
        (held.clone(), Scenario { clients: 2, heal_seconds: 1, fault_seconds: 1, ..calm() });
    let trial = scripted(move |zk, probe, _| {
        let (mine, spawned) = (for_main.clone(), for_main.clone());
        async move {
            let (_mine, other) = (mine, zk.clone());
            probe.spawn(Box::pin(async move {
                let _spawned = spawned;
                let _ = other.state_change().await;
                let _ = other.exists(&path("/t")).await;
                Pending::<()>::slot().1.await;
            }));
            let (_, watch) = zk.exists_watch(&path("/t/never")).await.expect("it is connected");
            watch.await;
            End::Done
        }
    });
    let run = run_with(
        &trial,
        &waits,
        1,
        &[(500, Fault::ClientCrash { client: 0, when: When::Now, restart_after_ms: 10 })],
    );
    assert_eq!(run.sometimes.get("somebody was stuck"), Some(&1));
    drop(trial);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_lost_session_begins_a_new_life_and_a_crash_does_too() {
    let trial = scripted(|zk, probe, role| async move {
        let session = zk.exists(&path("/t")).await.map(|_| zk.session());
        say(&probe, format!("life {} session {:?}", role.me.life, session.is_ok()));
        loop {
            if zk.exists(&path("/t")).await.is_err_and(|error| error.is_session_over()) {
                return End::SessionLost;
            }
            if role.me.life == 2 {
                return End::Done;
            }
            zk.sleep(Duration::from_millis(100)).await;
        }
    });
    let faults = [
        (1000, Fault::Expire { client: 0 }),
        (5000, Fault::ClientCrash { client: 0, when: When::Now, restart_after_ms: 100 }),
    ];
    let run = run_with(&trial, &calm(), 1, &faults);
    assert_eq!(said(&run), ["life 0 session true", "life 1 session true", "life 2 session true"]);
    let truths: Vec<_> = ["actor: p0, expired: true", "Crashed { actor: p0.1 }", "Finished { actor: p0.2"]
        .map(|truth| crate::common::times(&run, truth).len())
        .into();
    assert_eq!(truths, [1, 1, 1]);
}

#[test]
fn what_an_actor_asks_while_it_is_dropped_goes_nowhere() {
    struct Last(crate::common::Zk);
    impl Drop for Last {
        fn drop(&mut self) {
            drop(self.0.create(&path("/t/last"), Data::NULL, CreateMode::Persistent));
        }
    }
    let trial = scripted(|zk, _, role| async move {
        let last = Last(zk.clone());
        if role.me.life == 0 {
            Pending::<()>::slot().1.await;
        }
        std::mem::forget(last);
        End::Done
    });
    let run = run_with(
        &trial,
        &calm(),
        1,
        &[(500, Fault::ClientCrash { client: 0, when: When::Now, restart_after_ms: 10 })],
    );
    assert!(broken(&run).is_empty());
    assert!(crate::common::times(&run, "/t/last").is_empty());
}

/// A run of one client that sleeps for so long.
fn sleeper(seconds: u64) -> Run {
    let trial = scripted(move |zk, probe, _| async move {
        zk.sleep(Duration::from_secs(seconds)).await;
        say(&probe, "awake");
        End::Done
    });
    run_with(&trial, &calm(), 1, &[])
}

#[test]
fn a_run_goes_on_until_long_sleepers_wake_and_takes_none_for_stuck() {
    let run = sleeper(700);
    assert_eq!((said(&run), broken(&run)), (vec!["awake".to_owned()], vec![]));
    let run = sleeper(100_000);
    assert_eq!((said(&run), broken(&run)), (vec![], vec![]));
    assert!(run.sometimes.keys().any(|case| case.contains("needs more heal-seconds")), "{:?}", run.sometimes);
}

#[test]
fn a_request_that_is_too_long_for_a_server_is_not_the_servers_fault() {
    let trial = scripted(|zk, _, _| async move {
        let _ = zk.set_data(&path("/t"), Data::from(vec![0_u8; 1_200_000]), -1).await;
        std::future::pending().await
    });
    let run = run(&trial, &calm(), 1, &RunOptions::default());
    assert_eq!(broken(&run), Vec::<&str>::new());
    assert_eq!(run.sometimes["a request was longer than a server takes"], 1);
}

/// Whoever waited for one that worked on in short naps was called stuck.
#[test]
fn who_works_with_what_it_has_is_waited_for_and_not_for_ever() {
    let trial = |naps: u32| {
        scripted(move |zk, probe, _| async move {
            probe.observe(Observation::Enters { lock: "/t".into() });
            for _ in 0..naps {
                zk.sleep(Duration::from_secs(4)).await;
                zk.set_data(&path("/t"), Data::NULL, -1).await.expect("there is no fault");
            }
            probe.observe(Observation::Leaves { lock: "/t".into() });
            End::Done
        })
    };
    let ends = |naps| {
        let run = run(&trial(naps), &calm(), 1, &RunOptions::default());
        (run.sometimes.contains_key("somebody was stuck"), run.virtual_ns / 1_000_000_000)
    };
    let (is_stuck, seconds) = ends(90);
    assert!(!is_stuck && seconds >= 360, "{seconds}");
    let (is_stuck, seconds) = ends(900);
    assert!(is_stuck && (1200..1400).contains(&seconds), "{seconds}");
}

/// They began with 0 in a run, and only a model knew that numbers end.
#[test]
fn counters_begin_as_the_trial_says_and_end_where_a_servers_do() {
    let trial = scripted(|zk, probe, role| async move {
        for _ in 0..2 {
            zk.sleep(Duration::from_secs(20)).await;
            let name = path(&format!("/t/p{}-", role.me.process));
            let made = zk.create(&name, Data::NULL, CreateMode::PersistentSequential).await;
            say(&probe, made.map_or_else(|error| format!("{:?}", error.code), |made| made.to_string()));
        }
        End::Done
    });
    let counted = Arc::new(Trial::clone(&trial).counters(&[("/t", i32::MAX - 1)]));
    let crash = Fault::ServerCrash { server: 0, down_ms: 500, mid_sync: false };
    for servers in [1, 3] {
        let scenario = Scenario { clients: 2, servers, ..calm() };
        let run = run_with(&counted, &scenario, 1, &[(30_000, crash.clone())]);
        assert_eq!(broken(&run), [""; 0], "{:?}", run.violations);
        let mut said = said(&run);
        said.sort();
        let numbers: Vec<&str> = said.iter().map(|made| made.rsplit('-').next().unwrap_or(made)).collect();
        assert_eq!(numbers.iter().filter(|number| **number == "2147483646").count(), 1, "{said:?}");
        assert_eq!(numbers.iter().filter(|number| **number == "2147483647").count(), 2, "{said:?}");
        assert_eq!(numbers.iter().filter(|number| **number == "NodeExists").count(), 1, "{said:?}");
    }
}

#[test]
fn some_work_is_over_at_once() {
    let worker = scripted(|_, probe, _| async move {
        for _ in 0..40 {
            probe.work().await;
            say(&probe, "done");
        }
        End::Done
    });
    // Two pieces of four, and the others as short as mostly.
    let choices = [(("swarm".into(), 6, 0), 3), (("swarm".into(), 2, 0), 0)].into();
    let options = RunOptions { trace: true, choices, ..RunOptions::default() };
    let scenario = Scenario { work_ms: [1000, 60_000], fault_seconds: 600, ..calm() };
    let done = times(&run(&worker, &scenario, 1, &options), "Observed GivesUp");
    let at_once = done.windows(2).filter(|two| two[1] - two[0] == 1000).count();
    assert!((12..28).contains(&at_once), "{done:?}");
}

//! Each fault does what it says.

use crate::common::{calm, path, published, run_with, said, say, scripted, times};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, ErrorCode, KeeperState, Request, Response, ZooKeeper};
use zk_harness::event::{End, Resource};
use zk_harness::trial::Trial;
use zk_simulator::schedule::{Loss, Node, RequestKind, When};
use zk_simulator::{Carried, Crossing, Fault, Run, RunOptions, Scenario, run};

/// Makes a znode at one second; says how that ended; once connected again says whether it is there.
fn creator() -> Arc<Trial> {
    scripted(|zk, probe, _| async move {
        zk.sleep(Duration::from_secs(1)).await;
        let created = zk.create(&path("/t/a"), Data::NULL, CreateMode::Persistent).await;
        say(&probe, created.map_or_else(|error| format!("{:?}", error.code), |path| path.to_string()));
        for _ in 0..2 {
            while zk.state() != KeeperState::SyncConnected {
                let _ = zk.state_change().await;
            }
            let there = zk.exists(&path("/t/a")).await.expect("it is connected").is_some();
            say(&probe, if there { "there" } else { "not there" });
            zk.sleep(Duration::from_secs(5)).await;
        }
        End::Done
    })
}

fn drop_at_create(what: Loss) -> Run {
    let when = When::NextRequest(RequestKind::Create);
    let run = run_with(&creator(), &calm(), 1, &[(500, Fault::Drop { client: 0, when, what })]);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run
}

#[test]
fn nothing_is_lost_without_a_fault() {
    assert_eq!(said(&run_with(&creator(), &calm(), 1, &[])), ["/t/a", "there", "there"]);
}

#[test]
fn a_lost_request_is_never_applied() {
    let run = drop_at_create(Loss::RequestsLost);
    assert_eq!(said(&run), ["ConnectionLoss", "not there", "not there"]);
    assert_eq!(run.sometimes["request lost"], 1);
}

#[test]
fn a_lost_answer_is_that_of_a_request_that_was_applied() {
    let run = drop_at_create(Loss::AnswersLost);
    assert_eq!(said(&run), ["ConnectionLoss", "there", "there"]);
}

#[test]
fn a_request_in_flight_is_applied_after_its_client_knows_of_the_loss() {
    let run = drop_at_create(Loss::InFlight { for_ms: 40 });
    assert_eq!(said(&run)[0], "ConnectionLoss");
    let (lost, applied) =
        (times(&run, "State Disconnected"), times(&run, "NodeCreated { path: \"/t/a\", by"));
    assert!(lost[0] < applied[0], "{lost:?} {applied:?}");
    assert_eq!(run.sometimes["request arrived after its client knew of the loss"], 1);
}

#[test]
fn a_request_in_flight_is_dropped_where_the_session_is_back_before_it() {
    // A server that sees the session on a new connection closes the old one.
    let run = drop_at_create(Loss::InFlight { for_ms: 1000 });
    assert_eq!(said(&run), ["ConnectionLoss", "not there", "not there"]);
}

#[test]
fn silence_is_found_out_by_timeouts_alone() {
    let run = drop_at_create(Loss::Silence);
    assert_eq!(said(&run), ["ConnectionLoss", "not there", "not there"]);
    let lost = times(&run, "State Disconnected")[0];
    // Two thirds of the session timeout after the last pong, of which there was one each second.
    assert!((2000..=3100).contains(&lost), "{lost}");
    assert!(times(&run, "p0 Lost c").is_empty(), "nobody was told");
}

/// Sleeps for a second and waits for a watch; says what comes when.
fn waiter() -> Arc<Trial> {
    scripted(|zk, probe, role| async move {
        if role.me.process == 1 {
            zk.sleep(Duration::from_millis(1500)).await;
            let _ = zk.create(&path("/t/a"), Data::NULL, CreateMode::Persistent).await;
            zk.sleep(Duration::from_secs(20)).await;
            return End::Done;
        }
        let (_, watch) = zk.exists_watch(&path("/t/a")).await.expect("it is connected");
        let (sleeper, teller) = (zk.clone(), probe.clone());
        probe.spawn(Box::pin(async move {
            sleeper.sleep(Duration::from_millis(1550)).await;
            say(&teller, format!("slept, {:?}", sleeper.state()));
        }));
        say(&probe, format!("{:?}", watch.await.kind));
        zk.sleep(Duration::from_secs(1)).await;
        say(&probe, format!("{:?}", zk.state()));
        End::Done
    })
}

#[test]
fn what_came_during_a_pause_comes_after_it_timers_first() {
    let scenario = Scenario { clients: 2, ..calm() };
    let run = run_with(
        &waiter(),
        &scenario,
        1,
        &[(1200, Fault::ClientPause { client: 0, when: When::Now, for_ms: 1300 })],
    );
    assert_eq!(said(&run), ["slept, SyncConnected", "NodeCreated", "SyncConnected"]);
    // Nothing before the end of the pause, though the event was there first, and the sleep over next.
    assert_eq!(times(&run, "Observed GivesUp")[..2], [2500, 2500]);
}

#[test]
fn a_pause_may_outlive_the_session_and_who_resumes_does_not_know_it() {
    let scenario = Scenario { clients: 2, ..calm() };
    let run = run_with(
        &waiter(),
        &scenario,
        1,
        &[(1200, Fault::ClientPause { client: 0, when: When::Now, for_ms: 9000 })],
    );
    assert_eq!(said(&run)[0], "slept, SyncConnected");
    let (closed, learned) =
        (times(&run, "GroundTruth SessionClosed")[0], times(&run, "GroundTruth LearnsExpiry")[0]);
    assert!(closed < 6000 && learned > 10_000, "{closed} {learned}");
    assert_eq!(run.sometimes["pause outlived the session"], 1);
}

#[test]
fn a_session_ends_if_its_owner_is_looked_at() {
    let trial = scripted(|zk, probe, role| async move {
        if role.me.life > 0 {
            return End::Done;
        }
        if role.me.process == 1 {
            let _ = zk.create(&path("/t/mine"), Data::NULL, CreateMode::Ephemeral).await;
            while !zk.state().is_final() {
                let _ = zk.state_change().await;
            }
            return End::SessionLost;
        }
        zk.sleep(Duration::from_secs(2)).await;
        let _ = zk.exists(&path("/t/mine")).await;
        zk.sleep(Duration::from_secs(1)).await;
        say(&probe, format!("{:?}", zk.exists(&path("/t/mine")).await.map(|s| s.is_some())));
        End::Done
    });
    let scenario = Scenario { clients: 2, heal_seconds: 5, fault_seconds: 5, ..calm() };
    let run = run_with(&trial, &scenario, 1, &[(1000, Fault::ExpireOwner { reader: 0 })]);
    assert_eq!(said(&run), ["Ok(false)"]);
    assert_eq!(times(&run, "LearnsExpiry { actor: p1 }").len(), 1);
}

#[test]
fn a_slow_disk_and_a_slow_link_delay_answers() {
    let took = |faults: &[(u64, Fault)]| {
        let trial = scripted(|zk, probe, _| async move {
            let _ = zk.exists(&path("/t")).await;
            zk.sleep(Duration::from_secs(1)).await;
            say(&probe, "asked");
            let _ = zk.create(&path("/t/a"), Data::NULL, CreateMode::Persistent).await;
            say(&probe, "created");
            End::Done
        });
        let run = run_with(&trial, &calm(), 1, faults);
        times(&run, "why: \"created")[0] - times(&run, "why: \"asked")[0]
    };
    assert!(took(&[]) < 50);
    assert!(took(&[(500, Fault::SlowSync { server: 0, sync_ms: 400, for_ms: 3000 })]) >= 400);
    let usual = took(&[]);
    let slow = took(&[(500, Fault::SlowLink { client: 0, factor: 50, for_ms: 3000 })]);
    assert!(slow > 5 * usual, "{slow} {usual}");
}

#[test]
fn a_fast_clock_sleeps_less_and_a_jump_shows_in_stats_only() {
    let trial = scripted(|zk, probe, _| async move {
        zk.sleep(Duration::from_secs(1)).await;
        zk.sleep(Duration::from_secs(1)).await;
        say(&probe, "slept");
        for name in ["/t/a", "/t/b"] {
            let made = zk.create2(&path(name), Data::NULL, zk_api::open_acl(), CreateMode::Persistent).await;
            say(&probe, made.expect("it is connected").1.ctime_ms());
            zk.sleep(Duration::from_secs(1)).await;
        }
        End::Done
    });
    let skew = Fault::ClockSkew { node: Node::Client(0), permille: 250 };
    let usual = times(&run_with(&trial, &calm(), 1, &[]), "slept")[0];
    let run = run_with(
        &trial,
        &calm(),
        1,
        &[(1, skew), (2300, Fault::ClockJump { node: Node::Server(0), by_ms: -60_000 })],
    );
    assert!((usual - 405..usual - 300).contains(&times(&run, "slept")[0]), "{usual}");
    let ctimes: Vec<i64> = said(&run)[1..].iter().map(|t| t.parse().unwrap()).collect();
    assert!(ctimes[1] < ctimes[0], "{ctimes:?}");
    assert!(run.violations.is_empty() && times(&run, "Disconnected").is_empty());
}

#[test]
fn crashes_tear_logs_and_no_promised_write_is_lost() {
    let lock = published("lock");
    let mut scenario = Scenario { rounds: 10, ..Scenario::default() };
    scenario.faults =
        zk_simulator::Faults { server_crashes: 20, slow_syncs: 10, ..zk_simulator::Faults::none() };
    let mut sometimes = std::collections::BTreeMap::new();
    for seed in 0..60 {
        let run = run(&lock, &scenario, seed, &RunOptions::default());
        assert!(
            run.violations.iter().all(|v| v.violated_assumption.is_some()),
            "seed {seed}: {:?}",
            run.violations
        );
        assert!(run.tested["acknowledged-writes-survive"] > 10);
        for (case, n) in run.sometimes {
            *sometimes.entry(case).or_insert(0) += n;
        }
    }
    for case in
        ["torn tail cut", "unsynced writes lost", "unacknowledged write recovered", "server restarted"]
    {
        assert!(sometimes.get(case).is_some_and(|n| *n > 0), "{case}: {sometimes:?}");
    }
}

#[test]
fn an_expired_session_fails_with_expired() {
    let trial = scripted(|zk, probe, _| async move {
        let _ = zk.exists(&path("/t")).await;
        zk.sleep(Duration::from_secs(2)).await;
        let code = zk.exists(&path("/t")).await.map_err(|error| error.code);
        say(&probe, format!("{} {:?}", code == Err(ErrorCode::SessionExpired), zk.state()));
        End::Done
    });
    let run = run_with(&trial, &calm(), 1, &[(1000, Fault::Expire { client: 0 })]);
    assert_eq!(said(&run), ["true Expired"]);
}

/// How often this was reached when this fault of the lock's first client is armed from the start, in so many
/// seeds; and in how many seeds a write came too late at the outside resource.
fn aimed(fault: &Fault, case: &str, seeds: u64) -> (u64, u64) {
    let (lock, scenario) = (published("lock"), Scenario { clients: 3, rounds: 2, ..Scenario::default() });
    let (mut reached, mut late) = (0, 0);
    for seed in 0..seeds {
        let run = run_with(&lock, &scenario, seed, &[(0, fault.clone())]);
        assert!(
            run.violations.iter().all(|v| v.violated_assumption.is_some()),
            "seed {seed}: {:?}",
            run.violations
        );
        reached += run.sometimes.get(case).copied().unwrap_or(0);
        late += u64::from(run.violations.iter().any(|v| v.promise == "exclusion-at-unfenced-resource"));
    }
    (reached, late)
}

#[test]
fn an_aimed_pause_stops_a_holder_that_then_writes_too_late() {
    let pause = Fault::ClientPause { client: 0, when: When::NextWork, for_ms: 6000 };
    let (reached, late) = aimed(&pause, "paused while holding", 20);
    assert!(reached == 20 && late > 10, "{reached} {late}");
    let pause = Fault::ClientPause { client: 0, when: When::NextGrant, for_ms: 6000 };
    assert_eq!(aimed(&pause, "paused while holding", 10).0, 10);
}

#[test]
fn an_aimed_crash_takes_a_holder_once() {
    let crash = Fault::ClientCrash { client: 0, when: When::NextGrant, restart_after_ms: 100 };
    assert_eq!(aimed(&crash, "crashed while holding", 10).0, 10);
    let crash =
        Fault::ClientCrash { client: 0, when: When::NextRequest(RequestKind::Create), restart_after_ms: 100 };
    assert_eq!(aimed(&crash, "crashed while holding", 10).0, 0);
}

/// Looks, is idle for six seconds, and says whether its session is still the same.
fn idler() -> Arc<Trial> {
    scripted(|zk, probe, _| async move {
        let _ = zk.exists(&path("/t")).await;
        let session = zk.session();
        zk.sleep(Duration::from_secs(6)).await;
        while zk.state() == KeeperState::Disconnected {
            let _ = zk.state_change().await;
        }
        say(&probe, format!("{:?} {}", zk.state(), zk.session() == session));
        End::Done
    })
}

#[test]
fn a_session_that_comes_back_in_time_lives_for_another_timeout() {
    // Silent from before the pause, and back just before it would expire; silent again until the next ping.
    for silent_ms in [2300, 2500, 2700] {
        let faults = [
            (1200, Fault::ClientPause { client: 0, when: When::Now, for_ms: silent_ms }),
            (1201, Fault::Drop { client: 0, when: When::Now, what: Loss::RequestsLost }),
        ];
        let run = run_with(&idler(), &calm(), 1, &faults);
        assert!(run.violations.is_empty(), "{:?}", run.violations);
        assert_eq!(said(&run), ["SyncConnected true"]);
    }
}

#[test]
fn an_expiry_that_is_due_is_put_to_the_test() {
    let crash = Fault::ClientCrash { client: 0, when: When::Now, restart_after_ms: 100 };
    let run = run_with(&idler(), &calm(), 1, &[(1000, crash)]);
    assert!(run.violations.is_empty() && run.tested["no-early-expiry"] == 1, "{:?}", run.tested);
}

#[test]
fn a_client_whose_clock_jumps_keeps_its_session() {
    for by_ms in [-60_000, -1500, 1500, 60_000] {
        let jump = Fault::ClockJump { node: Node::Client(0), by_ms };
        let run = run_with(&idler(), &calm(), 1, &[(1500, jump)]);
        assert!(run.violations.is_empty(), "{:?}", run.violations);
        assert_eq!(said(&run), ["SyncConnected true"], "{by_ms}");
        assert_eq!(run.sometimes["a client's clock jumped"], 1);
    }
}

#[test]
fn a_session_that_is_back_reads_its_own_write_that_was_under_way() {
    let when = When::NextRequest(RequestKind::Create);
    let faults = [
        (500, Fault::SlowSync { server: 0, sync_ms: 400, for_ms: 3000 }),
        (500, Fault::Drop { client: 0, when, what: Loss::AnswersLost }),
    ];
    let run = run_with(&creator(), &calm(), 1, &faults);
    assert_eq!(said(&run), ["ConnectionLoss", "there", "there"]);
    let (applied, back) =
        (times(&run, "NodeCreated { path: \"/t/a\", by"), times(&run, "State SyncConnected"));
    assert!(back.last() < applied.last(), "it was back before: {back:?} {applied:?}");
}

#[test]
fn a_session_that_is_back_has_its_watches_and_credentials() {
    let trial = scripted(|zk, probe, role| async move {
        if role.me.process == 1 {
            let _ = zk.create(&path("/t/data"), Data::NULL, CreateMode::Persistent).await;
            zk.sleep(Duration::from_secs(6)).await;
            let _ = zk.create(&path("/t/a"), Data::NULL, CreateMode::Persistent).await;
            return End::Done;
        }
        zk.sleep(Duration::from_secs(1)).await;
        let credentials = Data::from("ann:one");
        let _ = zk.submit(Request::Auth { scheme: "digest".into(), credentials }).await;
        let (_, mut unchanged) = zk.data_watch(&path("/t/data")).await.expect("it is connected");
        let (_, created) = zk.exists_watch(&path("/t/a")).await.expect("it is connected");
        say(&probe, format!("{:?}", created.await.kind));
        say(&probe, format!("{:?}", unchanged.try_take()));
        let Ok((Response::WhoAmI(who), _)) = zk.submit(Request::WhoAmI).await else { return End::Failed };
        say(&probe, who.len());
        End::Done
    });
    let scenario = Scenario { clients: 2, ..calm() };
    let lost = Fault::Drop { client: 0, when: When::Now, what: Loss::AnswersLost };
    let run = run_with(&trial, &scenario, 1, &[(4000, lost)]);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    assert_eq!(said(&run), ["NodeCreated", "None", "1"]);
    assert_eq!(times(&run, "p0 State Disconnected").len(), 1);
}

#[test]
fn a_crashed_client_is_gone_from_its_server_at_once_and_comes_back_from_a_pause_too() {
    let faults = [
        (1500, Fault::ClientPause { client: 0, when: When::Now, for_ms: 20_000 }),
        (2000, Fault::ClientCrash { client: 0, when: When::Now, restart_after_ms: 100 }),
    ];
    let run = run_with(&idler(), &calm(), 1, &faults);
    let dropped = times(&run, "s0 Dropped");
    assert!(dropped.iter().any(|at| (2000..2100).contains(at)), "{dropped:?}");
    assert_eq!(said(&run), ["SyncConnected true"]);
    assert!(times(&run, "Observed GivesUp")[0] < 9000);
}

/// Asks one thing after the other.
fn asker() -> Arc<Trial> {
    scripted(|zk, _, _| async move {
        for _ in 0..400 {
            let _ = zk.exists(&path("/t")).await;
        }
        End::Done
    })
}

#[test]
fn what_a_server_sent_before_its_crash_may_arrive_or_not() {
    let case = "answer arrived after its server's crash";
    let (mut arrived, mut lost) = (0, 0);
    for at_ms in 1000..1040 {
        let slow = Fault::SlowLink { client: 0, factor: 10, for_ms: 5000 };
        let crash = Fault::ServerCrash { server: 0, down_ms: 1000, mid_sync: false };
        let run = run_with(&asker(), &calm(), at_ms, &[(500, slow), (at_ms, crash)]);
        assert!(run.violations.is_empty(), "{:?}", run.violations);
        arrived += run.sometimes.get(case).unwrap_or(&0);
        let is_lost = |crossing: &Crossing| {
            let was_sent = crossing.sent_ns < at_ms * 1_000_000 && crossing.arrived_ns.is_none();
            was_sent && matches!(crossing.what, Carried::ToClient(_))
        };
        lost += u64::from(run.crossings.iter().any(is_lost));
    }
    assert!((2..38).contains(&arrived) && (2..38).contains(&lost), "{arrived} {lost}");
}

#[test]
fn what_a_client_sent_before_its_crash_is_served() {
    let when = When::NextRequest(RequestKind::Create);
    let crash = Fault::ClientCrash { client: 0, when, restart_after_ms: 60_000 };
    let run = run_with(&creator(), &calm(), 1, &[(500, crash)]);
    let (crashed, created) =
        (times(&run, "Crashed { actor"), times(&run, "NodeCreated { path: \"/t/a\", by"));
    assert!((crashed[0]..crashed[0] + 500).contains(&created[0]), "{crashed:?} {created:?}");
}

#[test]
fn a_server_that_stands_still_answers_nobody_and_then_ends_sessions_before_it_hears_of_them() {
    let slow = Fault::SlowSync { server: 0, sync_ms: 400, for_ms: 2000 };
    let still = |at_ms, for_ms| (at_ms, Fault::ServerPause { server: 0, for_ms });
    let run = run_with(&creator(), &calm(), 1, &[(500, slow), still(1100, 700)]);
    assert_eq!(said(&run)[0], "/t/a");
    let answered = times(&run, "Observed GivesUp")[0];
    assert!((1800..1900).contains(&answered), "{answered}");
    // By then its client has come again, and waits for its answer.
    let trial = scripted(|zk, probe, _| async move {
        zk.sleep(Duration::from_secs(9)).await;
        say(&probe, format!("{:?}", zk.state()));
        End::Done
    });
    for (for_ms, state) in [(2200, "SyncConnected"), (6000, "Expired")] {
        assert_eq!(said(&run_with(&trial, &calm(), 1, &[still(1000, for_ms)])), [state], "{for_ms}");
    }
}

#[test]
fn nothing_reaches_a_client_on_a_connection_that_has_dropped() {
    let mut in_flight = 0;
    for at_ms in 1000..1040 {
        let slow = Fault::SlowLink { client: 0, factor: 10, for_ms: 5000 };
        let lost = Fault::Drop { client: 0, when: When::Now, what: Loss::AnswersLost };
        let run = run_with(&asker(), &calm(), 1, &[(500, slow), (at_ms, lost)]);
        let mut after = run.trace.iter().skip_while(|line| !line.contains("Fault Drop")).peekable();
        let until_told = after.by_ref().take_while(|line| !line.contains("p0 Lost"));
        in_flight += usize::from(!until_told.into_iter().any(|line| line.contains("p0 Got")));
    }
    assert_eq!(in_flight, 40);
}

#[test]
fn a_disk_does_one_thing_after_the_other() {
    let trial = scripted(|zk, _, _| async move {
        zk.sleep(Duration::from_secs(1)).await;
        for name in 0..60 {
            drop(zk.submit(Request::Create {
                path: format!("/t/{name}").into(),
                data: Data::NULL,
                acl: zk_api::open_acl(),
                mode: CreateMode::Persistent,
                stat: false,
            }));
            zk.sleep(Duration::from_millis(30)).await;
        }
        zk.sleep(Duration::from_secs(2)).await;
        End::Done
    });
    let mut snapshots = 0;
    for seed in 0..8 {
        let slow = Fault::SlowSync { server: 0, sync_ms: 200, for_ms: 30_000 };
        let run = run_with(&trial, &calm(), seed, &[(900, slow)]);
        let synced: Vec<u64> = times(&run, "s0 Synced").into_iter().filter(|at| *at > 1000).collect();
        assert!(synced.windows(2).all(|pair| pair[1] - pair[0] >= 200), "seed {seed}: {synced:?}");
        snapshots += times(&run, "s0 Synced Snapshot").len();
    }
    assert!(snapshots > 0);
}

#[test]
fn when_faults_are_over_nothing_strikes_and_nothing_is_slow() {
    let trial = scripted(|zk, probe, _| async move {
        zk.sleep(Duration::from_secs(8)).await;
        say(&probe, "asked");
        let made = zk.create(&path("/t/a"), Data::NULL, CreateMode::Persistent).await;
        say(&probe, format!("made {}", made.is_ok()));
        End::Done
    });
    let when = When::NextRequest(RequestKind::Create);
    let slow_sync = Fault::SlowSync { server: 0, sync_ms: 400, for_ms: 60_000 };
    let slow_link = Fault::SlowLink { client: 0, factor: 100, for_ms: 60_000 };
    let lost = Fault::Drop { client: 0, when, what: Loss::RequestsLost };
    // Nothing is written between them and the end of faults.
    let of_disk = [
        Fault::DiskError { server: 0, down_ms: 1000 },
        Fault::DiskFull { server: 0, for_ms: 60_000, down_ms: 1000 },
        Fault::ServerCrash { server: 0, down_ms: 1000, mid_sync: true },
    ];
    let [error, full, crash] = of_disk.map(|fault| vec![(4900, fault)]);
    let late = (0..3).map(|server| (4900, Fault::ServerLag { server, factor: 100, for_ms: 60_000 }));
    for (servers, faults) in [
        (1, vec![(4000, slow_sync), (4000, lost)]),
        (1, vec![(4000, slow_link)]),
        (1, error),
        (1, full),
        (1, crash),
        (3, late.collect()),
    ] {
        let scenario = Scenario { fault_seconds: 5, servers, ..calm() };
        let run = run_with(&trial, &scenario, 1, &faults);
        assert_eq!(said(&run), ["asked", "made true"]);
        let took = times(&run, "why: \"made")[0] - times(&run, "why: \"asked")[0];
        assert!(took < 50, "{took} ms with {faults:?}");
    }
}

#[test]
fn a_pause_of_a_client_that_is_down_does_not_strike_its_next_life() {
    let faults = [
        (1000, Fault::ClientCrash { client: 0, when: When::Now, restart_after_ms: 2000 }),
        (2000, Fault::ClientPause { client: 0, when: When::Now, for_ms: 9000 }),
    ];
    let run = run_with(&idler(), &calm(), 1, &faults);
    assert_eq!(said(&run), ["SyncConnected true"]);
    assert!(times(&run, "GroundTruth Paused").is_empty());
}

#[test]
fn what_a_client_wrote_before_its_crash_arrives_at_the_resource() {
    let trial = scripted(|zk, probe, role| async move {
        if role.me.life == 0 {
            zk.sleep(Duration::from_secs(1)).await;
            drop(probe.write(Resource::Unfenced, None));
            let _ = zk.create(&path("/t/a"), Data::NULL, CreateMode::Persistent).await;
        }
        End::Done
    });
    let when = When::NextRequest(RequestKind::Create);
    let crash = Fault::ClientCrash { client: 0, when, restart_after_ms: 1000 };
    let run = run_with(&trial, &calm(), 1, &[(500, crash)]);
    assert_eq!(run.sometimes.get("write arrived after its writer's death"), Some(&1), "{:?}", run.trace);
}

//! The lock on three real servers that are killed and started again while it runs.

use crate::servers::Real;
use std::thread;
use std::time::Duration;
use zoocheck::{Answer, LiveReport, Scenario, Zoo};

fn held(report: &LiveReport) {
    assert_eq!(report.answer, Answer::Held, "{report}");
    println!("{report}");
}

/// So long that a run outlasts what is done to the servers: they need some seconds to come back.
fn scenario(session_timeout_ms: u32) -> Scenario {
    let scenario = Zoo::default().scenario("lock").expect("a recipe");
    Scenario { clients: 4, rounds: 8, work_ms: [100, 1500], session_timeout_ms, ..scenario }
}

fn run(servers: &str, scenario: &Scenario) -> LiveReport {
    Zoo::default().live(scenario, servers, Duration::from_secs(180)).expect("it runs")
}

#[test]
fn the_lock_holds_while_the_leader_and_then_a_follower_are_killed_and_come_back() {
    let Some(real) = Real::start(3) else { return };
    let report = thread::scope(|scope| {
        let run = scope.spawn(|| run(&real.servers, &scenario(6000)));
        thread::sleep(Duration::from_secs(2));
        let leader = real.ask(&["leader"], &[]);
        real.ask(&["kill"], &[&leader]);
        thread::sleep(Duration::from_secs(2));
        real.ask(&["restart"], &[&leader]);
        let follower = if leader == "1" { "2" } else { "1" };
        real.ask(&["kill"], &[follower]);
        thread::sleep(Duration::from_secs(1));
        real.ask(&["restart"], &[follower]);
        run.join().expect("no panic")
    });
    held(&report);
    assert!(
        report.happened.disconnections > 0,
        "every client was at a server that was killed, or lost its leader"
    );
}

#[test]
fn the_lock_holds_while_sessions_are_lost_and_clients_begin_a_second_life() {
    let Some(real) = Real::start(1) else { return };
    let report = thread::scope(|scope| {
        let run = scope.spawn(|| run(&real.servers, &scenario(1000)));
        thread::sleep(Duration::from_secs(2));
        real.ask(&["kill"], &["1"]);
        // Clients give their sessions up after 7/5 of the timeout.
        thread::sleep(Duration::from_secs(4));
        real.ask(&["restart"], &["1"]);
        run.join().expect("no panic")
    });
    held(&report);
    assert_eq!((report.happened.sessions, report.happened.sessions_lost), (8, 4));
}

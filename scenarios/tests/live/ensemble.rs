//! The lock on real servers that are killed and started again while it runs, and behind connections that are cut.

use crate::live::proxy::Proxy;
use crate::live::real::Real;
use crate::live::servers;
use std::thread;
use std::time::Duration;
use zoocheck::reports::CatalogueNote;
use zoocheck::{Answer, Catalogue, LiveReport, Scenario};

fn held(report: &LiveReport) {
    assert_eq!(report.answer, Answer::Held, "{report}");
    println!("{report}");
}

/// So long that a run outlasts what is done to the servers: they need some seconds to come back.
fn scenario(session_timeout_ms: u32) -> Scenario {
    let scenario = Catalogue::default().scenario("lock").expect("a recipe");
    Scenario { clients: 4, rounds: 8, work_ms: [100, 1500], session_timeout_ms, ..scenario }
}

/// A run of another recipe through a proxy that loses the answers of three creates.
fn with_lost_answers(real: &Real, recipe: &str) -> LiveReport {
    let proxy = Proxy::losing(&real.servers, 3);
    let scenario = Scenario { recipe: recipe.into(), work_ms: [0, 50], ..scenario(2000) };
    run(&proxy.address.to_string(), &scenario)
}

fn run(servers: &str, scenario: &Scenario) -> LiveReport {
    Catalogue::default().live(scenario, servers, Duration::from_secs(180)).expect("it runs")
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_lock_holds_while_the_leader_and_then_a_follower_are_killed_and_come_back() {
    let Some(real) = servers(3) else { return };
    let report = thread::scope(|scope| {
        let run = scope.spawn(|| run(&real.servers, &scenario(6000)));
        thread::sleep(Duration::from_secs(2));
        let leader = real.ask("leader", &[]);
        real.ask("kill", &[&leader]);
        thread::sleep(Duration::from_secs(2));
        real.ask("restart", &[&leader]);
        let follower = if leader == "1" { "2" } else { "1" };
        real.ask("kill", &[follower]);
        thread::sleep(Duration::from_secs(1));
        real.ask("restart", &[follower]);
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
    let Some(real) = servers(1) else { return };
    let report = thread::scope(|scope| {
        let run = scope.spawn(|| run(&real.servers, &scenario(4000)));
        thread::sleep(Duration::from_secs(2));
        real.ask("kill", &["1"]);
        // Clients give their sessions up after 7/5 of the timeout.
        thread::sleep(Duration::from_secs(8));
        real.ask("restart", &["1"]);
        run.join().expect("no panic")
    });
    held(&report);
    assert_eq!((report.happened.sessions, report.happened.sessions_lost), (8, 4));
}

#[test]
fn the_lock_holds_while_connections_are_cut_and_answers_are_lost() {
    let Some(real) = servers(1) else { return };
    let proxy = Proxy::before(&real.servers);
    let report = thread::scope(|scope| {
        let servers = proxy.address.to_string();
        let scenario = Scenario { work_ms: [0, 300], ..scenario(10_000) };
        let run = scope.spawn(move || run(&servers, &scenario));
        let mut wait_ms = 300;
        while !run.is_finished() {
            // At other points of what the clients do each time.
            wait_ms = 200 + (wait_ms * 7 + 13) % 300;
            thread::sleep(Duration::from_millis(wait_ms));
            proxy.cut();
        }
        run.join().expect("no panic")
    });
    held(&report);
    assert!(report.happened.disconnections >= 8, "{report}");
    assert_eq!(report.happened.sessions, 4, "no session is lost by a cut");
}

#[test]
fn lost_answers_break_the_lock_without_guids_and_not_the_one_with() {
    let Some(real) = servers(1) else { return };
    let right = with_lost_answers(&real, "lock");
    held(&right);
    assert!(right.happened.disconnections >= 3, "{right}");
    let wrong = with_lost_answers(&real, "lock/no-guid");
    assert_eq!(wrong.answer, Answer::Broken, "{wrong}");
    // Its own znode, of which it does not know, stands before it: one too many, and everybody behind it waits.
    assert!(matches!(wrong.catalogue_note(), Some(CatalogueNote::AsCatalogued(_))), "{wrong}");
    println!("{wrong}");
}

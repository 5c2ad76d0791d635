//! Several servers: who leads, what a partition does, and that the invariants would see a bug.

use crate::common::{calm, path, published, run_with, said, say, scripted, times};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, KeeperState, ZooKeeper};
use zk_harness::event::End;
use zk_harness::trial::Trial;
use zk_proto::message::ToServer;
use zk_proto::mutant::Mutant;
use zk_simulator::schedule::TimedFault;
use zk_simulator::timeline::Place;
use zk_simulator::{
    Carried, Crossing, Fault, Faults, Run, RunOptions, Scenario, Schedule, run, run_schedule,
};

fn servers(servers: u8) -> Scenario {
    Scenario { servers, observers: 0, ..Scenario::default() }
}

fn calm_with(servers: u8) -> Scenario {
    Scenario { servers, ..calm() }
}

/// Creates a znode each second for twelve seconds, and says how many were acknowledged and how many are there.
fn writer() -> Arc<Trial> {
    scripted(|zk, probe, _| async move {
        let mut acknowledged = 0;
        for n in 0..12 {
            while zk.state() != KeeperState::SyncConnected {
                let _ = zk.state_change().await;
            }
            let created = zk.create(&path(&format!("/t/n{n}")), Data::NULL, CreateMode::Persistent).await;
            acknowledged += u32::from(created.is_ok());
            zk.sleep(Duration::from_secs(1)).await;
        }
        while zk.state() != KeeperState::SyncConnected {
            let _ = zk.state_change().await;
        }
        let _ = zk.sync(&path("/t")).await;
        let there = zk.children(&path("/t")).await.expect("it is connected").len();
        say(&probe, if there >= acknowledged as usize { "nothing was lost" } else { "something was lost" });
        say(&probe, if acknowledged >= 8 { "it served" } else { "it hardly served" });
        End::Done
    })
}

/// Who began to lead, and when, in milliseconds. Short epochs end by themselves, too.
fn led(run: &Run) -> Vec<(u64, u8)> {
    let lines = run.trace.iter().filter(|line| line.contains(" Leads "));
    let server = |line: &String| line.split(' ').nth(1).and_then(|place| place[1..].parse().ok());
    times(run, " Leads ")
        .into_iter()
        .zip(lines)
        .map(|(ms, line)| (ms, server(line).expect("a place")))
        .collect()
}

/// Who led last before a time, and first after it.
fn around(run: &Run, ms: u64) -> (u8, u8) {
    let led = led(run);
    let before = led.iter().rfind(|(at, _)| *at <= ms).expect("somebody led");
    let after = led.iter().find(|(at, _)| *at > ms).expect("somebody leads again");
    (before.1, after.1)
}

fn with_faults(count: u8, faults: &[(u64, Fault)]) -> Run {
    let run = run_with(&writer(), &calm_with(count), 1, faults);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run
}

#[test]
fn ensembles_of_every_size_serve_and_keep_what_they_acknowledge() {
    for count in 1..=5 {
        assert_eq!(said(&with_faults(count, &[])), ["nothing was lost", "it served"], "{count} servers");
    }
}

#[test]
fn another_leads_when_the_leader_crashes_and_nothing_is_lost() {
    let crash = Fault::LeaderCrash { down_ms: 6000, mid_sync: false };
    let run = with_faults(3, &[(4000, crash)]);
    assert_eq!(said(&run), ["nothing was lost", "it served"]);
    let (before, after) = around(&run, 4000);
    assert_ne!(before, after);
}

#[test]
fn a_leader_that_is_cut_off_is_replaced_and_follows_when_it_is_back() {
    let run = with_faults(3, &[]);
    let (_, first) = *led(&run).iter().rfind(|(at, _)| *at <= 4000).expect("somebody leads");
    let others = (0..3).filter(|server| *server != first);
    let cut = others.flat_map(|other| [[first, other], [other, first]]).collect();
    let run = with_faults(3, &[(4000, Fault::Partition { cut, for_ms: 7000 })]);
    assert_eq!(said(&run), ["nothing was lost", "it served"]);
    assert!(around(&run, 4000).1 != first);
    assert!(run.sometimes["server lost its leader"] >= 1, "{:?}", run.sometimes);
}

#[test]
fn clients_are_at_different_servers() {
    let run = run_with(&writer(), &Scenario { clients: 5, ..calm_with(3) }, 1, &[]);
    let first = |process| {
        let asks = |crossing: &&Crossing| matches!(crossing.what, Carried::ToServer(ToServer::Connect(_)));
        let mut asks = run.crossings.iter().filter(asks);
        asks.find(|asks| matches!(asks.from, Place::Client(it) if it.process == process)).map(|asks| asks.to)
    };
    assert!((1..5).any(|process| first(process) != first(0)));
}

/// In some runs; in others it arrives.
#[test]
fn what_a_leader_sent_before_its_crash_may_be_lost() {
    let loses = |seed| {
        let at_ms = 3500 + 25 * (seed % 12);
        let slow = (0..3).map(|server| (3000, Fault::ServerLag { server, factor: 100, for_ms: 2000 }));
        let crash = (at_ms, Fault::LeaderCrash { down_ms: 6000, mid_sync: false });
        let run = run_with(&writer(), &calm_with(3), seed, &slow.chain([crash]).collect::<Vec<_>>());
        let (_, leader) = *led(&run).iter().rfind(|(at, _)| *at <= at_ms).expect("somebody leads");
        run.crossings.iter().any(|crossing| {
            let was_on_its_way = (at_ms - 1000..at_ms).contains(&(crossing.sent_ns / 1_000_000));
            let is_lost = was_on_its_way && crossing.arrived_ns.is_none();
            is_lost && crossing.from == Place::Server(leader) && matches!(crossing.what, Carried::ToPeer(_))
        })
    };
    assert!((0..30).any(loses));
}

#[test]
fn datagrams_of_an_election_are_lost_now_and_then_and_come_again() {
    let mut reached = [0; 2];
    for seed in 0..8 {
        let crash = Fault::LeaderCrash { down_ms: 6000, mid_sync: false };
        let run = run_with(&writer(), &calm_with(3), seed, &[(4000, crash)]);
        for (case, times) in ["lost", "repeated"].iter().zip(&mut reached) {
            *times += run.sometimes.get(&*format!("datagram between servers {case}")).unwrap_or(&0);
        }
    }
    assert!(reached.iter().all(|times| *times > 0), "{reached:?}");
}

#[test]
fn no_datagram_gets_over_a_cut_that_began_while_it_was_on_its_way() {
    let slow = Scenario { latency_ms: [50.0, 50.0], ..calm_with(3) };
    let crash = (4000, Fault::LeaderCrash { down_ms: 6000, mid_sync: false });
    let notified = "s0 Notified by s";
    let run = run_with(&writer(), &slow, 1, std::slice::from_ref(&crash));
    let first = times(&run, notified).into_iter().find(|at| *at > 4000).expect("it votes anew");
    let cut = vec![[1, 0], [2, 0]];
    let run = run_with(&writer(), &slow, 1, &[crash, (first - 20, Fault::Partition { cut, for_ms: 500 })]);
    let heard = times(&run, notified);
    assert!(!heard.iter().any(|at| (first - 20..first + 480).contains(at)), "{first} {heard:?}");
}

#[test]
fn what_is_on_its_way_over_a_link_that_breaks_is_lost() {
    let slow = Scenario { latency_ms: [50.0, 50.0], ..calm_with(3) };
    let over = |crossing: &&Crossing| {
        crossing.sent_ns > 4_000_000_000 && matches!(crossing.what, Carried::ToPeer(_))
    };
    let run = run_with(&writer(), &slow, 1, &[]);
    let crossing = run.crossings.iter().find(over).expect("a leader pings");
    let (sent_ns, ends) = (crossing.sent_ns, (crossing.from, crossing.to));
    let (Place::Server(from), Place::Server(to)) = ends else { panic!("{ends:?}") };
    let at_ms = sent_ns / 1_000_000 + 10;
    let run = run_with(&writer(), &slow, 1, &[(at_ms, Fault::LinkBreak { between: [from, to] })]);
    let same = |it: &&Crossing| it.sent_ns == sent_ns && (it.from, it.to) == ends;
    assert_eq!(run.crossings.iter().find(same).map(|it| it.arrived_ns), Some(None));
}

#[test]
fn a_link_may_break_behind_the_state_of_a_leader() {
    let faults = Faults { link_breaks: 1, ..Faults::none() };
    let scenario = Scenario { faults, ..calm_with(3) };
    // Who lacks two transactions needs a snapshot, and the link breaks behind the first that each is sent.
    let pairs = [0x0001, 0x0002, 0x0100, 0x0102, 0x0200, 0x0201];
    let breaks = pairs.map(|pair| (("datagram".to_owned(), 1 << 32 | pair, 0), 0));
    let choices = breaks.into_iter().chain([(("swarm".to_owned(), 40, 0), 3)]).collect();
    let options = RunOptions { choices, ..RunOptions::default() };
    let crash = Fault::LeaderCrash { down_ms: 4000, mid_sync: false };
    let schedule = Schedule { faults: vec![TimedFault { at_ms: 4000, fault: crash }] };
    let run = run_schedule(&writer(), &scenario, 1, &schedule, &options);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    assert!(run.sometimes.get("link broke behind a leader's state") > Some(&0), "{:?}", run.sometimes);
}

#[test]
fn without_a_quorum_nobody_serves_and_with_it_everybody_does_again() {
    let cut = (0..3).flat_map(|a| (0..3).map(move |b| [a, b])).filter(|[a, b]| a != b).collect();
    let run = with_faults(3, &[(4000, Fault::Partition { cut, for_ms: 9000 })]);
    assert_eq!(said(&run)[0], "nothing was lost");
    assert!(run.sometimes["server lost its leader"] >= 3, "{:?}", run.sometimes);
}

#[test]
fn a_leader_that_stands_still_for_long_finds_another_in_its_place() {
    let run = with_faults(3, &[(4000, Fault::LeaderPause { for_ms: 6000 })]);
    assert_eq!(said(&run), ["nothing was lost", "it served"]);
    let (before, after) = around(&run, 4000);
    assert_ne!(before, after);
}

#[test]
fn seeds_of_every_size_hold_and_are_the_same_again() {
    for (count, observers) in [(2, 0), (3, 0), (4, 0), (5, 0), (1, 1), (3, 2)] {
        for seed in 0..12 {
            let scenario = Scenario { observers, ..servers(count) };
            let once = || run(&published("lock"), &scenario, seed, &RunOptions::default());
            let first = once();
            assert!(
                first.violations.iter().all(|v| v.violated_assumption.is_some()),
                "{seed}: {:?}",
                first.violations
            );
            assert_eq!(first, once(), "{count} servers, {observers} observers, seed {seed}");
        }
    }
}

/// What is broken first in some of the first seeds with a bug planted, by name.
fn broken_by(mutant: Mutant) -> Vec<&'static str> {
    let options = RunOptions { mutant: Some(mutant), check_always: true, ..RunOptions::default() };
    let runs = (0..20).map(|seed| run(&published("lock"), &servers(3), seed, &options));
    let first = |run: Run| {
        let acted = run.deviations > 0;
        let first = run.violations.into_iter().find(|violation| violation.violated_assumption.is_none());
        assert!(first.is_none() || acted, "broken without the bug: {first:?}");
        first.map(|violation| violation.promise)
    };
    runs.filter_map(first).collect()
}

#[test]
fn planted_bugs_are_found_by_name_and_the_canary_is_not() {
    for mutant in [Mutant::AcknowledgeBeforeHistory, Mutant::EpochAtUpToDate, Mutant::ProposesTwice] {
        let broken = broken_by(mutant);
        assert!(broken.iter().any(|name| mutant.family().contains(name)), "{}: {broken:?}", mutant.name());
    }
    assert_eq!(broken_by(Mutant::Canary), [""; 0]);
}

/// Where epochs of eight transactions followed each other for ever, servers were called broken that elected as the run
/// was over, in a third of the seeds.
#[test]
fn somebody_who_writes_without_an_end_does_not_keep_servers_from_serving() {
    let trial = scripted(|zk, _, _| async move {
        loop {
            let _ = zk.set_data(&path("/t"), Data::NULL, -1).await;
            zk.sleep(Duration::from_millis(50)).await;
        }
    });
    let scenario = Scenario { servers: 3, clients: 3, fault_seconds: 5, heal_seconds: 20, ..calm() };
    for seed in 0..24 {
        let run = run(&trial, &scenario, seed, &RunOptions::default());
        assert!(run.violations.is_empty(), "seed {seed}: {:?}", run.violations);
    }
}

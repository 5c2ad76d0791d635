//! Recipe models use `Service` in the place of an ensemble: it must allow all that the world shows its clients.
//!
//! What it is known not to allow yet is [`KNOWN`]; anything else that it rejects fails here. `SERVICE_SEEDS=1000 cargo
//! test -p zoocheck --test service -- --ignored --nocapture` goes through more seeds and all kinds of runs, and prints
//! what came of it.
#![cfg(feature = "run")]

use std::collections::BTreeMap;
use zk_model::accept::{Accepted, Narrowed, Rejection, Why, accept};
use zk_proto::visible::Step;
use zk_world::{Faults, RunOptions, Scenario};

/// What several servers show now and then and `Service` does not allow, as ARCHITECTURE.md has it.
const KNOWN: [Why; 3] = [Why::ConnectedAfterTheEnd, Why::ServedAfterTheEnd, Why::ViewGoesBack];

/// What the clients of a run of the lock saw.
fn record(scenario: &Scenario, seed: u64) -> Vec<Step> {
    let options = RunOptions { visible: true, ..RunOptions::default() };
    let trials = zk_trials::catalogue();
    let lock = trials.iter().find(|trial| trial.about().name == scenario.recipe).expect("the lock");
    zk_world::run(lock, scenario, seed, &options).visible
}

fn faulty(servers: u8) -> Scenario {
    Scenario { servers, ..Scenario::default() }
}

fn calm(servers: u8) -> Scenario {
    Scenario { faults: Faults::none(), ..faulty(servers) }
}

/// That of the suite in which everything of an ensemble fails.
fn suite() -> Scenario {
    let path = format!("{}/suite/ensemble.toml", env!("CARGO_MANIFEST_DIR"));
    toml::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("a scenario")
}

/// Those of the first seeds whose records are rejected, and why; and what was in the others.
fn rejected(
    scenario: &Scenario,
    seeds: u64,
    narrowed: Option<Narrowed>,
) -> (BTreeMap<u64, Rejection>, Vec<Accepted>) {
    let (mut rejected, mut accepted) = (BTreeMap::new(), Vec::new());
    for seed in 0..seeds {
        match accept(&record(scenario, seed), narrowed) {
            Ok(what) => accepted.push(what),
            Err(rejection) => {
                rejected.insert(seed, rejection);
            }
        }
    }
    (rejected, accepted)
}

/// How often something was in what was accepted.
fn sum(accepted: &[Accepted], of: impl Fn(&Accepted) -> usize) -> usize {
    accepted.iter().map(of).sum()
}

#[test]
fn service_allows_all_that_one_server_shows() {
    let (rejected, accepted) = rejected(&faulty(1), 40, None);
    assert_eq!(rejected, BTreeMap::new());
    for (what, of) in [
        ("answers", (|a| a.answers) as fn(&Accepted) -> usize),
        ("events", |a| a.events),
        ("writes of lost connections", |a| a.late_writes),
        ("losses", |a| a.losses),
        ("expiries", |a| a.expiries),
    ] {
        assert!(sum(&accepted, of) > 0, "no {what} were looked at");
    }
}

#[test]
fn service_allows_all_that_three_calm_servers_show() {
    let (rejected, accepted) = rejected(&calm(3), 40, None);
    assert_eq!(rejected, BTreeMap::new());
    assert!(sum(&accepted, |a| a.stale_reads) > 0, "no view lagged");
}

#[test]
fn what_three_faulty_servers_show_is_allowed_but_for_what_is_known() {
    let (rejected, accepted) = rejected(&faulty(3), 40, None);
    for (seed, rejection) in &rejected {
        assert!(KNOWN.contains(&rejection.why), "seed {seed}: {rejection}");
    }
    assert!(accepted.len() >= 38, "only {} of 40 are accepted: {rejected:?}", accepted.len());
    assert!(sum(&accepted, |a| a.stale_reads) > 0 && sum(&accepted, |a| a.late_writes) > 0);
}

/// The first seed that `Service` accepts and the narrowed one does not.
fn told_apart(scenario: &Scenario, narrowed: Narrowed) -> Option<(u64, Why)> {
    (0..400).find_map(|seed| {
        let steps = record(scenario, seed);
        let rejection = accept(&steps, Some(narrowed)).err()?;
        accept(&steps, None).is_ok().then_some((seed, rejection.why))
    })
}

#[test]
fn a_service_without_lag_is_found_out() {
    let (_, why) = told_apart(&calm(3), Narrowed::NoLag).expect("some view lags");
    assert!(matches!(why, Why::ViewGoesBack | Why::DifferentAnswer | Why::DifferentEvent), "{why:?}");
    assert_eq!(told_apart(&calm(1), Narrowed::NoLag), None, "a single server lags behind nobody");
}

#[test]
fn a_service_whose_syncs_tell_the_truth_is_found_out() {
    let (_, why) = told_apart(&suite(), Narrowed::SyncsTellTheTruth).expect("some sync lies");
    assert_eq!(why, Why::ViewGoesBack);
}

#[test]
fn a_service_in_which_nobody_is_told_of_a_false_end_is_found_out() {
    let (_, why) = told_apart(&faulty(3), Narrowed::NoFalseEnds).expect("some end is none");
    assert_eq!(why, Why::ExpiryThatWasNot);
}

#[test]
fn a_service_that_never_loses_an_answer_is_found_out() {
    for servers in [1, 3] {
        let (_, why) = told_apart(&faulty(servers), Narrowed::AnswersNeverLost).expect("some answer is lost");
        assert_eq!(why, Why::LostAnswer);
    }
}

#[test]
fn a_service_that_never_ends_a_session_before_its_answers_is_found_out() {
    for servers in [1, 3] {
        let (_, why) =
            told_apart(&faulty(servers), Narrowed::NoExpiryBeforeAnswer).expect("some session ends");
        assert_eq!(why, Why::ExpiryBeforeAnswer);
    }
}

#[test]
#[ignore = "takes long, and prints"]
fn survey() {
    let seeds = std::env::var("SERVICE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let mut scenarios = vec![("suite/ensemble".to_owned(), suite())];
    for servers in [1, 2, 3, 5] {
        scenarios.push((format!("{servers}, calm"), calm(servers)));
        scenarios.push((format!("{servers}, faulty"), faulty(servers)));
    }
    for (name, scenario) in scenarios {
        for narrowed in [None].into_iter().chain(Narrowed::ALL.map(Some)) {
            let (rejected, accepted) = rejected(&scenario, seeds, narrowed);
            let mut whys: BTreeMap<Why, Vec<u64>> = BTreeMap::new();
            rejected.iter().for_each(|(seed, what)| whys.entry(what.why).or_default().push(*seed));
            let counts: Vec<_> = whys.iter().map(|(why, seeds)| format!("{why:?} {}", seeds.len())).collect();
            println!("{name}, {narrowed:?}: {} accepted, rejected: {}", accepted.len(), counts.join(", "));
            if narrowed.is_none() {
                let of = |of: fn(&Accepted) -> usize| sum(&accepted, of);
                println!(
                    "  answers {}, events {}, writes {} (late {}), losses {}, expiries {} (false {}, connects {}), stale {}, ahead {}",
                    of(|a| a.answers),
                    of(|a| a.events),
                    of(|a| a.writes),
                    of(|a| a.late_writes),
                    of(|a| a.losses),
                    of(|a| a.expiries),
                    of(|a| a.false_ends),
                    of(|a| a.early_connects),
                    of(|a| a.stale_reads),
                    of(|a| a.ahead)
                );
                println!("  {whys:?}");
                for seeds in whys.values() {
                    println!("  seed {}: {}", seeds[0], rejected[&seeds[0]]);
                }
            }
        }
    }
}

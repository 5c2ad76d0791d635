//! Recipe models use `Service` in the place of an ensemble: it must allow all that the simulator shows its clients.
//!
//! `cargo test -p zoocheck --test all service:: -- --ignored --nocapture` goes through a seed of every trial of the
//! catalogue in every kind of run, asks the restricted ones as well, and prints what came of it.
#![cfg(feature = "run")]

use std::collections::BTreeMap;
use std::ops::Range;
use zk_model::trace_validation::{Accepted, Rejection, Restriction, Why, validate};
use zk_proto::visible::VisibleStep;
use zk_simulator::{Faults, RunOptions, Scenario, SyncRule};

/// Among so many seeds of the suite's ensemble there are stale syncs.
const SYNC_SEEDS: u64 = 150;

/// What the clients of a run of the lock saw.
fn record(scenario: &Scenario, seed: u64) -> Vec<VisibleStep> {
    let options = RunOptions { visible: true, ..RunOptions::default() };
    let trials = zk_catalogue::trials();
    let lock = trials.iter().find(|trial| trial.about.name == scenario.recipe).expect("the lock");
    zk_simulator::run(lock, scenario, seed, &options).visible
}

fn faulty(servers: u8) -> Scenario {
    Scenario { servers, observers: 0, ..Scenario::default() }
}

fn calm(servers: u8) -> Scenario {
    Scenario { faults: Faults::none(), ..faulty(servers) }
}

/// That of the suite in which everything of an ensemble fails, for a lock that asks for syncs: the right one does not.
fn suite() -> Scenario {
    let suite = suites().remove("ensemble").expect("it is there");
    Scenario { recipe: "lock/behind-sync".to_owned(), ..suite }
}

/// The whole suite, by name.
fn suites() -> BTreeMap<String, Scenario> {
    let files = std::fs::read_dir(format!("{}/suite", env!("CARGO_MANIFEST_DIR"))).expect("it is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let scenario = |path: std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, toml::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("a scenario"))
    };
    paths.map(scenario).collect()
}

/// Servers that differ as often as they can, sessions that are short, clients that move: what only such runs show.
fn rough() -> Scenario {
    Scenario {
        clients: 8,
        rounds: 5,
        session_timeout_ms: 1500,
        latency_ms: [0.1, 60.0],
        work_ms: [0, 1000],
        fault_seconds: 60,
        faults: Faults {
            server_crashes: 3,
            slow_syncs: 6,
            drops: 40,
            slow_links: 12,
            expiries: 12,
            leader_crashes: 4,
            partitions: 8,
            server_pauses: 8,
            server_lags: 12,
            link_breaks: 6,
            ..Faults::default()
        },
        ..faulty(3)
    }
}

/// Those of the first seeds whose records are rejected, and why; and what was in the others.
type Judged = (BTreeMap<u64, Rejection>, Vec<Accepted>);

fn rejected(scenario: &Scenario, seeds: u64, restriction: Option<Restriction>) -> Judged {
    judged(scenario, 0..seeds, &[restriction]).remove(0)
}

/// The same of each of some `Service`s: each seed is run once.
fn judged(scenario: &Scenario, seeds: Range<u64>, services: &[Option<Restriction>]) -> Vec<Judged> {
    let mut all: Vec<Judged> = services.iter().map(|_| Judged::default()).collect();
    for seed in seeds {
        let steps = record(scenario, seed);
        for (restriction, (rejected, accepted)) in services.iter().zip(&mut all) {
            match validate(&steps, *restriction) {
                Ok(what) => accepted.push(what),
                Err(rejection) => {
                    rejected.insert(seed, rejection);
                }
            }
        }
    }
    all
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
fn service_allows_all_that_three_faulty_servers_show() {
    let (rejected, accepted) = rejected(&faulty(3), 40, None);
    assert_eq!(rejected, BTreeMap::new());
    assert!(sum(&accepted, |a| a.stale_reads) > 0 && sum(&accepted, |a| a.late_writes) > 0);
    assert!(sum(&accepted, |a| a.went_back) > 0 && sum(&accepted, |a| a.false_expiries) > 0);
}

#[test]
fn service_allows_all_that_servers_show_dead_sessions() {
    let (rejected, accepted) = rejected(&rough(), 40, None);
    assert_eq!(rejected, BTreeMap::new());
    assert!(sum(&accepted, |a| a.served_after_the_end) > 0, "no dead session was served");
}

/// The names of the catalogue, each with a first seed of its own: a seed says which faults a run has at all.
fn recipes() -> impl Iterator<Item = (u64, String)> {
    (0..).zip(zk_catalogue::trials().into_iter().map(|trial| trial.about.name.to_owned()))
}

#[test]
fn service_allows_all_that_rough_servers_show_the_clients_of_every_trial() {
    let mut late = 0;
    for (seed, recipe) in recipes() {
        let scenario = Scenario { recipe, ..rough() };
        let (rejected, accepted) = judged(&scenario, seed..seed + 2, &[None]).remove(0);
        assert_eq!(rejected, BTreeMap::new(), "{}", scenario.recipe);
        late += sum(&accepted, |a| a.registered_late);
    }
    assert!(late > 0, "no watch came late to its server");
}

/// In turns, so that every trial is in some kinds, and every kind has some trials.
#[test]
fn service_allows_all_that_the_clients_of_every_trial_see_in_every_kind_of_run() {
    let kinds = kinds();
    for (seed, recipe) in recipes() {
        for turn in [seed as usize, seed as usize + kinds.len() / 2] {
            let (name, scenario) = &kinds[turn % kinds.len()];
            let scenario = Scenario { recipe: recipe.clone(), ..scenario.clone() };
            let (rejected, accepted) = judged(&scenario, seed..seed + 1, &[None]).remove(0);
            assert_eq!(rejected, BTreeMap::new(), "{recipe}, {name}");
            assert!(sum(&accepted, |a| a.answers) > 0, "{recipe}, {name}");
        }
    }
}

/// The first seed that `Service` accepts and the restricted one does not.
fn told_apart(scenario: &Scenario, restriction: Restriction) -> Option<(u64, Why)> {
    (0..400).find_map(|seed| {
        let steps = record(scenario, seed);
        let rejection = validate(&steps, Some(restriction)).err()?;
        validate(&steps, None).is_ok().then_some((seed, rejection.why))
    })
}

#[test]
fn a_service_without_lag_is_found_out() {
    let (_, why) = told_apart(&calm(3), Restriction::NoLag).expect("some view lags");
    assert!(matches!(why, Why::ViewGoesBack | Why::DifferentAnswer | Why::DifferentEvent), "{why:?}");
    assert_eq!(told_apart(&calm(1), Restriction::NoLag), None, "a single server lags behind nobody");
}

#[test]
fn a_service_whose_syncs_tell_the_truth_is_found_out() {
    let (_, why) = told_apart(&suite(), Restriction::NoStaleSyncs).expect("some sync is stale");
    assert_eq!(why, Why::ViewGoesBack);
}

/// What a client owes to syncs that tell the truth is kept where a leader asks a quorum, and nowhere else.
#[test]
fn syncs_that_ask_a_quorum_tell_the_truth() {
    let restriction = Some(Restriction::NoStaleSyncs);
    let stale = |sync| {
        let scenario = Scenario { sync, ..suite() };
        let (rejected, accepted) = judged(&scenario, 0..SYNC_SEEDS, &[restriction]).remove(0);
        assert!(sum(&accepted, |a| a.stale_reads) > 0, "no view lagged");
        rejected
    };
    assert!(!stale(SyncRule::AsShipped).is_empty(), "no sync was stale");
    assert_eq!(stale(SyncRule::AsksQuorum), BTreeMap::new());
}

/// The same, as a recipe sees it.
#[test]
fn who_relies_on_a_sync_is_broken_as_shipped_and_not_where_a_leader_asks_a_quorum() {
    let trials = zk_catalogue::trials();
    let relies = trials.iter().find(|trial| trial.about.name == "configuration/sync-asks-nobody");
    let relies = relies.expect("it is there");
    let broken = |sync| {
        let scenario = Scenario { recipe: relies.about.name.to_owned(), sync, ..suite() };
        let runs =
            (0..SYNC_SEEDS).map(|seed| zk_simulator::run(relies, &scenario, seed, &RunOptions::default()));
        let broken =
            runs.filter(|run| run.violations.iter().any(|violation| violation.violated_assumption.is_none()));
        broken.count()
    };
    assert!(broken(SyncRule::AsShipped) > 0);
    assert_eq!(broken(SyncRule::AsksQuorum), 0);
}

#[test]
fn a_service_in_which_nobody_is_told_of_a_false_expiry_is_found_out() {
    let (_, why) = told_apart(&faulty(3), Restriction::NoFalseExpiries).expect("some end is none");
    assert_eq!(why, Why::ExpiryThatWasNot);
}

#[test]
fn a_service_that_knows_of_every_end_at_once_is_found_out() {
    let (_, why) =
        told_apart(&rough(), Restriction::EndsAreKnownAtOnce).expect("some dead session is served");
    assert_eq!(why, Why::ServedAfterTheEnd);
}

/// The lock gives up its watches when it learns that its connection is lost. This one does not.
fn with_watches() -> Scenario {
    Scenario { recipe: "lock/simple".to_owned(), ..rough() }
}

#[test]
fn a_service_whose_watches_come_at_once_is_found_out() {
    let (_, why) =
        told_apart(&with_watches(), Restriction::WatchesComeAtOnce).expect("some watch comes late");
    assert_eq!(why, Why::DifferentEvent);
}

#[test]
fn a_service_that_never_loses_an_answer_is_found_out() {
    for servers in [1, 3] {
        let (_, why) =
            told_apart(&faulty(servers), Restriction::AnswersNeverLost).expect("some answer is lost");
        assert_eq!(why, Why::LostAnswer);
    }
}

#[test]
fn a_service_that_never_ends_a_session_before_its_answers_is_found_out() {
    for servers in [1, 3] {
        let (_, why) =
            told_apart(&faulty(servers), Restriction::NoExpiryBeforeAnswer).expect("some session ends");
        assert_eq!(why, Why::ExpiryBeforeAnswer);
    }
}

/// The kinds of runs: as rough as they get and the whole suite, each on 1, 3 and 5 servers.
fn kinds() -> Vec<(String, Scenario)> {
    let rough = [("rough".to_owned(), rough())];
    let all = rough.into_iter().chain(suites().into_iter().map(|(name, it)| (format!("suite/{name}"), it)));
    let on = |(name, scenario): (String, Scenario)| {
        [1, 3, 5].map(|servers| (format!("{name} on {servers}"), Scenario { servers, ..scenario.clone() }))
    };
    all.flat_map(on).collect()
}

#[test]
#[ignore = "takes long, and prints"]
fn survey() {
    let services: Vec<Option<Restriction>> =
        [None].into_iter().chain(Restriction::ALL.iter().copied().map(Some)).collect();
    let mut wrong = Vec::new();
    for (name, scenario) in kinds() {
        let mut all: Vec<(Vec<Accepted>, BTreeMap<Why, usize>)> = vec![Default::default(); services.len()];
        for (first, recipe) in recipes() {
            let scenario = Scenario { recipe: recipe.clone(), ..scenario.clone() };
            let judged = judged(&scenario, first..first + 1, &services);
            for (nth, (rejected, accepted)) in judged.into_iter().enumerate() {
                all[nth].0.extend(accepted);
                rejected.values().for_each(|what| *all[nth].1.entry(what.why).or_default() += 1);
                let told = rejected.iter().filter(|_| nth == 0);
                let told = told.map(|(seed, what)| format!("{recipe}, {name}, seed {seed}: {what}"));
                wrong.extend(told.inspect(|wrong| println!("  {wrong}")));
            }
        }
        for (restriction, (accepted, whys)) in services.iter().zip(&all) {
            println!("{name}, {restriction:?}: {} accepted, rejected: {whys:?}", accepted.len());
            if restriction.is_none() {
                println!("  {:?}", total(accepted));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// What was in all of them.
fn total(accepted: &[Accepted]) -> Accepted {
    let of = |of: fn(&Accepted) -> usize| sum(accepted, of);
    Accepted {
        answers: of(|a| a.answers),
        events: of(|a| a.events),
        writes: of(|a| a.writes),
        late_writes: of(|a| a.late_writes),
        losses: of(|a| a.losses),
        expiries: of(|a| a.expiries),
        false_expiries: of(|a| a.false_expiries),
        early_ends: of(|a| a.early_ends),
        early_connects: of(|a| a.early_connects),
        connected_after_the_end: of(|a| a.connected_after_the_end),
        served_after_the_end: of(|a| a.served_after_the_end),
        went_back: of(|a| a.went_back),
        registered_late: of(|a| a.registered_late),
        stale_reads: of(|a| a.stale_reads),
        ahead: of(|a| a.ahead),
    }
}

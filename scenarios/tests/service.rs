//! Recipe models use `Service` in the place of an ensemble: it must allow all that the world shows its clients.
#![cfg(feature = "run")]

use std::collections::BTreeMap;
use zk_model::accept::{Accepted, Narrowed, Rejection, Why, accept};
use zk_proto::visible::Step;
use zk_world::{Faults, RunOptions, Scenario};

/// What the clients of a run of the lock saw.
fn record(scenario: &Scenario, seed: u64) -> Vec<Step> {
    let options = RunOptions { visible: true, ..RunOptions::default() };
    let trials = zk_trials::catalogue();
    let lock = trials.iter().find(|trial| trial.about().name == scenario.recipe).expect("the lock");
    zk_world::run(lock, scenario, seed, &options).visible
}

fn seeds() -> u64 {
    std::env::var("SERVICE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

#[test]
fn tally() {
    for servers in [1, 3] {
        for calm in [true, false] {
            let mut scenario = Scenario { servers, ..Scenario::default() };
            if calm {
                scenario.faults = Faults::none();
            }
            let (mut whys, mut firsts) = (BTreeMap::<Why, Vec<u64>>::new(), BTreeMap::<Why, Rejection>::new());
            let mut all = Accepted::default();
            let mut accepted = 0;
            for seed in 0..seeds() {
                let steps = record(&scenario, seed);
                match accept(&steps, None) {
                    Ok(what) => {
                        accepted += 1;
                        all.answers += what.answers;
                        all.events += what.events;
                        all.ahead += what.ahead;
                        all.stale_reads += what.stale_reads;
                        all.late_writes += what.late_writes;
                        all.losses += what.losses;
                        all.expiries += what.expiries;
                        all.writes += what.writes;
                    }
                    Err(rejection) => {
                        whys.entry(rejection.why).or_default().push(seed);
                        firsts.entry(rejection.why).or_insert(rejection);
                    }
                }
            }
            println!("{servers} servers calm {calm}: accepted {accepted} {all:?} rejected {whys:?}");
            for rejection in firsts.values() {
                println!("  {rejection}");
            }
            for narrowed in Narrowed::ALL {
                let mut whys = BTreeMap::<Why, usize>::new();
                for seed in 0..seeds() {
                    if let Err(rejection) = accept(&record(&scenario, seed), Some(narrowed)) {
                        *whys.entry(rejection.why).or_default() += 1;
                    }
                }
                println!("  {narrowed:?} {whys:?}");
            }
        }
    }
}

//! Recipes of which one waits for ever, and nobody has died: what the others have done is no excuse for that.

use crate::external_recipes::judge::{about, path};
use zoocheck::api::{CreateMode, Data, Error, ZooKeeper};
use zoocheck::trials::common::{AnyProbe, AnyZooKeeper};
use zoocheck::trials::event::Observation;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises::NoFailure;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Catalogue, CheckConfig, Engine, Scenario, Verdict};

const ROOT: &str = "/stuck";

/// What process 0 does before it has done all it was to do.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// It closes its session.
    Closes,
    /// It deletes the seat of each other, as soon as that is taken.
    Deletes,
    /// It closes its session, calls on, and comes to its end as that fails.
    CallsOn,
}

/// All but process 0 take a seat, and wait for a znode that nobody makes.
async fn turn(before: Before, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), Error> {
    let seat = |process| path(&format!("{ROOT}/p{process}"));
    probe.observe(Observation::note(Word::own("comes to"), ROOT, 0));
    if role.me.process == 0 {
        match before {
            Before::Closes => zk.close().await?,
            // Once: it begins another life then.
            Before::CallsOn if role.me.life > 0 => {}
            Before::CallsOn => {
                zk.close().await?;
                zk.exists(&path(ROOT)).await?;
            }
            Before::Deletes => {
                for process in 1..role.clients {
                    let (there, watch) = zk.exists_watch(&seat(process)).await?;
                    if there.is_none() {
                        watch.await;
                    }
                    zk.delete(&seat(process), -1).await?;
                }
            }
        }
    } else {
        zk.create(&seat(role.me.process), Data::NULL, CreateMode::Ephemeral).await?;
        let (_, watch) = zk.exists_watch(&path(&format!("{ROOT}/never"))).await?;
        watch.await;
    }
    probe.observe(Observation::note(Word::own("leaves"), ROOT, 0));
    Ok(())
}

/// Each was an excuse for all others, and this held: whoever closes its session at its end, or ends because it has done so,
/// was taken for dead, and whose znode another process deletes for one that could not be waited for.
fn stick(before: Before) {
    let mut trial = Trial::new("stuck", move |zk, probe, role| turn(before, zk, probe, role))
        .setup([ROOT])
        .promises(|| vec![Box::new(NoFailure)]);
    trial.about = about("stuck", "All but one wait for ever.", Bounds::clients(2));
    let catalogue = Catalogue::empty().with(trial);
    let config = catalogue.check_config("stuck").expect("it is there");
    let config = CheckConfig { promise: Some("no-waiter-stuck".into()), ..config };
    // Stateright's search ends with the first break, and one that calls on fails first.
    let calls_on = matches!(before, Before::CallsOn);
    for engine in [Engine::Own, Engine::Stateright].into_iter().take(if calls_on { 1 } else { 2 }) {
        let check = catalogue.check("stuck", &CheckConfig { engine, ..config.clone() }).expect("a check");
        let stuck = check.invariants.iter().find(|promise| promise.name == "no-waiter-stuck");
        let verdict = stuck.expect("it is promised").verdict;
        assert_eq!(verdict, Verdict::Broken, "{before:?} {engine:?}: {check}");
    }
    let scenario =
        Scenario { rounds: 1, servers: 1, observers: 0, ..catalogue.scenario("stuck").expect("it is there") };
    let sweep = catalogue.sweep(&scenario.without_faults(), 0..5).expect("a sweep");
    let stuck = sweep.promise("no-waiter-stuck").expect("it is promised");
    assert_eq!(stuck.verdict, Verdict::Broken, "{before:?}: {sweep}");
}

#[test]
fn who_waits_for_ever_is_stuck_though_another_has_closed_its_session() {
    stick(Before::Closes);
}

#[test]
fn who_waits_for_ever_is_stuck_though_another_of_its_recipe_has_deleted_its_znode() {
    stick(Before::Deletes);
}

#[test]
fn who_waits_for_ever_is_stuck_though_another_ends_as_its_own_session_is_closed() {
    stick(Before::CallsOn);
}

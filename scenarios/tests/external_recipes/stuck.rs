//! Recipes of which one waits for ever, and nobody has died: what the others have done is no excuse for that.

use crate::external_recipes::judge::{about, path};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Error, ZooKeeper};
use zoocheck::reports::Judgement;
use zoocheck::trials::common::{AnyProbe, AnyZooKeeper};
use zoocheck::trials::event::Observation;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{NoFailure, NoWaiterStuck};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Answer, Catalogue, CheckConfig, Engine, Scenario, Verdict};

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

/// Each was an excuse for all others, and this held: whoever closes its session at its end, or ends because it has done
/// so, was taken for dead, and whose znode another process deletes for one that could not be waited for.
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

const GATE: &str = "/stuck/gate";

/// What who waits at the gate says of it.
#[derive(Clone, Copy, Debug)]
enum Says {
    /// A word of its own.
    Waits,
    /// That it is inside, and has what it asked for.
    IsInside,
}

/// Who comes to a gate waits until it is gone, but does not look whether it is when its watch is set.
async fn comes_to(says: Says, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), Error> {
    if role.me.process == 0 {
        zk.sleep(Duration::from_millis(500)).await;
        return zk.delete(&path(GATE), -1).await;
    }
    let lock = || ROOT.into();
    let begins = match says {
        Says::Waits => vec![Observation::begins(Word::own("waits at"), GATE, 0)],
        Says::IsInside => {
            vec![Observation::Attempts { lock: lock() }, Observation::Enters { lock: lock() }]
        }
    };
    begins.into_iter().for_each(|what| probe.observe(what));
    if zk.exists(&path(GATE)).await?.is_some() {
        zk.sleep(Duration::from_secs(1)).await;
        zk.exists_watch(&path(GATE)).await?.1.await;
    }
    probe.observe(match says {
        Says::Waits => Observation::ends(Word::own("goes on from"), GATE, 0),
        Says::IsInside => Observation::Released { lock: lock() },
    });
    Ok(())
}

/// Whatever was begun by a word of its own was taken for what is meant to last, and so was whatever is done by who is
/// inside: this lost wake-up held.
#[test]
fn only_its_author_can_say_whether_it_is_meant_to_wait_on_in_what_it_has_begun_or_inside() {
    for says in [Says::Waits, Says::IsInside] {
        only_its_author_can_say(says);
    }
}

fn only_its_author_can_say(says: Says) {
    let verdicts = |own: Option<NoWaiterStuck>| {
        let promises = move || -> Vec<Box<dyn AnyPromise>> {
            let own = own.iter().map(|own| Box::new(own.clone()) as Box<dyn AnyPromise>);
            own.chain([Box::new(NoFailure) as Box<dyn AnyPromise>]).collect()
        };
        let code = move |zk, probe, role| comes_to(says, zk, probe, role);
        let mut trial = Trial::new("gate", code).setup([ROOT, GATE]).promises(promises);
        trial.about = about("gate", "It loses a wake-up.", Bounds::clients(2));
        let catalogue = Catalogue::empty().with(trial);
        let config = catalogue.check_config("gate").expect("it is there");
        let searched = |engine| {
            let check = catalogue.check("gate", &CheckConfig { engine, ..config.clone() }).expect("a check");
            let mut all = check.promises.iter().chain(&check.invariants);
            let stuck = all.find(|promise| promise.name == "no-waiter-stuck").expect("it is promised");
            (stuck.verdict, check.verdict)
        };
        let scenario = Scenario {
            rounds: 1,
            clients: 2,
            servers: 1,
            observers: 0,
            ..catalogue.scenario("gate").expect("it is there")
        };
        let sweep = catalogue.sweep(&scenario.without_faults(), 0..5).expect("a sweep");
        let swept = sweep.promise("no-waiter-stuck").expect("it is promised").verdict;
        assert_eq!(searched(Engine::Own), searched(Engine::Stateright));
        (searched(Engine::Own), (swept, sweep.answer))
    };
    let open = (Verdict::Undecided, Answer::Undecided);
    assert_eq!(verdicts(None), ((Verdict::Undecided, Judgement::Undecided), open));
    let meant = verdicts(Some(NoWaiterStuck::but_who_stays()));
    let untested = (Verdict::NeverTested, Answer::Undecided);
    assert_eq!(meant, ((Verdict::Held, Judgement::Holds), untested), "in no run is anybody woken");
    let broken = (Verdict::Broken, Answer::Broken);
    assert_eq!(verdicts(Some(NoWaiterStuck)), ((Verdict::Broken, Judgement::Violated), broken));
}

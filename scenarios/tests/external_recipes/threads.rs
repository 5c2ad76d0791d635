//! Recipes whose processes go on in other threads when their main ones have ended: those are judged as well.

use crate::external_recipes::judge::{about, path};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Error, ErrorCode, Pending, ZooKeeper};
use zoocheck::reports::Judgement;
use zoocheck::trials::common::{AnyProbe, AnyZooKeeper};
use zoocheck::trials::event::Observation;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises::ExclusionAmongLiveSessions;
use zoocheck::trials::trial::{Bounds, Trial};
use zoocheck::{Catalogue, Scenario, Verdict};

const LOCK: &str = "/threads/lock";
const NODE: &str = "/threads/lock/held";

/// How many naps come first, and how long each is.
type Naps = (u32, Duration);

const NONE: Naps = (0, Duration::ZERO);

/// How a thread locks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Rightly,
    /// It waits for the znode's end without looking whether it is there.
    WaitsBlindly,
    /// It holds the lock whoever made the znode.
    TakesNoHeed,
    /// It takes a lost answer for a granted lock.
    TrustsLosses,
}

async fn lock(way: Way, zk: &AnyZooKeeper) -> Result<(), Error> {
    let node = path(NODE);
    loop {
        match zk.create(&node, Data::NULL, CreateMode::Ephemeral).await {
            Ok(_) => return Ok(()),
            Err(error) if error.code == ErrorCode::NodeExists && way == Way::TakesNoHeed => return Ok(()),
            Err(error) if error.code == ErrorCode::NodeExists => {}
            Err(error) if error.code == ErrorCode::ConnectionLoss && way == Way::TrustsLosses => {
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let (there, gone) = zk.exists_watch(&node).await?;
        if there.is_some() || way == Way::WaitsBlindly {
            gone.await;
        }
    }
}

/// Naps, locks, works and unlocks.
async fn turn(way: Way, naps: Naps, zk: AnyZooKeeper, probe: impl Probe) {
    for _ in 0..naps.0 {
        zk.sleep(naps.1).await;
    }
    probe.observe(Observation::Attempts { lock: LOCK.into() });
    if lock(way, &zk).await.is_err() {
        return;
    }
    probe.observe(Observation::Granted { lock: LOCK.into(), node: NODE.into(), token: None });
    probe.observe(Observation::Enters { lock: LOCK.into() });
    probe.work().await;
    probe.observe(Observation::Leaves { lock: LOCK.into() });
    // One that took no heed may come too late.
    let _ = zk.delete(&path(NODE), -1).await;
    probe.observe(Observation::Released { lock: LOCK.into() });
}

/// A turn in a thread of its own, which outlives the main one.
async fn outlives(way: Way, naps: Naps, zk: AnyZooKeeper, probe: AnyProbe) -> Result<(), Error> {
    let thread = probe.thread(1);
    probe.spawn(Box::pin(turn(way, naps, zk, thread)));
    Ok(())
}

fn threads<F>(code: impl Fn(AnyZooKeeper, AnyProbe) -> F + Send + Sync + 'static) -> (Catalogue, Scenario)
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let mut trial = Trial::new("threads", move |zk, probe, _| code(zk, probe))
        .setup(["/threads", LOCK])
        .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of(LOCK))]);
    trial.about = about("threads", "Locks in a thread of its own.", Bounds::clients(2));
    let catalogue = Catalogue::empty().with(trial);
    let scenario = catalogue.scenario("threads").expect("it is there").without_faults();
    (catalogue, Scenario { rounds: 1, servers: 1, observers: 0, ..scenario })
}

fn is_judged(way: Way, broken: Option<&str>, (catalogue, scenario): &(Catalogue, Scenario)) {
    let check = catalogue.check("threads", &catalogue.check_config("threads").expect("it is there"));
    let check = check.expect("a check");
    let expected = if broken.is_some() { Judgement::Violated } else { Judgement::Holds };
    assert_eq!((check.verdict, check.promise.as_deref()), (expected, broken), "{check}");
    let sweep = catalogue.sweep(scenario, 0..40).expect("a sweep");
    match broken {
        None => assert!(sweep.held(), "{sweep}"),
        Some(promise) => {
            let verdict = sweep.promise(promise).expect("it is promised").verdict;
            assert_eq!(verdict, Verdict::Broken, "{way:?}: {sweep}");
        }
    }
}

/// With its main thread's end, each was taken for one that neither waits nor holds anything; and a run was over before
/// one that had slept was awake.
#[test]
fn what_outlives_the_main_thread_is_judged() {
    for (way, broken) in [
        (Way::Rightly, None),
        (Way::WaitsBlindly, Some("no-waiter-stuck")),
        (Way::TakesNoHeed, Some("exclusion-among-live-sessions")),
    ] {
        for naps in [NONE, (1, Duration::from_secs(10)), (10, Duration::from_secs(20))] {
            is_judged(way, broken, &threads(move |zk, probe| outlives(way, naps, zk, probe)));
        }
    }
}

/// Faults were over with the last main thread, and here that is before anybody locks.
#[test]
fn faults_go_on_beside_threads() {
    let naps = (1, Duration::from_secs(8));
    let code = move |zk: AnyZooKeeper, probe: AnyProbe| async move {
        let thread = probe.thread(1);
        probe.spawn(Box::pin(async move {
            for _ in 0..4 {
                turn(Way::TrustsLosses, naps, zk.clone(), thread.clone()).await;
            }
        }));
        Ok(())
    };
    let (catalogue, _) = threads(code);
    let scenario = catalogue.scenario("threads").expect("it is there");
    let sweep = catalogue.sweep(&Scenario { rounds: 1, ..scenario }, 0..100).expect("a sweep");
    let verdict = sweep.promise("exclusion-among-live-sessions").expect("it is promised").verdict;
    assert_eq!(verdict, Verdict::Broken, "{sweep}");
}

/// It was called stuck, by seeds, when it had not been awake for long.
#[test]
fn who_naps_for_long_is_not_stuck() {
    let naps = (10, Duration::from_secs(20));
    let code = move |zk, probe| async move {
        turn(Way::Rightly, naps, zk, probe).await;
        Ok(())
    };
    is_judged(Way::Rightly, None, &threads(code));
}

/// When the main thread ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    AtOnce,
    /// When the task has begun.
    Meanwhile,
    /// With the task.
    Last,
}

/// A turn in a task that tells by the main thread's probe.
async fn by_main(way: Way, ends: Ends, zk: AnyZooKeeper, probe: AnyProbe) -> Result<(), Error> {
    let (begun, begins) = Pending::slot();
    let (done, is_done) = Pending::slot();
    let task = probe.clone();
    probe.spawn(Box::pin(async move {
        begun.complete(());
        turn(way, NONE, zk, task).await;
        done.complete(());
    }));
    match ends {
        Ends::AtOnce => {}
        Ends::Meanwhile => begins.await,
        Ends::Last => is_done.await,
    }
    Ok(())
}

/// With the end of the main thread it was forgotten what a task had, or waited for, by that one's name.
#[test]
fn nobody_tells_by_the_main_threads_probe_when_that_has_ended() {
    let ways = [Way::Rightly, Way::WaitsBlindly, Way::TakesNoHeed];
    let outcomes = [None, Some("no-waiter-stuck"), Some("exclusion-among-live-sessions")];
    for (way, by_itself) in ways.into_iter().zip(outcomes) {
        for ends in [Ends::AtOnce, Ends::Meanwhile, Ends::Last] {
            let broken = if ends == Ends::Last { by_itself } else { Some("no-panic") };
            is_judged(way, broken, &threads(move |zk, probe| by_main(way, ends, zk, probe)));
        }
    }
}

//! Recipes whose processes go on in other threads when their main ones have ended: those are judged as well.

use crate::external_recipes::judge::{about, path};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Error, ErrorCode, ZooKeeper};
use zoocheck::reports::Judgement;
use zoocheck::trials::common::{AnyProbe, AnyZooKeeper};
use zoocheck::trials::event::Observation;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises::ExclusionAmongLiveSessions;
use zoocheck::trials::trial::{Bounds, Trial};
use zoocheck::{Catalogue, Scenario, Verdict};

const LOCK: &str = "/threads/lock";
const NODE: &str = "/threads/lock/held";

/// How a thread locks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Rightly,
    /// It waits for the znode's end without looking whether it is there.
    WaitsBlindly,
    /// It holds the lock whoever made the znode.
    TakesNoHeed,
}

async fn lock(way: Way, zk: &AnyZooKeeper) -> Result<(), Error> {
    let node = path(NODE);
    loop {
        match zk.create(&node, Data::NULL, CreateMode::Ephemeral).await {
            Ok(_) => return Ok(()),
            Err(error) if error.code == ErrorCode::NodeExists && way == Way::TakesNoHeed => return Ok(()),
            Err(error) if error.code == ErrorCode::NodeExists => {}
            Err(error) => return Err(error),
        }
        let (there, gone) = zk.exists_watch(&node).await?;
        if there.is_some() || way == Way::WaitsBlindly {
            gone.await;
        }
    }
}

/// Locks, works and unlocks in a thread of its own, which outlives the main one, and sleeps first.
async fn turn(way: Way, nap: Duration, zk: AnyZooKeeper, probe: AnyProbe) -> Result<(), Error> {
    let thread = probe.thread(1);
    probe.spawn(Box::pin(async move {
        if !nap.is_zero() {
            zk.sleep(nap).await;
        }
        thread.observe(Observation::Attempts { lock: LOCK.into() });
        if lock(way, &zk).await.is_err() {
            return;
        }
        thread.observe(Observation::Granted { lock: LOCK.into(), node: NODE.into(), token: None });
        thread.observe(Observation::Enters { lock: LOCK.into() });
        thread.work().await;
        thread.observe(Observation::Leaves { lock: LOCK.into() });
        // One that took no heed may come too late.
        let _ = zk.delete(&path(NODE), -1).await;
        thread.observe(Observation::Released { lock: LOCK.into() });
    }));
    Ok(())
}

fn threads(way: Way, nap: Duration) -> (Catalogue, Scenario) {
    let mut trial = Trial::new("threads", move |zk, probe, _| turn(way, nap, zk, probe))
        .setup(["/threads", LOCK])
        .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of(LOCK))]);
    trial.about = about("threads", "Locks in a thread of its own.", Bounds::clients(2));
    let catalogue = Catalogue::empty().with(trial);
    let scenario = catalogue.scenario("threads").expect("it is there").without_faults();
    (catalogue, Scenario { rounds: 1, servers: 1, observers: 0, ..scenario })
}

/// With its main thread's end, each was taken for one that neither waits nor holds anything; and a run was over before one that
/// had slept was awake.
#[test]
fn what_outlives_the_main_thread_is_judged() {
    for (way, broken) in [
        (Way::Rightly, None),
        (Way::WaitsBlindly, Some("no-waiter-stuck")),
        (Way::TakesNoHeed, Some("exclusion-among-live-sessions")),
    ] {
        for nap in [0, 10].map(Duration::from_secs) {
            let (catalogue, scenario) = threads(way, nap);
            let check = catalogue.check("threads", &catalogue.check_config("threads").expect("it is there"));
            let check = check.expect("a check");
            let expected = if broken.is_some() { Judgement::Violated } else { Judgement::Holds };
            assert_eq!((check.verdict, check.promise.as_deref()), (expected, broken), "{check}");
            let sweep = catalogue.sweep(&scenario, 0..40).expect("a sweep");
            match broken {
                None => assert!(sweep.held(), "{sweep}"),
                Some(promise) => {
                    let verdict = sweep.promise(promise).expect("it is promised").verdict;
                    assert_eq!(verdict, Verdict::Broken, "{way:?}: {sweep}");
                }
            }
        }
    }
}

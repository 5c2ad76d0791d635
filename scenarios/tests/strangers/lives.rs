//! What becomes of a process that is done, and of one that begins again.

use crate::judge::{Expected, about, broken, insist, judge, noted, path};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Text, ZooKeeper};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{AnyPromise, Finding, Promise};
use zoocheck::trials::trial::{About, Bounds, Part, Trial};
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/beacon";
const VALUE: &str = "/beacon/value";

/// Process 0 publishes a value and is done. The others see it, and rely on it for a while.
struct Beacon {
    mode: CreateMode,
}

/// What was seen is there for good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Stays;

impl Promise for Stays {
    fn name(&self) -> &'static str {
        "stays"
    }

    fn about(&self) -> &'static str {
        "What was published is there for good."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((_, "still sees", ..)) => found.push(Finding::Tested),
            Some((actor, "misses", about, _)) => {
                found.push(broken(format!("{actor} misses {about}, which it has seen")));
            }
            _ => {}
        }
    }
}

impl Beacon {
    async fn part(&self, zk: &impl ZooKeeper, probe: &impl Probe, part: Part) -> Result<(), End> {
        let value = path(VALUE);
        if part.me.process == 0 {
            // An answer that was lost may have been that it is there.
            let _ = zk.create(&value, Data::NULL, self.mode).await;
            return Ok(());
        }
        loop {
            let (stat, watch) = insist(zk, || zk.exists_watch(&value)).await?;
            if stat.is_some() {
                break;
            }
            watch.await;
        }
        // Longer than a session lives in silence.
        zk.sleep(Duration::from_secs(20)).await;
        let stat = insist(zk, || zk.exists(&value)).await?;
        let what = if stat.is_some() { "still sees" } else { "misses" };
        probe.observe(Observation::note(what, VALUE, 1));
        Ok(())
    }
}

impl Trial for Beacon {
    fn about(&self) -> About {
        let bounds = Bounds { expiries: 1, crashes: 1, ..Bounds::clients(2) };
        match self.mode {
            CreateMode::Persistent => about("stranger-beacon", "Publishes for good.", bounds),
            _ => about("stranger-beacon/ephemeral", "Publishes for as long as the session lives.", bounds),
        }
    }

    fn setup(&self) -> Vec<Text> {
        vec![ROOT.into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Stays)]
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        self.part(&zk, &probe, part).await.err().unwrap_or(End::Done)
    }
}

fn expiries() -> Faults {
    Faults { expiries: 40, ..Faults::none() }
}

fn crashes() -> Faults {
    Faults { client_crashes: 40, ..Faults::none() }
}

/// A fault each, and only that one.
fn each_fault() -> [(Bounds, Faults); 3] {
    let bounds = Bounds::clients(2);
    [
        (Bounds { expiries: 1, ..bounds }, expiries()),
        (Bounds { crashes: 1, ..bounds }, crashes()),
        (Bounds { pauses: 1, ..bounds }, Faults { client_pauses: 40, ..Faults::none() }),
    ]
}

/// The process that has published is done by the time of the fault: the end of its session is the only thing that can
/// go wrong, and models spared it once.
#[test]
fn what_a_process_that_is_done_has_published_is_gone_with_its_session() {
    for (bounds, faults) in each_fault() {
        let expected = Expected::Wrong { promise: "stays", steps: 12 };
        judge(Beacon { mode: CreateMode::Ephemeral }, &CheckConfig::new(bounds), 2, faults, &expected);
    }
}

#[test]
fn what_is_published_for_good_survives_who_published_it() {
    for (bounds, faults) in each_fault() {
        let mode = CreateMode::Persistent;
        judge(Beacon { mode }, &CheckConfig::new(bounds), 2, faults, &Expected::Right);
    }
}

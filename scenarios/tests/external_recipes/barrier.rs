//! A barrier: a znode; who finds it waits until it is gone.

use crate::external_recipes::judge::{Expected, about, broken, insist, judge, noted, path, remove};
use std::sync::Arc;
use zoocheck::api::ZooKeeper;
use zoocheck::trials::event::{End, Event, GroundTruth, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Rest, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/gate";
const BARRIER: &str = "/gate/barrier";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    Right,
    /// Takes every event for the barrier's end.
    AnyEvent,
}

#[derive(Clone)]
struct Barrier(Edition);

/// Nobody passes while the barrier stands, not even who has lost his session; when it has gone, all pass.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Closed {
    is_open: bool,
}

impl Promise for Closed {
    fn terms(&self) -> Terms {
        Terms::of("nobody-passes-a-barrier").about("Nobody passes while the barrier stands.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if **path == *BARRIER => self.is_open = true,
            _ => {}
        }
        if let Some((actor, "passes", ..)) = noted(event) {
            found.push(if self.is_open {
                Finding::Tested
            } else {
                broken(format!("{actor} passes, and the barrier stands"))
            });
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Opens {
    is_open: bool,
}

impl Promise for Opens {
    fn terms(&self) -> Terms {
        Terms::of("all-pass-in-the-end").about("When the barrier has gone, nobody waits for ever.")
    }

    fn see(&mut self, event: &Event, _: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if **path == *BARRIER => self.is_open = true,
            _ => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        match rest.unfinished.first() {
            Some(actor) if self.is_open => found.push(broken(format!("{actor} waits at an open barrier"))),
            None if self.is_open => found.push(Finding::Tested),
            _ => {}
        }
    }
}

impl Barrier {
    async fn pass(&self, zk: &impl ZooKeeper) -> Result<(), End> {
        let barrier = path(BARRIER);
        loop {
            let (stat, watch) = insist(zk, || zk.exists_watch(&barrier)).await?;
            if stat.is_none() {
                return Ok(());
            }
            watch.await;
            if self.0 == Edition::AnyEvent {
                return Ok(());
            }
        }
    }

    async fn role(&self, zk: &impl ZooKeeper, probe: &impl Probe, role: Role) -> Result<(), End> {
        if role.me.process == 0 {
            // Long enough for a session to end meanwhile.
            for _ in 0..3 {
                probe.work().await;
            }
            return remove(zk, &path(BARRIER)).await;
        }
        self.pass(zk).await?;
        probe.observe(Observation::note(words::PASSES, BARRIER, 0));
        Ok(())
    }
}

impl From<Barrier> for Trial {
    fn from(it: Barrier) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds { expiries: 1, ..Bounds::clients(2) };
            match it.0 {
                Edition::Right => about("external-barrier", "Looks again after every event.", bounds),
                Edition::AnyEvent => about("external-barrier/any-event", "Passes at any event.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::new(Closed { is_open: false }), Box::new(Opens { is_open: false })])
            .setup([ROOT, BARRIER]);
        trial.about = about;
        trial
    }
}

impl Barrier {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        self.role(&zk, &probe, role).await.err().unwrap_or(End::Done)
    }
}

#[test]
fn a_barrier_that_is_looked_at_again_holds_everybody() {
    let bounds = Bounds { expiries: 1, drops: 1, crashes: 1, ..Bounds::clients(3) };
    judge(Barrier(Edition::Right), &CheckConfig::new(bounds), 4, Faults::default(), &Expected::Right);
}

#[test]
fn a_barrier_that_opens_at_any_event_is_passed_by_who_loses_his_session() {
    let expected = Expected::Wrong { promise: "nobody-passes-a-barrier", steps: 8 };
    let config = CheckConfig::new(Bounds { expiries: 1, ..Bounds::clients(2) });
    judge(Barrier(Edition::AnyEvent), &config, 4, Faults::default(), &expected);
}

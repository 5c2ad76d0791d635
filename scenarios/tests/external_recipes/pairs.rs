//! Pairs of znodes that are made at once, seen by a persistent watch, a second task, timers and syncs: what the other
//! trials do not use.

use crate::external_recipes::judge::{Expected, about, broken, insist, judge, noted, passing, path};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use zoocheck::api::{AddWatchMode, CreateMode, Data, MultiOutcome, Op, Text, ZooKeeper, open_acl};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::promises::NoWaiterStuck;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/pairs";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    AtOnce,
    OneByOne,
}

#[derive(Clone)]
struct Pairs(Edition);

/// Nobody sees half a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Whole;

impl Promise for Whole {
    fn terms(&self) -> Terms {
        Terms::of("whole-pairs").about("Nobody sees half a pair.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((actor, "sees", _, halves)) if halves % 2 != 0 => {
                found.push(broken(format!("{actor} sees {halves} halves")));
            }
            Some((_, "sees", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

fn half(name: &str, process: u16) -> Op {
    let path = format!("{ROOT}/{name}-{process}").into();
    Op::Create { path, data: Data::NULL, acl: open_acl(), mode: CreateMode::Persistent, stat: false }
}

/// Makes these at once, unless they are there.
async fn make(zk: &impl ZooKeeper, ops: Vec<Op>) -> Result<(), End> {
    loop {
        match zk.multi(ops.clone()).await {
            // It fails only where a try before it, whose answer was lost, has made them.
            Ok(MultiOutcome::Applied(_) | MultiOutcome::Failed(_)) => return Ok(()),
            Err(error) => passing(zk, error).await?,
        }
    }
}

impl Pairs {
    async fn watch(&self, zk: &impl ZooKeeper, probe: &impl Probe, clients: u16) -> Result<(), End> {
        let mut watch = insist(zk, || zk.add_watch(&path(ROOT), AddWatchMode::PersistentRecursive)).await?;
        loop {
            let (synced, names) = (zk.sync(&path(ROOT)), zk.children(&path(ROOT)));
            match (synced.await, names.await) {
                (Ok(()), Ok(names)) => {
                    let names: BTreeSet<Text> = names.into_iter().collect();
                    probe.observe(Observation::note(words::SEES, ROOT, names.len() as i64));
                    if names.len() == 2 * usize::from(clients) {
                        return Ok(());
                    }
                    (&mut watch).await;
                }
                (Err(error), _) | (_, Err(error)) => passing(zk, error).await?,
            }
        }
    }
}

impl From<Pairs> for Trial {
    fn from(it: Pairs) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds::clients(2);
            match it.0 {
                Edition::AtOnce => about("external-pairs", "Pairs are made at once.", bounds),
                Edition::OneByOne => about("external-pairs/one-by-one", "Pairs are made one by one.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .promises(|| vec![Box::new(Whole), Box::new(NoWaiterStuck)])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Pairs {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let (maker, edition) = (zk.clone(), self.0);
        probe.spawn(Box::pin(async move {
            maker.sleep(Duration::from_millis(20)).await;
            let (a, b) = (half("a", role.me.process), half("b", role.me.process));
            let made = match edition {
                Edition::AtOnce => make(&maker, vec![a, b]).await,
                Edition::OneByOne => match make(&maker, vec![a]).await {
                    Ok(()) => make(&maker, vec![b]).await,
                    Err(end) => Err(end),
                },
            };
            // Its session has ended: the other task learns of it as well.
            made.ok();
        }));
        self.watch(&zk, &probe, role.clients).await.err().unwrap_or(End::Done)
    }
}

#[test]
fn pairs_that_are_made_at_once_are_seen_whole() {
    // Two clients of two tasks without a checkpoint have no end in reach (over 3,000,000 states): seeds run three.
    let config = CheckConfig::new(Bounds::clients(1));
    judge(Pairs(Edition::AtOnce), &config, 3, Faults::none(), &Expected::Right);
}

#[test]
fn pairs_that_are_made_one_by_one_are_seen_in_halves() {
    let expected = Expected::Wrong { promise: "whole-pairs", steps: 12 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Pairs(Edition::OneByOne), &config, 3, Faults::none(), &expected);
}

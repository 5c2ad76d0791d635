//! Whoever waits for what happens is told, whichever way it comes: no event is lost.

use crate::common::{broken, run};
use std::sync::Arc;
use zk_api::{AddWatchMode, CreateMode, Data, Error, KeeperState, Op, ZPath, ZooKeeper};
use zk_harness::event::{End, Event, Observation};
use zk_harness::prelude::{AnyProbe, AnyZooKeeper};
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::promises::NoWaiterStuck;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::{CheckConfig, Verdict};

/// What process 0 waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// What process 1 makes behind something else in one transaction.
    OneOfTwo,
    /// What process 1 makes; meanwhile it writes, and its server comes to all that was before.
    BesideAWrite,
    /// Any change, by a watch that stays: it says so if it is told behind the loss of its connection.
    Persistent,
    /// It gives up one of two watches of one znode.
    OneOfItsTwo,
    /// It says so if it has an event as it comes to the news of its connection.
    IsLate,
}

/// Nobody says what it would say first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never;

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Nobody says what it would say first.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if matches!(event, Event::Observed { .. }) {
            found.push(Finding::Broken(Violation::new("somebody says so".into(), None)));
        }
    }
}

async fn actor(way: Way, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    if role.me.process > 0 {
        while make(&zk).await.is_err_and(|error| !error.is_session_over()) {
            while zk.state() == KeeperState::Disconnected {
                zk.state_change().await;
            }
        }
    } else if waits(way, &zk).await.unwrap_or(false) {
        probe.observe(Observation::note(Word::own("is late"), "", 0));
    }
    End::Done
}

/// Both at once, or neither.
async fn make(zk: &impl ZooKeeper) -> Result<(), Error> {
    let create = |path: &str| Op::create(path.into(), Data::NULL, CreateMode::Persistent);
    zk.multi(vec![create("/a/first"), create("/a/x")]).await.map(drop)
}

async fn waits(way: Way, zk: &impl ZooKeeper) -> Result<bool, Error> {
    let x: ZPath = "/a/x".parse().expect("a path");
    if way == Way::Persistent {
        let watch = zk.add_watch(&x, AddWatchMode::Persistent).await?;
        let mut change = zk.state_change();
        if zk.exists(&x).await?.is_some() {
            return Ok(false);
        }
        watch.await;
        return Ok(change.try_take().is_some());
    }
    let (None, mut watch) = zk.exists_watch(&x).await? else { return Ok(false) };
    match way {
        Way::IsLate => {
            zk.state_change().await;
            if watch.try_take().is_some() {
                return Ok(false);
            }
            zk.state_change().await;
            return Ok(watch.try_take().is_some());
        }
        Way::BesideAWrite => {
            let own: ZPath = "/a/own".parse().expect("a path");
            zk.create(&own, Data::NULL, CreateMode::Persistent).await?;
        }
        Way::OneOfItsTwo => {
            let again = zk.exists_watch(&x);
            drop(watch);
            if let (None, watch) = again.await? {
                watch.await;
            }
            return Ok(false);
        }
        Way::OneOfTwo | Way::Persistent => {}
    }
    watch.await;
    Ok(false)
}

/// What is broken within these bounds.
fn breaks(way: Way, bounds: Bounds) -> Vec<&'static str> {
    let trial = Trial::new("awaits", move |zk, probe, role| actor(way, zk, probe, role))
        .setup(["/a"])
        .counts_wakes(false)
        .promises(move || match way {
            Way::OneOfTwo | Way::BesideAWrite | Way::OneOfItsTwo => vec![Box::new(NoWaiterStuck)],
            Way::Persistent | Way::IsLate => vec![Box::new(Never)],
        })
        .opts_out(&zk_harness::promises::STANDARD);
    let check = run(Arc::new(trial), &CheckConfig::new(bounds));
    assert!(matches!(check.verdict, Verdict::Holds | Verdict::Violated { .. }), "{:?}", check.verdict);
    broken(&check)
}

#[test]
fn whoever_waits_is_told() {
    for way in [Way::OneOfTwo, Way::BesideAWrite, Way::OneOfItsTwo] {
        for (drops, lag) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let bounds = Bounds { drops, lag, ..Bounds::clients(2) };
            assert_eq!(breaks(way, bounds), [""; 0], "{way:?}, drops {drops}, lag {lag}");
        }
    }
}

/// What has happened meanwhile nobody is told by such a watch.
#[test]
fn a_watch_that_stays_is_there_on_the_next_connection() {
    assert_eq!(breaks(Way::Persistent, Bounds::clients(2)), [""; 0]);
    let broken = breaks(Way::Persistent, Bounds { drops: 1, ..Bounds::clients(2) });
    assert!(broken.contains(&"never"), "{broken:?}");
}

#[test]
fn an_event_may_be_there_when_code_comes_to_the_news_of_its_connection() {
    for (drops, may) in [(0, false), (1, true)] {
        let broken = breaks(Way::IsLate, Bounds { drops, ..Bounds::clients(2) });
        assert_eq!(broken.contains(&"never"), may, "drops {drops}");
    }
}

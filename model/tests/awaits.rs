//! Whoever waits for what happens is told, whichever way it comes: no event is lost.

use crate::common::{broken, run};
use std::sync::Arc;
use zk_api::{
    AddWatchMode, CreateMode, Data, Either, Error, ErrorCode, KeeperState, Op, ZPath, ZooKeeper, race,
};
use zk_harness::event::{End, Event, GroundTruth, Observation};
use zk_harness::prelude::{AnyProbe, AnyZooKeeper};
use zk_harness::promise::{Finding, Promise, Rest, Terms, Violation};
use zk_harness::promises::NoWaiterStuck;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::{CheckConfig, Verdict};

/// What process 0 waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// What process 1 makes behind something else in one transaction.
    OneOfTwo,
    /// What nobody makes; its session ends.
    OfTheEnd,
    /// What process 1 makes; meanwhile it writes, and its server comes to all that was before.
    BesideAWrite,
    /// Any change, by a watch that stays: it says so if it is told behind the loss of its connection.
    Persistent,
    /// It gives up one of two watches of one znode, as something else is there.
    OneOfItsTwo,
    /// It says so if both are there when it looks for the one that is made behind the other.
    AtOnce,
    /// It says so if it has an event as it comes to the news of its connection.
    IsLate,
}

/// Nobody says so, but for what is said behind its own write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Never {
    has_written: bool,
}

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Nobody says so before its own write.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeCreated { path, .. }) => self.has_written |= **path == *"/a/own",
            Event::Observed { .. } if !self.has_written => {
                found.push(Finding::Broken(Violation::new("somebody says so".into(), None)));
            }
            _ => {}
        }
    }
}

/// Nobody waits for ever when its session has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Ends {
    is_over: bool,
    has_ended: bool,
}

impl Promise for Ends {
    fn terms(&self) -> Terms {
        Terms::of("ends").about("Whose session has ended is told so.")
    }

    fn see(&mut self, event: &Event, _: &mut Vec<Finding>) {
        self.is_over |= matches!(event, Event::Is(GroundTruth::SessionClosed { .. }));
        self.has_ended |= matches!(event, Event::Is(GroundTruth::Finished { .. }));
    }

    fn at_rest(&self, _: &Rest, found: &mut Vec<Finding>) {
        if self.is_over && !self.has_ended {
            found.push(Finding::Broken(Violation::new("it waits for ever".into(), None)));
        }
    }
}

async fn actor(way: Way, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    if role.me.process > 0 {
        while make(way, &zk).await.is_err_and(|error| !error.is_session_over()) {
            while zk.state() == KeeperState::Disconnected {
                zk.state_change().await;
            }
        }
    } else if waits(way, &zk).await.unwrap_or(false) {
        probe.observe(Observation::note(Word::own("is late"), "", 0));
    }
    End::Done
}

/// Both at once, or neither; or one after the other.
async fn make(way: Way, zk: &impl ZooKeeper) -> Result<(), Error> {
    if way == Way::OneOfItsTwo {
        for path in ["/a/first", "/a/x"] {
            let path: ZPath = path.parse().expect("a path");
            match zk.create(&path, Data::NULL, CreateMode::Persistent).await {
                Err(error) if error.code != ErrorCode::NodeExists => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        return Ok(());
    }
    let create = |path: &str| Op::create(path.into(), Data::NULL, CreateMode::Persistent);
    zk.multi(vec![create("/a/first"), create("/a/x")]).await.map(drop)
}

async fn waits(way: Way, zk: &impl ZooKeeper) -> Result<bool, Error> {
    let [first, x, own]: [ZPath; 3] =
        ["/a/first", "/a/x", "/a/own"].map(|path| path.parse().expect("a path"));
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
            zk.create(&own, Data::NULL, CreateMode::Persistent).await?;
        }
        Way::AtOnce => {
            let of_first = zk.exists_watch(&first);
            drop(zk.create(&own, Data::NULL, CreateMode::Persistent));
            let (None, of_first) = of_first.await? else { return Ok(false) };
            return Ok(matches!(race(watch, of_first).await, Either::Left(_)));
        }
        Way::OneOfItsTwo => {
            let (None, of_first) = zk.exists_watch(&first).await? else { return Ok(false) };
            let again = zk.exists_watch(&x);
            of_first.await;
            drop(watch);
            if let (None, watch) = again.await? {
                watch.await;
            }
            return Ok(false);
        }
        Way::OneOfTwo | Way::OfTheEnd | Way::Persistent => {}
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
            Way::OneOfTwo | Way::BesideAWrite | Way::OneOfItsTwo => {
                vec![Box::new(NoWaiterStuck::while_all_live())]
            }
            Way::OfTheEnd => vec![Box::new(Ends::default())],
            Way::AtOnce | Way::Persistent | Way::IsLate => vec![Box::new(Never::default())],
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
    // What was there when it was paused it may look at one after the other.
    let bounds = Bounds { pauses: 1, ..Bounds::clients(2) };
    assert_eq!(breaks(Way::OneOfItsTwo, bounds), [""; 0]);
}

/// Also by a server to which its watches are still on their way.
#[test]
fn whoever_waits_is_told_of_the_end_of_its_session() {
    let bounds = Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(1) };
    assert_eq!(breaks(Way::OfTheEnd, bounds), [""; 0]);
}

#[test]
fn events_may_be_there_at_once_while_something_is_asked() {
    assert_eq!(breaks(Way::AtOnce, Bounds::clients(2)), ["never"]);
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

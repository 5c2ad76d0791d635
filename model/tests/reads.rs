//! What code reads comes in each way in which it may.

use crate::common::{broken, run};
use std::sync::Arc;
use zk_api::{CreateMode, Data, Either, Error, Local, ZPath, ZooKeeper, race};
use zk_harness::event::{End, Event, Observation};
use zk_harness::prelude::{AnyProbe, AnyZooKeeper};
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::CheckConfig;

/// What process 0 looks at; process 1 makes `/a/x` and `/a/y`, or has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Which of its children `/a` lists first, of which it makes use behind a checkpoint.
    Order,
    /// Of which it is told first, as both go with the session that made them.
    Ends,
    /// Whether a later znode is of an earlier time.
    Times,
    /// Whether what an administrator has set last is of an earlier time than what he had set before.
    TimesOfSets,
    /// Whose session has the lower id: its own, or that of process 1.
    Owners,
}

const SAW: Word<'static> = Word::own("saw");

/// Nobody says that he has seen this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never(&'static str);

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Nobody says that he has seen this.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Observed { what, .. } = event
            && what.told().is_some_and(|(word, about, _)| word == SAW && about == self.0)
        {
            found.push(Finding::Broken(Violation::new("he did".into(), None)));
        }
    }
}

fn paths() -> [ZPath; 3] {
    ["/a", "/a/x", "/a/y"].map(|path| path.parse().expect("a path"))
}

async fn actor(way: Way, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    let saw = if role.me.process == 0 { look(way, &zk).await } else { make(way, &zk).await };
    if let Ok(Some(saw)) = saw {
        probe.observe(Observation::note(SAW, saw, 0));
    }
    End::Done
}

async fn make(way: Way, zk: &impl ZooKeeper) -> Result<Option<&'static str>, Error> {
    let [_, x, y] = paths();
    let mode = if way == Way::Order { CreateMode::Persistent } else { CreateMode::Ephemeral };
    let (of_x, of_y) = (zk.create(&x, Data::NULL, mode), zk.create(&y, Data::NULL, mode));
    of_x.await?;
    of_y.await?;
    if way == Way::Ends {
        zk.close().await?;
    }
    Ok(None)
}

async fn look(way: Way, zk: &impl ZooKeeper) -> Result<Option<&'static str>, Error> {
    let [a, x, y] = paths();
    match way {
        Way::Order => {
            let names = zk.children(&a).await?;
            let [first, _] = &*names else { return Ok(None) };
            zk.checkpoint("listed", &[Local::Text(first)]);
            zk.sync(&a).await?;
            Ok(Some(if **first == *"x" { "x" } else { "y" }))
        }
        Way::Ends => {
            let (Some(_), of_y) = zk.exists_watch(&y).await? else { return Ok(None) };
            let (Some(_), of_x) = zk.exists_watch(&x).await? else { return Ok(None) };
            Ok(Some(match race(of_x, of_y).await {
                Either::Left(_) => "x",
                Either::Right(_) => "y",
            }))
        }
        Way::Times => {
            let create = |path| zk.create2(path, Data::NULL, zk_api::open_acl(), CreateMode::Persistent);
            let own: ZPath = "/a/own".parse().expect("a path");
            let other: ZPath = "/a/other".parse().expect("a path");
            let (first, second) = (create(&own), create(&other));
            let (first, second) = (first.await?.1, second.await?.1);
            Ok(Some(if first.ctime_ms() <= second.ctime_ms() { "in order" } else { "otherwise" }))
        }
        Way::TimesOfSets => {
            let own: ZPath = "/a/own".parse().expect("a path");
            zk.create(&own, Data::NULL, CreateMode::Persistent).await?;
            let (first, second) = (zk.data(&own), zk.data(&own));
            let (first, second) = (first.await?.1, second.await?.1);
            let are_set = (first.version(), second.version()) == (1, 2);
            Ok(are_set.then_some(if first.mtime_ms() <= second.mtime_ms() {
                "in order"
            } else {
                "otherwise"
            }))
        }
        Way::Owners => {
            let own: ZPath = "/a/own".parse().expect("a path");
            let mode = CreateMode::Ephemeral;
            let (_, of_own) = zk.create2(&own, Data::NULL, zk_api::open_acl(), mode).await?;
            let Some(other) = zk.exists(&x).await? else { return Ok(None) };
            let is_lower = of_own.ephemeral_owner() < other.ephemeral_owner();
            Ok(Some(if is_lower { "in order" } else { "otherwise" }))
        }
    }
}

#[test]
fn what_code_reads_comes_in_each_way() {
    for (way, admin, ways) in [
        (Way::Order, 0, ["x", "y"]),
        (Way::Ends, 0, ["x", "y"]),
        (Way::Times, 0, ["in order", "otherwise"]),
        (Way::TimesOfSets, 2, ["in order", "otherwise"]),
        (Way::Owners, 0, ["in order", "otherwise"]),
    ] {
        let clients = if matches!(way, Way::Times | Way::TimesOfSets) { 1 } else { 2 };
        for saw in ways {
            let trial = Trial::new("reads", move |zk, probe, role| actor(way, zk, probe, role))
                .opts_out(&zk_harness::promises::STANDARD)
                .setup(["/a"])
                .administered(&["new"])
                .promises(move || vec![Box::new(Never(saw))]);
            let check = run(Arc::new(trial), &CheckConfig::new(Bounds { admin, ..Bounds::clients(clients) }));
            assert_eq!(broken(&check), ["never"], "{way:?} {saw}: {:?}", check.verdict);
        }
    }
}

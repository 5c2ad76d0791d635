//! What code reads comes in each way in which it may.

use crate::common::{broken, run};
use std::sync::Arc;
use zk_api::{CreateMode, Data, Either, Error, KeeperState, Local, Op, ZPath, ZooKeeper, race};
use zk_harness::event::{End, Event, Observation};
use zk_harness::prelude::{AnyProbe, AnyZooKeeper};
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::{Check, CheckConfig, Verdict};

/// What process 0 looks at; process 1 makes `/a/x` and `/a/y`, or has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Which of its children `/a` lists first, of which it makes use behind a checkpoint, or behind another answer.
    Order,
    OrderLater,
    /// Of which it is told first, as both go with the session that made them.
    Ends,
    /// Whether a later znode is of an earlier time.
    Times,
    /// The same of what two transactions of several operations have made.
    TimesOfMultis,
    /// Whether what an administrator has set last is of an earlier time than what he had set before.
    TimesOfSets,
    /// Whose session has the lower id: its own, or that of process 1; and the same of its next one.
    Owners,
    OwnersAgain,
    /// Whether the last change of children is a later one when a child is gone.
    Deletions,
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
    let mode = if matches!(way, Way::Order | Way::OrderLater) {
        CreateMode::Persistent
    } else {
        CreateMode::Ephemeral
    };
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
        Way::Order | Way::OrderLater => {
            let names = zk.children(&a).await?;
            let [first, _] = &*names else { return Ok(None) };
            if way == Way::Order {
                zk.checkpoint("listed", &[Local::Text(first)]);
            }
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
        Way::TimesOfMultis => {
            let paths: [ZPath; 2] = ["/a/own", "/a/other"].map(|path| path.parse().expect("a path"));
            for path in &paths {
                let _ = zk.multi(vec![Op::create(path.text(), Data::NULL, CreateMode::Persistent)]).await?;
            }
            let (Some(first), Some(second)) = (zk.exists(&paths[0]).await?, zk.exists(&paths[1]).await?)
            else {
                return Ok(None);
            };
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
        Way::Deletions => {
            zk.create(&x, Data::NULL, CreateMode::Persistent).await?;
            let before = zk.exists(&a).await?.map(|stat| stat.pzxid());
            zk.delete(&x, -1).await?;
            let is_later = before < zk.exists(&a).await?.map(|stat| stat.pzxid());
            Ok(Some(if is_later { "in order" } else { "otherwise" }))
        }
        Way::Owners | Way::OwnersAgain => whose(way, zk).await,
    }
}

/// Whose session has the lower id, once it has the next one or at once.
async fn whose(way: Way, zk: &impl ZooKeeper) -> Result<Option<&'static str>, Error> {
    let [_, x, _] = paths();
    let Some(other) = zk.exists(&x).await? else { return Ok(None) };
    for state in [KeeperState::SyncConnected, KeeperState::Disconnected, KeeperState::Expired] {
        while way == Way::OwnersAgain && zk.state() == state {
            zk.state_change().await;
        }
    }
    let own: ZPath = "/a/own".parse().expect("a path");
    let mode = CreateMode::Ephemeral;
    let (_, of_own) = zk.create2(&own, Data::NULL, zk_api::open_acl(), mode).await?;
    let is_lower = of_own.ephemeral_owner() < other.ephemeral_owner();
    Ok(Some(if is_lower { "in order" } else { "otherwise" }))
}

#[test]
fn what_code_reads_comes_in_each_way() {
    for (way, admin, ways) in [
        (Way::Order, 0, ["x", "y"]),
        (Way::OrderLater, 0, ["x", "y"]),
        (Way::Ends, 0, ["x", "y"]),
        (Way::Times, 0, ["in order", "otherwise"]),
        (Way::TimesOfMultis, 0, ["in order", "otherwise"]),
        (Way::TimesOfSets, 2, ["in order", "otherwise"]),
        (Way::Owners, 0, ["in order", "otherwise"]),
        (Way::OwnersAgain, 0, ["in order", "otherwise"]),
    ] {
        let clients = if matches!(way, Way::Times | Way::TimesOfMultis | Way::TimesOfSets) { 1 } else { 2 };
        for saw in ways {
            let expiries = u8::from(way == Way::OwnersAgain);
            let check = check(way, saw, Bounds { admin, expiries, ..Bounds::clients(clients) });
            assert_eq!(broken(&check), ["never"], "{way:?} {saw}: {:?}", check.verdict);
        }
    }
}

fn check(way: Way, saw: &'static str, bounds: Bounds) -> Check {
    let trial = Trial::new("reads", move |zk, probe, role| actor(way, zk, probe, role))
        .opts_out(&zk_harness::promises::STANDARD)
        .setup(["/a"])
        .administered(&["new"])
        .promises(move || vec![Box::new(Never(saw))]);
    run(
        Arc::new(if way == Way::OwnersAgain { trial.renews_session() } else { trial }),
        &CheckConfig::new(bounds),
    )
}

#[test]
fn a_deletion_is_a_later_change_of_children() {
    for (saw, may) in [("in order", true), ("otherwise", false)] {
        let check = check(Way::Deletions, saw, Bounds::clients(1));
        assert_eq!(broken(&check).contains(&"never"), may, "{saw}: {:?}", check.verdict);
    }
}

/// Of what a model does not vary, or not in every way, it says so.
#[test]
fn what_is_read_and_comes_in_one_way_leaves_a_check_undecided() {
    #[derive(Clone, Copy, Debug)]
    enum Looks {
        AtAnId,
        AtANumber,
        AtManyNames,
        ForUpkeep,
    }
    for looks in [Looks::AtAnId, Looks::AtANumber, Looks::AtManyNames, Looks::ForUpkeep] {
        let trial = Trial::new("looks", move |zk, probe, _| async move {
            let [a, x, _] = paths();
            let about = match looks {
                Looks::AtAnId => zk.session().get().to_string(),
                Looks::AtANumber => match zk.exists(&a).await {
                    Ok(Some(stat)) => stat.mzxid().counter().to_string(),
                    _ => return End::Failed,
                },
                Looks::AtManyNames => match zk.children(&a).await {
                    Ok(names) => names[0].to_string(),
                    Err(_) => return End::Failed,
                },
                Looks::ForUpkeep => {
                    let _ = zk.create(&x, Data::NULL, CreateMode::Container).await;
                    "".to_owned()
                }
            };
            probe.observe(Observation::note(SAW, &about, 0));
            End::Done
        });
        let trial = trial
            .opts_out(&zk_harness::promises::STANDARD)
            .setup(["/a", "/a/1", "/a/2", "/a/3", "/a/4", "/a/5", "/a/6"])
            .promises(|| vec![Box::new(Never("nothing"))]);
        let check = run(Arc::new(trial), &CheckConfig::new(Bounds::clients(1)));
        assert!(matches!(check.verdict, Verdict::Undecided { .. }), "{looks:?}: {:?}", check.verdict);
    }
}

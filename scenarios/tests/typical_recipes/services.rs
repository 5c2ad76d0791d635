//! Registries, memberships, claims and permissions.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, connected, ensure, faults, insist, judge, note, path,
    remove,
};
use crate::typical_recipes::promises::{Once, Registered, SeesAll};
use std::collections::BTreeSet;
use std::time::Duration;
use zoocheck::Faults;
use zoocheck::api::{
    AddWatchMode, CreateMode, Data, Either, ErrorCode, EventType, ZooKeeper, creator_acl, race,
};
use zoocheck::trials::event::{End, Observation};
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{NoFailure, NoForeignDelete};
use zoocheck::trials::trial::{Bounds, Role};
use zoocheck::trials::words::Word;

/// Each service has an ephemeral znode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registry {
    /// One that is there is its own.
    Assumes,
    /// One that is there and is not its own is of a former life, and is replaced.
    Replaces,
}

impl Recipe for Registry {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Registered::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let mine = path(&format!("{R}/of-{}", role.me.process));
        loop {
            match zk.create(&mine, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => break,
                Err(error) if error.code == ErrorCode::NodeExists => {
                    let stat = insist(&zk, || zk.exists(&mine)).await?;
                    match stat {
                        _ if self == Registry::Assumes => break,
                        Some(stat) if stat.ephemeral_owner() == zk.session() => break,
                        Some(_) => remove(&zk, &mine).await?,
                        None => {}
                    }
                }
                Err(error) => again(&zk, error).await?,
            }
        }
        note(&probe, "registers", mine.as_str(), 0);
        probe.observe(Observation::begins(Word::own("serves"), mine.as_str(), 0));
        probe.work().await;
        probe.observe(Observation::ends(Word::own("has served"), mine.as_str(), 0));
        Ok(())
    }
}

fn lives() -> Bounds {
    Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) }
}

fn crashes() -> Faults {
    Faults { client_crashes: 20, ..Faults::none() }
}

#[test]
fn a_service_that_finds_the_znode_of_its_former_life_loses_it() {
    let says = [Expected::Breaks("registered"); 2];
    judge("registry/assumes", Registry::Assumes, lives(), crashes(), says);
}

#[test]
fn a_service_that_replaces_the_znode_of_its_former_life_is_listed() {
    judge("registry/replaces", Registry::Replaces, lives(), crashes(), [Expected::Holds; 2]);
    // What its last life but one has asked for is still on its way.
    let bounds = Bounds { crashes: 2, restarts: 2, ..Bounds::clients(1) };
    let says = [Expected::Breaks("registered"), Expected::Holds];
    judge("registry/third-life", Registry::Replaces, bounds, crashes(), says);
}

/// Process 0 knows who is there, by a recursive watch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Members {
    /// By what the events say.
    Events,
    /// By a list, after each event.
    Lists,
    /// By a list, after each event and each change of the connection.
    ListsAndConnections,
}

impl Members {
    async fn observe<Z: Client, P: Teller>(self, zk: Z, probe: P) -> Result<(), End> {
        let root = path(R);
        let mut watch = insist(&zk, || zk.add_watch(&root, AddWatchMode::PersistentRecursive)).await?;
        let list = || insist(&zk, || zk.children(&root));
        let mut there: BTreeSet<String> = list().await?.iter().map(|name| format!("{R}/{name}")).collect();
        loop {
            note(&probe, "sees", R, there.len() as i64);
            let change = zk.state_change();
            let event = match self {
                Members::ListsAndConnections => match race(&mut watch, change).await {
                    Either::Left(event) => Some(event),
                    Either::Right(_) => None,
                },
                _ => Some((&mut watch).await),
            };
            match (self, event.map(|event| (event.kind, event.path))) {
                (_, Some((EventType::None, _))) => return Err(End::SessionLost),
                (Members::Events, Some((EventType::NodeCreated, at))) => {
                    there.insert(at.to_string());
                }
                (Members::Events, Some((EventType::NodeDeleted, at))) => {
                    there.remove(&*at);
                }
                (Members::Events, _) => {}
                _ => {
                    connected(&zk).await?;
                    there = list().await?.iter().map(|name| format!("{R}/{name}")).collect();
                }
            }
        }
    }
}

impl Recipe for Members {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(SeesAll::default())]
    }

    fn stays(self) -> bool {
        true
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        if role.me.process == 0 {
            return self.observe(zk, probe).await;
        }
        let mine = path(&format!("{R}/of-{}", role.me.process));
        for _ in 0..role.rounds {
            ensure(&zk, &mine, &Data::NULL, CreateMode::Ephemeral).await?;
            probe.work().await;
            if role.rounds > 1 {
                remove(&zk, &mine).await?;
                probe.work().await;
            }
        }
        Ok(())
    }
}

#[test]
fn who_counts_events_misses_those_of_a_lost_connection() {
    judge("members/events", Members::Events, FIRST, faults(60, 0), [Expected::Breaks("sees-all"); 2]);
}

#[test]
fn who_lists_after_each_event_misses_those_of_a_lost_connection() {
    judge("members/lists", Members::Lists, FIRST, faults(60, 0), [Expected::Breaks("sees-all"); 2]);
}

#[test]
fn who_lists_after_each_connection_sees_all() {
    let says = [Expected::Holds; 2];
    judge("members/connections", Members::ListsAndConnections, FIRST, faults(60, 0), says);
}

/// One piece of work, which is to be done once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// Looks whether it is done, and then claims it.
    LooksFirst,
    /// Claims it, and then looks.
    ClaimsFirst,
}

impl Recipe for Claim {
    const SETUP: &[&str] = &["/r/job"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Once::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        let (claim, done) = (path("/r/job/claim"), path("/r/job/done"));
        let is_done = || insist(&zk, || zk.exists(&done));
        loop {
            if self == Claim::LooksFirst && is_done().await?.is_some() {
                return Ok(());
            }
            match zk.create(&claim, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => break,
                Err(error) if error.code == ErrorCode::NodeExists => {
                    let (stat, watch) = insist(&zk, || zk.exists_watch(&claim)).await?;
                    match stat {
                        Some(stat) if stat.ephemeral_owner() == zk.session() => break,
                        Some(_) if watch.await.kind == EventType::None => return Err(End::SessionLost),
                        _ => {}
                    }
                }
                Err(error) => again(&zk, error).await?,
            }
        }
        if self == Claim::LooksFirst || is_done().await?.is_none() {
            note(&probe, "gets", "/r/job", 0);
            probe.work().await;
            ensure(&zk, &done, &Data::NULL, CreateMode::Persistent).await?;
        }
        remove(&zk, &claim).await
    }
}

#[test]
fn work_that_is_looked_at_before_it_is_claimed_is_done_twice() {
    let bounds = Bounds { lag: 1, ..Bounds::clients(2) };
    judge("claim/looks-first", Claim::LooksFirst, bounds, Faults::none(), [Expected::Breaks("once"); 2]);
}

#[test]
fn work_that_is_claimed_before_it_is_looked_at_is_done_once_but_for_expiries() {
    let bounds = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    judge("claim/claims-first", Claim::ClaimsFirst, bounds, faults(20, 0), [Expected::Holds; 2]);
    let says = [Expected::Breaks("once"); 2];
    judge("claim/expires", Claim::ClaimsFirst, FIRST, faults(0, 20), says);
}

/// A znode that is its creator's alone; everybody else tries to delete it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// Under a parent that is everybody's.
    OpenParent,
    /// Under a parent that is the creator's.
    ClosedParent,
    /// By who has not told who it is.
    Unnamed,
}

impl Recipe for Own {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NoForeignDelete::of(R)), Box::new(NoFailure)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let parent = path(if self == Own::ClosedParent { "/r/own" } else { R });
        let own = parent.join("secret").expect("a path");
        if role.me.process == 0 {
            if self != Own::Unnamed {
                insist(&zk, || zk.authenticate("digest", Data::from("me:secret"))).await?;
            }
            if self == Own::ClosedParent {
                self.make(&zk, &parent, CreateMode::Persistent).await?;
            }
            self.make(&zk, &own, CreateMode::Ephemeral).await?;
            note(&probe, "has made", own.as_str(), 0);
            probe.work().await;
            return remove(&zk, &own).await;
        }
        probe.work().await;
        note(&probe, "tries", own.as_str(), 0);
        while let Err(error) = zk.delete(&own, -1).await {
            match error.code {
                ErrorCode::NoAuth | ErrorCode::NoNode => break,
                _ => again(&zk, error).await?,
            }
        }
        zk.sleep(Duration::from_millis(100)).await;
        Ok(())
    }
}

impl Own {
    async fn make(self, zk: &impl ZooKeeper, at: &zoocheck::api::ZPath, mode: CreateMode) -> Result<(), End> {
        while let Err(error) = zk.create2(at, Data::NULL, creator_acl(), mode).await {
            match error.code {
                ErrorCode::NodeExists => break,
                _ => again(zk, error).await?,
            }
        }
        Ok(())
    }
}

#[test]
fn a_creators_acl_does_not_keep_others_from_deleting_the_znode() {
    let says = [Expected::Breaks("no-foreign-delete"); 2];
    judge("own/open-parent", Own::OpenParent, FIRST, Faults::none(), says);
}

#[test]
fn a_creators_acl_of_the_parent_does() {
    judge("own/own-parent", Own::ClosedParent, FIRST, faults(10, 0), [Expected::Holds; 2]);
}

#[test]
fn a_creator_without_a_name_fails() {
    judge("own/unnamed", Own::Unnamed, FIRST, Faults::none(), [Expected::Breaks("no-failure"); 2]);
}

//! Locks of various shapes.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, asks, enlist, faults, insist, judge, judge_at,
    ordered, path, read, released, remove, section,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Either, ErrorCode, Local, Stat, Text, race, sequence_of};
use zoocheck::trials::event::End;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoFailure, NoForeignDelete, NoWaiterStuck};
use zoocheck::trials::trial::{Bounds, Role};
use zoocheck::{CheckConfig, Faults};

const PAUSE: Duration = Duration::from_millis(500);
const EXCLUSION: &str = "exclusion-among-live-sessions";
const STUCK: &str = "no-waiter-stuck";
const FOREIGN: &str = "no-foreign-delete";

fn exclusion() -> Box<dyn AnyPromise> {
    Box::new(ExclusionAmongLiveSessions::of(R))
}

/// One ephemeral znode; who finds it there tries again after a while.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spin {
    /// Repeats a delete whose answer was lost.
    Blind,
    /// Looks first whether the znode is still its own.
    Looks,
    /// Looks behind a write.
    Ordered,
    /// Does not know its own znode.
    Forgets,
}

impl Recipe for Spin {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        match self {
            Spin::Forgets => vec![exclusion(), Box::new(NoWaiterStuck)],
            _ => vec![exclusion(), Box::new(NoForeignDelete::of(R))],
        }
    }

    fn polls(self) -> bool {
        true
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let lock = path("/r/lock");
        for round in 0..role.rounds {
            asks(&probe);
            loop {
                zk.checkpoint("spin", &[Local::Number(round.into())]);
                match zk.create(&lock, Data::NULL, CreateMode::Ephemeral).await {
                    Ok(_) => break,
                    Err(error) if error.code == ErrorCode::NodeExists => {
                        let stat = insist(&zk, || zk.exists(&lock)).await?;
                        if self != Spin::Forgets && stat.is_some_and(|s| s.ephemeral_owner() == zk.session())
                        {
                            break;
                        }
                        zk.sleep(PAUSE).await;
                    }
                    Err(error) => again(&zk, error).await?,
                }
            }
            section(&probe).await;
            while let Err(error) = zk.delete(&lock, -1).await {
                if error.code == ErrorCode::NoNode {
                    break;
                }
                again(&zk, error).await?;
                let stat = match self {
                    Spin::Blind | Spin::Forgets => continue,
                    Spin::Looks => insist(&zk, || zk.exists(&lock)).await?,
                    Spin::Ordered => ordered(&zk, || zk.exists(&lock)).await?,
                };
                if stat.is_none_or(|stat| stat.ephemeral_owner() != zk.session()) {
                    break;
                }
            }
            released(&probe);
        }
        Ok(())
    }
}

#[test]
fn a_spin_lock_that_repeats_its_delete_deletes_the_next_holders_znode() {
    judge("spin/blind", Spin::Blind, FIRST, Faults::default(), [Expected::Breaks(FOREIGN); 2]);
}

#[test]
fn a_spin_lock_that_looks_before_it_deletes_again_looks_too_early() {
    let config = CheckConfig::new(FIRST);
    let lags = Faults { server_lags: 20, drops: 40, ..Faults::none() };
    judge_at("spin/looks", Spin::Looks, &config, lags, 3, [Expected::Breaks(FOREIGN); 2]);
}

#[test]
fn a_spin_lock_that_looks_behind_a_write_is_right() {
    judge("spin/ordered", Spin::Ordered, FIRST, Faults::default(), [Expected::Holds; 2]);
}

#[test]
fn a_spin_lock_that_does_not_know_its_own_znode_spins_for_ever() {
    let says = [Expected::Breaks("no-livelock"), Expected::Breaks(STUCK)];
    judge("spin/forgets", Spin::Forgets, FIRST, faults(40, 0), says);
}

/// A queue of sequential znodes; nobody waits for longer than so long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timed {
    /// Who gives up leaves its znode.
    Leaves,
    /// Who gives up deletes it.
    Cleans,
}

impl Recipe for Timed {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![exclusion(), Box::new(NoWaiterStuck), Box::new(NoFailure)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        // The first process waits for as long as it takes.
        let patient = role.me.process == 0;
        asks(&probe);
        let mine = enlist(&zk, &format!("{}-", probe.guid())).await?;
        let mut end = zk.sleep(Duration::from_secs(3));
        loop {
            let (names, watch) = insist(&zk, || zk.children_watch(&path(R))).await?;
            if names.iter().all(|name| sequence_of(name) >= sequence_of(&mine)) {
                section(&probe).await;
                break;
            }
            if patient {
                watch.await;
            } else if let Either::Right(()) = race(watch, &mut end).await {
                if self == Timed::Leaves {
                    return Ok(());
                }
                break;
            }
        }
        remove(&zk, &path(&format!("{R}/{mine}"))).await?;
        released(&probe);
        Ok(())
    }
}

#[test]
fn who_gives_up_and_leaves_its_znode_holds_up_the_others() {
    judge("timed/leaves", Timed::Leaves, Bounds::clients(3), Faults::default(), [Expected::Breaks(STUCK); 2]);
}

#[test]
fn who_gives_up_and_deletes_its_znode_is_right() {
    judge("timed/cleans", Timed::Cleans, FIRST, Faults::default(), [Expected::Holds; 2]);
}

/// A persistent znode with the holder's name, which the holder writes again and again.
#[derive(Clone, Copy)]
struct Lease;

impl Recipe for Lease {
    const SETUP: &[&str] = &["/r/lease"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![exclusion()]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let lease = path("/r/lease");
        let me = Data::from(format!("{}", i64::from(role.me.process) + 1).as_str());
        asks(&probe);
        let stat = loop {
            let (data, stat) = insist(&zk, || zk.data(&lease)).await?;
            if read(&data) > 0 {
                zk.sleep(Duration::from_secs(3)).await;
                if insist(&zk, || zk.data(&lease)).await?.1.mzxid() != stat.mzxid() {
                    continue;
                }
            }
            // Free, or not renewed for three seconds.
            match zk.set_data(&lease, me.clone(), stat.version()).await {
                Ok(stat) => break stat,
                Err(error) if error.code == ErrorCode::BadVersion => {}
                Err(error) => again(&zk, error).await?,
            }
        };
        let done = Arc::new(AtomicBool::new(false));
        let (keeper, stop) = (zk.clone(), done.clone());
        probe.spawn(Box::pin(async move {
            let mut version = stat.version();
            loop {
                keeper.sleep(Duration::from_secs(1)).await;
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                match keeper.set_data(&lease, me.clone(), version).await {
                    Ok(stat) => version = stat.version(),
                    Err(_) => return,
                }
            }
        }));
        section(&probe).await;
        done.store(true, Ordering::SeqCst);
        insist(&zk, || zk.set_data(&path("/r/lease"), Data::NULL, -1)).await?;
        released(&probe);
        Ok(())
    }
}

#[test]
fn a_lease_that_is_renewed_too_late_has_two_holders() {
    judge("lease", Lease, FIRST, Faults::default(), [Expected::Breaks(EXCLUSION); 2]);
}

/// Whose ephemeral znode is the oldest holds the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Oldest {
    Time,
    Zxid,
    Newest,
}

impl Recipe for Oldest {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![exclusion(), Box::new(NoFailure)]
    }

    fn polls(self) -> bool {
        true
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        // The first process has the last name.
        let mine = path(&format!("{R}/of-{}", 9 - role.me.process));
        asks(&probe);
        crate::typical_recipes::judge::ensure(&zk, &mine, &Data::NULL, CreateMode::Ephemeral).await?;
        loop {
            zk.checkpoint("oldest", &[]);
            let mut all: Vec<(Stat, Text)> = Vec::new();
            for name in insist(&zk, || zk.children(&path(R))).await? {
                let at = path(&format!("{R}/{name}"));
                all.extend(insist(&zk, || zk.exists(&at)).await?.map(|stat| (stat, name)));
            }
            let first = match self {
                Oldest::Time => all.iter().min_by_key(|(stat, name)| (stat.ctime_ms(), name)),
                Oldest::Zxid => all.iter().min_by_key(|(stat, _)| stat.czxid()),
                Oldest::Newest => all.iter().max_by_key(|(stat, name)| (stat.pzxid(), name)),
            };
            if first.is_some_and(|(_, name)| **name == *mine.name()) {
                break;
            }
            zk.sleep(PAUSE).await;
        }
        section(&probe).await;
        remove(&zk, &mine).await?;
        released(&probe);
        Ok(())
    }
}

#[test]
fn the_oldest_by_the_clock_may_be_two() {
    judge("oldest/time", Oldest::Time, FIRST, Faults::default(), [Expected::Breaks(EXCLUSION); 2]);
}

#[test]
fn the_oldest_by_zxid_is_one() {
    judge("oldest/zxid", Oldest::Zxid, FIRST, faults(20, 20), [Expected::Holds; 2]);
}

#[test]
fn the_oldest_may_be_the_znode_of_a_former_life() {
    let bounds = Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) };
    let crashes = Faults { client_crashes: 20, ..Faults::none() };
    judge("oldest/former-life", Oldest::Zxid, bounds, crashes, [Expected::Breaks(EXCLUSION); 2]);
}

#[test]
fn the_newest_is_whoever_came_last() {
    judge("oldest/newest", Oldest::Newest, FIRST, faults(20, 0), [Expected::Breaks(EXCLUSION); 2]);
}

//! Recipes that rest on times, numbers and kinds of znodes that are seldom used.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, asks, ensure, faults, insist, judge, judge_at, note,
    number, ordered, path, released, remove, section,
};
use crate::typical_recipes::promises::{Never, Once};
use std::time::{Duration, Instant};
use zoocheck::api::{CreateMode, Data, Either, ErrorCode, KeeperState, Stat, race};
use zoocheck::trials::event::End;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoFailure, NoWaiterStuck};
use zoocheck::trials::trial::{Bounds, Role};
use zoocheck::{CheckConfig, Faults};

/// A lock of which anybody may take the znode away if it is older than half a second, by the servers' clock.
#[derive(Clone, Copy)]
struct Stale;

impl Recipe for Stale {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of(R))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (lock, now) = (path("/r/lock"), path(&format!("{R}/now-{}", role.me.process)));
        asks(&probe);
        ensure(&zk, &now, &Data::NULL, CreateMode::Persistent).await?;
        // It looks twice, and then goes without.
        for _ in 0..2 {
            match zk.create(&lock, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => {
                    section(&probe).await;
                    break;
                }
                Err(error) if error.code == ErrorCode::NodeExists => {}
                Err(error) => again(&zk, error).await?,
            }
            zk.sleep(Duration::from_secs(1)).await;
            let now_ms = insist(&zk, || zk.set_data(&now, Data::NULL, -1)).await?.mtime_ms();
            match insist(&zk, || zk.exists(&lock)).await? {
                Some(stat) if now_ms - stat.mtime_ms() > 500 => remove(&zk, &lock).await?,
                _ => {}
            }
        }
        released(&probe);
        Ok(())
    }
}

#[test]
fn a_lock_that_is_taken_away_by_the_clock_has_two_holders() {
    let says = [Expected::Breaks("exclusion-among-live-sessions"); 2];
    judge("stale", Stale, Bounds::clients(2), Faults::none(), says);
}

/// A lock that is taken away from whoever holds it once one's own machine says that 300 ms are over.
#[derive(Clone, Copy)]
struct Impatient;

impl Recipe for Impatient {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of(R))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        let lock = path("/r/lock");
        asks(&probe);
        let since = Instant::now();
        while zk.create(&lock, Data::NULL, CreateMode::Ephemeral).await.is_err() {
            if since.elapsed() > Duration::from_millis(300) {
                remove(&zk, &lock).await?;
            }
            zk.sleep(Duration::from_millis(100)).await;
            if zk.state().is_final() {
                return Err(End::SessionLost);
            }
        }
        section(&probe).await;
        remove(&zk, &lock).await?;
        released(&probe);
        Ok(())
    }
}

/// A model has no such clock, so it says that it cannot tell.
#[test]
fn a_lock_that_is_taken_away_by_the_machines_clock_is_not_determined() {
    let says = [Expected::NotDetermined, Expected::Breaks("exclusion-among-live-sessions")];
    judge("impatient", Impatient, Bounds::clients(2), Faults::none(), says);
}

/// Process 1 keeps a list as long as the parent's Stat says that it is the same. Process 0 adds to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    Pzxid,
    Cversion,
    Version,
    Mzxid,
}

impl Recipe for Listed {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("list-is-the-same"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let root = path(R);
        if role.me.process == 0 {
            for at in ["/r/one", "/r/two"] {
                ensure(&zk, &path(at), &Data::NULL, CreateMode::Persistent).await?;
                probe.work().await;
            }
            return remove(&zk, &path("/r/one")).await;
        }
        let is_same = |one: Stat, other: Stat| match self {
            Listed::Pzxid => one.pzxid() == other.pzxid(),
            Listed::Mzxid => one.mzxid() == other.mzxid(),
            Listed::Cversion => one.cversion() == other.cversion(),
            Listed::Version => one.version() == other.version(),
        };
        let (mut names, stat) = insist(&zk, || zk.children2(&root)).await?;
        probe.work().await;
        let (mut then, now) = insist(&zk, || zk.children2(&root)).await?;
        names.sort();
        then.sort();
        let is_right = names == then || !is_same(stat, now);
        note(&probe, if is_right { "good" } else { "bad" }, R, then.len() as i64);
        Ok(())
    }
}

#[test]
fn a_list_is_the_same_as_long_as_cversion_is() {
    judge("listed/cversion", Listed::Cversion, FIRST, Faults::default(), [Expected::Holds; 2]);
    let config = CheckConfig { true_zxids: true, ..CheckConfig::new(FIRST) };
    judge_at("listed/true-pzxid", Listed::Pzxid, &config, Faults::default(), 1, [Expected::Holds; 2]);
}

#[test]
fn a_list_is_the_same_as_long_as_pzxid_is() {
    judge("listed/pzxid", Listed::Pzxid, FIRST, Faults::default(), [Expected::Holds; 2]);
}

#[test]
fn a_list_is_another_though_version_and_mzxid_are_the_same() {
    let says = [Expected::Breaks("list-is-the-same"); 2];
    judge("listed/version", Listed::Version, FIRST, Faults::none(), says);
    judge("listed/mzxid", Listed::Mzxid, FIRST, Faults::none(), says);
}

/// Of two timers of one process, the shorter one comes first.
#[derive(Clone, Copy)]
struct Timers;

impl Recipe for Timers {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("shorter-first"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        let (short, long) = (zk.sleep(Duration::from_secs(1)), zk.sleep(Duration::from_secs(60)));
        let is_right = matches!(race(short, long).await, Either::Left(()));
        note(&probe, if is_right { "good" } else { "bad" }, R, 0);
        Ok(())
    }
}

#[test]
fn the_shorter_of_two_timers_comes_first() {
    judge("timers", Timers, FIRST, Faults::default(), [Expected::Holds; 2]);
}

/// Creates in a container that was there a minute ago.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Container,
    Ttl,
    Persistent,
}

impl Recipe for Kept {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NoFailure)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let parent = path(&format!("{R}/of-{}-{}", role.me.process, role.me.life));
        let child = parent.join("child").expect("a path");
        let mode = match self {
            Kept::Container => CreateMode::Container,
            Kept::Ttl => CreateMode::PersistentTtl(5000),
            Kept::Persistent => CreateMode::Persistent,
        };
        note(&probe, "keeps", R, 0);
        ensure(&zk, &parent, &Data::NULL, mode).await?;
        ensure(&zk, &child, &Data::NULL, CreateMode::Persistent).await?;
        remove(&zk, &child).await?;
        zk.sleep(Duration::from_secs(90)).await;
        ensure(&zk, &child, &Data::NULL, CreateMode::Persistent).await
    }
}

#[test]
fn a_persistent_parent_stays() {
    judge("kept/persistent", Kept::Persistent, FIRST, faults(20, 3), [Expected::Holds; 2]);
}

#[test]
fn a_container_may_be_gone() {
    judge(
        "kept/container",
        Kept::Container,
        FIRST,
        Faults::none(),
        [Expected::Undecided, Expected::Breaks("no-failure")],
    );
}

#[test]
fn what_has_a_time_to_live_may_be_gone() {
    judge(
        "kept/ttl",
        Kept::Ttl,
        FIRST,
        Faults::none(),
        [Expected::Undecided, Expected::Breaks("no-failure")],
    );
}

/// Waits until what it has made is gone with its time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outwaits {
    Watches,
    Looks,
}

impl Recipe for Outwaits {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NoFailure), Box::new(NoWaiterStuck)]
    }

    fn polls(self) -> bool {
        self == Outwaits::Looks
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let own = path(&format!("{R}/of-{}-{}", role.me.process, role.me.life));
        note(&probe, "waits", R, 0);
        ensure(&zk, &own, &Data::NULL, CreateMode::PersistentTtl(5000)).await?;
        loop {
            let (stat, watch) = insist(&zk, || zk.exists_watch(&own)).await?;
            match (stat, self) {
                (None, _) => return Ok(()),
                (Some(_), Outwaits::Watches) => drop(watch.await),
                (Some(_), Outwaits::Looks) => zk.sleep(Duration::from_secs(1)).await,
            }
        }
    }
}

/// A search said that they wait for ever.
#[test]
fn who_waits_for_the_end_of_a_time_to_live_is_not_stuck() {
    for (name, by) in [("outwaits/watches", Outwaits::Watches), ("outwaits/looks", Outwaits::Looks)] {
        judge(name, by, Bounds::clients(2), Faults::none(), [Expected::Undecided, Expected::Holds]);
    }
}

/// Gives up if it is not connected.
#[derive(Clone, Copy)]
struct Connected;

impl Recipe for Connected {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NoFailure)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        note(&probe, "begins", R, 0);
        if zk.state() != KeeperState::SyncConnected {
            return Err(End::Failed);
        }
        probe.work().await;
        Ok(())
    }
}

#[test]
fn who_gives_up_unless_it_is_connected_gives_up_at_once() {
    judge("connected", Connected, FIRST, Faults::none(), [Expected::Breaks("no-failure"); 2]);
}

/// Process 0 writes to two znodes; the others tell by mzxid which was written last, and look again.
#[derive(Clone, Copy)]
struct Latest;

impl Recipe for Latest {
    const SETUP: &[&str] = &["/r/a", "/r/b"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("later-is-greater"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (a, b) = (path("/r/a"), path("/r/b"));
        if role.me.process == 0 {
            for round in 1..=2 {
                insist(&zk, || zk.set_data(&a, number(round), -1)).await?;
                insist(&zk, || zk.set_data(&b, number(round), -1)).await?;
            }
            return Ok(());
        }
        let (_, stat) = ordered(&zk, || zk.data(&b)).await?;
        let (_, other) = ordered(&zk, || zk.data(&a)).await?;
        // Without a later write to a, what is in a is older than what was in b; with one, its version says so.
        let is_right =
            other.mzxid() < stat.mzxid() || other.version() > stat.version() || stat.version() == 0;
        note(&probe, if is_right { "good" } else { "bad" }, R, other.version().into());
        Ok(())
    }
}

#[test]
fn the_greater_mzxid_is_the_later_write() {
    let bounds = Bounds { expiries: 1, lag: 1, ..Bounds::clients(2) };
    judge("latest", Latest, bounds, Faults::none(), [Expected::Holds; 2]);
}

/// Its code ends, and a task of it goes on: as a thread that is no daemon does.
#[derive(Clone, Copy)]
struct Detached;

impl Recipe for Detached {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Once::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        let teller = probe.clone();
        probe.spawn(Box::pin(async move {
            teller.work().await;
            if zk.exists(&path("/r/lock")).await.is_ok() {
                note(&teller, "gets", R, 0);
            }
        }));
        Ok(())
    }
}

#[test]
fn a_task_goes_on_when_the_code_has_ended() {
    judge("detached", Detached, FIRST, Faults::none(), [Expected::Breaks("once"); 2]);
}

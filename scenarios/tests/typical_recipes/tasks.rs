//! Programs of two tasks, timers, and next lives.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, asks, connected, ensure, faults, insist, judge,
    judge_at, note, number, path, read, released, remove, section,
};
use crate::typical_recipes::promises::{Never, NothingOf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Either, ErrorCode, KeeperState, SessionId, race};
use zoocheck::trials::event::{End, Observation};
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NothingLeftBehind};
use zoocheck::trials::trial::{Bounds, Role};
use zoocheck::trials::words::Word;
use zoocheck::{CheckConfig, Faults};

/// Two threads of each process ask for a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threads {
    /// A znode of its session is its own.
    BySession,
    /// A znode with its name in it is its own.
    ByName,
}

impl Threads {
    async fn hold<Z: Client, P: Teller>(self, zk: Z, probe: P, name: String) -> Result<(), End> {
        let lock = path("/r/lock");
        asks(&probe);
        loop {
            match zk.create(&lock, Data::from(name.as_str()), CreateMode::Ephemeral).await {
                Ok(_) => break,
                Err(error) if error.code == ErrorCode::NodeExists => {}
                Err(error) => {
                    again(&zk, error).await?;
                    continue;
                }
            }
            let (stat, watch) = insist(&zk, || zk.exists_watch(&lock)).await?;
            let Some(stat) = stat else { continue };
            if stat.ephemeral_owner() == zk.session() {
                match self {
                    Threads::BySession => break,
                    Threads::ByName => match zk.data(&lock).await {
                        Ok((data, _)) if data.bytes() == name.as_bytes() => break,
                        Ok(_) => {}
                        Err(error) if error.code == ErrorCode::NoNode => continue,
                        Err(error) => {
                            again(&zk, error).await?;
                            continue;
                        }
                    },
                }
            }
            watch.await;
            connected(&zk).await?;
        }
        section(&probe).await;
        released(&probe);
        remove(&zk, &lock).await
    }
}

impl Recipe for Threads {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of(R))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let name = |thread: u8| format!("{}/{thread}", role.me.process);
        let other = self.hold(zk.clone(), probe.thread(1), name(1));
        probe.spawn(Box::pin(async move {
            let _ = other.await;
        }));
        self.hold(zk, probe, name(0)).await
    }
}

#[test]
fn a_session_is_no_identity_of_a_thread() {
    let bounds = Bounds { lag: 1, ..Bounds::clients(1) };
    let says = [Expected::Breaks("exclusion-among-live-sessions"); 2];
    judge("threads/session", Threads::BySession, bounds, Faults::none(), says);
}

#[test]
fn a_name_is_an_identity_of_a_thread() {
    let bounds = Bounds { lag: 1, ..Bounds::clients(1) };
    judge("threads/name", Threads::ByName, bounds, Faults::none(), [Expected::Holds; 2]);
}

/// A create that is not awaited for longer than a second.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Impatient {
    /// Who has waited in vain has not made it.
    Forgets,
    /// Who has waited in vain deletes it.
    Deletes,
}

impl Recipe for Impatient {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NothingLeftBehind::of(R))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let mine = path(&format!("{R}/of-{}", role.me.process));
        asks(&probe);
        let create = zk.create(&mine, Data::NULL, CreateMode::Ephemeral);
        match race(create, zk.sleep(Duration::from_millis(50))).await {
            Either::Left(Ok(_)) => {
                section(&probe).await;
                remove(&zk, &mine).await?;
            }
            _ if self == Impatient::Forgets => {}
            Either::Left(Err(error)) => {
                again(&zk, error).await?;
                remove(&zk, &mine).await?;
            }
            Either::Right(()) => remove(&zk, &mine).await?,
        }
        released(&probe);
        Ok(())
    }
}

#[test]
fn who_forgets_a_create_leaves_a_znode_behind() {
    let slow = Faults { slow_links: 20, drops: 20, ..Faults::none() };
    judge("impatient/forgets", Impatient::Forgets, FIRST, slow, [Expected::Breaks("nothing-left-behind"); 2]);
}

#[test]
fn who_deletes_behind_a_create_leaves_nothing() {
    let slow = Faults { slow_links: 20, drops: 20, ..Faults::none() };
    judge("impatient/deletes", Impatient::Deletes, FIRST, slow, [Expected::Holds; 2]);
}

/// A worker with a heart-beat beside it: another task that writes until the worker is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heart {
    /// It is told when to stop.
    Stops,
    /// It beats for ever.
    Beats,
}

impl Recipe for Heart {
    const SETUP: &[&str] = &["/r/heart"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("beats-upwards")), Box::new(zoocheck::trials::promises::NoFailure)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        let heart = path("/r/heart");
        let done = Arc::new(AtomicBool::new(false));
        let (beats, stop, at) = (zk.clone(), done.clone(), heart.clone());
        probe.spawn(Box::pin(async move {
            while self == Heart::Beats || !stop.load(Ordering::SeqCst) {
                beats.checkpoint("beat", &[]);
                if beats.set_data(&at, Data::NULL, -1).await.is_err() && connected(&beats).await.is_err() {
                    return;
                }
                beats.sleep(Duration::from_secs(1)).await;
            }
        }));
        let before = insist(&zk, || zk.data(&heart)).await?.1.version();
        probe.work().await;
        let after = insist(&zk, || zk.data(&heart)).await?.1.version();
        note(&probe, if before <= after { "good" } else { "bad" }, R, after.into());
        done.store(true, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn a_heart_that_is_stopped_beats_upwards() {
    let bounds = Bounds { lag: 1, ..Bounds::clients(1) };
    let config = CheckConfig { max_states: Some(10_000), ..CheckConfig::new(bounds) };
    judge_at("heart/stops", Heart::Stops, &config, Faults::default(), 1, [Expected::Undecided; 2]);
}

#[test]
fn a_heart_that_beats_for_ever_leaves_the_model_undecided() {
    let bounds = Bounds { lag: 1, ..Bounds::clients(1) };
    let config = CheckConfig { max_states: Some(10_000), ..CheckConfig::new(bounds) };
    judge_at("heart/beats", Heart::Beats, &config, Faults::default(), 1, [Expected::Undecided; 2]);
}

/// A next life removes what the former one left: a persistent znode while it works.
#[derive(Clone, Copy)]
struct NextLife;

impl Recipe for NextLife {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NothingOf::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let prefix = format!("of-{}-", role.me.process);
        asks(&probe);
        for name in insist(&zk, || zk.children(&path(R))).await? {
            if name.starts_with(&prefix) {
                remove(&zk, &path(&format!("{R}/{name}"))).await?;
            }
        }
        let mine = path(&format!("{R}/{prefix}{}", probe.guid()));
        ensure(&zk, &mine, &Data::NULL, CreateMode::Persistent).await?;
        probe.observe(Observation::begins(Word::own("works"), R, 0));
        probe.work().await;
        probe.observe(Observation::ends(Word::own("has worked"), R, 0));
        remove(&zk, &mine).await?;
        released(&probe);
        Ok(())
    }
}

#[test]
fn a_next_life_cleans_up_before_the_former_one_has_ended() {
    let bounds = Bounds { crashes: 1, restarts: 1, ..Bounds::clients(1) };
    // No seed in 300: the next life must have looked before the create of the former one arrives.
    let says = [Expected::Breaks("nothing-of-who-is-done"), Expected::Holds];
    let crashes = Faults { client_crashes: 40, slow_links: 20, ..Faults::none() };
    judge("next-life", NextLife, bounds, crashes, says);
}

/// Process 0 removes what is older than a second, by when its owner must be done.
#[derive(Clone, Copy)]
struct Cleaner;

impl Recipe for Cleaner {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("cleaned-too-early"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        if role.me.process > 0 {
            let mine = path(&format!("{R}/of-{}", role.me.process));
            ensure(&zk, &mine, &Data::NULL, CreateMode::Persistent).await?;
            probe.observe(Observation::begins(Word::own("works"), R, 0));
            probe.work().await;
            probe.observe(Observation::ends(Word::own("has worked"), R, 0));
            let there = insist(&zk, || zk.exists(&mine)).await?.is_some();
            note(&probe, if there { "good" } else { "bad" }, mine.as_str(), 0);
            return Ok(());
        }
        probe.work().await;
        let old = insist(&zk, || zk.children(&path(R))).await?;
        zk.sleep(Duration::from_secs(1)).await;
        for name in old {
            remove(&zk, &path(&format!("{R}/{name}"))).await?;
        }
        Ok(())
    }
}

#[test]
fn a_cleaner_by_time_is_too_early_for_who_was_paused() {
    let pauses = Faults { client_pauses: 20, pause_ms: [8000, 20000], ..Faults::none() };
    let says = [Expected::Breaks("cleaned-too-early"); 2];
    judge("cleaner", Cleaner, Bounds::clients(2), pauses, says);
}

/// A value is set by the version that was read. Who is told that it lost says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Swap {
    /// A version that is not the one it expects is another's.
    Believes,
    /// It looks whether the value is its own.
    Looks,
}

impl Recipe for Swap {
    const SETUP: &[&str] = &["/r/value"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("told-the-truth"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (value, me) = (path("/r/value"), i64::from(role.me.process) + 1);
        let won = loop {
            match zk.set_data(&value, number(me), 0).await {
                Ok(_) => break true,
                Err(error) if error.code == ErrorCode::BadVersion => break false,
                Err(error) => again(&zk, error).await?,
            }
        };
        let is_mine = read(&insist(&zk, || zk.data(&value)).await?.0) == me;
        let says = if self == Swap::Looks { is_mine } else { won };
        note(&probe, if says == is_mine { "good" } else { "bad" }, R, me);
        Ok(())
    }
}

#[test]
fn who_swaps_again_may_lose_against_itself() {
    judge("swap/believes", Swap::Believes, FIRST, faults(60, 0), [Expected::Breaks("told-the-truth"); 2]);
}

#[test]
fn who_looks_at_the_value_knows() {
    judge("swap/looks", Swap::Looks, FIRST, Faults::default(), [Expected::Holds; 2]);
}

/// Waits for its turn with whatever session it has: it registers once, and serves as long as it is connected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Serves {
    /// As it was once made, its znode is there.
    Once,
    /// The same, and its code ends with the first news of its connection.
    OnceAndEnds,
    /// It makes its znode anew when its session is another.
    PerSession,
}

impl Recipe for Serves {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(crate::typical_recipes::promises::Registered::default())]
    }

    fn renews(self) -> bool {
        true
    }

    fn stays(self) -> bool {
        true
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let mine = path(&format!("{R}/of-{}-{}", role.me.process, role.me.life));
        loop {
            let change = zk.state_change();
            if zk.state() != KeeperState::SyncConnected {
                change.await;
                continue;
            }
            match zk.create(&mine, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => note(&probe, "registers", mine.as_str(), 0),
                Err(error) if error.code == ErrorCode::NodeExists => {}
                // The connection's end is told as well.
                Err(_) => {
                    change.await;
                    continue;
                }
            }
            change.await;
            match self {
                Serves::Once => std::future::pending().await,
                Serves::OnceAndEnds => return Ok(()),
                Serves::PerSession => {}
            }
        }
    }
}

#[test]
fn who_registers_once_is_not_listed_after_an_expiry() {
    let bounds = Bounds { expiries: 1, ..Bounds::clients(2) };
    judge("serves/once", Serves::Once, bounds, faults(0, 20), [Expected::Breaks("registered"); 2]);
}

#[test]
fn who_has_registered_once_and_is_done_is_not_listed_after_an_expiry() {
    let bounds = Bounds { expiries: 1, ..Bounds::clients(2) };
    let says = [Expected::Breaks("registered"); 2];
    judge("serves/ends", Serves::OnceAndEnds, bounds, faults(0, 20), says);
}

#[test]
fn who_registers_with_each_session_is_listed() {
    let bounds = Bounds { expiries: 1, drops: 1, ..Bounds::clients(1) };
    judge("serves/per-session", Serves::PerSession, bounds, faults(10, 10), [Expected::Holds; 2]);
}

/// A session's id is taken for a name.
#[derive(Clone, Copy)]
struct Named;

impl Recipe for Named {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("has-a-name"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        let is_named = zk.session() != SessionId::NONE;
        note(&probe, if is_named { "good" } else { "bad" }, R, 0);
        probe.work().await;
        Ok(())
    }
}

#[test]
fn who_asks_for_its_session_at_once_may_have_none() {
    judge("named", Named, FIRST, Faults::default(), [Expected::Breaks("has-a-name"); 2]);
}

//! Latches, semaphores, and who sees whom.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, ensure, faults, insist, judge, judge_at, note, number,
    ordered, path, read, remove,
};
use crate::typical_recipes::promises::{AllArrived, AtMost, OneSees, ReadsLatest};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, ErrorCode, EventType, Local};
use zoocheck::trials::event::{End, Observation};
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::NoWaiterStuck;
use zoocheck::trials::trial::{Bounds, Role};
use zoocheck::trials::words::Word;
use zoocheck::{CheckConfig, Faults};

/// All wait for all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Latch {
    /// A number that everybody adds one to.
    Number,
    /// The same, by processes of which some begin later.
    NumberLater,
    /// A persistent znode for each.
    Names,
}

impl Recipe for Latch {
    const SETUP: &[&str] = &["/r/latch"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(AllArrived::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (latch, all) = (path("/r/latch"), i64::from(role.clients));
        if self == Latch::NumberLater {
            probe.point().await;
        }
        note(&probe, "arrives", R, all);
        match self {
            Latch::Names => {
                let mine = path(&format!("/r/latch/of-{}", role.me.process));
                ensure(&zk, &mine, &Data::NULL, CreateMode::Persistent).await?;
            }
            Latch::Number | Latch::NumberLater => loop {
                let (data, stat) = insist(&zk, || zk.data(&latch)).await?;
                match zk.set_data(&latch, number(read(&data) + 1), stat.version()).await {
                    Ok(_) => break,
                    Err(error) if error.code == ErrorCode::BadVersion => {}
                    Err(error) => again(&zk, error).await?,
                }
            },
        }
        loop {
            let (count, watch) = match self {
                Latch::Number | Latch::NumberLater => {
                    let ((data, _), watch) = insist(&zk, || zk.data_watch(&latch)).await?;
                    (read(&data), watch)
                }
                Latch::Names => {
                    let (names, watch) = insist(&zk, || zk.children_watch(&latch)).await?;
                    (names.len() as i64, watch)
                }
            };
            if count >= all {
                note(&probe, "opens", R, all);
                return Ok(());
            }
            if watch.await.kind == EventType::None {
                return Err(End::SessionLost);
            }
        }
    }
}

#[test]
fn a_latch_that_counts_may_count_one_twice() {
    judge(
        "latch/number-later",
        Latch::NumberLater,
        FIRST,
        faults(40, 0),
        [Expected::Breaks("all-arrived"); 2],
    );
}

#[test]
fn a_latch_that_counts_may_count_one_twice_before_another_begins() {
    judge("latch/number", Latch::Number, FIRST, faults(40, 0), [Expected::Breaks("all-arrived"); 2]);
}

#[test]
fn a_latch_of_names_counts_everybody_once() {
    judge("latch/names", Latch::Names, FIRST, faults(20, 3), [Expected::Holds; 2]);
}

/// One may be in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Semaphore {
    /// It counts, and takes a place if there is one.
    CountsFirst,
    /// It takes a place, counts, and gives it back if it is one too many.
    TakesFirst,
}

impl Recipe for Semaphore {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(AtMost::of(1))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let mine = path(&format!("{R}/of-{}", role.me.process));
        // It asks three times, and then goes without.
        for _ in 0..3 {
            if self == Semaphore::TakesFirst {
                ensure(&zk, &mine, &Data::NULL, CreateMode::Ephemeral).await?;
            }
            let others = insist(&zk, || zk.children(&path(R))).await?;
            if others.iter().all(|name| **name == *mine.name()) {
                ensure(&zk, &mine, &Data::NULL, CreateMode::Ephemeral).await?;
                probe.observe(Observation::begins(Word::own("is in"), R, 1));
                probe.work().await;
                probe.observe(Observation::ends(Word::own("is out"), R, 1));
                return remove(&zk, &mine).await;
            }
            if self == Semaphore::TakesFirst {
                remove(&zk, &mine).await?;
            }
            zk.sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    }
}

#[test]
fn who_counts_before_it_takes_a_place_is_one_too_many() {
    let says = [Expected::Breaks("at-most"); 2];
    judge("semaphore/counts-first", Semaphore::CountsFirst, FIRST, Faults::default(), says);
}

#[test]
fn who_takes_a_place_before_it_counts_is_right() {
    let says = [Expected::Holds; 2];
    judge("semaphore/takes-first", Semaphore::TakesFirst, FIRST, Faults::default(), says);
}

/// Each raises a flag, and then looks for those of others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flags {
    RaisesFirst,
    LooksFirst,
}

impl Recipe for Flags {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(OneSees::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let mine = path(&format!("{R}/of-{}", role.me.process));
        let raise = || ensure(&zk, &mine, &Data::NULL, CreateMode::Persistent);
        if self == Flags::RaisesFirst {
            raise().await?;
        }
        let names = insist(&zk, || zk.children(&path(R))).await?;
        if names.iter().all(|name| **name == *mine.name()) {
            note(&probe, "sees nobody", R, 0);
        }
        if self == Flags::LooksFirst {
            raise().await?;
        }
        Ok(())
    }
}

#[test]
fn of_two_who_raise_a_flag_and_then_look_one_sees_the_other() {
    judge("flags/raises-first", Flags::RaisesFirst, FIRST, Faults::default(), [Expected::Holds; 2]);
    let config = CheckConfig::new(Bounds { drops: 2, lag: 2, ..Bounds::clients(2) });
    judge_at("flags/on-three", Flags::RaisesFirst, &config, Faults::default(), 3, [Expected::Holds; 2]);
}

#[test]
fn of_two_who_look_and_then_raise_a_flag_none_need_see_the_other() {
    judge("flags/looks-first", Flags::LooksFirst, FIRST, Faults::none(), [Expected::Breaks("one-sees"); 2]);
}

/// One writes; the others read what was acknowledged before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// It asks as it begins.
    PlainAtOnce,
    Plain,
    BehindSync,
    BehindWrite,
}

impl Recipe for Reads {
    const SETUP: &[&str] = &["/r/value"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ReadsLatest::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let value = path("/r/value");
        for round in 1..=i64::from(role.rounds) {
            if role.me.process == 0 {
                insist(&zk, || zk.set_data(&value, number(round), -1)).await?;
                note(&probe, "has written", R, round);
                probe.work().await;
                continue;
            }
            if self != Reads::PlainAtOnce {
                probe.work().await;
            }
            note(&probe, "asks", R, 0);
            let (data, _) = match self {
                Reads::Plain | Reads::PlainAtOnce => insist(&zk, || zk.data(&value)).await?,
                Reads::BehindSync => loop {
                    let (synced, data) = (zk.sync(&value), zk.data(&value));
                    match (synced.await, data.await) {
                        (Ok(()), Ok(data)) => break data,
                        (Err(error), _) | (_, Err(error)) => again(&zk, error).await?,
                    }
                },
                Reads::BehindWrite => ordered(&zk, || zk.data(&value)).await?,
            };
            note(&probe, "reads", R, read(&data));
            probe.work().await;
        }
        Ok(())
    }
}

/// Three servers, of which one may be behind.
fn lags() -> Faults {
    Faults { server_lags: 20, ..Faults::none() }
}

#[test]
fn a_read_may_be_old() {
    let says = [Expected::Breaks("reads-latest"); 2];
    judge_at("reads/plain", Reads::Plain, &CheckConfig::new(FIRST), lags(), 3, says);
}

#[test]
fn the_first_read_may_be_old() {
    let says = [Expected::Breaks("reads-latest"); 2];
    judge_at("reads/at-once", Reads::PlainAtOnce, &CheckConfig::new(FIRST), lags(), 3, says);
}

/// A leader that is deposed and does not know it answers a sync, which hardly any seed shows.
#[test]
fn a_read_behind_a_sync_may_be_old_as_well() {
    let says = [Expected::Breaks("reads-latest"), Expected::Holds];
    judge_at("reads/sync", Reads::BehindSync, &CheckConfig::new(FIRST), lags(), 3, says);
    let honest = CheckConfig { stale_syncs: false, ..CheckConfig::new(FIRST) };
    judge_at("reads/honest-sync", Reads::BehindSync, &honest, lags(), 3, [Expected::Holds; 2]);
}

#[test]
fn a_read_behind_a_write_is_not_old() {
    let says = [Expected::Holds; 2];
    judge_at("reads/write", Reads::BehindWrite, &CheckConfig::new(FIRST), lags(), 3, says);
}

/// A barrier that is a znode: it is up as long as that is there. Process 0 takes it down.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Looks, and then watches.
    LooksThenWatches,
    /// Watches as it looks.
    Watches,
    /// Looks every now and then.
    Polls,
    /// The same, and no checkpoint tells that it is where it was.
    PollsWithoutCheckpoint,
}

impl Recipe for Gate {
    const SETUP: &[&str] = &["/r/gate"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NoWaiterStuck)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let gate = path("/r/gate");
        if role.me.process == 0 {
            probe.work().await;
            remove(&zk, &gate).await?;
            probe.observe(Observation::Released { lock: R.into() });
            return Ok(());
        }
        probe.observe(Observation::Attempts { lock: R.into() });
        loop {
            if self != Gate::PollsWithoutCheckpoint {
                zk.checkpoint("gate", &[Local::Number(0)]);
            }
            match self {
                Gate::Polls | Gate::PollsWithoutCheckpoint => match insist(&zk, || zk.exists(&gate)).await? {
                    Some(_) => zk.sleep(Duration::from_millis(500)).await,
                    None => return Ok(()),
                },
                Gate::LooksThenWatches => {
                    if insist(&zk, || zk.exists(&gate)).await?.is_none() {
                        return Ok(());
                    }
                    let (_, watch) = insist(&zk, || zk.exists_watch(&gate)).await?;
                    watch.await;
                }
                Gate::Watches => match insist(&zk, || zk.exists_watch(&gate)).await? {
                    (Some(_), watch) => drop(watch.await),
                    (None, _) => return Ok(()),
                },
            }
        }
    }
}

#[test]
fn who_looks_and_then_watches_misses_what_is_between() {
    // Seeds make the gap a millisecond of many.
    let says = [Expected::Breaks("no-waiter-stuck"); 2];
    judge("gate/looks-then-watches", Gate::LooksThenWatches, FIRST, Faults::default(), says);
}

#[test]
fn who_watches_as_it_looks_gets_through() {
    let gate = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    judge("gate/watches", Gate::Watches, gate, faults(20, 0), [Expected::Holds; 2]);
}

#[test]
fn who_looks_every_now_and_then_polls() {
    let gate = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    let says = [Expected::Breaks("no-polling"); 2];
    judge("gate/polls", Gate::Polls, gate, faults(20, 0), says);
    judge("gate/polls-without-checkpoint", Gate::PollsWithoutCheckpoint, gate, faults(20, 0), says);
}

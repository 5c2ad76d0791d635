//! Counters, ids, queues, caches, and what lies in several znodes.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, faults, insist, judge, note, number, ordered, path,
    read,
};
use crate::typical_recipes::promises::{Counted, Never, Once, TakenOnce};
use zoocheck::Faults;
use zoocheck::api::{
    CreateMode, Data, ErrorCode, MultiOutcome, Op, ReadOp, Response, open_acl, race, sequence_of,
};
use zoocheck::trials::event::End;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::trial::{Bounds, Role};

/// A number that everybody adds to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    /// With a write of any version.
    Blind,
    /// With the version that was read; again if the answer is lost.
    Versioned,
    /// The same; if the answer is lost, it looks whether the version is the next one.
    LooksAtVersion,
}

impl Recipe for Counter {
    const SETUP: &[&str] = &["/r/count"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Counted::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let count = path("/r/count");
        for _ in 0..role.rounds {
            note(&probe, "adds", R, 1);
            loop {
                let (data, stat) = insist(&zk, || zk.data(&count)).await?;
                let version = if self == Counter::Blind { -1 } else { stat.version() };
                match zk.set_data(&count, number(read(&data) + 1), version).await {
                    Ok(_) => break,
                    Err(error) if error.code == ErrorCode::BadVersion => {}
                    Err(error) => {
                        again(&zk, error).await?;
                        let (_, now) = ordered(&zk, || zk.data(&count)).await?;
                        if self == Counter::LooksAtVersion && now.version() > version {
                            break;
                        }
                    }
                }
            }
            note(&probe, "has added", R, 1);
            probe.work().await;
        }
        Ok(())
    }
}

#[test]
fn an_addition_without_a_version_is_lost() {
    judge("counter/blind", Counter::Blind, FIRST, Faults::none(), [Expected::Breaks("counted"); 2]);
}

#[test]
fn an_addition_that_is_repeated_is_counted_twice() {
    judge("counter/versioned", Counter::Versioned, FIRST, faults(60, 0), [Expected::Breaks("counted"); 2]);
}

#[test]
fn the_next_version_may_be_anothers() {
    judge("counter/looks", Counter::LooksAtVersion, FIRST, faults(60, 0), [Expected::Breaks("counted"); 2]);
}

/// Numbers that nobody else gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// Of a sequential znode.
    Sequential,
    /// The version that a write has made.
    Version,
    /// The version that is read before a write.
    VersionBefore,
    /// How many children there were, once its own is there.
    Children,
}

impl Recipe for Ids {
    const SETUP: &[&str] = &["/r/ids"];

    fn leaves(self) -> bool {
        true
    }

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Once::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (ids, child) = (path("/r/ids"), path("/r/ids/n-"));
        for _ in 0..role.rounds {
            let made = || insist(&zk, || zk.create(&child, Data::NULL, CreateMode::PersistentSequential));
            let written = || insist(&zk, || zk.set_data(&ids, Data::NULL, -1));
            let id: i64 = match self {
                Ids::Sequential => sequence_of(&made().await?).unwrap_or(0).into(),
                Ids::Version => written().await?.version().into(),
                Ids::VersionBefore => {
                    let (_, stat) = insist(&zk, || zk.data(&ids)).await?;
                    written().await?;
                    stat.version().into()
                }
                Ids::Children => {
                    made().await?;
                    insist(&zk, || zk.children2(&ids)).await?.1.cversion().into()
                }
            };
            note(&probe, "gets", R, id);
        }
        Ok(())
    }
}

#[test]
fn the_number_of_a_sequential_znode_is_nobody_elses() {
    judge("ids/sequential", Ids::Sequential, FIRST, Faults::default(), [Expected::Holds; 2]);
}

#[test]
fn the_version_that_a_write_has_made_is_nobody_elses() {
    judge("ids/version", Ids::Version, FIRST, Faults::default(), [Expected::Holds; 2]);
}

#[test]
fn the_version_before_a_write_may_be_anothers() {
    judge("ids/version-before", Ids::VersionBefore, FIRST, Faults::none(), [Expected::Breaks("once"); 2]);
}

#[test]
fn the_number_of_children_may_be_anothers() {
    judge("ids/children", Ids::Children, FIRST, Faults::none(), [Expected::Breaks("once"); 2]);
}

/// Items with priorities; whoever deletes one has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Who is not answered deletes again; who finds nothing has nothing.
    Repeats,
    /// Who is not answered has it.
    Trusts,
    /// Who deletes it leaves its name in its place, and looks for that if it is not answered.
    Signs,
}

impl Recipe for Takes {
    const SETUP: &[&str] = &["/r/q", "/r/q/1-second", "/r/q/0-first", "/r/signed"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(TakenOnce::default())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let me = Data::from(probe.guid().as_ref());
        for _ in 0..role.rounds {
            let names = insist(&zk, || zk.children(&path("/r/q"))).await?;
            let Some(first) = names.iter().min() else { return Ok(()) };
            let (item, sign) = (path(&format!("/r/q/{first}")), path(&format!("/r/signed/{first}")));
            let delete = Op::Delete { path: item.text(), version: -1 };
            let (mode, acl) = (CreateMode::Persistent, open_acl());
            let create = Op::Create { path: sign.text(), data: me.clone(), acl, mode, stat: false };
            let ops = if self == Takes::Signs { vec![delete, create] } else { vec![delete] };
            let has_it = loop {
                match zk.multi(ops.clone()).await {
                    Ok(MultiOutcome::Applied(_)) => break true,
                    Ok(MultiOutcome::Failed(_)) if self != Takes::Signs => break false,
                    Ok(MultiOutcome::Failed(_)) => {
                        break insist(&zk, || zk.data(&sign)).await?.0 == me;
                    }
                    Err(error) => again(&zk, error).await?,
                }
                if self == Takes::Trusts {
                    break true;
                }
            };
            if has_it {
                note(&probe, "takes", item.as_str(), 0);
                probe.work().await;
            }
        }
        Ok(())
    }
}

#[test]
fn an_item_is_lost_by_who_deletes_it_twice() {
    judge("queue/repeats", Takes::Repeats, FIRST, faults(60, 0), [Expected::Breaks("item-taken-once"); 2]);
}

#[test]
fn an_item_is_taken_twice_where_one_is_not_answered() {
    judge("queue/trusts", Takes::Trusts, FIRST, faults(60, 0), [Expected::Breaks("item-taken-once"); 2]);
}

#[test]
fn an_item_that_is_signed_for_is_taken_once() {
    judge("queue/signs", Takes::Signs, FIRST, Faults::default(), [Expected::Holds; 2]);
}

/// Process 0 moves an amount from one account to another. The others look at both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accounts {
    /// One after the other.
    TwoReads,
    /// At once.
    OneRead,
}

impl Recipe for Accounts {
    const SETUP: &[&str] = &["/r/a", "/r/b"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("the-sum-is-0"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (a, b) = (path("/r/a"), path("/r/b"));
        for round in 1..=i64::from(role.rounds) {
            if role.me.process == 0 {
                let set = |at: &str, to| Op::SetData { path: at.into(), data: number(to), version: -1 };
                let done = insist(&zk, || zk.multi(vec![set("/r/a", round), set("/r/b", -round)])).await?;
                assert!(matches!(done, MultiOutcome::Applied(_)), "{done:?}");
                continue;
            }
            let (one, other) = match self {
                Accounts::TwoReads => {
                    (insist(&zk, || zk.data(&a)).await?.0, insist(&zk, || zk.data(&b)).await?.0)
                }
                Accounts::OneRead => {
                    let ops = || vec![ReadOp::GetData { path: a.text() }, ReadOp::GetData { path: b.text() }];
                    let both = insist(&zk, || zk.multi_read(ops())).await?;
                    let [Ok(Response::Data { data: one, .. }), Ok(Response::Data { data: other, .. })] =
                        &both[..]
                    else {
                        return Err(End::Failed);
                    };
                    (one.clone(), other.clone())
                }
            };
            let sum = read(&one) + read(&other);
            note(&probe, if sum == 0 { "good" } else { "bad" }, R, sum);
        }
        Ok(())
    }
}

#[test]
fn two_reads_are_torn() {
    judge(
        "accounts/two-reads",
        Accounts::TwoReads,
        FIRST,
        Faults::none(),
        [Expected::Breaks("the-sum-is-0"); 2],
    );
}

#[test]
fn one_read_of_two_is_whole() {
    judge("accounts/one-read", Accounts::OneRead, FIRST, faults(10, 3), [Expected::Holds; 2]);
}

/// Process 0 writes a and then b, the others read both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// b first: what was written before b is there.
    BackwardsOnly,
    Forwards,
}

impl Recipe for Order {
    const SETUP: &[&str] = &["/r/a", "/r/b"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("a-before-b"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (a, b) = (path("/r/a"), path("/r/b"));
        if role.me.process == 0 {
            probe.work().await;
            insist(&zk, || zk.set_data(&a, number(1), -1)).await?;
            insist(&zk, || zk.set_data(&b, number(1), -1)).await?;
            return Ok(());
        }
        for _ in 0..4 {
            let first = if self == Order::Forwards { &a } else { &b };
            let second = if self == Order::Forwards { &b } else { &a };
            let one = read(&insist(&zk, || zk.data(first)).await?.0);
            let other = read(&insist(&zk, || zk.data(second)).await?.0);
            let (a, b) = if self == Order::Forwards { (one, other) } else { (other, one) };
            note(&probe, if a >= b { "good" } else { "bad" }, R, b);
            if role.rounds == 1 {
                return Ok(());
            }
            zk.sleep(std::time::Duration::from_millis(300)).await;
        }
        Ok(())
    }
}

#[test]
fn who_reads_the_last_write_first_sees_all_before_it() {
    judge("order/backwards", Order::BackwardsOnly, FIRST, faults(20, 3), [Expected::Holds; 2]);
}

#[test]
fn who_reads_the_last_write_last_sees_it_alone() {
    let says = [Expected::Breaks("a-before-b"), Expected::Breaks("a-before-b")];
    judge("order/forwards", Order::Forwards, FIRST, faults(20, 3), says);
}

/// Process 0 sets a value three times. The others keep a copy until it has the last one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cache {
    /// Reads and watches at once, again after each event.
    ReadsAndWatches,
    /// Reads, and then watches.
    ReadsThenWatches,
}

impl Recipe for Cache {
    const SETUP: &[&str] = &["/r/value"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(zoocheck::trials::promises::NoWaiterStuck)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let value = path("/r/value");
        if role.me.process == 0 {
            for round in 1..=2 {
                insist(&zk, || zk.set_data(&value, number(round), -1)).await?;
                probe.work().await;
            }
            return Ok(());
        }
        loop {
            let change = zk.state_change();
            let (data, watch) = match self {
                Cache::ReadsAndWatches => {
                    let ((data, _), watch) = insist(&zk, || zk.data_watch(&value)).await?;
                    (data, watch)
                }
                Cache::ReadsThenWatches => {
                    let (data, _) = insist(&zk, || zk.data(&value)).await?;
                    (data, insist(&zk, || zk.exists_watch(&value)).await?.1)
                }
            };
            if read(&data) == 2 {
                return Ok(());
            }
            race(watch, change).await;
            crate::typical_recipes::judge::connected(&zk).await?;
        }
    }
}

#[test]
fn a_cache_that_reads_as_it_watches_has_the_last_value() {
    let bounds = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    judge("cache/at-once", Cache::ReadsAndWatches, bounds, faults(20, 0), [Expected::Holds; 2]);
}

#[test]
fn a_cache_that_reads_before_it_watches_misses_the_last_value() {
    let bounds = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    judge(
        "cache/gap",
        Cache::ReadsThenWatches,
        bounds,
        faults(20, 0),
        [Expected::Breaks("no-waiter-stuck"); 2],
    );
}

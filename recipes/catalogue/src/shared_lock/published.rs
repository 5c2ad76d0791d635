//! The shared lock as it was published, and its mutants.

use super::fixture::{Access, access, of_reader, round, shared};
use crate::lock::{Fixture, LOCK, lock};
use zk_api::{CreateMode, Data, ErrorCode, Local, Text, ZPath, ZooKeeper};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::{Stop, knowing};
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, NoForeignDelete, NoOrphanZnode, NoWaiterStuck,
};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        lock("shared-lock/java", java)
            .summary(
                "A Java class that makes its znode, looks once, and leaves it there if it may not enter.",
            )
            .source("an article on ZooKeeper, class ReadWriteLock")
            .breaks("no-orphan-znode", "S-095", "none")
            .bounds(Bounds::clients(2))
            .setup([LOCK, "/lock/readers", "/lock/writers"])
            .keeps(&["exclusion-among-live-sessions", "no-foreign-delete"])
            .promises(|| {
                vec![
                    Box::new(ExclusionAmongLiveSessions::of(LOCK)),
                    Box::new(ExclusionAtResource::unfenced(LOCK)),
                    Box::new(NoWaiterStuck),
                    Box::new(NoOrphanZnode::of(LOCK)),
                    Box::new(NoForeignDelete::of(LOCK)),
                ]
            }),
        shared("shared-lock/name-order", name_order)
            .summary("Sorts read- and write- by name, so that every reader stands before every writer.")
            .source("ZooKeeper's recipes page, with names compared as texts")
            .breaks("exclusion-among-live-sessions", "S-122", "none")
            .bounds(Bounds::clients(2)),
        shared("shared-lock/writer-watches-writers", writer_watches_writers)
            .summary("Writers wait for the writers before them, and not for readers.")
            .source("mutant of the recipe")
            .breaks("exclusion-among-live-sessions", "S-123", "none")
            .bounds(Bounds::clients(2)),
        shared("shared-lock/guid-directory", guid_directory)
            .summary("Makes its znode below one that is named with its guid, where it is always the first.")
            .source("ZooKeeper's recipes page since ZOOKEEPER-1262, as it is printed")
            .breaks("exclusion-among-live-sessions", "S-120", "none")
            .bounds(Bounds::clients(2)),
        shared("shared-lock/downgrade-new-node", downgrade_new_node)
            .summary("Goes on as a reader with a znode at the end of the line.")
            .source("a client library (CURATOR-621); no published recipe has a rule for it")
            .breaks("exclusion-among-live-sessions", "S-125", "none")
            .bounds(Bounds::clients(2)),
        shared("shared-lock/one-by-one", one_by_one)
            .summary("Readers wait for whoever stands before them, be it a reader.")
            .source("mutant of the recipe")
            .breaks("sharers-meet", "S-126", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
        shared("shared-lock/watches-list", watches_list)
            .summary("Whoever waits watches the list of contenders, so that each change wakes all who wait.")
            .source("ZooKeeper's recipes page, which warns of it")
            .breaks("sharers-wake-together", "S-124", "none")
            .bounds(Bounds::clients(1)),
    ]
}

/// A class published as an example: readers and writers make their znodes in a directory each, then look once.
///
/// That no writer is beside another holder is kept, even by old lists: whoever comes later sees at least what was there
/// as it made its own znode (S-100).
///
/// - A look that finds others says so and leaves the znode, which shuts everybody out from then on (S-095); so does the
///   next try of the same client with another (S-097, S-098).
/// - Two that look at the same time shut each other out (S-096). With two counters there is no order between readers
///   and writers that could be waited by (S-099).
/// - Errors are passed on as they come, leaving the znode behind (S-101).
async fn java(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let (readers, writers) =
        (plain::child(&fixture.lock(), "readers"), plain::child(&fixture.lock(), "writers"));
    let (mode, prefix) = match access(&fixture) {
        Access::Reads => (Mode::Shared, plain::child(&readers, "read-")),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, plain::child(&writers, "write-")),
    };
    let own = plain::path(&zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await?);
    let may_enter = match mode {
        Mode::Shared => zk.children(&writers).await?.is_empty(),
        Mode::Exclusive => zk.children(&readers).await?.is_empty() && zk.children(&writers).await?.len() == 1,
    };
    if !may_enter {
        fixture.passes("others are there");
        return Ok(());
    }
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    zk.delete(&own, -1).await?;
    Ok(())
}

/// Stands in order of names, and each kind has another: every `read-` comes before every `write-`.
///
/// A reader never waits, not even for a writer that holds the lock; and a writer waits for readers that came later, one
/// after the other (S-122).
async fn name_order(fixture: Fixture) -> Result<(), Stop> {
    round(&fixture, of_name, of_name).await
}

/// What is behind the guid is compared. A reader waits for writers alone.
fn of_name(lock: &ZPath, names: &[Text], own: &ZPath) -> Place {
    let mut names: Vec<(&str, &Text)> =
        names.iter().filter_map(|name| Some((name.split_once('-')?.1, name))).collect();
    names.sort_unstable();
    let Some(at) = names.iter().position(|(_, name)| ***name == *own.name()) else { return Place::Absent };
    let reads = own.name().contains("-read-");
    let before = names[..at].iter().rfind(|(order, _)| !reads || order.starts_with("write-"));
    before.map_or(Place::First, |(_, name)| Place::Behind(plain::child(lock, name)))
}

/// A writer waits for the next lower writer, as a reader does, and enters beside readers that came before it (S-123).
async fn writer_watches_writers(fixture: Fixture) -> Result<(), Stop> {
    // The rule of a reader for both.
    round(&fixture, of_reader, of_reader).await
}

/// The contender's path has a slash behind the guid: `GUID-/read-`. Whoever makes the directory that is missing then
/// stands in a line of its own, and nobody waits for anybody (S-120).
async fn guid_directory(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let guid = fixture.guid();
    let directory = plain::child(&fixture.lock(), &format!("{guid}-"));
    make(&zk, &directory).await?;
    let (mode, kind, rule) = match access(&fixture) {
        Access::Reads => (Mode::Shared, "read", of_reader as fn(&ZPath, &[_], &ZPath) -> _),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, "write", plain::place as _),
    };
    let own = plain::contend_as(&zk, &directory, &guid, kind).await?;
    plain::turn_by(&zk, &directory, &own, rule).await?;
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &own).await
}

/// Makes the directory, however often it takes.
async fn make(zk: &impl ZooKeeper, directory: &ZPath) -> Result<(), Stop> {
    let make =
        || plain::unless(ErrorCode::NodeExists, zk.create(directory, Data::NULL, CreateMode::Persistent));
    let known = [Local::Text(directory.as_str())];
    plain::again_from(zk, "guid-directory/make", &known, make).await.map(drop)
}

/// A writer that is to go on as a reader asks for a reader's znode like any other, and deletes its own then.
///
/// A writer that has come meanwhile stands between the two numbers, waits for the first alone, and enters beside the
/// reader (S-125, R-11).
async fn downgrade_new_node(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let guid = fixture.guid();
    let own = plain::contend_as(&zk, &lock, &guid, "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.hold(Mode::Exclusive, &own, None, std::future::pending::<()>()).await;
    if fixture.role.me.process % 2 == 1 {
        fixture.leave();
        return plain::remove(&zk, &own).await;
    }
    let held = knowing(zk.clone(), own.as_str());
    let reads = plain::contend_as(&held, &lock, &guid, "read").await?;
    plain::remove(&knowing(zk.clone(), reads.as_str()), &own).await?;
    // Only its own place is looked at: it has come from the front of the line, or so it believes.
    fixture.hold(Mode::Shared, &reads, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &reads).await
}

/// A reader waits for whoever stands before it, as a writer does: safe, and nothing is shared (S-126).
async fn one_by_one(fixture: Fixture) -> Result<(), Stop> {
    round(&fixture, plain::place, plain::place).await
}

/// Who may not enter waits for any change of the list, and looks again: each znode that comes or goes wakes all
/// (S-124).
///
/// Every edition warns of it: the list is to be read without a watch.
async fn watches_list(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let (mode, kind) = match access(&fixture) {
        Access::Reads => (Mode::Shared, "read"),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, "write"),
    };
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), kind).await?;
    loop {
        zk.checkpoint("list/watch", &[Local::Text(own.as_str())]);
        let (names, watch) = match zk.children_watch(&lock).await {
            Ok(listed) => listed,
            Err(error) => {
                plain::passing(&zk, error).await?;
                continue;
            }
        };
        let place = match mode {
            Mode::Shared => of_reader(&lock, &names, &own),
            Mode::Exclusive => plain::place(&lock, &names, &own),
        };
        match place {
            Place::First => break,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(_) => plain::event(watch).await?,
        }
    }
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &own).await
}

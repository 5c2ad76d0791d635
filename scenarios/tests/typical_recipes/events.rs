//! What watches tell, and in which order answers and events come.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, ensure, faults, insist, judge, note, path, read,
    remove,
};
use crate::typical_recipes::promises::Never;
use zoocheck::Faults;
use zoocheck::api::{CreateMode, Data, Either, EventType, race};
use zoocheck::trials::event::End;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::trial::{Bounds, Role};

/// Process 0 deletes a znode and makes it again; nobody ever sets its data. The others wait for an event of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    /// There is none but a deletion.
    OnlyDeleted,
    /// There is none but a deletion, or a change, as both together are after a lost connection.
    DeletedOrChanged,
}

impl Recipe for Kinds {
    const SETUP: &[&str] = &["/r/it"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("event-is-known"))]
    }

    fn stays(self) -> bool {
        true
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let it = path("/r/it");
        if role.me.process == 0 {
            for _ in 0..3 * role.rounds {
                probe.work().await;
                remove(&zk, &it).await?;
                ensure(&zk, &it, &Data::NULL, CreateMode::Persistent).await?;
            }
            return Ok(());
        }
        for _ in 0..2 * role.rounds {
            let (stat, watch) = insist(&zk, || zk.exists_watch(&it)).await?;
            if stat.is_none() {
                return Ok(());
            }
            let is_known = match watch.await.kind {
                EventType::None => return Err(End::SessionLost),
                EventType::NodeDeleted => true,
                EventType::NodeDataChanged => self == Kinds::DeletedOrChanged,
                EventType::NodeCreated | EventType::NodeChildrenChanged => false,
            };
            note(&probe, if is_known { "good" } else { "bad" }, R, 0);
        }
        Ok(())
    }
}

#[test]
fn a_znode_that_is_made_again_behind_a_lost_connection_has_changed() {
    let says = [Expected::Breaks("event-is-known"); 2];
    judge("kinds/deleted", Kinds::OnlyDeleted, FIRST, faults(60, 0), says);
}

#[test]
fn a_znode_that_is_made_again_is_deleted_or_changed() {
    judge("kinds/both", Kinds::DeletedOrChanged, FIRST, faults(60, 0), [Expected::Holds; 2]);
}

/// Watches for what it makes itself: the event comes before the answer.
#[derive(Clone, Copy)]
struct OwnEvent;

impl Recipe for OwnEvent {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("event-first"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let mine = path(&format!("{R}/of-{}-{}", role.me.process, role.me.life));
        let (_, watch) = insist(&zk, || zk.exists_watch(&mine)).await?;
        let create = zk.create(&mine, Data::NULL, CreateMode::Persistent);
        match race(watch, create).await {
            Either::Left(_) => note(&probe, "good", R, 0),
            Either::Right(Ok(_)) => note(&probe, "bad", R, 0),
            Either::Right(Err(error)) => again(&zk, error).await?,
        }
        Ok(())
    }
}

#[test]
fn the_event_of_ones_own_write_comes_before_its_answer() {
    judge("own-event", OwnEvent, FIRST, Faults::default(), [Expected::Holds; 2]);
}

/// Process 0 asks for two writes at once. Who sees the second one sees the first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pipeline {
    /// It asks for none again.
    Once,
    /// It asks for the first one again if that failed.
    Repeats,
}

impl Recipe for Pipeline {
    const SETUP: &[&str] = &["/r/a", "/r/b"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(Never("a-before-b"))]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (a, b) = (path("/r/a"), path("/r/b"));
        if role.me.process == 0 {
            for round in 1..=2 * i64::from(role.rounds) {
                let set = |at| zk.set_data(at, crate::typical_recipes::judge::number(round), -1);
                let (one, other) = (set(&a), set(&b));
                if let Err(error) = one.await {
                    again(&zk, error).await?;
                    if self == Pipeline::Once {
                        return Ok(());
                    }
                    insist(&zk, || set(&a)).await?;
                }
                if let Err(error) = other.await {
                    again(&zk, error).await?;
                    insist(&zk, || set(&b)).await?;
                }
                probe.work().await;
            }
            return Ok(());
        }
        for _ in 0..2 * role.rounds {
            let second = read(&insist(&zk, || zk.data(&b)).await?.0);
            let first = read(&insist(&zk, || zk.data(&a)).await?.0);
            note(&probe, if first >= second { "good" } else { "bad" }, R, second);
            probe.work().await;
        }
        Ok(())
    }
}

#[test]
fn what_is_asked_for_at_once_is_done_in_order() {
    let bounds = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    judge("pipeline/once", Pipeline::Once, bounds, faults(60, 0), [Expected::Holds; 2]);
    judge("pipeline/repeats", Pipeline::Repeats, bounds, faults(60, 0), [Expected::Holds; 2]);
}

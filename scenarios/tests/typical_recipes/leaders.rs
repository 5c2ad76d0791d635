//! Elections, and what leaders do.

use crate::typical_recipes::judge::{
    Client, Expected, FIRST, R, Recipe, Teller, again, asks, connected, enlist, ensure, faults, insist,
    judge, path, released, remove, section,
};
use crate::typical_recipes::promises::WrittenByOwner;
use std::time::Duration;
use zoocheck::Faults;
use zoocheck::api::{CreateMode, Data, ErrorCode, EventType, KeeperState, MultiOutcome, Op, sequence_of};
use zoocheck::trials::event::End;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoWaiterStuck};
use zoocheck::trials::trial::{Bounds, Role};

const EXCLUSION: &str = "exclusion-among-live-sessions";

/// Everybody has a znode, and one of them is the leader's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Election {
    /// That of the least session id.
    LeastSession,
    /// The first of the list as it comes.
    FirstListed,
    /// The first by name, which begins with a guid.
    FirstName,
    /// The first by number.
    FirstNumber,
}

impl Recipe for Election {
    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of(R)), Box::new(NoWaiterStuck)]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, _role: Role) -> Result<(), End> {
        asks(&probe);
        let mine = match self {
            Election::LeastSession => {
                connected(&zk).await?;
                let name = format!("{:016x}", zk.session().get());
                ensure(&zk, &path(&format!("{R}/{name}")), &Data::NULL, CreateMode::Ephemeral).await?;
                name
            }
            _ => enlist(&zk, &format!("{}-", probe.guid())).await?,
        };
        loop {
            let (names, watch) = insist(&zk, || zk.children_watch(&path(R))).await?;
            let first = match self {
                Election::LeastSession | Election::FirstName => names.iter().min(),
                Election::FirstListed => names.first(),
                Election::FirstNumber => names.iter().min_by_key(|name| sequence_of(name)),
            };
            if first.is_some_and(|name| **name == *mine) {
                break;
            }
            if watch.await.kind == EventType::None {
                return Err(End::SessionLost);
            }
        }
        section(&probe).await;
        remove(&zk, &path(&format!("{R}/{mine}"))).await?;
        released(&probe);
        Ok(())
    }
}

#[test]
fn the_least_session_id_may_come_late() {
    let says = [Expected::Breaks(EXCLUSION); 2];
    judge("election/session", Election::LeastSession, FIRST, Faults::default(), says);
}

#[test]
fn the_first_that_is_listed_is_anybody() {
    judge("election/listed", Election::FirstListed, FIRST, Faults::none(), [Expected::Breaks(EXCLUSION); 2]);
}

#[test]
fn the_first_by_guid_may_come_late() {
    judge("election/name", Election::FirstName, FIRST, Faults::none(), [Expected::Breaks(EXCLUSION); 2]);
}

#[test]
fn the_first_by_number_is_right() {
    judge("election/number", Election::FirstNumber, FIRST, Faults::default(), [Expected::Holds; 2]);
}

/// Who owns `/r/leader` leads, and writes its name into `/r/address`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publish {
    /// In a client library that opens no session by itself.
    OneSession,
    /// The code goes on with the next session, and does not look.
    AnySession,
    /// One session, and it deletes its znode when it has led.
    Resigns,
    /// Any session, in a multi that checks that there is a leader's znode.
    Checked,
}

impl Recipe for Publish {
    const SETUP: &[&str] = &["/r/address"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(WrittenByOwner::new())]
    }

    fn renews(self) -> bool {
        matches!(self, Publish::AnySession | Publish::Checked)
    }

    fn stays(self) -> bool {
        true
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let (leader, address) = (path("/r/leader"), path("/r/address"));
        let me = Data::from(format!("of-{}", role.me.process).as_str());
        loop {
            match zk.create(&leader, me.clone(), CreateMode::Ephemeral).await {
                Ok(_) => break,
                Err(error) if error.code == ErrorCode::NodeExists => {
                    let (stat, watch) = insist(&zk, || zk.exists_watch(&leader)).await?;
                    match stat {
                        Some(stat) if stat.ephemeral_owner() == zk.session() => break,
                        Some(_) if watch.await.kind == EventType::None => return Err(End::SessionLost),
                        _ => {}
                    }
                }
                Err(error) => again(&zk, error).await?,
            }
        }
        probe.work().await;
        loop {
            let check = Op::Check { path: leader.text(), version: 0 };
            let set = Op::SetData { path: address.text(), data: me.clone(), version: -1 };
            let ops = if self == Publish::Checked { vec![check, set] } else { vec![set] };
            match zk.multi(ops).await {
                Ok(MultiOutcome::Applied(_)) => break,
                Ok(MultiOutcome::Failed(_)) => return Ok(()),
                Err(error) if error.is_session_over() && self.renews() => {
                    while zk.state() != KeeperState::SyncConnected {
                        let change = zk.state_change();
                        if zk.state() != KeeperState::SyncConnected {
                            change.await;
                        }
                    }
                }
                Err(error) => again(&zk, error).await?,
            }
        }
        match self {
            Publish::Resigns => remove(&zk, &leader).await,
            _ => Ok(()),
        }
    }
}

#[test]
fn a_leader_that_repeats_its_delete_deletes_the_next_leaders_znode() {
    let says = [Expected::Breaks("written-by-owner"); 2];
    judge("publish/resigns", Publish::Resigns, FIRST, faults(40, 0), says);
}

#[test]
fn what_an_expired_leader_writes_is_refused() {
    judge("publish/one-session", Publish::OneSession, FIRST, Faults::default(), [Expected::Holds; 2]);
}

#[test]
fn a_leader_that_goes_on_with_another_session_is_none() {
    let says = [Expected::Breaks("written-by-owner"); 2];
    judge("publish/any-session", Publish::AnySession, FIRST, faults(0, 20), says);
}

#[test]
fn a_check_of_any_leaders_znode_checks_nothing() {
    let says = [Expected::Breaks("written-by-owner"); 2];
    judge("publish/checked", Publish::Checked, FIRST, faults(0, 20), says);
}

/// Each waits until it is its turn, and then gives the turn to the next: for ever, once one has died.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    /// By a write of any version.
    Blind,
    /// By a write of the version that it has seen.
    Versioned,
}

impl Recipe for Turns {
    const SETUP: &[&str] = &["/r/turn"];

    fn promises(self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of(R)), Box::new(NoWaiterStuck::but_who_stays())]
    }

    async fn run<Z: Client, P: Teller>(self, zk: Z, probe: P, role: Role) -> Result<(), End> {
        let turn = path("/r/turn");
        let me = i64::from(role.me.process);
        for _ in 0..role.rounds {
            asks(&probe);
            let version = loop {
                let ((data, stat), watch) = insist(&zk, || zk.data_watch(&turn)).await?;
                if crate::typical_recipes::judge::read(&data) == me {
                    break if self == Turns::Blind { -1 } else { stat.version() };
                }
                watch.await;
                connected(&zk).await?;
            };
            section(&probe).await;
            let next = crate::typical_recipes::judge::number((me + 1) % i64::from(role.clients));
            loop {
                match zk.set_data(&turn, next.clone(), version).await {
                    Ok(_) => break,
                    Err(error) if error.code == ErrorCode::BadVersion => break,
                    Err(error) => again(&zk, error).await?,
                }
            }
            released(&probe);
            zk.sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }
}

#[test]
fn a_turn_that_is_given_twice_comes_back_too_soon() {
    let bounds = Bounds { rounds: 2, drops: 1, ..Bounds::clients(3) };
    judge("turns/blind", Turns::Blind, bounds, faults(60, 0), [Expected::Breaks(EXCLUSION); 2]);
}

#[test]
fn a_turn_that_is_given_by_version_is_right() {
    let bounds = Bounds { rounds: 2, ..FIRST };
    judge("turns/versioned", Turns::Versioned, bounds, Faults::default(), [Expected::Holds; 2]);
}

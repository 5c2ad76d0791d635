//! Sequencers as the mapping of Chubby's interface to ZooKeeper's has them, each with its defect.

use super::fixture::{chubby, look, mode, presents, promises};
use crate::lock::{Fixture, LOCK};
use crate::shared_lock::of_reader;
use zk_api::{Local, ZPath, ZooKeeper};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::{Stop, in_round};
use zk_harness::event::{Observation, Resource};
use zk_harness::promises::ExclusionAtResource;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::Mode;

/// Those that break.
pub fn trials() -> Vec<Trial> {
    vec![
        chubby("chubby/version-zero", version_zero)
            .summary("The sequencer is the znode that was made first of all, which a waiter has as well.")
            .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
            .breaks("sequencer-names-a-holder", "S-108", "none")
            .bounds(Bounds::clients(2)),
        chubby("chubby/no-mode", no_mode)
            .summary("A sequencer does not tell the mode, so that a reader may write with it.")
            .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
            .breaks("sequencer-names-a-holder", "S-115", "none")
            .bounds(Bounds::clients(2)),
        chubby("chubby/set-sequencer", set_sequencer)
            .summary("A sequencer whose znode is deleted has no other version, and stays valid.")
            .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
            .breaks("sequencer-names-a-holder", "S-114", "none")
            .bounds(Bounds::clients(1)),
        chubby("chubby/stale-check", stale_check)
            .summary("Checks a sequencer by a plain read, at a server that may not know of its end.")
            .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
            .breaks("sequencer-names-a-holder", "S-109", "a server that lags")
            .bounds(Bounds { admin: 1, lag: 1, ..Bounds::clients(1) })
            // Seeds would need a znode that is deleted just as its holder asks, and a server that lags at that moment.
            .found_by(FoundBy::Model),
        chubby("chubby/check-then-act", check_then_act)
            .summary("The resource has the sequencer checked, and acts a little later.")
            .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
            .breaks("exclusion-at-checked-resource", "S-110", "session expiry")
            .bounds(Bounds { expiries: 1, effects: true, ..Bounds::clients(2) })
            .promises(|| {
                let mut all = promises();
                all.push(Box::new(ExclusionAtResource::checked(LOCK)));
                all
            })
            // Sessions are to end between a check and its write, again and again.
            .scenario(&[
                ("rounds", "20"),
                ("work-ms", "[0, 500]"),
                ("faults.expiries", "60"),
                ("faults.client-pauses", "20"),
            ]),
    ]
}

/// The sequencer is the path of the own znode and its version, and it is good as long as the znode exists so.
///
/// A waiter has such a znode as well, and nothing says that whoever presents it holds the lock (S-108).
async fn version_zero(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    presents(&fixture, &own, Mode::Exclusive, None);
    // CheckSequencer: the znode exists, and its version is still 0.
    let accepted = look(&zk, &own).await?.is_some_and(|stat| stat.version() == 0);
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}

/// The lock is shared, and the sequencer does not tell in which mode it is held: that of a reader passes where somebody
/// wants to write (S-115).
async fn no_mode(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let mode = mode(&fixture);
    let (kind, rule) = match mode {
        Mode::Shared => ("read", of_reader as fn(&ZPath, &[_], &ZPath) -> _),
        Mode::Exclusive => ("write", plain::place as _),
    };
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), kind).await?;
    plain::turn_by(&zk, &lock, &own, rule).await?;
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    presents(&fixture, &own, Mode::Exclusive, None);
    // CheckSequencer: the znode exists, and its version is still 0.
    let accepted = look(&zk, &own).await?.is_some_and(|stat| stat.version() == 0);
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    fixture.leave();
    plain::remove(&zk, &own).await
}

/// A handle with a sequencer looks whether its znode has another version, and listens for events, after which it
/// compares versions. That the znode is gone is no other version: there is none to compare (S-114).
async fn set_sequencer(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await?;
    presents(&fixture, &own, Mode::Exclusive, None);
    // What an operation of the handle asks first: whether the version is another.
    let accepted = look(&zk, &own).await?.is_none_or(|stat| stat.version() == 0);
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    Ok(())
}

/// CheckSequencer looks who stands first, by a plain read.
///
/// The holder's znode is gone, by an administrator's hand or with its session, and the server that is asked has not
/// heard of it yet: whoever presents the sequencer is accepted, though it has not held the lock at any moment since
/// (S-109).
async fn stale_check(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.section(&own, None, std::future::pending::<()>()).await;
    presents(&fixture, &own, Mode::Exclusive, None);
    let accepted = is_first(&zk, &lock, &own).await?;
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    plain::remove(&zk, &own).await
}

/// CheckSequencer: whether the znode stands first.
async fn is_first(zk: &impl ZooKeeper, lock: &ZPath, own: &ZPath) -> Result<bool, Stop> {
    let names =
        plain::again_from(zk, "chubby/list", &[Local::Text(own.as_str())], || zk.children(lock)).await?;
    Ok(plain::place(lock, &names, own) == Place::First)
}

/// The resource asks the ensemble whether the sequencer is good, and then lets the write pass.
///
/// Between the two, the holder's session ends, the next holder comes and writes, and the first one's write lands behind
/// it (S-110). No check can help, only an order of sequencers that the resource remembers.
async fn check_then_act(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.tells(Observation::Granted { lock: lock.text(), node: own.text(), token: None });
    fixture.tells(Observation::Enters { lock: lock.text() });
    for nth in 0..2 {
        zk.checkpoint("check-then-act/write", &[Local::Text(own.as_str()), Local::Number(nth.into())]);
        presents(&fixture, &own, Mode::Exclusive, None);
        // CheckSequencer: the znode exists, and its version is still 0.
        let accepted = look(&in_round(zk.clone(), nth), &own).await?.is_some_and(|stat| stat.version() == 0);
        presents(&fixture, &own, Mode::Exclusive, Some(accepted));
        if accepted && fixture.role.effects {
            fixture.writes(Resource::Unfenced, None).await;
        }
        if fixture.role.effects && nth == 0 {
            fixture.works().await;
        }
    }
    fixture.leave();
    plain::remove(&zk, &own).await
}

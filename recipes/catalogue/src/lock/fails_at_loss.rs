//! `lock/fails-at-loss`: a lost connection is an error.

use super::fixture::{Fixture, lock};
use zk_api::{Local, ZooKeeper};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::{Stop, knowing};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but a look at the line whose answer is lost ends the attempt, though the session lives.
///
/// It leaves nothing behind, so that it does no harm to others; its caller has an error where it asked for a lock (S-087,
/// S-090).
pub fn trial() -> Trial {
    lock("lock/fails-at-loss", turn)
        .summary("Gives up with an error when the connection is lost while it looks at the line.")
        .source("a Java class for an article on ZooKeeper, whose exceptions go to the caller")
        .breaks("no-failure", "S-087", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    loop {
        zk.checkpoint("fails-at-loss/list", &[Local::Text(own.as_str())]);
        let names = match zk.children(&lock).await {
            Ok(names) => names,
            Err(error) if error.is_session_over() => return Err(error.into()),
            Err(error) => {
                // What follows differs from what follows a release.
                let fails = knowing(zk.clone(), &error.to_string());
                plain::remove(&fails, &own).await?;
                return Err(error.into());
            }
        };
        match plain::place(&lock, &names, &own) {
            Place::First => break,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(lower) => {
                if let (Some(_), watch) = plain::exists(&zk, &lower, own.as_str()).await? {
                    plain::event(watch).await?;
                }
            }
        }
    }
    fixture.holds(&own).await
}

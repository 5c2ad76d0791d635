//! `chubby/check-then-act`: what was checked is over when it is acted upon.

use super::fixture::{chubby, look, presents, promises};
use crate::lock::{Fixture, LOCK};
use zk_api::{Local, ZooKeeper};
use zk_harness::common::{Stop, in_round, plain};
use zk_harness::event::{Observation, Resource};
use zk_harness::promises::ExclusionAtResource;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// The resource asks the ensemble whether the sequencer is good, and then lets the write pass.
///
/// Between the two, the holder's session ends, the next holder comes and writes, and the first one's write lands behind it
/// (S-110). No check can help, only an order of sequencers that the resource remembers.
pub fn trial() -> Trial {
    chubby("chubby/check-then-act", turn)
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
        ])
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
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

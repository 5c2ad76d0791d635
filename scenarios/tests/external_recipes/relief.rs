//! A relief of the guard: who waits for it for a while only, and goes, and who waits in its place.

use crate::external_recipes::judge::{Expected, about, insist, judge, path, remove};
use std::sync::Arc;
use std::time::Duration;
use zoocheck::api::{ZPath, ZooKeeper, race};
use zoocheck::trials::event::End;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises::OneWokenPerDeletion;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::{CheckConfig, Faults};

const POST: &str = "/post";
/// It is gone when the guard is.
const GUARD: &str = "/post/guard";
/// It is gone when it is the next one's turn to wait.
const TURN: &str = "/post/turn";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Nobody gives up, so one waits at a time.
    Right,
    /// Who has waited for a while goes. Its watch stays where it was.
    GivesUp,
}

#[derive(Clone)]
struct Relief(Edition);

async fn gone(zk: &impl ZooKeeper, path: &ZPath) -> Result<(), End> {
    loop {
        let (stat, watch) = insist(zk, || zk.exists_watch(path)).await?;
        if stat.is_none() {
            return Ok(());
        }
        watch.await;
    }
}

impl Relief {
    async fn role(&self, zk: &impl ZooKeeper, probe: &impl Probe, role: Role) -> Result<(), End> {
        let (guard, turn) = (path(GUARD), path(TURN));
        match role.me.process {
            0 => {
                probe.work().await;
                remove(zk, &guard).await
            }
            1 => {
                if self.0 == Edition::GivesUp {
                    race(gone(zk, &guard), zk.sleep(Duration::from_millis(50))).await;
                } else {
                    gone(zk, &guard).await?;
                }
                remove(zk, &turn).await
            }
            2 => {
                gone(zk, &turn).await?;
                gone(zk, &guard).await
            }
            _ => Ok(()),
        }
    }
}

impl From<Relief> for Trial {
    fn from(it: Relief) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds::clients(3);
            match it.0 {
                Edition::Right => about("external-relief", "One waits at a time.", bounds),
                Edition::GivesUp => about("external-relief/gives-up", "Waits for a while, and goes.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .promises(|| vec![Box::new(OneWokenPerDeletion::of(POST))])
            .setup([POST, GUARD, TURN]);
        trial.about = about;
        trial
    }
}

impl Relief {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        self.role(&zk, &probe, role).await.err().unwrap_or(End::Done)
    }
}

#[test]
fn where_nobody_gives_up_one_is_woken_at_a_time() {
    let config = CheckConfig::new(Bounds { drops: 1, ..Bounds::clients(3) });
    judge(Relief(Edition::Right), &config, 3, Faults::none(), &Expected::Right);
}

#[test]
fn a_watch_that_was_given_up_is_told_once_more_and_counts() {
    for lag in [0, 1] {
        let expected = Expected::Wrong { promise: "one-woken-per-deletion", steps: 16 };
        let config = CheckConfig::new(Bounds { lag, ..Bounds::clients(3) });
        judge(Relief(Edition::GivesUp), &config, 3, Faults::none(), &expected);
    }
}

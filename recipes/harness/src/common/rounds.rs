//! The rounds of an actor, and how it ends.
//!
//! ```
//! use zk_harness::common::rounds::attempts;
//! use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop};
//! use zk_harness::event::End;
//! use zk_harness::trial::{Role, Trial};
//!
//! /// Acquires the lock, works, and releases it.
//! async fn turn(zk: InRound<AnyZooKeeper>, round: u8) -> Result<(), Stop> {
//!     # let _ = (zk, round);
//!     Ok(())
//! }
//!
//! /// Says that it asks before each turn, and that it holds the lock no more after it.
//! async fn actor(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
//!     attempts(&zk, (&probe, role), "/my-lock", turn).await
//! }
//! let trial = Trial::new("my-lock", actor).setup(["/my-lock"]);
//! ```

use super::{InRound, Stop, in_round};
use crate::event::{End, Observation};
use crate::probe::Probe;
use crate::trial::Role;
use std::future::Future;
use zk_api::ZooKeeper;

/// Does what is to be done in a round, which is told by its number from 0 and by a session whose checkpoints know it,
/// as often as the role says. Ends with the first round that cannot go on.
pub async fn rounds<Z, F>(zk: &Z, role: Role, mut round: impl FnMut(InRound<Z>, u8) -> F) -> Result<(), Stop>
where
    Z: ZooKeeper + Clone,
    F: Future<Output = Result<(), Stop>>,
{
    for nth in 0..role.rounds {
        let zk = in_round(zk.clone(), nth);
        zk.checkpoint("trial/round", &[]);
        // Boxed: a future has room for those that it awaits twice, so an actor's would be many times as large as its
        // round, and is moved each time that a search begins it anew.
        Box::pin(round(zk, nth)).await?;
    }
    Ok(())
}

/// The same where each round is an attempt at a lock: said as it begins, and as what was held is given back.
pub async fn attempts<Z, P, F>(
    zk: &Z,
    (probe, role): (&P, Role),
    lock: &'static str,
    mut turn: impl FnMut(InRound<Z>, u8) -> F,
) -> End
where
    Z: ZooKeeper + Clone,
    P: Probe,
    F: Future<Output = Result<(), Stop>>,
{
    let done = rounds(zk, role, |zk, nth| {
        probe.observe(Observation::Attempts { lock: lock.into() });
        let turn = Box::pin(turn(zk, nth));
        async move {
            turn.await?;
            probe.observe(Observation::Released { lock: lock.into() });
            Ok(())
        }
    });
    ended(probe, lock, done.await)
}

/// How an actor ends, which says so if it could not go on.
pub fn ended(probe: &impl Probe, what: &'static str, done: Result<(), Stop>) -> End {
    match done {
        Ok(()) => End::Done,
        Err(stop) => {
            let (end, why) = stop.end();
            probe.observe(Observation::GivesUp { lock: what.into(), why });
            end
        }
    }
}

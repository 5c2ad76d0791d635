//! `membership`: the recipe of this project.

use super::fixture::{Fixture, group};
use zk_harness::trial::{Bounds, Trial};

/// [`zk_recipes::Membership`] and [`zk_recipes::Roster`].
///
/// Process 0 watches until all others are listed. The others join under the name of their process, which a later life
/// uses again, and stay after the last round.
pub fn trial() -> Trial {
    group("membership", Fixture::watches, Fixture::belongs)
        .summary("Members by ephemeral znodes whose owners are looked at, and a list with its watch.")
        .source("zk-recipes")
        .bounds(Bounds {
            rounds: 2,
            expiries: 1,
            drops: 1,
            crashes: 1,
            restarts: 1,
            lag: 1,
            ..Bounds::clients(2)
        })
}

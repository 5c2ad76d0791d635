//! `shared-lock/one-by-one`: readers wait for readers.

use super::fixture::{round, shared};
use crate::lock::Fixture;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// A reader waits for whoever stands before it, as a writer does: safe, and nothing is shared (S-126).
pub fn trial() -> Trial {
    shared("shared-lock/one-by-one", turn)
        .summary("Readers wait for whoever stands before them, be it a reader.")
        .source("mutant of the recipe")
        .breaks("sharers-meet", "S-126", "none")
        .bounds(Bounds { rounds: 2, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    round(&fixture, plain::place, plain::place).await
}

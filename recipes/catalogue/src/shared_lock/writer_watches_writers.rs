//! `shared-lock/writer-watches-writers`: writers wait for writers alone.

use super::fixture::{of_reader, round, shared};
use crate::lock::Fixture;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// A writer waits for the next lower writer, as a reader does, and enters beside readers that came before it (S-123).
pub fn trial() -> Trial {
    shared("shared-lock/writer-watches-writers", turn)
        .summary("Writers wait for the writers before them, and not for readers.")
        .source("mutant of the recipe")
        .breaks("exclusion-among-live-sessions", "S-123", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    // The rule of a reader for both.
    round(&fixture, of_reader, of_reader).await
}

//! `shared-lock/name-order`: names are compared, not numbers.

use super::fixture::{round, shared};
use crate::lock::Fixture;
use zk_api::{Text, ZPath};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};

/// Stands in order of names, and each kind has another: every `read-` comes before every `write-`.
///
/// A reader never waits, not even for a writer that holds the lock; and a writer waits for readers that came later, one after
/// the other (S-122).
pub fn trial() -> Trial {
    shared("shared-lock/name-order", turn)
        .summary("Sorts read- and write- by name, so that every reader stands before every writer.")
        .source("ZooKeeper's recipes page, with names compared as texts")
        .breaks("exclusion-among-live-sessions", "S-122", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    round(&fixture, of_name, of_name).await
}

/// What is behind the guid is compared. A reader waits for writers alone.
fn of_name(lock: &ZPath, names: &[Text], own: &ZPath) -> Place {
    let mut names: Vec<(&str, &Text)> =
        names.iter().filter_map(|name| Some((name.split_once('-')?.1, name))).collect();
    names.sort_unstable();
    let Some(at) = names.iter().position(|(_, name)| ***name == *own.name()) else { return Place::Absent };
    let reads = own.name().contains("-read-");
    let before = names[..at].iter().rfind(|(order, _)| !reads || order.starts_with("write-"));
    before.map_or(Place::First, |(_, name)| Place::Behind(plain::child(lock, name)))
}

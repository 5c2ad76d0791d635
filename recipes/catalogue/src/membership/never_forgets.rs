//! `membership/never-forgets`: who has left is shown.

use super::fixture::{Fixture, group};
use std::collections::BTreeSet;
use zk_api::{Local, Text, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Whoever watches adds who is new to those it knows, and takes nobody out: it shows members together that never were.
pub fn trial() -> Trial {
    group("membership/never-forgets", watch, Fixture::belongs)
        .summary("Whoever watches adds the members that are new, and goes on showing those that have left.")
        .source("mutant of the recipe")
        .breaks("no-torn-reads", "S-008", "none")
        .bounds(Bounds { rounds: 2, ..Bounds::clients(2) })
}

async fn watch(fixture: Fixture) -> Result<(), Stop> {
    let (zk, group) = (fixture.zk.clone(), fixture.group());
    fixture.follows();
    let mut known: BTreeSet<Text> = BTreeSet::new();
    loop {
        let alive: Vec<Local<'_>> = known.iter().map(|name| Local::Text(name)).collect();
        zk.checkpoint("never-forgets/list", &alive);
        match zk.children_watch(&group).await {
            Ok((names, changed)) => {
                known.extend(names);
                fixture.sees(&known);
                if fixture.is_full(&known) {
                    fixture.is_through();
                    return Ok(());
                }
                plain::event(changed).await?;
            }
            Err(e) => plain::passing(&zk, e).await?,
        }
    }
}

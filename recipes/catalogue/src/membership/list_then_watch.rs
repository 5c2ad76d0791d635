//! `membership/list-then-watch`: the list and its watch by two requests.

use super::fixture::{Fixture, group};
use std::collections::BTreeSet;
use zk_api::{Local, Text, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Lists the members, does something about them, and then sets the watch by a request of its own.
///
/// Who joins in between is neither in the list nor told by the watch (S-008).
pub fn trial() -> Trial {
    group("membership/list-then-watch", watch, Fixture::belongs)
        .summary("Lists the members and sets the watch afterwards, so that a change in between is missed.")
        .source("mutant of the recipe")
        .breaks("fresh-at-rest", "S-008", "none")
        .bounds(Bounds::clients(2))
}

async fn watch(fixture: Fixture) -> Result<(), Stop> {
    let (zk, group) = (fixture.zk.clone(), fixture.group());
    fixture.follows();
    loop {
        let names: BTreeSet<Text> = plain::children(&zk, &group, "").await?.into_iter().collect();
        fixture.sees(&names);
        if fixture.is_full(&names) {
            fixture.is_through();
            return Ok(());
        }
        fixture.work().await;
        let known = [Local::Text(group.as_str())];
        let (_, watch) = plain::again_from(&zk, "group/watch", &known, || zk.children_watch(&group)).await?;
        plain::event(watch).await?;
    }
}

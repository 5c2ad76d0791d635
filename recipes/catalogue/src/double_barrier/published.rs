//! `double-barrier/…`: the published steps, each with what is wrong with one edition or another.

use super::fixture::{Fixture, Size, double_barrier, published};
use super::steps::{SOUND, Steps, tutorial};
use zk_harness::common::Turn;
use zk_harness::trial::{Bounds, Trial};

fn by_steps(name: &'static str, size: Size, steps: Steps) -> Trial {
    edition(name, size, move |fixture: Fixture| async move { steps.round(&fixture).await })
}

fn edition(name: &'static str, size: Size, round: impl Turn<Fixture, bool>) -> Trial {
    double_barrier(name, size, round).promises(move || published(size, false))
}

/// One edition, or one reading, of the published steps each.
#[expect(clippy::too_many_lines, reason = "a table")]
pub fn trials() -> Vec<Trial> {
    vec![
        // A sound reading, for one round of exactly as many members as there are clients, none of which dies.
        by_steps("double-barrier/process-nodes-only", Size::All, SOUND)
            .summary("The published steps where only znodes of processes count: one round, all members live, no deaths.")
            .source("ZooKeeper's recipes page, read so")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
            .scenario(NO_DEATHS)
            .promises(|| published(Size::All, true)),
        // Whoever comes last creates `b` + `ready`, without the slash: nobody is told (S-012).
        by_steps("double-barrier/missing-slash", Size::All, Steps { flag: "/barrierready", ..SOUND })
            .summary("The flag is created beside the barrier's znode and watched below it.")
            .source("a translation of the recipes page, enter 6")
            .breaks("barrier-opens", "S-012", "none")
            .bounds(Bounds::clients(2)),
        // The flag is there already in the second round, and that it is there is not looked at: who waits for an event
        // waits for ever (S-015).
        by_steps("double-barrier/ready-never-removed", Size::All, SOUND)
            .summary("The flag stays: in the second round nobody is told that all are there.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("barrier-opens", "S-015", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
        // All children are counted: with the flag of the first round one member is enough for two (S-014, R-53).
        by_steps("double-barrier/ready-counted", Size::All, Steps { counts_flag: true, ..SOUND })
            .summary("The flag of the first round is counted as a member of the second.")
            .source("ZooKeeper's recipes page, enter 4 and 5; Netflix/curator 99")
            .breaks("enters-together", "S-014", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
        // Who leaves waits until there are no children, of which the flag is one that nobody removes (S-013).
        by_steps("double-barrier/ready-waited-for", Size::All, Steps { waits_for_flag: true, ..SOUND })
            .summary("Leaves when there are no children, but the flag is one for ever.")
            .source("ZooKeeper's recipes page, leave 2, older editions")
            .breaks("barrier-opens", "S-013", "none")
            .bounds(Bounds::clients(2)),
        // It waits for *an* event, and a lost connection is one: it passes alone (S-016).
        by_steps("double-barrier/any-event", Size::All, Steps { any_event: true, ..SOUND })
            .summary("Any event passes, that of a lost connection too.")
            .source("ZooKeeper's recipes page, enter 5 taken literally; Curator 1290")
            .breaks("enters-together", "S-016", "connection loss")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) }),
        // Two see that all are there; the second finds the flag created, and fails (S-018).
        by_steps("double-barrier/ready-exists", Size::All, Steps { flag_exists_fails: true, ..SOUND })
            .summary("That another has created the flag first is an error.")
            .source("ZooKeeper's recipes page, enter 6, all editions")
            .breaks("no-failure", "S-018", "none")
            .bounds(Bounds::clients(2)),
        // The create is repeated when its answer was lost, and fails, as its own znode is there (S-019).
        by_steps("double-barrier/own-exists", Size::All, Steps { own_exists_fails: true, ..SOUND })
            .summary("A create whose answer was lost is repeated, and that the znode exists is an error.")
            .source("ZooKeeper's recipes page, enter 3, all editions")
            .breaks("no-failure", "S-019", "lost answer")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) }),
        // The words *if it still exists* are missing: when the lowest dies, who waits for it turns the loop again, and
        // its second delete fails (S-020).
        by_steps("double-barrier/no-node-fails", Size::All, Steps { no_node_fails: true, ..SOUND })
            .summary("Deletes its znode in each turn of the loop; that it is gone is an error.")
            .source("a translation of the recipes page, leave 5")
            .breaks("no-failure", "S-020", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(3) }),
        // The one to wait for leaves between the list and the look, and is waited for for ever (S-022).
        by_steps("double-barrier/null-waits", Size::All, Steps { null_waits: true, ..SOUND })
            .summary("Waits for an event of a znode that was gone as it was looked for.")
            .source("ZooKeeper's recipes page, leave 4 and 5, all editions")
            .breaks("barrier-opens", "S-022", "none")
            .bounds(Bounds::clients(2)),
        // The own znode comes first and the look for the flag last: it may have been created in between (S-027).
        by_steps("double-barrier/create-after-look", Size::All, Steps { looks_first: false, ..SOUND })
            .summary("Looks for the flag after it has counted, and does not mind that it is there.")
            .source("a mutant of the recipe; the order of kazoo's")
            .breaks("barrier-opens", "S-027", "none")
            .bounds(Bounds::clients(2)),
        // It waits for so long, gives up and goes, but its znode stays and is counted by the next.
        by_steps("double-barrier/timeout-leaves-node", Size::All, Steps { is_impatient: true, ..SOUND })
            .summary("A member that gives up waiting leaves its znode behind.")
            .source("CURATOR-318")
            .breaks("enters-together", "R-51", "none")
            .bounds(Bounds::clients(2)),
        // One more comes while the others leave. They wait for its znode, and it for a flag that is there already
        // (S-025).
        by_steps("double-barrier/newcomer-joins", Size::OneSpare, SOUND)
            .summary("One more comes while the others leave: they wait for it, and it for an event that is past.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("barrier-opens", "S-025", "none")
            .bounds(Bounds::clients(3)),
        // The list of children is watched and counted. A member may enter, leave and remove its znode before another,
        // which is slow, has counted.
        edition("double-barrier/tutorial", Size::All, |fixture: Fixture| async move {
            tutorial(&fixture).await
        })
            .summary("Enters when the list is long enough and leaves when it is empty: a slow one counts too late.")
            .source("ZooKeeper's tutorial, class Barrier; ZOOKEEPER-1011")
            .breaks("barrier-opens", "R-28", "none")
            .bounds(Bounds::clients(2)),
    ]
}

/// Nobody dies, and there is one round.
const NO_DEATHS: &[(&str, &str)] = &[
    ("rounds", "1"),
    ("faults.expiries", "0"),
    ("faults.client-crashes", "0"),
    ("faults.client-pauses", "0"),
    ("faults.server-crashes", "0"),
    ("faults.server-pauses", "0"),
    ("faults.server-lags", "0"),
    ("faults.leader-crashes", "0"),
    ("faults.partitions", "0"),
];

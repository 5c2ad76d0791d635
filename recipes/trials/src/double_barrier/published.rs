//! `double-barrier/…`: the published steps, each with what is wrong with one edition or another.

use super::stage::{DoubleBarrierKind, Stage};
use super::steps::{SOUND, Steps, tutorial};
use crate::common::Stop;
use crate::trial::{About, Bounds, Breaks, Reductions};

/// One edition, or one reading, of the published steps.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    about: fn() -> About,
    scenario: &'static [(&'static str, &'static str)],
    /// How many clients there are beyond those that a round needs.
    spare: u16,
    steps: How,
}

/// How it goes about a round.
#[derive(Clone, Copy, Debug)]
enum How {
    /// By the steps of the recipe.
    Steps(Steps),
    /// By the list of children alone.
    Tutorial,
}

impl DoubleBarrierKind for Published {
    fn about(&self) -> About {
        (self.about)()
    }

    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        self.scenario
    }

    fn size(&self, clients: u16) -> u16 {
        clients.saturating_sub(self.spare).max(1)
    }

    async fn round(&self, stage: &Stage) -> Result<bool, Stop> {
        match self.steps {
            How::Steps(steps) => steps.round(stage).await,
            How::Tutorial => tutorial(stage).await,
        }
    }
}

/// All of them.
pub fn published() -> Vec<Published> {
    vec![
        PROCESS_NODES_ONLY,
        MISSING_SLASH,
        READY_NEVER_REMOVED,
        READY_COUNTED,
        READY_WAITED_FOR,
        ANY_EVENT,
        READY_EXISTS,
        OWN_EXISTS,
        NO_NODE_FAILS,
        NULL_WAITS,
        CREATE_AFTER_LOOK,
        TIMEOUT_LEAVES_NODE,
        NEWCOMER_JOINS,
        TUTORIAL,
    ]
}

fn about(name: &'static str, summary: &'static str, source: &'static str, bounds: Bounds) -> About {
    About { name, summary, source, breaks: None, bounds, reductions: Reductions::default() }
}

const fn breaks(promise: &'static str, defect: &'static str, fault: &'static str) -> Option<Breaks> {
    Some(Breaks { promise, defect, fault })
}

/// A sound reading, for one round of exactly as many members as there are clients, none of which dies.
const PROCESS_NODES_ONLY: Published = Published {
    about: || {
        about(
            "double-barrier/process-nodes-only",
            "The published steps where only znodes of processes count: one round, all members live, no deaths.",
            "ZooKeeper's recipes page, read so",
            Bounds { drops: 1, ..Bounds::clients(2) },
        )
    },
    scenario: NO_DEATHS,
    spare: 0,
    steps: How::Steps(SOUND),
};

/// Whoever comes last creates `b` + `ready`, without the slash: nobody is told (S-012).
const MISSING_SLASH: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "S-012", "none"),
        ..about(
            "double-barrier/missing-slash",
            "The flag is created beside the barrier's znode and watched below it.",
            "a translation of the recipes page, enter 6",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { flag: "/barrierready", ..SOUND }),
};

/// The flag is there already in the second round, and that it is there is not looked at: who waits for an event waits for
/// ever (S-015).
const READY_NEVER_REMOVED: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "S-015", "none"),
        ..about(
            "double-barrier/ready-never-removed",
            "The flag stays: in the second round nobody is told that all are there.",
            "ZooKeeper's recipes page, all editions",
            Bounds { rounds: 2, ..Bounds::clients(2) },
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(SOUND),
};

/// All children are counted: with the flag of the first round one member is enough for two (S-014, R-53).
const READY_COUNTED: Published = Published {
    about: || About {
        breaks: breaks("enters-together", "S-014", "none"),
        ..about(
            "double-barrier/ready-counted",
            "The flag of the first round is counted as a member of the second.",
            "ZooKeeper's recipes page, enter 4 and 5; Netflix/curator 99",
            Bounds { rounds: 2, ..Bounds::clients(2) },
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { counts_flag: true, ..SOUND }),
};

/// Who leaves waits until there are no children, of which the flag is one that nobody removes (S-013).
const READY_WAITED_FOR: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "S-013", "none"),
        ..about(
            "double-barrier/ready-waited-for",
            "Leaves when there are no children, but the flag is one for ever.",
            "ZooKeeper's recipes page, leave 2, older editions",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { waits_for_flag: true, ..SOUND }),
};

/// It waits for *an* event, and a lost connection is one: it passes alone (S-016).
const ANY_EVENT: Published = Published {
    about: || About {
        breaks: breaks("enters-together", "S-016", "connection loss"),
        ..about(
            "double-barrier/any-event",
            "Any event passes, that of a lost connection too.",
            "ZooKeeper's recipes page, enter 5 taken literally; Curator 1290",
            Bounds { drops: 1, ..Bounds::clients(2) },
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { any_event: true, ..SOUND }),
};

/// Two see that all are there; the second finds the flag created, and fails (S-018).
const READY_EXISTS: Published = Published {
    about: || About {
        breaks: breaks("no-failure", "S-018", "none"),
        ..about(
            "double-barrier/ready-exists",
            "That another has created the flag first is an error.",
            "ZooKeeper's recipes page, enter 6, all editions",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { flag_exists_fails: true, ..SOUND }),
};

/// The create is repeated when its answer was lost, and fails, as its own znode is there (S-019).
const OWN_EXISTS: Published = Published {
    about: || About {
        breaks: breaks("no-failure", "S-019", "lost answer"),
        ..about(
            "double-barrier/own-exists",
            "A create whose answer was lost is repeated, and that the znode exists is an error.",
            "ZooKeeper's recipes page, enter 3, all editions",
            Bounds { drops: 1, ..Bounds::clients(1) },
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { own_exists_fails: true, ..SOUND }),
};

/// The words *if it still exists* are missing: when the lowest dies, who waits for it turns the loop again, and its
/// second delete fails (S-020).
const NO_NODE_FAILS: Published = Published {
    about: || About {
        breaks: breaks("no-failure", "S-020", "session expiry"),
        ..about(
            "double-barrier/no-node-fails",
            "Deletes its znode in each turn of the loop; that it is gone is an error.",
            "a translation of the recipes page, leave 5",
            Bounds { expiries: 1, ..Bounds::clients(3) },
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { no_node_fails: true, ..SOUND }),
};

/// The one to wait for leaves between the list and the look, and is waited for for ever (S-022).
const NULL_WAITS: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "S-022", "none"),
        ..about(
            "double-barrier/null-waits",
            "Waits for an event of a znode that was gone as it was looked for.",
            "ZooKeeper's recipes page, leave 4 and 5, all editions",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { null_waits: true, ..SOUND }),
};

/// The own znode comes first and the look for the flag last: it may have been created in between (S-027).
const CREATE_AFTER_LOOK: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "S-027", "none"),
        ..about(
            "double-barrier/create-after-look",
            "Looks for the flag after it has counted, and does not mind that it is there.",
            "a mutant of the recipe; the order of kazoo's",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { looks_first: false, ..SOUND }),
};

/// It waits for so long, gives up and goes, but its znode stays and is counted by the next.
const TIMEOUT_LEAVES_NODE: Published = Published {
    about: || About {
        breaks: breaks("enters-together", "R-51", "none"),
        ..about(
            "double-barrier/timeout-leaves-node",
            "A member that gives up waiting leaves its znode behind.",
            "CURATOR-318",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Steps(Steps { is_impatient: true, ..SOUND }),
};

/// One more comes while the others leave. They wait for its znode, and it for a flag that is there already (S-025).
const NEWCOMER_JOINS: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "S-025", "none"),
        ..about(
            "double-barrier/newcomer-joins",
            "One more comes while the others leave: they wait for it, and it for an event that is past.",
            "ZooKeeper's recipes page, all editions",
            Bounds::clients(3),
        )
    },
    scenario: &[],
    spare: 1,
    steps: How::Steps(SOUND),
};

/// The list of children is watched and counted. A member may enter, leave and remove its znode before another, which is
/// slow, has counted.
const TUTORIAL: Published = Published {
    about: || About {
        breaks: breaks("barrier-opens", "R-28", "none"),
        ..about(
            "double-barrier/tutorial",
            "Enters when the list is long enough and leaves when it is empty: a slow one counts too late.",
            "ZooKeeper's tutorial, class Barrier; ZOOKEEPER-1011",
            Bounds::clients(2),
        )
    },
    scenario: &[],
    spare: 0,
    steps: How::Tutorial,
};

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

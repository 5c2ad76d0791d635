//! `queue/…` and `priority-queue/…`: the published steps, each with what is wrong with one edition or another.

use super::recipe;
use super::stage::{Item, QueueKind, Stage};
use super::steps::{self, Prefix, SOUND, Steps};
use crate::common::Stop;
use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions};
use zk_api::CreateMode;
use zk_recipes::queue::Delivery::{self, AtLeastOnce, AtMostOnce};

/// One edition, or one reading, of the published steps.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    about: fn() -> About,
    delivery: Delivery,
    put: Put,
    take: Take,
    scenario: &'static [(&'static str, &'static str)],
    found_by: FoundBy,
}

/// How items are put.
#[derive(Clone, Copy, Debug)]
enum Put {
    /// As they should be.
    Recipe,
    /// By creates, so flagged and named.
    Plain(CreateMode, Prefix),
    /// The same, once.
    Once(CreateMode, Prefix),
}

/// How items are taken.
#[derive(Clone, Copy, Debug)]
enum Take {
    /// As they should be.
    Recipe,
    /// By the steps of the recipe.
    Steps(Steps),
}

impl QueueKind for Published {
    fn about(&self) -> About {
        (self.about)()
    }

    fn delivery(&self) -> Delivery {
        self.delivery
    }

    fn wakes_one(&self) -> bool {
        self.about().breaks.is_some_and(|breaks| breaks.promise == "one-woken-per-deletion")
    }

    fn has_priorities(&self) -> bool {
        self.about().name.starts_with("priority-queue")
    }

    fn found_by(&self) -> FoundBy {
        self.found_by
    }

    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        self.scenario
    }

    async fn produce(&self, stage: &Stage) -> Result<(), Stop> {
        match self.put {
            Put::Recipe => recipe::produce(stage).await,
            Put::Plain(mode, prefix) => steps::produce(stage, (mode, prefix), true).await,
            Put::Once(mode, prefix) => steps::produce(stage, (mode, prefix), false).await,
        }
    }

    async fn consume(&self, stage: &Stage) -> Result<(), Stop> {
        match self.take {
            Take::Recipe => recipe::consume(stage, self.delivery).await,
            Take::Steps(steps) => steps.consume(stage).await,
        }
    }
}

/// All of them.
pub fn published() -> Vec<Published> {
    vec![
        EPHEMERAL_ITEMS,
        NO_CLAIM,
        DELETE_THEN_PROCESS,
        LOST_DELETE,
        NO_GUID,
        PUT_ONCE,
        PRIORITY_IS_NAME,
        NAME_ORDER,
        SAME_CACHE,
        POP_BEFORE_GET,
        NO_NODE_FAILS,
        WATCH_LOST,
        HERD,
        UNPADDED,
        STALE_LIST,
        WRONG_WATCH,
    ]
}

/// As the recipe names items.
fn padded(item: &Item) -> String {
    format!("item-{:05}-", item.priority)
}

/// As the recipe does, but for the zeros.
fn unpadded(item: &Item) -> String {
    format!("item-{}-", item.priority)
}

/// Two prefixes in turns, the one that sorts last first.
fn by_turns(item: &Item) -> String {
    format!("item-{}-", if item.nth.is_multiple_of(2) { "z" } else { "a" })
}

fn about(
    (name, summary, source): (&'static str, &'static str, &'static str),
    (promise, defect, fault): (&'static str, &'static str, &'static str),
    bounds: Bounds,
) -> About {
    let breaks = Some(Breaks { promise, defect, fault });
    About { name, summary, source, breaks, bounds, reductions: Reductions::default() }
}

/// Items are created with the flag *ephemeral*: whoever puts must live until they are taken (S-030).
const EPHEMERAL_ITEMS: Published = Published {
    about: || {
        about(
            (
                "queue/ephemeral-items",
                "Items are ephemeral, and die with their producer.",
                "ZooKeeper's recipes page, all editions",
            ),
            ("nothing-lost", "S-030", "session expiry"),
            Bounds { expiries: 1, ..Bounds::clients(1) },
        )
    },
    delivery: AtLeastOnce,
    put: Put::Plain(CreateMode::EphemeralSequential, padded),
    take: Take::Recipe,
    scenario: &[],
    found_by: FoundBy::Both,
};

/// An item is worked off and then deleted. Two who have the same list work off the same (S-031).
const NO_CLAIM: Published = Published {
    about: || {
        about(
            (
                "queue/no-claim",
                "Two consumers work off the same item, as neither says that it has it.",
                "ZooKeeper's recipes page, all editions",
            ),
            ("taken-once", "S-031", "none"),
            Bounds::clients(3),
        )
    },
    delivery: AtLeastOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { deletes_first: false, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// The deletion is the claim, and nobody else gets the item when its taker dies (S-032).
const DELETE_THEN_PROCESS: Published = Published {
    about: || {
        about(
            (
                "queue/delete-then-process",
                "An item is deleted before it is worked off, and lost if its taker dies.",
                "ZooKeeper's recipes page, which leaves it open",
            ),
            ("nothing-lost", "S-032", "crash"),
            Bounds { crashes: 1, ..Bounds::clients(2) },
        )
    },
    delivery: AtLeastOnce,
    put: Put::Recipe,
    take: Take::Steps(SOUND),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// The same steps, where nobody dies: who has deleted an item and does not know it goes on to the next (S-033).
const LOST_DELETE: Published = Published {
    about: || {
        about(
            (
                "queue/lost-delete",
                "A deletion whose answer was lost is repeated, and what it finds gone is taken for another's.",
                "ZooKeeper's recipes page, which leaves it open",
            ),
            ("nothing-lost", "S-033", "lost answer"),
            Bounds { drops: 1, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(SOUND),
    scenario: FLAKY,
    found_by: FoundBy::Both,
};

/// Nothing in an item tells whether it was put already: it is put twice (S-034).
const NO_GUID: Published = Published {
    about: || {
        about(
            (
                "queue/no-guid",
                "A put whose answer was lost is simply repeated.",
                "ZooKeeper's recipes page, all editions",
            ),
            ("taken-once", "S-034", "lost answer"),
            Bounds { rounds: 2, drops: 1, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Plain(CreateMode::PersistentSequential, padded),
    take: Take::Recipe,
    scenario: FLAKY,
    found_by: FoundBy::Both,
};

/// A put whose answer is lost may not have been done, and is taken for done: the reverse of the former (S-034).
const PUT_ONCE: Published = Published {
    about: || {
        about(
            (
                "queue/put-once",
                "A put whose answer was lost is taken for done.",
                "reading of ZooKeeper's recipes page, which names no errors",
            ),
            ("nothing-lost", "S-034", "lost request"),
            Bounds { drops: 1, ..Bounds::clients(1) },
        )
    },
    delivery: AtLeastOnce,
    put: Put::Once(CreateMode::PersistentSequential, padded),
    take: Take::Recipe,
    scenario: FLAKY,
    found_by: FoundBy::Both,
};

/// Nothing in a name but the priority tells items apart: two of one priority cannot be there at one time (S-042).
const PRIORITY_IS_NAME: Published = Published {
    about: || {
        about(
            (
                "queue/priority-is-name",
                "Items are named by their priority alone, so that a second one of the same is refused.",
                "ZooKeeper's recipes page, queue-YY where YY is the priority, read so",
            ),
            ("no-failure", "S-042", "none"),
            Bounds { rounds: 2, ..Bounds::clients(1) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Plain(CreateMode::Persistent, padded),
    take: Take::Recipe,
    scenario: &[],
    found_by: FoundBy::Both,
};

/// Names sort by what stands before the number first (S-037).
const NAME_ORDER: Published = Published {
    about: || {
        about(
            (
                "queue/name-order",
                "Items are sorted by their whole names, which do not begin alike.",
                "kazoo and others, where producers choose prefixes",
            ),
            ("takes-in-order", "S-037", "none"),
            Bounds { rounds: 2, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Plain(CreateMode::PersistentSequential, by_turns),
    take: Take::Steps(Steps { by_name: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// Another consumer has the head of the list; it is asked for again and again.
const SAME_CACHE: Published = Published {
    about: || {
        about(
            (
                "queue/same-cache",
                "An item that is gone stays at the head of the list, and is tried for ever.",
                "kazoo 352",
            ),
            ("no-livelock", "R-18", "none"),
            Bounds::clients(3),
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { same_cache: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Model,
};

/// The read fails with the connection, and the next item is taken first.
const POP_BEFORE_GET: Published = Published {
    about: || {
        about(
            (
                "queue/pop-before-get",
                "An item leaves the list before it was read, and has lost its place if that fails.",
                "kazoo, before b1462ef",
            ),
            ("takes-in-order", "R-19", "connection loss"),
            Bounds { rounds: 2, drops: 1, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { pops_first: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Model,
};

/// The list is old by nature; what is in it may be gone (S-035).
const NO_NODE_FAILS: Published = Published {
    about: || {
        about(
            (
                "queue/no-node-fails",
                "An item that another has taken is an error.",
                "ZooKeeper's recipes page, all editions",
            ),
            ("no-failure", "S-035", "none"),
            Bounds::clients(3),
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { no_node_fails: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// The watch is set anew where it should have been caught up with: what was put meanwhile is not seen.
const WATCH_LOST: Published = Published {
    about: || {
        about(
            (
                "queue/watch-lost",
                "After a lost connection it waits for a change without looking at the list.",
                "CURATOR-623",
            ),
            ("queue-progress", "R-46", "connection loss"),
            Bounds { drops: 1, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { watch_lost: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Model,
};

/// Held to what the recipe declares, one client woken by a change (S-038); of the others it is only measured.
const HERD: Published = Published {
    about: || {
        about(
            (
                "queue/herd",
                "Each consumer watches the list: a put wakes all.",
                "ZooKeeper's recipes page, all editions",
            ),
            ("one-woken-per-deletion", "S-038", "none"),
            Bounds::clients(3),
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(SOUND),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// Ten comes before nine (S-041).
const UNPADDED: Published = Published {
    about: || {
        about(
            (
                "priority-queue/unpadded",
                "Priorities are written without leading zeros, and sort as texts.",
                "ZooKeeper's recipes page, all editions",
            ),
            ("takes-in-order", "S-041", "none"),
            Bounds { rounds: 2, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Plain(CreateMode::PersistentSequential, unpadded),
    take: Take::Steps(Steps { by_name: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// What is more important and comes later is not in the list (S-044).
const STALE_LIST: Published = Published {
    about: || {
        about(
            (
                "priority-queue/stale-list",
                "Uses its list up before it makes a new one, whatever is put meanwhile.",
                "ZooKeeper's recipes page, the queue's rule",
            ),
            ("takes-in-order", "S-044", "none"),
            Bounds { rounds: 3, ..Bounds::clients(2) },
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { by_name: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// A watch of the znode itself tells nothing of its children (S-045).
const WRONG_WATCH: Published = Published {
    about: || {
        about(
            (
                "priority-queue/wrong-watch",
                "Watches the queue's znode and not its list.",
                "ZooKeeper's recipes page, which leaves it open",
            ),
            ("queue-progress", "S-045", "none"),
            Bounds::clients(2),
        )
    },
    delivery: AtMostOnce,
    put: Put::Recipe,
    take: Take::Steps(Steps { wrong_watch: true, ..SOUND }),
    scenario: &[],
    found_by: FoundBy::Both,
};

/// Many lost answers, and little else to do.
const FLAKY: &[(&str, &str)] =
    &[("clients", "3"), ("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")];

//! `queue/…` and `priority-queue/…`: the published steps, each with what is wrong with one edition or another.

use super::fixture::{Item, promises, queue_of};
use super::recipe;
use super::steps::{self, Prefix, SOUND, Steps};
use zk_api::CreateMode;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::queue::Delivery::{self, AtLeastOnce, AtMostOnce};

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

/// One edition, or one reading, of the published steps.
fn published(name: &'static str, delivery: Delivery, put: Put, take: Take) -> Trial {
    published_by(1, name, delivery, put, take)
}

/// The same, with so many producers.
fn published_by(producers: u16, name: &'static str, delivery: Delivery, put: Put, take: Take) -> Trial {
    let produce = move |fixture| async move {
        match put {
            Put::Recipe => recipe::produce(&fixture).await,
            Put::Plain(mode, prefix) => steps::produce(&fixture, (mode, prefix), true).await,
            Put::Once(mode, prefix) => steps::produce(&fixture, (mode, prefix), false).await,
        }
    };
    let consume = move |fixture| async move {
        match take {
            Take::Recipe => recipe::consume(&fixture, delivery, false).await,
            Take::Steps(steps) => steps.consume(&fixture).await,
        }
    };
    queue_of(producers, name, delivery, produce, consume)
}

/// All of them.
#[expect(clippy::too_many_lines, reason = "a table")]
pub fn trials() -> Vec<Trial> {
    vec![
        // Items are created with the flag *ephemeral*: whoever puts must live until they are taken (S-030).
        published("queue/ephemeral-items", AtLeastOnce, Put::Plain(CreateMode::EphemeralSequential, padded), Take::Recipe)
            .summary("Items are ephemeral, and die with their producer.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("nothing-lost", "S-030", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(1) }),
        // An item is worked off and then deleted. Two who have the same list work off the same (S-031).
        published("queue/no-claim", AtLeastOnce, Put::Recipe, Take::Steps(Steps { deletes_first: false, ..SOUND }))
            .summary("Two consumers work off the same item, as neither says that it has it.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("taken-once", "S-031", "none")
            .bounds(Bounds::clients(3)),
        // The deletion is the claim, and nobody else gets the item when its taker dies (S-032).
        published("queue/delete-then-process", AtLeastOnce, Put::Recipe, Take::Steps(SOUND))
            .summary("An item is deleted before it is worked off, and lost if its taker dies.")
            .source("ZooKeeper's recipes page, which leaves it open")
            .breaks("nothing-lost", "S-032", "crash")
            .bounds(Bounds { crashes: 1, ..Bounds::clients(2) }),
        // The same steps, where nobody dies: who has deleted an item and does not know it goes on to the next (S-033).
        published("queue/lost-delete", AtMostOnce, Put::Recipe, Take::Steps(SOUND))
            .summary("A deletion whose answer was lost is repeated, and what it finds gone is taken for another's.")
            .source("ZooKeeper's recipes page, which leaves it open")
            .breaks("nothing-lost", "S-033", "lost answer")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
            .scenario(FLAKY),
        // Nothing in an item tells whether it was put already: it is put twice (S-034).
        published("queue/no-guid", AtMostOnce, Put::Plain(CreateMode::PersistentSequential, padded), Take::Recipe)
            .summary("A put whose answer was lost is simply repeated.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("taken-once", "S-034", "lost answer")
            .bounds(Bounds { rounds: 2, drops: 1, ..Bounds::clients(2) })
            .scenario(FLAKY),
        // A put whose answer is lost may not have been done, and is taken for done: the reverse of the former (S-034).
        published("queue/put-once", AtLeastOnce, Put::Once(CreateMode::PersistentSequential, padded), Take::Recipe)
            .summary("A put whose answer was lost is taken for done.")
            .source("reading of ZooKeeper's recipes page, which names no errors")
            .breaks("nothing-lost", "S-034", "lost request")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
            .scenario(FLAKY),
        // Nothing in a name but the priority tells items apart: two of one priority cannot be there at one time
        // (S-042).
        published("queue/priority-is-name", AtMostOnce, Put::Plain(CreateMode::Persistent, padded), Take::Recipe)
            .summary("Items are named by their priority alone, so that a second one of the same is refused.")
            .source("ZooKeeper's recipes page, queue-YY where YY is the priority, read so")
            .breaks("no-failure", "S-042", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(1) }),
        // Names sort by what stands before the number first (S-037).
        published("queue/name-order", AtMostOnce, Put::Plain(CreateMode::PersistentSequential, by_turns), Take::Steps(Steps { by_name: true, ..SOUND }))
            .summary("Items are sorted by their whole names, which do not begin alike.")
            .source("kazoo and others, where producers choose prefixes")
            .breaks("takes-in-order", "S-037", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
        // The same, where each producer's names begin alike: each one's items are taken in order, and not those of all
        // (S-037).
        published_by(
            2,
            "queue/by-producer",
            AtMostOnce,
            Put::Plain(CreateMode::PersistentSequential, by_producer),
            Take::Steps(Steps { by_name: true, ..SOUND }),
        )
        .summary("Items are sorted by their whole names, which begin with that of their producer.")
        .source("kazoo and others, where producers choose prefixes")
        .breaks("takes-in-order", "S-037", "none")
        .bounds(Bounds::clients(3)),
        // Another consumer has the head of the list; it is asked for again and again.
        published("queue/same-cache", AtMostOnce, Put::Recipe, Take::Steps(Steps { same_cache: true, ..SOUND }))
            .summary("An item that is gone stays at the head of the list, and is tried for ever.")
            .source("kazoo 352")
            .breaks("no-livelock", "R-18", "none")
            .bounds(Bounds::clients(3))
            .found_by(FoundBy::Model),
        // The read fails with the connection, and the next item is taken first.
        published("queue/pop-before-get", AtMostOnce, Put::Recipe, Take::Steps(Steps { pops_first: true, ..SOUND }))
            .summary("An item leaves the list before it was read, and has lost its place if that fails.")
            .source("kazoo, before b1462ef")
            .breaks("takes-in-order", "R-19", "connection loss")
            .bounds(Bounds { rounds: 2, drops: 1, ..Bounds::clients(2) })
            .found_by(FoundBy::Model),
        // The list is old by nature; what is in it may be gone (S-035).
        published("queue/no-node-fails", AtMostOnce, Put::Recipe, Take::Steps(Steps { no_node_fails: true, ..SOUND }))
            .summary("An item that another has taken is an error.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("no-failure", "S-035", "none")
            .bounds(Bounds::clients(3)),
        // The watch is set anew where it should have been caught up with: what was put meanwhile is not seen.
        published("queue/watch-lost", AtMostOnce, Put::Recipe, Take::Steps(Steps { watch_lost: true, ..SOUND }))
            .summary("After a lost connection it waits for a change without looking at the list.")
            .source("CURATOR-623")
            .breaks("queue-progress", "R-46", "connection loss")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
            .found_by(FoundBy::Model),
        // Held to what the recipe declares, one client woken by a change (S-038); of the others it is only measured.
        published("queue/herd", AtMostOnce, Put::Recipe, Take::Steps(SOUND))
            .summary("Each consumer watches the list: a put wakes all.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("one-woken-per-deletion", "S-038", "none")
            .bounds(Bounds::clients(3))
            .promises(|| promises(AtMostOnce, true)),
        // Ten comes before nine (S-041).
        published("priority-queue/unpadded", AtMostOnce, Put::Plain(CreateMode::PersistentSequential, unpadded), Take::Steps(Steps { by_name: true, ..SOUND }))
            .summary("Priorities are written without leading zeros, and sort as texts.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("takes-in-order", "S-041", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
        // What is more important and comes later is not in the list (S-044).
        published("priority-queue/stale-list", AtMostOnce, Put::Recipe, Take::Steps(Steps { by_name: true, ..SOUND }))
            .summary("Uses its list up before it makes a new one, whatever is put meanwhile.")
            .source("ZooKeeper's recipes page, the queue's rule")
            .breaks("takes-in-order", "S-044", "none")
            .bounds(Bounds { rounds: 3, ..Bounds::clients(2) }),
        // A watch of the znode itself tells nothing of its children (S-045).
        published("priority-queue/wrong-watch", AtMostOnce, Put::Recipe, Take::Steps(Steps { wrong_watch: true, ..SOUND }))
            .summary("Watches the queue's znode and not its list.")
            .source("ZooKeeper's recipes page, which leaves it open")
            .breaks("queue-progress", "S-045", "none")
            .bounds(Bounds::clients(2)),
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

/// By who puts it, whose payloads begin with its name.
fn by_producer(item: &Item) -> String {
    format!("item-{}-", item.payload.split('-').next().unwrap_or_default())
}

/// Many lost answers, and little else to do.
const FLAKY: &[(&str, &str)] =
    &[("clients", "3"), ("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")];

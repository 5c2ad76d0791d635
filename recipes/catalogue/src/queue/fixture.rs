//! What all queues on trial have in common: the first process puts, or the first few; the others take and work.

use zk_api::{Data, Text, ZPath};
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Turn, in_round};
use zk_harness::event::Observation;
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    DONE, Measured, NothingLeftBehind, OneWokenPerDeletion, Order, START, Undisturbed, of_queue,
};
use zk_harness::trial::{Role, Trial};
use zk_harness::words;
use zk_recipes::queue::{Delivery, Priority};

/// The queue's znode.
pub const QUEUE: &str = "/queue";
/// What its items are children of.
pub const ITEMS: &str = "/queue/items";

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::PUTS, &[START, words::HAS_PUT, words::HAS_PUT_INTO]),
    (words::BEGINS_TO_PUT_INTO, &[words::PUTS]),
    (words::HAS_PUT, &[words::PUTS, words::BEGINS_TO_PUT_INTO]),
    (words::HAS_PUT_INTO, &[words::HAS_PUT]),
    (words::ASKS, &[START, words::IS_DONE_WITH]),
    (words::TAKES, &[words::ASKS]),
    (words::IS_GIVEN, &[words::TAKES]),
    (words::HAS_WORKED_OFF, &[words::IS_GIVEN]),
    (words::IS_DONE_WITH, &[words::HAS_WORKED_OFF]),
    (DONE, &[words::HAS_PUT_INTO, words::IS_DONE_WITH]),
];

/// A queue on trial: `produce` puts all items of the [fixture](Fixture::items), and `consume` takes an item in each
/// round, and works it off. The items of a priority queue have priorities that differ. It is not declared how many
/// consumers a change wakes.
pub fn queue(
    name: &'static str,
    delivery: Delivery,
    produce: impl Turn<Fixture>,
    consume: impl Turn<Fixture>,
) -> Trial {
    queue_of(1, name, delivery, produce, consume)
}

/// The same, where so many processes put.
pub fn queue_of(
    producers: u16,
    name: &'static str,
    delivery: Delivery,
    produce: impl Turn<Fixture>,
    consume: impl Turn<Fixture>,
) -> Trial {
    let has_priorities = name.starts_with("priority-queue");
    let code = move |zk, probe, role: Role| async move {
        let fixture = Fixture { zk, probe, role, has_priorities, producers };
        match role.me.process < producers {
            true => produce(fixture).await,
            false => consume(fixture).await,
        }
    };
    let setup = [QUEUE, ITEMS, "/queue/takers", "/queue/putters"];
    Trial::new(name, code)
        .setup(setup)
        .promises(move || promises(delivery, false))
        .tells(WORDS)
        // What was put stays until it is taken.
        .opts_out(&["no-litter"])
}

/// What a queue promises: with what is to become of an item whose taker dies, and whether a change wakes one consumer
/// at most.
pub fn promises(delivery: Delivery, wakes_one: bool) -> Vec<Box<dyn AnyPromise>> {
    let woken = OneWokenPerDeletion::of(QUEUE);
    let mut all = of_queue(ITEMS, delivery);
    all.insert(4, if wakes_one { Box::new(woken) } else { Box::new(Measured(woken)) });
    all.push(Box::new(Undisturbed::of(NothingLeftBehind::of(QUEUE)).sparing(ITEMS)));
    all
}

/// One life of a producer or consumer.
#[derive(Clone)]
pub struct Fixture {
    zk: AnyZooKeeper,
    probe: AnyProbe,
    role: Role,
    has_priorities: bool,
    producers: u16,
}

/// What is to be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which of all, from 0.
    pub nth: u16,
    /// Unlike any other's, in any life.
    pub payload: String,
    /// How important it is.
    pub priority: Priority,
    /// The first one of its round.
    pub is_first: bool,
    /// The last one of its round.
    pub is_last: bool,
}

impl Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub fn zk(&self, round: impl Into<i64>) -> InRound<AnyZooKeeper> {
        in_round(self.zk.clone(), round)
    }

    /// The queue's znode.
    pub fn queue(&self) -> ZPath {
        ZPath::parse(QUEUE).expect("a constant")
    }

    /// What its items are children of.
    pub fn parent(&self) -> ZPath {
        ZPath::parse(ITEMS).expect("a constant")
    }

    /// A guid.
    pub fn guid(&self) -> Text {
        self.probe.guid()
    }

    /// How often a consumer is to take an item.
    pub fn rounds(&self) -> u8 {
        self.role.rounds
    }

    /// One item of each producer for each consumer and round.
    pub fn items(&self) -> impl Iterator<Item = Item> + use<> {
        let (each, me, has_priorities) =
            (self.role.clients.saturating_sub(self.producers).max(1), self.role.me, self.has_priorities);
        (0..u16::from(self.role.rounds).saturating_mul(each)).map(move |nth| {
            // Whoever sorts texts puts the second before the first, and so does who keeps a byte of it, or a sign. The
            // third one is the most important of all.
            let priority = if has_priorities { [9, 33_024, 1][usize::from(nth) % 3] } else { 0 };
            let (is_first, is_last) = (nth.is_multiple_of(each), (nth + 1).is_multiple_of(each));
            Item { nth, payload: format!("{me}-{nth}"), priority, is_first, is_last }
        })
    }

    /// An item is about to be put.
    pub fn puts(&self, item: &Item) {
        self.probe.observe(Observation::note(words::PUTS, &item.payload, item.priority.into()));
        if item.is_first {
            self.probe.observe(Observation::begins(words::BEGINS_TO_PUT_INTO, QUEUE, item.nth.into()));
        }
    }

    /// It was put.
    pub fn has_put(&self, item: &Item) {
        self.probe.observe(Observation::note(words::HAS_PUT, &item.payload, item.priority.into()));
        if item.is_last {
            self.probe.observe(Observation::ends(words::HAS_PUT_INTO, QUEUE, item.nth.into()));
        }
    }

    /// It wants an item.
    pub async fn asks(&self, round: u8) {
        if self.has_priorities {
            // There is no choice before there are some.
            self.probe.work().await;
        }
        self.probe.observe(Observation::note(words::ASKS, ITEMS, round.into()));
    }

    /// It has an item with this payload, and works it off.
    pub async fn works(&self, item: &ZPath, payload: &Data, round: u8) {
        self.probe.observe(Observation::begins(words::TAKES, item.as_str(), round.into()));
        let about = format!("{item}: {}", String::from_utf8_lossy(payload.bytes()));
        self.probe.observe(Observation::note(words::IS_GIVEN, &about, round.into()));
        self.probe.work().await;
        self.probe.observe(Observation::note(words::HAS_WORKED_OFF, item.as_str(), round.into()));
    }

    /// It has nothing to do with the item any more.
    pub fn done(&self, item: &ZPath, round: u8) {
        self.probe.observe(Observation::ends(words::IS_DONE_WITH, item.as_str(), round.into()));
    }
}

//! What all queues on trial have in common: process 0 puts, the others take and work.

use crate::common::{AnyProbe, AnyZooKeeper, InRound, Stop, erased};
use crate::event::{End, Observation};
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::promises::{
    DONE, Measured, NoFailure, NoWaiterStuck, NothingLeftBehind, NothingLost, OneWokenPerDeletion, Order,
    QueueProgress, START, TakenOnce, TakesInOrder, TellsInOrder, Undisturbed,
};
use crate::trial::{About, FoundBy, Part, Trial};
use crate::words;
use std::future::Future;
use zk_api::{Text, ZPath, ZooKeeper};
use zk_recipes::queue::{Delivery, Priority};

/// The queue's znode.
pub const QUEUE: &str = "/queue";
/// What its items are children of.
pub const ITEMS: &str = "/queue/items";

/// A kind of queue: how items are put and taken.
pub trait QueueKind: Send + Sync + 'static {
    /// What is on trial.
    fn about(&self) -> About;

    /// What is to become of an item whose taker dies.
    fn delivery(&self) -> Delivery;

    /// Whether it is declared that a change wakes one consumer at most.
    fn wakes_one(&self) -> bool {
        false
    }

    /// Whether items have priorities that differ.
    fn has_priorities(&self) -> bool {
        false
    }

    /// Which engines find what is wrong with it.
    fn found_by(&self) -> FoundBy {
        FoundBy::Both
    }

    /// The scenario that it is made for.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Puts all items of the [stage](Stage::items).
    fn produce(&self, stage: &Stage) -> impl Future<Output = Result<(), Stop>> + Send;

    /// Takes an item in each round, and works it off.
    fn consume(&self, stage: &Stage) -> impl Future<Output = Result<(), Stop>> + Send;
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::PUTS, &[START, words::HAS_PUT, words::HAS_PUT_INTO]),
    (words::BEGINS_TO_PUT_INTO, &[words::PUTS]),
    (words::HAS_PUT, &[words::PUTS, words::BEGINS_TO_PUT_INTO]),
    (words::HAS_PUT_INTO, &[words::HAS_PUT]),
    (words::ASKS, &[START, words::IS_DONE_WITH]),
    (words::TAKES, &[words::ASKS]),
    (words::HAS_WORKED_OFF, &[words::TAKES]),
    (words::IS_DONE_WITH, &[words::HAS_WORKED_OFF]),
    (DONE, &[words::HAS_PUT_INTO, words::IS_DONE_WITH]),
];

/// A kind of queue as a trial.
#[derive(Clone, Copy, Debug)]
pub struct OnTrial<K>(pub K);

impl<K: QueueKind> Trial for OnTrial<K> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn setup(&self) -> Vec<Text> {
        [QUEUE, ITEMS, "/queue/takers", "/queue/putters"].map(Text::from).into()
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        let (delivery, woken) = (self.0.delivery(), OneWokenPerDeletion::of(QUEUE));
        vec![
            Box::new(Undisturbed::of(NothingLost::of(ITEMS, delivery)).sparing(ITEMS)),
            Box::new(Undisturbed::of(TakenOnce::of(ITEMS, delivery))),
            Box::new(Undisturbed::of(TakesInOrder::of(ITEMS))),
            Box::new(Undisturbed::of(QueueProgress::of(ITEMS))),
            if self.0.wakes_one() { Box::new(woken) } else { Box::new(Measured(woken)) },
            Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
            Box::new(Undisturbed::of(NoFailure).sparing(ITEMS)),
            Box::new(Undisturbed::of(NothingLeftBehind::of(QUEUE)).sparing(ITEMS)),
            Box::new(TellsInOrder::of(WORDS)),
        ]
    }

    fn found_by(&self) -> FoundBy {
        self.0.found_by()
    }

    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        self.0.scenario()
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let (zk, probe) = erased(zk, probe);
        let stage = Stage { zk, probe, part, has_priorities: self.0.has_priorities() };
        let done = match part.me.process {
            0 => self.0.produce(&stage).await,
            _ => self.0.consume(&stage).await,
        };
        done.into()
    }
}

/// One life of a producer or consumer.
#[derive(Clone)]
pub struct Stage {
    zk: AnyZooKeeper,
    probe: AnyProbe,
    part: Part,
    has_priorities: bool,
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

impl Stage {
    /// The session. Checkpoints made with it know which round it is.
    pub fn zk(&self, round: impl Into<i64>) -> InRound<AnyZooKeeper> {
        InRound::new(self.zk.clone(), round)
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
        self.part.rounds
    }

    /// One item for each consumer and round.
    pub fn items(&self) -> impl Iterator<Item = Item> + use<> {
        let (each, me, has_priorities) =
            (self.part.clients.saturating_sub(1).max(1), self.part.me, self.has_priorities);
        (0..u16::from(self.part.rounds).saturating_mul(each)).map(move |nth| {
            // Whoever sorts texts puts the second before the first, and so does who keeps a byte of it, or a sign. The third
            // one is the most important of all.
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

    /// It has an item, and works it off.
    pub async fn works(&self, item: &ZPath, round: u8) {
        self.probe.observe(Observation::begins(words::TAKES, item.as_str(), round.into()));
        self.probe.work().await;
        self.probe.observe(Observation::note(words::HAS_WORKED_OFF, item.as_str(), round.into()));
    }

    /// It has nothing to do with the item any more.
    pub fn done(&self, item: &ZPath, round: u8) {
        self.probe.observe(Observation::ends(words::IS_DONE_WITH, item.as_str(), round.into()));
    }
}

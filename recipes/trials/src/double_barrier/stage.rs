//! What all double barriers on trial have in common: members that enter, work and leave, round after round.

use crate::common::rounds::rounds;
use crate::common::{AnyProbe, AnyZooKeeper, InRound, Stop, erased};
use crate::event::{End, Observation};
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::promises::{
    BarrierOpens, DONE, EntersTogether, LeavesTogether, Measured, NoFailure, NoWaiterStuck,
    NothingLeftBehind, OneWokenPerDeletion, Order, RoundsDoNotMix, START, TellsInOrder, Undisturbed,
};
use crate::trial::{About, FoundBy, Part, Trial};
use crate::words::{self, Word};
use std::future::Future;
use zk_api::{Pending, Text, ZPath, ZooKeeper};

/// The barrier's znode.
pub const BARRIER: &str = "/barrier";

/// A kind of double barrier: how it is entered and left.
pub trait DoubleBarrierKind: Send + Sync + 'static {
    /// What is on trial.
    fn about(&self) -> About;

    /// The scenario that it is made for.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Which engines find what is wrong with it.
    fn found_by(&self) -> FoundBy {
        FoundBy::Both
    }

    /// How many members a round needs where there are so many clients.
    fn size(&self, clients: u16) -> u16 {
        clients
    }

    /// Enters, goes through [`Stage::inside`], and leaves. `false` if it gave up waiting.
    fn round(&self, stage: &Stage) -> impl Future<Output = Result<bool, Stop>> + Send;
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::ARRIVES_AT, &[START, words::HAS_LEFT]),
    (words::PASSES, &[words::ARRIVES_AT]),
    (words::ASKS_TO_LEAVE, &[words::PASSES]),
    (words::HAS_LEFT, &[words::ASKS_TO_LEAVE]),
    (DONE, &[words::HAS_LEFT]),
];

/// A kind of double barrier as a trial: all clients are members.
#[derive(Clone, Copy, Debug)]
pub struct OnTrial<K>(pub K);

impl<K: DoubleBarrierKind> OnTrial<K> {
    /// A round takes fewer members than there are: whoever is left over in the end waits for ever.
    fn leaves_some_out(&self) -> bool {
        self.0.size(3) < 3
    }
}

impl<K: DoubleBarrierKind> Trial for OnTrial<K> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn setup(&self) -> Vec<Text> {
        vec![BARRIER.into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        let mut all: Vec<Box<dyn AnyPromise>> = vec![
            Box::new(EntersTogether::of(BARRIER)),
            Box::new(LeavesTogether::of(BARRIER)),
            Box::new(BarrierOpens::of(BARRIER)),
            Box::new(Undisturbed::of(NoFailure).sparing(BARRIER)),
            Box::new(Undisturbed::of(NothingLeftBehind::of(BARRIER)).sparing(BARRIER)),
            Box::new(Measured(OneWokenPerDeletion::of(BARRIER))),
        ];
        if !self.leaves_some_out() {
            all.push(Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())));
        }
        // What is made for a single round has none to mix.
        if !self.0.scenario().contains(&("rounds", "1")) {
            all.insert(2, Box::new(RoundsDoNotMix::of(BARRIER)));
        }
        all.push(Box::new(TellsInOrder::of(WORDS)));
        all
    }

    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        self.0.scenario()
    }

    fn found_by(&self) -> FoundBy {
        self.0.found_by()
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let (zk, probe) = erased(zk, probe);
        let size = self.0.size(part.clients);
        let turn = |zk, _| {
            let stage = Stage { zk, probe: probe.clone(), part, size };
            async move {
                stage.says(words::ARRIVES_AT);
                match self.0.round(&stage).await? {
                    true => stage.probe.observe(Observation::ends(words::HAS_LEFT, BARRIER, size.into())),
                    false => stage.says(words::GIVES_UP),
                }
                Ok(())
            }
        };
        rounds(&zk, part, turn).await.into()
    }
}

/// One round of a member.
#[derive(Clone)]
pub struct Stage {
    zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    part: Part,
    size: u16,
}

impl Stage {
    /// The session. Checkpoints made with it know which round it is.
    pub fn zk(&self) -> InRound<AnyZooKeeper> {
        self.zk.clone()
    }

    /// The barrier's znode.
    pub fn barrier(&self) -> ZPath {
        ZPath::parse(BARRIER).expect("a constant")
    }

    /// How many members a round needs.
    pub fn size(&self) -> usize {
        self.size.into()
    }

    /// The member's name: the same in all rounds of one life.
    pub fn name(&self) -> String {
        self.part.me.to_string()
    }

    /// A guid of this attempt.
    pub fn guid(&self) -> Text {
        self.probe.guid()
    }

    /// A while, or a scheduling point.
    pub fn work(&self) -> Pending<()> {
        self.probe.work()
    }

    /// What is done between entering and leaving.
    pub async fn inside(&self) {
        self.probe.observe(Observation::begins(words::PASSES, BARRIER, self.size.into()));
        self.probe.work().await;
        self.says(words::ASKS_TO_LEAVE);
    }

    fn says(&self, what: Word<'_>) {
        self.probe.observe(Observation::note(what, BARRIER, self.size.into()));
    }
}

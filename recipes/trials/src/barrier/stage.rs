//! What all barriers on trial have in common: one process raises and lowers, the others wait.

use crate::common::rounds::rounds;
use crate::common::{AnyProbe, AnyZooKeeper, InRound, Stop, erased, plain};
use crate::event::{End, Observation};
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::promises::{
    BarrierHolds, BarrierReleases, DONE, NoFailure, NoOpeningMissed, NoWaiterStuck, Order, RaisedAsTold,
    START, TellsInOrder, Undisturbed,
};
use crate::trial::{About, FoundBy, Part, Trial};
use crate::words::{self, Word};
use std::future::Future;
use zk_api::{Data, Text, ZPath, ZooKeeper};
use zk_recipes::Barrier;

/// The barrier's znode.
pub const BARRIER: &str = "/gate/barrier";

/// A kind of barrier: how it is waited for.
pub trait BarrierKind: Send + Sync + 'static {
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

    /// Lowers the barrier, by default as it should be done.
    fn lower(&self, stage: &Stage) -> impl Future<Output = Result<(), Stop>> + Send {
        stage.lowers()
    }

    /// Waits until the barrier is down, and says so to the stage when it sees it up.
    fn wait(&self, stage: &Stage) -> impl Future<Output = Result<(), Stop>> + Send;
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::COMES_TO, &[START, words::PASSES]),
    (words::SEES, &[words::COMES_TO, words::SEES]),
    (words::PASSES, &[words::COMES_TO, words::SEES]),
    (words::RAISES, &[START, words::HAS_LOWERED]),
    (words::HAS_RAISED, &[words::RAISES]),
    (words::LOWERS, &[words::HAS_RAISED]),
    (words::HAS_LOWERED, &[words::LOWERS]),
    (DONE, &[words::PASSES, words::HAS_LOWERED]),
];

/// A kind of barrier as a trial: process 0 raises the barrier, says anew why it is up, and lowers it, in each round.
/// The others come and pass.
#[derive(Clone, Copy, Debug)]
pub struct OnTrial<K>(pub K);

impl<K: BarrierKind> Trial for OnTrial<K> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn setup(&self) -> Vec<Text> {
        vec!["/gate".into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![
            Box::new(BarrierHolds::of(BARRIER)),
            Box::new(BarrierReleases::of(BARRIER)),
            Box::new(NoOpeningMissed::of(BARRIER)),
            Box::new(RaisedAsTold::of(BARRIER)),
            Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
            Box::new(Undisturbed::of(NoFailure).sparing("/gate")),
            Box::new(TellsInOrder::of(WORDS)),
        ]
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
        let turn = |zk, round| {
            let stage = Stage { zk, probe: probe.clone(), round };
            async move {
                if part.me.process != 0 {
                    return stage.pass(&self.0).await;
                }
                stage.raise_and_lower(&self.0).await?;
                if round + 1 < part.rounds {
                    stage.probe.work().await;
                }
                Ok(())
            }
        };
        rounds(&zk, part, turn).await.into()
    }
}

/// One round of an actor.
#[derive(Clone)]
pub struct Stage {
    zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    round: u8,
}

impl Stage {
    /// The session. Checkpoints made with it know which round it is.
    pub fn zk(&self) -> InRound<AnyZooKeeper> {
        self.zk.clone()
    }

    /// The barrier's znode.
    pub fn node(&self) -> ZPath {
        ZPath::parse(BARRIER).expect("a constant")
    }

    /// The barrier as it should be.
    pub fn recipe(&self) -> Barrier<InRound<AnyZooKeeper>> {
        Barrier::new(self.zk(), &self.node())
    }

    /// Looks whether it is there, and waits for an event and looks again as long as it is, as published.
    pub async fn until_absent(&self) -> Result<(), Stop> {
        while let (Some(_), watch) = plain::exists(&self.zk, &self.node(), "").await? {
            self.sees();
            plain::event(watch).await?;
        }
        Ok(())
    }

    /// The barrier is up, and this one has seen it.
    pub fn sees(&self) {
        self.note(words::SEES);
    }

    fn note(&self, what: Word<'_>) {
        self.probe.observe(Observation::note(what, BARRIER, self.round.into()));
    }

    /// Lowers the barrier by the recipe.
    pub async fn lowers(&self) -> Result<(), Stop> {
        Ok(self.recipe().lower().await?)
    }

    async fn raise_and_lower<K: BarrierKind>(&self, kind: &K) -> Result<(), Stop> {
        let (zk, node) = (self.zk(), self.node());
        let barrier = self.recipe();
        self.note(words::RAISES);
        barrier.raise(Data::NULL).await?;
        self.probe.observe(Observation::begins(words::HAS_RAISED, BARRIER, self.round.into()));
        // Waiters must bear that the znode changes and stays. Whether this one took effect is no matter.
        drop(zk.set_data(&node, "still up".into(), -1));
        zk.checkpoint("trial/up", &[]);
        self.probe.work().await;
        self.note(words::LOWERS);
        kind.lower(self).await?;
        self.probe.observe(Observation::ends(words::HAS_LOWERED, BARRIER, self.round.into()));
        Ok(())
    }

    async fn pass<K: BarrierKind>(&self, kind: &K) -> Result<(), Stop> {
        // Or all would come before the barrier is raised for the first time.
        self.probe.work().await;
        self.probe.observe(Observation::begins(words::COMES_TO, BARRIER, self.round.into()));
        kind.wait(self).await?;
        self.probe.observe(Observation::ends(words::PASSES, BARRIER, self.round.into()));
        Ok(())
    }
}

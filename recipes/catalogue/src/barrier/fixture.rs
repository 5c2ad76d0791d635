//! What all barriers on trial have in common: one process raises and lowers, the others wait.

use zk_api::{Data, ZPath, ZooKeeper};
use zk_harness::common::rounds::rounds;
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, Turn, plain};
use zk_harness::event::Observation;
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    BarrierHolds, BarrierReleases, DONE, NoFailure, NoOpeningMissed, NoWaiterStuck, Order, RaisedAsTold,
    START, Undisturbed,
};
use zk_harness::trial::{Role, Trial};
use zk_harness::words::{self, Word};
use zk_recipes::Barrier;

/// The barrier's znode.
pub const BARRIER: &str = "/gate/barrier";

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

/// A barrier on trial: process 0 raises the barrier, says anew why it is up, and lowers it, in each round, as it should
/// be done. The others come, wait until it is down, which says so to the fixture when it sees it up, and pass.
pub fn barrier(name: &'static str, wait: impl Turn<Fixture>) -> Trial {
    barrier_lowered(name, wait, Fixture::lowers)
}

/// The same, which is lowered as it is told.
pub fn barrier_lowered(name: &'static str, wait: impl Turn<Fixture>, lower: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe: AnyProbe, role: Role| async move {
        let turn = |zk, round| {
            let fixture = Fixture { zk, probe: probe.clone(), round };
            async move {
                if role.me.process != 0 {
                    return fixture.pass(wait).await;
                }
                fixture.raise_and_lower(lower).await?;
                if round + 1 < role.rounds {
                    fixture.probe.work().await;
                }
                Ok(())
            }
        };
        rounds(&zk, role, turn).await
    };
    Trial::new(name, code).setup(["/gate"]).promises(promises).tells(WORDS)
}

fn promises() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(BarrierHolds::of(BARRIER)),
        Box::new(BarrierReleases::of(BARRIER)),
        Box::new(NoOpeningMissed::of(BARRIER)),
        Box::new(RaisedAsTold::of(BARRIER)),
        Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
        Box::new(Undisturbed::of(NoFailure).sparing("/gate")),
    ]
}

/// One round of an actor.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    round: u8,
}

impl Fixture {
    /// The barrier's znode.
    pub fn node(&self) -> ZPath {
        ZPath::parse(BARRIER).expect("a constant")
    }

    /// The barrier as it should be.
    pub fn recipe(&self) -> Barrier<InRound<AnyZooKeeper>> {
        Barrier::new(self.zk.clone(), &self.node())
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
    pub async fn lowers(self) -> Result<(), Stop> {
        Ok(self.recipe().lower().await?)
    }

    async fn raise_and_lower(&self, lower: impl Turn<Fixture>) -> Result<(), Stop> {
        let (zk, node) = (self.zk.clone(), self.node());
        let barrier = self.recipe();
        self.note(words::RAISES);
        barrier.raise(Data::NULL).await?;
        self.probe.observe(Observation::begins(words::HAS_RAISED, BARRIER, self.round.into()));
        // Waiters must bear that the znode changes and stays. Whether this one took effect is no matter.
        drop(zk.set_data(&node, "still up".into(), -1));
        zk.checkpoint("trial/up", &[]);
        self.probe.work().await;
        self.note(words::LOWERS);
        lower(self.clone()).await?;
        self.probe.observe(Observation::ends(words::HAS_LOWERED, BARRIER, self.round.into()));
        Ok(())
    }

    async fn pass(&self, wait: impl Turn<Fixture>) -> Result<(), Stop> {
        // Or all would come before the barrier is raised for the first time.
        self.probe.work().await;
        self.probe.observe(Observation::begins(words::COMES_TO, BARRIER, self.round.into()));
        wait(self.clone()).await?;
        self.probe.observe(Observation::ends(words::PASSES, BARRIER, self.round.into()));
        Ok(())
    }
}

//! Several threads of a process that ask for a lock, each by itself, on the one session that they have.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::rounds::attempts;
use crate::common::{Unmarked, both};
use crate::event::End;
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::trial::{About, FoundBy, Part, Trial};
use zk_api::{Text, ZooKeeper};

/// A kind of lock as a trial: in each process two threads take as many turns as it has rounds. The second begins when it
/// likes.
#[derive(Clone, Copy, Debug)]
pub struct InTwoThreads<K>(pub K);

impl<K: LockKind> InTwoThreads<K> {
    async fn thread<Z, P>(&self, zk: &Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let turn = |zk, round| {
            let stage = Stage::new(zk, &probe, part, round);
            async move { self.0.turn(&stage).await }
        };
        attempts(zk, (&probe, part), LOCK, turn).await
    }
}

impl<K: LockKind> Trial for InTwoThreads<K> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn setup(&self) -> Vec<Text> {
        self.0.setup()
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        self.0.promises()
    }

    fn keeps(&self) -> &'static [&'static str] {
        self.0.keeps()
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
        let zk = Unmarked(zk);
        let second = async {
            probe.point().await;
            self.thread(&zk, probe.thread(1), part).await
        };
        match both(self.thread(&zk, probe.thread(0), part), second).await {
            (End::SessionLost, _) | (_, End::SessionLost) => End::SessionLost,
            (End::Failed, _) | (_, End::Failed) => End::Failed,
            (End::Done, End::Done) => End::Done,
        }
    }
}

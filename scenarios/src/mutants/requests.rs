//! Clients that ask all sorts of things, several at once: what a recipe does not ask must be watched as well.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use zk_api::{CreateMode, Data, EventType, Op, Request, Text, ZooKeeper, open_acl};
use zk_trials::event::End;
use zk_trials::probe::Probe;
use zk_trials::promise::AnyPromise;
use zk_trials::trial::{About, Bounds, Part, Reductions, Trial};

/// How often each client asks something in a round.
const TURNS: u32 = 7;

/// See the module. It promises nothing: what is always watched is what it is for.
pub(super) struct Requests;

impl Trial for Requests {
    fn about(&self) -> About {
        About {
            name: "requests",
            summary: "Clients that ask all sorts of things.",
            source: "ours",
            breaks: None,
            bounds: Bounds::clients(1),
            reductions: Reductions::default(),
        }
    }

    fn setup(&self) -> Vec<Text> {
        vec!["/t".into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        Vec::new()
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        // Hash seeds are a function of the run's seed, and differ from one life to the next.
        let mut dice = Dice(RandomState::new().hash_one(part.me.process));
        for _ in 0..u32::from(part.rounds) * TURNS {
            if ask(&zk, &probe, &mut dice).await {
                return End::SessionLost;
            }
            zk.sleep(Duration::from_millis(dice.roll(400))).await;
        }
        End::Done
    }
}

/// Asks several things at once. Tells whether the session is over.
async fn ask(zk: &impl ZooKeeper, probe: &impl Probe, dice: &mut Dice) -> bool {
    let calls: Vec<_> = (0..=dice.roll(5)).map(|_| zk.submit(dice.request())).collect();
    let mut is_over = false;
    for call in calls {
        match call.await {
            // Now and then nobody waits for a watch.
            Ok((_, Some(watch))) if dice.roll(8) > 0 => probe.spawn(Box::pin(async move {
                let mut watch = watch;
                while (&mut watch).await.kind != EventType::None {}
            })),
            Ok(_) => {}
            Err(error) => is_over |= error.is_session_over(),
        }
    }
    is_over
}

/// Small numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn path(&mut self) -> Text {
        let paths = ["/t/a", "/t/b", "/t/c", "/t/d", "/t/a/x", "/t/a/y", "/t/b/x", "/t/e", "/t/f", "/t"];
        paths[self.roll(paths.len() as u64) as usize].into()
    }

    fn data(&mut self) -> Data {
        Data::from(["", "some", "other"][self.roll(3) as usize])
    }

    fn mode(&mut self) -> CreateMode {
        let modes = [
            CreateMode::Persistent,
            CreateMode::Ephemeral,
            CreateMode::PersistentSequential,
            CreateMode::EphemeralSequential,
        ];
        modes[self.roll(4) as usize]
    }

    fn op(&mut self) -> Op {
        let (path, version) = (self.path(), -1);
        match self.roll(4) {
            0 => Op::Create { path, data: self.data(), acl: open_acl(), mode: self.mode(), stat: false },
            1 => Op::Delete { path, version },
            2 => Op::SetData { path, data: self.data(), version },
            _ => Op::Check { path, version },
        }
    }

    fn request(&mut self) -> Request {
        let (path, watch) = (self.path(), self.roll(2) == 0);
        match self.roll(32) {
            0..8 => {
                let (data, mode) = (self.data(), self.mode());
                Request::Create { path, data, acl: open_acl(), mode, stat: watch }
            }
            8..13 => Request::Delete { path, version: -1 },
            13..16 => Request::SetData { path, data: self.data(), version: -1 },
            16..19 => Request::Multi { ops: (0..=self.roll(3)).map(|_| self.op()).collect() },
            19 if self.roll(3) == 0 => Request::CloseSession,
            19..21 => Request::Sync { path },
            21..25 => Request::Exists { path, watch },
            25..28 => Request::GetData { path, watch },
            _ => Request::GetChildren { path, watch, stat: self.roll(2) == 0 },
        }
    }
}

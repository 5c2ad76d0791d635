//! Clients that ask anything at all: servers must answer as the reference does, through all faults.

use crate::common::{Watcher, Zk, scripted};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use zk_api::{
    Acl, AclList, AddWatchMode, CreateMode, Data, Identity, Op, Perms, ReadOp, Request, Text, WatcherKind,
    ZooKeeper, open_acl,
};
use zk_harness::event::End;
use zk_simulator::{RunOptions, Scenario, run};

/// Who knows these passwords: `ann:one` and `bob:two`.
const ANN: &str = "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o=";
const BOB: &str = "bob:yqVrLFrvoaI9z9fohteaNPJvRu8=";

/// Small numbers, from a seed of its own: what is asked must not depend on how the simulator draws.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len() as u64) as usize].clone()
    }

    fn path(&mut self) -> Text {
        const PATHS: [&str; 16] = [
            "/t",
            "/t/a",
            "/t/b",
            "/t/a/x",
            "/t/a/y",
            "/t/b/x",
            "/t/c",
            "/t/c/d",
            "/t/c/d/e",
            "/t",
            "/t/a",
            "/",
            "/t//a",
            "/t/.",
            "/zookeeper",
            "t",
        ];
        // The odd ones are rare.
        let most = if self.roll(10) == 0 { 16 } else { 10 };
        PATHS[self.roll(most) as usize].into()
    }

    fn version(&mut self) -> i32 {
        self.one_of(&[-1, -1, -1, 0, 1, 2, -2])
    }

    fn data(&mut self) -> Data {
        self.one_of(&[Data::NULL, Data::from(""), Data::from("some"), Data::from("other data")])
    }

    fn acl(&mut self) -> AclList {
        let all = |perms| -> AclList { [Acl { perms, who: Identity::new("world", "anyone") }].into() };
        match self.roll(60) {
            0 => [].into(),
            1 => all(Perms::READ.and(Perms::ADMIN)),
            2 => all(Perms::READ.and(Perms::DELETE).and(Perms::ADMIN)),
            3..8 => (0..=self.roll(3)).map(|_| self.entry()).collect(),
            _ => open_acl(),
        }
    }

    /// Somebody who may do something, or nobody that there can be.
    fn entry(&mut self) -> Acl {
        const WHO: [(&str, &str); 11] = [
            ("auth", ""),
            ("auth", ""),
            ("auth", ""),
            ("digest", ANN),
            ("digest", ANN),
            ("digest", BOB),
            ("world", "anyone"),
            ("ip", "10.0.0.0/8"),
            ("ip", "10.0.0"),
            ("digest", "no hash"),
            ("world", "nobody"),
        ];
        // The odd ones are rare, as they spoil all of the list.
        let most = if self.roll(10) == 0 { 11 } else { 8 };
        let (scheme, id) = WHO[self.roll(most) as usize];
        let perms = self.one_of(&[
            Perms::ALL,
            Perms::ALL,
            Perms::READ,
            Perms::READ.and(Perms::WRITE),
            Perms::WRITE.and(Perms::CREATE),
        ]);
        Acl { perms, who: Identity::new(scheme, id) }
    }

    fn auth(&mut self) -> Request {
        let scheme =
            if self.roll(50) == 0 { "sasl" } else { self.one_of(&["digest", "digest", "digest", "ip"]) };
        let credentials = self.one_of(&["ann:one", "ann:one", "bob:two", "bob", ""]);
        Request::Auth { scheme: scheme.into(), credentials: Data::from(credentials) }
    }

    fn mode(&mut self) -> CreateMode {
        self.one_of(&[
            CreateMode::Persistent,
            CreateMode::Ephemeral,
            CreateMode::PersistentSequential,
            CreateMode::EphemeralSequential,
            CreateMode::Container,
            CreateMode::PersistentTtl(1000),
            CreateMode::PersistentTtl(90_000),
            CreateMode::PersistentSequentialTtl(0),
        ])
    }

    fn op(&mut self) -> Op {
        match self.roll(4) {
            0 => {
                let (path, data, acl) = (self.path(), self.data(), self.acl());
                Op::Create { path, data, acl, mode: self.mode(), stat: self.roll(2) == 0 }
            }
            1 => Op::Delete { path: self.path(), version: self.version() },
            2 => Op::SetData { path: self.path(), data: self.data(), version: self.version() },
            _ => Op::Check { path: self.path(), version: self.version() },
        }
    }

    fn read(&mut self) -> Request {
        let watch = self.roll(2) == 0;
        match self.roll(10) {
            0..3 => Request::Exists { path: self.path(), watch },
            3..5 => Request::GetData { path: self.path(), watch },
            5..7 => Request::GetChildren { path: self.path(), watch, stat: self.roll(2) == 0 },
            7 => Request::GetAcl { path: self.path() },
            8 => Request::GetEphemerals { prefix: self.path() },
            _ => {
                let children = ReadOp::GetChildren { path: self.path() };
                Request::MultiRead { ops: vec![ReadOp::GetData { path: self.path() }, children] }
            }
        }
    }

    fn other(&mut self) -> Request {
        let kind = self.one_of(&[WatcherKind::Any, WatcherKind::Data, WatcherKind::Children]);
        match self.roll(8) {
            6 => self.auth(),
            7 => Request::WhoAmI,
            0 => Request::Sync { path: self.path() },
            1 => Request::GetAllChildrenNumber { path: self.path() },
            2 => Request::AddWatch { path: self.path(), mode: AddWatchMode::Persistent },
            3 => Request::AddWatch { path: self.path(), mode: AddWatchMode::PersistentRecursive },
            4 => Request::RemoveWatches { path: self.path(), kind },
            _ => Request::CheckWatches { path: self.path(), kind },
        }
    }

    fn request(&mut self) -> Request {
        match self.roll(16) {
            0..5 => {
                let (path, data, acl) = (self.path(), self.data(), self.acl());
                Request::Create { path, data, acl, mode: self.mode(), stat: self.roll(2) == 0 }
            }
            5..7 => Request::Delete { path: self.path(), version: self.version() },
            7 => Request::SetData { path: self.path(), data: self.data(), version: self.version() },
            8 if self.roll(4) == 0 => {
                Request::SetAcl { path: self.path(), acl: self.acl(), version: self.version() }
            }
            8 | 9 => {
                let ops = (0..self.roll(4)).map(|_| self.op()).collect();
                Request::Multi { ops }
            }
            10 => self.other(),
            _ => self.read(),
        }
    }
}

async fn ask(zk: &Zk, probe: &Watcher, requests: u32) -> End {
    // Hash seeds are a function of the run's seed, and differ from one to the next.
    let mut dice = Dice(RandomState::new().hash_one(0));
    for _ in 0..requests {
        // Several at once, so that they queue.
        let calls: Vec<_> = (0..=dice.roll(3)).map(|_| zk.submit(dice.request())).collect();
        for call in calls {
            match call.await {
                Ok((_, Some(watch))) if dice.roll(4) > 0 => probe.spawn(Box::pin(async move {
                    let mut watch = watch;
                    // A persistent one goes on and on.
                    while (&mut watch).await.kind != zk_api::EventType::None {}
                })),
                Ok(_) => {}
                Err(error) if error.is_session_over() => return End::SessionLost,
                Err(_) => {}
            }
        }
        zk.sleep(Duration::from_millis(dice.roll(150))).await;
    }
    End::Done
}

#[test]
fn whatever_is_asked_is_answered_as_the_reference_answers() {
    let anything = scripted(|zk, probe, _| async move {
        if let End::SessionLost = ask(&zk, &probe, 100).await {
            return End::SessionLost;
        }
        // Until servers have looked for containers and TTL znodes, which they do each minute.
        zk.sleep(Duration::from_secs(100)).await;
        ask(&zk, &probe, 20).await
    });
    let scenario = Scenario { servers: 1, observers: 0, heal_seconds: 600, ..Scenario::default() };
    let (mut tested, mut cases) = (BTreeMap::new(), BTreeMap::new());
    for seed in 0..40 {
        let run = run(&anything, &scenario, seed, &RunOptions::default());
        assert!(run.violations.is_empty(), "seed {seed}: {:?}", run.violations);
        for (name, n) in run.tested {
            *tested.entry(name).or_insert(0) += n;
        }
        for (case, n) in run.sometimes {
            *cases.entry(case).or_insert(0) += n;
        }
    }
    for case in [
        "credentials accepted",
        "credentials refused",
        "told who it is",
        "permission refused",
        "access control list refused",
        "hash hidden in an access control list",
        "watch was found",
        "watch was removed",
        "no watch was found",
        "container or TTL znode removed",
    ] {
        assert!(cases.get(case).is_some_and(|n| *n > 5), "{case}: {cases:?}");
    }
    assert!(
        tested["answers-match-reference"] > 20_000 && tested["watch-before-answer"] > 1_000,
        "{tested:?}"
    );
}

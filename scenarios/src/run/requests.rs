//! Clients that ask everything there is to ask, several things at once: what recipes do not ask must keep the
//! invariants as well.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{
    Acl, AclList, AddWatchMode, CreateMode, Data, ErrorCode, EventType, Identity, Op, Perms, ReadOp, Request,
    Text, WatcherKind, ZooKeeper, open_acl,
};
use zk_harness::event::End;
use zk_harness::probe::Probe;
use zk_harness::trial::{Bounds, Role, Trial};

/// How it is called in a scenario and on the command line.
pub(crate) const NAME: &str = "requests";

/// How often each client asks something in a round.
const TURNS: u32 = 7;

/// So many ephemerals are asked for at once.
const AT_ONCE: u64 = 30;

/// Who knows this password: `ann:one`.
const ANN: &str = "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o=";

/// See the module. It promises nothing: the invariants are what it is for.
pub(crate) fn requests() -> Trial {
    Trial::new(NAME, asks)
        .summary("Clients that ask everything there is to ask.")
        .source("ours")
        .bounds(Bounds::clients(1))
        .setup(["/t", "/t/many"])
        .opts_out(&zk_harness::promises::STANDARD)
}

async fn asks(zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
    // Hash seeds are a function of the run's seed, and differ from one life to the next.
    let mut dice = Dice(RandomState::new().hash_one(role.me.process));
    if dice.roll(2) == 0 {
        zk.submit(auth("ann:one")).await.ok();
    }
    for _ in 0..u32::from(role.rounds) * TURNS {
        let is_over = match dice.roll(24) {
            0 => own_many(&zk, &mut dice).await,
            _ => ask(&zk, &probe, &mut dice).await,
        };
        if is_over {
            return End::SessionLost;
        }
        zk.sleep(Duration::from_millis(dice.roll(400))).await;
    }
    End::Done
}

/// Asks several things at once. Tells whether the session is over.
async fn ask(zk: &impl ZooKeeper, probe: &impl Probe, dice: &mut Dice) -> bool {
    let calls: Vec<_> = (0..=dice.roll(5)).map(|_| zk.submit(dice.request())).collect();
    let (mut is_over, mut is_lost) = (false, false);
    for call in calls {
        match call.await {
            // Now and then nobody waits for a watch.
            Ok((_, Some(watch))) if dice.roll(8) > 0 => probe.spawn(Box::pin(async move {
                let mut watch = watch;
                while (&mut watch).await.kind != EventType::None {}
            })),
            Ok(_) => {}
            Err(error) => {
                is_over |= error.is_session_over();
                is_lost |= error.code == ErrorCode::ConnectionLoss;
            }
        }
    }
    if is_lost && !is_over {
        // What is asked first on the next connection comes behind what was written on this one.
        let first = Request::GetData { path: dice.path(), watch: false };
        is_over = zk.submit(first).await.is_err_and(|error| error.is_session_over());
    }
    is_over
}

/// Creates up to hundreds of ephemerals, and often ends the session then. Tells whether it is over.
async fn own_many(zk: &impl ZooKeeper, dice: &mut Dice) -> bool {
    for _ in 0..=dice.roll(8) {
        let create = || Request::Create {
            path: "/t/many/e-".into(),
            data: Data::NULL,
            acl: open_acl(),
            mode: CreateMode::EphemeralSequential,
            stat: false,
        };
        let calls: Vec<_> = (0..AT_ONCE).map(|_| zk.submit(create())).collect();
        let mut is_lost = false;
        for call in calls {
            is_lost |= call.await.is_err_and(|error| error.is_session_over());
        }
        if is_lost {
            return true;
        }
    }
    dice.roll(2) == 0 && zk.submit(Request::CloseSession).await.is_ok()
}

fn auth(credentials: &str) -> Request {
    Request::Auth { scheme: "digest".into(), credentials: credentials.into() }
}

/// Small numbers.
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
        self.one_of(&["/t/a", "/t/b", "/t/c", "/t/d", "/t/a/x", "/t/a/y", "/t/b/x", "/t/e", "/t/f", "/t"])
            .into()
    }

    /// Of znodes that somebody may not be allowed to see, or that servers remove.
    fn guarded(&mut self) -> Text {
        self.one_of(&["/t/p", "/t/p", "/t/p/x", "/t/q", "/t/q/x"]).into()
    }

    fn data(&mut self) -> Data {
        Data::from(self.one_of(&["", "some", "other"]))
    }

    fn mode(&mut self) -> CreateMode {
        self.one_of(&[
            CreateMode::Persistent,
            CreateMode::Ephemeral,
            CreateMode::PersistentSequential,
            CreateMode::EphemeralSequential,
        ])
    }

    fn acl(&mut self) -> AclList {
        let all = |perms, scheme, id| -> AclList { [Acl { perms, who: Identity::new(scheme, id) }].into() };
        match self.roll(6) {
            0..3 => all(Perms::ALL, "digest", ANN),
            3 => all(Perms::ALL, "auth", ""),
            4 => all(Perms::READ.and(Perms::CREATE), "world", "anyone"),
            _ => open_acl(),
        }
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
        if self.roll(4) == 0 {
            return self.guarded_request();
        }
        let (path, watch) = (self.path(), self.roll(2) == 0);
        match self.roll(32) {
            0..8 => {
                let (data, mode) = (self.data(), self.mode());
                Request::Create { path, data, acl: open_acl(), mode, stat: watch }
            }
            8..13 => Request::Delete { path, version: self.one_of(&[-1, -1, -1, 0, 1]) },
            13..16 => Request::SetData { path, data: self.data(), version: self.one_of(&[-1, -1, -1, 0, 1]) },
            16..19 => {
                let most = self.one_of(&[3, 3, 3, 40]);
                Request::Multi { ops: (0..=self.roll(most)).map(|_| self.op()).collect() }
            }
            19 if self.roll(3) == 0 => Request::CloseSession,
            19..22 => Request::Sync { path },
            22..25 => Request::Exists { path, watch },
            25..28 => Request::GetData { path, watch },
            _ => Request::GetChildren { path, watch, stat: self.roll(2) == 0 },
        }
    }

    /// What has to do with who may do what, with watches that stay, and with znodes that servers remove.
    fn guarded_request(&mut self) -> Request {
        let path = self.guarded();
        match self.roll(20) {
            0..5 => {
                let more = [CreateMode::Container, CreateMode::PersistentTtl(1500)];
                let mode = if self.roll(3) == 0 { self.one_of(&more) } else { self.mode() };
                Request::Create { path, data: self.data(), acl: self.acl(), mode, stat: false }
            }
            5..7 => Request::Delete { path, version: -1 },
            7..9 => Request::SetData { path, data: self.data(), version: -1 },
            9 => Request::SetAcl { path, acl: self.acl(), version: -1 },
            10..13 => {
                let mode = self.one_of(&[AddWatchMode::Persistent, AddWatchMode::PersistentRecursive]);
                Request::AddWatch { path: self.one_of(&["/t", "/t/p", "/t/a"]).into(), mode }
            }
            13 => Request::RemoveWatches { path, kind: self.kind() },
            14 => Request::CheckWatches { path: self.path(), kind: self.kind() },
            15 => Request::GetAcl { path },
            16 => Request::WhoAmI,
            17 if self.roll(4) == 0 => auth("bob:two"),
            17 => Request::GetEphemerals { prefix: "/t".into() },
            18 => Request::GetAllChildrenNumber { path: "/t".into() },
            _ => {
                let ops = vec![ReadOp::GetData { path }, ReadOp::GetChildren { path: self.path() }];
                Request::MultiRead { ops }
            }
        }
    }

    fn kind(&mut self) -> WatcherKind {
        self.one_of(&[WatcherKind::Any, WatcherKind::Data, WatcherKind::Children])
    }
}

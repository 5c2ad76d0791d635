//! What all locks on trial have in common: attempts, the critical section, and how it ends.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use zk_api::{Either, Local, Pending, Text, ZPath, ZooKeeper, Zxid, race};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::rounds::attempts;
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, Turn, Unmarked, both};
use zk_harness::event::{End, Observation, Resource};
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{OF_LOCKS, of_fair_lock, of_fenced_lock};
use zk_harness::trial::{Role, Trial};
use zk_recipes::Mode;

/// The znode of the lock, or that the contenders' znodes are children of.
pub const LOCK: &str = "/lock";

/// A lock on trial: each actor takes as many turns as it has rounds. A turn acquires the lock, goes through
/// [`Fixture::section`], and releases it. It promises what [`fair`] says.
pub fn lock(name: &'static str, turn: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe, role| async move { turns(turn, &zk, &probe, role).await };
    Trial::new(name, code).setup([LOCK]).promises(fair).tells(OF_LOCKS)
}

/// The same, for which two threads of each process ask, each by itself, on the one session that they have. The second
/// begins when it likes.
pub fn lock_of_threads(name: &'static str, turn: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe: AnyProbe, role| async move {
        let zk: AnyZooKeeper = Arc::new(Unmarked(zk));
        let another: AnyProbe = Arc::new(probe.thread(1));
        let second = async {
            probe.point().await;
            turns(turn, &zk, &another, role).await
        };
        match both(turns(turn, &zk, &probe, role), second).await {
            (End::SessionLost, _) | (_, End::SessionLost) => End::SessionLost,
            (End::Done, end) | (end, _) => end,
        }
    };
    lock(name, turn).code(code)
}

/// What a lock promises that is given to whoever has waited longest.
pub fn fair() -> Vec<Box<dyn AnyPromise>> {
    of_fair_lock(LOCK)
}

/// The same of one whose holders have tokens.
pub fn fenced() -> Vec<Box<dyn AnyPromise>> {
    of_fenced_lock(LOCK)
}

async fn turns(turn: impl Turn<Fixture>, zk: &AnyZooKeeper, probe: &AnyProbe, role: Role) -> End {
    attempts(zk, (probe, role), LOCK, |zk, round| turn(Fixture::new(zk, probe, role, round))).await
}

/// What comes after the wait behind another contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another look at the line.
    Look,
    /// The lock, which is taken for granted.
    Hold,
}

/// One round of an actor.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    /// Who plays which role.
    pub role: Role,
    /// Which round it is, from 0.
    pub round: u8,
}

impl Fixture {
    /// A round of an actor.
    pub(crate) fn new(zk: InRound<AnyZooKeeper>, probe: &AnyProbe, role: Role, round: u8) -> Fixture {
        Fixture { zk, probe: probe.clone(), role, round }
    }

    /// The lock's znode.
    pub fn lock(&self) -> ZPath {
        ZPath::parse(LOCK).expect("a constant")
    }

    /// A guid of this attempt.
    pub fn guid(&self) -> Text {
        self.probe.guid()
    }

    /// A scheduling point.
    pub fn point(&self) -> Pending<()> {
        self.probe.point()
    }

    /// The critical section: everything between the grant and the release. It ends early when `lost` does.
    ///
    /// Two writes to each resource, with work between them, so that two holders at a time can be seen to
    /// write by turns. A write on its way is waited for even when the lock is lost: whoever releases the lock
    /// with a write on its way invites it to arrive late. What the fenced resource answers is not used, or it
    /// would keep the unfenced one from what is to be shown there.
    ///
    /// Without effects there is one scheduling point in place of writes and work, and no token is told.
    pub async fn section(&self, node: &ZPath, token: Option<Zxid>, lost: impl Future + Send) {
        self.hold(Mode::Exclusive, node, token, lost).await;
        self.leave();
    }

    /// The critical section of who has no token and hears of no loss, and then the end of its znode.
    pub async fn holds(&self, own: &ZPath) -> Result<(), Stop> {
        self.section(own, None, std::future::pending::<()>()).await;
        plain::remove(&self.zk, own).await
    }

    /// Takes up the znode with this guid, whoever made it, or makes one, and holds the lock once that is the first in
    /// line.
    pub async fn adopts(&self, guid: &str) -> Result<(), Stop> {
        let (zk, lock) = (&self.zk, self.lock());
        let prefix = plain::child(&lock, &format!("{guid}-lock-"));
        let own = match plain::find(zk, &lock, &prefix, "").await? {
            Some(own) => own,
            None => plain::contend(zk, &lock, guid).await?,
        };
        plain::turn(zk, &lock, &own).await?;
        self.holds(&own).await
    }

    /// Makes a znode with a guid, and holds the lock once that is the first in line. Behind whom it has to wait by then
    /// it does this, with the other's znode and its own, which tells what to do next.
    pub async fn in_line<F>(&self, behind: impl Fn(ZPath, ZPath) -> F) -> Result<(), Stop>
    where
        F: Future<Output = Result<Next, Stop>>,
    {
        let (zk, lock) = (&self.zk, self.lock());
        let own = plain::contend(zk, &lock, &self.guid()).await?;
        loop {
            let names = plain::children(zk, &lock, own.as_str()).await?;
            match plain::place(&lock, &names, &own) {
                Place::First => break,
                Place::Absent => return Err(plain::gone(&own)),
                Place::Behind(lower) => match behind(lower, own.clone()).await? {
                    Next::Look => {}
                    Next::Hold => break,
                },
            }
        }
        self.holds(&own).await
    }

    /// The critical section in a mode, but for its end, [`leave`](Fixture::leave). Tells whether the lock was lost.
    pub async fn hold(
        &self,
        mode: Mode,
        node: &ZPath,
        token: Option<Zxid>,
        lost: impl Future + Send,
    ) -> bool {
        // A zxid tells states apart that are alike but for how they came about: only who writes needs it.
        let token = token.filter(|_| self.role.effects);
        let (lock, place) = (Text::from(LOCK), node.text());
        self.probe.observe(match mode {
            Mode::Exclusive => Observation::Granted { lock: lock.clone(), node: place, token },
            Mode::Shared => Observation::Shares { lock: lock.clone(), node: place, token },
        });
        self.marks(mode, node, token);
        self.probe.observe(Observation::Enters { lock });
        self.is_inside(mode, token, lost).await
    }

    /// The same of who holds it in another mode, has said that it makes do with a share, and is inside already.
    pub async fn stays(&self, node: &ZPath, token: Zxid, lost: impl Future + Send) -> bool {
        let token = Some(token).filter(|_| self.role.effects);
        self.marks(Mode::Shared, node, token);
        self.is_inside(Mode::Shared, token, lost).await
    }

    fn marks(&self, mode: Mode, node: &ZPath, token: Option<Zxid>) {
        let label = match mode {
            Mode::Exclusive => "trial/held",
            Mode::Shared => "trial/shared",
        };
        let kept = token.map_or(Local::Text("none"), Local::Zxid);
        self.zk.checkpoint(label, &[Local::Text(node.as_str()), kept]);
    }

    async fn is_inside(&self, mode: Mode, token: Option<Zxid>, lost: impl Future + Send) -> bool {
        let mut lost = pin!(lost);
        if !self.role.effects {
            return matches!(race(lost, self.probe.point()).await, Either::Left(_));
        }
        self.write(mode, lost.as_mut(), token).await
            || matches!(race(lost.as_mut(), self.probe.work()).await, Either::Left(_))
            || self.write(mode, lost, token).await
    }

    /// It holds the lock alone and makes do with a share from now on.
    pub fn shares(&self, node: &ZPath, token: Zxid) {
        let token = Some(token).filter(|_| self.role.effects);
        self.probe.observe(Observation::Shares { lock: LOCK.into(), node: node.text(), token });
    }

    /// The critical section is over.
    pub fn leave(&self) {
        self.probe.observe(Observation::Leaves { lock: LOCK.into() });
    }

    /// The attempt has ended without the lock, and another may follow.
    pub fn passes(&self, why: &str) {
        self.probe.observe(Observation::GivesUp { lock: LOCK.into(), why: why.into() });
    }

    /// Tells the promises.
    pub fn tells(&self, what: Observation) {
        self.probe.observe(what);
    }

    /// Works for a while.
    pub fn works(&self) -> Pending<()> {
        self.probe.work()
    }

    /// Writes to a resource.
    pub fn writes(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.probe.write(resource, token)
    }

    /// Writes to both resources; tells whether the lock was lost meanwhile.
    async fn write<L: Future>(&self, mode: Mode, mut lost: Pin<&mut L>, token: Option<Zxid>) -> bool {
        let mut resources = vec![Resource::Unfenced];
        resources.extend(token.map(|_| match mode {
            Mode::Exclusive => Resource::Fenced,
            Mode::Shared => Resource::FencedShared,
        }));
        for resource in resources {
            self.probe.write(resource, token).await;
            if matches!(race(lost.as_mut(), std::future::ready(())).await, Either::Left(_)) {
                return true;
            }
        }
        false
    }
}

//! What all elections on trial have in common: standing, the term of a leader, and how it ends.

use std::future::Future;
use std::pin::{Pin, pin};
use zk_api::{Either, Local, Pending, Text, Watch, ZPath, ZooKeeper, Zxid, race};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::rounds::attempts;
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, Turn};
use zk_harness::event::{Observation, Resource};
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    DONE, ExclusionAmongLiveSessions, ExclusionAtResource, Fifo, NoFailure, NoForeignDelete, NoOrphanZnode,
    NoWaiterStuck, OneWokenPerDeletion, Order, START, SessionEndNoticed, StopsAtLoss, Undisturbed,
};
use zk_harness::trial::{Role, Trial};
use zk_harness::words;
use zk_recipes::OnDisconnect;

/// The znode of the election, whose children are the candidates.
pub const ELECTION: &str = "/election";

/// What every election promises whose leaders have no epochs and are not announced.
pub fn promises() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(ExclusionAmongLiveSessions::of(ELECTION)),
        Box::new(ExclusionAtResource::unfenced(ELECTION)),
        Box::new(StopsAtLoss::of(ELECTION, OnDisconnect::KeepUntilExpired)),
        Box::new(Fifo::of(ELECTION)),
        Box::new(OneWokenPerDeletion::of(ELECTION)),
        Box::new(NoWaiterStuck),
        Box::new(SessionEndNoticed::default()),
        Box::new(NoOrphanZnode::of(ELECTION)),
        Box::new(NoForeignDelete::of(ELECTION)),
        Box::new(Undisturbed::of(NoFailure).sparing(ELECTION)),
    ]
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::ATTEMPTS, &[START, words::RELEASED]),
    (words::IS_GRANTED, &[words::ATTEMPTS]),
    (words::ENTERS, &[words::IS_GRANTED]),
    (words::STOPS, &[words::ENTERS, words::FINDS]),
    (words::LEAVES, &[words::ENTERS, words::FINDS, words::STOPS]),
    (words::FINDS, &[words::ENTERS, words::FINDS, words::LEAVES]),
    (
        words::GIVES_UP,
        &[words::ATTEMPTS, words::IS_GRANTED, words::ENTERS, words::FINDS, words::STOPS, words::LEAVES],
    ),
    (words::RELEASED, &[words::LEAVES, words::FINDS, words::GIVES_UP]),
    (DONE, &[words::RELEASED]),
];

/// An election on trial: each actor comes to lead and resigns as often as it has rounds. A turn comes to lead, goes
/// through [`Fixture::term`], and resigns.
pub fn election(name: &'static str, turn: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe: AnyProbe, role| async move {
        let turn = |zk, _| turn(Fixture { zk, probe: probe.clone(), role });
        attempts(&zk, (&probe, role), ELECTION, turn).await
    };
    Trial::new(name, code).setup([ELECTION]).promises(promises).tells(WORDS)
}

/// Resolves when the client learns that the session is over.
pub(crate) async fn session_over(zk: &impl ZooKeeper) {
    loop {
        let change = zk.state_change();
        if zk.state().is_final() {
            return;
        }
        change.await;
    }
}

/// One round of an actor.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    /// The actor's role.
    pub role: Role,
}

impl Fixture {
    /// The election's znode.
    pub fn election(&self) -> ZPath {
        ZPath::parse(ELECTION).expect("a constant")
    }

    /// A guid of this attempt.
    pub fn guid(&self) -> Text {
        self.probe.guid()
    }

    /// A scheduling point.
    pub fn point(&self) -> Pending<()> {
        self.probe.point()
    }

    /// A piece of work that is no leader's. Fails if it is told meanwhile that the session is over.
    pub async fn other_work(&self) -> Result<(), Stop> {
        match race(pin!(self.session_over()), self.probe.work()).await {
            Either::Left(()) => Err(Stop::SessionLost),
            Either::Right(()) => Ok(()),
        }
    }

    /// The path that creates of a candidate are tried with.
    pub fn prefix(&self, whose: &str) -> ZPath {
        plain::child(&self.election(), &format!("{whose}-n-"))
    }

    /// Makes a candidate's znode; a lost answer is looked up by the guid.
    pub async fn stand(&self, guid: &str) -> Result<ZPath, Stop> {
        plain::make(&self.zk, "plain/stand", &self.election(), &self.prefix(guid), guid).await
    }

    /// Takes up the candidate with this guid, whoever made it, or makes one.
    pub async fn finds_or_stands(&self, guid: &str) -> Result<ZPath, Stop> {
        match plain::find(&self.zk, &self.election(), &self.prefix(guid), guid).await? {
            Some(own) => Ok(own),
            None => self.stand(guid).await,
        }
    }

    /// Where a candidate stands, by the number of its znode.
    pub async fn place(&self, own: &ZPath) -> Result<Place, Stop> {
        let election = self.election();
        let names = plain::children(&self.zk, &election, own.as_str()).await?;
        Ok(plain::place(&election, &names, own))
    }

    /// Watches a znode, if it is there.
    pub async fn watch(&self, node: &ZPath, own: &ZPath) -> Result<Option<Watch>, Stop> {
        let (stat, watch) = plain::exists(&self.zk, node, own.as_str()).await?;
        Ok(stat.map(|_| watch))
    }

    /// Waits until its candidate is the first one, and leads then. Behind whom it has to wait by then it does this.
    pub async fn leads_behind<F>(&self, own: &ZPath, behind: impl Fn(ZPath) -> F) -> Result<(), Stop>
    where
        F: Future<Output = Result<(), Stop>>,
    {
        loop {
            match self.place(own).await? {
                Place::First => return self.leads(own).await,
                Place::Absent => return Err(plain::gone(own)),
                Place::Behind(before) => behind(before).await?,
            }
        }
    }

    /// The same, waiting for whatever happens to the one before.
    pub async fn leads_in_turn(&self, own: &ZPath) -> Result<(), Stop> {
        plain::turn(&self.zk, &self.election(), own).await?;
        self.leads(own).await
    }

    /// The term of a candidate without an epoch that notices only the end of its session, and its resignation.
    pub async fn leads(&self, own: &ZPath) -> Result<(), Stop> {
        self.term(own, None, self.session_over(), async { Ok(()) }).await?;
        plain::remove(&self.zk, own).await
    }

    /// Resolves when the client learns that the session is over.
    pub async fn session_over(&self) {
        session_over(&self.zk).await;
    }

    /// A leader's term: everything between its election and its resignation. It ends early when `lost` does.
    ///
    /// `begin` is done first: it may announce the leader. Then there are two writes to each resource, with work between
    /// them, so that two leaders at a time can be seen to write by turns. A write on its way is waited for even when
    /// the lead is lost, but "stops" is said at once. Without effects there is one scheduling point in place of writes
    /// and work, and no epoch is told.
    pub async fn term(
        &self,
        node: &ZPath,
        epoch: Option<Zxid>,
        lost: impl Future + Send,
        begin: impl Future<Output = Result<(), Stop>> + Send,
    ) -> Result<(), Stop> {
        let epoch = epoch.filter(|_| self.role.effects);
        let lock = Text::from(ELECTION);
        self.probe.observe(Observation::Granted { lock: lock.clone(), node: node.text(), token: epoch });
        let kept = epoch.map_or(Local::Text("none"), Local::Zxid);
        self.zk.checkpoint("trial/leads", &[Local::Text(node.as_str()), kept]);
        self.probe.observe(Observation::Enters { lock: lock.clone() });
        let mut lost = pin!(lost);
        let begun = match race(lost.as_mut(), begin).await {
            Either::Left(_) => {
                self.stops();
                Ok(())
            }
            Either::Right(Ok(())) => {
                self.reigns(lost, epoch).await;
                Ok(())
            }
            Either::Right(Err(stop)) => Err(stop),
        };
        self.probe.observe(Observation::Leaves { lock });
        begun
    }

    async fn reigns<L: Future>(&self, mut lost: Pin<&mut L>, epoch: Option<Zxid>) {
        if !self.role.effects {
            if let Either::Left(_) = race(lost, self.probe.point()).await {
                self.stops();
            }
        } else if !self.write(lost.as_mut(), epoch).await {
            match race(lost.as_mut(), self.probe.work()).await {
                Either::Left(_) => self.stops(),
                Either::Right(()) => {
                    self.write(lost, epoch).await;
                }
            }
        }
    }

    /// Writes to both resources; tells whether the lead was lost meanwhile.
    async fn write<L: Future>(&self, mut lost: Pin<&mut L>, epoch: Option<Zxid>) -> bool {
        let mut resources = vec![Resource::Unfenced];
        resources.extend(epoch.map(|_| Resource::Fenced));
        for resource in resources {
            let mut write = self.probe.write(resource, epoch);
            if let Either::Left(_) = race(lost.as_mut(), &mut write).await {
                self.stops();
                write.await;
                return true;
            }
        }
        false
    }

    fn stops(&self) {
        self.probe.observe(Observation::note(words::STOPS, ELECTION, 0));
    }

    /// Somebody asked who leads, and was given this candidate, or nobody: then it is the election's own znode.
    pub fn finds(&self, node: &ZPath) {
        self.probe.observe(Observation::note(words::FINDS, node.as_str(), 0));
    }
}

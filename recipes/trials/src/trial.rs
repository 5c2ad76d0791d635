//! Trials: a recipe set up, driven by actors, and held to its promises.

use crate::event::{ActorId, End};
use crate::probe::Probe;
use crate::program::Programs;
use crate::promise::AnyPromise;
use crate::promises;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::{Text, ZooKeeper};

/// A recipe under trial. Authors implement this; the engines see [`AnyTrial`].
pub trait Trial: Send + Sync + 'static {
    /// What is on trial.
    fn about(&self) -> About;

    /// Persistent znodes that exist before any actor starts, parents first. Everything below them belongs to
    /// the trial.
    fn setup(&self) -> Vec<Text>;

    /// What is promised, in the order of the reports. Beside it, only the [standard promises](crate::promises::STANDARD) are
    /// judged, and nothing is missed where nothing puts one of those to the test.
    fn promises(&self) -> Vec<Box<dyn AnyPromise>>;

    /// Which of the [standard promises](crate::promises::STANDARD), which every trial is held to beside its own, are none of
    /// this one.
    fn opts_out(&self) -> &'static [&'static str] {
        &[]
    }

    /// The scenario that it is made for, as keys of a scenario file with their values: `("clients", "3")`. What the
    /// file or the command line say counts more. A recipe that is right only under assumptions on the scenario says so
    /// here and in its summary.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Which engines must find what [`About::breaks`] names.
    fn found_by(&self) -> FoundBy {
        FoundBy::Both
    }

    /// For a variant known to be wrong: promises that it is known to keep all the same.
    fn keeps(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether one of the promises counts whom a change wakes. Where none does, a model tells none of
    /// [`Fact::Fired`](crate::event::Fact::Fired), and takes a watch from its server when nobody waits for it any more,
    /// which none of them can see: fewer states. A recipe that asks for watches to be removed or looked for sees it.
    fn counts_wakes(&self) -> bool {
        true
    }

    /// Whether the client library opens a new session by itself once it was told that the former has expired, and lets the
    /// same code go on with it, as those of Go (`go-zookeeper`) and Python (`kazoo`) and Curator do. Until it has one, all
    /// that is asked of it fails as asked of the session that is over; then it is connected, with another session id, and
    /// has neither the watches nor the ephemeral znodes of the former. It does so as well when the code has ended, until the
    /// process does.
    fn renews_session(&self) -> bool {
        false
    }

    /// What an administrator may set a znode's data to, where a model's bounds allow him any change. He may delete any
    /// znode of the trial that has no children. In a run he writes [`ADMIN_DATA`].
    fn administered(&self) -> Vec<Text> {
        vec![ADMIN_DATA.into()]
    }

    /// How many children these znodes of the setup have had in their lives: the number of the next sequential one.
    fn counters(&self) -> Vec<(Text, i32)> {
        Vec::new()
    }

    /// What one client process does with the recipe. It must not close the session when it ends: what it
    /// leaves behind is judged.
    ///
    /// A recipe may submit a request as its future is dropped (a lock deletes its znode). When an engine drops
    /// the future, because the process is killed or the run is over, `zk` must let such requests go nowhere.
    fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> impl Future<Output = End> + Send
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static;
}

/// What is on trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// `lock`, or `lock/no-guid` for a variant of it.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// For a variant known to be wrong: what breaks, by which fault. `None` is expected to hold.
    pub breaks: Option<Breaks>,
    /// The smallest bounds of the model that show what there is to show.
    pub bounds: Bounds,
    /// Which reductions of the model a test has shown to give the same verdict.
    pub reductions: Reductions,
}

impl About {
    /// A recipe of one's own, which is hoped to hold: until [`bounds`](About::bounds) says otherwise, two clients in the
    /// model, one connection that drops, one session that expires, and views that lag by one transaction.
    pub const fn new(name: &'static str, summary: &'static str) -> About {
        let bounds = Bounds { drops: 1, expiries: 1, lag: 1, ..Bounds::clients(2) };
        let reductions = Reductions { eager: false, symmetry: false };
        About { name, summary, source: "one's own", breaks: None, bounds, reductions }
    }
}

/// What an administrator writes: the data by which a revocable lock's holder is asked to let go.
pub const ADMIN_DATA: &str = "unlock";

/// How a variant is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaks {
    /// The promise's name.
    pub promise: &'static str,
    /// The defect's number in the catalogue, such as `S-070`.
    pub defect: &'static str,
    /// The fault it takes, or `none`.
    pub fault: &'static str,
}

/// Which engines find a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoundBy {
    /// The exhaustive model at its bounds; seeds need not, as it is too rare or asks for no fault they have.
    Model,
    /// Seeds; the model has no such fault.
    Chaos,
    /// Either does.
    Both,
}

/// The bounds of a model: how many of each there are at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bounds {
    /// Client processes.
    pub clients: u8,
    /// How often each process does what it does.
    pub rounds: u8,
    /// Sessions that expire though their process lives.
    pub expiries: u8,
    /// Connections that drop.
    pub drops: u8,
    /// Processes that crash.
    pub crashes: u8,
    /// Processes that are paused: their session may expire meanwhile without costing an expiry.
    pub pauses: u8,
    /// Processes that begin another life, with a new session, after a crash or the loss of their session: see
    /// [`End::SessionLost`].
    pub restarts: u8,
    /// Changes that an administrator makes: see [`Trial::administered`].
    pub admin: u8,
    /// Transactions by which the view of a connected client may lag.
    pub lag: u8,
    /// Whether actors write to the outside resources: see [`Part::effects`].
    pub effects: bool,
}

impl Bounds {
    /// So many clients, one round, no faults.
    pub const fn clients(clients: u8) -> Bounds {
        let (expiries, drops, crashes, pauses, restarts, admin) = (0, 0, 0, 0, 0, 0);
        Bounds {
            clients,
            rounds: 1,
            expiries,
            drops,
            crashes,
            pauses,
            restarts,
            admin,
            lag: 0,
            effects: false,
        }
    }
}

/// Reductions of a model that are not sound for every recipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reductions {
    /// The answer is delivered in the step that serves the request.
    pub eager: bool,
    /// States that differ only in which process is which are one.
    pub symmetry: bool,
}

/// One actor's part in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Who it is.
    pub me: ActorId,
    /// How many client processes there are.
    pub clients: u16,
    /// How often it is to do what it does; in a later life, how often it still is: a round of the main thread that was
    /// [left](crate::event::Observation::Leaves) or has [ended](crate::event::Observation::Ends) is done.
    pub rounds: u8,
    /// Whether it is to write to the outside resources while it holds what it holds. It costs a model many
    /// states; without it, a scheduling point takes its place.
    pub effects: bool,
}

/// An actor's code, ready to be polled.
pub type Actor = Pin<Box<dyn Future<Output = End> + Send>>;

/// A trial with its type erased: one instantiation serves every engine.
pub trait AnyTrial: Send + Sync {
    /// As [`Trial::about`].
    fn about(&self) -> About;
    /// As [`Trial::setup`].
    fn setup(&self) -> Vec<Text>;
    /// As [`Trial::promises`].
    fn promises(&self) -> Vec<Box<dyn AnyPromise>>;
    /// As [`Trial::opts_out`].
    fn opts_out(&self) -> &'static [&'static str] {
        &[]
    }
    /// All that it is held to: its own promises, and the standard ones that are not among them.
    fn held_to(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::with_standard(self.promises(), self.opts_out())
    }
    /// As [`Trial::scenario`].
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// As [`Trial::found_by`].
    fn found_by(&self) -> FoundBy {
        FoundBy::Both
    }
    /// As [`Trial::keeps`].
    fn keeps(&self) -> &'static [&'static str] {
        &[]
    }
    /// As [`Trial::counts_wakes`].
    fn counts_wakes(&self) -> bool {
        true
    }
    /// As [`Trial::renews_session`].
    fn renews_session(&self) -> bool {
        false
    }
    /// As [`Trial::administered`].
    fn administered(&self) -> Vec<Text> {
        Vec::new()
    }
    /// As [`Trial::counters`].
    fn counters(&self) -> Vec<(Text, i32)> {
        Vec::new()
    }
    /// What is on trial instead of [`actor`](AnyTrial::actor), if it is a program.
    fn programs(&self) -> Option<Arc<dyn Programs>> {
        None
    }
    /// As [`Trial::actor`].
    fn actor(self: Arc<Self>, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, part: Part) -> Actor;
}

impl<T: Trial> AnyTrial for T {
    fn about(&self) -> About {
        Trial::about(self)
    }
    fn setup(&self) -> Vec<Text> {
        Trial::setup(self)
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        Trial::promises(self)
    }
    fn opts_out(&self) -> &'static [&'static str] {
        Trial::opts_out(self)
    }
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        Trial::scenario(self)
    }
    fn found_by(&self) -> FoundBy {
        Trial::found_by(self)
    }
    fn keeps(&self) -> &'static [&'static str] {
        Trial::keeps(self)
    }
    fn counts_wakes(&self) -> bool {
        Trial::counts_wakes(self)
    }
    fn renews_session(&self) -> bool {
        Trial::renews_session(self)
    }
    fn administered(&self) -> Vec<Text> {
        Trial::administered(self)
    }
    fn counters(&self) -> Vec<(Text, i32)> {
        Trial::counters(self)
    }
    fn actor(self: Arc<Self>, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, part: Part) -> Actor {
        Box::pin(async move { Trial::actor(&*self, zk, probe, part).await })
    }
}

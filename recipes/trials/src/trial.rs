//! Trials: a recipe set up, driven by actors, and held to its promises.

use crate::common::{AnyProbe, AnyZooKeeper};
use crate::event::{ActorId, End};
use crate::program::Programs;
use crate::promise::AnyPromise;
use crate::promises::{self, Order, TellsInOrder};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::Text;

/// Makes the promises that a trial is held to, anew for each run.
pub type Promises = Arc<dyn Fn() -> Vec<Box<dyn AnyPromise>> + Send + Sync>;

/// A recipe under trial: what one client process does with it, what is promised, and how it differs from the defaults. Each
/// field has a method of its name that sets it, to be called after [`Trial::new`].
#[derive(Clone)]
pub struct Trial {
    /// What is on trial.
    pub about: About,
    /// Persistent znodes that exist before any actor starts, parents first. Everything below them belongs to
    /// the trial.
    pub setup: Vec<Text>,
    /// What is promised, in the order of the reports. Beside it, only the [standard promises](crate::promises::STANDARD) are
    /// judged, and nothing is missed where nothing puts one of those to the test.
    pub promises: Promises,
    /// What its actors tell, and in which order: owed beside the promises, whichever those are.
    pub tells: Option<Order>,
    /// Which of the [standard promises](crate::promises::STANDARD), which every trial is held to beside its own, are none of
    /// this one.
    pub opts_out: Vec<&'static str>,
    /// The scenario that it is made for, as keys of a scenario file with their values: `("clients", "3")`. What the
    /// file or the command line say counts more. A recipe that is right only under assumptions on the scenario says so
    /// here and in its summary.
    pub scenario: Vec<(&'static str, &'static str)>,
    /// Which engines must find what [`About::breaks`] names.
    pub found_by: FoundBy,
    /// For a variant known to be wrong: promises that it is known to keep all the same.
    pub keeps: Vec<&'static str>,
    /// Whether one of the promises counts whom a change wakes. Where none does, a model tells none of
    /// [`Fact::Fired`](crate::event::Fact::Fired), and takes a watch from its server when nobody waits for it any more,
    /// which none of them can see: fewer states. A recipe that asks for watches to be removed or looked for sees it.
    pub counts_wakes: bool,
    /// Whether the client library opens a new session by itself once it was told that the former has expired, and lets the
    /// same code go on with it, as those of Go (`go-zookeeper`) and Python (`kazoo`) and Curator do. Until it has one, all
    /// that is asked of it fails as asked of the session that is over; then it is connected, with another session id, and
    /// has neither the watches nor the ephemeral znodes of the former. It does so as well when the code has ended, until the
    /// process does.
    pub renews_session: bool,
    /// Whether a model tells its code one thing at a time, and lets it have done with that before the next one comes. So it
    /// does with a program, whose client library stands between.
    pub hears_singly: bool,
    /// What an administrator may set a znode's data to, where a model's bounds allow him any change. He may delete any
    /// znode of the trial that has no children. In a run he writes [`ADMIN_DATA`].
    pub administered: Vec<Text>,
    /// How many children these znodes of the setup have had in their lives: the number of the next sequential one.
    pub counters: Vec<(Text, i32)>,
    /// What one client process does.
    pub code: Code,
}

/// What one client process does.
#[derive(Clone)]
pub enum Code {
    /// Code over the trait [`ZooKeeper`](zk_api::ZooKeeper).
    Actor(Act),
    /// A program in a process of its own; and as code, for whoever knows no bytes: to be explored, which comes back to one
    /// history again and again, and to be run once.
    Programs { programs: Arc<dyn Programs>, explored: Act, once: Act },
}

/// Makes the code of one life.
pub type Act = Arc<dyn Fn(AnyZooKeeper, AnyProbe, Part) -> Actor + Send + Sync>;

impl Code {
    fn of<F>(code: impl Fn(AnyZooKeeper, AnyProbe, Part) -> F + Send + Sync + 'static) -> Code
    where
        F: Future<Output: Into<End>> + Send + 'static,
    {
        Code::Actor(Arc::new(move |zk, probe, part| {
            let done = code(zk, probe, part);
            Box::pin(async move { done.await.into() })
        }))
    }
}

impl Trial {
    /// A trial of that name, of code which does what one client process does with a recipe. It must not close the session when
    /// it ends: what it leaves behind is judged.
    ///
    /// A recipe may submit a request as its future is dropped (a lock deletes its znode). When an engine drops
    /// the future, because the process is killed or the run is over, the session lets such requests go nowhere.
    pub fn new<F>(
        name: &'static str,
        code: impl Fn(AnyZooKeeper, AnyProbe, Part) -> F + Send + Sync + 'static,
    ) -> Trial
    where
        F: Future<Output: Into<End>> + Send + 'static,
    {
        Trial::of(name, Code::of(code))
    }

    /// The same of other code.
    pub fn code<F>(
        mut self,
        code: impl Fn(AnyZooKeeper, AnyProbe, Part) -> F + Send + Sync + 'static,
    ) -> Trial
    where
        F: Future<Output: Into<End>> + Send + 'static,
    {
        self.code = Code::of(code);
        self
    }

    /// A trial of that name, of such code.
    pub fn of(name: &'static str, code: Code) -> Trial {
        Trial {
            about: About::new(name, ""),
            setup: Vec::new(),
            promises: Arc::new(Vec::new),
            tells: None,
            opts_out: Vec::new(),
            scenario: Vec::new(),
            found_by: FoundBy::Both,
            keeps: Vec::new(),
            counts_wakes: true,
            renews_session: false,
            hears_singly: false,
            administered: vec![ADMIN_DATA.into()],
            counters: Vec::new(),
            code,
        }
    }

    /// What it is, in one sentence.
    pub fn summary(mut self, summary: &'static str) -> Trial {
        self.about.summary = summary;
        self
    }

    /// Where it is published.
    pub fn source(mut self, source: &'static str) -> Trial {
        self.about.source = source;
        self
    }

    /// For a variant known to be wrong: which promise breaks, the defect's number, and by which fault.
    pub fn breaks(mut self, promise: &'static str, defect: &'static str, fault: &'static str) -> Trial {
        self.about.breaks = Some(Breaks { promise, defect, fault });
        self
    }

    /// The smallest bounds of the model that show what there is to show.
    pub fn bounds(mut self, bounds: Bounds) -> Trial {
        self.about.bounds = bounds;
        self
    }

    /// Which reductions of the model a test has shown to give the same verdict.
    pub fn reductions(mut self, reductions: Reductions) -> Trial {
        self.about.reductions = reductions;
        self
    }

    /// See the [field](Trial::setup).
    pub fn setup<const N: usize>(mut self, setup: [&str; N]) -> Trial {
        self.setup = setup.map(Text::from).into();
        self
    }

    /// See the [field](Trial::promises).
    pub fn promises(
        mut self,
        promises: impl Fn() -> Vec<Box<dyn AnyPromise>> + Send + Sync + 'static,
    ) -> Trial {
        self.promises = Arc::new(promises);
        self
    }

    /// See the [field](Trial::tells).
    pub fn tells(mut self, order: Order) -> Trial {
        self.tells = Some(order);
        self
    }

    /// See the [field](Trial::opts_out).
    pub fn opts_out(mut self, promises: &[&'static str]) -> Trial {
        self.opts_out = promises.into();
        self
    }

    /// See the [field](Trial::scenario).
    pub fn scenario(mut self, keys: &[(&'static str, &'static str)]) -> Trial {
        self.scenario = keys.into();
        self
    }

    /// See the [field](Trial::found_by).
    pub fn found_by(mut self, engine: FoundBy) -> Trial {
        self.found_by = engine;
        self
    }

    /// See the [field](Trial::keeps).
    pub fn keeps(mut self, promises: &[&'static str]) -> Trial {
        self.keeps = promises.into();
        self
    }

    /// See the [field](Trial::counts_wakes).
    pub fn counts_wakes(mut self, counts: bool) -> Trial {
        self.counts_wakes = counts;
        self
    }

    /// See the [field](Trial::hears_singly).
    pub fn hears_singly(mut self) -> Trial {
        self.hears_singly = true;
        self
    }

    /// See the [field](Trial::renews_session).
    pub fn renews_session(mut self) -> Trial {
        self.renews_session = true;
        self
    }

    /// See the [field](Trial::administered).
    pub fn administered(mut self, data: &[&str]) -> Trial {
        self.administered = data.iter().copied().map(Text::from).collect();
        self
    }

    /// See the [field](Trial::counters).
    pub fn counters(mut self, counters: &[(&str, i32)]) -> Trial {
        self.counters = counters.iter().map(|(path, count)| (Text::from(*path), *count)).collect();
        self
    }
}

/// What is on trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Trial {
    /// What it promises itself, in the order of the reports: the last one is that its actors tell what they are to.
    pub fn owed(&self) -> Vec<Box<dyn AnyPromise>> {
        let mut owed = (self.promises)();
        owed.extend(self.tells.map(|order| Box::new(TellsInOrder::of(order)) as Box<dyn AnyPromise>));
        owed
    }

    /// All that it is held to: what it promises itself, and the standard promises that are not among that.
    pub fn held_to(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::with_standard(self.owed(), &self.opts_out)
    }

    /// The code of one process, ready to be polled.
    pub fn actor(&self, zk: AnyZooKeeper, probe: AnyProbe, part: Part) -> Actor {
        match &self.code {
            Code::Actor(actor) | Code::Programs { explored: actor, .. } => actor(zk, probe, part),
        }
    }

    /// The same, for an engine that explores nothing.
    pub fn actor_once(&self, zk: AnyZooKeeper, probe: AnyProbe, part: Part) -> Actor {
        match &self.code {
            Code::Actor(actor) | Code::Programs { once: actor, .. } => actor(zk, probe, part),
        }
    }

    /// What is on trial, if it is a program.
    pub fn programs(&self) -> Option<Arc<dyn Programs>> {
        match &self.code {
            Code::Actor(_) => None,
            Code::Programs { programs, .. } => Some(programs.clone()),
        }
    }
}

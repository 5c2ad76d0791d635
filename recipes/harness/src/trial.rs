//! Trials: a recipe set up, driven by actors, and held to its promises.
//!
//! ```
//! use zk_api::{CreateMode, Data, Error, ZPath, ZooKeeper};
//! use zk_harness::common::{AnyProbe, AnyZooKeeper};
//! use zk_harness::promises::NoLitter;
//! use zk_harness::trial::{Bounds, Role, Trial};
//!
//! /// Each process signs the book, and strikes its name out again.
//! async fn visit(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), Error> {
//!     let entry = ZPath::parse(&format!("/book/{}", role.me)).expect("a path");
//!     for _ in 0..role.rounds {
//!         zk.create(&entry, Data::NULL, CreateMode::Ephemeral).await?;
//!         probe.work().await;
//!         zk.delete(&entry, -1).await?;
//!     }
//!     Ok(())
//! }
//! let trial = Trial::new("book", visit)
//!     .summary("A visitors' book.")
//!     .setup(["/book"])
//!     .promises(|| vec![Box::new(NoLitter::default())])
//!     .bounds(Bounds { drops: 1, ..Bounds::clients(2) });
//! assert_eq!(trial.about.bounds.rounds, 1);
//! ```

use crate::common::{AnyProbe, AnyZooKeeper};
use crate::event::{ActorId, End};
use crate::heard::Heard;
use crate::program::Programs;
use crate::promise::AnyPromise;
use crate::promises::{self, Order, TellsInOrder};
use crate::threads;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::Text;

/// Makes the promises that a trial is held to, anew for each run.
pub type Promises = Arc<dyn Fn() -> Vec<Box<dyn AnyPromise>> + Send + Sync>;

/// A recipe under trial: what one client process does with it, what is promised, and how it differs from the defaults.
/// Each field has a method of the same name that sets it; call it after [`Trial::new`].
#[derive(Clone)]
pub struct Trial {
    /// What is on trial.
    pub about: About,
    /// Persistent znodes that exist before any actor starts, parents first. Whatever else comes to be is the
    /// [trial's](Trial::owns); on a live ensemble, only what is below them.
    pub setup: Vec<Text>,
    /// The recipe's promises, in the order of the reports. Besides these, only the [standard
    /// promises](crate::promises::STANDARD) are judged, and a standard promise that nothing puts to the test leaves no
    /// gap in the verdict.
    pub promises: Promises,
    /// What its actors must report, and in which order; owed in addition to the promises, whatever those are.
    pub tells: Option<Order>,
    /// The [standard promises](crate::promises::STANDARD) that this trial opts out of; every trial is held to the
    /// others besides its own.
    pub opts_out: Vec<&'static str>,
    /// The scenario that it is made for, as keys of a scenario file with their values: `("clients", "3")`. Values in a
    /// file or on the command line take precedence. A recipe that is right only under assumptions on the scenario says
    /// so here and in its summary.
    pub scenario: Vec<(&'static str, &'static str)>,
    /// Which engines must find what [`About::breaks`] names.
    pub found_by: FoundBy,
    /// For a variant known to be wrong: promises that it is known to keep all the same.
    pub keeps: Vec<&'static str>,
    /// Whether any promise counts the clients that a change wakes. If none does, a model never reports
    /// [`GroundTruth::Fired`](crate::event::GroundTruth::Fired), and takes a watch from its server once nobody waits
    /// for it, which no promise can see and which leaves fewer states. A recipe that asks to remove or check watches
    /// does see it.
    pub counts_wakes: bool,
    /// Whether the client library opens a new session by itself once it is told that the previous one has expired, and
    /// lets the same code go on with it, as Go's `go-zookeeper`, Python's `kazoo` and Curator do. Until then, every
    /// request fails as on the expired session; afterwards the client is connected under another session id, without
    /// the watches and ephemeral znodes of the previous session. The library also does so after the code has ended,
    /// until the process ends.
    pub renews_session: bool,
    /// Whether a model tells its code one thing at a time, and lets it finish with that before the next one comes. It
    /// does so with a program, whose client library stands in between.
    pub hears_singly: bool,
    /// What an administrator may set a znode's data to, where a model's bounds allow changes by one. An administrator
    /// may also delete any znode of the trial that has no children. In a run, an administrator writes [`ADMIN_DATA`].
    pub administered: Vec<Text>,
    /// How many children these znodes of the setup have had so far, which is the number that the next sequential child
    /// gets.
    pub counters: Vec<(Text, i32)>,
    /// Which words are heard by what is owed, where that is known: others are named beside the verdict.
    pub heard: Option<Arc<Heard>>,
    /// What one client process does.
    pub code: Code,
}

/// What one client process does.
#[derive(Clone)]
pub enum Code {
    /// Code over the trait [`ZooKeeper`](zk_api::ZooKeeper).
    Actor(Act),
    /// A program in a process of its own, and the same program as code, for engines that do not exchange bytes:
    /// `explored` for searches, which come back to one history again and again, and `once` for a single run.
    Programs { programs: Arc<dyn Programs>, explored: Act, once: Act },
}

/// Makes the code of one life.
pub type Act = Arc<dyn Fn(AnyZooKeeper, AnyProbe, Role) -> Actor + Send + Sync>;

impl Code {
    fn of<F>(code: impl Fn(AnyZooKeeper, AnyProbe, Role) -> F + Send + Sync + 'static) -> Code
    where
        F: Future<Output: Into<End>> + Send + 'static,
    {
        Code::Actor(Arc::new(move |zk, probe, role| {
            let done = code(zk, probe, role);
            Box::pin(async move { done.await.into() })
        }))
    }
}

impl Trial {
    /// A trial called `name`, of code that does what one client process does with a recipe. The code must not close the
    /// session when it ends: what it leaves behind is judged. A program that would end its process
    /// (`std::process::exit`) returns [`End::Exited`] here: the engine's process is not its own, and comes to no
    /// verdict if it is ended. For the same reason it must keep nothing in a `static`: all client processes of all runs
    /// would share it, and what it locks would be locked for all of them.
    ///
    /// A recipe may submit a request as its future is dropped (a lock deletes its znode). When an engine drops the
    /// future, because the process is killed or the run is over, the session discards such requests.
    pub fn new<F>(
        name: &'static str,
        code: impl Fn(AnyZooKeeper, AnyProbe, Role) -> F + Send + Sync + 'static,
    ) -> Trial
    where
        F: Future<Output: Into<End>> + Send + 'static,
    {
        Trial::of(name, Code::of(code))
    }

    /// Replaces the trial's code.
    pub fn code<F>(
        mut self,
        code: impl Fn(AnyZooKeeper, AnyProbe, Role) -> F + Send + Sync + 'static,
    ) -> Trial
    where
        F: Future<Output: Into<End>> + Send + 'static,
    {
        self.code = Code::of(code);
        self
    }

    /// A trial called `name`, of code in either form.
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
            heard: None,
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
    /// For a variant known to be wrong: what breaks, and by which fault. `None` means that the trial is expected to
    /// hold.
    pub breaks: Option<Breaks>,
    /// The smallest bounds of the model that show what there is to show.
    pub bounds: Bounds,
    /// Which reductions of the model a test has shown to give the same verdict.
    pub reductions: Reductions,
}

impl About {
    /// A recipe of your own, which is expected to hold. Unless [`bounds`](About::bounds) says otherwise, its model has
    /// two clients, one connection that drops, one session that expires, and views that lag by one transaction.
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
    /// The exhaustive model at its bounds. Seeds need not find the defect, as it is too rare or takes a fault that they
    /// do not have.
    Model,
    /// Seeds; the model has no such fault.
    Chaos,
    /// Both do.
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
    /// Whether actors write to the outside resources: see [`Role::effects`].
    pub effects: bool,
}

impl Bounds {
    /// `clients` clients, one round, no faults.
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

/// One actor's role in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Role {
    /// The actor's id.
    pub me: ActorId,
    /// How many client processes there are.
    pub clients: u16,
    /// How many rounds it is to do; in a later life, how many are left. A round of the main thread is done once it was
    /// [left](crate::event::Observation::Leaves) or has [ended](crate::event::Observation::Ends).
    pub rounds: u8,
    /// Whether it is to write to the outside resources while it holds something. This costs a model many states;
    /// without it, a scheduling point takes the write's place.
    pub effects: bool,
}

/// An actor's code, ready to be polled.
pub type Actor = Pin<Box<dyn Future<Output = End> + Send>>;

impl Trial {
    /// Its own promises, in the order of the reports; the last is that its actors report what they must, where an order
    /// is set.
    pub fn owed(&self) -> Vec<Box<dyn AnyPromise>> {
        let mut owed = (self.promises)();
        owed.iter_mut().for_each(|promise| promise.begins_with(&self.setup));
        owed.extend(self.tells.map(|order| Box::new(TellsInOrder::of(order)) as Box<dyn AnyPromise>));
        owed
    }

    /// All promises that it is held to: its own, and the other standard ones unless it opts out of them.
    pub fn held_to(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::with_standard(self.owed(), &self.opts_out)
    }

    /// Whether a znode is what became of the trial: none of its setup, and none that is in every ensemble.
    pub fn owns(&self, path: &str) -> bool {
        let is_everywhere = path == "/" || path.split('/').nth(1) == Some("zookeeper");
        !is_everywhere && !self.setup.iter().any(|own| **own == *path)
    }

    /// The code of one process, ready to be polled.
    pub fn actor(&self, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Actor {
        let (Code::Actor(code) | Code::Programs { explored: code, .. }) = &self.code;
        threads::run(probe, |probe| code(zk, probe, role))
    }

    /// As [`actor`](Trial::actor), for an engine that explores nothing.
    pub fn actor_once(&self, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Actor {
        let (Code::Actor(code) | Code::Programs { once: code, .. }) = &self.code;
        threads::run(probe, |probe| code(zk, probe, role))
    }

    /// What is on trial, if it is a program.
    pub fn programs(&self) -> Option<Arc<dyn Programs>> {
        match &self.code {
            Code::Actor(_) => None,
            Code::Programs { programs, .. } => Some(programs.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promises::{NoFailure, OF_LOCKS};

    fn visit() -> Trial {
        Trial::new("book", async |_, _, _| End::Done).setup(["/book", "/book/visitors"])
    }

    #[test]
    fn a_trial_owns_what_is_neither_of_its_setup_nor_in_every_ensemble() {
        let trial = visit();
        let paths = ["/", "/zookeeper", "/zookeeper/quota", "/book", "/book/visitors", "/book/1", "/zoo"];
        let owned = paths.into_iter().filter(|path| trial.owns(path)).collect::<Vec<_>>();
        assert_eq!(owned, ["/book/1", "/zoo"]);
        assert!(trial.owns("/book/zookeeper"));
    }

    #[test]
    fn its_promises_know_what_it_sets_up_however_they_are_wrapped() {
        use crate::event::{ActorId, Event, Observation};
        use crate::promises::{Measured, Of, Undisturbed, Views};
        let views = || Views::committed("/book", Of::Names);
        let trial = visit().promises(move || {
            vec![Box::new(views()), Box::new(Measured(views())), Box::new(Undisturbed::of(views()))]
        });
        let actor = ActorId { process: 0, life: 0, thread: 0 };
        for mut promise in trial.owed() {
            for (shown, breaks) in [("/book{visitors}", 0), ("/book{authors}", 1)] {
                let (mut found, what) = (Vec::new(), Observation::note(crate::words::SEES, shown, 0));
                promise.see(&Event::Observed { actor, what }, &mut found);
                assert_eq!(found.len(), breaks, "{shown}: {found:?}");
            }
        }
    }

    #[test]
    fn the_order_in_which_it_tells_is_owed_besides_its_promises() {
        let names = |trial: Trial| trial.owed().iter().map(|promise| promise.name()).collect::<Vec<_>>();
        let trial = visit().promises(|| vec![Box::new(NoFailure)]);
        assert_eq!(names(trial.clone()), ["no-failure"]);
        assert_eq!(names(trial.tells(OF_LOCKS)), ["no-failure", "tells-in-order"]);
    }
}

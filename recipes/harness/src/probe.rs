//! How a trial reports what it observes, and what else it needs from the engine that runs it.
//!
//! ```
//! use zk_harness::event::Observation;
//! use zk_harness::probe::Probe;
//! # use std::pin::pin;
//! # use std::sync::Mutex;
//! # use std::task::{Context, Waker};
//! # use zk_api::{Pending, Text, Zxid};
//! # use zk_harness::event::Resource;
//! # use zk_harness::probe::Task;
//! # #[derive(Default)]
//! # struct Told(Mutex<Vec<String>>);
//! # impl Probe for Told {
//! #     fn observe_of(&self, _: u8, what: Observation) {
//! #         self.0.lock().unwrap().push(what.to_string());
//! #     }
//! #     fn point(&self) -> Pending<()> {
//! #         Pending::ready(())
//! #     }
//! #     fn work(&self) -> Pending<()> {
//! #         Pending::ready(())
//! #     }
//! #     fn write_of(&self, _: u8, _: Resource, _: Option<Zxid>) -> Pending<bool> {
//! #         Pending::ready(true)
//! #     }
//! #     fn guid(&self) -> Text {
//! #         "g1".into()
//! #     }
//! #     fn spawn(&self, _: Task) {}
//! #     fn thread_ends(&self, _: u8) {}
//! # }
//!
//! async fn section(probe: &impl Probe) {
//!     probe.observe(Observation::Enters { lock: "/lock".into() });
//!     probe.work().await;
//!     probe.observe(Observation::Leaves { lock: "/lock".into() });
//! }
//! # let probe = Told::default();
//! # assert!(pin!(section(&probe)).poll(&mut Context::from_waker(Waker::noop())).is_ready());
//! # let told = probe.0.into_inner().unwrap();
//! // What a timeline shows of it:
//! assert_eq!(told, ["enters the critical section of /lock", "leaves the critical section of /lock"]);
//! ```

use crate::event::{Observation, Resource};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};

/// How many things a process may ask of its engine in one turn, which lasts until the process waits for what comes
/// next. A turn that asks for more is taken to be endless.
pub const ASKS_PER_TURN: u32 = 5_000;
/// How often its tasks may be polled in one turn.
pub const POLLS_PER_TURN: u32 = 20_000;

/// A task of a client process.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the engine offers to a trial besides ZooKeeper. `Arc<dyn Probe>` is a `Probe` as well.
pub trait Probe: Send + Sync {
    /// Reports an observation to the promises, as the main thread.
    fn observe(&self, what: Observation) {
        self.observe_of(0, what);
    }

    /// Reports an observation to the promises, as a thread of this process.
    fn observe_of(&self, thread: u8, what: Observation);

    /// A scheduling point: others may act before it is over. There must be one between entering and leaving.
    fn point(&self) -> Pending<()>;

    /// Works for a while, inside a critical section for example. In chaos the duration is drawn on the scale of the
    /// session timeout, as shorter work would never show anything; in a model it is a scheduling point.
    fn work(&self) -> Pending<()>;

    /// Writes to the outside resource; resolves to whether the write was accepted. The write travels, and arrives even
    /// if the writer has crashed meanwhile.
    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.write_of(0, resource, token)
    }

    /// As [`write`](Probe::write), as a thread of this process.
    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool>;

    /// A text that no other call returns, for names that must be found again. It has no `-` or `_` in it.
    fn guid(&self) -> Text;

    /// Runs another task of this process. It goes on when the main one has come to its end, unless that is for want of
    /// its session. What it then tells must be told by [`thread`](Probe::thread), with a number above 0: once the main
    /// thread has come to its end, it is a panic if a task tells by its probe what the library has
    /// [words](crate::words) for, or writes by it, or still has, or waits for, what it told by it.
    fn spawn(&self, task: Task);

    /// For engines: the task that was the last to tell as this thread has come to its end.
    fn thread_ends(&self, thread: u8);

    /// The probe of another thread of this process, which asks for something of its own on the same session: what it
    /// says and writes is kept apart from what others do. Run the thread with [`spawn`](Probe::spawn).
    fn thread(&self, thread: u8) -> OfThread<Self>
    where
        Self: Sized + Clone,
    {
        OfThread { probe: self.clone(), thread }
    }
}

/// The [`Probe`] of one thread of a process.
#[derive(Clone, Debug)]
pub struct OfThread<P> {
    probe: P,
    thread: u8,
}

impl<P: Probe> Probe for OfThread<P> {
    fn observe(&self, what: Observation) {
        self.probe.observe_of(self.thread, what);
    }
    fn observe_of(&self, thread: u8, what: Observation) {
        self.probe.observe_of(thread, what);
    }
    fn point(&self) -> Pending<()> {
        self.probe.point()
    }
    fn work(&self) -> Pending<()> {
        self.probe.work()
    }
    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.probe.write_of(self.thread, resource, token)
    }
    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.probe.write_of(thread, resource, token)
    }
    fn guid(&self) -> Text {
        self.probe.guid()
    }
    fn spawn(&self, task: Task) {
        self.probe.spawn(task);
    }
    fn thread_ends(&self, thread: u8) {
        self.probe.thread_ends(thread);
    }
}

impl<P: Probe + ?Sized> Probe for Arc<P> {
    fn observe(&self, what: Observation) {
        (**self).observe(what);
    }
    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        (**self).write(resource, token)
    }
    fn observe_of(&self, thread: u8, what: Observation) {
        (**self).observe_of(thread, what);
    }
    fn point(&self) -> Pending<()> {
        (**self).point()
    }
    fn work(&self) -> Pending<()> {
        (**self).work()
    }
    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        (**self).write_of(thread, resource, token)
    }
    fn guid(&self) -> Text {
        (**self).guid()
    }
    fn spawn(&self, task: Task) {
        (**self).spawn(task);
    }
    fn thread_ends(&self, thread: u8) {
        (**self).thread_ends(thread);
    }
}

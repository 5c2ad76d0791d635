//! How a trial tells what it observes, and what else it needs of the engine that runs it.

use crate::event::{Observation, Resource};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};

/// How much a process may ask of its engine in one turn, which is what it does before it waits for what comes next.
/// More is no end.
pub const ASKS_PER_TURN: u32 = 5_000;
/// How often its tasks may be polled in one turn.
pub const POLLS_PER_TURN: u32 = 20_000;

/// A task of a client process.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the engine offers to a trial besides ZooKeeper. `Arc<dyn Probe>` is a `Probe` as well.
pub trait Probe: Send + Sync {
    /// Tells the promises, as the main thread.
    fn observe(&self, what: Observation) {
        self.observe_of(0, what);
    }

    /// Tells the promises, as a thread of this process.
    fn observe_of(&self, thread: u8, what: Observation);

    /// A scheduling point: others may act before it is over. Enter and leave need one between them.
    fn point(&self) -> Pending<()>;

    /// Works for a while, inside a critical section for one. In chaos the while is drawn on the scale of the
    /// session timeout, or nothing would ever be seen; in a model it is a scheduling point.
    fn work(&self) -> Pending<()>;

    /// Writes to the outside resource; gives whether the write was accepted. The write travels, and arrives
    /// even if the writer has crashed meanwhile.
    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.write_of(0, resource, token)
    }

    /// The same, as a thread of this process.
    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool>;

    /// A text that no other call gives, for names that must be found again. No `-` or `_` in it.
    fn guid(&self) -> Text;

    /// Runs another task of this process.
    fn spawn(&self, task: Task);

    /// The probe of another thread of this process, which asks for something of its own on the same session: what it says and
    /// writes is told apart from what others do. [`spawn`](Probe::spawn) runs it.
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
}

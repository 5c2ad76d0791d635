//! How a trial tells what it observes, and what else it needs of the engine that runs it.

use crate::event::{Observation, Resource};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};

/// A task of a client process.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the engine offers to a trial besides ZooKeeper. `Arc<dyn Probe>` is a `Probe` as well.
pub trait Probe: Send + Sync {
    /// Tells the promises.
    fn observe(&self, what: Observation);

    /// A scheduling point: others may act before it is over. Enter and leave need one between them.
    fn point(&self) -> Pending<()>;

    /// Works for a while, inside a critical section for one. In chaos the while is drawn on the scale of the
    /// session timeout, or nothing would ever be seen; in a model it is a scheduling point.
    fn work(&self) -> Pending<()>;

    /// Writes to the outside resource; gives whether the write was accepted. The write travels, and arrives
    /// even if the writer has crashed meanwhile.
    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool>;

    /// A text that no other call gives, for names that must be found again. No `-` or `_` in it.
    fn guid(&self) -> Text;

    /// Runs another task of this process.
    fn spawn(&self, task: Task);
}

impl<P: Probe + ?Sized> Probe for Arc<P> {
    fn observe(&self, what: Observation) {
        (**self).observe(what);
    }
    fn point(&self) -> Pending<()> {
        (**self).point()
    }
    fn work(&self) -> Pending<()> {
        (**self).work()
    }
    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        (**self).write(resource, token)
    }
    fn guid(&self) -> Text {
        (**self).guid()
    }
    fn spawn(&self, task: Task) {
        (**self).spawn(task);
    }
}

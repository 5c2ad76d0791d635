//! [`Probe`] for a replayed actor.

use crate::replay_runtime::ReplayRuntime;
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};
use zk_trials::event::{Observation, Resource};
use zk_trials::probe::{Probe, Task};

/// A probe whose points pass when a history says so.
#[derive(Clone, Debug)]
pub struct ModelProbe(pub Arc<ReplayRuntime>);

impl Probe for ModelProbe {
    fn observe_of(&self, thread: u8, what: Observation) {
        self.0.observe(thread, what);
    }

    fn point(&self) -> Pending<()> {
        self.0.point()
    }

    fn work(&self) -> Pending<()> {
        self.0.point()
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.0.write(thread, resource, token)
    }

    fn guid(&self) -> Text {
        self.0.guid()
    }

    fn spawn(&self, task: Task) {
        self.0.spawn(task);
    }
}

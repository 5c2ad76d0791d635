//! [`Probe`] for a replayed actor.

use crate::shell::Shell;
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};
use zk_trials::event::{Observation, Resource};
use zk_trials::probe::{Probe, Task};

/// A probe whose points pass when a history says so.
#[derive(Clone, Debug)]
pub struct ModelProbe(pub Arc<Shell>);

impl Probe for ModelProbe {
    fn observe(&self, what: Observation) {
        self.0.observe(what);
    }

    fn point(&self) -> Pending<()> {
        self.0.point()
    }

    fn work(&self) -> Pending<()> {
        self.0.point()
    }

    fn write(&self, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.0.write(resource, token)
    }

    fn guid(&self) -> Text {
        self.0.guid()
    }

    fn spawn(&self, task: Task) {
        self.0.spawn(task);
    }
}

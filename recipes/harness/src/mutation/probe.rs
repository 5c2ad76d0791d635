//! The probe of a mutated process.

use super::kind::Kind;
use super::life::{Life, Relay};
use crate::event::{Observation, Resource};
use crate::probe::{Probe, Task};
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};

/// What every process has for a guid.
pub const SAME: &str = "same";

/// A probe that tells what its process would tell if it were wrong.
pub struct Told {
    pub probe: Arc<dyn Probe>,
    pub life: Arc<Life>,
}

impl Probe for Told {
    fn observe_of(&self, thread: u8, what: Observation) {
        let says = self.life.says(thread, &what);
        if says == Relay::Twice {
            self.probe.observe_of(thread, what.clone());
        }
        if says != Relay::Nothing {
            self.probe.observe_of(thread, what);
        }
    }

    fn point(&self) -> Pending<()> {
        self.probe.point()
    }

    fn work(&self) -> Pending<()> {
        self.probe.work()
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.probe.write_of(thread, resource, token)
    }

    fn guid(&self) -> Text {
        let guid = self.probe.guid();
        self.life.gives_guid(&guid);
        if self.life.counts(Kind::SameGuid, |_| "guid".to_owned()) { SAME.into() } else { guid }
    }

    fn spawn(&self, task: Task) {
        self.probe.spawn(task);
    }

    fn thread_ends(&self, thread: u8) {
        self.probe.thread_ends(thread);
    }
}

//! [`SimProbe`]: what a trial says, and what else it needs.

use crate::mailbox::{Ask, Mailbox};
use std::sync::Arc;
use zk_api::{Pending, Text, Zxid};
use zk_trials::event::{Observation, Resource};
use zk_trials::probe::{Probe, Task};

/// The probe of one life of a client process.
#[derive(Clone)]
pub struct SimProbe(pub Arc<Mailbox>);

impl Probe for SimProbe {
    fn observe_of(&self, thread: u8, what: Observation) {
        self.0.ask(Ask::Observe { thread, what });
    }

    fn point(&self) -> Pending<()> {
        let (completer, pending) = Pending::slot();
        self.0.ask(Ask::Point { completer });
        pending
    }

    fn work(&self) -> Pending<()> {
        let (completer, pending) = Pending::slot();
        self.0.ask(Ask::Work { completer });
        pending
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        let (completer, pending) = Pending::slot();
        self.0.ask(Ask::Write { thread, resource, token, completer });
        pending
    }

    fn guid(&self) -> Text {
        self.0.guid()
    }

    fn spawn(&self, task: Task) {
        self.0.ask(Ask::Spawn(task));
    }
}

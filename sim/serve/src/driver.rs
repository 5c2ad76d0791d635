//! Drives the [`Core`]: one task that owns it, fed by queues that are bounded.

use crate::core::Core;
use crate::message::ToCore;
use crate::time::Nanos;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// So many messages of connections may wait for the server. Who has one more waits.
pub(crate) const QUEUE: usize = 1024;

/// After so many messages in a row others get the processor.
const IN_A_ROW: usize = 128;

/// What somebody asks the server or does to it, at this time. Tells whether it goes on after that.
pub(crate) type Errand = Box<dyn FnOnce(&mut Core, Nanos) -> bool + Send>;

/// The task that owns the server.
pub(crate) struct Driver {
    pub(crate) core: Core,
    pub(crate) started: Instant,
    pub(crate) messages: mpsc::Receiver<ToCore>,
    pub(crate) errands: mpsc::Receiver<Errand>,
    /// How often each server has started, while it is up.
    pub(crate) up: Vec<watch::Sender<Option<u64>>>,
    /// Whether all have served at once.
    pub(crate) served: watch::Sender<bool>,
}

impl Driver {
    /// Runs until it is told to stop, or nobody is left who could.
    pub(crate) async fn run(mut self) {
        loop {
            self.pass();
            self.tell_up();
            let due = self.core.next_due().map(|due| self.started + Duration::from_nanos(due));
            tokio::select! {
                biased;
                errand = self.errands.recv() => {
                    let now = self.now();
                    if !errand.is_some_and(|errand| errand(&mut self.core, now)) {
                        return;
                    }
                }
                () = sleep_until(due.unwrap_or(self.started)), if due.is_some() => {}
                // A paused process reads nothing: the queue fills, and then nobody reads sockets any more.
                message = self.messages.recv(), if !self.core.is_paused() => match message {
                    Some(message) => self.take(message),
                    None => return,
                },
            }
        }
    }

    fn now(&self) -> Nanos {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn tell_up(&self) {
        for (told, up) in self.up.iter().zip(self.core.up()) {
            told.send_if_modified(|before| std::mem::replace(before, up) != up);
        }
        if !*self.served.borrow() && self.core.all_serve() {
            self.served.send_replace(true);
        }
    }

    /// Lets happen what is due. What waits in the queue comes first: no client is silent because we are late.
    pub(crate) fn pass(&mut self) {
        if self.core.next_due().is_some_and(|due| due <= self.now()) {
            self.take_waiting();
        }
        let now = self.now();
        self.core.pass(now);
    }

    fn take_waiting(&mut self) {
        for _ in 0..self.messages.len() {
            if self.core.is_paused() {
                return;
            }
            let Ok(next) = self.messages.try_recv() else { return };
            self.take_one(next);
        }
    }

    /// Takes a message and those that wait behind it.
    fn take(&mut self, first: ToCore) {
        self.take_one(first);
        for _ in 1..IN_A_ROW {
            let Ok(next) = self.messages.try_recv() else { return };
            self.take_one(next);
        }
    }

    /// Takes a message, at the time at which its turn has come; of several frames each has its own.
    fn take_one(&mut self, message: ToCore) {
        match message {
            ToCore::Frames { conn, frames } => {
                for frame in frames {
                    let now = self.now();
                    self.core.take(now, ToCore::Frames { conn, frames: vec![frame] });
                }
            }
            other => {
                let now = self.now();
                self.core.take(now, other);
            }
        }
    }
}

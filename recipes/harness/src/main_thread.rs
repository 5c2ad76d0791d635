//! The main thread of a process: what is said and written by its probe, and by nobody once it has ended.

use crate::common::{AnyProbe, AnyZooKeeper};
use crate::event::{End, Observation, Resource};
use crate::probe::{Probe, Task};
use crate::trial::{Act, Actor, Role};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use zk_api::{Pending, Text, Zxid};

thread_local! {
    /// Which task of a process is polled, as they were spawned; 0 is the main one.
    static POLLED: Cell<u32> = const { Cell::new(0) };
}

/// The code of one life. Panics in it if what a task waits for, or has, by the main thread's probe would be forgotten with that
/// thread's end: as if nobody waited, and nobody had it.
pub(crate) fn actor(code: &Act, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Actor {
    let said = Arc::new(Mutex::new(Said::default()));
    let code = code(zk, Arc::new(OfMain { probe, said: said.clone() }), role);
    Box::pin(async move {
        let end = code.await;
        if end != End::SessionLost {
            with(&said, Said::ends);
        }
        end
    })
}

/// What the main thread's probe has said.
#[derive(Debug, Default)]
struct Said {
    has_ended: bool,
    spawned: u32,
    running: BTreeSet<u32>,
    /// What is not over yet of what tasks have said, by its subject.
    open: BTreeMap<Text, (u32, Observation)>,
}

impl Said {
    /// Gives what is wrong with it, as [`ends`](Said::ends) does.
    fn says(&mut self, task: u32, what: &Observation) -> Option<String> {
        let is_over = match what {
            Observation::Attempts { .. }
            | Observation::Granted { .. }
            | Observation::Shares { .. }
            | Observation::Enters { .. }
            | Observation::Begins { .. } => false,
            Observation::Leaves { .. }
            | Observation::Released { .. }
            | Observation::GivesUp { .. }
            | Observation::Ends { .. } => true,
            Observation::Notes { .. } => return self.has_ended.then(|| refusal(what)),
        };
        if is_over || task == 0 {
            self.open.remove(what.subject());
        } else {
            self.open.insert(what.subject().clone(), (task, what.clone()));
        }
        self.has_ended.then(|| refusal(what))
    }

    fn ends(&mut self) -> Option<String> {
        self.has_ended = true;
        let mut open = self.open.values().filter(|(task, _)| self.running.contains(task));
        open.next().map(|(_, what)| refusal(what))
    }
}

fn refusal(what: &dyn std::fmt::Display) -> String {
    format!(
        "a task tells by the probe of the main thread, which has ended: {what}; give it probe.thread(n), n > 0"
    )
}

/// Panics with what is wrong.
fn with(said: &Mutex<Said>, does: impl FnOnce(&mut Said) -> Option<String>) {
    let wrong = does(&mut said.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(wrong) = wrong {
        panic!("{wrong}");
    }
}

/// The probe that the code of a process is given.
struct OfMain {
    probe: AnyProbe,
    said: Arc<Mutex<Said>>,
}

impl Probe for OfMain {
    fn observe_of(&self, thread: u8, what: Observation) {
        if thread == 0 {
            with(&self.said, |said| said.says(POLLED.get(), &what));
        }
        self.probe.observe_of(thread, what);
    }

    fn point(&self) -> Pending<()> {
        self.probe.point()
    }

    fn work(&self) -> Pending<()> {
        self.probe.work()
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        if thread == 0 {
            with(&self.said, |said| said.has_ended.then(|| refusal(&"a write")));
        }
        self.probe.write_of(thread, resource, token)
    }

    fn guid(&self) -> Text {
        self.probe.guid()
    }

    fn spawn(&self, task: Task) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.spawned += 1;
        let number = said.spawned;
        said.running.insert(number);
        drop(said);
        self.probe.spawn(Box::pin(Spawned { number, task, said: self.said.clone() }));
    }
}

/// A task that is not the main one.
struct Spawned {
    number: u32,
    task: Task,
    said: Arc<Mutex<Said>>,
}

impl Future for Spawned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let _main = Restored(POLLED.replace(self.number));
        let polled = self.task.as_mut().poll(context);
        if polled.is_ready() {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            said.running.remove(&self.number);
        }
        polled
    }
}

/// Sets back which task is polled, even if that one panics.
struct Restored(u32);

impl Drop for Restored {
    fn drop(&mut self) {
        POLLED.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::Said;
    use crate::event::Observation;
    use std::collections::BTreeSet;

    fn said_by(task: u32, all: &[Observation]) -> Said {
        let mut said = Said { running: BTreeSet::from([1]), ..Said::default() };
        assert!(all.iter().all(|what| said.says(task, what).is_none()), "its main thread goes on");
        said
    }

    #[test]
    fn only_what_is_open_by_a_task_that_runs_is_refused_at_the_end() {
        let lock = || "/lock".into();
        let asks = Observation::Attempts { lock: lock() };
        let gives_up = Observation::GivesUp { lock: lock(), why: "late".into() };
        let takes = Observation::note("takes", "/queue", 1);
        assert!(said_by(1, std::slice::from_ref(&asks)).ends().is_some());
        assert!(said_by(1, &[asks.clone(), gives_up]).ends().is_none(), "it is over");
        assert!(said_by(2, std::slice::from_ref(&asks)).ends().is_none(), "that one has ended");
        assert!(said_by(0, std::slice::from_ref(&asks)).ends().is_none(), "the main one's");
        let mut said = said_by(1, std::slice::from_ref(&takes));
        assert!(said.ends().is_none(), "it is a note");
        assert!(said.says(1, &takes).is_some() && said.says(0, &asks).is_some(), "too late");
    }
}

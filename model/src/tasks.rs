//! The tasks of a replayed process, and which of them are ready.
//!
//! A process with one task runs it whenever it is woken. Where there are several, a woken task may stand still while
//! the others go on, as threads do: the task that an input wakes runs in the same step if it is the only one that is
//! ready, and every other waits for a step of its own. A task that stands still alone and the input that is late for it
//! are the same thing, so nothing is lost by that, but where another timer is over meanwhile: with two of those, whom
//! the one wakes waits for a step of its own, too. A task that asks something after its session's end hears that it
//! fails in a step of its own, as others may see what it has done before.

use crate::replay_runtime::ReplayRuntime;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use zk_harness::event::End;
use zk_harness::probe::POLLS_PER_TURN;
use zk_harness::trial::Actor;

/// A process's tasks while they run, numbered as they were spawned.
pub struct Tasks {
    tasks: BTreeMap<u8, Task>,
    spawned: u8,
    runtime: Arc<ReplayRuntime>,
    /// How the main task has ended, if it did in this step.
    pub end: Option<End>,
}

struct Task {
    code: Pin<Box<dyn Future<Output = Option<End>> + Send>>,
    woken: Arc<Woken>,
}

/// Tells whether a task was woken.
#[derive(Debug)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A process that never ends its step: each time its task is polled, it wakes itself.
#[derive(Debug)]
pub struct RunsAway;

impl Tasks {
    /// None yet.
    pub fn new(runtime: Arc<ReplayRuntime>) -> Tasks {
        Tasks { tasks: BTreeMap::new(), spawned: 0, runtime, end: None }
    }

    /// How many are left.
    pub fn left(&self) -> usize {
        self.tasks.len()
    }

    /// Those that could run, ascending.
    pub fn ready(&self) -> impl Iterator<Item = u8> {
        let ready = self.tasks.iter().filter(|(_, task)| task.woken.0.load(Ordering::Relaxed));
        ready.map(|(number, _)| *number)
    }

    /// The main task begins, and runs up to where it waits.
    pub fn begin(&mut self, actor: Actor) -> Result<(), RunsAway> {
        self.add(Box::pin(async { Some(actor.await) }))?;
        self.run(0)
    }

    fn add(&mut self, code: Pin<Box<dyn Future<Output = Option<End>> + Send>>) -> Result<(), RunsAway> {
        let number = self.spawned;
        self.spawned = number.checked_add(1).ok_or(RunsAway)?;
        self.tasks.insert(number, Task { code, woken: Arc::new(Woken(AtomicBool::new(true))) });
        Ok(())
    }

    /// A task runs up to where it waits, or lets others run.
    pub fn run(&mut self, number: u8) -> Result<(), RunsAway> {
        for _ in 0..POLLS_PER_TURN {
            let Some(task) = self.tasks.get_mut(&number) else { return Ok(()) };
            task.woken.0.store(false, Ordering::Relaxed);
            let waker = Waker::from(task.woken.clone());
            if let Poll::Ready(end) = task.code.as_mut().poll(&mut Context::from_waker(&waker)) {
                self.end = self.end.or(end);
                self.tasks.remove(&number);
            }
            for spawned in self.runtime.take_spawned() {
                self.add(Box::pin(async {
                    spawned.await;
                    None
                }))?;
            }
            let is_apart = self.runtime.refuse();
            self.runtime.shared_by(self.tasks.len());
            if is_apart || self.ready().ne([number]) {
                return Ok(());
            }
        }
        Err(RunsAway)
    }
}

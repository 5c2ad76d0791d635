//! A small executor for the actors: a ready list, a seeded pick, and caught panics.

use crate::choices::{Choices, Stream};
use crate::mailbox::Spin;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use zk_harness::event::End;

/// A task's code. The main task of a life ends with an [`End`], any other with `None`.
pub type Code = Pin<Box<dyn Future<Output = Option<End>> + Send>>;

/// Names a task; never used again.
pub type TaskId = u64;

/// Tasks of all processes, and which of them are ready.
#[derive(Default)]
pub struct Executor {
    tasks: BTreeMap<TaskId, Task>,
    ready: Arc<Mutex<Vec<TaskId>>>,
    next: TaskId,
}

struct Task {
    process: u16,
    code: Code,
    flag: Arc<Flag>,
    waker: Waker,
}

/// What a waker does: puts the task into the ready list once.
struct Flag {
    id: TaskId,
    queued: AtomicBool,
    ready: Arc<Mutex<Vec<TaskId>>>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push(self.id);
        }
    }
}

impl Executor {
    /// Adds a task of a process, ready to run.
    pub fn spawn(&mut self, process: u16, code: Code) {
        let id = self.next;
        self.next += 1;
        let flag = Arc::new(Flag { id, queued: AtomicBool::new(false), ready: self.ready.clone() });
        flag.wake_by_ref();
        let waker = Waker::from(flag.clone());
        self.tasks.insert(id, Task { process, code, flag, waker });
    }

    /// Whether any task may be ready.
    pub fn has_ready(&self) -> bool {
        !self.ready().is_empty()
    }

    /// Picks one of the ready tasks: the task and its process. A choice, where there is more than one.
    pub fn pick(&mut self, choices: &mut Choices) -> Option<(TaskId, u16)> {
        loop {
            let mut ready = self.ready();
            let at = match ready.len() {
                0 => return None,
                1 => 0,
                n => {
                    let process = self.tasks.get(&ready[0]).map_or(255, |t| t.process);
                    choices.below(Stream::Task, process.into(), n as u64) as usize
                }
            };
            let id = ready.remove(at);
            drop(ready);
            // A waker may outlive its task.
            if let Some(task) = self.tasks.get(&id) {
                return Some((id, task.process));
            }
        }
    }

    /// The processes that have ready tasks.
    pub fn ready_processes(&self) -> BTreeSet<u16> {
        self.ready().iter().filter_map(|id| self.tasks.get(id)).map(|task| task.process).collect()
    }

    /// A process's ready tasks, in the order in which they were spawned.
    pub fn ready_of(&self, process: u16) -> Vec<TaskId> {
        let is_its = |id: &&TaskId| self.tasks.get(id).is_some_and(|task| task.process == process);
        let mut ready: Vec<TaskId> = self.ready().iter().filter(is_its).copied().collect();
        ready.sort_unstable();
        ready
    }

    /// How many tasks a process has.
    pub fn tasks_of(&self, process: u16) -> usize {
        self.tasks.values().filter(|task| task.process == process).count()
    }

    /// Picks this ready task. It is to be polled, or to [go on](Executor::goes_on) some time.
    pub fn take(&mut self, id: TaskId) {
        self.ready().retain(|ready| *ready != id);
    }

    /// A task that was picked and not polled is ready again, if it is still there.
    pub fn goes_on(&mut self, id: TaskId) {
        if self.tasks.contains_key(&id) {
            self.ready().push(id);
        }
    }

    /// Polls a task that was picked: what it ended with, or what was caught.
    pub fn poll(&mut self, id: TaskId) -> Poll<Result<Option<End>, Caught>> {
        let Some(task) = self.tasks.get_mut(&id) else { return Poll::Pending };
        task.flag.queued.store(false, Ordering::Relaxed);
        let mut context = Context::from_waker(&task.waker);
        match quietly(|| task.code.as_mut().poll(&mut context)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(end)) => {
                self.discard(id);
                Poll::Ready(Ok(end))
            }
            Err(caught) => Poll::Ready(Err(caught)),
        }
    }

    /// Drops all tasks of a process, in the order in which they began.
    pub fn kill(&mut self, process: u16) {
        let ids: Vec<TaskId> =
            self.tasks.iter().filter(|(_, t)| t.process == process).map(|(id, _)| *id).collect();
        for id in ids {
            self.discard(id);
        }
    }

    fn discard(&mut self, id: TaskId) {
        let task = self.tasks.remove(&id);
        // What runs as a dead future is dropped is not judged: the process is gone.
        let _ = quietly(move || drop(task));
    }

    fn ready(&self) -> std::sync::MutexGuard<'_, Vec<TaskId>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was caught.
pub enum Caught {
    /// A task that would never have ended its turn.
    Spin,
    /// A panic, with its message and place.
    Panic(String),
}

thread_local! {
    /// Whether a panic of this thread is caught and told as a violation, so that it is not to be printed.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs code whose panic is caught and reported, and not printed.
pub fn quietly<T>(code: impl FnOnce() -> T) -> Result<T, Caught> {
    silence();
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(code));
    QUIET.set(before);
    result.map_err(|payload| caught(&*payload))
}

fn caught(payload: &(dyn Any + Send)) -> Caught {
    if payload.is::<Spin>() {
        return Caught::Spin;
    }
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    let place = PLACE.take();
    Caught::Panic(format!("{message} ({place}){}", of_threads(&place)))
}

/// What is to be done by who has panicked in starting a thread, which nothing in a run can wait for.
fn of_threads(place: &str) -> &'static str {
    let is_of_std = place.starts_with("std/src/") && place.contains("thread");
    if is_of_std {
        "; a recipe must not start threads: Probe::spawn runs another task of its process"
    } else {
        ""
    }
}

/// Puts in a panic hook, once, that is silent where the panic is caught.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                let place =
                    info.location().map(|at| format!("{}:{}:{}", short(at.file()), at.line(), at.column()));
                let place = place.unwrap_or_default();
                PLACE.set(place);
            } else {
                before(info);
            }
        }));
    });
}

/// A source file, from its crate on: where that lies differs from machine to machine.
fn short(file: &str) -> &str {
    if !file.starts_with('/') {
        return file;
    }
    let dir = file.rfind("/src/").map_or(file, |at| &file[..at]);
    &file[dir.rfind('/').map_or(0, |at| at + 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Record;
    use zk_api::Pending;

    fn choices() -> Choices {
        Choices::new(1, &Record::new(), false)
    }

    #[test]
    fn a_woken_task_is_ready_once_and_ends() {
        let mut executor = Executor::default();
        let (completer, pending) = Pending::<()>::slot();
        executor.spawn(
            3,
            Box::pin(async move {
                pending.await;
                Some(End::Done)
            }),
        );
        let (id, process) = executor.pick(&mut choices()).unwrap();
        assert_eq!(process, 3);
        assert!(matches!(executor.poll(id), Poll::Pending));
        assert!(executor.pick(&mut choices()).is_none());
        completer.complete(());
        let (id, _) = executor.pick(&mut choices()).unwrap();
        assert!(matches!(executor.poll(id), Poll::Ready(Ok(Some(End::Done)))));
        assert_eq!(executor.tasks.len(), 0);
    }

    #[test]
    fn a_panic_is_caught_with_its_message_and_place() {
        let mut executor = Executor::default();
        executor.spawn(0, Box::pin(async { panic!("no such luck") }));
        let (id, _) = executor.pick(&mut choices()).unwrap();
        let Poll::Ready(Err(Caught::Panic(what))) = executor.poll(id) else { panic!("it panicked") };
        assert!(what.starts_with("no such luck (") && what.contains("executor.rs"), "{what}");
    }

    #[test]
    fn a_place_is_the_same_wherever_a_crate_lies() {
        assert_eq!(short("src/lock.rs"), "src/lock.rs");
        assert_eq!(short("/home/runner/work/app/my-lock/src/lock.rs"), "my-lock/src/lock.rs");
        assert_eq!(short("/root/app/examples/lock.rs"), "lock.rs");
    }

    #[test]
    fn who_starts_a_thread_is_told_what_there_is_in_its_place() {
        assert!(of_threads("std/src/sys/thread/unix.rs:49:9").contains("Probe::spawn"));
        assert!(of_threads("std/src/thread/mod.rs:1:1").contains("Probe::spawn"));
        assert_eq!([of_threads("std/src/io/mod.rs:1:1"), of_threads("my/src/thread.rs:3:4")], ["", ""]);
    }

    #[test]
    fn killing_a_process_drops_its_futures_and_no_others() {
        let mut executor = Executor::default();
        let (mine, other) = (Arc::new(()), Arc::new(()));
        for (process, held) in [(1, mine.clone()), (2, other.clone())] {
            executor.spawn(
                process,
                Box::pin(async move {
                    let _held = held;
                    std::future::pending::<()>().await;
                    None
                }),
            );
        }
        executor.kill(1);
        assert_eq!((Arc::strong_count(&mine), Arc::strong_count(&other)), (1, 2));
        let (_, process) = executor.pick(&mut choices()).unwrap();
        assert_eq!(process, 2);
    }

    #[test]
    fn which_of_two_ready_tasks_runs_is_a_choice() {
        let first = |seed| {
            let mut executor = Executor::default();
            executor.spawn(0, Box::pin(async { None }));
            executor.spawn(0, Box::pin(async { None }));
            executor.pick(&mut Choices::new(seed, &Record::new(), false)).map(|(id, _)| id)
        };
        let picked: std::collections::BTreeSet<_> = (0..20).map(first).collect();
        assert_eq!(picked.len(), 2);
    }
}

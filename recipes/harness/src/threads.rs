//! The threads of a process, as its engine knows them by its tasks: what is told by the main thread's probe, and by
//! nobody once that one has ended; when the others end; and that none of them ends the engine.

use crate::common::AnyProbe;
use crate::event::{End, Observation, Resource};
use crate::probe::{Probe, Task};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::io::Write;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use zk_api::{Pending, Text, Zxid};

thread_local! {
    /// Which task of a process is polled, as they were spawned; 0 is the main one.
    static POLLED: Polled = const { Polled(Cell::new(None)) };
}

/// Dropped with the engine's thread, and by its process's end only in the midst of a poll: `exit` drops what is of the
/// thread that calls it.
struct Polled(Cell<Option<u32>>);

impl Drop for Polled {
    fn drop(&mut self) {
        if self.0.get().is_some() {
            // Nobody to tell: the exit status still says it.
            let _ = writeln!(std::io::stderr(), "{HAS_EXITED}");
            signal_hook::low_level::exit(2);
        }
    }
}

/// Or a recipe that does so would be taken for one that holds.
const HAS_EXITED: &str = "zoocheck: the recipe has ended this process, as by std::process::exit, so that there is no \
                          verdict; let its code return End::Exited instead";

fn polled() -> u32 {
    POLLED.with(|polled| polled.0.get()).unwrap_or(0)
}

/// The code of one life. Panics in it if what a task waits for, or has, by the main thread's probe would be forgotten
/// with that thread's end: as if nobody waited, and nobody had it.
pub(crate) fn run<F: Future<Output = End> + Send + 'static>(
    probe: AnyProbe,
    code: impl FnOnce(AnyProbe) -> F,
) -> Pin<Box<dyn Future<Output = End> + Send>> {
    let process = ProcessProbe { probe, said: Arc::default() };
    let code = {
        let _before = Restored::after(0);
        code(Arc::new(process.clone()))
    };
    Box::pin(async move {
        let mut code = pin!(code);
        let end = poll_fn(|context| {
            let _before = Restored::after(0);
            code.as_mut().poll(context)
        })
        .await;
        if !end.leaves_nothing_running() {
            process.with(Said::ends);
        }
        process.ends(0);
        end
    })
}

/// What was told, and by which tasks.
#[derive(Debug, Default)]
struct Said {
    has_ended: bool,
    spawned: u32,
    running: BTreeSet<u32>,
    /// What is not over yet of what tasks have said by the main thread's probe, by its subject.
    open: BTreeMap<Text, (u32, Observation)>,
    /// Which task was the last to tell, or to write, as one of the other threads.
    threads: BTreeMap<u8, u32>,
}

impl Said {
    /// Gives what is wrong with it, as [`ends`](Said::ends) does.
    fn says(&mut self, task: u32, what: &Observation) -> Option<String> {
        // No promise of the library waits for it.
        if !what.word().is_of_the_library() {
            return None;
        }
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
        let wrong = self.has_ended.then(|| refusal(what)).or_else(|| self.is_told_of_two(task, what));
        if is_over {
            self.open.remove(what.subject());
        } else {
            self.open.insert(what.subject().clone(), (task, what.clone()));
        }
        wrong
    }

    /// Whether another task is in the section that this one enters. By one probe, two would be one.
    fn is_told_of_two(&self, task: u32, what: &Observation) -> Option<String> {
        let (other, Observation::Enters { .. }) = self.open.get(what.subject())? else { return None };
        let Observation::Enters { .. } = what else { return None };
        let is_there = *other != task && (*other == 0 || self.running.contains(other));
        is_there.then(|| {
            format!("two tasks tell by the probe of the main thread: {what}, where another is; give each probe.thread(n)")
        })
    }

    /// Somebody tells, or writes, as this thread.
    fn is_told_as(&mut self, thread: u8) -> Option<String> {
        self.threads.insert(thread, polled());
        None
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

/// The probe that the code of a process is given.
#[derive(Clone)]
struct ProcessProbe {
    probe: AnyProbe,
    said: Arc<Mutex<Said>>,
}

impl ProcessProbe {
    /// Panics with what is wrong.
    fn with(&self, does: impl FnOnce(&mut Said) -> Option<String>) {
        let wrong = does(&mut self.said());
        if let Some(wrong) = wrong {
            panic!("{wrong}");
        }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task has ended, and with it the threads as which it told.
    fn ends(&self, task: u32) {
        let mut threads = Vec::new();
        {
            let mut said = self.said();
            said.running.remove(&task);
            said.threads.retain(|thread, last| {
                threads.extend((*last == task).then_some(*thread));
                *last != task
            });
        }
        threads.into_iter().for_each(|thread| self.probe.thread_ends(thread));
    }
}

impl Probe for ProcessProbe {
    fn observe_of(&self, thread: u8, what: Observation) {
        self.with(|said| match thread {
            0 => said.says(polled(), &what),
            _ => said.is_told_as(thread),
        });
        self.probe.observe_of(thread, what);
    }

    fn point(&self) -> Pending<()> {
        self.probe.point()
    }

    fn work(&self) -> Pending<()> {
        self.probe.work()
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.with(|said| match thread {
            0 => said.has_ended.then(|| refusal(&"a write")),
            _ => said.is_told_as(thread),
        });
        self.probe.write_of(thread, resource, token)
    }

    fn guid(&self) -> Text {
        self.probe.guid()
    }

    fn spawn(&self, task: Task) {
        let number = {
            let mut said = self.said();
            said.spawned += 1;
            let number = said.spawned;
            said.running.insert(number);
            number
        };
        self.probe.spawn(Box::pin(Spawned { number, task, process: self.clone() }));
    }

    fn thread_ends(&self, thread: u8) {
        self.probe.thread_ends(thread);
    }
}

/// A task that is not the main one.
struct Spawned {
    number: u32,
    task: Task,
    process: ProcessProbe,
}

impl Future for Spawned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let _before = Restored::after(self.number);
        let polled = self.task.as_mut().poll(context);
        if polled.is_ready() {
            self.process.ends(self.number);
        }
        polled
    }
}

/// Sets back which task is polled, even if that one panics.
struct Restored(Option<u32>);

impl Restored {
    /// From now on, this one is polled.
    fn after(task: u32) -> Restored {
        Restored(POLLED.with(|polled| polled.0.replace(Some(task))))
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        POLLED.with(|polled| polled.0.set(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::{HAS_EXITED, Restored, Said, run};
    use crate::common::AnyProbe;
    use crate::event::{End, Observation, Resource};
    use crate::probe::{Probe, Task};
    use crate::words;
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::{Command, exit};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Waker};
    use zk_api::{Pending, Text, Zxid};

    /// Hears nothing, and keeps the tasks that it is to run.
    #[derive(Default)]
    struct Deaf(Mutex<Vec<Task>>);

    impl Probe for Deaf {
        fn observe_of(&self, _: u8, _: Observation) {}

        fn point(&self) -> Pending<()> {
            Pending::ready(())
        }

        fn work(&self) -> Pending<()> {
            Pending::ready(())
        }

        fn write_of(&self, _: u8, _: Resource, _: Option<Zxid>) -> Pending<bool> {
            Pending::ready(true)
        }

        fn guid(&self) -> Text {
            "guid".into()
        }

        fn spawn(&self, task: Task) {
            self.0.lock().expect("nobody has panicked").push(task);
        }

        fn thread_ends(&self, _: u8) {}
    }

    /// Polls the code of a life, whose main thread waits once; then the tasks that it has spawned; and the code again.
    fn runs<F>(code: impl FnOnce(AnyProbe) -> F) -> Poll<End>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (deaf, mut context) = (Arc::new(Deaf::default()), Context::from_waker(Waker::noop()));
        let (told, waits) = Pending::slot();
        let mut life = run(deaf.clone(), |probe| {
            let code = code(probe);
            async move {
                code.await;
                waits.await;
                End::Done
            }
        });
        let waits = life.as_mut().poll(&mut context);
        let mut tasks = std::mem::take(&mut *deaf.0.lock().expect("nobody has panicked"));
        let ended: Vec<bool> =
            tasks.iter_mut().map(|task| task.as_mut().poll(&mut context).is_ready()).collect();
        assert!(waits.is_pending() && !ended.contains(&true), "they wait");
        told.complete(());
        life.as_mut().poll(&mut context)
    }

    #[test]
    fn what_a_task_is_about_by_the_main_threads_probe_is_refused_as_that_ends() {
        let ends = |by: u8| {
            let code = move |probe: AnyProbe| async move {
                let teller = probe.clone();
                probe.spawn(Box::pin(async move {
                    teller.observe_of(by, Observation::Attempts { lock: "/lock".into() });
                    std::future::pending().await
                }));
            };
            catch_unwind(AssertUnwindSafe(|| runs(code))).is_ok_and(|end| end == Poll::Ready(End::Done))
        };
        assert_eq!([0, 1].map(ends), [false, true]);
    }

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
        let takes = Observation::note(words::TAKES, "/queue", 1);
        assert!(said_by(1, std::slice::from_ref(&asks)).ends().is_some());
        assert!(said_by(1, &[asks.clone(), gives_up]).ends().is_none(), "it is over");
        assert!(said_by(2, std::slice::from_ref(&asks)).ends().is_none(), "that one has ended");
        assert!(said_by(0, std::slice::from_ref(&asks)).ends().is_none(), "the main one's");
        let mut said = said_by(1, std::slice::from_ref(&takes));
        assert!(said.ends().is_none(), "it is a note");
        assert!(said.says(1, &takes).is_some() && said.says(0, &asks).is_some(), "too late");
        let hums = Observation::note(words::Word::own("hums"), "/tune", 1);
        assert!(said.says(1, &hums).is_none(), "no promise of the library listens for it");
    }

    /// It once made a command end as if all had held.
    #[test]
    fn a_recipe_that_ends_the_engines_process_is_told_and_no_other_end_is() {
        if let Some(when) = std::env::var_os("ZOOCHECK_TEST_EXITS") {
            match &*when.to_string_lossy() {
                "code" => drop(runs(|_| -> std::future::Ready<()> { exit(0) })),
                "poll" => drop(runs(|_| async { exit(0) })),
                "task" => drop(runs(|probe| async move { probe.spawn(Box::pin(async { exit(0) })) })),
                _ => {}
            }
            let polled = Restored::after(u32::from(when == "thread"));
            if when == "after another" {
                drop(Restored::after(1));
            }
            if when == "behind" {
                drop(polled);
            }
            exit(0);
        }
        let name = "threads::tests::a_recipe_that_ends_the_engines_process_is_told_and_no_other_end_is";
        let ended = |when: &str| {
            let mut test = Command::new(std::env::current_exe().expect("this test"));
            let test = test.args(["--exact", name]).env("ZOOCHECK_TEST_EXITS", when);
            let ended = test.output().expect("it can be run again");
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            (ended.status.code(), said.contains(HAS_EXITED))
        };
        for when in ["within", "thread", "after another", "code", "poll", "task"] {
            assert_eq!(ended(when), (Some(2), true), "{when}");
        }
        assert_eq!(ended("behind"), (Some(0), false));
    }

    /// Two tasks of a process that were in one section were one thread, which had entered twice.
    #[test]
    fn two_tasks_that_enter_by_one_probe_are_refused() {
        let (enters, leaves) =
            (Observation::Enters { lock: "/lock".into() }, Observation::Leaves { lock: "/lock".into() });
        let attempts = Observation::Attempts { lock: "/lock".into() };
        let said = || Said { running: BTreeSet::from([1, 2]), ..Said::default() };
        for one in [0, 1] {
            let mut both = said();
            assert_eq!(
                [both.says(one, &attempts), both.says(2, &attempts), both.says(one, &enters)],
                [const { None }; 3]
            );
            let wrong = both.says(2, &enters).expect("it is refused");
            assert!(wrong.contains("two tasks tell by the probe of the main thread: enters the"), "{wrong}");
        }
        let mut in_turn = said();
        let turns = [
            (1, &enters),
            (1, &enters),
            (1, &leaves),
            (2, &enters),
            (2, &leaves),
            (0, &enters),
            (0, &leaves),
        ];
        assert!(turns.iter().all(|(task, what)| in_turn.says(*task, what).is_none()));
        let mut after = said();
        assert_eq!(after.says(1, &enters), None);
        after.running.remove(&1);
        assert_eq!(after.says(2, &enters), None, "the other has ended, as if it had left");
        let other = Observation::Enters { lock: "/other".into() };
        assert_eq!(after.says(0, &other), None);
    }
}

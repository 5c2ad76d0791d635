//! What is kept of a script while it is taken: what it holds back, and which tasks may run.

use crate::executor::{Executor, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// What a script holds back among its servers.
#[derive(Debug)]
pub struct Views {
    /// How many transactions a view may be behind.
    lag: usize,
    /// Transactions are held back; not yet while all connect.
    holds: bool,
    /// What was proposed while the leader's disk does not write.
    unwritten: usize,
    /// Writes of a lost connection that were proposed before the script came to them, of each process.
    early: Vec<usize>,
}

impl Views {
    /// Nothing yet.
    pub fn new(lag: u8, clients: u16) -> Views {
        Views { lag: lag.into(), holds: false, unwritten: 0, early: vec![0; clients.into()] }
    }

    /// How many transactions a view may be behind.
    pub fn lag(&self) -> usize {
        self.lag
    }

    /// From now on, transactions are held back.
    pub fn hold(&mut self) {
        self.holds = true;
    }

    /// Whether transactions are held back.
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// How much was proposed while the leader's disk does not write.
    pub fn unwritten(&self) -> usize {
        self.unwritten
    }

    /// The leader's disk writes it.
    pub fn write_all(&mut self) {
        self.unwritten = 0;
    }

    /// A write of a lost connection is proposed. `early`: before the script comes to it.
    pub fn propose(&mut self, process: u16, early: bool) {
        self.early[usize::from(process)] += usize::from(early);
        self.unwritten += 1;
    }

    /// The script comes to a write of a lost connection: whether that was proposed before.
    pub fn comes_to_early(&mut self, process: u16) -> bool {
        let early = &mut self.early[usize::from(process)];
        let was_early = *early > 0;
        *early = early.saturating_sub(1);
        was_early
    }
}

/// Which tasks may run while a script is followed: of a process, the one that an event wakes, if no other is ready. All
/// others wait for a step of their own.
#[derive(Debug, Default)]
pub struct ScriptTasks {
    /// Processes whose code is busy.
    busy: BTreeSet<u16>,
    /// Processes with ready tasks that wait for a step of their own.
    standing: BTreeSet<u16>,
    /// The task of each process that has run in this turn.
    ran: BTreeMap<u16, TaskId>,
    /// The task whose step this is.
    due: Option<TaskId>,
}

impl ScriptTasks {
    /// The task that runs next in this turn, and its process.
    pub fn next(&mut self, executor: &mut Executor, clients: u16) -> Option<(TaskId, u16)> {
        for process in executor.ready_processes() {
            let ready = executor.ready_of(process);
            let task = match (self.due, self.ran.get(&process), &*ready) {
                (Some(due), ..) if ready.contains(&due) => due,
                _ if self.busy.contains(&process) || self.standing.contains(&process) => continue,
                (_, None, &[only]) => only,
                (_, Some(last), &[only]) if *last == only => only,
                // Who is no client is no process of a model.
                (.., &[first, ..]) if process >= clients => first,
                _ => continue,
            };
            self.due = None;
            self.standing.remove(&process);
            self.ran.insert(process, task);
            executor.take(task);
            return Some((task, process));
        }
        self.ran.clear();
        self.standing = executor.ready_processes();
        None
    }

    /// The step of this task has come.
    pub fn due(&mut self, task: TaskId) {
        self.due = Some(task);
    }

    /// A process's code is busy from now on.
    pub fn busy(&mut self, process: u16) {
        self.busy.insert(process);
    }

    /// And no longer. False if it was not.
    pub fn no_longer_busy(&mut self, process: u16) -> bool {
        self.busy.remove(&process)
    }
}

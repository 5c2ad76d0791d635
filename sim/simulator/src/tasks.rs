//! Which of the ready tasks runs, and when.
//!
//! In a run, the tasks that an event wakes run in an order that is a choice, and in some runs one now and then stands
//! still for a while, as a thread does: what comes to its process meanwhile is there when it goes on. While a script is
//! followed, tasks run as in the model that wrote it.

use crate::choices::Stream;
use crate::event::SimEvent;
use crate::executor::{Executor, TaskId};
use crate::process::{Process, Processes};
use crate::script_state::ScriptTasks;
use crate::stage::{Phase, Stage};
use madsim::time::TimeHandle;
use std::time::Duration;
use zk_api::Response;
use zk_proto::message::ToClient;

/// The tasks of all processes.
pub struct Tasks {
    pub executor: Executor,
    time: RealTime,
    /// Which of them may run, while a script is followed.
    script: Option<ScriptTasks>,
}

/// madsim's clock, which is what code under test sees of real time; it follows the queue's.
struct RealTime {
    handle: TimeHandle,
    shown_ns: u64,
}

impl Tasks {
    /// None yet. Must be called inside a madsim runtime.
    pub fn new() -> Tasks {
        let time = RealTime { handle: TimeHandle::current(), shown_ns: 0 };
        Tasks { executor: Executor::default(), time, script: None }
    }

    /// Whether any may be ready. If so, real clocks show the queue's time from now on.
    pub fn has_ready_at(&mut self, now: u64) -> bool {
        let has_ready = self.executor.has_ready();
        if has_ready {
            self.time.handle.advance(Duration::from_nanos(now - self.time.shown_ns));
            self.time.shown_ns = now;
        }
        has_ready
    }

    /// The task that runs next in this turn, and its process.
    pub fn next(&mut self, stage: &mut Stage<'_>, processes: &mut Processes) -> Option<(TaskId, u16)> {
        if let Some(script) = &mut self.script {
            return script.next(&mut self.executor, stage.scenario.clients);
        }
        loop {
            let (task, id) = self.executor.pick(&mut stage.choices)?;
            let process = &mut processes[id];
            if !stands_still(stage, id, process) {
                return Some((task, id));
            }
            stage.once("a ready task stood still");
            let for_ns = stage.choices.below(Stream::StandStill, id.into(), stage.swarm.latency_ns[1].max(1));
            process.standing.insert(task);
            let actor = process.actor;
            stage.queue.push(stage.now + for_ns, SimEvent::TaskGoesOn { actor, task });
        }
    }

    /// News of a process's connection come when its code has done with what it was given before: a promise takes what
    /// the client knows then for what its code was told. So do its own timers and pieces of work, unless other tasks of
    /// it go on beside the one that stands still. Whether any goes on now.
    pub fn let_go_on(&mut self, process: &mut Process, event: &SimEvent) -> bool {
        let is_news = match event {
            SimEvent::AtClient { message, .. } if is_news(message) => true,
            SimEvent::ClientSees { .. } | SimEvent::Opening { .. } | SimEvent::ClientTimer { .. } => true,
            SimEvent::Wake { .. } | SimEvent::WriteAnswered { .. } => false,
            _ => return false,
        };
        if !is_news && self.executor.tasks_of(process.actor.process) > 1 {
            return false;
        }
        let standing = std::mem::take(&mut process.standing);
        standing.iter().for_each(|task| self.executor.goes_on(*task));
        !standing.is_empty()
    }

    /// A task goes on, unless it did so before.
    pub fn goes_on(&mut self, process: &mut Process, task: TaskId) {
        if process.standing.remove(&task) {
            self.executor.goes_on(task);
        }
    }

    /// Tasks run as a script has it from now on, or by choice.
    pub fn follow_script(&mut self, follows: bool) {
        self.script = follows.then(ScriptTasks::default);
    }

    /// Of a process's ready tasks, the one of this number is due in the script.
    pub fn due_in_script(&mut self, process: u16, nth: u8) -> Result<(), String> {
        let ready = self.executor.ready_of(process);
        let task = ready.get(usize::from(nth)).ok_or("it has not so many tasks that are ready")?;
        if let Some(script) = &mut self.script {
            script.due(*task);
        }
        Ok(())
    }

    /// A process's code is busy from now on.
    pub fn busy_in_script(&mut self, process: u16) {
        if let Some(script) = &mut self.script {
            script.busy(process);
        }
    }

    /// And no longer. Its ready tasks stand still.
    pub fn stands_in_script(&mut self, process: u16) -> Result<(), String> {
        let was_busy = self.script.as_mut().is_some_and(|script| script.no_longer_busy(process));
        was_busy.then_some(()).ok_or_else(|| "its code is not busy".to_owned())
    }
}

fn stands_still(stage: &mut Stage<'_>, id: u16, process: &Process) -> bool {
    stage.swarm.stand_still > 0
        && stage.phase != Phase::Setup
        && id < stage.scenario.clients
        && stage.choices.below(Stream::StandStill, id.into(), 64) < stage.swarm.stand_still
        && !process.learns_loss
}

/// Whether a message tells the client what becomes of its session.
fn is_news(message: &ToClient) -> bool {
    match message {
        ToClient::Connected(_) => true,
        ToClient::Reply { result, .. } => matches!(result, Ok(Response::Closed)),
        ToClient::WatchesSet { .. } | ToClient::Pong { .. } | ToClient::Event { .. } => false,
    }
}

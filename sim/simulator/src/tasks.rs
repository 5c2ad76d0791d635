//! Which of the ready tasks runs, and when.
//!
//! In a run, the tasks that an event wakes run in an order that is a choice, and in some runs one now and then stands
//! still for a while, as a thread does: what comes to its process meanwhile is there when it goes on. While a script is
//! followed, tasks run as in the model that wrote it.

use crate::choices::Stream;
use crate::event::SimEvent;
use crate::executor::TaskId;
use crate::process::Process;
use crate::simulation::Simulation;
use crate::stage::Phase;
use zk_api::Response;
use zk_proto::message::ToClient;

impl Simulation<'_> {
    /// The task that runs next in this turn, and its process.
    pub fn next_task(&mut self) -> Option<(TaskId, u16)> {
        if let Some(tasks) = &mut self.script.tasks {
            return tasks.next(&mut self.executor, self.stage.scenario.clients);
        }
        loop {
            let (task, process) = self.executor.pick(&mut self.stage.choices)?;
            if !self.stands_still(process) {
                return Some((task, process));
            }
            self.stage.once("a ready task stood still");
            let for_ns = self.stage.choices.below(
                Stream::StandStill,
                process.into(),
                self.stage.swarm.latency_ns[1].max(1),
            );
            let Process { actor, standing, .. } = &mut self.processes[usize::from(process)];
            standing.insert(task);
            let actor = *actor;
            self.stage.queue.push(self.stage.now + for_ns, SimEvent::TaskGoesOn { actor, task });
        }
    }

    /// News of a process's connection come when its code has done with what it was given before: a promise takes what
    /// the client knows then for what its code was told. So do its own timers and pieces of work, unless other tasks of it
    /// go on beside the one that stands still.
    pub fn let_go_on(&mut self, process: u16, event: &SimEvent) {
        let is_news = match event {
            SimEvent::AtClient { message, .. } if is_news(message) => true,
            SimEvent::ClientSees { .. } | SimEvent::Opening { .. } | SimEvent::ClientTimer { .. } => true,
            SimEvent::Wake { .. } | SimEvent::WriteAnswered { .. } => false,
            _ => return,
        };
        if !is_news && self.executor.tasks_of(process) > 1 {
            return;
        }
        let standing = std::mem::take(&mut self.processes[usize::from(process)].standing);
        if standing.is_empty() {
            return;
        }
        standing.into_iter().for_each(|task| self.executor.goes_on(task));
        let often = std::mem::take(&mut self.stage.swarm.stand_still);
        self.turn();
        self.stage.swarm.stand_still = often;
    }

    /// A task goes on, unless it did so before.
    pub fn task_goes_on(&mut self, process: u16, task: TaskId) {
        let standing = &mut self.processes[usize::from(process)].standing;
        if standing.remove(&task) {
            self.executor.goes_on(task);
        }
    }

    fn stands_still(&mut self, process: u16) -> bool {
        self.stage.swarm.stand_still > 0
            && self.stage.phase != Phase::Setup
            && process < self.stage.scenario.clients
            && self.stage.choices.below(Stream::StandStill, process.into(), 64) < self.stage.swarm.stand_still
            && !self.processes[usize::from(process)].learns_loss
    }

    /// Of a process's ready tasks, the one of this number runs.
    pub fn run_in_script(&mut self, process: u16, nth: u8) -> Result<(), String> {
        let ready = self.executor.ready_of(process);
        let task = ready.get(usize::from(nth)).ok_or("it has not so many tasks that are ready")?;
        if let Some(tasks) = &mut self.script.tasks {
            tasks.due(*task);
        }
        self.turn();
        self.stage.tell_broken();
        Ok(())
    }

    /// A process's code is busy from now on.
    pub fn busy_in_script(&mut self, process: u16) {
        if let Some(tasks) = &mut self.script.tasks {
            tasks.busy(process);
        }
    }

    /// And no longer. Its ready tasks stand still.
    pub fn stands_in_script(&mut self, process: u16) -> Result<(), String> {
        let was_busy = self.script.tasks.as_mut().is_some_and(|tasks| tasks.no_longer_busy(process));
        was_busy.then_some(()).ok_or_else(|| "its code is not busy".to_owned())
    }

    /// No longer, and the task that is ready runs, if there is only one.
    pub fn goes_on_in_script(&mut self, process: u16) -> Result<(), String> {
        self.stands_in_script(process)?;
        match self.executor.ready_of(process).len() {
            1 => self.run_in_script(process, 0),
            _ => Ok(()),
        }
    }
}

/// Whether a message tells the client what becomes of its session.
fn is_news(message: &ToClient) -> bool {
    match message {
        ToClient::Connected(_) => true,
        ToClient::Reply { result, .. } => matches!(result, Ok(Response::Closed)),
        ToClient::WatchesSet { .. } | ToClient::Pong { .. } | ToClient::Event { .. } => false,
    }
}

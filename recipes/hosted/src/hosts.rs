//! The workers of one program.

use crate::examples::Example;
use crate::frame::{Answer, Ask};
use crate::python;
use crate::watch::{Limits, Watch};
use crate::worker::{Start, Worker, unexpected};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zk_harness::program::{Input, Life, Now, Program, ProgramStep, Programs};

/// Workers with a program, which are used again from life to life.
pub struct Hosts {
    start: Start,
    watch: Arc<Watch>,
    idle: Arc<Mutex<Vec<Worker>>>,
    who: String,
}

impl std::fmt::Debug for Hosts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {}", self.start.program, self.who)
    }
}

impl Hosts {
    /// Starts a worker, to see that the program can be loaded. The error is a line.
    pub fn start(start: Start, limits: Limits) -> Result<Hosts, String> {
        let watch = Watch::start(limits);
        let (worker, who) =
            Worker::start(&start, &watch).map_err(|what| format!("{}: {what}", start.program))?;
        Ok(Hosts { start, watch, idle: Arc::new(Mutex::new(vec![worker])), who })
    }

    /// A function of a Python file, `lock.py:worker`.
    pub fn python(python: &str, program: &str, limits: Limits) -> Result<Hosts, String> {
        Hosts::start(python::start(python, program, None), limits)
    }

    /// A program that is built in.
    pub fn example(python: &str, example: &Example, limits: Limits) -> Result<Hosts, String> {
        Hosts::start(python::start(python, example.program, Some(example.text)), limits)
    }

    /// Who the host says it is.
    pub fn who(&self) -> &str {
        &self.who
    }
}

fn lock(idle: &Mutex<Vec<Worker>>) -> MutexGuard<'_, Vec<Worker>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Programs for Hosts {
    fn begin(&self, life: &Life, now: Now) -> Result<(Box<dyn Program>, ProgramStep), String> {
        let named = |what: String| format!("{}: {what}", self.start.program);
        let idle = lock(&self.idle).pop();
        let worker = match idle {
            Some(worker) => worker,
            None => Worker::start(&self.start, &self.watch).map_err(named)?.0,
        };
        let mut running =
            Running { worker: Some(worker), program: self.start.program.clone(), idle: self.idle.clone() };
        let step = running.asked(&Ask::begin(life, now))?;
        Ok((Box::new(running), step))
    }
}

/// One life of the program.
struct Running {
    /// `None` once it has done something wrong.
    worker: Option<Worker>,
    program: String,
    idle: Arc<Mutex<Vec<Worker>>>,
}

impl Running {
    fn asked(&mut self, ask: &Ask) -> Result<ProgramStep, String> {
        let answer = match &mut self.worker {
            Some(worker) => worker.ask(ask),
            None => Err("it has done something wrong before".into()),
        };
        let wrong = match answer {
            Ok(Answer::Stepped(step)) => return Ok(step),
            Ok(Answer::Wrong(what)) => what,
            Ok(Answer::Welcome(_) | Answer::Killed) => unexpected("stepped"),
            Err(what) => what,
        };
        self.worker = None;
        Err(format!("{}: {wrong}", self.program))
    }
}

impl Program for Running {
    fn step(&mut self, now: Now, inputs: &[Input]) -> Result<ProgramStep, String> {
        self.asked(&Ask::step(now, inputs))
    }
}

impl Drop for Running {
    /// A worker that cannot end a life cleanly is not used again.
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take()
            && matches!(worker.ask(&Ask::kill()), Ok(Answer::Killed))
        {
            lock(&self.idle).push(worker);
        }
    }
}

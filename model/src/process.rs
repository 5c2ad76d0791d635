//! Replayed processes: an actor's state is the history of what happened to it.
//!
//! An async function cannot be cloned, compared or hashed, so it is run again: from its beginning, with all
//! its inputs, and then with the next one. What it does then is the step. Steps are remembered, so that few
//! are ever replayed. A checkpoint lets the digest of a history begin again, since nothing before it matters;
//! the history itself goes on, as the code must be replayed from its beginning all the same.

mod given;
mod node;

pub use given::{Emitted, Given, Input, Looks, Req};
pub use node::{Node, ProcessStep, Trouble};

use crate::config::OtherTime;
use crate::digest::{Digest, DigestMap, digest_all, digest_of};
use crate::life::Life;
use crate::memo::Memo;
pub use crate::message::Answer;
use crate::orders::{self, Order};
use crate::quiet::{in_turn, quietly};
use crate::reads::{Noted, Reads};
use crate::replay_runtime::{Mark, Polled, ReplayRuntime, STOPPED, Waits};
use crate::stop::Stop;
use crate::symmetry::Eyes;
use crate::tasks::{RunsAway, Tasks};
use node::{Counterparts, History, digest_of_emitted, is_same, whole_after};
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use zk_api::KeeperState;
use zk_harness::event::{End, Event, GroundTruth};
use zk_harness::trial::{Role, Trial};

/// So many histories with one digest are followed by the audit: all of them cannot be where code may try for ever.
pub const AUDITED: usize = 16;

/// The steps of histories shorter than this are worked out in another time as well, and so is one of so many others.
const SHORT: usize = 12;
const TIMED: Digest = 32;

/// Runs actors.
pub struct Replayer {
    /// Whose actors they are.
    pub trial: Arc<Trial>,
    setup: Setup,
    steps: Memo<Arc<ProcessStep>>,
    others: Memo<Arc<ProcessStep>>,
    /// What is known of processes with one digest.
    alike: Mutex<Known>,
    /// What followed a checkpoint in its own step.
    tails: Mutex<DigestMap<Digest, Digest>>,
    /// Why nothing else can be relied on.
    stop: OnceLock<Stop>,
    needs_upkeep: AtomicBool,
    /// What the actors have read.
    pub noted: Noted,
}

/// What the audit knows.
#[derive(Default)]
struct Known {
    alike: DigestMap<Digest, Alike>,
    /// There are more histories with one digest than it follows.
    is_cut: bool,
}

/// What is known of processes with one digest.
#[derive(Default)]
struct Alike {
    /// Some of them, with different histories.
    nodes: Vec<Arc<Node>>,
    /// What one of them or another was given.
    inputs: Vec<Given>,
}

/// How actors are run.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many processes there are.
    pub clients: u8,
    /// What each actor is told.
    pub effects: bool,
    /// Remember steps.
    pub memo: bool,
    /// Let checkpoints count.
    pub keys: bool,
    /// Audit them.
    pub audit: bool,
    /// See [`CheckConfig::other_time`](crate::CheckConfig::other_time).
    pub other_time: Option<OtherTime>,
    /// Work out what processes see.
    pub symmetry: bool,
    /// See [`CheckConfig::guids_fall`](crate::CheckConfig::guids_fall).
    pub guids_fall: bool,
    /// What the model varies, as it is read.
    pub varied: Reads,
}

impl std::fmt::Debug for Replayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replayer").field("setup", &self.setup).finish_non_exhaustive()
    }
}

impl Replayer {
    /// Runs the actors of a trial.
    pub fn new(trial: Arc<Trial>, setup: Setup) -> Replayer {
        Replayer {
            trial,
            setup,
            steps: Memo::new(setup.memo),
            others: Memo::new(true),
            alike: Mutex::default(),
            tails: Mutex::default(),
            stop: OnceLock::new(),
            needs_upkeep: AtomicBool::new(false),
            noted: Noted::default(),
        }
    }

    /// Why nothing that was found since can be relied on, if so.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.get()
    }

    /// Whether any code makes a znode that the ensemble deletes by itself.
    pub fn needs_upkeep(&self) -> bool {
        self.needs_upkeep.load(Ordering::Relaxed)
    }

    /// Whether the audit left out histories.
    pub fn audit_is_cut(&self) -> bool {
        self.alike.lock().unwrap_or_else(PoisonError::into_inner).is_cut
    }

    /// Whether a model varies this.
    pub fn varies(&self, reads: Reads) -> bool {
        self.setup.varied.has(reads)
    }

    /// An actor's first step, up to where its main task waits.
    pub fn start(&self, life: Life) -> Arc<ProcessStep> {
        let (digest, seen) = (digest_of(0x57a7, &life), digest_of(0x57a7, &(life.early, life.rank)));
        let blank = Node { is_done: false, life, ..Node::idle(life.actor, digest, seen) };
        Arc::new(self.replay_twice(&blank, None))
    }

    /// What a process does with an input that it [minds](Node::minds).
    pub fn step(&self, node: &Node, given: &Given) -> Arc<ProcessStep> {
        let step = self.remembered(node, given);
        if !self.setup.audit || !self.setup.memo {
            return step;
        }
        let mut known = self.alike.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        let alike = known.alike.entry(node.digest).or_default();
        if !alike.inputs.contains(given) {
            due.extend(alike.nodes.iter().map(|other| (other.clone(), given.clone())));
            alike.inputs.push(given.clone());
        }
        for node in step.merged.iter().chain([&step.node]) {
            note(&mut known, node, &mut due);
        }
        match self.audit(&mut known, due) {
            Some(trouble) => Arc::new(troubled(node, trouble)),
            None => step,
        }
    }

    /// The same without an audit.
    pub(crate) fn remembered(&self, node: &Node, given: &Given) -> Arc<ProcessStep> {
        let now = digest_of(0x57e9, given);
        let work = || Arc::new(self.with_counterparts(node, given));
        self.steps.get(digest_all(1, [node.digest, now]), work)
    }

    /// Whether a process does the same with an answer as it is and whichever of these orders its names are in.
    pub fn minds_no_order(
        &self,
        (node, state): (&Node, KeeperState),
        answer: &Answer,
        orders: &[Order],
    ) -> bool {
        let step = |answer: Answer| {
            let given = Given { input: Input::Answer(answer), state, busy: false };
            self.remembered(node, &given)
        };
        let first = step(answer.clone());
        let mut steps = orders.iter().map(|order| step(Arc::new(orders::in_order(answer, order))));
        steps.all(|step| first.node.digest == step.node.digest && is_same(&first, &step))
    }

    /// A step, and those of its counterparts, to which names come in other orders (see [`crate::orders`]). These must
    /// be the same: else the order of names is read.
    fn with_counterparts(&self, node: &Node, given: &Given) -> ProcessStep {
        let mut step = self.replay_twice(node, Some(given));
        let new = match &given.input {
            Input::Answer(answer) => orders::names_in(answer),
            _ => Order::new(),
        };
        if self.setup.varied.has(Reads::ORDER) || (new.is_empty() && node.counterparts.all.is_empty()) {
            return step;
        }
        let mut names = [node.counterparts.names.clone(), new].concat();
        orders::as_they_come(&mut names);
        let mut all = Vec::new();
        for order in orders::probes_of(&names).into_iter().skip(1) {
            let mut given = given.clone();
            if let Input::Answer(answer) = &mut given.input {
                *answer = Arc::new(orders::in_order(answer, &order));
            }
            let counterpart = self.counterpart(node, node.counterparts.of(&order), &given, &step);
            if counterpart.as_ref().is_some_and(|counterpart| !is_same(&step, counterpart)) {
                self.noted.add(Reads::ORDER);
                return step;
            }
            all.push((order, counterpart.map(|counterpart| counterpart.node.clone())));
        }
        if step.marked || step.node.is_done {
            step.merged = all.into_iter().filter_map(|(_, counterpart)| counterpart).collect();
        } else if let Some(node) = Arc::get_mut(&mut step.node) {
            node.counterparts = Counterparts { names, all };
        }
        step
    }

    /// The step of a counterpart; `None` where it is the very step that is taken.
    fn counterpart(
        &self,
        node: &Node,
        counterpart: Option<&Arc<Node>>,
        given: &Given,
        step: &ProcessStep,
    ) -> Option<Arc<ProcessStep>> {
        let whole = whole_after(counterpart.map_or(node.whole, |counterpart| counterpart.whole), Some(given));
        if whole == step.node.whole {
            return None;
        }
        let counterpart = counterpart.map_or(node, |counterpart| counterpart);
        let work = || Arc::new(self.replay(counterpart, Some(given)));
        Some(self.others.get(digest_all(10, [whole]), work))
    }

    /// What a step comes to, the same both times, or else it is not determined.
    fn replay_twice(&self, before: &Node, now: Option<&Given>) -> ProcessStep {
        let first = self.replay(before, now);
        if !self.setup.audit {
            return first;
        }
        let second = match self.setup.other_time.filter(|_| is_timed(before)) {
            Some(OtherTime(in_other_time)) => {
                let mut second = None;
                in_other_time(&mut |jump| second = Some(self.replay_timed(before, now, jump)));
                second.expect("the work is done")
            }
            None => self.replay(before, now),
        };
        if first.came_of_it == second.came_of_it {
            return first;
        }
        let (first, second) = (first.out.telling(), second.out.telling());
        self.is_not_determined(before, now, &format!("{first}, and another time {second}"))
    }

    fn is_not_determined(&self, before: &Node, given: Option<&Given>, does: &str) -> ProcessStep {
        let on = given.map_or("at its start".to_owned(), |given| format!("on {:?}", given.input));
        let _ = self.stop.set(Stop::NotDetermined(format!("{} {on}: it {does}", before.actor)));
        troubled(before, Trouble::NotDetermined)
    }

    /// Two histories with one digest must give the same step, whatever comes. States merge, so a search may never
    /// follow the second one: here it is followed, and all that comes of it, with every input that the first was given.
    fn audit(&self, known: &mut Known, mut due: Vec<(Arc<Node>, Given)>) -> Option<Trouble> {
        while let Some((node, given)) = due.pop() {
            let step = self.remembered(&node, &given);
            if step.from == node.whole || step.node.trouble.is_some() {
                continue;
            }
            let now = digest_of(0x57e9, &given);
            let work = || Arc::new(self.replay(&node, Some(&given)));
            let other = self.others.get(digest_all(2, [node.whole, now]), work);
            let same = step.node.digest == other.node.digest && is_same(&step, &other);
            if other.node.trouble.is_some() || !same {
                let (actor, input) = (node.actor, &given.input);
                let place = node.checkpoint.unwrap_or_default();
                let what = format!("{actor} does different things on {input:?} after {}", forgetful(place));
                return Some(Trouble::Key(what));
            }
            note(known, &other.node, &mut due);
        }
        None
    }

    fn replay(&self, before: &Node, now: Option<&Given>) -> ProcessStep {
        self.replay_timed(before, now, &|| {})
    }

    /// The same, where the clocks jump before each input.
    fn replay_timed(&self, before: &Node, now: Option<&Given>, jump: &dyn Fn()) -> ProcessStep {
        let Setup { clients, effects, keys, symmetry, guids_fall, .. } = self.setup;
        let runtime = Arc::new(ReplayRuntime::new(before.life, effects, keys, symmetry, guids_fall));
        let role = Role { me: before.actor, clients: clients.into(), rounds: before.life.rounds, effects };
        let (zk, probe) = (runtime.clone(), runtime.clone());
        let mut tasks = Tasks::new(runtime.clone());
        let history = before.inputs();
        Reads::take();
        let turns = || {
            let mut actor = Some(self.trial.clone().actor(zk, probe, role));
            let mut take = |tasks: &mut Tasks, given: Option<&Given>| {
                jump();
                match (given, actor.take()) {
                    (None, actor) => tasks.begin(actor.expect("an actor begins once")),
                    (Some(given), _) => go_on(tasks, &runtime, given),
                }
            };
            for item in &history {
                take(&mut tasks, item.given.as_ref())?;
                // What is let out here was let out in earlier steps.
                let ran = Ran::of(&mut tasks, &runtime);
                if ran.came_of_it != item.came_of_it {
                    return Ok(Err((item.given.clone(), ran.out.telling())));
                }
            }
            take(&mut tasks, now)?;
            Ok(Ok(Ran::of(&mut tasks, &runtime)))
        };
        let ran = in_turn(before.actor.process, || quietly(turns));
        self.noted.add(Reads::take());
        runtime.close();
        drop(tasks);
        match ran {
            Ok(Ok(Ok(ran))) if ran.waits.beyond(&ran.out.requests).is_some() => {
                let what = ran.waits.beyond(&ran.out.requests).unwrap_or_default();
                let _ = self.stop.set(Stop::Beyond(format!("{} {what}", before.actor)));
                troubled(before, Trouble::Beyond)
            }
            Ok(Ok(Ok(ran))) => self.after(before, now, ran),
            Ok(Ok(Err((given, does)))) => {
                let does = format!("{does}, which it did not do before");
                self.is_not_determined(before, given.as_ref(), &does)
            }
            Ok(Err(RunsAway)) => troubled(before, Trouble::Spin),
            Err(what) if what == STOPPED => troubled(before, Trouble::Spin),
            Err(what) => troubled(before, Trouble::Panic(what)),
        }
    }

    /// The process as it is after a step.
    fn after(&self, before: &Node, now: Option<&Given>, ran: Ran) -> ProcessStep {
        let Ran { mut out, waits, polled, mark, looked, ready, crowded, end, is_done, came_of_it } = ran;
        let actor = before.actor;
        if out.requests.iter().any(|asked| asked.is_for_upkeep()) {
            self.needs_upkeep.store(true, Ordering::Relaxed);
        }
        if out.requests.iter().any(|asked| asked.hides()) {
            self.noted.add(Reads::WITHHELD);
        }
        let state = now.map_or(before.life.first_state(), |given| given.state);
        // From what the code did not look at, nothing can follow.
        let state_seen = looked.then_some(state);
        let whole = whole_after(before.whole, now);
        let input = now.map(|given| (&given.input, given.busy));
        let checkpoint = mark.as_ref().map(|mark| mark.label).or(before.checkpoint);
        let mut digest = digest_all(4, [before.digest, digest_of(4, &(input, state_seen))]);
        let mut seen = 0;
        if self.setup.symmetry {
            let mut eyes = Eyes::new(4, usize::from(actor.process));
            eyes.digest(before.seen);
            (input, state_seen).hash(&mut eyes);
            seen = eyes.end();
        }
        let end_now = end;
        let end = end.or(before.end);
        let marked = mark.is_some();
        if let Some(mark) = mark {
            let rest = digest_of(5, &(state_seen, end, before.life.rounds));
            digest = digest_all(5, [mark.key, rest]);
            seen = digest_all(5, [mark.seen, rest]);
            if self.audit_tail(digest, &mark, &out, &waits) {
                let what = format!("{actor} goes on in two ways after {}", forgetful(mark.label));
                return troubled(before, Trouble::Key(what));
            }
        }
        let is_done = is_done || end.is_some_and(End::leaves_nothing_running);
        if is_done {
            // A finished process has no history.
            (digest, seen) = (digest_of(6, &(actor, end)), digest_of(6, &end));
        }
        // Of who ends its own process, it is told that it is gone.
        let told = end_now.filter(|end| *end != End::Exited);
        out.events.extend(told.map(|end| Event::Is(GroundTruth::Finished { actor, end })));
        let history = History { given: now.cloned(), came_of_it, before: before.history.clone() };
        let history = Some(Arc::new(history)).filter(|_| !is_done);
        let waits = if is_done { Waits::default() } else { waits };
        let life = before.life;
        let idle = Node::idle(actor, digest, seen);
        let node =
            Node { life, whole, history, checkpoint, waits, polled, ready, crowded, end, is_done, ..idle };
        ProcessStep { node: Arc::new(node), out, from: before.whole, came_of_it, marked, merged: Vec::new() }
    }

    /// Whether the rest of the step after a checkpoint does not follow from its key.
    fn audit_tail(&self, key: Digest, mark: &Mark, out: &Emitted, waits: &Waits) -> bool {
        if !self.setup.audit {
            return false;
        }
        let tail = digest_of_emitted(out, mark.requests, mark.events);
        let tail = digest_all(7, [tail, digest_of(7, waits)]);
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        *tails.entry(key).or_insert(tail) != tail
    }
}

/// Remembers a process, unless enough are known that are like it; it is then to be given what they were given.
fn note(known: &mut Known, node: &Arc<Node>, due: &mut Vec<(Arc<Node>, Given)>) {
    let alike = known.alike.entry(node.digest).or_default();
    if node.is_done || alike.nodes.iter().any(|other| other.whole == node.whole) {
        return;
    }
    if alike.nodes.len() == AUDITED {
        known.is_cut = true;
    } else {
        alike.nodes.push(node.clone());
        due.extend(alike.inputs.iter().map(|given| (node.clone(), given.clone())));
    }
}

/// Which checkpoint has forgotten something, and what is to be done.
fn forgetful(label: &str) -> String {
    format!("its checkpoint \"{label}\", which does not tell all that matters: if a caller's, by `Locals`")
}

/// A process that has gone wrong: it does nothing any more.
fn troubled(before: &Node, trouble: Trouble) -> ProcessStep {
    let digest = digest_of(8, &trouble);
    let end = Some(End::Failed);
    let node = Node { end, trouble: Some(trouble), ..Node::idle(before.actor, digest, digest) };
    let (out, from) = (Emitted::default(), before.whole);
    ProcessStep { node: Arc::new(node), out, from, came_of_it: digest, marked: false, merged: Vec::new() }
}

/// What a replay has come to.
struct Ran {
    out: Emitted,
    waits: Waits,
    polled: Polled,
    mark: Option<Mark>,
    looked: bool,
    ready: Vec<u8>,
    crowded: bool,
    end: Option<End>,
    is_done: bool,
    /// The digest of all that others can tell of it.
    came_of_it: Digest,
}

impl Ran {
    /// Ends a step.
    fn of(tasks: &mut Tasks, runtime: &ReplayRuntime) -> Ran {
        let (out, waits, polled, mark, looked) = runtime.end();
        let (ready, end) = (tasks.ready().collect::<Vec<u8>>(), tasks.end.take());
        let (crowded, is_done) = (tasks.left() > 1, tasks.left() == 0);
        let rest = digest_of(11, &(&waits, &ready, end, is_done));
        let came_of_it = digest_all(11, [digest_of_emitted(&out, 0, 0), rest]);
        Ran { out, waits, polled, mark, looked, ready, crowded, end, is_done, came_of_it }
    }
}

/// Whether a step of a process is worked out in another time as well, which takes some microseconds. What code does
/// with a clock shows in a short history, or else in those of the others that are as good as drawn.
fn is_timed(before: &Node) -> bool {
    let history = std::iter::successors(before.history.as_ref(), |item| item.before.as_ref());
    before.whole.is_multiple_of(TIMED) || history.count() < SHORT
}

/// Gives a process an input, and lets the task run that it wakes, if nothing else could.
fn go_on(tasks: &mut Tasks, runtime: &ReplayRuntime, given: &Given) -> Result<(), RunsAway> {
    let stood_still = tasks.ready().next().is_some();
    runtime.feed(&given.input, given.state);
    if let Input::Run(task) = given.input {
        return tasks.run(task);
    }
    let mut ready = tasks.ready();
    let (woken, another) = (ready.next(), ready.next());
    drop(ready);
    match (woken, another) {
        (Some(woken), None) if !stood_still && !given.busy => tasks.run(woken),
        _ => Ok(()),
    }
}

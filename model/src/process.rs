//! Replayed processes: an actor's state is the history of what happened to it.
//!
//! An async function cannot be cloned, compared or hashed, so it is run again: from its beginning, with all
//! its inputs, and then with the next one. What it does then is the step. Steps are remembered, so that few
//! are ever replayed. A checkpoint lets the digest of a history begin again, since nothing before it matters;
//! the history itself goes on, as the code must be replayed from its beginning all the same.

mod twins;

use crate::client::ModelClient;
use crate::digest::{Digest, DigestMap, Digester, digest_all, digest_of};
use crate::memo::Memo;
use crate::probe::ModelProbe;
use crate::quiet::quietly;
use crate::reads::{Noted, Reads};
use crate::shell::{Mark, STOPPED, Shell, Waits, Watching};
use crate::symmetry::Eyes;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use twins::{Twins, is_same};
use zk_api::{ErrorCode, KeeperState, Request, Response, StatReads, WatchedEvent, Zxid};
use zk_trials::event::{ActorId, End, Event, Fact, Resource};
use zk_trials::trial::{Actor, AnyTrial, Part};

/// A process that was polled so often in one step, each time because it woke itself, has run away.
const ROUNDS_MAX: u32 = 1_000;
/// So many histories with one digest are followed by the audit.
const AUDITED: usize = 4;

/// A request with its digest.
#[derive(Debug)]
pub struct Req {
    /// The request.
    pub request: Request,
    /// Its digest.
    pub digest: Digest,
}

impl Req {
    /// Works out the digest.
    pub fn new(request: Request) -> Req {
        let digest = digest_of(0x4e9, &request);
        Req { request, digest }
    }
}

/// What a call is answered.
pub type Answer = Arc<Result<Response, ErrorCode>>;

/// What can happen to a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The oldest call that is waited for is answered.
    Answer(Answer),
    /// A watch fires.
    Event(Arc<WatchedEvent>),
    /// The connection is lost, and all calls with it.
    Lost,
    /// There is a connection again.
    Connected,
    /// The session is over.
    Over,
    /// There is a new one.
    Renewed,
    /// A scheduling point passes.
    Point(u8),
    /// A timer fires.
    Timer(u8),
    /// A write to the outside resource has arrived.
    Written { nth: u8, accepted: bool },
}

/// What a step of a process lets out.
#[derive(Clone, Debug, Default)]
pub struct Emitted {
    /// Requests submitted.
    pub requests: Vec<Arc<Req>>,
    /// Observations, and the end of the actor's code.
    pub events: Vec<Event>,
    /// Writes sent to the outside resources, and by which thread.
    pub writes: Vec<(u8, Resource, Option<Zxid>)>,
    /// Watches given up.
    pub unwatched: Vec<Watching>,
}

/// How a process went wrong by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// It panicked, saying this.
    Panic(String),
    /// It submits or polls without end.
    Spin,
    /// A checkpoint's key does not tell all that matters.
    Key(String),
}

/// A process between two steps.
#[derive(Debug)]
pub struct Node {
    /// Who it is.
    pub actor: ActorId,
    /// How many rounds it was told to do.
    rounds: u8,
    /// What tells it from others.
    pub digest: Digest,
    /// The same, as it sees itself; zero without symmetry.
    pub seen: Digest,
    /// The digest of its whole history, whatever the checkpoints say.
    pub whole: Digest,
    history: Option<Arc<History>>,
    /// Itself, given lists of names in other orders since the last checkpoint.
    twins: Twins,
    /// What it waits for.
    pub waits: Waits,
    /// How its main task ended.
    pub end: Option<End>,
    /// None of its tasks is left.
    pub is_done: bool,
    /// How it went wrong; then it is done.
    pub trouble: Option<Trouble>,
}

impl Node {
    /// A process that is gone.
    pub fn crashed(actor: ActorId) -> Node {
        let digest = digest_of(0xdead, &actor);
        Node::idle(actor, digest, 0xdead)
    }

    fn idle(actor: ActorId, digest: Digest, seen: Digest) -> Node {
        Node {
            actor,
            rounds: 0,
            digest,
            seen,
            whole: digest,
            history: None,
            twins: Twins::default(),
            waits: Waits::default(),
            end: None,
            is_done: true,
            trouble: None,
        }
    }

    /// Whether the input makes any difference. One that does not must not enter the history.
    pub fn minds(&self, input: &Input) -> bool {
        match input {
            _ if self.is_done => false,
            Input::Answer(_) => !self.waits.calls.is_empty(),
            Input::Event(event) => self.waits.watches.iter().any(|watching| watching.sees(event)),
            Input::Lost => !self.waits.calls.is_empty() || self.waits.changes > 0,
            Input::Connected => self.waits.changes > 0,
            Input::Over => {
                !self.waits.calls.is_empty() || self.waits.changes > 0 || !self.waits.watches.is_empty()
            }
            Input::Renewed | Input::Point(_) | Input::Timer(_) | Input::Written { .. } => true,
        }
    }

    /// Its history, oldest first.
    fn inputs(&self) -> Vec<Arc<History>> {
        let mut items: Vec<_> =
            std::iter::successors(self.history.clone(), |item| item.before.clone()).collect();
        items.reverse();
        items
    }
}

/// A history, shared with those that begin alike. Newest first.
#[derive(Debug)]
struct History {
    input: Input,
    state: KeeperState,
    before: Option<Arc<History>>,
}

/// What a step of a process gave.
#[derive(Debug)]
pub struct Step {
    /// The process after it.
    pub node: Arc<Node>,
    /// What it let out.
    pub out: Emitted,
    /// Whose history it was worked out from.
    from: Digest,
    /// It has come to a checkpoint.
    marked: bool,
    /// Twins that came to the same checkpoint.
    merged: Vec<Arc<Node>>,
}

/// Runs actors.
pub struct Replayer {
    trial: Arc<dyn AnyTrial>,
    setup: Setup,
    steps: Memo<Arc<Step>>,
    others: Memo<Arc<Step>>,
    /// What is known of processes with one digest.
    alike: Mutex<DigestMap<Digest, Alike>>,
    /// What followed a checkpoint in its own step.
    tails: Mutex<DigestMap<Digest, Digest>>,
    /// What the actors have read.
    pub noted: Noted,
}

/// What is known of processes with one digest.
#[derive(Default)]
struct Alike {
    /// Some of them, with different histories.
    nodes: Vec<Arc<Node>>,
    /// What one of them or another was given.
    inputs: Vec<Given>,
}

/// An input, and the session's state with it.
type Given = (Input, KeeperState);

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
    /// Work out what processes see.
    pub symmetry: bool,
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
    pub fn new(trial: Arc<dyn AnyTrial>, setup: Setup) -> Replayer {
        Replayer {
            trial,
            setup,
            steps: Memo::new(setup.memo),
            others: Memo::new(true),
            alike: Mutex::default(),
            tails: Mutex::default(),
            noted: Noted::default(),
        }
    }

    /// How many steps were worked out.
    pub fn replayed(&self) -> usize {
        self.steps.len() + self.others.len()
    }

    /// Whether a model varies this.
    pub fn varies(&self, reads: Reads) -> bool {
        self.setup.varied.has(reads)
    }

    /// An actor's first step, up to where it waits.
    pub fn start(&self, actor: ActorId, rounds: u8) -> Arc<Step> {
        let digest = digest_of(0x57a7, &(actor, rounds));
        let blank = Node { is_done: false, rounds, ..Node::idle(actor, digest, 0) };
        Arc::new(self.replay(&blank, None))
    }

    /// What a process does with an input that it [minds](Node::minds). `state` is the session's state now.
    pub fn step(&self, node: &Node, input: &Input, state: KeeperState) -> Arc<Step> {
        let step = self.remembered(node, input, state);
        if !self.setup.audit || !self.setup.memo {
            return step;
        }
        let mut known = self.alike.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        let alike = known.entry(node.digest).or_default();
        let given = (input.clone(), state);
        if !alike.inputs.contains(&given) {
            due.extend(alike.nodes.iter().map(|other| (other.clone(), given.clone())));
            alike.inputs.push(given);
        }
        for node in step.merged.iter().chain([&step.node]) {
            note(&mut known, node, &mut due);
        }
        match self.audit(&mut known, due) {
            Some(trouble) => Arc::new(troubled(node, trouble)),
            None => step,
        }
    }

    fn remembered(&self, node: &Node, input: &Input, state: KeeperState) -> Arc<Step> {
        let now = digest_of(0x57e9, &(input, state));
        let work = || Arc::new(self.twinned(node, input, state));
        self.steps.get(digest_all(1, [node.digest, now]), work)
    }

    /// Two histories with one digest must give the same step, whatever comes. States merge, so a search may never
    /// follow the second one: here it is followed, and all that comes of it, with every input that the first was given.
    fn audit(
        &self,
        known: &mut DigestMap<Digest, Alike>,
        mut due: Vec<(Arc<Node>, Given)>,
    ) -> Option<Trouble> {
        while let Some((node, (input, state))) = due.pop() {
            let step = self.remembered(&node, &input, state);
            if step.from == node.whole || step.node.trouble.is_some() {
                continue;
            }
            let now = digest_of(0x57e9, &(&input, state));
            let work = || Arc::new(self.replay(&node, Some((&input, state))));
            let other = self.others.get(digest_all(2, [node.whole, now]), work);
            let same = step.node.digest == other.node.digest && is_same(&step, &other);
            if other.node.trouble.is_some() || !same {
                let what = format!("after one checkpoint, {} does different things on {input:?}", node.actor);
                return Some(Trouble::Key(what));
            }
            note(known, &other.node, &mut due);
        }
        None
    }

    fn replay(&self, before: &Node, now: Option<(&Input, KeeperState)>) -> Step {
        let Setup { clients, effects, keys, symmetry, .. } = self.setup;
        let shell = Arc::new(Shell::new(before.actor, effects, keys, symmetry));
        let part = Part { me: before.actor, clients: clients.into(), rounds: before.rounds, effects };
        let (zk, probe) = (Arc::new(ModelClient(shell.clone())), Arc::new(ModelProbe(shell.clone())));
        let mut run = Run { tasks: Vec::new(), end: None, shell: shell.clone() };
        StatReads::take();
        let ran = quietly(|| {
            run.begin(self.trial.clone().actor(zk, probe, part));
            let mut is_fine = run.poll();
            let inputs = before.inputs();
            for (input, state) in inputs.iter().map(|item| (&item.input, item.state)).chain(now) {
                // What was let out before was let out in earlier steps.
                shell.end();
                run.end = None;
                shell.feed(input, state);
                is_fine &= run.poll();
            }
            is_fine
        });
        self.noted.add(Reads::of_stats(StatReads::take()));
        let (out, waits, mark, looked) = shell.end();
        shell.close();
        let (end, is_done) = (run.end, run.tasks.is_empty());
        drop(run);
        match ran {
            Ok(true) => self.after(before, now, Ran { out, waits, mark, looked, end, is_done }),
            Ok(false) => troubled(before, Trouble::Spin),
            Err(what) if what == STOPPED => troubled(before, Trouble::Spin),
            Err(what) => troubled(before, Trouble::Panic(what)),
        }
    }

    /// The process as it is after a step.
    fn after(&self, before: &Node, now: Option<(&Input, KeeperState)>, ran: Ran) -> Step {
        let Ran { mut out, waits, mark, looked, end, is_done } = ran;
        let actor = before.actor;
        let state = now.map_or(KeeperState::SyncConnected, |(_, state)| state);
        // From what the code did not look at, nothing can follow.
        let state_seen = looked.then_some(state);
        let input = now.map(|(input, _)| input);
        let whole = whole_after(before.whole, now);
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
            let rest = digest_of(5, &(state_seen, end, before.rounds));
            digest = digest_all(5, [mark.key, rest]);
            seen = digest_all(5, [mark.seen, rest]);
            if self.audit_tail(digest, &mark, &out, &waits) {
                let what = format!("{actor} goes on in two ways after one checkpoint");
                return troubled(before, Trouble::Key(what));
            }
        }
        // Whoever says that its session was lost leaves nothing running.
        let is_done = is_done || end == Some(End::SessionLost);
        if is_done {
            // A finished process has no history.
            (digest, seen) = (digest_of(6, &(actor, end)), digest_of(6, &end));
        }
        out.events.extend(end_now.map(|end| Event::Is(Fact::Finished { actor, end })));
        let history = now.map(|(input, state)| {
            Arc::new(History { input: input.clone(), state, before: before.history.clone() })
        });
        let history = history.filter(|_| !is_done);
        let waits = if is_done { Waits::default() } else { waits };
        let (rounds, twins) = (before.rounds, Twins::default());
        let trouble = None;
        let node = Node { actor, rounds, digest, seen, whole, history, twins, waits, end, is_done, trouble };
        Step { node: Arc::new(node), out, from: before.whole, marked, merged: Vec::new() }
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

/// The digest of a whole history, with what came last.
fn whole_after(before: Digest, now: Option<(&Input, KeeperState)>) -> Digest {
    let input = now.map(|(input, _)| input);
    let state = now.map_or(KeeperState::SyncConnected, |(_, state)| state);
    digest_all(3, [before, digest_of(3, &(input, state))])
}

/// Remembers a process, unless enough are known that are like it; it is then to be given what they were given.
fn note(known: &mut DigestMap<Digest, Alike>, node: &Arc<Node>, due: &mut Vec<(Arc<Node>, Given)>) {
    let alike = known.entry(node.digest).or_default();
    let is_known = alike.nodes.iter().any(|other| other.whole == node.whole);
    if !is_known && !node.is_done && alike.nodes.len() < AUDITED {
        alike.nodes.push(node.clone());
        due.extend(alike.inputs.iter().map(|given| (node.clone(), given.clone())));
    }
}

/// A process that has gone wrong: it does nothing any more.
fn troubled(before: &Node, trouble: Trouble) -> Step {
    let digest = digest_of(8, &trouble);
    let end = Some(End::Failed);
    let node = Node { end, trouble: Some(trouble), ..Node::idle(before.actor, digest, digest) };
    let (out, merged) = (Emitted::default(), Vec::new());
    Step { node: Arc::new(node), out, from: before.whole, marked: false, merged }
}

fn digest_of_emitted(out: &Emitted, requests: usize, events: usize) -> Digest {
    let mut digester = Digester::new(9);
    out.requests[requests..].iter().for_each(|request| digester.digest(request.digest));
    (&out.events[events..], &out.writes).hash(&mut digester);
    digester.end()
}

/// What a replay has come to.
struct Ran {
    out: Emitted,
    waits: Waits,
    mark: Option<Mark>,
    looked: bool,
    end: Option<End>,
    is_done: bool,
}

/// An actor's tasks while they run.
struct Run {
    tasks: Vec<Pin<Box<dyn Future<Output = Option<End>> + Send>>>,
    end: Option<End>,
    shell: Arc<Shell>,
}

/// Tells whether a task was woken.
#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Run {
    fn begin(&mut self, actor: Actor) {
        self.tasks.push(Box::pin(async { Some(actor.await) }));
    }

    /// Polls all tasks until they are quiet; tells whether they ever were.
    fn poll(&mut self) -> bool {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        for _ in 0..ROUNDS_MAX {
            woken.0.store(false, Ordering::Relaxed);
            let end = &mut self.end;
            self.tasks.retain_mut(|task| match task.as_mut().poll(&mut cx) {
                Poll::Ready(ended) => {
                    *end = end.or(ended);
                    false
                }
                Poll::Pending => true,
            });
            let spawned = self.shell.take_spawned(self.tasks.len());
            let is_quiet = spawned.is_empty() && !woken.0.load(Ordering::Relaxed);
            let spawned = spawned.into_iter().map(|task| {
                Box::pin(async {
                    task.await;
                    None
                }) as _
            });
            self.tasks.extend(spawned);
            if self.shell.has_run_away() {
                return false;
            }
            if is_quiet {
                return true;
            }
        }
        false
    }
}

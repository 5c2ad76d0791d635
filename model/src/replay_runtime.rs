//! What stands between a replayed actor and the model: everything the actor has asked for and was not given.
//!
//! ```
//! use zk_api::{Request, ZooKeeper};
//! use zk_model::{life::Life, replay_runtime::ReplayRuntime};
//! # use zk_harness::event::ActorId;
//! # let actor = ActorId { process: 0, life: 0, thread: 0 };
//! # let (effects, keys, symmetry, guids_fall) = (false, true, false, false);
//!
//! let runtime = ReplayRuntime::new(Life::new(actor, 1), effects, keys, symmetry, guids_fall);
//! let _call = runtime.submit(Request::Sync { path: "/".into() });
//! let (emitted, ..) = runtime.end();
//! assert_eq!(emitted.requests[0].request.name(), "sync");
//! ```

use crate::digest::{Digest, Digester, digest_of, unnoted};
use crate::life::Life;
use crate::process::{Emitted, Input, Req};
use crate::reads::Reads;
use crate::symmetry::{Eyes, guid};
pub use crate::waits::{Polled, Waits};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zk_api::{
    Call, Completer, Error, ErrorCode, KeeperState, Local, Pending, Request, Response, SessionId, StatReads,
    Text, Watch, WatchedEvent, WatcherKind, ZooKeeper, Zxid,
};
use zk_harness::event::{ActorId, Event, GroundTruth, Observation, Resource};
use zk_harness::polling::{AskedAt, Polling};
use zk_harness::probe::{ASKS_PER_TURN, Probe, Task};
pub use zk_proto::watching::Watching;

/// What an actor says that is stopped by force, as it asks without end and never waits.
pub const STOPPED: &str = "stopped: it asks without end";

type Answered = Result<(Response, Option<Watch>), Error>;

/// After a session's end, so many calls in a row may each have others go on before their caller hears that they failed.
/// One that makes more of them, and nothing else, hears of those at once: so code that tries again for ever never ends
/// its turn.
const REFUSED_APART: u8 = 10;

/// What the actor asks with, and what its replay answers through. Locked for moments, never while recipe code runs.
pub struct ReplayRuntime(Mutex<Inner>);

/// The place of the last checkpoint in a step.
#[derive(Clone, Debug)]
pub struct Mark {
    /// What the checkpoint is called.
    pub label: &'static str,
    /// What the rest of the run follows from, but for the session's state.
    pub key: Digest,
    /// The same, as the process itself sees it.
    pub seen: Digest,
    /// What had been emitted before it.
    pub requests: usize,
    /// Likewise.
    pub events: usize,
}

struct Inner {
    actor: ActorId,
    life: Life,
    effects: bool,
    keys: bool,
    symmetry: bool,
    state: KeeperState,
    /// The code has looked at the state in this step, since the last checkpoint.
    looked: bool,
    calls: VecDeque<(Arc<Req>, AskedAt, Completer<Answered>)>,
    polling: Polling,
    /// Calls made after the session's end, which fail once the task that has made them waits.
    refused: Vec<(Error, Completer<Answered>)>,
    /// How often that was so, since anything else has reached it, or its last checkpoint.
    refusals: u8,
    watches: Vec<(Watching, Completer<WatchedEvent>)>,
    changes: Vec<Completer<KeeperState>>,
    points: Vec<Completer<()>>,
    /// How long each sleeps, and in which step it began to: in the order in which they began.
    timers: Vec<(Duration, u32, Completer<()>)>,
    /// How many steps there were.
    steps: u32,
    writes: Vec<Completer<bool>>,
    /// Slots that were filled and are still held: nobody may have looked into them yet.
    filled: Vec<(Digest, Held)>,
    spawned: Vec<Task>,
    out: Emitted,
    mark: Option<Mark>,
    guids: u32,
    guids_fall: bool,
    /// Its session, the first or a later one.
    session: SessionId,
    asked: u32,
    /// More than one task is alive: a checkpoint of one says nothing of the others.
    crowded: bool,
    /// The futures are being dropped: what they still submit goes nowhere.
    closed: bool,
}

/// Of a filled slot, whether its other end is gone.
type Held = Box<dyn Fn() -> bool + Send>;

fn held<T: Send + 'static>(slot: Completer<T>) -> Held {
    Box::new(move || slot.is_abandoned())
}

impl ReplayRuntime {
    /// An actor that has done nothing yet.
    pub fn new(life: Life, effects: bool, keys: bool, symmetry: bool, guids_fall: bool) -> ReplayRuntime {
        ReplayRuntime(Mutex::new(Inner {
            actor: life.actor,
            life,
            effects,
            keys,
            symmetry,
            state: life.first_state(),
            looked: false,
            calls: VecDeque::new(),
            polling: Polling::of(life.rounds),
            refused: Vec::new(),
            refusals: 0,
            watches: Vec::new(),
            changes: Vec::new(),
            points: Vec::new(),
            timers: Vec::new(),
            steps: 0,
            writes: Vec::new(),
            filled: Vec::new(),
            spawned: Vec::new(),
            out: Emitted::default(),
            mark: None,
            guids: 0,
            guids_fall,
            session: if life.early { SessionId::NONE } else { life.session() },
            asked: 0,
            crowded: false,
            closed: false,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic of the recipe happens outside of the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a step: gives the actor its input. `state` is the session's state from now on.
    pub fn feed(&self, input: &Input, state: KeeperState) {
        let mut inner = self.lock();
        inner.begin(state);
        if !matches!(input, Input::Run(_)) {
            inner.refusals = 0;
        }
        if !matches!(input, Input::Answer(_) | Input::Run(_) | Input::Point(_) | Input::Timer(_)) {
            inner.polling.forget();
        }
        match input {
            Input::Answer(answer) => {
                inner.answer(answer);
                // Who is told of its session's end has lost everything else as well by then.
                if matches!(**answer, Ok(Response::Closed) | Err(ErrorCode::AuthFailed)) {
                    inner.over(state, true);
                }
            }
            Input::Event(event) => inner.event(event),
            Input::Removed(path, kind) => inner.forget(path, *kind),
            Input::Lost => {
                inner.fail_calls(ErrorCode::ConnectionLoss);
                inner.change(state);
            }
            Input::NoServer => inner.fail_calls(ErrorCode::ConnectionLoss),
            Input::Connected => inner.change(state),
            Input::Over => inner.over(state, false),
            Input::Renewed(session) => {
                inner.session = *session;
                inner.change(state);
            }
            Input::Point(nth) => {
                let slot = inner.points.remove(usize::from(*nth));
                inner.fill_unit(slot);
            }
            Input::Timer(nth) => {
                let (.., slot) = inner.timers.remove(usize::from(*nth));
                inner.fill_unit(slot);
            }
            Input::Written { nth, accepted } => {
                let slot = inner.writes.remove(usize::from(*nth));
                slot.send(*accepted);
                inner.filled.push((u128::from(*accepted), held(slot)));
            }
            Input::Run(_) => {}
        }
    }

    /// Tasks spawned since the last call.
    pub fn take_spawned(&self) -> Vec<Task> {
        std::mem::take(&mut self.lock().spawned)
    }

    /// What was asked after the session's end fails; gives whether its caller hears of it in a step of its own. By then
    /// other tasks may have become ready, what is raced with it may be there, and other processes may have gone on.
    pub fn refuse(&self) -> bool {
        let mut inner = self.lock();
        if inner.refused.is_empty() {
            return false;
        }
        inner.refusals = inner.refusals.saturating_add(1);
        for (error, slot) in std::mem::take(&mut inner.refused) {
            let code = error.code;
            slot.send(Err(error));
            inner.filled.push((digest_of(3, &code), held(slot)));
        }
        inner.refusals <= REFUSED_APART
    }

    /// So many tasks are left.
    pub fn shared_by(&self, tasks: usize) {
        let mut inner = self.lock();
        inner.crowded = tasks > 1;
        if inner.crowded {
            inner.mark = None;
        }
    }

    /// The lock, for something that the actor asks; unwinds it where it does so without end.
    fn count(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.lock();
        inner.asked += 1;
        if inner.asked > ASKS_PER_TURN && !inner.closed && !std::thread::panicking() {
            drop(inner);
            std::panic::resume_unwind(Box::new(STOPPED));
        }
        inner
    }

    /// Ends a step: what was emitted, what is waited for and polled, the last checkpoint, and whether the code after it
    /// has looked at the session's state.
    pub fn end(&self) -> (Emitted, Waits, Polled, Option<Mark>, bool) {
        let mut inner = self.lock();
        let waits = inner.settle();
        let given_up = inner.calls.len() - waits.calls.len();
        let polled = Polled {
            calls: inner.calls.iter().skip(given_up).map(|(.., slot)| slot.is_polled()).collect(),
            watches: inner.watches.iter().map(|(_, slot)| slot.is_polled()).collect(),
        };
        (std::mem::take(&mut inner.out), waits, polled, inner.mark.take(), inner.looked)
    }

    /// From now on nothing goes anywhere: the futures are about to be dropped.
    pub fn close(&self) {
        self.lock().closed = true;
    }
}

impl ZooKeeper for ReplayRuntime {
    fn submit(&self, request: Request) -> Call {
        let mut inner = self.count();
        let (completer, call) = Pending::slot();
        if inner.closed {
            return call;
        }
        if inner.state.is_final() {
            inner.looked = true;
            let error = error(&request, code_of(inner.state));
            inner.refused.push((error, completer));
            return call;
        }
        let request = Arc::new(Req::new(request));
        inner.out.requests.push(request.clone());
        let asked_at = inner.polling.ask();
        inner.calls.push_back((request, asked_at, completer));
        call
    }

    /// A timer may fire at any time while it is waited for, but not before another of the process that is over by then
    /// for certain; it is gone when it is dropped.
    fn sleep(&self, duration: Duration) -> Pending<()> {
        let (completer, pending) = Pending::slot();
        let mut inner = self.count();
        let step = inner.steps;
        inner.timers.push((duration, step, completer));
        pending
    }

    fn session(&self) -> SessionId {
        let mut inner = self.count();
        inner.out.looks.at_session = true;
        inner.session
    }

    fn state(&self) -> KeeperState {
        let mut inner = self.count();
        inner.looked = true;
        inner.out.looks.at_state = true;
        inner.state
    }

    fn state_change(&self) -> Pending<KeeperState> {
        let (completer, pending) = Pending::slot();
        self.count().changes.push(completer);
        pending
    }

    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        let mut inner = self.lock();
        // Whether an event of a persistent watch was looked at yet cannot be told.
        let persistent = inner.watches.iter().any(|(watching, _)| watching.kind.one_shot().is_none());
        if inner.keys && !inner.crowded && !persistent {
            inner.checkpoint(label, locals);
        }
    }
}

impl Probe for ReplayRuntime {
    fn observe_of(&self, thread: u8, what: Observation) {
        let mut inner = self.count();
        if !inner.closed {
            let actor = inner.actor.of_thread(thread);
            inner.polling.tells(&what);
            inner.out.events.push(Event::Observed { actor, what });
        }
    }

    fn point(&self) -> Pending<()> {
        let (completer, pending) = Pending::slot();
        self.count().points.push(completer);
        pending
    }

    fn work(&self) -> Pending<()> {
        self.point()
    }

    /// Without effects it comes to nothing, at once.
    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        let mut inner = self.count();
        if !inner.effects {
            return Pending::ready(true);
        }
        let (completer, pending) = Pending::slot();
        if !inner.closed {
            inner.out.writes.push((thread, resource, token));
            inner.writes.push(completer);
        }
        pending
    }

    fn guid(&self) -> Text {
        let mut inner = self.count();
        Reads::note_guid(inner.actor.life, inner.guids);
        inner.guids += 1;
        guid(inner.actor, inner.guids - 1, inner.guids_fall)
    }

    fn spawn(&self, task: Task) {
        self.count().spawned.push(task);
    }

    fn thread_ends(&self, thread: u8) {
        let mut inner = self.lock();
        if !inner.closed {
            let actor = inner.actor.of_thread(thread);
            inner.out.events.push(Event::Is(GroundTruth::ThreadEnded { actor }));
        }
    }
}

/// States count in bytes: see [`Waits::beyond`].
fn count(many: usize) -> u8 {
    u8::try_from(many).unwrap_or(u8::MAX)
}

/// What is asked fails with once a session is over.
fn code_of(state: KeeperState) -> ErrorCode {
    match state {
        KeeperState::AuthFailed => ErrorCode::AuthFailed,
        KeeperState::Disconnected
        | KeeperState::SyncConnected
        | KeeperState::Expired
        | KeeperState::Closed => ErrorCode::SessionExpired,
    }
}

fn error(request: &Request, code: ErrorCode) -> Error {
    Error { code, tried: request.name(), path: request.path() }
}

impl Inner {
    fn begin(&mut self, state: KeeperState) {
        self.state = state;
        self.looked = false;
        self.steps += 1;
        self.asked = 0;
        self.mark = None;
    }

    /// Answers the oldest call that somebody waits for. Calls before it were given up, and so were their
    /// answers.
    fn answer(&mut self, answer: &Result<Response, ErrorCode>) {
        while let Some((request, asked_at, slot)) = self.calls.pop_front() {
            if slot.is_abandoned() {
                continue;
            }
            let told = answer.as_ref().map_err(|code| *code);
            let polls = self.polling.answer(self.actor, asked_at, &request.request, told);
            self.out.events.extend(polls.map(Event::Is));
            let result = match answer {
                Ok(response) => Ok((response.clone(), self.new_watch(&request.request, response))),
                Err(code) => Err(error(&request.request, *code)),
            };
            if let (Request::RemoveWatches { path, kind }, Ok(_)) = (&request.request, answer) {
                self.forget(path, *kind);
            }
            slot.send(result);
            let digest = StatReads::unnoted(|| digest_of(1, answer));
            self.filled.push((digest, held(slot)));
            return;
        }
    }

    fn new_watch(&mut self, request: &Request, response: &Response) -> Option<Watch> {
        let watching = Watching::set_by(request, response)?;
        let (completer, pending) = Pending::slot();
        self.watches.push((watching, completer));
        Some(pending)
    }

    /// Watches that were removed hear of nothing any more, not even of the session's end: who waits for one waits on.
    fn forget(&mut self, path: &Text, kind: WatcherKind) {
        let gone = self.watches.extract_if(.., |(watching, _)| watching.is_removed_by(path, kind));
        self.filled.extend(gone.map(|(watching, slot)| (digest_of(6, &watching), held(slot))));
    }

    fn event(&mut self, event: &WatchedEvent) {
        let watches = std::mem::take(&mut self.watches);
        for (watching, slot) in watches {
            if !watching.sees(event) {
                self.watches.push((watching, slot));
                continue;
            }
            slot.send(event.clone());
            if watching.kind.one_shot().is_some() {
                self.filled.push((digest_of(2, event), held(slot)));
            } else {
                self.watches.push((watching, slot));
            }
        }
    }

    fn fail_calls(&mut self, code: ErrorCode) {
        for (request, _, slot) in std::mem::take(&mut self.calls) {
            slot.send(Err(error(&request.request, code)));
            self.filled.push((digest_of(3, &code), held(slot)));
        }
    }

    /// What was asked before the session's end was, and that itself, may have happened; what came later did not.
    /// `answered`: the request for that end was, with all before it.
    fn over(&mut self, state: KeeperState, answered: bool) {
        // How it ended is told by how calls fail.
        self.looked = true;
        let is_end = |(request, ..): &(Arc<Req>, _, _)| request.request == Request::CloseSession;
        let end = self.calls.iter().position(is_end).filter(|_| state == KeeperState::Closed && !answered);
        let later = self.calls.split_off(end.map_or(0, |end| end + 1));
        self.fail_calls(ErrorCode::ConnectionLoss);
        self.calls = later;
        self.fail_calls(code_of(state));
        self.event(&WatchedEvent::session_ended(state));
        self.watches.clear();
        self.change(state);
    }

    fn change(&mut self, state: KeeperState) {
        for slot in std::mem::take(&mut self.changes) {
            slot.send(state);
            self.filled.push((digest_of(4, &state), held(slot)));
        }
    }

    fn fill_unit(&mut self, slot: Completer<()>) {
        slot.send(());
        self.filled.push((5, held(slot)));
    }

    /// Forgets what nobody waits for any more.
    fn settle(&mut self) -> Waits {
        self.filled.retain(|(_, is_abandoned)| !is_abandoned());
        self.points.retain(|slot| !slot.is_abandoned());
        self.timers.retain(|(.., slot)| !slot.is_abandoned());
        self.changes.retain(|slot| !slot.is_abandoned());
        let gone = self.watches.extract_if(.., |(_, slot)| slot.is_abandoned());
        self.out.unwatched.extend(gone.map(|(watching, _)| watching));
        let calls = self.calls.iter().map(|(.., slot)| !slot.is_abandoned());
        Waits {
            calls: calls.skip_while(|alive| !alive).collect(),
            watches: self.watches.iter().map(|(watching, _)| watching.clone()).collect(),
            changes: count(self.changes.len()),
            points: count(self.points.len()),
            timers: self.timers(),
            writes: count(self.writes.len()),
        }
    }

    /// How long each timer is, and how many steps with timers have begun since it was set, the present one included.
    fn timers(&self) -> Vec<(Duration, u8)> {
        let mut steps: Vec<u32> = self.timers.iter().map(|(_, step, _)| *step).collect();
        steps.dedup();
        let age = |step: &u32| {
            let since = steps.iter().filter(|other| *other >= step).count();
            (since + usize::from(steps.last() != Some(&self.steps)) - 1) as u8
        };
        self.timers.iter().map(|(duration, step, _)| (*duration, age(step))).collect()
    }

    fn checkpoint(&mut self, label: &'static str, locals: &[Local<'_>]) {
        let waits = self.settle();
        let mut digester = Digester::new(0xc4ec);
        unnoted(|| self.key(label, locals, &waits, &mut digester));
        let mut seen = 0;
        if self.symmetry {
            let mut eyes = Eyes::new(0xc4ec, usize::from(self.actor.process));
            unnoted(|| self.key(label, locals, &waits, &mut eyes));
            seen = eyes.end();
        }
        self.looked = false;
        self.refusals = 0;
        self.polling.forget();
        self.mark = Some(Mark {
            label,
            key: digester.end(),
            seen,
            requests: self.out.requests.len(),
            events: self.out.events.len(),
        });
    }

    fn key(&self, label: &'static str, locals: &[Local<'_>], waits: &Waits, hasher: &mut impl Hasher) {
        (self.actor, label, locals, waits, self.guids, u32::from(self.life.rank)).hash(hasher);
        self.session.hash(hasher);
        let alive = self.calls.iter().skip(self.calls.len() - waits.calls.len());
        alive.for_each(|(request, ..)| request.request.hash(hasher));
        self.refused.iter().for_each(|(error, _)| (&error.path, error.code).hash(hasher));
        // An answer that was given and not looked at yet is as good as a local.
        self.filled.iter().for_each(|(digest, _)| digest.hash(hasher));
    }
}

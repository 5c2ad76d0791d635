//! A program as a trial: every result of every step is told.

use super::language::Words;
use super::normal::{self, Ranks};
use super::program::{Acl, Ask, Change, Field, PATHS, Path, Process, Program, Read, SLOTS, Slot, TaskStep};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use zk_api::{
    AclList, Call, Completer, Data, Either, Error, Identity, KeeperState, Local, Op, Pending, Perms, ReadOp,
    Request, Response, SessionId, Stat, Text, Watch, WatchedEvent, ZooKeeper, Zxid, creator_acl, open_acl,
    race, read_acl,
};
use zk_harness::event::{End, Event, Observation};
use zk_harness::probe::{Probe, Task};
use zk_harness::promise::{AnyPromise, Finding, Promise, Terms};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;

/// What happened in a run, as promises see it.
pub(super) type Log = Arc<Mutex<Vec<Event>>>;

/// A program on trial. It promises nothing: what it sees is compared.
pub(super) struct Fuzzed {
    pub(super) program: Arc<Program>,
    /// Where what happens is kept, in the simulator.
    pub(super) log: Option<Log>,
    /// Nobody is told who a client is.
    pub(super) anonymous: bool,
}

impl Fuzzed {
    pub(super) fn trial(self) -> Trial {
        let Fuzzed { program, log, anonymous } = self;
        let clients = program.processes.len() as u8;
        // Who asks for watches to be removed sees those that were given up.
        let counts_wakes = program.steps().any(|step| match step {
            TaskStep::Ask { ask, .. } => matches!(ask, Ask::RemoveWatches { .. } | Ask::CheckWatches { .. }),
            _ => false,
        });
        let renews = program.renews;
        let code = move |zk, probe, role: Role| {
            let process = program.processes[usize::from(role.me.process)].clone();
            let shared = Shared { process, renews, next: AtomicUsize::new(1), cell: Mutex::default() };
            runs(shared, (zk, probe), role.me.life, anonymous)
        };
        let recorder = |log: &Log| Box::new(Recorder(log.clone())) as Box<dyn AnyPromise>;
        let trial = Trial::new("fuzz", code)
            .summary("A generated program.")
            .bounds(Bounds::clients(clients))
            .setup([PATHS[0]])
            .promises(move || log.iter().map(recorder).collect())
            .opts_out(&zk_harness::promises::STANDARD)
            .counts_wakes(counts_wakes);
        if renews { trial.renews_session() } else { trial }
    }
}

async fn runs(
    shared: Shared,
    (zk, probe): (Arc<dyn ZooKeeper>, Arc<dyn Probe>),
    life: u8,
    anonymous: bool,
) -> End {
    let lives_on = !shared.process.next.is_empty();
    if life > 0 && !lives_on {
        return End::Done;
    }
    Running { zk: zk.clone(), probe, shared: Arc::new(shared), life, anonymous }.task(0).await;
    match lives_on {
        true if normal::is_lost(zk.state()) => End::SessionLost,
        true if life == 0 => End::Exited,
        _ => End::Done,
    }
}

/// Keeps what it sees, for who compares.
#[derive(Clone, Debug)]
struct Recorder(Log);

impl PartialEq for Recorder {
    fn eq(&self, _: &Recorder) -> bool {
        true
    }
}

impl Eq for Recorder {}

impl std::hash::Hash for Recorder {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl Promise for Recorder {
    fn terms(&self) -> Terms {
        Terms::of("recorded").about("What happens is kept.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        found.push(Finding::Tested);
    }
}

/// What the tasks of a process share.
struct Shared {
    process: Process,
    /// A session that has expired is followed by another.
    renews: bool,
    /// The task to be spawned next.
    next: AtomicUsize,
    cell: Mutex<Cell>,
}

/// A number, and who waits for it.
#[derive(Default)]
struct Cell {
    number: u8,
    waiting: Vec<Completer<()>>,
}

impl Shared {
    fn set(&self, number: u8) {
        let waiting = {
            let mut cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
            cell.number = number;
            if number == 0 { Vec::new() } else { std::mem::take(&mut cell.waiting) }
        };
        for completer in waiting {
            completer.complete(());
        }
    }

    fn get(&self) -> u8 {
        self.cell.lock().unwrap_or_else(PoisonError::into_inner).number
    }

    fn wait(&self) -> Pending<()> {
        let mut cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        if cell.number != 0 {
            return Pending::ready(());
        }
        let (completer, pending) = Pending::slot();
        cell.waiting.push(completer);
        pending
    }
}

/// A process that runs.
#[derive(Clone)]
struct Running<Z, P> {
    zk: Z,
    probe: P,
    shared: Arc<Shared>,
    life: u8,
    anonymous: bool,
}

/// What a task knows.
#[derive(Debug, Default)]
struct Locals {
    slots: [Option<Thing>; SLOTS as usize],
    stat: Option<Stat>,
    /// The last list, and whose children they are.
    list: Option<(Text, Vec<Text>)>,
    made: Option<Text>,
    zxids: Ranks<Zxid>,
    times: Ranks<i64>,
}

/// Something to wait for.
enum Thing {
    Call(Call, Ask),
    Watch(Watch, Ask),
    Change(Pending<KeeperState>),
}

impl std::fmt::Debug for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Thing::Call(_, ask) => write!(f, "call {ask}"),
            Thing::Watch(_, ask) => write!(f, "watch of {ask}"),
            Thing::Change(_) => f.write_str("change"),
        }
    }
}

/// What came.
enum Got {
    Answer(Result<(Response, Option<Watch>), Error>),
    Event(WatchedEvent),
    State(KeeperState),
}

impl Thing {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Got> {
        match self {
            Thing::Call(call, _) => Pin::new(call).poll(cx).map(Got::Answer),
            Thing::Watch(watch, _) => Pin::new(watch).poll(cx).map(Got::Event),
            Thing::Change(change) => Pin::new(change).poll(cx).map(Got::State),
        }
    }

    async fn next(&mut self) -> Got {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Whether another event may come.
    fn stays(&self) -> bool {
        matches!(self, Thing::Watch(_, Ask::AddWatch { .. }))
    }
}

impl<Z, P> Running<Z, P>
where
    Z: ZooKeeper + Clone + 'static,
    P: Probe + Clone + 'static,
{
    /// Runs a task. In a box, as a task may spawn another.
    fn task(&self, nth: usize) -> Task {
        let me = self.clone();
        Box::pin(async move {
            let Process { tasks, next } = &me.shared.process;
            let steps = if me.life > 0 && nth == 0 { next } else { &tasks[nth] };
            let mut locals = Locals::default();
            for (at, step) in steps.iter().enumerate() {
                let name = match me.life {
                    0 => format!("{nth}.{at}"),
                    _ => format!("next {nth}.{at}"),
                };
                me.step(&name, step, &mut locals).await;
            }
        })
    }

    fn says(&self, name: &str, what: &str) {
        self.probe.observe(Observation::note(Word::own(name), what, 0));
    }

    async fn step(&self, name: &str, step: &TaskStep, locals: &mut Locals) {
        match step {
            TaskStep::Ask { slot, ask } => {
                let mut thing = Thing::Call(self.zk.submit(self.request(ask, locals)), ask.clone());
                match slot {
                    Some(slot) => locals.slots[usize::from(slot.0)] = Some(thing),
                    None => {
                        let got = thing.next().await;
                        // A watch that nobody keeps is given up.
                        drop(self.take(name, got, Some(thing), locals));
                    }
                }
            }
            TaskStep::Await(slot) => {
                if let Some(mut thing) = locals.slots[usize::from(slot.0)].take() {
                    let got = thing.next().await;
                    locals.slots[usize::from(slot.0)] = self.take(name, got, Some(thing), locals);
                }
            }
            TaskStep::Race(first, second) => self.race(name, (*first, *second), locals).await,
            TaskStep::RaceTimer(slot, ms) => {
                let timer = self.zk.sleep(Duration::from_millis(u64::from(*ms)));
                let Some(mut thing) = locals.slots[usize::from(slot.0)].take() else { return timer.await };
                locals.slots[usize::from(slot.0)] = match race(thing.next(), timer).await {
                    Either::Left(got) => self.take(name, got, Some(thing), locals),
                    Either::Right(()) => {
                        self.says(name, "time is over");
                        Some(thing)
                    }
                };
            }
            TaskStep::Drop(slot) => locals.slots[usize::from(slot.0)] = None,
            TaskStep::StateChange(slot) => {
                locals.slots[usize::from(slot.0)] = Some(Thing::Change(self.zk.state_change()));
            }
            TaskStep::Stat(field) => {
                let seen = locals.stat.map(|stat| self.field(*field, &stat, locals));
                self.says(name, &seen.unwrap_or_else(|| "no Stat".into()));
            }
            TaskStep::First | TaskStep::Last => {
                let path = if *step == TaskStep::First { Path::First } else { Path::Last };
                self.says(name, &locals.path(path));
            }
            TaskStep::Connected => {
                while !self.is_connected() {
                    self.zk.state_change().await;
                }
            }
            TaskStep::Session => {
                let is_none = self.zk.session() == SessionId::NONE;
                self.says(name, if is_none { "no session" } else { "a session" });
            }
            TaskStep::State => self.says(name, &normal::state(self.zk.state())),
            TaskStep::Sleep(ms) => self.zk.sleep(Duration::from_millis(u64::from(*ms))).await,
            TaskStep::Point => self.probe.point().await,
            TaskStep::Set(number) => self.shared.set(*number),
            TaskStep::Get => self.says(name, &self.shared.get().to_string()),
            TaskStep::Wait => self.shared.wait().await,
            TaskStep::Checkpoint => {
                let known = format!("{name} {} {locals:?}", self.shared.next.load(Ordering::Relaxed));
                self.zk.checkpoint("all", &[Local::Text(&known), Local::Number(self.shared.get().into())]);
            }
            TaskStep::Spawn => {
                let nth = self.shared.next.fetch_add(1, Ordering::Relaxed);
                if nth < self.shared.process.tasks.len() {
                    self.probe.spawn(self.task(nth));
                }
            }
        }
    }

    /// Whether there is nothing to wait for: a session, and a connection where sessions follow each other, or none
    /// ever.
    fn is_connected(&self) -> bool {
        let state = self.zk.state();
        match self.shared.renews {
            true => state == KeeperState::SyncConnected || (state.is_final() && !normal::is_lost(state)),
            false => self.zk.session() != SessionId::NONE || state.is_final(),
        }
    }

    async fn race(&self, name: &str, (first, second): (Slot, Slot), locals: &mut Locals) {
        let one = locals.slots[usize::from(first.0)].take();
        let other = locals.slots[usize::from(second.0)].take();
        // Faults that are aimed at somebody are aimed at who is here.
        self.probe.observe(Observation::begins(Word::own(name), "races", 0));
        let (one, other) = match (one, other) {
            (Some(mut one), Some(mut other)) => match race(one.next(), other.next()).await {
                Either::Left(got) => (self.take(name, got, Some(one), locals), Some(other)),
                Either::Right(got) => (Some(one), self.take(name, got, Some(other), locals)),
            },
            (Some(mut one), None) => {
                let got = one.next().await;
                (self.take(name, got, Some(one), locals), None)
            }
            (None, Some(mut other)) => {
                let got = other.next().await;
                (None, self.take(name, got, Some(other), locals))
            }
            (None, None) => return,
        };
        locals.slots[usize::from(first.0)] = one;
        if other.is_some() {
            locals.slots[usize::from(second.0)] = other;
        }
    }

    /// Tells what came, and remembers what later steps are about. What is left to wait for stays.
    fn take(&self, name: &str, got: Got, thing: Option<Thing>, locals: &mut Locals) -> Option<Thing> {
        match got {
            Got::State(state) => {
                self.says(name, &normal::state(state));
                None
            }
            Got::Event(event) => {
                self.says(name, &normal::event(&event));
                thing.filter(Thing::stays)
            }
            Got::Answer(Err(error)) => {
                self.says(name, &format!("{:?}", error.code));
                None
            }
            Got::Answer(Ok((response, watch))) => {
                let Some(Thing::Call(_, ask)) = thing else { return None };
                let is_auth = matches!(ask, Ask::Auth { .. });
                let response = if is_auth { Response::Authenticated } else { response };
                self.says(name, &normal::answer(&response));
                locals.stat = normal::stat_of(&response).or(locals.stat);
                match response {
                    Response::Created { path, .. } => locals.made = Some(path),
                    Response::Children { names, .. } => {
                        let (Ask::Children { path, .. }, names) = (&ask, names) else { return None };
                        locals.list = Some((locals.path(*path), names));
                    }
                    _ => {}
                }
                watch.map(|watch| Thing::Watch(watch, ask))
            }
        }
    }

    fn request(&self, ask: &Ask, locals: &Locals) -> Request {
        match ask {
            Ask::Auth { .. } if self.anonymous => Request::Sync { path: PATHS[0].into() },
            _ => request(ask, locals),
        }
    }

    fn field(&self, field: Field, stat: &Stat, locals: &mut Locals) -> String {
        let word = field.word();
        match field {
            Field::Czxid => format!("{word} {}", locals.zxids.rank(stat.czxid())),
            Field::Mzxid => format!("{word} {}", locals.zxids.rank(stat.mzxid())),
            Field::Pzxid => format!("{word} {}", locals.zxids.rank(stat.pzxid())),
            Field::Ctime => format!("{word} {}", locals.times.rank(stat.ctime_ms())),
            Field::Mtime => format!("{word} {}", locals.times.rank(stat.mtime_ms())),
            Field::Version => format!("{word} {}", stat.version()),
            Field::Cversion => format!("{word} {}", stat.cversion()),
            Field::Aversion => format!("{word} {}", stat.aversion()),
            Field::Length => format!("{word} {}", stat.data_length()),
            Field::Children => format!("{word} {}", stat.num_children()),
            Field::Owner => normal::owner(stat.ephemeral_owner(), self.zk.session(), false).into(),
            Field::OwnerOrder => normal::owner(stat.ephemeral_owner(), self.zk.session(), true).into(),
        }
    }
}

impl Locals {
    fn path(&self, path: Path) -> Text {
        let of_list = |name: Option<&Text>, parent: &Text| {
            format!("{parent}/{}", name.map_or("none", |name| &**name)).into()
        };
        match (path, &self.list) {
            (Path::Fixed(nth), _) => PATHS[usize::from(nth)].into(),
            (Path::First, Some((parent, names))) => of_list(names.first(), parent),
            (Path::Last, Some((parent, names))) => of_list(names.last(), parent),
            (Path::First | Path::Last, None) => format!("{}/none", PATHS[0]).into(),
            (Path::Made, _) => self.made.clone().unwrap_or_else(|| PATHS[1].into()),
        }
    }
}

fn data(number: u8) -> Data {
    match number {
        0 => Data::NULL,
        number => Data::from(&*number.to_string()),
    }
}

fn acl(acl: Acl) -> AclList {
    match acl {
        Acl::Open => open_acl(),
        Acl::ReadOnly => read_acl(),
        Acl::Creator => creator_acl(),
        // Of `u1:p`.
        Acl::User => {
            let who = Identity::new("digest", USER);
            [zk_api::Acl { perms: Perms::ALL, who }].into()
        }
    }
}

/// User 1, as the scheme `digest` names it: base64 of the SHA-1 of `u1:p`.
const USER: &str = "u1:FfP80c+zcEPgU6zorph629PDPJ0=";

fn request(ask: &Ask, locals: &Locals) -> Request {
    let p = |path: &Path| locals.path(*path);
    match ask {
        Ask::Create { path, data: of, mode, acl: who, stat } => {
            Request::Create { path: p(path), data: data(*of), acl: acl(*who), mode: *mode, stat: *stat }
        }
        Ask::Delete { path, version } => Request::Delete { path: p(path), version: *version },
        Ask::Exists { path, watch } => Request::Exists { path: p(path), watch: *watch },
        Ask::Data { path, watch } => Request::GetData { path: p(path), watch: *watch },
        Ask::SetData { path, data: of, version } => {
            Request::SetData { path: p(path), data: data(*of), version: *version }
        }
        Ask::Children { path, watch, stat } => {
            Request::GetChildren { path: p(path), watch: *watch, stat: *stat }
        }
        Ask::Acl { path } => Request::GetAcl { path: p(path) },
        Ask::SetAcl { path, acl: who } => Request::SetAcl { path: p(path), acl: acl(*who), version: -1 },
        Ask::Sync { path } => Request::Sync { path: p(path) },
        Ask::Multi(changes) => {
            Request::Multi { ops: changes.iter().map(|change| op(change, locals)).collect() }
        }
        Ask::Reads(reads) => {
            let read = |read: &Read| match read {
                Read::Data(path) => ReadOp::GetData { path: p(path) },
                Read::Children(path) => ReadOp::GetChildren { path: p(path) },
            };
            Request::MultiRead { ops: reads.iter().map(read).collect() }
        }
        Ask::AddWatch { path, mode } => Request::AddWatch { path: p(path), mode: *mode },
        Ask::RemoveWatches { path, kind } => Request::RemoveWatches { path: p(path), kind: *kind },
        Ask::CheckWatches { path, kind } => Request::CheckWatches { path: p(path), kind: *kind },
        Ask::Ephemerals { path } => Request::GetEphemerals { prefix: p(path) },
        Ask::Count { path } => Request::GetAllChildrenNumber { path: p(path) },
        Ask::WhoAmI => Request::WhoAmI,
        Ask::Auth { user } => Request::Auth {
            scheme: if *user == 0 { "nobody" } else { "digest" }.into(),
            credentials: Data::from(&*format!("u{user}:p")),
        },
        Ask::Close => Request::CloseSession,
    }
}

fn op(change: &Change, locals: &Locals) -> Op {
    let p = |path: &Path| locals.path(*path);
    match change {
        Change::Create { path, data: of, mode } => {
            Op::Create { path: p(path), data: data(*of), acl: open_acl(), mode: *mode, stat: false }
        }
        Change::Delete { path, version } => Op::Delete { path: p(path), version: *version },
        Change::SetData { path, data: of, version } => {
            Op::SetData { path: p(path), data: data(*of), version: *version }
        }
        Change::Check { path, version } => Op::Check { path: p(path), version: *version },
    }
}

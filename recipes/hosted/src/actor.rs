//! A program as code over [`ZooKeeper`](zk_api::ZooKeeper), for engines that explore, and for whoever stands between a
//! recipe and its session: they know requests and answers, and no bytes.
//!
//! What the program sends becomes requests of a session of the engine's, and what comes of them becomes bytes. Its
//! client library opens connections, and opens them again: they stand for the session's own, which the engine breaks.
//! While that one is broken, none is answered.
//!
//! Left out, as named in [`LEFT_OUT`](crate::memory::LEFT_OUT): what only a network or a scheduler could show.

use crate::elapsed;
use crate::memory::{At, Memory};
use crate::stands::{Act, Stands};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use zk_api::{
    AddWatchMode, Call, Error, KeeperState, Pending, Request, Response, SessionId, Text, Watch, WatchedEvent,
};
use zk_harness::common::{AnyProbe, AnyZooKeeper};
use zk_harness::event::{End, Resource};
use zk_harness::probe::Probe as _;
use zk_harness::program::{Input, Life, Losses, Socket};
use zk_harness::trial::Role;
use zk_proto::message::{ConnectRequest, ConnectResponse, ToClient, WatchList, Xid};

/// Of a program that has two sessions at a time, or one after it has closed another.
const ANOTHER_SESSION: &str = "it opens another session though its first has not expired: no model has that";

/// What it is told of session timeouts. A session lives as long as an engine lets it.
const TIMEOUT_MS: u32 = 10_000;

/// Runs one life of a program, for an engine that explores or for one that does not.
pub(crate) async fn run(
    memory: Arc<Memory>,
    is_explored: bool,
    zk: AnyZooKeeper,
    probe: AnyProbe,
    role: Role,
) -> End {
    let mut actor = Running::begin(memory, is_explored, zk, probe, role);
    loop {
        actor.act();
        if let Some(end) = actor.end {
            return end;
        }
        if is_explored {
            actor.set_timer_of_search()
        } else {
            actor.set_timer()
        }
        let happened = poll_fn(|cx| actor.poll(cx)).await;
        actor.hear(happened);
    }
}

/// What happens to it.
enum Happened {
    News(KeeperState),
    Answer(Result<(Response, Option<Watch>), Error>),
    Event(WatchedEvent),
    Done { ask: u32, accepted: bool },
    Timer(u64),
}

struct Asked {
    socket: Socket,
    xid: Xid,
    request: Request,
    call: Call,
}

struct Running {
    stands: Stands,
    zk: AnyZooKeeper,
    probe: AnyProbe,
    asked: VecDeque<Asked>,
    watches: Vec<(Text, Watched, Watch)>,
    /// They are of its former connection: this one has those of them that it registers again before anything else.
    are_former: bool,
    /// What they were told and it was not.
    events: VecDeque<WatchedEvent>,
    dones: Vec<(u32, Pending<bool>)>,
    news: Pending<KeeperState>,
    state: KeeperState,
    losses: Losses,
    /// The session that it was told it has.
    session: SessionId,
    /// A new session that it has asked for and is not there yet.
    waiting: Option<(Socket, ConnectRequest)>,
    /// By the time on its clock at which each goes off.
    timers: BTreeMap<u64, Pending<()>>,
    end: Option<End>,
}

/// In which of the lists a watch stands that is registered again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    Data,
    Exist,
    Child,
    Persistent,
    Recursive,
}

impl Running {
    fn begin(
        memory: Arc<Memory>,
        is_explored: bool,
        zk: AnyZooKeeper,
        probe: AnyProbe,
        role: Role,
    ) -> Running {
        let life = Life {
            me: role.me,
            clients: role.clients,
            rounds: role.rounds,
            seed: u64::from(role.me.process) << 8 | u64::from(role.me.life),
            servers: vec![0],
            timeout_ms: TIMEOUT_MS,
            stands_still: 0,
            stands_still_ns: 1,
        };
        let begun = At::begin(&memory, is_explored, &life);
        let (at, step) = begun.unwrap_or_else(|what| memory.is_wrong(what));
        let mut stands = Stands::at(memory, at);
        stands.take(&step);
        let (news, state) = (zk.state_change(), zk.state());
        let mut losses = Losses::default();
        losses.is_in(state);
        Running {
            stands,
            zk,
            probe,
            asked: VecDeque::new(),
            watches: Vec::new(),
            are_former: false,
            events: VecDeque::new(),
            dones: Vec::new(),
            news,
            state,
            losses,
            session: SessionId::NONE,
            waiting: None,
            timers: BTreeMap::new(),
            end: None,
        }
    }

    /// Whether a connection that is opened now is answered: as it is, or as its session has ended and it does not know.
    fn answers(&self) -> bool {
        match self.state {
            KeeperState::SyncConnected => true,
            KeeperState::Expired => self.session != SessionId::NONE,
            KeeperState::Disconnected => false,
            // See `act`.
            KeeperState::Closed | KeeperState::AuthFailed => true,
        }
    }

    /// Sees to all that it does.
    fn act(&mut self) {
        while let Some(act) = self.stands.acts.pop_front() {
            match act {
                Act::Connects(_) if matches!(self.state, KeeperState::Closed | KeeperState::AuthFailed) => {
                    self.stands.wrong(ANOTHER_SESSION);
                }
                Act::Connects(socket) => {
                    if self.answers() {
                        self.stands.open(socket);
                    }
                }
                Act::Greets(socket, request) => self.greet(socket, request),
                Act::Asks(socket, xid, request) => self.ask(socket, xid, request),
                Act::WatchesAgain(socket, list) => {
                    self.watches.retain(|(path, kind, _)| is_in(&list, path, *kind));
                    self.are_former = false;
                    let zxid = self.stands.next_zxid();
                    self.stands.receives(socket, &ToClient::WatchesSet { zxid });
                }
                Act::Pings(socket) => self.stands.pong(socket),
                Act::Closes(socket) => {
                    let was_greeted = self.stands.conns.remove(&socket).is_some_and(|conn| conn.is_greeted);
                    if was_greeted && self.state == KeeperState::SyncConnected {
                        self.losses.is_in(KeeperState::Disconnected);
                    }
                    self.asked.retain(|asked| asked.socket != socket);
                }
                Act::Observed(thread, what) => {
                    self.losses.hear(&what);
                    self.probe.observe_of(thread, what);
                }
                Act::Works(ask) => self.dones.push((ask, self.probe.work().map(|()| true))),
                Act::Writes(ask, thread) => {
                    self.dones.push((ask, self.probe.write_of(thread, Resource::Unfenced, None)));
                }
                Act::Ends(End::Done) if self.is_abandoned() => self.end = Some(self.leave()),
                Act::Ends(end) => self.end = Some(self.losses.end(end)),
                Act::Leaves => self.end = Some(self.leave()),
            }
        }
        if std::mem::take(&mut self.are_former) {
            self.watches.clear();
        }
    }

    /// Whether it has stopped its client while that had no connection: it looks for none, and will not.
    fn is_abandoned(&self) -> bool {
        self.state == KeeperState::Disconnected
            && self.stands.conns.is_empty()
            && self.stands.timer_ns.is_none()
    }

    /// It is gone, and says that all is done. A session that nobody keeps ends at any time later, as does one that is
    /// closed.
    fn leave(&mut self) -> End {
        match self.state {
            KeeperState::SyncConnected => drop(self.zk.submit(Request::CloseSession)),
            KeeperState::Disconnected => return End::Exited,
            KeeperState::Expired | KeeperState::Closed | KeeperState::AuthFailed => {}
        }
        End::Done
    }

    fn greet(&mut self, socket: Socket, request: ConnectRequest) {
        if !self.stands.conns.contains_key(&socket) {
            return;
        }
        let is_new = request.session == SessionId::NONE;
        if is_new && self.session != SessionId::NONE {
            self.stands.wrong(ANOTHER_SESSION);
        }
        let has_it = self.state == KeeperState::SyncConnected;
        if is_new && !has_it {
            self.waiting = Some((socket, request));
            return;
        }
        let own = self.zk.session();
        let is_known = has_it && (is_new || request.session == own);
        let (timeout_ms, session) = if is_known { (TIMEOUT_MS, own) } else { (0, SessionId::NONE) };
        self.session = session;
        if let Some(conn) = self.stands.conns.get_mut(&socket) {
            conn.is_greeted = is_known;
        }
        self.are_former = is_known;
        let response = ConnectResponse { timeout_ms, session, password: [7; 16] };
        self.stands.receives(socket, &ToClient::Connected(response));
    }

    fn ask(&mut self, socket: Socket, xid: Xid, request: Request) {
        if !self.stands.conns.get(&socket).is_some_and(|conn| conn.is_greeted) {
            return;
        }
        let call = self.zk.submit(request.clone());
        self.asked.push_back(Asked { socket, xid, request, call });
    }

    /// A timer for what it will do by itself, if that is anything. A search has any timer go off at any time: it is to
    /// know of no other.
    fn set_timer_of_search(&mut self) {
        let At::Place(at) = self.stands.at else { return };
        let is_answered = self.answers();
        let when = self.stands.memory.clone().moves_by_itself(at, is_answered, || {
            let mut alone = self.stands.clone();
            alone.go_on_alone(is_answered).then_some(alone.now_ns)
        });
        let now = self.stands.now_ns;
        self.timers.clear();
        self.timers.extend(when.map(|when| (when, self.zk.sleep(Duration::from_nanos(when - now)))));
    }

    /// A timer for what it wants to be stepped for. Those that it wanted before go on: they tell its clock the time.
    fn set_timer(&mut self) {
        let now = self.stands.now_ns;
        if let Some(when) = self.stands.timer_ns {
            let sleep = || self.zk.sleep(Duration::from_nanos(when.saturating_sub(now)));
            self.timers.entry(when).or_insert_with(sleep);
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Happened> {
        // Whoever has asked for the end of its session is told that by the answer.
        if matches!(self.zk.state(), KeeperState::Closed | KeeperState::AuthFailed)
            && let Some(answer) = self.poll_answer(cx)
        {
            return Poll::Ready(answer);
        }
        if let Poll::Ready(state) = Pin::new(&mut self.news).poll(cx) {
            return Poll::Ready(Happened::News(state));
        }
        if self.greeted().is_some() {
            if let Some(answer) = self.poll_answer(cx) {
                return Poll::Ready(answer);
            }
            if let Some(event) = self.poll_watches(cx) {
                return Poll::Ready(Happened::Event(event));
            }
        }
        for at in 0..self.dones.len() {
            if let Poll::Ready(accepted) = Pin::new(&mut self.dones[at].1).poll(cx) {
                let (ask, _) = self.dones.remove(at);
                return Poll::Ready(Happened::Done { ask, accepted });
            }
        }
        let gone_off = self.timers.iter_mut().find_map(|(when, timer)| match Pin::new(timer).poll(cx) {
            Poll::Ready(()) => Some(*when),
            Poll::Pending => None,
        });
        match gone_off {
            Some(when) => {
                self.timers.remove(&when);
                Poll::Ready(Happened::Timer(when))
            }
            None => Poll::Pending,
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Option<Happened> {
        match Pin::new(&mut self.asked.front_mut()?.call).poll(cx) {
            Poll::Ready(answer) => Some(Happened::Answer(answer)),
            Poll::Pending => None,
        }
    }

    /// What its watches are told: on one connection, one event for all of them that it is for.
    fn poll_watches(&mut self, cx: &mut Context<'_>) -> Option<WatchedEvent> {
        let events = &mut self.events;
        self.watches.retain_mut(|(_, kind, watch)| {
            let Poll::Ready(event) = Pin::new(watch).poll(cx) else { return true };
            if !events.contains(&event) {
                events.push_back(event);
            }
            matches!(kind, Watched::Persistent | Watched::Recursive)
        });
        events.pop_front()
    }

    fn greeted(&self) -> Option<Socket> {
        self.stands.conns.iter().find(|(_, conn)| conn.is_greeted).map(|(socket, _)| *socket)
    }

    fn hear(&mut self, happened: Happened) {
        match happened {
            Happened::News(state) => self.hear_news(state),
            Happened::Answer(answer) => {
                let Some(asked) = self.asked.pop_front() else { return };
                self.hear_answer(asked, answer);
            }
            Happened::Event(event) => {
                if let Some(socket) = self.greeted() {
                    let zxid = Some(self.stands.next_zxid());
                    self.stands.receives(socket, &ToClient::Event { zxid, event });
                }
            }
            Happened::Done { ask, accepted } => self.stands.tell(vec![Input::Done { ask, accepted }]),
            Happened::Timer(when) => match self.stands.at {
                At::Place(_) => drop(self.stands.go_on_alone(self.answers())),
                At::Once(_) => {
                    let stands = &mut self.stands;
                    stands.now_ns = stands.now_ns.max(when);
                    if stands.timer_ns.is_some_and(|timer_ns| timer_ns <= stands.now_ns) {
                        stands.tell(Vec::new());
                    }
                }
            },
        }
        if let At::Place(at) = self.stands.at {
            elapsed::look(&self.stands.memory, at);
        }
    }

    fn hear_news(&mut self, state: KeeperState) {
        self.news = self.zk.state_change();
        self.state = state;
        self.losses.is_in(state);
        if state != KeeperState::SyncConnected {
            self.asked.clear();
            let open = self.stands.conns.iter().filter(|(_, conn)| conn.is_open);
            let ends: Vec<Input> = open.map(|(socket, _)| Input::End(*socket)).collect();
            self.stands.conns.retain(|_, conn| !conn.is_open);
            if !ends.is_empty() {
                self.stands.tell(ends);
            }
        }
        if state.is_final() {
            self.watches.clear();
            self.events.clear();
        }
        if self.answers() {
            let held = self.stands.conns.iter().filter(|(_, conn)| !conn.is_open);
            let held: Vec<Socket> = held.map(|(socket, _)| *socket).collect();
            held.into_iter().for_each(|socket| self.stands.open(socket));
        }
        if let Some((socket, request)) = self.waiting.take() {
            self.greet(socket, request);
        }
    }

    fn hear_answer(&mut self, asked: Asked, answer: Result<(Response, Option<Watch>), Error>) {
        let Asked { socket, xid, request, .. } = asked;
        let result = match answer {
            Ok((response, watch)) => {
                self.watches.extend(watch.and_then(|watch| watched(&request, &response, watch)));
                Ok(response)
            }
            Err(error) => Err(error.code),
        };
        let zxid = self.stands.next_zxid();
        self.stands.receives(socket, &ToClient::Reply { xid, zxid, result });
    }
}

fn watched(request: &Request, response: &Response, watch: Watch) -> Option<(Text, Watched, Watch)> {
    let (path, kind) = match (request, response) {
        (Request::Exists { path, .. }, Response::Exists(None)) => (path, Watched::Exist),
        (Request::Exists { path, .. } | Request::GetData { path, .. }, _) => (path, Watched::Data),
        (Request::GetChildren { path, .. }, _) => (path, Watched::Child),
        (Request::AddWatch { path, mode: AddWatchMode::Persistent }, _) => (path, Watched::Persistent),
        (Request::AddWatch { path, mode: AddWatchMode::PersistentRecursive }, _) => {
            (path, Watched::Recursive)
        }
        _ => return None,
    };
    Some((path.clone(), kind, watch))
}

fn is_in(list: &WatchList, path: &Text, kind: Watched) -> bool {
    let list = match kind {
        Watched::Data => &list.data,
        Watched::Exist => &list.exist,
        Watched::Child => &list.child,
        Watched::Persistent => &list.persistent,
        Watched::Recursive => &list.recursive,
    };
    list.contains(path)
}

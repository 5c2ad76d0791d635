//! A client process and its connection.

use super::proven::proven_by;
use crate::digest::{Digest, Digester};
use crate::message::{Events, HashedMessage, Message};
use crate::orders;
use crate::process::{Answer, Node, Req};
use crate::symmetry::{Eyes, session_of};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zk_api::{Identity, KeeperState, Request, SessionId, Zxid};
use zk_harness::event::{ActorId, End, Resource};
use zk_proto::watching::Watching;

/// A client process and its connection.
#[derive(Clone, Debug)]
pub struct Client {
    /// The process.
    pub node: Arc<Node>,
    /// Its session; `NONE` while its code runs and has none yet.
    pub session: SessionId,
    /// How many rounds it has still to do, where a next life would have to know; else none.
    pub rounds_left: u8,
    /// See [`Life::rank`](crate::life::Life::rank).
    pub rank: u16,
    /// How it fares.
    pub phase: Phase,
    /// What the client knows of its session.
    pub state: KeeperState,
    /// Its client has lost its connection or session, and tasks that this has woken have still to look.
    pub is_news: bool,
    /// Its session lives, whether it knows or not.
    pub lives: bool,
    /// Its server takes it for alive, or the next one does.
    pub served: bool,
    /// Requests sent and not served, or waiting for a connection.
    pub queue: Vec<Arc<Req>>,
    /// Answers and events on their way to it.
    pub inbox: Vec<Arc<HashedMessage>>,
    /// Writes of a connection that is gone, still to be served.
    pub ghosts: Vec<Arc<Req>>,
    /// Whom the server of its connection takes it for.
    pub identities: Arc<[Identity]>,
    /// Whom the server of the lost connection takes it for, as it comes to each of these writes.
    pub proven: Vec<Arc<[Identity]>>,
    /// Credentials that it repeats on each later connection, in the order in which it was given them.
    pub credentials: Vec<Arc<Req>>,
    /// Writes to outside resources, in the order in which they were sent.
    pub writes: Vec<Write>,
    /// Calls not answered yet, those that nobody waits for included.
    pub(super) outstanding: u8,
    /// What tells it from others.
    pub digest: Digest,
    /// The same, as it sees itself; zero without symmetry.
    pub seen: Digest,
}

/// How a process fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Its code is to begin, with the session that its server has for it, or before it knows of that.
    Unbegun,
    /// It runs.
    Running,
    /// It was stopped, as in a garbage collection.
    Paused,
    /// It is gone.
    Crashed,
}

/// A write to an outside resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Which thread has sent it.
    pub thread: u8,
    /// Where it goes.
    pub resource: Resource,
    /// What it shows.
    pub token: Option<Zxid>,
    /// It has arrived, and was accepted or not; its writer does not know yet.
    pub arrived: Option<bool>,
}

/// What came of it.
#[derive(Debug)]
pub struct Moved {
    /// The client after it.
    pub client: Arc<Client>,
    /// What monitors see of it.
    pub events: Events,
    /// Watches that nobody waits for any more.
    pub unwatched: Vec<Watching>,
}

impl Client {
    /// A client whose process is to begin. `rank`: see [`Life::rank`](crate::life::Life::rank); 0 while it has none
    /// yet.
    pub fn unbegun(actor: ActorId, rank: u16, symmetry: bool) -> Arc<Client> {
        let blank = Client::blank(Arc::new(Node::unbegun(actor)));
        Arc::new(Client { session: session_of(actor, rank, 0), rank, ..blank }.sealed(symmetry))
    }

    pub(super) fn blank(node: Arc<Node>) -> Client {
        Client {
            session: session_of(node.actor, 0, 0),
            node,
            rank: 0,
            rounds_left: 0,
            phase: Phase::Unbegun,
            state: KeeperState::SyncConnected,
            lives: false,
            served: true,
            is_news: false,
            queue: Vec::new(),
            inbox: Vec::new(),
            ghosts: Vec::new(),
            identities: Arc::default(),
            proven: Vec::new(),
            credentials: Vec::new(),
            writes: Vec::new(),
            outstanding: 0,
            digest: 0,
            seen: 0,
        }
    }

    /// Who it is.
    pub fn actor(&self) -> ActorId {
        self.node.actor
    }

    /// Whether its code has begun before it has a session, and has none yet.
    pub fn is_early(&self) -> bool {
        self.session == SessionId::NONE
    }

    /// Whether its process may do something.
    pub fn runs(&self) -> bool {
        self.phase == Phase::Running && !self.node.is_done
    }

    /// Whether it may be given a new session, where its client library opens one by itself. That goes on when the code
    /// has ended, as long as the process does.
    pub fn may_renew(&self) -> bool {
        let ends_well = matches!(self.node.end, Some(End::Done | End::Failed)) && self.node.trouble.is_none();
        let outlives_code = self.phase == Phase::Running && self.node.is_done && ends_well;
        match self.state {
            KeeperState::Expired => outlives_code || (self.runs() && self.node.ready.is_empty()),
            // It is told of the end in the same step, as nobody looks.
            KeeperState::SyncConnected | KeeperState::Disconnected => {
                outlives_code && !self.lives && !self.is_early()
            }
            KeeperState::AuthFailed | KeeperState::Closed => false,
        }
    }

    /// Whether it waits for answers or events, or has asked for something that it has given up: some may have come when
    /// it comes to the news of its connection.
    pub fn may_be_late(&self) -> bool {
        let waits = &self.node.waits;
        !(waits.calls.is_empty() && waits.watches.is_empty() && self.queue.is_empty())
    }

    /// Whether it has asked for the end of its session, and was not answered.
    pub(super) fn closes(&self) -> bool {
        self.queue.iter().any(|sent| sent.request == Request::CloseSession)
    }

    /// How many of the next answers are for calls that were given up.
    pub fn given_up(&self) -> usize {
        usize::from(self.outstanding).saturating_sub(self.node.waits.calls.len())
    }

    /// How many of the queue's requests are writes.
    pub fn queued_writes(&self) -> usize {
        self.queue.iter().filter(|request| request.request.is_write()).count()
    }

    /// The answers among the next so many messages that somebody waits for and that have lists of names.
    pub fn lists_to_come(&self, many: u8) -> impl Iterator<Item = &Answer> {
        let next = self.inbox.iter().take(many.into()).filter_map(|hashed| hashed.message.answer());
        next.skip(self.given_up()).filter(|answer| !orders::names_in(answer).is_empty())
    }

    /// A server tells of watches that were given up as well: nobody hears of those events. What an answer sets that is
    /// before an event, that event may be for.
    pub(super) fn forget_events(&mut self) {
        if !self.inbox.iter().any(|hashed| matches!(hashed.message, Message::Event(_))) {
            return;
        }
        let mut seen_by = self.node.waits.watches.clone();
        self.inbox.retain(|hashed| match &hashed.message {
            Message::Answer { sets, .. } => {
                seen_by.extend(sets.clone());
                true
            }
            Message::Event(event) => seen_by.iter().any(|watching| watching.sees(event)),
            Message::Lost | Message::Refused => true,
        });
    }

    /// Whether its process has ended so that another life may follow.
    pub fn may_come_back(&self) -> bool {
        let has_ended = self.phase == Phase::Crashed || self.node.end == Some(End::SessionLost);
        has_ended && self.rounds_left > 0
    }

    /// What is left of its session where its process has gone on to another one: it expires, and what was sent arrives.
    /// `goes_on`: with the same code, whose writes to what is outside are its own.
    pub fn remains(&self, goes_on: bool, symmetry: bool) -> Option<Arc<Client>> {
        let writes = if goes_on { Vec::new() } else { self.writes.clone() };
        let remains = Client {
            writes,
            state: KeeperState::SyncConnected,
            node: Arc::new(Node::crashed(self.actor())),
            phase: Phase::Crashed,
            rounds_left: 0,
            queue: Vec::new(),
            inbox: Vec::new(),
            credentials: Vec::new(),
            outstanding: 0,
            is_news: false,
            ..self.clone()
        };
        remains.is_left().then(|| Arc::new(remains.sealed(symmetry)))
    }

    /// Whether anything of it can still make a difference once its process has gone on.
    pub fn is_left(&self) -> bool {
        self.lives || !self.writes.is_empty()
    }

    pub(super) fn hash_state(&self, hasher: &mut impl Hasher) {
        let unheard = self.given_up() as u8;
        (self.phase, self.state, self.lives, self.served, unheard, &self.writes).hash(hasher);
        (self.queue.len(), self.inbox.len(), self.rounds_left, self.is_news).hash(hasher);
        (self.session, u32::from(self.rank), self.ghosts.len(), &self.identities, &self.proven).hash(hasher);
    }

    pub(super) fn sealed(mut self, symmetry: bool) -> Client {
        let mut digester = Digester::new(0xc11e);
        digester.digest(self.node.digest);
        self.hash_state(&mut digester);
        let requests = self.queue.iter().chain(&self.ghosts).chain(&self.credentials);
        let requests = requests.map(|request| request.digest);
        let digests = requests.chain(self.inbox.iter().map(|hashed| hashed.digest));
        digests.for_each(|digest| digester.digest(digest));
        self.digest = digester.end();
        if symmetry {
            let mut eyes = Eyes::new(0xc11e, usize::from(self.actor().process));
            eyes.digest(self.node.seen);
            self.hash_state(&mut eyes);
            let requests = self.queue.iter().chain(&self.ghosts).chain(&self.credentials);
            requests.for_each(|request| request.request.hash(&mut eyes));
            self.inbox.iter().for_each(|hashed| hashed.message.hash(&mut eyes));
            self.seen = eyes.end();
        }
        self
    }

    /// Whom a server takes it for to which it says again who it is; `None` if that refuses its credentials.
    pub fn repeated(&self) -> Option<Arc<[Identity]>> {
        self.credentials.iter().try_fold(Arc::default(), |identities, request| {
            proven_by(&identities, &request.request).unwrap_or(Some(identities))
        })
    }
}

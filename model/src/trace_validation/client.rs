//! A client of a record: what it has sent and not got yet.

use crate::message::Message;
use std::collections::VecDeque;
use std::sync::Arc;
use zk_api::{EventType, Identity, Request, SessionId, WatchedEvent, Zxid};
use zk_proto::message::Xid;
use zk_proto::watching::Watching;

/// How a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has no session yet, or does not know of it.
    Unborn,
    Connected,
    Disconnected,
    /// It knows that its session is over.
    Over,
}

/// A request that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub xid: Xid,
    pub request: Request,
    /// Whom the server of a connection that is gone takes the client for, as it comes to it.
    pub proven: Arc<[Identity]>,
}

/// Something on its way to a client.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// To which request it is the answer.
    pub xid: Option<Xid>,
    /// Events of one number may come in any order.
    pub group: usize,
    pub message: Message,
}

/// A client.
#[derive(Clone, Debug)]
pub struct Client {
    pub session: SessionId,
    pub state: State,
    /// Its session is over, whether it knows or not.
    pub is_over: bool,
    /// Sent and not served, in order.
    pub queue: VecDeque<Sent>,
    /// Writes of a connection that is gone which still take effect, in order.
    pub ghosts: VecDeque<Sent>,
    pub inbox: VecDeque<Incoming>,
    /// It was connected before its session ended, and is to learn it after that.
    pub connects_later: bool,
    /// How far the server was that took its watches, if that is known.
    pub registers_at: Option<Zxid>,
    /// What that server told it of the time in which it was away, as far as it came.
    pub missed: Vec<WatchedEvent>,
    /// What it watches, as far as it knows.
    pub watches: Vec<Watching>,
}

impl Client {
    /// A client that is still to come.
    pub fn new(session: SessionId) -> Client {
        Client {
            session,
            state: State::Unborn,
            is_over: false,
            queue: VecDeque::new(),
            ghosts: VecDeque::new(),
            inbox: VecDeque::new(),
            connects_later: false,
            registers_at: None,
            missed: Vec::new(),
            watches: Vec::new(),
        }
    }

    /// Takes the first event out of the inbox that is like this one and may come now.
    pub fn take_event(&mut self, event: &WatchedEvent) -> bool {
        let Some(group) = self.inbox.front().map(|incoming| incoming.group) else { return false };
        let same = |incoming: &Incoming| {
            incoming.message.event().is_some_and(|sent| sent.kind == event.kind && sent.path == event.path)
        };
        let is_event = |incoming: &&Incoming| incoming.group == group && incoming.xid.is_none();
        let Some(at) = self.inbox.iter().take_while(is_event).position(same) else { return false };
        self.inbox.remove(at);
        true
    }

    /// Whether all that its server told it of the time in which it was away is in the inbox.
    pub fn expects_what_it_missed(&self) -> bool {
        let mut heard = self.clone();
        self.missed.iter().all(|event| heard.take_event(event))
    }

    /// An event has come: what it was for is watched no more.
    pub fn hears(&mut self, event: &WatchedEvent) {
        let is_told = |watching: &Watching| event.kind != EventType::None && watching.sees(event);
        self.watches.retain(|watching| watching.kind.one_shot().is_none() || !is_told(watching));
    }

    /// The events that are on their way.
    pub fn events(&self) -> Vec<Arc<WatchedEvent>> {
        self.inbox.iter().filter_map(|incoming| incoming.message.event().cloned()).collect()
    }

    /// How many answers are on their way.
    pub fn answers(&self) -> usize {
        self.inbox.iter().filter(|incoming| incoming.xid.is_some()).count()
    }
}

//! What travels between the parts of a state, each with its digest.
//!
//! ```
//! use std::sync::Arc;
//! use zk_api::{KeeperState, Response};
//! use zk_model::message::{HashedMessage, Message};
//!
//! let answer = |response| Message::Answer { answer: Arc::new(Ok(response)), sets: None, removes: None };
//! assert_eq!(answer(Response::Closed).last_state(), Some(KeeperState::Closed));
//! assert!(Message::Lost.is_news() && !answer(Response::Closed).is_news());
//! let digest = |response| HashedMessage::new(answer(response)).digest;
//! assert_eq!(digest(Response::Deleted), digest(Response::Deleted));
//! assert_ne!(digest(Response::Deleted), digest(Response::Closed));
//! ```

use crate::digest::{Digest, Digester, digest_all, digest_of};
use crate::orders;
use crate::replay_runtime::Watching;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zk_api::{ErrorCode, KeeperState, Response, Text, WatchedEvent, WatcherKind};
use zk_harness::event::Event;

/// What a call is answered.
pub type Answer = Arc<Result<Response, ErrorCode>>;

/// From the service to a client, first in, first out. No numbers in it: an answer is for the oldest call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// The answer to the oldest call, and the watch that it sets, or those of a znode that it removes.
    Answer { answer: Answer, sets: Option<Watching>, removes: Option<(Text, WatcherKind)> },
    /// A watch fires.
    Event(Arc<WatchedEvent>),
    /// The connection ends here.
    Lost,
    /// So it does, as the server refuses credentials that the client has repeated.
    Refused,
}

impl Message {
    /// The answer that it is.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Message::Answer { answer, .. } => Some(answer),
            Message::Event(_) | Message::Lost | Message::Refused => None,
        }
    }

    /// The event that it is.
    pub fn event(&self) -> Option<&Arc<WatchedEvent>> {
        match self {
            Message::Event(event) => Some(event),
            Message::Answer { .. } | Message::Lost | Message::Refused => None,
        }
    }

    /// The watch that it sets.
    pub fn sets(&self) -> Option<&Watching> {
        match self {
            Message::Answer { sets, .. } => sets.as_ref(),
            Message::Event(_) | Message::Lost | Message::Refused => None,
        }
    }

    /// Whether it is news of the connection.
    pub fn is_news(&self) -> bool {
        matches!(self, Message::Lost | Message::Refused)
    }

    /// What a client believes for good, once it has it.
    pub fn last_state(&self) -> Option<KeeperState> {
        match self {
            Message::Answer { answer, .. } => Message::last_state_of(answer),
            Message::Refused => Some(KeeperState::AuthFailed),
            Message::Event(_) | Message::Lost => None,
        }
    }

    /// The same of an answer.
    pub fn last_state_of(answer: &Result<Response, ErrorCode>) -> Option<KeeperState> {
        match answer {
            Ok(Response::Closed) => Some(KeeperState::Closed),
            Err(ErrorCode::AuthFailed) => Some(KeeperState::AuthFailed),
            Ok(_) | Err(_) => None,
        }
    }
}

/// A list with its digest.
#[derive(Debug)]
pub struct List<T> {
    /// What is in it.
    pub items: Vec<T>,
    /// Its digest.
    pub digest: Digest,
}

impl<T: Hash> List<T> {
    /// Works out the digest.
    pub fn new(items: Vec<T>) -> Arc<List<T>> {
        let mut digester = Digester::new(items.len() as u64);
        items.iter().for_each(|item| item.hash(&mut digester));
        Arc::new(List { digest: digester.end(), items })
    }
}

/// A message with its digest.
#[derive(Debug)]
pub struct HashedMessage {
    /// The message.
    pub message: Message,
    /// Its digest.
    pub digest: Digest,
}

impl Hash for HashedMessage {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.digest.hash(hasher);
    }
}

impl HashedMessage {
    /// Works out the digest.
    pub fn new(message: Message) -> Arc<HashedMessage> {
        let digest = digest_of(0x1e77, &message);
        Arc::new(HashedMessage { message, digest })
    }

    /// The same, with the lists of an answer in an order of at least their names.
    pub fn in_order(&self, order: &[Text]) -> Arc<HashedMessage> {
        let mut message = self.message.clone();
        if let Message::Answer { answer, .. } = &mut message {
            *answer = Arc::new(orders::in_order(answer, order));
        }
        HashedMessage::new(message)
    }
}

/// Some messages to one client.
#[derive(Debug)]
pub struct Post {
    /// In order.
    pub messages: Vec<Arc<HashedMessage>>,
    /// Its digest.
    pub digest: Digest,
}

impl Hash for Post {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.digest.hash(hasher);
    }
}

impl Post {
    /// Works out the digest.
    pub fn new(messages: Vec<Arc<HashedMessage>>) -> Arc<Post> {
        let digest = digest_all(0x9057, messages.iter().map(|hashed| hashed.digest));
        Arc::new(Post { messages, digest })
    }
}

/// What monitors are to see, in order.
pub type Events = Arc<List<Event>>;

//! What a process is given, and what it lets out.

use crate::digest::{Digest, digest_of};
use crate::message::Answer;
use crate::replay_runtime::Watching;
use std::sync::Arc;
use zk_api::{
    AclList, CreateMode, Identity, KeeperState, Op, Perms, Request, SessionId, Text, WatchedEvent,
    WatcherKind, Zxid,
};
use zk_harness::event::{Event, Resource};

/// A request with its digest.
///
/// ```
/// use zk_api::{CreateMode, Data, Request, open_acl};
/// use zk_model::process::Req;
///
/// let create = |mode| {
///     let (path, data, acl) = ("/a".into(), Data::NULL, open_acl());
///     Req::new(Request::Create { path, data, acl, mode, stat: false })
/// };
/// assert_eq!(create(CreateMode::Container).digest, create(CreateMode::Container).digest);
/// assert_ne!(create(CreateMode::Container).digest, create(CreateMode::Persistent).digest);
/// assert!(create(CreateMode::Container).is_for_upkeep(), "the ensemble deletes a container by itself");
/// ```
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

    /// Whether it makes a znode that the ensemble deletes by itself.
    pub fn is_for_upkeep(&self) -> bool {
        let is_upkept = |mode: &CreateMode| match mode {
            CreateMode::Container | CreateMode::PersistentTtl(_) | CreateMode::PersistentSequentialTtl(_) => {
                true
            }
            CreateMode::Persistent | CreateMode::PersistentSequential => false,
            CreateMode::Ephemeral | CreateMode::EphemeralSequential => false,
        };
        match &self.request {
            Request::Create { mode, .. } => is_upkept(mode),
            Request::Multi { ops } => {
                ops.iter().any(|op| matches!(op, Op::Create { mode, .. } if is_upkept(mode)))
            }
            _ => false,
        }
    }

    /// Whether a znode is to be that not everybody may read.
    pub fn hides(&self) -> bool {
        let anyone = Identity::new("world", "anyone");
        let is_hidden =
            |acl: &AclList| !acl.iter().any(|one| one.who == anyone && one.perms.contain(Perms::READ));
        match &self.request {
            Request::Create { acl, .. } | Request::SetAcl { acl, .. } => is_hidden(acl),
            Request::Multi { ops } => {
                ops.iter().any(|op| matches!(op, Op::Create { acl, .. } if is_hidden(acl)))
            }
            _ => false,
        }
    }
}

/// What can happen to a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The oldest call that is waited for is answered.
    Answer(Answer),
    /// A watch fires.
    Event(Arc<WatchedEvent>),
    /// Watches were removed, and nobody waited for the answer.
    Removed(Text, WatcherKind),
    /// The connection is lost, and all calls with it.
    Lost,
    /// No server is found, and all calls are lost.
    NoServer,
    /// There is a connection again.
    Connected,
    /// The session is over.
    Over,
    /// There is a new one, or the first.
    Renewed(SessionId),
    /// A scheduling point passes.
    Point(u8),
    /// A timer fires.
    Timer(u8),
    /// A write to the outside resource has arrived.
    Written { nth: u8, accepted: bool },
    /// Of its tasks, the one of this number runs, which is ready.
    Run(u8),
}

/// An input, and how it is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Given {
    /// The input.
    pub input: Input,
    /// The session's state by then.
    pub state: KeeperState,
    /// The process is busy: none of its tasks runs for now, whatever it is given.
    pub busy: bool,
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
    /// What its code has looked at.
    pub looks: Looks,
}

/// What the code of a process has looked at in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looks {
    /// Which session it has.
    pub at_session: bool,
    /// The session's state.
    pub at_state: bool,
}

impl Emitted {
    /// What the process does by it, in words.
    pub(super) fn telling(&self) -> String {
        let requests = self.requests.iter().map(|asked| {
            let request = &asked.request;
            format!("submits {} {}", request.name(), request.path()).trim_end().to_owned()
        });
        let says = self.events.iter().filter_map(|event| match event {
            Event::Observed { what, .. } => Some(format!("says that it {what}")),
            Event::Is(_) => None,
        });
        let all: Vec<String> = requests.chain(says).collect();
        if all.is_empty() { "submits nothing".to_owned() } else { all.join(", ") }
    }
}

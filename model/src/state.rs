//! A state of the model.
//!
//! ```
//! use zk_model::{CheckConfig, model::RecipeModel, reads::Reads};
//! use zk_harness::trial::Bounds;
//! # let lock = zk_catalogue::trials().remove(0);
//! # let config = CheckConfig::new(Bounds::clients(2));
//!
//! let model = RecipeModel::new(lock, &config, Reads::at_first());
//! let (start, mut actions) = (model.init().state, Vec::new());
//! model.actions(&start, &mut actions);
//! let next = |nth: usize| model.step(&start, actions[nth]).state;
//! assert_eq!(next(0), next(0));
//! assert_ne!(next(0), next(1));
//! assert_ne!(next(0), start);
//! ```

use crate::digest::{Digest, Digester, digest_all};
use crate::link::{Client, Write};
use crate::monitors::Monitors;
use crate::service::Service;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zk_api::SessionId;
use zk_harness::event::ActorId;
use zk_harness::outside::Outside;
use zk_harness::promise::{Rest, Watch};
use zk_harness::recipes::Mode;
use zk_harness::trial::{Bounds, Trial};
use zk_proto::watch::OneShot;

/// A state: its parts are shared with other states, and each knows its digest.
#[derive(Clone)]
pub struct State {
    /// The ensemble.
    pub service: Arc<Service>,
    /// The processes, each in its present life; then what still lives of former sessions, in their order.
    pub clients: Vec<Arc<Client>>,
    /// The promises.
    pub monitors: Arc<Monitors>,
    /// What the fenced resource has seen.
    pub outside: Outside,
    /// The faults that may still happen.
    pub left: Left,
    /// What tells it from others. Equal for states that a reduction takes for one.
    pub fingerprint: u64,
}

/// How many faults of each kind may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    /// Expiries of sessions whose process lives.
    pub expiries: u8,
    /// Drops of connections.
    pub drops: u8,
    /// Crashes.
    pub crashes: u8,
    /// Pauses.
    pub pauses: u8,
    /// Further lives of processes.
    pub restarts: u8,
    /// An administrator's changes.
    pub admin: u8,
}

impl Left {
    /// All that the bounds allow.
    pub fn of(bounds: &Bounds) -> Left {
        let Bounds { expiries, drops, crashes, pauses, restarts, admin, .. } = *bounds;
        Left { expiries, drops, crashes, pauses, restarts, admin }
    }
}

impl State {
    /// Works out the fingerprint.
    pub fn sealed(mut self, symmetry: bool) -> State {
        let mut digester = Digester::new(0x57a7e);
        let Left { expiries, drops, crashes, pauses, restarts, admin } = self.left;
        digester.word(u64::from_le_bytes([expiries, drops, crashes, pauses, restarts, admin, 0, 0]));
        for mode in [Mode::Exclusive, Mode::Shared] {
            let seen = self.outside.fence.highest(mode);
            digester.word(seen.map_or(0, |zxid| zxid.to_i64() as u64 + 1));
        }
        // Which promises are broken is the same to all eyes.
        digester.word(self.monitors.broken);
        if symmetry {
            let mut seen: Vec<Digest> = (0..self.clients.len()).map(|me| self.seen_by(me)).collect();
            seen.sort_unstable();
            seen.into_iter().for_each(|digest| digester.digest(digest));
        } else {
            digester.digest(self.service.digest);
            digester.digest(self.monitors.digest);
            self.clients.iter().for_each(|client| digester.digest(client.digest));
        }
        self.fingerprint = digester.end() as u64;
        self
    }

    fn seen_by(&self, me: usize) -> Digest {
        let process = usize::from(self.clients[me].actor().process);
        digest_all(0x5ee, [self.service.seen[me], self.monitors.seen[process], self.clients[me].seen])
    }

    /// Whether a write is accepted that would be refused behind another one, which is on its way as well. Then its
    /// writer may come to know of the one when the other has arrived. Otherwise that is the same as a write that
    /// arrives later.
    pub fn may_be_overtaken(&self, write: &Write) -> bool {
        let accepts = |outside: &mut Outside, write: &Write| outside.write(write.resource, write.token);
        let is_behind = |other: &Write| {
            let mut outside = self.outside;
            other.arrived.is_none() && accepts(&mut outside, other) && !accepts(&mut outside, write)
        };
        let mut outside = self.outside;
        accepts(&mut outside, write) && self.clients.iter().flat_map(|client| &client.writes).any(is_behind)
    }

    /// What is left when nothing moves any more.
    pub fn rest(&self, trial: &Trial) -> Rest {
        let live: Vec<&Arc<Client>> = self.clients.iter().filter(|client| client.lives).collect();
        let waiting = |client: &&&Arc<Client>| !client.node.is_done && client.node.end.is_none();
        let tree = self.service.tree();
        let own = tree.nodes().filter(|(path, _)| trial.owns(path));
        let session = |client: &&Arc<Client>| (client.session, client.actor());
        let watches = live.iter().filter(waiting).flat_map(|client| {
            client.node.waits.watches.iter().filter_map(|watching| {
                let of_children = watching.kind.one_shot()? == OneShot::Child;
                Some(Watch { actor: client.actor(), path: watching.path.clone(), of_children })
            })
        });
        let ended = live.iter().filter(|client| trial.programs().is_some() && !waiting(client));
        Rest {
            unfinished: live.iter().filter(waiting).map(|client| client.actor()).collect::<Vec<ActorId>>(),
            nodes: own.map(|(path, node)| (path.clone(), node.owner().unwrap_or(SessionId::NONE))).collect(),
            sessions: live.iter().map(session).collect(),
            watches: watches.collect(),
            unshown: ended.map(|client| client.actor()).collect(),
        }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.fingerprint);
    }
}

/// Short, as stateright's Explorer shows it on a page.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for client in &self.clients {
            let Client { phase, state, queue, inbox, ghosts, lives, .. } = &**client;
            write!(f, "{} {phase:?} {state:?}", client.actor())?;
            match (&client.node.end, client.node.is_done) {
                (Some(end), true) => write!(f, " {end:?}")?,
                _ => write!(f, " waits {:?}", client.node.waits.calls.len())?,
            }
            if !lives {
                write!(f, " session over")?;
            }
            let names: Vec<_> = queue.iter().map(|request| request.request.name()).collect();
            writeln!(f, " sends {names:?} gets {} in flight {}", inbox.len(), ghosts.len())?;
        }
        let paths = self.service.tree().nodes().filter(|(_, node)| node.owner().is_some());
        let paths: Vec<_> = paths.map(|(path, _)| path).collect();
        write!(f, "ephemeral {paths:?} broken {:b} {:?}", self.monitors.broken, self.left)
    }
}

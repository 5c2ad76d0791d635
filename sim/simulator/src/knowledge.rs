//! What the simulator knows of the ensemble, kept outside every server: transactions, sessions and their actors,
//! znodes and their owners. The ground truth that promises are judged by comes from here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::{Data, EventType, SessionId, Text, Zxid, split};
use zk_harness::event::{ActorId, GroundTruth};
use zk_proto::txn::{Txn, TxnBody};

/// A change and whose watches it fired.
pub type Woken = BTreeMap<(Zxid, Text, EventType), Vec<ActorId>>;

/// Servers are behind each other by fewer transactions than this, or what both have woken is not added up.
const REMEMBERED: u32 = 1000;

/// What is known.
#[derive(Debug, Default)]
pub struct Knowledge {
    offered: i64,
    /// Every session that was offered, and to whom.
    actors: BTreeMap<SessionId, ActorId>,
    /// Sessions whose opening is applied and whose close is not committed.
    open: BTreeSet<SessionId>,
    /// Sessions whose clients know of them. One whose opening was not told in time is nobody's: its client asks
    /// for another.
    known: BTreeSet<SessionId>,
    /// Sessions that ended before their clients knew of them, and whether they expired.
    still_born: BTreeMap<SessionId, bool>,
    /// Proposed and not applied.
    proposed: BTreeMap<Zxid, Arc<Txn>>,
    /// Committed up to here.
    pub committed: Zxid,
    /// Applied up to here, by the server that is furthest.
    pub applied: Zxid,
    /// The owners of all znodes that are not a server's own from the start.
    owners: BTreeMap<Text, SessionId>,
    /// Whose watches each change has fired so far, on the servers that have applied it.
    fired: Woken,
    /// What actors hold, by their own account.
    holding: BTreeSet<(ActorId, Text)>,
    /// Sessions whose clients live and are connected, by their processes.
    connected: BTreeMap<u16, SessionId>,
    /// Processes that stand still.
    paused: BTreeSet<u16>,
}

/// The changes of one transaction as it is first applied.
struct Change<'a> {
    zxid: Zxid,
    /// Whose watches they fire.
    woken: &'a mut Woken,
    /// The ground truth that follows.
    truths: Vec<GroundTruth>,
}

impl Knowledge {
    /// A session id that was never offered, for an actor that asks for a session.
    pub fn offer(&mut self, actor: ActorId) -> SessionId {
        self.offered += 1;
        let session = SessionId::new(0x1000_0000 + self.offered);
        self.actors.insert(session, actor);
        session
    }

    /// Whose session this is.
    pub fn actor(&self, session: SessionId) -> Option<ActorId> {
        self.actors.get(&session).copied()
    }

    /// A client is connected, and knows of its session now: the ground truth that follows.
    pub fn learned(&mut self, session: SessionId, actor: ActorId) -> Vec<GroundTruth> {
        self.connected.insert(actor.process, session);
        if !self.known.insert(session) {
            return Vec::new();
        }
        let mut truths = vec![GroundTruth::SessionOpened { session, actor }];
        if let Some(expired) = self.still_born.remove(&session) {
            truths.push(GroundTruth::SessionClosed { session, actor, expired });
        }
        truths
    }

    /// Whether a session's client knows of it.
    pub fn is_known(&self, session: SessionId) -> bool {
        self.known.contains(&session)
    }

    /// A process's client is connected no more.
    pub fn disconnected(&mut self, process: u16) {
        self.connected.remove(&process);
    }

    /// Whether the client of a session lives and is connected.
    pub fn is_connected(&self, session: SessionId) -> bool {
        self.connected.values().any(|connected| *connected == session)
    }

    /// A process stands still from now on, or goes on.
    pub fn pauses(&mut self, process: u16, is_paused: bool) {
        if is_paused {
            self.paused.insert(process);
        } else {
            self.paused.remove(&process);
        }
    }

    /// Whether a process stands still.
    pub fn is_paused(&self, process: u16) -> bool {
        self.paused.contains(&process)
    }

    /// The open sessions and their actors.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, ActorId)> {
        self.open.iter().filter_map(|session| Some((*session, self.actor(*session)?)))
    }

    /// Whether a session is open.
    pub fn is_open(&self, session: SessionId) -> bool {
        self.open.contains(&session)
    }

    /// A transaction was proposed. A crash may have lost another one of the same id.
    pub fn proposed(&mut self, txn: Arc<Txn>) {
        self.proposed.insert(txn.zxid, txn);
    }

    /// A leader begins with a history that has those for which `stands` is true: those of them that are not known
    /// to be committed, in order. The others are lost for good.
    pub fn established(&mut self, stands: impl Fn(&Txn) -> bool) -> Vec<Arc<Txn>> {
        let committed = self.committed;
        self.proposed.retain(|_, txn| stands(txn));
        self.proposed.values().filter(|txn| txn.zxid > committed).cloned().collect()
    }

    /// A transaction has first committed: gives the ground truth that follows.
    pub fn commit(&mut self, txn: &Txn) -> Option<GroundTruth> {
        self.committed = self.committed.max(txn.zxid);
        match &txn.body {
            TxnBody::CloseSession { expired, .. } if self.open.remove(&txn.session) => {
                let actor = self.actor(txn.session)?;
                if !self.known.contains(&txn.session) {
                    self.still_born.insert(txn.session, *expired);
                    return None;
                }
                Some(GroundTruth::SessionClosed { session: txn.session, actor, expired: *expired })
            }
            _ => None,
        }
    }

    /// A transaction has first been applied: gives the ground truth that follows.
    pub fn apply(&mut self, txn: &Txn, woken: &mut Woken) -> Vec<GroundTruth> {
        self.applied = txn.zxid;
        self.proposed.remove(&txn.zxid);
        let mut change = Change { zxid: txn.zxid, woken, truths: Vec::new() };
        self.change(txn, &txn.body, &mut change);
        self.fired.retain(|(zxid, _, _), _| zxid.counter() + REMEMBERED > txn.zxid.counter());
        change.truths
    }

    /// Another server applies a transaction later: its watches fire then. Told with all that it has fired so far,
    /// as a herd is one wherever its members are connected.
    pub fn apply_elsewhere(&mut self, zxid: Zxid, woken: &mut Woken) -> Vec<GroundTruth> {
        let mut truths = Vec::new();
        for ((of, path, kind), more) in std::mem::take(woken) {
            if of != zxid {
                woken.insert((of, path, kind), more);
                continue;
            }
            let all = self.fired.entry((zxid, path.clone(), kind)).or_default();
            all.extend(more);
            all.sort_unstable();
            all.dedup();
            truths.push(GroundTruth::Fired { path, kind, woken: all.clone() });
        }
        truths
    }

    fn change(&mut self, txn: &Txn, body: &TxnBody, change: &mut Change<'_>) {
        match body {
            TxnBody::CreateSession { .. } => {
                self.open.insert(txn.session);
            }
            TxnBody::CloseSession { ephemerals, .. } => {
                for path in ephemerals {
                    self.delete(path, SessionId::NONE, change);
                }
            }
            TxnBody::Create { path, kind, data, .. } => {
                let owner = kind.owner().unwrap_or(SessionId::NONE);
                self.owners.insert(path.clone(), owner);
                change.truths.push(GroundTruth::NodeCreated {
                    path: path.clone(),
                    by: txn.session,
                    owner,
                    czxid: txn.zxid,
                });
                change.truths.push(self.written(txn, path, data));
                self.fired(path, EventType::NodeCreated, change);
            }
            TxnBody::Delete { path } => self.delete(path, txn.session, change),
            TxnBody::SetData { path, data, .. } => {
                change.truths.push(self.written(txn, path, data));
                self.fired(path, EventType::NodeDataChanged, change)
            }
            TxnBody::Multi { ops } => {
                for op in ops {
                    self.change(txn, op, change);
                }
            }
            TxnBody::SetAcl { .. } | TxnBody::Check { .. } | TxnBody::Error(_) | TxnBody::MultiError(_) => {}
        }
    }

    fn delete(&mut self, path: &Text, by: SessionId, change: &mut Change<'_>) {
        // An ephemeral that was listed but deleted meanwhile is not deleted twice.
        if let Some(owner) = self.owners.remove(path) {
            let zxid = Some(change.zxid);
            change.truths.push(GroundTruth::NodeDeleted { path: path.clone(), by, owner, zxid });
            self.fired(path, EventType::NodeDeleted, change);
        }
    }

    fn written(&self, txn: &Txn, path: &Text, data: &Data) -> GroundTruth {
        let owner = self.owner(path).unwrap_or(SessionId::NONE);
        GroundTruth::NodeWritten {
            path: path.clone(),
            by: txn.session,
            owner,
            data: data.clone(),
            mzxid: txn.zxid,
        }
    }

    /// The session that owns a znode, if it is ephemeral.
    pub fn owner(&self, path: &str) -> Option<SessionId> {
        self.owners.get(path).copied().filter(|owner| *owner != SessionId::NONE)
    }

    /// The ephemeral znodes of a session.
    pub fn ephemerals(&self, session: SessionId) -> impl Iterator<Item = &Text> {
        self.owners.iter().filter(move |(_, owner)| **owner == session).map(|(path, _)| path)
    }

    /// An actor says that it holds something.
    pub fn holds(&mut self, actor: ActorId, what: Text) {
        self.holding.insert((actor, what));
    }

    /// An actor says that it holds something no more.
    pub fn left(&mut self, actor: ActorId, what: &Text) {
        self.holding.remove(&(actor, what.clone()));
    }

    /// An actor is gone.
    pub fn ended(&mut self, actor: ActorId) {
        self.holding.retain(|(holder, _)| holder.main() != actor.main());
        self.connected.remove(&actor.process);
        self.paused.remove(&actor.process);
    }

    /// Whether a thread of this life holds anything.
    pub fn is_holding(&self, actor: ActorId) -> bool {
        self.holding.iter().any(|(holder, _)| holder.main() == actor.main())
    }

    /// Whether one of its threads but the main one does.
    pub fn has_holding_thread(&self, actor: ActorId) -> bool {
        self.holding.iter().any(|(holder, _)| holder.main() == actor && holder.thread > 0)
    }

    /// It has ended, and has nothing any more.
    pub fn thread_ended(&mut self, thread: ActorId) {
        self.holding.retain(|(holder, _)| *holder != thread);
    }

    /// A change of a znode, and for a creation or deletion that of its parent's children.
    fn fired(&mut self, path: &Text, kind: EventType, change: &mut Change<'_>) {
        let mut fire = |path: Text, kind| {
            let key = (change.zxid, path.clone(), kind);
            let woken = change.woken.remove(&key).unwrap_or_default();
            if !woken.is_empty() {
                self.fired.insert(key, woken.clone());
            }
            change.truths.push(GroundTruth::Fired { path, kind, woken });
        };
        fire(path.clone(), kind);
        if kind != EventType::NodeDataChanged {
            fire(split(path).0.into(), EventType::NodeChildrenChanged);
        }
    }
}

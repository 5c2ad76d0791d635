//! The server's side: a flat tree with ephemerals, counters and watches.

use super::client::{Answer, error};
use super::text;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{
    Completer, CreateMode, ErrorCode, EventType, MultiOutcome, Op, OpResult, Pending, Request, Response,
    SessionId, Stat, StatFields, Text, WatchedEvent, Zxid, join, split,
};
use zk_harness::event::GroundTruth;

struct Node {
    owner: SessionId,
    czxid: Zxid,
    /// Children ever created.
    counter: u32,
}

struct Watcher {
    session: SessionId,
    path: Text,
    completer: Completer<WatchedEvent>,
}

/// What a transaction did to one path.
pub struct Change {
    pub truth: GroundTruth,
    pub path: Text,
    pub kind: EventType,
    pub fired: Vec<(SessionId, Completer<WatchedEvent>)>,
}

pub struct Server {
    nodes: BTreeMap<Text, Node>,
    watchers: Vec<Watcher>,
    closed: BTreeSet<SessionId>,
    zxid: Zxid,
    changes: Vec<Change>,
}

impl Server {
    pub fn new(setup: &[Text]) -> Server {
        let root = Node { owner: SessionId::NONE, czxid: Zxid::ZERO, counter: 0 };
        let mut server = Server {
            nodes: [(text("/"), root)].into(),
            watchers: Vec::new(),
            closed: BTreeSet::new(),
            zxid: Zxid::new(1, 0),
            changes: Vec::new(),
        };
        for path in setup {
            server.create(SessionId::NONE, path, CreateMode::Persistent).expect("a setup is valid");
        }
        server.changes.clear();
        server
    }

    pub fn is_live(&self, session: SessionId) -> bool {
        !self.closed.contains(&session)
    }

    pub fn nodes(&self) -> Vec<(Text, SessionId)> {
        self.nodes.iter().map(|(path, node)| (path.clone(), node.owner)).collect()
    }

    pub fn ephemerals(&self) -> Vec<(Text, SessionId)> {
        self.nodes().into_iter().filter(|(_, owner)| *owner != SessionId::NONE).collect()
    }

    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    pub fn take_watches(&mut self, session: SessionId) -> Vec<Completer<WatchedEvent>> {
        let (mine, others) = self.watchers.drain(..).partition(|w: &Watcher| w.session == session);
        self.watchers = others;
        let mine: Vec<Watcher> = mine;
        mine.into_iter().map(|w| w.completer).collect()
    }

    pub fn close(&mut self, session: SessionId) {
        self.closed.insert(session);
        let gone: Vec<_> =
            self.nodes.iter().filter(|(_, n)| n.owner == session).map(|(path, _)| path.clone()).collect();
        for path in gone {
            self.delete(SessionId::NONE, &path).expect("it is there");
        }
    }

    pub fn serve(&mut self, session: SessionId, request: &Request) -> Answer {
        if self.closed.contains(&session) {
            return Err(error(ErrorCode::SessionExpired));
        }
        let stat = |node: &Node| {
            Stat::from(StatFields { czxid: node.czxid, ephemeral_owner: node.owner, ..StatFields::default() })
        };
        match request {
            Request::Create { path, mode, stat: false, .. } => {
                let path = self.create(session, path, *mode).map_err(error)?;
                Ok((Response::Created { path, stat: None }, None))
            }
            Request::Delete { path, version: -1 } => {
                self.delete(session, path).map_err(error)?;
                Ok((Response::Deleted, None))
            }
            Request::Exists { path, watch } => {
                let watch = watch.then(|| {
                    let (completer, pending) = Pending::slot();
                    self.watchers.push(Watcher { session, path: path.clone(), completer });
                    pending
                });
                Ok((Response::Exists(self.nodes.get(path).map(stat)), watch))
            }
            Request::GetChildren { path, watch: false, stat: false } => {
                let all = self.nodes.keys().filter(|node| node.len() > 1).map(|node| split(node));
                let names = all.filter(|(parent, _)| **parent == **path).map(|(_, name)| text(name));
                Ok((Response::Children { names: names.collect(), stat: None }, None))
            }
            Request::Sync { path } => Ok((Response::Synced { path: path.clone() }, None)),
            Request::Multi { ops } => match &**ops {
                [Op::Check { path, version: -1 }] => {
                    let outcome = match self.nodes.contains_key(path) {
                        true => MultiOutcome::Applied(vec![OpResult::Checked]),
                        false => MultiOutcome::Failed(vec![Some(ErrorCode::NoNode)]),
                    };
                    Ok((Response::Multi(outcome), None))
                }
                other => panic!("no trial here asks for {other:?}"),
            },
            other => panic!("no trial here asks for {other:?}"),
        }
    }

    fn create(&mut self, session: SessionId, path: &str, mode: CreateMode) -> Result<Text, ErrorCode> {
        self.zxid = self.zxid.next();
        let parent = self.nodes.get_mut(split(path).0).ok_or(ErrorCode::NoNode)?;
        let path = if mode.is_sequential() {
            text(&join(split(path).0, &format!("{}{:010}", split(path).1, parent.counter)))
        } else {
            text(path)
        };
        let owner = if mode.is_ephemeral() { session } else { SessionId::NONE };
        if self.nodes.contains_key(&path) {
            return Err(ErrorCode::NodeExists);
        }
        let czxid = self.zxid;
        self.nodes.get_mut(split(&path).0).expect("looked up").counter += 1;
        self.nodes.insert(path.clone(), Node { owner, czxid, counter: 0 });
        let truth = GroundTruth::NodeCreated { path: path.clone(), by: session, owner, czxid };
        self.changed(truth, path.clone(), EventType::NodeCreated);
        Ok(path)
    }

    pub fn delete(&mut self, by: SessionId, path: &Text) -> Result<(), ErrorCode> {
        self.zxid = self.zxid.next();
        let node = self.nodes.remove(path).ok_or(ErrorCode::NoNode)?;
        let truth = GroundTruth::NodeDeleted { path: path.clone(), by, owner: node.owner, zxid: None };
        self.changed(truth, path.clone(), EventType::NodeDeleted);
        Ok(())
    }

    fn changed(&mut self, truth: GroundTruth, path: Text, kind: EventType) {
        let (fired, others) = self.watchers.drain(..).partition(|w: &Watcher| w.path == path);
        self.watchers = others;
        let fired: Vec<Watcher> = fired;
        let fired = fired.into_iter().map(|w| (w.session, w.completer)).collect();
        self.changes.push(Change { truth, path, kind, fired });
    }
}

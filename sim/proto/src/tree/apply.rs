//! Transactions change the tree.
//!
//! A transaction may meet a tree that has it already, or that has some later ones: a snapshot is written
//! while transactions go on, so each znode in it is as it was at a moment of its own between the snapshot's
//! beginning and its end. Replaying every transaction from the beginning gives the tree as if there had been
//! no snapshot, for a transaction carries results. On the way there, what is newer is left as it is:
//!
//! - A znode created later than the transaction is another incarnation of the path and not the one meant: its
//!   own creation and its predecessor's deletion will be replayed.
//! - What only grows within an incarnation (zxids, counters, versions of data) is never set back.
//!
//! A child met without its parent is no error: the parent's creation will be replayed, and then the child's.

use crate::tree::{Applied, Change, DataTree, Node};
use crate::txn::{Txn, TxnBody};
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::{AclList, Data, EventType, MultiOutcome, OpResult, Response, Stat, Text, Zxid, open_acl, split};

/// When a transaction happens, and what it has changed so far.
struct Applying {
    zxid: Zxid,
    time_ms: i64,
    changes: Vec<Change>,
}

impl Applying {
    fn changed(&mut self, path: &Text, kind: EventType, acl: &AclList, parent_acl: &AclList) {
        let (acl, parent_acl) = (acl.clone(), parent_acl.clone());
        self.changes.push(Change { path: path.clone(), kind, acl, parent_acl });
    }
}

impl DataTree {
    /// Applies a transaction. Applying one again, or over a fuzzy snapshot that has part of it, is harmless.
    pub fn apply(&mut self, txn: &Txn) -> Applied {
        let mut at = Applying { zxid: txn.zxid, time_ms: txn.time_ms, changes: Vec::new() };
        let result = match &txn.body {
            TxnBody::CreateSession { .. } => Ok(Response::Closed),
            TxnBody::CloseSession { ephemerals, expired: _ } => {
                for path in ephemerals {
                    self.delete(&mut at, path);
                }
                Ok(Response::Closed)
            }
            body @ (TxnBody::Create { .. }
            | TxnBody::Delete { .. }
            | TxnBody::SetData { .. }
            | TxnBody::Check { .. }) => Ok(match self.apply_op(&mut at, body) {
                Some(OpResult::Created { path, stat }) => Response::Created { path, stat },
                Some(OpResult::Deleted) => Response::Deleted,
                Some(OpResult::DataSet(stat)) => Response::DataSet(stat),
                Some(OpResult::Checked) | None => Response::Multi(MultiOutcome::Applied(Vec::new())),
            }),
            TxnBody::SetAcl { path, acl, aversion } => {
                Ok(Response::AclSet(self.set_acl(&at, path, acl, *aversion)))
            }
            TxnBody::Multi { ops } => {
                let results = ops.iter().filter_map(|op| self.apply_op(&mut at, op)).collect();
                Ok(Response::Multi(MultiOutcome::Applied(results)))
            }
            TxnBody::Error(code) => Err(*code),
            TxnBody::MultiError(codes) => Ok(Response::Multi(MultiOutcome::Failed(codes.clone()))),
        };
        self.last_zxid = self.last_zxid.max(txn.zxid);
        Applied { result, changes: at.changes }
    }

    /// Applies what may be part of a multi; `None` for anything else, which no leader puts there.
    fn apply_op(&mut self, at: &mut Applying, body: &TxnBody) -> Option<OpResult> {
        match body {
            TxnBody::Create { path, data, acl, kind, parent_created } => {
                let node = Node::new(data.clone(), acl.clone(), *kind, at.zxid, at.time_ms);
                self.create(at, path, node, *parent_created);
                Some(OpResult::Created { path: path.clone(), stat: self.stat(path) })
            }
            TxnBody::Delete { path } => {
                self.delete(at, path);
                Some(OpResult::Deleted)
            }
            TxnBody::SetData { path, data, version } => {
                Some(OpResult::DataSet(self.set_data(at, path, data, *version)))
            }
            TxnBody::Check { path: _ } => Some(OpResult::Checked),
            TxnBody::CreateSession { .. }
            | TxnBody::CloseSession { .. }
            | TxnBody::SetAcl { .. }
            | TxnBody::Multi { .. }
            | TxnBody::Error(_)
            | TxnBody::MultiError(_) => None,
        }
    }

    fn create(&mut self, at: &mut Applying, path: &Text, node: Node, parent_created: i32) {
        let (parent_path, name) = split(path);
        let nodes = Arc::make_mut(&mut self.nodes);
        // Without its parent, or below a later parent, the child is deleted again further on in the log.
        let Some(parent) = incarnation(nodes, parent_path, at.zxid) else { return };
        parent.created = parent.created.max(parent_created);
        parent.pzxid = parent.pzxid.max(at.zxid);
        parent.children.insert(name.into());
        let parent_acl = parent.acl.clone();
        // What is there already is this very znode, changed since, or a later one.
        if !nodes.contains_key(path) {
            at.changed(path, EventType::NodeCreated, &node.acl, &parent_acl);
            nodes.insert(path.clone(), Arc::new(node));
        }
    }

    fn delete(&mut self, at: &mut Applying, path: &Text) {
        let (parent_path, name) = split(path);
        let nodes = Arc::make_mut(&mut self.nodes);
        let is_later = nodes.get(path).is_some_and(|node| node.czxid > at.zxid);
        if let Some(parent) = incarnation(nodes, parent_path, at.zxid) {
            parent.pzxid = parent.pzxid.max(at.zxid);
            if !is_later {
                parent.children.remove(name);
            }
        }
        if is_later {
            return;
        }
        if let Some(gone) = nodes.remove(path) {
            let parent_acl = nodes.get(parent_path).map_or_else(open_acl, |parent| parent.acl.clone());
            at.changed(path, EventType::NodeDeleted, &gone.acl, &parent_acl);
        }
    }

    fn set_data(&mut self, at: &mut Applying, path: &Text, data: &Data, version: i32) -> Stat {
        let Some(node) = incarnation(Arc::make_mut(&mut self.nodes), path, at.zxid) else {
            return Stat::default();
        };
        // Of two in one multi the second has the same zxid and is the one to stay.
        if node.mzxid <= at.zxid {
            node.data = data.clone();
            node.version = version;
            node.mzxid = at.zxid;
            node.mtime_ms = at.time_ms;
            at.changed(path, EventType::NodeDataChanged, &node.acl, &node.acl);
        }
        node.stat()
    }

    /// No watch tells of an ACL.
    fn set_acl(&mut self, at: &Applying, path: &Text, acl: &AclList, aversion: i32) -> Stat {
        let Some(node) = incarnation(Arc::make_mut(&mut self.nodes), path, at.zxid) else {
            return Stat::default();
        };
        // No zxid tells how new the ACL is; setting an older one is mended when the later ones are replayed.
        node.acl = acl.clone();
        node.aversion = aversion;
        node.stat()
    }
}

/// The znode that a transaction means: that of the path, unless it was created later.
fn incarnation<'a>(nodes: &'a mut BTreeMap<Text, Arc<Node>>, path: &str, zxid: Zxid) -> Option<&'a mut Node> {
    nodes.get_mut(path).filter(|node| node.czxid <= zxid).map(Arc::make_mut)
}

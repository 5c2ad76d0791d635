//! Where a server's tree differs from the reference.

use super::Reference;
use super::znodes::{Removable, Znode};
use std::cmp::Ordering;
use std::ops::Bound;
use zk_api::SessionId;
use zk_proto::tree::{DataTree, Node};
use zk_proto::txn::NodeKind;

/// The first difference to a server's tree, if there is any.
pub fn difference(reference: &Reference, tree: &DataTree) -> Option<String> {
    difference_behind(reference, tree, "", usize::MAX).err()
}

/// Compares so many znodes of a server's tree in the order of their paths, behind one of them; from the first on
/// behind the empty path. Gives the last that was compared, unless there are no more; or fails with the first
/// difference.
pub fn difference_behind(
    reference: &Reference,
    tree: &DataTree,
    path: &str,
    most: usize,
) -> Result<Option<String>, String> {
    if tree.last_zxid() != reference.zxid {
        return Err(format!("the tree is at {}, the reference at {}", tree.last_zxid(), reference.zxid));
    }
    let mut theirs = tree.nodes_after(path);
    let mut mine = reference.znodes.nodes.range::<str, _>((Bound::Excluded(path), Bound::Unbounded));
    let mut last = None;
    for _ in 0..most {
        match (theirs.next(), mine.next()) {
            (Some((path, node)), Some((other, znode))) => match (**path).cmp(other) {
                Ordering::Less => return Err(format!("{path} should not be")),
                Ordering::Greater => return Err(format!("{other} is missing")),
                Ordering::Equal => {
                    differs(path, node, znode)?;
                    last = Some(other);
                }
            },
            (Some((path, _)), None) => return Err(format!("{path} should not be")),
            (None, Some((path, _))) => return Err(format!("{path} is missing")),
            (None, None) => return Ok(None),
        }
    }
    Ok(last.cloned())
}

/// Compares one znode of a server's tree, wherever it is. Fails with the difference.
pub fn difference_at(reference: &Reference, tree: &DataTree, path: &str) -> Result<(), String> {
    match (tree.node(path), reference.znodes.nodes.get(path)) {
        (Some(node), Some(mine)) => differs(path, node, mine),
        (Some(_), None) => Err(format!("{path} should not be")),
        (None, Some(_)) => Err(format!("{path} is missing")),
        (None, None) => Ok(()),
    }
}

fn differs(path: &str, node: &Node, mine: &Znode) -> Result<(), String> {
    if node.stat() != mine.stat.into() {
        return Err(format!("{path} is {:?}, should be {:?}", node.stat(), mine.stat));
    }
    if node.data != mine.data || node.acl != mine.acl {
        return Err(format!("{path} has other data or another ACL than it should have"));
    }
    let kind = match (mine.removable, mine.stat.ephemeral_owner) {
        (Removable::Childless, _) => NodeKind::Container,
        (Removable::Unchanged(ttl_ms), _) => NodeKind::Ttl(ttl_ms),
        (Removable::Never, SessionId::NONE) => NodeKind::Persistent,
        (Removable::Never, owner) => NodeKind::Ephemeral(owner),
    };
    if node.kind != kind {
        return Err(format!("{path} is {:?}, should be {kind:?}", node.kind));
    }
    Ok(())
}

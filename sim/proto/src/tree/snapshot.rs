//! The tree in pieces, for snapshots; and its digest, for comparing trees.

use crate::tree::{DataTree, Node};
use crate::txn::NodeKind;
use std::ops::Bound;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;
use zk_api::{Text, Zxid, split};

impl DataTree {
    /// The znodes behind a path, in order of their paths; all of them behind the empty path.
    ///
    /// A snapshot written in steps goes on where its last step ended, whatever became of that znode.
    pub fn nodes_after<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a Text, &'a Node)> + use<'a> {
        let range = (Bound::Excluded(path), Bound::Unbounded);
        self.nodes.range::<str, _>(range).map(|(path, node)| (path, &**node))
    }

    /// Puts a piece of a snapshot in place, over a [new](DataTree::new) tree, in any order of the pieces.
    ///
    /// `children` is not read but follows from the paths restored, as those of a fuzzy snapshot need not fit.
    pub fn restore(&mut self, path: Text, mut node: Node) {
        let nodes = Arc::make_mut(&mut self.nodes);
        let prefix: Text = if &*path == "/" { path.clone() } else { format!("{path}/").into() };
        node.children = nodes
            .range::<str, _>((Bound::Excluded(&*prefix), Bound::Unbounded))
            .map_while(|(below, _)| below.strip_prefix(&*prefix))
            .filter(|rest| !rest.contains('/'))
            .map(Text::from)
            .collect();
        let (parent_path, name) = split(&path);
        if !name.is_empty()
            && let Some(parent) = nodes.get_mut(parent_path)
        {
            Arc::make_mut(parent).children.insert(name.into());
        }
        nodes.insert(path, Arc::new(node));
    }

    /// Says which transaction was the last one that a snapshot has for certain.
    pub fn set_last_zxid(&mut self, zxid: Zxid) {
        self.last_zxid = zxid;
    }

    /// A number that tells trees apart: equal trees have equal digests, on every machine and in every version.
    ///
    /// It is the XXH3-64 of the last zxid and of all znodes in order of their paths. Numbers are eight
    /// little-endian bytes, texts and data begin with their length, null data has the length -1.
    pub fn digest(&self) -> u64 {
        let mut out = Xxh3::new();
        number(&mut out, self.last_zxid.to_i64());
        for (path, node) in self.nodes() {
            bytes(&mut out, path.as_bytes());
            if node.data.is_null() {
                number(&mut out, -1);
            } else {
                bytes(&mut out, node.data.bytes());
            }
            number(&mut out, node.acl.len() as i64);
            for acl in node.acl.iter() {
                number(&mut out, acl.perms.0.into());
                bytes(&mut out, acl.who.scheme.as_bytes());
                bytes(&mut out, acl.who.id.as_bytes());
            }
            let (kind, detail) = match node.kind {
                NodeKind::Persistent => (0, 0),
                NodeKind::Ephemeral(owner) => (1, owner.get()),
                NodeKind::Container => (2, 0),
                NodeKind::Ttl(ttl_ms) => (3, ttl_ms),
            };
            for n in [kind, detail, node.czxid.to_i64(), node.mzxid.to_i64(), node.pzxid.to_i64()] {
                number(&mut out, n);
            }
            for n in [node.ctime_ms, node.mtime_ms] {
                number(&mut out, n);
            }
            for n in [node.version, node.aversion, node.created] {
                number(&mut out, n.into());
            }
        }
        out.digest()
    }
}

fn number(out: &mut Xxh3, n: i64) {
    out.update(&n.to_le_bytes());
}

fn bytes(out: &mut Xxh3, bytes: &[u8]) {
    number(out, bytes.len() as i64);
    out.update(bytes);
}

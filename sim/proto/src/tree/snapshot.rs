//! The tree in pieces, for snapshots.

use crate::tree::{DataTree, Node};
use std::ops::Bound;
use std::sync::Arc;
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
}

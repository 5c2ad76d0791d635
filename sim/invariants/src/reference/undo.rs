//! Znodes come, change and go, and come back if a multi fails.

use super::{Reference, Znode};

/// How a znode was before it changed: its path, and what it was without its children, if it was there.
pub(super) type Before = (String, Option<Znode>);

impl Reference {
    /// A znode is about to change.
    pub(super) fn changes(&mut self, path: &str) {
        if let Some(changed) = &mut self.changed {
            let path = if path.is_empty() { "/" } else { path };
            let before = self.nodes.get(path).map(|node| Znode {
                data: node.data.clone(),
                acl: node.acl.clone(),
                children: Default::default(),
                ..*node
            });
            changed.push((path.to_owned(), before));
        }
    }

    /// Undoes what has changed since a multi began.
    pub(super) fn undo(&mut self) {
        for (path, before) in self.changed.take().into_iter().flatten().rev() {
            match (before, self.nodes.get_mut(&path)) {
                (Some(before), Some(now)) => {
                    let children = std::mem::take(&mut now.children);
                    *now = Znode { children, ..before };
                }
                (Some(before), None) => self.put(path, before),
                (None, Some(_)) => self.take(&path),
                (None, None) => {}
            }
        }
    }

    /// Puts a znode below its parent, of which nothing else changes.
    pub(super) fn put(&mut self, path: String, node: Znode) {
        if node.stat.ephemeral_owner != zk_api::SessionId::NONE {
            self.owned.entry(node.stat.ephemeral_owner).or_default().insert(path.clone());
        }
        let (above, name) = path.rsplit_once('/').expect("a path has a slash");
        self.parent(above).children.insert(name.to_owned());
        self.nodes.insert(path, node);
    }

    /// Takes a znode out from below its parent, of which nothing else changes.
    pub(super) fn take(&mut self, path: &str) {
        let Some(node) = self.nodes.remove(path) else { return };
        if let Some(owned) = self.owned.get_mut(&node.stat.ephemeral_owner) {
            owned.remove(path);
            if owned.is_empty() {
                self.owned.remove(&node.stat.ephemeral_owner);
            }
        }
        let (above, name) = path.rsplit_once('/').expect("a path has a slash");
        self.parent(above).children.remove(name);
    }
}

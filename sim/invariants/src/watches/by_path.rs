//! Who has watches where.

use super::connection::{Of, parent};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::Text;
use zk_proto::message::ConnId;

/// Who has watches where, so that thousands of connections need not be asked at every change.
#[derive(Debug, Default)]
pub(super) struct ByPath {
    pub(super) exact: BTreeMap<Text, BTreeSet<ConnId>>,
    pub(super) recursive: BTreeSet<ConnId>,
}

impl ByPath {
    /// The watches of a connection on these paths may be others now.
    pub(super) fn note<'a>(&mut self, conn: ConnId, of: &Of, paths: impl IntoIterator<Item = &'a Text>) {
        for path in paths {
            if of.is_exactly_at(path) {
                self.exact.entry(path.clone()).or_default().insert(conn);
            } else {
                self.leave(conn, path);
            }
        }
        if of.recursive.is_empty() {
            self.recursive.remove(&conn);
        } else {
            self.recursive.insert(conn);
        }
    }

    /// Who may be told of a change of this znode.
    pub(super) fn watching(&self, path: &str) -> BTreeSet<ConnId> {
        let exact = [path, parent(path)].into_iter().filter_map(|path| self.exact.get(path));
        exact.flatten().chain(&self.recursive).copied().collect()
    }

    /// Forgets who has no watch on a znode or its parent any more, by one that was used up.
    pub(super) fn forget_used(&mut self, path: &str, conns: &BTreeMap<ConnId, Of>) {
        for path in [path, parent(path)] {
            if let Some(here) = self.exact.get_mut(path) {
                here.retain(|conn| conns.get(conn).is_some_and(|of| of.is_exactly_at(path)));
                if here.is_empty() {
                    self.exact.remove(path);
                }
            }
        }
    }

    /// Forgets a connection that had these watches.
    pub(super) fn forget(&mut self, conn: ConnId, of: &Of) {
        self.recursive.remove(&conn);
        of.exact().for_each(|path| self.leave(conn, path));
    }

    fn leave(&mut self, conn: ConnId, path: &str) {
        if let Some(here) = self.exact.get_mut(path) {
            here.remove(&conn);
            if here.is_empty() {
                self.exact.remove(path);
            }
        }
    }
}

//! What tells ensembles apart.

use super::view::{Moment, View, Woken};
use super::{Rules, Service};
use crate::digest::{Digest, Digester, digest_all, digest_of};
use crate::symmetry::{Eyes, process_of};
use std::collections::BTreeSet;
use std::hash::Hash;
use zk_api::Zxid;

impl Service {
    /// Forgets what nobody can look at any more, and works out the digests.
    pub(super) fn sealed(mut self, rules: &Rules) -> Service {
        let oldest = self.views.iter().filter_map(View::oldest).min().unwrap_or(self.last());
        self.moments.drain(..oldest);
        self.woken.drain(..oldest);
        self.views.iter_mut().flat_map(View::sights).for_each(|sight| sight.at -= oldest);
        // The numbers of trees that lag have an order with those of the others.
        let ranks = rules.ranks && self.moments.len() == 1;
        let moments = match ranks {
            true => self.ranked(),
            false => self.joined(|moment, whole| if whole { moment.digest } else { moment.of_tree }),
        };
        self.digest = digest_of(
            0x5e41 + u64::from(ranks),
            &(moments, self.woken(), &self.views, self.clock, self.ends_in),
        );
        self.seen = match rules.symmetry {
            true => self.views.iter().filter_map(|view| self.seen_by(view)).collect(),
            false => Vec::new(),
        };
        self
    }

    /// Whom those changes have woken that a server may still come to.
    fn woken(&self) -> Vec<&Vec<Woken>> {
        self.woken.iter().skip(1).collect()
    }

    /// All moments; what led to the first no longer matters.
    fn joined(&self, of: impl Fn(&Moment, bool) -> Digest) -> Digest {
        let moments = self.moments.iter().enumerate();
        digest_all(self.moments.len() as u64, moments.map(|(nth, moment)| of(moment, nth > 0)))
    }

    /// The tree without what only counts what has happened, versions included, and with the order of its znodes' zxids for
    /// them.
    fn ranked(&self) -> Digest {
        let tree = self.tree();
        let zxids: BTreeSet<Zxid> = tree.nodes().flat_map(|(_, node)| [node.czxid, node.mzxid]).collect();
        let rank = |zxid: Zxid| zxids.range(..zxid).count();
        let mut digester = Digester::new(0x5e43);
        for (path, node) in tree.nodes() {
            (path, &node.data, &node.acl, node.kind).hash(&mut digester);
            (rank(node.czxid), rank(node.mzxid), node.ctime_ms, node.mtime_ms).hash(&mut digester);
        }
        digester.end()
    }

    /// Other clients in no order, as it is not known who is who.
    fn seen_by(&self, own: &View) -> Option<Digest> {
        let me = process_of(own.session)?;
        let views = self.views.iter().map(|view| {
            let mut eyes = Eyes::new(0x5e41, me);
            (std::ptr::eq(view, own), view).hash(&mut eyes);
            eyes.end()
        });
        let mut eyes = Eyes::new(0x5e44, me);
        self.woken().hash(&mut eyes);
        let kind = 0x5e41 + u64::from(self.clock) + (u64::from(self.ends_in) << 16);
        let moments = self.joined(|moment, whole| moment.seen_by(me, whole));
        Some(digest_all(kind, [moments, views.fold(0, Digest::wrapping_add), eyes.end()]))
    }
}

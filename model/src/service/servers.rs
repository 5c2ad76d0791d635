//! The servers of clients: what each has come to, what it knows of its client, and what tells all of them from others.

use super::rules::Rules;
use super::stamp::{SET_UP, TIMES_MS};
use super::view::{Moment, View, Woken, in_orders};
use crate::digest::{Digest, Digester, digest_all, digest_of};
use crate::orders::{Order as Names, TREE, are_too_many, orders_of};
use crate::symmetry::{Eyes, process_of, session_of};
use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use zk_api::{CreateMode, Data, Identity, Request, SessionId, Text, Zxid, open_acl};
use zk_harness::event::ActorId;
use zk_proto::message::Xid;
use zk_proto::prepare::{Caller, prepare};
use zk_proto::tree::{DataTree, Node};
use zk_proto::txn::Txn;
use zk_proto::watching::Watching;

/// See the module.
#[derive(Clone, Debug)]
pub struct Servers {
    /// From the oldest that somebody may still look at to the last. Never empty.
    pub(super) moments: VecDeque<Arc<Moment>>,
    /// Whom the changes of each of them have woken so far, for servers that come to them later.
    pub(super) woken: VecDeque<Vec<Woken>>,
    pub(super) views: Vec<View>,
    /// What the next transaction finds the leader's clock at, if anybody reads that: one of [`TIMES_MS`].
    pub(super) clock: u8,
    /// In which of their orders the ephemeral znodes of a session go that the next transaction ends, if anybody sees
    /// that.
    pub(super) ends_in: u8,
}

impl Servers {
    pub(super) fn new(
        setup: &[Text],
        counters: &[(Text, i32)],
        actors: &[ActorId],
        rules: &Rules,
    ) -> Servers {
        let view = |actor: &ActorId| View::new(session_of(*actor, 0, 0), 0, rules.goes_back);
        let mut tree = DataTree::new();
        for path in setup {
            let request = Request::Create {
                path: path.clone(),
                data: Data::NULL,
                acl: open_acl(),
                mode: CreateMode::Persistent,
                stat: false,
            };
            let caller = Caller { session: SessionId::NONE, identities: &[] };
            let body = prepare(&tree, &TREE, caller, &request);
            let zxid = tree.last_zxid().next();
            let time_ms = TIMES_MS[usize::from(SET_UP)];
            let txn = Txn { zxid, session: SessionId::NONE, xid: Xid(0), time_ms, body };
            tree.apply(&txn).result.expect("a trial sets up znodes that can be created");
        }
        for (path, created) in counters {
            let node = tree.node(path).expect("a trial's counters are of znodes that it sets up");
            tree.restore(path.clone(), Node { created: *created, ..node.clone() });
        }
        let moments = VecDeque::from([Moment::new(tree, Vec::new(), None)]);
        let views = actors.iter().map(view).collect();
        let woken = VecDeque::from([Vec::new()]);
        Servers { moments, woken, views, clock: SET_UP, ends_in: 0 }
    }

    /// Whether a client's server takes its session for alive.
    pub fn serves(&self, client: usize) -> bool {
        self.views[client].served
    }

    /// Whether a client's server knows that its session is over, and the next one may not.
    pub fn can_go_back(&self, client: usize) -> bool {
        let View { served, heard, session, .. } = &self.views[client];
        !served && heard.as_ref().is_some_and(|heard| self.ends_after(heard.at, *session))
    }

    /// Whether a session ends after a moment, as far as there are later ones.
    pub(super) fn ends_after(&self, at: usize, session: SessionId) -> bool {
        self.moments.iter().skip(at + 1).any(|moment| moment.ends == Some(session))
    }

    /// Whether a client's server has something to catch up with.
    pub fn lags(&self, client: usize) -> bool {
        self.behind(client) > 0
    }

    /// How many transactions a client's server has to catch up with.
    pub fn behind(&self, client: usize) -> usize {
        let View { served, now, .. } = &self.views[client];
        if *served { self.last() - now.at } else { 0 }
    }

    /// Whether a client is connected, and its watches are still on their way to its server.
    pub fn registers(&self, client: usize) -> bool {
        self.views[client].registers.is_some()
    }

    /// Whom a client's server takes it for.
    pub fn identities(&self, client: usize) -> &Arc<[Identity]> {
        &self.views[client].identities
    }

    /// Whether a client's server still listens to it: not once it has refused its credentials.
    pub fn listens(&self, client: usize) -> bool {
        self.views[client].connected
    }

    /// Whether a client has watches on its connection. A server tells of a persistent one that has fired whether
    /// anybody looks or not.
    pub fn watches(&self, client: usize) -> bool {
        let View { served, connected, now, .. } = &self.views[client];
        *served && *connected && !now.watches.is_empty()
    }

    /// Whether a client's session owns a znode.
    pub fn owns(&self, client: usize) -> bool {
        self.tree().ephemerals(self.views[client].session).next().is_some()
    }

    /// Whether a client's server knows that nothing will be asked of it again.
    pub fn is_idle(&self, client: usize) -> bool {
        self.views[client].idle
    }

    /// How many answers are on their way to a client, as far as anybody counts.
    pub fn unheard(&self, client: usize) -> usize {
        self.views[client].unheard.len()
    }

    /// Whether there is anything to forget of a client that will never look again.
    pub fn remembers(&self, client: usize) -> bool {
        let View { served, heard, .. } = &self.views[client];
        *served || heard.is_some()
    }

    /// In how many orders the ephemeral znodes of a session may go, and whether there are more than are gone through;
    /// of the session that has the most. None where the next order is chosen already.
    pub fn other_ends(&self) -> (std::ops::Range<u8>, bool) {
        let ephemerals = |view: &View| self.tree().ephemerals(view.session).cloned().collect::<Names>();
        let most = self.views.iter().map(ephemerals).max_by_key(Vec::len).unwrap_or_default();
        if self.ends_in != 0 || most.len() < 2 {
            return (0..0, false);
        }
        (1..orders_of(&most).len() as u8, are_too_many(&most))
    }

    /// What the clock may show next, in place of what it does.
    pub fn other_times(&self) -> impl Iterator<Item = u8> {
        (0..TIMES_MS.len() as u8).filter(|shows| *shows != self.clock)
    }

    /// The tree.
    pub fn tree(&self) -> &DataTree {
        &self.moments[self.last()].tree
    }

    pub(super) fn last(&self) -> usize {
        self.moments.len() - 1
    }

    /// In how many orders the next server of a client, which registers these watches or has sent them before, may tell
    /// what has been missed.
    pub fn orders_of_missed(&self, client: usize, watches: &[Watching]) -> u8 {
        let View { registers, now, .. } = &self.views[client];
        let watches = registers.as_deref().unwrap_or(watches);
        let tree = &self.moments[now.at].tree;
        let told: Vec<_> = watches.iter().filter(|w| now.tells_at_once(tree, w)).cloned().collect();
        if told.len() < 2 { 1 } else { in_orders(&told).len() as u8 }
    }

    /// Forgets what nobody can look at any more.
    pub(super) fn forget_old(&mut self) {
        let oldest = self.views.iter().filter_map(View::oldest).min().unwrap_or(self.last());
        self.moments.drain(..oldest);
        self.woken.drain(..oldest);
        self.views.iter_mut().flat_map(View::sights).for_each(|sight| sight.at -= oldest);
    }

    /// What tells them from others. `ranks`: trees apart by the order of their numbers alone.
    pub(super) fn digest(&self, ranks: bool) -> Digest {
        // The numbers of trees that lag have an order with those of the others.
        let ranks = ranks && self.moments.len() == 1;
        let moments = match ranks {
            true => self.ranked(),
            false => self.joined(|moment, whole| if whole { moment.digest } else { moment.of_tree }),
        };
        digest_of(0x5e41 + u64::from(ranks), &(moments, self.woken(), &self.views, self.clock, self.ends_in))
    }

    /// What each process sees of them.
    pub(super) fn seen(&self) -> Vec<Digest> {
        self.views.iter().filter_map(|view| self.seen_by(view)).collect()
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

    /// The tree without what only counts what has happened, versions included, and with the order of its znodes' zxids
    /// for them.
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

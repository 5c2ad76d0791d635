//! What the ensemble knows of a client, and how far the client's server is.

use crate::digest::{Digest, Digester, digest_all, digest_of};
use crate::orders::orders_of;
use crate::symmetry::Eyes;
use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use zk_api::{EventType, Identity, SessionId, Text, WatchedEvent, WatcherKind, split};
use zk_harness::event::ActorId;
use zk_proto::message::WatchList;
use zk_proto::tree::{Change, DataTree};
use zk_proto::watch::{OneShot, WatchTable};
use zk_proto::watching::{Watching, list_by_kind};

/// The tree after a transaction, and what that one did.
#[derive(Clone, Debug)]
pub struct Moment {
    pub tree: DataTree,
    pub changes: Vec<Change>,
    /// The session that it closes.
    pub ends: Option<SessionId>,
    /// Of the tree alone.
    pub of_tree: Digest,
    pub digest: Digest,
}

impl Moment {
    /// After a transaction that changed this.
    pub fn new(tree: DataTree, changes: Vec<Change>, ends: Option<SessionId>) -> Arc<Moment> {
        let of_tree = digest_of(0x7ee, &tree);
        let digest = digest_all(0x30e, [of_tree, digest_of(0, &(&changes, ends))]);
        Arc::new(Moment { tree, changes, ends, of_tree, digest })
    }

    /// As a process sees it: znodes in no order, as their names are not known to whom they belong. `whole`: what the
    /// transaction did as well.
    pub fn seen_by(&self, me: usize, whole: bool) -> Digest {
        let eyes = |add: &dyn Fn(&mut Eyes)| {
            let mut eyes = Eyes::new(0x5e41, me);
            add(&mut eyes);
            eyes.end()
        };
        let nodes = self.tree.nodes().map(|(path, node)| {
            eyes(&|e| {
                (path, &node.data, &node.acl, node.kind, node.czxid, node.mzxid, node.pzxid).hash(e);
                (node.version, node.aversion, node.created, node.ctime_ms, node.mtime_ms).hash(e);
            })
        });
        let mut digester = Digester::new(0x5e42);
        digester.digest(nodes.fold(0, Digest::wrapping_add));
        self.tree.last_zxid().hash(&mut digester);
        if whole {
            digester.digest(eyes(&|e| (&self.changes, self.ends).hash(e)));
        }
        digester.end()
    }
}

/// A server as one client sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sight {
    /// Which of the moments it has come to.
    pub at: usize,
    /// Of this client alone. While it is away they only note in `missed` what fires.
    pub watches: WatchTable<u8>,
    pub missed: BTreeSet<(Text, OneShot)>,
    /// What its server has spent on a change that the client may not see. The client has such a watch still, and
    /// registers it again with the next connection.
    pub withheld: BTreeSet<(Text, OneShot)>,
}

impl Sight {
    /// A moment, and no watches.
    pub fn new(at: usize) -> Sight {
        Sight { at, watches: WatchTable::new(), missed: BTreeSet::new(), withheld: BTreeSet::new() }
    }

    /// The server takes the next transaction while the client is away.
    pub fn go_on_alone(&mut self, name: u8, moment: &Moment) {
        self.at += 1;
        for change in &moment.changes {
            let before = self.watches.clone();
            // Who comes back is told of what it has missed whether it may read it or not.
            for (_, event) in self.watches.fire(std::slice::from_ref(change)) {
                self.miss(&event, |path, kind| before.contains(path, name, kind_of(kind)));
            }
        }
    }

    /// Notes what an event tells to those of its watches that `had` knows.
    pub fn miss(&mut self, event: &WatchedEvent, had: impl Fn(&Text, OneShot) -> bool) {
        let told: &[OneShot] = match event.kind {
            EventType::NodeDeleted => &[OneShot::Data, OneShot::Child],
            EventType::NodeCreated | EventType::NodeDataChanged => &[OneShot::Data],
            EventType::NodeChildrenChanged => &[OneShot::Child],
            EventType::None => &[],
        };
        let told = told.iter().filter(|kind| had(&event.path, **kind));
        self.missed.extend(told.map(|kind| (event.path.clone(), *kind)));
    }

    /// Notes which one-shot watches a change has spent that the client is told nothing of.
    pub fn withhold(
        &mut self,
        change: &Change,
        name: u8,
        before: &WatchTable<u8>,
        told: &[(u8, WatchedEvent)],
    ) {
        let parent = split(&change.path).0;
        for (path, kind) in [&*change.path, parent]
            .into_iter()
            .flat_map(|path| [OneShot::Data, OneShot::Child].map(|kind| (path, kind)))
        {
            let path = Text::from(path);
            let is_there = |table: &WatchTable<u8>| table.contains(&path, name, kind_of(kind));
            if is_there(before)
                && !is_there(&self.watches)
                && told.iter().all(|(_, event)| event.path != path)
            {
                self.withheld.insert((path, kind));
            }
        }
    }

    /// As the next server will see it from an answer on: what happens later concerns what was withheld before as well.
    fn as_answered(&self, name: u8) -> Sight {
        let mut sight = self.clone();
        for (path, kind) in std::mem::take(&mut sight.withheld) {
            sight.watches.add(&path, name, kind);
        }
        sight
    }

    /// What the client waits for no more it will not ask for again.
    pub fn unwatch(&mut self, name: u8, watching: &Watching) {
        let Some(kind) = watching.kind.one_shot() else { return };
        self.watches.remove(&watching.path, name, kind_of(kind));
        self.missed.remove(&(watching.path.clone(), kind));
        self.withheld.remove(&(watching.path.clone(), kind));
    }

    /// Whether a watch that is registered again with this tree is answered by an event: it is noted to have fired, or
    /// its znode was there, or gone, before it was set (a change that its client was not told of, for instance).
    pub fn tells_at_once(&self, tree: &DataTree, watching: &Watching) -> bool {
        let Some(kind) = watching.kind.one_shot() else { return false };
        let (since, watches) = (tree.last_zxid(), listed(std::slice::from_ref(watching)));
        self.missed.contains(&(watching.path.clone(), kind))
            || !WatchTable::new().set_watches(tree, 0_u8, since, &watches).is_empty()
    }

    /// Keeps of what is armed what the client still has. While it is away no other watch than a one-shot one notes
    /// anything, and the next connection registers all of them.
    pub fn keep(&mut self, name: u8, watches: &[Watching]) {
        let one_shot = watches.iter().filter_map(|w| Some((&w.path, w.kind.one_shot()?)));
        let is_armed = |(path, kind): &(&Text, OneShot)| self.watches.contains(path, name, kind_of(*kind));
        let kept: Vec<_> = one_shot.filter(is_armed).collect();
        self.watches.forget(name);
        kept.into_iter().for_each(|(path, kind)| self.watches.add(path, name, kind));
    }
}

/// Whom a change has woken so far: by its znode's own watches, and by those of the children of its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Woken {
    pub own: BTreeSet<ActorId>,
    pub parents: BTreeSet<ActorId>,
}

/// What the ensemble knows of one client, and the server it is connected to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    pub session: SessionId,
    /// Its server takes it for alive. One that has not heard of the session's end does.
    pub served: bool,
    pub connected: bool,
    /// Whom the server of its connection takes it for.
    pub identities: Arc<[Identity]>,
    /// It is connected, and these watches are still on their way to its server: nothing fires yet. They are those that
    /// it had when it was connected, whether anybody waits for them by the time they come or not.
    pub registers: Option<Vec<Watching>>,
    /// It will never ask for anything again, and has watches on its connection that somebody may count: its server has
    /// applied all that there is.
    pub idle: bool,
    /// Its server; the next one, while it has none.
    pub now: Sight,
    /// What its server was when the client was last answered, as far as the client knows: the next server need be
    /// no further. `None` where views never go back.
    pub heard: Option<Sight>,
    /// The same of the answers that are on their way.
    pub unheard: VecDeque<Sight>,
}

impl View {
    /// Of a session that lives, and is connected to a server which has come to this moment.
    pub fn new(session: SessionId, at: usize, goes_back: bool) -> View {
        let heard = goes_back.then(|| Sight::new(at));
        let (now, unheard) = (Sight::new(at), VecDeque::new());
        let (registers, idle) = (None, false);
        let identities = Arc::default();
        View { session, served: true, connected: true, identities, registers, idle, now, heard, unheard }
    }

    /// Nobody will look at it again.
    pub fn forget(&mut self) {
        self.end();
        (self.heard, self.unheard) = (None, VecDeque::new());
    }

    /// Its server has learned that the session is over, so it lags no longer. Another one may not have.
    pub fn end(&mut self) {
        (self.served, self.connected, self.idle) = (false, false, false);
        (self.registers, self.now) = (None, Sight::new(0));
        self.identities = Arc::default();
    }

    /// An answer is sent.
    pub fn answers(&mut self, name: u8) {
        if self.heard.is_some() {
            self.unheard.push_back(self.now.as_answered(name));
        }
    }

    /// All answers but the last `left` have come to the client.
    pub fn hears(&mut self, left: usize) {
        while self.unheard.len() > left {
            self.heard = self.unheard.pop_front();
        }
    }

    /// All that somebody may look at again.
    pub fn sights(&mut self) -> impl Iterator<Item = &mut Sight> {
        let now = self.served.then_some(&mut self.now);
        now.into_iter().chain(self.heard.as_mut()).chain(self.unheard.iter_mut())
    }

    /// Nobody waits for these any more. The server of a connection that stands does not know; where nobody counts what
    /// it tells of them, it is taken to.
    pub fn unwatch(&mut self, name: u8, watches: &[Watching], counts_wakes: bool) {
        let forget = |sight: &mut Sight| watches.iter().for_each(|watching| sight.unwatch(name, watching));
        match counts_wakes {
            true => self.next_sights().for_each(forget),
            false => {
                self.sights().for_each(forget);
                if let Some(registers) = &mut self.registers {
                    registers.retain(|watching| !watches.contains(watching));
                }
            }
        }
    }

    /// What can be looked at again only by way of another connection: it asks for nothing there that it has given up.
    /// The server of a connection that stands does not know, and keeps it.
    pub fn next_sights(&mut self) -> impl Iterator<Item = &mut Sight> {
        let now = (self.served && !self.connected).then_some(&mut self.now);
        now.into_iter().chain(self.heard.as_mut()).chain(self.unheard.iter_mut())
    }

    /// It will never ask for anything again. Whether a server that lags tells of its watches now or later is the same
    /// to it, and to whoever counts them.
    pub fn finish(&mut self) {
        (self.heard, self.unheard) = (None, VecDeque::new());
        self.idle = self.served && self.connected;
    }

    /// The oldest moment that somebody may look at again.
    pub fn oldest(&self) -> Option<usize> {
        let now = self.served.then_some(self.now.at);
        let heard = self.heard.iter().chain(&self.unheard).map(|sight| sight.at);
        now.into_iter().chain(heard).min()
    }
}

pub fn kind_of(kind: OneShot) -> WatcherKind {
    match kind {
        OneShot::Data => WatcherKind::Data,
        OneShot::Child => WatcherKind::Children,
    }
}

pub fn listed(watches: &[Watching]) -> WatchList {
    list_by_kind(|kind| {
        let paths: BTreeSet<&Text> = watches.iter().filter(|w| w.kind == kind).map(|w| &w.path).collect();
        paths.into_iter().cloned().collect()
    })
}

/// The same with the one-shot watches of each kind in their orders, as a client keeps them by their hash; beginning
/// with this one, and no more of them than an action can count.
pub fn in_orders(watches: &[Watching]) -> Vec<WatchList> {
    let list = listed(watches);
    let mut all = Vec::new();
    for data in orders_of(&list.data) {
        for exist in orders_of(&list.exist) {
            for child in orders_of(&list.child) {
                if all.len() == usize::from(u8::MAX) {
                    return all;
                }
                all.push(WatchList { data: data.clone(), exist: exist.clone(), child, ..list.clone() });
            }
        }
    }
    all
}

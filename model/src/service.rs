//! The ensemble as its clients see it: one tree, sessions, watches, and views of it that may lag.
//!
//! Requests are prepared, applied and read by the servers' own code. **Numbers.** A zxid matters to a recipe
//! by its order alone, and only where it is that of a creation or of new data (`czxid`, `mzxid`). So a
//! transaction that creates or sets takes the next number, and all others share the last one: two states that
//! differ only in how many deletions, ends of sessions or failures lie between are one. The order of any two
//! creations or changes is what it was. What is lost: a `pzxid` does not tell a deletion from what came
//! before it. `true_zxids` numbers everything.
//!
//! **Views.** Each client sees the ensemble through a server that has applied all but the last few transactions.
//! A view never goes back, on a new connection neither, as a server must not be behind what its client has seen;
//! but it may be behind what the client's lost connection has brought about without an answer.
//!
//! **Catch-up.** A real server finds out what a returning client has missed by comparing zxids. Here the
//! watches of a client that is away stay in its table and only note what fires: the same outcome, as a watch
//! that is armed has seen no change before the client's last zxid, and it does not depend on the numbers. What
//! is told follows from `set_watches`, the servers' own.

use crate::digest::{Digest, Digester, digest_of};
use crate::message::{Events, Letter, List, Message, Post};
use crate::shell::{Kind, Watching, watching_of};
use crate::symmetry::{Eyes, process_of};
use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use zk_api::{
    AclList, AddWatchMode, Data, ErrorCode, EventType, Identity, Perms, Request, Response, SessionId, Text,
    WatchedEvent, WatcherKind, Zxid, split,
};
use zk_proto::message::{WatchList, Xid};
use zk_proto::prepare::{Caller, TreeConfig, acl, answer, close_session, prepare, read};
use zk_proto::tree::{Change, DataTree};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::watch::{OneShot, WatchTable, one_shot};
use zk_trials::event::{ActorId, Event, Fact};

const TREE: TreeConfig = TreeConfig { extended_types: true, order_salt: 0 };

/// The ensemble.
#[derive(Clone, Debug)]
pub struct Service {
    tree: DataTree,
    views: Vec<View>,
    /// What tells it from others.
    pub digest: Digest,
    /// What each process sees of it; empty without symmetry.
    pub seen: Vec<Digest>,
}

/// What the ensemble knows of one client, and the server it is connected to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct View {
    session: SessionId,
    lives: bool,
    connected: bool,
    /// Of this client alone. While it is away they only note in `missed` what fires.
    watches: WatchTable<u8>,
    missed: BTreeSet<(Text, OneShot)>,
    /// The tree as its server has it, and what the server has not applied yet; `None` if it has all.
    behind: Option<Behind>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Behind {
    tree: DataTree,
    txns: VecDeque<Arc<Txn>>,
}

/// What can happen to the ensemble.
#[derive(Clone, Debug, Hash)]
pub enum Order<'a> {
    /// It serves a request. `answered` is false for one of a connection that is gone.
    Serve { client: u8, request: &'a Request, answered: bool },
    /// It ends a session.
    Expire { client: u8 },
    /// A connection breaks, and these events with it. The client still has these watches.
    Cut { client: u8, lost: Vec<Arc<WatchedEvent>>, watches: &'a [Watching] },
    /// A client is back, with these watches.
    Reconnect { client: u8, watches: &'a [Watching] },
    /// A client's server applies one transaction more.
    CatchUp { client: u8 },
    /// Nobody waits for these watches any more.
    Unwatch { client: u8, watches: &'a [Watching] },
    /// The client is gone for good.
    Forget { client: u8 },
}

/// What came of it.
#[derive(Debug)]
pub struct Served {
    /// The ensemble after it.
    pub service: Arc<Service>,
    /// What is sent to whom.
    pub post: Vec<(usize, Arc<Post>)>,
    /// What monitors see of it.
    pub events: Events,
    /// The read was of an old state.
    pub stale: bool,
}

/// How the ensemble works.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How many transactions a view may lag.
    pub lag: usize,
    /// A sync may leave a view where it is, as that of a leader does which asks nobody.
    pub lying_syncs: bool,
    /// Every transaction takes a number.
    pub true_zxids: bool,
    /// Work out what processes see.
    pub symmetry: bool,
    /// Tell trees apart by the order of their numbers alone.
    pub ranks: bool,
}

impl Service {
    /// With these znodes, and a session for each actor.
    pub fn new(setup: &[Text], actors: &[ActorId], rules: &Rules) -> Arc<Service> {
        let view = |actor: &ActorId| View {
            session: crate::symmetry::session_of(*actor),
            lives: true,
            connected: true,
            watches: WatchTable::new(),
            missed: BTreeSet::new(),
            behind: None,
        };
        let views = actors.iter().map(view).collect();
        let mut service = Service { tree: DataTree::new(), views, digest: 0, seen: Vec::new() };
        for path in setup {
            let request = Request::Create {
                path: path.clone(),
                data: zk_api::Data::NULL,
                acl: zk_api::open_acl(),
                mode: zk_api::CreateMode::Persistent,
                stat: false,
            };
            let caller = Caller { session: SessionId::NONE, identities: &[] };
            let body = prepare(&service.tree, &TREE, caller, &request);
            let zxid = service.tree.last_zxid().next();
            let txn = Txn { zxid, session: SessionId::NONE, xid: Xid(0), time_ms: 0, body };
            service.tree.apply(&txn).result.expect("a trial sets up znodes that can be created");
        }
        Arc::new(service.sealed(rules))
    }

    /// Takes an order.
    pub fn step(&self, order: &Order<'_>, rules: &Rules) -> Served {
        let mut at = At { service: self.clone(), rules, post: Vec::new(), events: Vec::new(), stale: false };
        match order {
            Order::Serve { client, request, answered } => at.serve(usize::from(*client), request, *answered),
            Order::Expire { client } => at.expire(usize::from(*client)),
            Order::Cut { client, lost, watches } => at.cut(usize::from(*client), lost, watches),
            Order::Reconnect { client, watches } => at.reconnect(usize::from(*client), watches),
            Order::CatchUp { client } => at.catch_up(usize::from(*client)),
            Order::Unwatch { client, watches } => {
                let view = &mut at.service.views[usize::from(*client)];
                watches.iter().for_each(|watching| view.unwatch(*client, watching));
            }
            Order::Forget { client } => at.service.views[usize::from(*client)].end(*client),
        }
        at.done()
    }

    /// Whether the session of a client lives.
    pub fn lives(&self, client: usize) -> bool {
        self.views[client].lives
    }

    /// Whether a client's server has something to catch up with.
    pub fn lags(&self, client: usize) -> bool {
        self.views[client].behind.is_some()
    }

    /// How many transactions a client's server has to catch up with.
    pub fn behind(&self, client: usize) -> usize {
        self.views[client].behind.as_ref().map_or(0, |behind| behind.txns.len())
    }

    /// The tree.
    pub fn tree(&self) -> &DataTree {
        &self.tree
    }

    fn sealed(mut self, rules: &Rules) -> Service {
        // The numbers of trees that lag have an order with those of the others.
        let ranks = rules.ranks && self.views.iter().all(|view| view.behind.is_none());
        self.digest = match ranks {
            true => digest_of(0x5e42, &(self.ranked(), &self.views)),
            false => digest_of(0x5e41, &(&self.tree, &self.views)),
        };
        self.seen = match rules.symmetry {
            true => (0..self.views.len()).map(|me| self.seen_by(me)).collect(),
            false => Vec::new(),
        };
        self
    }

    /// The tree without what only counts what has happened, and with the order of its znodes' zxids for them.
    fn ranked(&self) -> Digest {
        let zxids: BTreeSet<Zxid> =
            self.tree.nodes().flat_map(|(_, node)| [node.czxid, node.mzxid]).collect();
        let rank = |zxid: Zxid| zxids.range(..zxid).count();
        let mut digester = Digester::new(0x5e43);
        for (path, node) in self.tree.nodes() {
            (path, &node.data, &node.acl, node.kind, node.version, node.aversion).hash(&mut digester);
            (rank(node.czxid), rank(node.mzxid)).hash(&mut digester);
        }
        digester.end()
    }

    /// Znodes and other clients in no order, as their names are not known to whom they belong.
    fn seen_by(&self, me: usize) -> Digest {
        let eyes = |add: &dyn Fn(&mut Eyes)| {
            let mut eyes = Eyes::new(0x5e41, me);
            add(&mut eyes);
            eyes.end()
        };
        let nodes = self.tree.nodes().map(|(path, node)| {
            eyes(&|e| {
                (path, &node.data, &node.acl, node.kind, node.czxid, node.mzxid, node.pzxid).hash(e);
                (node.version, node.aversion, node.created).hash(e);
            })
        });
        let views = self.views.iter().enumerate().map(|(i, view)| eyes(&|e| (i == me, view).hash(e)));
        let mut digester = Digester::new(0x5e41);
        digester.digest(nodes.fold(0, Digest::wrapping_add));
        digester.digest(views.fold(0, Digest::wrapping_add));
        self.tree.last_zxid().hash(&mut digester);
        digester.end()
    }
}

impl View {
    fn forget(&mut self, client: u8) {
        self.watches.forget(client);
        self.missed.clear();
    }

    /// Nobody will look at it again, so it lags no longer.
    fn end(&mut self, client: u8) {
        (self.lives, self.connected, self.behind) = (false, false, None);
        self.forget(client);
    }

    /// Notes what an event tells to those of its watches that `had` knows.
    fn miss(&mut self, event: &WatchedEvent, had: impl Fn(&Text, OneShot) -> bool) {
        let told: &[OneShot] = match event.kind {
            EventType::NodeDeleted => &[OneShot::Data, OneShot::Child],
            EventType::NodeCreated | EventType::NodeDataChanged => &[OneShot::Data],
            EventType::NodeChildrenChanged => &[OneShot::Child],
            EventType::None => &[],
        };
        let told = told.iter().filter(|kind| had(&event.path, **kind));
        self.missed.extend(told.map(|kind| (event.path.clone(), *kind)));
    }

    fn unwatch(&mut self, client: u8, watching: &Watching) {
        let Some(kind) = watching.kind.one_shot() else { return };
        self.watches.remove(&watching.path, client, kind_of(kind));
        self.missed.remove(&(watching.path.clone(), kind));
    }
}

/// The ensemble while it works.
struct At<'a> {
    service: Service,
    rules: &'a Rules,
    post: Vec<(usize, Arc<Letter>)>,
    events: Vec<Event>,
    stale: bool,
}

impl At<'_> {
    fn done(self) -> Served {
        let mut post = Vec::new();
        for client in 0..self.service.views.len() {
            let to: Vec<_> =
                self.post.iter().filter(|(to, _)| *to == client).map(|(_, letter)| letter.clone()).collect();
            if !to.is_empty() {
                post.push((client, Post::new(to)));
            }
        }
        let service = Arc::new(self.service.sealed(self.rules));
        Served { service, post, events: List::new(self.events), stale: self.stale }
    }

    fn send(&mut self, client: usize, message: Message) {
        self.post.push((client, Letter::new(message)));
    }

    fn serve(&mut self, client: usize, request: &Request, answered: bool) {
        let result = if request.is_write() {
            let session = self.service.views[client].session;
            let caller = Caller { session, identities: &[] };
            let body = prepare(&self.service.tree, &TREE, caller, request);
            answer(request, self.commit(session, body, answered))
        } else {
            self.read(client, request)
        };
        let sets = result.as_ref().ok().and_then(|response| watching_of(request, response));
        if answered {
            self.send(client, Message::Answer { answer: Arc::new(result), sets });
        }
        if matches!(request, Request::CloseSession) {
            self.end_view(client);
        }
    }

    fn read(&mut self, client: usize, request: &Request) -> Result<Response, ErrorCode> {
        let name = client as u8;
        if let Request::Sync { path } = request {
            while self.service.lags(client) && !self.rules.lying_syncs {
                self.catch_up(client);
            }
            return Ok(Response::Synced { path: path.clone() });
        }
        let Service { tree, views, .. } = &mut self.service;
        let View { session, watches, behind, .. } = &mut views[client];
        let found = |there: bool, response| if there { Ok(response) } else { Err(ErrorCode::NoWatcher) };
        match request {
            Request::AddWatch { path, mode } => {
                watches.add_persistent(path, name, *mode);
                Ok(Response::WatchAdded)
            }
            Request::RemoveWatches { path, kind } => {
                found(watches.remove(path, name, *kind), Response::WatchesRemoved)
            }
            Request::CheckWatches { path, kind } => {
                found(watches.contains(path, name, *kind), Response::WatchesPresent)
            }
            Request::WhoAmI => Ok(Response::WhoAmI(vec![Identity::new("world", "anyone")])),
            Request::Auth { .. } => Ok(Response::Authenticated),
            request => {
                let caller = Caller { session: *session, identities: &[] };
                let result = read(behind.as_ref().map_or(tree, |b| &b.tree), &TREE, caller, request);
                if let Some((path, kind)) = one_shot(request, &result) {
                    watches.add(path, name, kind);
                }
                self.stale |= behind.is_some();
                result
            }
        }
    }

    /// A transaction takes place, and each view learns of it or lags. That of its own client lags too unless it
    /// is `answered`: the server which that client is connected to by now may not know of it yet.
    fn commit(&mut self, by: SessionId, body: TxnBody, answered: bool) -> Result<Response, ErrorCode> {
        let last = self.service.tree.last_zxid();
        let zxid = if self.rules.true_zxids || takes_number(&body) { last.next() } else { last };
        let closed = match body {
            TxnBody::CloseSession { expired, .. } => Some(expired),
            _ => None,
        };
        if let (Some(expired), Some(process)) = (closed, process_of(by)) {
            let actor = actor_of(by, process);
            self.events.push(Event::Is(Fact::SessionClosed { session: by, actor, expired }));
        }
        let txn = Arc::new(Txn { zxid, session: by, xid: Xid(0), time_ms: 0, body });
        // Read-your-writes: a client's own server has applied all before it answers.
        if let Some(own) = process_of(by).filter(|_| answered && closed.is_none()) {
            while self.service.lags(own) {
                self.catch_up(own);
            }
        }
        let before = self.service.tree.clone();
        let applied = self.service.tree.apply(&txn);
        let hand = if closed.is_some() { SessionId::NONE } else { by };
        let own = answered.then_some(by);
        let lagging = self.delay(&txn, own, &before);
        for change in &applied.changes {
            self.tell(change, hand, zxid, &before);
            self.fire(change, &lagging, true);
        }
        self.hasten();
        applied.result
    }

    fn tell(&mut self, change: &Change, by: SessionId, czxid: Zxid, before: &DataTree) {
        let path = change.path.clone();
        let owner =
            |tree: &DataTree| tree.node(&path).and_then(|node| node.owner()).unwrap_or(SessionId::NONE);
        let fact = match change.kind {
            EventType::NodeCreated => {
                let owner = owner(&self.service.tree);
                Fact::NodeCreated { path: path.clone(), by, owner, czxid }
            }
            EventType::NodeDeleted => {
                // What one multi both creates and deletes is not in the tree before it.
                let owner = owner(before);
                Fact::NodeDeleted { path: path.clone(), by, owner }
            }
            EventType::NodeDataChanged => self.written(&path, by, czxid),
            EventType::NodeChildrenChanged | EventType::None => return,
        };
        self.events.push(Event::Is(fact));
        if change.kind == EventType::NodeCreated {
            let fact = self.written(&path, by, czxid);
            self.events.push(Event::Is(fact));
        }
    }

    /// What one multi writes twice, or writes and deletes, is told as it is in the end.
    fn written(&self, path: &Text, by: SessionId, mzxid: Zxid) -> Fact {
        let data = self.service.tree.node(path).map_or(Data::NULL, |node| node.data.clone());
        Fact::NodeWritten { path: path.clone(), by, data, mzxid }
    }

    /// Fires one change for all but those in `lagging`.
    fn fire(&mut self, change: &Change, lagging: &[usize], told: bool) {
        let clients = (0..self.service.views.len()).filter(|client| !lagging.contains(client));
        self.fire_for(change, clients.collect(), told);
    }

    /// `told`: also if nobody is woken.
    fn fire_for(&mut self, change: &Change, clients: Vec<usize>, told: bool) {
        let mut own = Vec::new();
        let mut parents = Vec::new();
        for client in clients {
            let view = &mut self.service.views[client];
            let before = if view.connected { None } else { Some(view.watches.clone()) };
            // Nobody has proven anything here.
            let may_read = |_, list: &AclList| acl::check(list, Perms::READ, &[]).is_ok();
            let fired = view.watches.fire_for(std::slice::from_ref(change), may_read);
            let session = view.session;
            for (_, event) in fired {
                if let Some(before) = &before {
                    let had = |path: &Text, kind| before.contains(path, client as u8, kind_of(kind));
                    self.service.views[client].miss(&event, had);
                    continue;
                }
                let woken = if event.path == change.path { &mut own } else { &mut parents };
                let actor = actor_of(session, client);
                if !woken.contains(&actor) {
                    woken.push(actor);
                }
                self.send(client, Message::Event(Arc::new(event)));
            }
        }
        let mut fired = |path: Text, kind, woken: Vec<ActorId>| {
            if told || !woken.is_empty() {
                self.events.push(Event::Is(Fact::Fired { path, kind, woken }));
            }
        };
        fired(change.path.clone(), change.kind, own);
        if matches!(change.kind, EventType::NodeCreated | EventType::NodeDeleted) {
            fired(split(&change.path).0.into(), EventType::NodeChildrenChanged, parents);
        }
    }

    /// Lets the transaction wait for every view but the own, if views lag; gives which do.
    fn delay(&mut self, txn: &Arc<Txn>, own: Option<SessionId>, before: &DataTree) -> Vec<usize> {
        if self.rules.lag == 0 {
            return Vec::new();
        }
        let views = self.service.views.iter_mut().enumerate();
        let others = views.filter(|(_, view)| Some(view.session) != own && view.lives);
        others
            .map(|(client, view)| {
                let behind = || Behind { tree: before.clone(), txns: VecDeque::new() };
                view.behind.get_or_insert_with(behind).txns.push_back(txn.clone());
                client
            })
            .collect()
    }

    /// Nobody lags more than is allowed.
    fn hasten(&mut self) {
        for client in 0..self.service.views.len() {
            let lag = |view: &View| view.behind.as_ref().map_or(0, |behind| behind.txns.len());
            while lag(&self.service.views[client]) > self.rules.lag {
                self.catch_up(client);
            }
        }
    }

    fn catch_up(&mut self, client: usize) {
        let view = &mut self.service.views[client];
        let Some(behind) = &mut view.behind else { return };
        let changes = behind.txns.pop_front().map(|txn| behind.tree.apply(&txn).changes);
        if behind.txns.is_empty() {
            view.behind = None;
        }
        for change in changes.into_iter().flatten() {
            self.fire_for(&change, vec![client], false);
        }
    }

    fn expire(&mut self, client: usize) {
        let View { session, connected, .. } = self.service.views[client];
        let body = close_session(&self.service.tree, &TREE, session, true);
        // Not by way of `prepare`, which knows only sessions that close themselves.
        let _ = self.commit(session, body, true);
        if connected {
            self.send(client, Message::Lost);
        }
        self.end_view(client);
    }

    fn end_view(&mut self, client: usize) {
        self.service.views[client].end(client as u8);
    }

    /// What the client will not ask for again, its server forgets. The view goes on from where it is: the next
    /// server may lag as this one did, but never behind what the client has seen.
    fn cut(&mut self, client: usize, lost: &[Arc<WatchedEvent>], watches: &[Watching]) {
        let view = &mut self.service.views[client];
        view.connected = false;
        let has =
            |path: &Text, kind| watches.iter().any(|w| w.path == *path && w.kind.one_shot() == Some(kind));
        lost.iter().for_each(|event| view.miss(event, has));
        let name = client as u8;
        let armed = |w: &&Watching| match w.kind.one_shot() {
            Some(kind) => view.watches.contains(&w.path, name, kind_of(kind)),
            None => true,
        };
        let kept: Vec<Watching> = watches.iter().filter(armed).cloned().collect();
        view.watches.forget(name);
        for watching in kept {
            match watching.kind {
                Kind::Data | Kind::Exist => view.watches.add(&watching.path, name, OneShot::Data),
                Kind::Child => view.watches.add(&watching.path, name, OneShot::Child),
                Kind::Persistent => {
                    view.watches.add_persistent(&watching.path, name, AddWatchMode::Persistent)
                }
                Kind::Recursive => {
                    view.watches.add_persistent(&watching.path, name, AddWatchMode::PersistentRecursive);
                }
            }
        }
    }

    /// What it has missed it is told by its new server, as far as that one knows.
    fn reconnect(&mut self, client: usize, watches: &[Watching]) {
        let name = client as u8;
        let Service { tree, views, .. } = &mut self.service;
        let View { connected, missed, watches: table, behind, .. } = &mut views[client];
        let tree = behind.as_ref().map_or(&*tree, |behind| &behind.tree);
        *connected = true;
        let missed = std::mem::take(missed);
        table.forget(name);
        let has_missed =
            |w: &Watching| w.kind.one_shot().is_some_and(|kind| missed.contains(&(w.path.clone(), kind)));
        let (changed, intact): (Vec<_>, Vec<_>) = watches.iter().cloned().partition(has_missed);
        // Since the beginning, something has happened to all of the one; since now, to none of the other.
        let mut events = table.set_watches(tree, name, Zxid::ZERO, &listed(&changed));
        events.extend(table.set_watches(tree, name, tree.last_zxid(), &listed(&intact)));
        events.into_iter().for_each(|event| self.send(client, Message::Event(Arc::new(event))));
    }
}

fn kind_of(kind: OneShot) -> WatcherKind {
    match kind {
        OneShot::Data => WatcherKind::Data,
        OneShot::Child => WatcherKind::Children,
    }
}

fn listed(watches: &[Watching]) -> WatchList {
    let of = |kind| {
        let paths: BTreeSet<&Text> = watches.iter().filter(|w| w.kind == kind).map(|w| &w.path).collect();
        paths.into_iter().cloned().collect()
    };
    WatchList {
        data: of(Kind::Data),
        exist: of(Kind::Exist),
        child: of(Kind::Child),
        persistent: of(Kind::Persistent),
        recursive: of(Kind::Recursive),
    }
}

/// Every process of a model has one life.
fn actor_of(_session: SessionId, process: usize) -> ActorId {
    ActorId { process: process as u8, life: 0 }
}

/// Whether a transaction creates or sets something.
fn takes_number(body: &TxnBody) -> bool {
    match body {
        TxnBody::Create { .. } | TxnBody::SetData { .. } | TxnBody::SetAcl { .. } => true,
        TxnBody::Multi { ops } => ops.iter().any(takes_number),
        TxnBody::CreateSession { .. }
        | TxnBody::CloseSession { .. }
        | TxnBody::Delete { .. }
        | TxnBody::Check { .. }
        | TxnBody::Error(_)
        | TxnBody::MultiError(_) => false,
    }
}

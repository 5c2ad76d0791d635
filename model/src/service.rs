//! The ensemble as its clients see it: one tree, sessions, watches, and views of it that may lag.
//!
//! Requests are prepared, applied and read by the servers' own code. **Numbers.** A zxid matters to a recipe
//! by its order alone, and only where it is that of a creation or of new data (`czxid`, `mzxid`). So a
//! transaction that creates or sets takes the next number, and all others share the last one: two states that
//! differ only in how many deletions, ends of sessions or failures lie between are one. The order of any two
//! creations or changes is what it was. What is lost: a `pzxid` does not tell a deletion from what came
//! before it, unless somebody reads one: then transactions that delete take a number, too. `true_zxids` numbers
//! everything, as does a search once code has read the number of one (`Reads::NUMBERS`).
//!
//! **Views.** Each client sees the ensemble through a server that has applied all but the last few transactions. The
//! next server must not be behind what the client knows from answers; but it may be behind what it was told by events,
//! and behind what its lost connection has brought about without an answer that came. So a view goes back, when a
//! connection is lost, to what it was when the client was last answered, with the watches of that time. A server that
//! has not heard of a session's end goes on serving it, reads alone, and the next one may not have heard of it either.
//! Where views do not lag, all this comes to nothing.
//!
//! **Catch-up.** A real server finds out what a returning client has missed by comparing zxids. Here the
//! watches of a client that is away stay in its table and only note what fires: the same outcome, as a watch
//! that is armed has seen no change before the client's last zxid, and it does not depend on the numbers. What
//! is told follows from `set_watches`, the servers' own.

mod fire;
mod returns;
mod seal;
mod stamp;
mod view;

use crate::digest::Digest;
use crate::message::{Events, HashedMessage, List, Message, Post};
use crate::orders::{Order as Names, TREE, are_too_many, orders_of};
use crate::replay_runtime::{Watching, watching_of};
use crate::symmetry::actor_of;
use stamp::takes_number;
pub use stamp::{SET_UP, TIMES_MS};
use std::collections::{BTreeMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use view::{Moment, View, Woken};
use zk_api::{Data, ErrorCode, EventType, Identity, Request, Response, SessionId, Text, WatchedEvent, Zxid};
use zk_proto::message::Xid;
use zk_proto::prepare::{Caller, acl, answer, close_session, prepare, read};
use zk_proto::tree::{Change, DataTree, Node};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::watch::one_shot;
use zk_trials::event::{ActorId, Event, GroundTruth};

/// A session that nobody is told of.
const ADMINISTRATOR: SessionId = SessionId::new(0xad);

/// The ensemble.
#[derive(Clone, Debug)]
pub struct Service {
    /// From the oldest that somebody may still look at to the last. Never empty.
    moments: VecDeque<Arc<Moment>>,
    /// Whom the changes of each of them have woken so far, for servers that come to them later.
    woken: VecDeque<Vec<Woken>>,
    views: Vec<View>,
    /// What the next transaction finds the leader's clock at, if anybody reads that: one of [`TIMES_MS`].
    clock: u8,
    /// In which of their orders the ephemeral znodes of a session go that the next transaction ends, if anybody sees that.
    ends_in: u8,
    /// What tells it from others.
    pub digest: Digest,
    /// What each process sees of it; empty without symmetry.
    pub seen: Vec<Digest>,
}

/// What can happen to the ensemble.
#[derive(Clone, Debug, Hash)]
pub enum Order<'a> {
    /// It serves a request.
    Serve { client: u8, request: &'a Request },
    /// It serves a request of a connection that is gone, whose server takes the client for these.
    ServeLost { client: u8, request: &'a Request, identities: &'a [Identity] },
    /// It ends a session.
    Expire { client: u8 },
    /// A connection breaks, and these events with it. The client still has these watches.
    Cut { client: u8, lost: Vec<Arc<WatchedEvent>>, watches: &'a [Watching] },
    /// A client is back, with these watches, in the order of this number, and says again who it is; with `None`, what is
    /// refused.
    Reconnect { client: u8, watches: &'a [Watching], nth: u8, identities: Option<Arc<[Identity]>> },
    /// They have come to its server.
    Register { client: u8, nth: u8 },
    /// A client's server applies one transaction more.
    CatchUp { client: u8 },
    /// Time passes, or another leader's clock is another one: see [`TIMES_MS`].
    Clock { shows: u8 },
    /// The next session to end loses its ephemeral znodes in the order of this number.
    EndsIn { order: u8 },
    /// An administrator changes something.
    Administer { request: &'a Request },
    /// Nobody waits for these watches any more. The server of a connection keeps them, and tells of them once more; the
    /// next one is not asked for them.
    Unwatch { client: u8, watches: &'a [Watching] },
    /// All answers but the last so many that were sent to the client have come to it.
    Hear { client: u8, left: usize },
    /// The client is gone for good, or will never look again.
    Forget { client: u8 },
    /// The client will never ask for anything again, and its connection stands.
    Finish { client: u8 },
    /// No connection drops any more.
    Settle,
    /// A session is opened in the place of a client's former one, which nobody looks at any more. `goes_back`: connections
    /// may still drop.
    Open { client: u8, session: SessionId, goes_back: bool },
    /// A client's session is to outlast its process: it gets a place of its own among the views, this one.
    Leave { client: u8, place: u8 },
    /// Nothing is left of a session that had a place of its own.
    Remove { client: u8 },
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
    /// Somebody was told of two znodes that went with one session.
    pub tells_order: bool,
}

/// How the ensemble works.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How many transactions a view may lag.
    pub lag: usize,
    /// A sync may leave a view where it is, as that of a leader does which asks nobody.
    pub stale_syncs: bool,
    /// A client that comes back may see what it saw when it was last answered, or what has come of that where no view lags: it
    /// is told of what was withheld from it since.
    pub goes_back: bool,
    /// An answer on its way counts as one that has come. Not so in ZooKeeper.
    pub lost_answers_bind: bool,
    /// A server serves a session that is over until it has heard of that.
    pub outlives: bool,
    /// A new connection's watches come to its server some time after the news of the connection.
    pub registers_late: bool,
    /// Somebody counts whom a change wakes: nobody is told otherwise, and what nobody waits for any more is not watched.
    pub counts_wakes: bool,
    /// Every transaction takes a number.
    pub true_zxids: bool,
    /// Those that delete take one, too.
    pub pzxids: bool,
    /// Transactions take place at some time, and not all at zero.
    pub times: bool,
    /// Work out what processes see.
    pub symmetry: bool,
    /// Tell trees apart by the order of their numbers alone.
    pub ranks: bool,
}

impl Service {
    /// With these znodes, some of which have had so many children, and a session for each actor.
    ///
    /// Panics if a counter is of a znode that is not there.
    pub fn new(setup: &[Text], counters: &[(Text, i32)], actors: &[ActorId], rules: &Rules) -> Arc<Service> {
        let view = |actor: &ActorId| View::new(crate::symmetry::session_of(*actor, 0, 0), 0, rules.goes_back);
        let mut tree = DataTree::new();
        for path in setup {
            let request = Request::Create {
                path: path.clone(),
                data: zk_api::Data::NULL,
                acl: zk_api::open_acl(),
                mode: zk_api::CreateMode::Persistent,
                stat: false,
            };
            let caller = Caller { session: SessionId::NONE, identities: &[] };
            let body = prepare(&tree, &TREE, caller, &request);
            let zxid = tree.last_zxid().next();
            let time_ms = if rules.times { TIMES_MS[usize::from(SET_UP)] } else { 0 };
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
        Arc::new(
            Service { moments, woken, views, clock: SET_UP, ends_in: 0, digest: 0, seen: Vec::new() }
                .sealed(rules),
        )
    }

    /// Takes an order.
    pub fn step(&self, order: &Order<'_>, rules: &Rules) -> Served {
        let mut at = At {
            service: self.clone(),
            rules,
            post: Vec::new(),
            events: Vec::new(),
            stale: false,
            told: Vec::new(),
            tells_order: false,
        };
        match order {
            Order::Serve { client, request } => at.serve(usize::from(*client), request),
            Order::ServeLost { client, request, identities } => {
                let _ = at.write(usize::from(*client), request, identities, false);
            }
            Order::Expire { client } => at.expire(usize::from(*client)),
            Order::Cut { client, lost, watches } => at.cut(usize::from(*client), lost, watches),
            Order::Reconnect { client, watches, nth, identities } => {
                at.reconnect(usize::from(*client), watches, *nth, identities.clone());
            }
            Order::Register { client, nth } => at.take_watches(usize::from(*client), *nth),
            Order::CatchUp { client } => at.catch_up(usize::from(*client)),
            Order::Clock { shows } => at.service.clock = *shows,
            Order::EndsIn { order } => at.service.ends_in = *order,
            Order::Administer { request } => {
                let caller = Caller { session: ADMINISTRATOR, identities: &[] };
                let body = prepare(at.service.tree(), &TREE, caller, request);
                let _ = at.commit(ADMINISTRATOR, body, false);
            }
            Order::Unwatch { client, watches } => {
                at.service.views[usize::from(*client)].unwatch(*client, watches, rules.counts_wakes);
            }
            Order::Hear { client, left } => at.service.views[usize::from(*client)].hears(*left),
            Order::Forget { client } => at.service.views[usize::from(*client)].forget(),
            Order::Finish { client } => at.finish(usize::from(*client)),
            Order::Settle => {
                for view in &mut at.service.views {
                    (view.heard, view.unheard) = (None, VecDeque::new());
                }
            }
            Order::Open { client, session, goes_back } => {
                let goes_back = *goes_back && rules.goes_back;
                let view = View::new(*session, at.service.last(), goes_back);
                at.service.views[usize::from(*client)] = view;
            }
            Order::Leave { client, place } => {
                let mut left = at.service.views[usize::from(*client)].clone();
                left.forget();
                at.service.views.insert(usize::from(*place), left);
            }
            Order::Remove { client } => drop(at.service.views.remove(usize::from(*client))),
        }
        at.done()
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
    fn ends_after(&self, at: usize, session: SessionId) -> bool {
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

    /// Whether a client has watches on its connection. A server tells of a persistent one that has fired whether anybody
    /// looks or not.
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

    /// In how many orders the ephemeral znodes of a session may go, and whether there are more than are gone through; of the
    /// session that has the most. None where the next order is chosen already.
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

    fn last(&self) -> usize {
        self.moments.len() - 1
    }
}

/// The ensemble while it works.
struct At<'a> {
    service: Service,
    rules: &'a Rules,
    post: Vec<(usize, Arc<HashedMessage>)>,
    events: Vec<Event>,
    stale: bool,
    /// Who was told of a znode that went with its session.
    told: Vec<usize>,
    tells_order: bool,
}

impl At<'_> {
    fn done(self) -> Served {
        let mut post = Vec::new();
        for client in 0..self.service.views.len() {
            let to: Vec<_> =
                self.post.iter().filter(|(to, _)| *to == client).map(|(_, hashed)| hashed.clone()).collect();
            if !to.is_empty() {
                post.push((client, Post::new(to)));
            }
        }
        let service = Arc::new(self.service.sealed(self.rules));
        let (events, stale, tells_order) = (List::new(self.events), self.stale, self.tells_order);
        Served { service, post, events, stale, tells_order }
    }

    fn send(&mut self, client: usize, message: Message) {
        self.post.push((client, HashedMessage::new(message)));
    }

    /// `answered`: on the connection that the client has.
    fn write(
        &mut self,
        client: usize,
        request: &Request,
        identities: &[Identity],
        answered: bool,
    ) -> Result<Response, ErrorCode> {
        let session = self.service.views[client].session;
        let body = prepare(self.service.tree(), &TREE, Caller { session, identities }, request);
        answer(request, self.commit(session, body, answered))
    }

    fn serve(&mut self, client: usize, request: &Request) {
        let result = if request.is_write() {
            let identities = self.service.views[client].identities.clone();
            self.write(client, request, &identities, true)
        } else {
            self.read(client, request)
        };
        // A sync may have shown that the session is over.
        if !self.service.views[client].served {
            return;
        }
        let refused = result == Err(ErrorCode::AuthFailed);
        let sets = result.as_ref().ok().and_then(|response| watching_of(request, response));
        let removes = match request {
            Request::RemoveWatches { path, kind } if result.is_ok() => Some((path.clone(), *kind)),
            _ => None,
        };
        self.send(client, Message::Answer { answer: Arc::new(result), sets, removes });
        self.service.views[client].answers(client as u8);
        if self.rules.lost_answers_bind {
            self.service.views[client].hears(0);
        }
        if matches!(request, Request::CloseSession) {
            self.service.views[client].end();
        }
        if refused {
            self.service.views[client].connected = false;
        }
    }

    fn read(&mut self, client: usize, request: &Request) -> Result<Response, ErrorCode> {
        let name = client as u8;
        if let Request::Sync { path } = request {
            while self.service.lags(client) && !self.rules.stale_syncs {
                self.catch_up(client);
            }
            return Ok(Response::Synced { path: path.clone() });
        }
        let lags = self.service.lags(client);
        let Service { moments, views, .. } = &mut self.service;
        let View { session, now, identities, .. } = &mut views[client];
        let found = |there: bool, response| if there { Ok(response) } else { Err(ErrorCode::NoWatcher) };
        match request {
            Request::AddWatch { path, mode } => {
                now.watches.add_persistent(path, name, *mode);
                Ok(Response::WatchAdded)
            }
            Request::RemoveWatches { path, kind } => {
                found(now.watches.remove(path, name, *kind), Response::WatchesRemoved)
            }
            Request::CheckWatches { path, kind } => {
                found(now.watches.contains(path, name, *kind), Response::WatchesPresent)
            }
            Request::WhoAmI => Ok(Response::WhoAmI(identities.iter().map(acl::shown_name).collect())),
            Request::Auth { scheme, credentials } => {
                let proven = acl::prove(identities, scheme, credentials, None);
                *identities = proven.ok_or(ErrorCode::AuthFailed)?;
                Ok(Response::Authenticated)
            }
            request => {
                let caller = Caller { session: *session, identities };
                let result = read(&moments[now.at].tree, &TREE, caller, request);
                if let Some((path, kind)) = one_shot(request, &result) {
                    now.watches.add(path, name, kind);
                }
                self.stale |= lags;
                result
            }
        }
    }

    /// A transaction takes place, and each view learns of it or lags. That of its own client lags too unless it
    /// is `answered`: the server which that client is connected to by now may not know of it yet.
    fn commit(&mut self, by: SessionId, mut body: TxnBody, answered: bool) -> Result<Response, ErrorCode> {
        let ends_in = std::mem::take(&mut self.service.ends_in);
        if let (TxnBody::CloseSession { ephemerals, .. }, 1..) = (&mut body, ends_in) {
            let order = orders_of(ephemerals).into_iter().nth(ends_in.into());
            *ephemerals = order.unwrap_or(std::mem::take(ephemerals));
        }
        let last = self.service.tree().last_zxid();
        let numbered = self.rules.true_zxids || takes_number(&body, self.rules.pzxids);
        let zxid = if numbered { last.next() } else { last };
        let closed = match body {
            TxnBody::CloseSession { expired, .. } => Some(expired),
            _ => None,
        };
        if let (Some(expired), Some(actor)) = (closed, actor_of(by)) {
            self.events.push(Event::Is(GroundTruth::SessionClosed { session: by, actor, expired }));
        }
        let clock = std::mem::replace(&mut self.service.clock, SET_UP);
        let time_ms = if self.rules.times { TIMES_MS[usize::from(clock)] } else { 0 };
        let txn = Arc::new(Txn { zxid, session: by, xid: Xid(0), time_ms, body });
        let of = self.service.views.iter().position(|view| view.session == by);
        let own = of.filter(|own| answered && self.service.serves(*own));
        // Read-your-writes: a client's own server has applied all before it answers.
        while own.is_some_and(|own| self.service.lags(own)) {
            self.catch_up(own.expect("it was just seen"));
        }
        let before = self.service.tree().clone();
        let mut tree = before.clone();
        let applied = tree.apply(&txn);
        let moment = Moment::new(tree, applied.changes.clone(), closed.map(|_| by));
        self.service.moments.push_back(moment);
        self.service.woken.push_back(vec![Woken::default(); applied.changes.len()]);
        let (all, last) = (self.service.views.len(), self.service.last());
        let goes_along = |client: &usize| {
            let never_lags = self.rules.lag == 0 || self.service.is_idle(*client);
            self.service.serves(*client) && (never_lags || own == Some(*client))
        };
        let along: Vec<usize> = (0..all).filter(goes_along).collect();
        along.iter().for_each(|client| self.service.views[*client].now.at = last);
        let hand = if closed.is_some() { SessionId::NONE } else { by };
        let are = owners_and_data(&txn.body, &before);
        assert_eq!(
            are.len(),
            applied.changes.len(),
            "each operation that changes something changes one znode"
        );
        for ((nth, change), is) in applied.changes.iter().enumerate().zip(are) {
            self.tell(change, hand, (zxid, numbered), is);
            self.fire((last, nth), &along, true);
        }
        // One of a connection that is gone ends what came after it.
        let ended = of.filter(|ended| closed.is_some() && !answered && along.contains(ended));
        ended.into_iter().for_each(|ended| self.close(ended));
        self.hasten();
        applied.result
    }

    /// `by` has changed a znode, whose owner and data these are by then. `numbered`: the transaction has taken a number of its
    /// own.
    fn tell(
        &mut self,
        change: &Change,
        by: SessionId,
        (zxid, numbered): (Zxid, bool),
        (owner, data): (SessionId, Data),
    ) {
        let path = change.path.clone();
        let mut is_so = |truth| self.events.push(Event::Is(truth));
        let written = |path| GroundTruth::NodeWritten { path, by, owner, data, mzxid: zxid };
        match change.kind {
            EventType::NodeCreated => {
                is_so(GroundTruth::NodeCreated { path: path.clone(), by, owner, czxid: zxid });
                is_so(written(path));
            }
            EventType::NodeDataChanged => is_so(written(path)),
            EventType::NodeDeleted => {
                is_so(GroundTruth::NodeDeleted { path, by, owner, zxid: numbered.then_some(zxid) });
            }
            EventType::NodeChildrenChanged | EventType::None => {}
        }
    }

    fn expire(&mut self, client: usize) {
        let session = self.service.views[client].session;
        let body = close_session(self.service.tree(), &TREE, session, true);
        let outlives = self.rules.outlives && self.rules.lag > 0;
        // Not by way of `prepare`, which knows only sessions that close themselves.
        let _ = self.commit(session, body, !outlives);
        if !outlives {
            self.close(client);
        }
    }

    /// A server that learns of a session's end closes its connection.
    fn close(&mut self, client: usize) {
        if self.service.views[client].connected {
            self.send(client, Message::Lost);
        }
        match self.rules.outlives {
            true => self.service.views[client].end(),
            false => self.service.views[client].forget(),
        }
    }

    /// Its server comes to all that there is, and keeps its watches.
    fn finish(&mut self, client: usize) {
        while self.service.lags(client) {
            self.catch_up(client);
        }
        self.service.views[client].finish();
    }
}

/// Of each change of a transaction, whose the znode is, and its data: a multi may write one twice, or delete what it created.
fn owners_and_data(body: &TxnBody, before: &DataTree) -> Vec<(SessionId, Data)> {
    let mut made: BTreeMap<&Text, SessionId> = BTreeMap::new();
    let mut all = Vec::new();
    for op in if let TxnBody::Multi { ops } = body { ops } else { std::slice::from_ref(body) } {
        let of_tree = |path: &Text| before.node(path).and_then(Node::owner).unwrap_or(SessionId::NONE);
        let owner = |path: &Text| made.get(path).copied().unwrap_or_else(|| of_tree(path));
        match op {
            TxnBody::Create { path, data, kind, .. } => {
                let owner = kind.owner().unwrap_or(SessionId::NONE);
                made.insert(path, owner);
                all.push((owner, data.clone()));
            }
            TxnBody::SetData { path, data, .. } => all.push((owner(path), data.clone())),
            TxnBody::Delete { path } => all.push((owner(path), Data::NULL)),
            TxnBody::CloseSession { ephemerals, .. } => {
                all.extend(ephemerals.iter().map(|path| (owner(path), Data::NULL)));
            }
            _ => {}
        }
    }
    all
}

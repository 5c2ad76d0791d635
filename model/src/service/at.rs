//! What an order does to the servers: what takes place, whom that wakes, when other servers come to it, and how a
//! client loses its connection and comes back.

use super::order::Order;
use super::rules::Rules;
use super::servers::Servers;
use super::stamp::{SET_UP, TIMES_MS, takes_number};
use super::view::{Moment, View, Woken, in_orders, kind_of, listed};
use crate::message::{HashedMessage, Message, Post};
use crate::orders::{TREE, orders_of};
use crate::symmetry::actor_of;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::{
    AclList, Data, ErrorCode, EventType, Identity, Perms, Request, Response, SessionId, Text, WatchedEvent,
    Zxid, split,
};
use zk_harness::event::{ActorId, Event, GroundTruth};
use zk_proto::message::Xid;
use zk_proto::prepare::{Caller, acl, answer, close_session, prepare, read};
use zk_proto::tree::{Change, DataTree, Node};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::watch::one_shot;
use zk_proto::watching::Watching;

/// A session that nobody is told of.
const ADMINISTRATOR: SessionId = SessionId::new(0xad);

/// The ensemble while it works.
pub(super) struct At<'a> {
    pub(super) servers: Servers,
    rules: &'a Rules,
    post: Vec<(usize, Arc<HashedMessage>)>,
    pub(super) events: Vec<Event>,
    pub(super) stale: bool,
    /// Who was told of a znode that went with its session.
    told: Vec<usize>,
    pub(super) tells_order: bool,
}

impl<'a> At<'a> {
    pub(super) fn new(servers: Servers, rules: &'a Rules) -> At<'a> {
        let (post, events, told) = (Vec::new(), Vec::new(), Vec::new());
        At { servers, rules, post, events, stale: false, told, tells_order: false }
    }

    pub(super) fn take(&mut self, order: &Order<'_>) {
        match order {
            Order::Serve { client, request } => self.serve(usize::from(*client), request),
            Order::ServeLost { client, request, identities } => {
                let _ = self.write(usize::from(*client), request, identities, false);
            }
            Order::Expire { client } => self.expire(usize::from(*client)),
            Order::Cut { client, lost, watches } => self.cut(usize::from(*client), lost, watches),
            Order::Reconnect { client, watches, nth, identities } => {
                self.reconnect(usize::from(*client), watches, *nth, identities.clone());
            }
            Order::Register { client, nth } => self.take_watches(usize::from(*client), *nth),
            Order::CatchUp { client } => self.catch_up(usize::from(*client)),
            Order::Clock { shows } => self.servers.clock = *shows,
            Order::EndsIn { order } => self.servers.ends_in = *order,
            Order::Administer { request } => {
                let caller = Caller { session: ADMINISTRATOR, identities: &[] };
                let body = prepare(self.servers.tree(), &TREE, caller, request);
                let _ = self.commit(ADMINISTRATOR, body, false);
            }
            Order::Unwatch { client, watches } => {
                self.servers.views[usize::from(*client)].unwatch(*client, watches, self.rules.counts_wakes);
            }
            Order::Hear { client, left } => self.servers.views[usize::from(*client)].hears(*left),
            Order::Forget { client } => self.servers.views[usize::from(*client)].forget(),
            Order::Finish { client } => self.finish(usize::from(*client)),
            Order::Settle => {
                for view in &mut self.servers.views {
                    (view.heard, view.unheard) = (None, VecDeque::new());
                }
            }
            Order::Open { client, session, goes_back } => {
                let goes_back = *goes_back && self.rules.goes_back;
                let view = View::new(*session, self.servers.last(), goes_back);
                self.servers.views[usize::from(*client)] = view;
            }
            Order::Leave { client, place } => {
                let mut left = self.servers.views[usize::from(*client)].clone();
                left.forget();
                self.servers.views.insert(usize::from(*place), left);
            }
            Order::Remove { client } => drop(self.servers.views.remove(usize::from(*client))),
        }
    }

    /// What is sent to whom.
    pub(super) fn post(&self) -> Vec<(usize, Arc<Post>)> {
        let mut post = Vec::new();
        for client in 0..self.servers.views.len() {
            let to: Vec<_> =
                self.post.iter().filter(|(to, _)| *to == client).map(|(_, hashed)| hashed.clone()).collect();
            if !to.is_empty() {
                post.push((client, Post::new(to)));
            }
        }
        post
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
        let session = self.servers.views[client].session;
        let body = prepare(self.servers.tree(), &TREE, Caller { session, identities }, request);
        answer(request, self.commit(session, body, answered))
    }

    fn serve(&mut self, client: usize, request: &Request) {
        let result = if request.is_write() {
            let identities = self.servers.views[client].identities.clone();
            self.write(client, request, &identities, true)
        } else {
            self.read(client, request)
        };
        // A sync may have shown that the session is over.
        if !self.servers.views[client].served {
            return;
        }
        let refused = result == Err(ErrorCode::AuthFailed);
        let sets = result.as_ref().ok().and_then(|response| Watching::set_by(request, response));
        let removes = match request {
            Request::RemoveWatches { path, kind } if result.is_ok() => Some((path.clone(), *kind)),
            _ => None,
        };
        self.send(client, Message::Answer { answer: Arc::new(result), sets, removes });
        self.servers.views[client].answers(client as u8);
        if self.rules.lost_answers_bind {
            self.servers.views[client].hears(0);
        }
        if matches!(request, Request::CloseSession) {
            self.servers.views[client].end();
        }
        if refused {
            self.servers.views[client].connected = false;
        }
    }

    fn read(&mut self, client: usize, request: &Request) -> Result<Response, ErrorCode> {
        let name = client as u8;
        if let Request::Sync { path } = request {
            while self.servers.lags(client) && !self.rules.stale_syncs {
                self.catch_up(client);
            }
            return Ok(Response::Synced { path: path.clone() });
        }
        let lags = self.servers.lags(client);
        let Servers { moments, views, .. } = &mut self.servers;
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
        let ends_in = std::mem::take(&mut self.servers.ends_in);
        if let (TxnBody::CloseSession { ephemerals, .. }, 1..) = (&mut body, ends_in) {
            let order = orders_of(ephemerals).into_iter().nth(ends_in.into());
            *ephemerals = order.unwrap_or(std::mem::take(ephemerals));
        }
        let last = self.servers.tree().last_zxid();
        let numbered = self.rules.true_zxids || takes_number(&body, self.rules.pzxids);
        let zxid = if numbered { last.next() } else { last };
        let closed = match body {
            TxnBody::CloseSession { expired, .. } => Some(expired),
            _ => None,
        };
        if let (Some(expired), Some(actor)) = (closed, actor_of(by)) {
            self.events.push(Event::Is(GroundTruth::SessionClosed { session: by, actor, expired }));
        }
        let clock = std::mem::replace(&mut self.servers.clock, SET_UP);
        let time_ms = TIMES_MS[usize::from(clock)];
        let txn = Arc::new(Txn { zxid, session: by, xid: Xid(0), time_ms, body });
        let of = self.servers.views.iter().position(|view| view.session == by);
        let own = of.filter(|own| answered && self.servers.serves(*own));
        // Read-your-writes: a client's own server has applied all before it answers.
        while own.is_some_and(|own| self.servers.lags(own)) {
            self.catch_up(own.expect("it was just seen"));
        }
        let before = self.servers.tree().clone();
        let mut tree = before.clone();
        let applied = tree.apply(&txn);
        let moment = Moment::new(tree, applied.changes.clone(), closed.map(|_| by));
        self.servers.moments.push_back(moment);
        self.servers.woken.push_back(vec![Woken::default(); applied.changes.len()]);
        let (all, last) = (self.servers.views.len(), self.servers.last());
        let goes_along = |client: &usize| {
            let never_lags = self.rules.lag == 0 || self.servers.is_idle(*client);
            self.servers.serves(*client) && (never_lags || own == Some(*client))
        };
        let along: Vec<usize> = (0..all).filter(goes_along).collect();
        along.iter().for_each(|client| self.servers.views[*client].now.at = last);
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

    /// `by` has changed a znode, whose owner and data these are by then. `numbered`: the transaction has taken a number
    /// of its own.
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
        let session = self.servers.views[client].session;
        let body = close_session(self.servers.tree(), &TREE, session, true);
        let outlives = self.rules.outlives && self.rules.lag > 0;
        // Not by way of `prepare`, which knows only sessions that close themselves.
        let _ = self.commit(session, body, !outlives);
        if !outlives {
            self.close(client);
        }
    }

    /// A server that learns of a session's end closes its connection.
    fn close(&mut self, client: usize) {
        if self.servers.views[client].connected {
            self.send(client, Message::Lost);
        }
        match self.rules.outlives {
            true => self.servers.views[client].end(),
            false => self.servers.views[client].forget(),
        }
    }

    /// Its server comes to all that there is, and keeps its watches.
    fn finish(&mut self, client: usize) {
        while self.servers.lags(client) {
            self.catch_up(client);
        }
        self.servers.views[client].finish();
    }

    /// Fires one change of a moment for these clients. It is told with all that it has woken so far, as a herd is one
    /// wherever its members are connected; `told`: also if nobody is woken.
    fn fire(&mut self, (at, nth): (usize, usize), clients: &[usize], told: bool) {
        let moment = self.servers.moments[at].clone();
        let change = &moment.changes[nth];
        let counts = self.rules.counts_wakes;
        let (mut own, mut parents) = (told && counts, told && counts);
        for &client in clients {
            let view = &mut self.servers.views[client];
            let is_here = view.connected && view.registers.is_none();
            let before = view.now.watches.clone();
            let had = |path: &Text, kind| before.contains(path, client as u8, kind_of(kind));
            let View { identities, now, .. } = view;
            // Who comes back is told of what it has missed whether it may read it or not.
            let may_read = |_, list: &AclList| !is_here || acl::check(list, Perms::READ, identities).is_ok();
            let fired = now.watches.fire_for(std::slice::from_ref(change), may_read);
            if is_here {
                now.withhold(change, client as u8, &before, &fired);
            }
            let session = view.session;
            for (_, event) in fired {
                if !is_here {
                    self.servers.views[client].now.miss(&event, had);
                    continue;
                }
                let woken = &mut self.servers.woken[at][nth];
                let (woken, more) = match event.path == change.path {
                    true => (&mut woken.own, &mut own),
                    false => (&mut woken.parents, &mut parents),
                };
                if let Some(actor) = actor_of(session).filter(|_| counts) {
                    *more |= woken.insert(actor);
                }
                if moment.ends.is_some() {
                    self.tells_order |= self.told.contains(&client);
                    self.told.push(client);
                }
                self.send(client, Message::Event(Arc::new(event)));
            }
        }
        let Woken { own: by_own, parents: by_parents } = &self.servers.woken[at][nth];
        let mut fired = |path: Text, kind, woken: &BTreeSet<ActorId>, is_told| {
            if is_told {
                let woken = woken.iter().copied().collect();
                self.events.push(Event::Is(GroundTruth::Fired { path, kind, woken }));
            }
        };
        fired(change.path.clone(), change.kind, by_own, own);
        if matches!(change.kind, EventType::NodeCreated | EventType::NodeDeleted) {
            let parent = split(&change.path).0.into();
            fired(parent, EventType::NodeChildrenChanged, by_parents, parents);
        }
    }

    /// Nobody lags more than is allowed.
    fn hasten(&mut self) {
        let Some(least) = self.servers.last().checked_sub(self.rules.lag) else { return };
        for client in 0..self.servers.views.len() {
            while self.servers.serves(client) && self.servers.views[client].now.at < least {
                self.catch_up(client);
            }
            let Servers { moments, views, .. } = &mut self.servers;
            let View { heard, unheard, .. } = &mut views[client];
            for sight in heard.iter_mut().chain(unheard) {
                while sight.at < least {
                    sight.go_on_alone(client as u8, &moments[sight.at + 1]);
                }
            }
        }
    }

    /// A client's server takes the next transaction; if that was the end of its session, it knows now.
    fn catch_up(&mut self, client: usize) {
        let last = self.servers.last();
        let view = &mut self.servers.views[client];
        if !view.served || view.now.at == last {
            return;
        }
        view.now.at += 1;
        let at = view.now.at;
        let moment = &self.servers.moments[at];
        let (is_over, changes) = (moment.ends == Some(view.session), moment.changes.len());
        for nth in 0..changes {
            self.fire((at, nth), &[client], false);
        }
        if is_over {
            self.close(client);
        }
    }

    /// What the client will not ask for again, its server forgets. The next server may lag as this one did, or as the
    /// one that last answered; but never behind what the client has seen in an answer.
    fn cut(&mut self, client: usize, lost: &[Arc<WatchedEvent>], watches: &[Watching]) {
        let name = client as u8;
        let view = &mut self.servers.views[client];
        (view.connected, view.registers) = (false, None);
        view.identities = Arc::default();
        let has =
            |path: &Text, kind| watches.iter().any(|w| w.path == *path && w.kind.one_shot() == Some(kind));
        match view.heard.clone() {
            // What it missed, it misses when that happens again.
            Some(heard) => view.now = heard,
            None => lost.iter().for_each(|event| view.now.miss(event, has)),
        }
        view.now.keep(name, watches);
        view.now.missed.retain(|(path, kind)| has(path, *kind));
        let (session, at) = (view.session, view.now.at);
        if view.heard.is_some() {
            view.heard = Some(view.now.clone());
            view.unheard.clear();
            if !view.served {
                let served = self.servers.ends_after(at, session);
                self.servers.views[client].served = served;
            }
        }
    }

    /// Where views lag, its watches come to its new server some time after the news that it is connected.
    fn reconnect(
        &mut self,
        client: usize,
        watches: &[Watching],
        nth: u8,
        identities: Option<Arc<[Identity]>>,
    ) {
        let mut watches = watches.to_vec();
        watches.sort();
        watches.dedup();
        let is_late = self.rules.registers_late && self.rules.lag > 0 && !watches.is_empty();
        let view = &mut self.servers.views[client];
        let Some(identities) = identities else {
            // One that is connected for the first time has no former connection that it has lost.
            view.connected = false;
            return self.send(client, Message::Refused);
        };
        view.identities = identities;
        (view.connected, view.registers) = (true, Some(watches));
        if !is_late {
            self.take_watches(client, nth);
        }
    }

    /// What it has missed it is told by its new server, as far as that one knows.
    fn take_watches(&mut self, client: usize, nth: u8) {
        let name = client as u8;
        let Servers { moments, views, .. } = &mut self.servers;
        let View { registers, now, .. } = &mut views[client];
        let tree = &moments[now.at].tree;
        let watches = registers.take().unwrap_or_default();
        let (told, intact): (Vec<_>, Vec<_>) = watches.into_iter().partition(|w| now.tells_at_once(tree, w));
        let told = in_orders(&told).swap_remove(nth.into());
        now.missed.clear();
        now.watches.forget(name);
        // Since the beginning, something has happened to all of the one; since now, to none of the other.
        let events = now.watches.set_watches(tree, name, Zxid::ZERO, &told);
        now.watches.set_watches(tree, name, tree.last_zxid(), &listed(&intact));
        events.into_iter().for_each(|event| self.send(client, Message::Event(Arc::new(event))));
    }
}

/// Of each change of a transaction, whose the znode is, and its data: a multi may write one twice, or delete what it
/// created.
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

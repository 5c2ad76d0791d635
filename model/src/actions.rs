//! What can happen next.
//!
//! ```
//! use zk_model::actions::Action;
//! use zk_model::{CheckConfig, model::RecipeModel, reads::Reads};
//! use zk_harness::trial::Bounds;
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let config = CheckConfig::new(Bounds { crashes: 1, ..Bounds::clients(2) });
//! let model = RecipeModel::new(lock, &config, Reads::at_first());
//! let (mut state, mut actions) = (model.init().state, Vec::new());
//! model.actions(&state, &mut actions);
//! state = model.step(&state, actions[0]).state;
//! actions.clear();
//! let free = model.actions(&state, &mut actions);
//! assert!(actions[..free].contains(&Action::Serve(0)), "the first request of process 0");
//! assert!(actions[free..].contains(&Action::Crash(0)), "faults come behind what is free");
//! ```

pub use crate::action::Action;

use crate::link::{Client, Phase};
use crate::message::Message;
use crate::model::actors::Actors;
use crate::model::scope::Scope;
use crate::process::Node;
use crate::reads::Reads;
use crate::replay_runtime::Watching;
use crate::state::State;
use crate::timers;
use zk_api::{KeeperState, Op, Request};
use zk_harness::event::ActorId;

/// What can happen to the processes of a model.
pub(crate) struct Possible<'a> {
    pub scope: &'a Scope,
    pub actors: &'a Actors,
}

impl Possible<'_> {
    /// What can happen next, always in the same order; gives how many of these are free, which come first.
    /// Where none is free, nothing moves unless a fault makes it.
    pub(crate) fn list(&self, state: &State, actions: &mut Vec<Action>) -> usize {
        if self.actors.begin_first(state, actions) {
            return actions.len();
        }
        // Tasks that the loss of a connection or session has woken look before anybody does anything else: a promise
        // takes what a client knows for what its code was told. What others do now, they could as well have done
        // before.
        if let Some(nth) = state.clients.iter().position(|client| client.is_news) {
            let ready = 0..state.clients[nth].node.ready.len() as u8;
            actions.extend(ready.map(|k| Action::Run(nth as u8, k)));
            return actions.len();
        }
        for (nth, client) in state.clients.iter().enumerate() {
            self.free(state, nth, client, actions);
        }
        let free = actions.len();
        for (nth, client) in state.clients.iter().enumerate() {
            self.faults(state, nth as u8, client, actions);
            if state.left.restarts > 0 && client.may_come_back() && !self.owes_end(client) {
                let next = ActorId { life: client.actor().life + 1, ..client.actor() };
                for rank in self.actors.ranks_to_come(state) {
                    self.actors.begins(nth as u8, next, rank, client.rounds_left, actions);
                }
            }
            if self.scope.false_expiries && can_be_misled(state, client) {
                actions.push(Action::FalseExpiry(nth as u8));
            }
        }
        if state.left.admin > 0 && !self.owes_ends(state) {
            for (nth, path) in self.scope.administered(state).enumerate() {
                if state.service.tree().node(path).is_some_and(|node| node.children.is_empty()) {
                    actions.push(Action::Delete(nth as u8));
                }
                actions.extend((0..self.scope.texts()).map(|text| Action::Set(nth as u8, text)));
            }
        }
        if self.scope.varied.has(Reads::TIMES) && self.can_be_stamped(state) {
            actions.extend(state.service.other_times().map(Action::Clock));
        }
        if self.scope.varied.has(Reads::ENDS) {
            let (orders, are_too_many) = state.service.other_ends();
            actions.extend(orders.map(Action::EndsIn));
            if are_too_many {
                self.actors.leave_out_orders();
            }
        }
        free
    }

    /// Whether the only server has told of this session's end, and is to write it before whatever comes later. What it
    /// is asked to read it answers from the tree as it was. With lag it need be no end at all: a deposed leader has
    /// told of it.
    fn owes_end(&self, client: &Client) -> bool {
        self.scope.bounds.lag == 0 && client.lives && client.state == KeeperState::Expired
    }

    fn owes_ends(&self, state: &State) -> bool {
        state.clients.iter().any(|client| self.owes_end(client))
    }

    /// Whether a transaction may come that notes when it takes place.
    fn can_be_stamped(&self, state: &State) -> bool {
        let next = state.clients.iter().flat_map(|client| client.ghosts.first().or(client.queue.first()));
        let administered = state.left.admin > 0 && self.scope.texts() > 0;
        administered || next.into_iter().any(|request| is_stamped(&request.request))
    }

    /// Several messages reach a process before its code looks at any.
    fn together(&self, state: &State, me: u8, client: &Client, actions: &mut Vec<Action>) {
        for (many, last) in (1..).zip(lasts(client)) {
            match last {
                Last::CannotBe => {}
                Last::IsLeftOut => self.actors.leave_out_heaps(),
                Last::MayBe => {
                    actions.push(Action::Together(me, many));
                    actions.extend(self.other_orders(state, me, many));
                }
            }
        }
    }

    /// The next messages reach a process with their names in other orders.
    fn other_orders(&self, state: &State, me: u8, many: u8) -> impl Iterator<Item = Action> {
        let orders = self.actors.orders(state, me, many).len() as u8;
        (1..orders).map(move |nth| Action::Order(me, many, nth))
    }

    fn free(&self, state: &State, nth: usize, client: &Client, actions: &mut Vec<Action>) {
        let me = nth as u8;
        if client.phase == Phase::Unbegun {
            self.actors.begins(me, client.actor(), client.rank, self.scope.bounds.rounds, actions);
        }
        let connected = client.served && client.state == KeeperState::SyncConnected;
        // A server that takes a dead session for alive answers its reads; the leader refuses its writes.
        let can_write = !self.owes_ends(state);
        let can_serve = !state.service.registers(nth)
            && state.service.listens(nth)
            && client
                .queue
                .first()
                .is_some_and(|first| client.lives && can_write || !first.request.is_write());
        if client.runs() {
            let Node { waits, ready, .. } = &*client.node;
            if !client.inbox.is_empty() && (ready.is_empty() || !is_lost(client)) {
                actions.push(Action::Deliver(me));
                actions.extend(self.other_orders(state, me, 1));
            }
            if ready.is_empty() && !self.scope.trial.hears_singly {
                self.together(state, me, client, actions);
            }
            actions.extend((0..waits.points).map(|k| Action::Point(me, k)));
            // Where a process may be paused, it may find all of them over.
            let timers = timers::over_first(&waits.timers, self.scope.bounds.pauses > 0);
            actions.extend(timers.map(|k| Action::Timer(me, k)));
            actions.extend((0..ready.len() as u8).map(|k| Action::Run(me, k)));
        }
        // What the lost connection still carries comes before what the next one carries.
        if !client.ghosts.is_empty() {
            actions.extend(can_write.then_some(Action::ServeGhost(me)));
        } else if connected && client.phase != Phase::Crashed && can_serve {
            actions.push(Action::Serve(me));
        }
        for (k, write) in client.writes.iter().enumerate() {
            match write.arrived {
                None => actions.push(Action::Arrive(me, k as u8)),
                Some(_) if client.runs() => actions.push(Action::Take(me, k as u8)),
                Some(_) => {}
            }
        }
        let has_work = !client.queue.is_empty() || client.is_early();
        let unfinished = client.runs() || (client.phase == Phase::Running && has_work);
        if unfinished && client.node.ready.is_empty() && client.state == KeeperState::Disconnected {
            let missed = state.service.orders_of_missed(nth, &client.node.waits.watches);
            let orders = if client.served && !client.is_early() { missed } else { 1 };
            actions.extend((0..orders).map(|order| Action::Reconnect(me, order)));
        }
        if self.scope.trial.renews_session && client.may_renew() && !self.owes_end(client) {
            actions.extend(self.actors.ranks_to_come(state).into_iter().map(|rank| Action::Renew(me, rank)));
        }
        if state.service.registers(nth) {
            let orders = state.service.orders_of_missed(nth, &[]);
            actions.extend((0..orders).map(|order| Action::Register(me, order)));
        }
        if state.service.lags(nth) {
            actions.push(Action::CatchUp(me));
        }
        if client.phase == Phase::Paused {
            actions.push(Action::Resume(me));
        }
        if client.lives && is_silent(client) {
            actions.push(Action::Expire(me));
        }
    }

    fn faults(&self, state: &State, me: u8, client: &Client, actions: &mut Vec<Action>) {
        let left = &state.left;
        let is_done = client.node.is_done;
        // What happens to a process that is to begin may as well happen to it just after.
        if matches!(client.phase, Phase::Crashed | Phase::Unbegun) {
            return;
        }
        // A process that is done still has a session, and what that one leaves behind ends with it. Without any, only
        // its next life can show that it has crashed.
        if is_done && !self.leaves_traces(state, usize::from(me), client) {
            let comes_back = left.restarts > 0 && client.rounds_left > 0 && !client.may_come_back();
            if left.crashes > 0 && comes_back && client.phase == Phase::Running {
                actions.push(Action::Crash(me));
            }
            return;
        }
        if left.expiries > 0 && client.lives && !is_silent(client) {
            actions.push(Action::Expire(me));
        }
        if client.phase == Phase::Paused {
            return;
        }
        // Once its server knows that the session is over, a drop can only lose what came before the news, or lead to a
        // server that does not know it. To one that is done, only the loss of a write can matter.
        let comes_before = client.inbox.iter().any(|hashed| !hashed.message.is_news());
        let has_to_lose = client.served || comes_before || state.service.can_go_back(usize::from(me));
        let connected = client.state == KeeperState::SyncConnected && has_to_lose;
        // A client that finds no server fails what was asked of it. After a first connection, that is the same as a
        // connection which drops at once, but for who waits for its state to change, and for one whose session has
        // ended: the next connection would tell it.
        let tells = client.is_early() || client.node.waits.changes > 0 || !client.served;
        let is_refused = client.state == KeeperState::Disconnected
            && tells
            && client.inbox.is_empty()
            && !(client.node.waits.calls.is_empty() && client.queue.is_empty());
        if left.drops > 0 && client.node.ready.is_empty() && (connected || is_refused) {
            let writes = if client.lives && connected { client.queued_writes() as u8 } else { 0 };
            let most = if is_done { writes } else { writes + 1 };
            actions.extend((0..most).map(|ghosts| Action::Drop(me, ghosts)));
        }
        if left.crashes > 0 {
            actions.push(Action::Crash(me));
        }
        if left.pauses > 0 {
            actions.push(Action::Pause(me));
        }
    }

    /// Whether anybody can tell if the session of a process that is done ends: by what the session owns, what was sent
    /// and has not arrived, or a watch that fires no more.
    fn leaves_traces(&self, state: &State, me: usize, client: &Client) -> bool {
        let under_way = !(client.queue.is_empty() && client.ghosts.is_empty() && client.writes.is_empty());
        client.lives
            && (under_way
                || state.service.owns(me)
                || (self.scope.rules.counts_wakes && state.service.watches(me)))
    }
}

/// Whether a request notes when it takes place.
fn is_stamped(request: &Request) -> bool {
    match request {
        Request::Create { .. } | Request::SetData { .. } => true,
        Request::Multi { ops } => ops.iter().any(|op| matches!(op, Op::Create { .. } | Op::SetData { .. })),
        _ => false,
    }
}

/// Whether the next message is the end of the connection. It comes when the code has done with what it was given
/// before: a promise takes what the client knows then for what its code was told. Of credentials that are refused no
/// promise is told.
fn is_lost(client: &Client) -> bool {
    client.inbox.first().is_some_and(|hashed| hashed.message == Message::Lost)
}

/// Code that waits for more calls and watches has polled what the last of some messages that come together is for: else
/// each way of cutting the messages into such heaps would be a state, two to the power of their number. A search says
/// that it left heaps out, unless the code waits for one thing alone. Then it takes that thing, and looks at the others
/// only when it asks for them: to it they may as well come a moment later, in a heap of their own. (Not to code that
/// looks at something once and does not wait for it.)
const FEW: usize = 4;

/// Whether a message may be the last of some that are there together when the code looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing before it has woken the code, or nobody waits for it.
    CannotBe,
    MayBe,
    /// It may, and the code has not polled what it is for, and waits for more than [`FEW`].
    IsLeftOut,
}

/// For each message that reaches a client next, up to news of the connection. The code has polled what one of them is
/// for, and has not come to it yet as the last of them arrives. What that one is for it may poll only then, and prefer
/// to what woke it.
fn lasts(client: &Client) -> impl Iterator<Item = Last> {
    let Node { waits, polled, .. } = &*client.node;
    let (mut calls, mut given_up) = (polled.calls.iter(), client.given_up());
    let (mut to_be_set, mut is_woken): (Vec<&Watching>, bool) = (Vec::new(), false);
    let are_few = waits.calls.len() + waits.watches.len() <= FEW;
    let waits_for_one = polled.many() + waits.others() == 1;
    let messages = client.inbox.iter().map(|hashed| &hashed.message).take_while(|message| !message.is_news());
    messages.map(move |message| {
        let was_woken = is_woken;
        let (is_awaited, is_polled) = match message {
            Message::Answer { .. } if given_up > 0 => {
                given_up -= 1;
                (false, false)
            }
            Message::Answer { sets, .. } => {
                to_be_set.extend(sets);
                (true, calls.next() == Some(&true))
            }
            Message::Event(event) => {
                let watches = waits.watches.iter().zip(&polled.watches);
                let mut sees = watches.filter(|(watching, _)| watching.sees(event)).peekable();
                let is_awaited = sees.peek().is_some() || to_be_set.iter().any(|set| set.sees(event));
                (is_awaited, sees.any(|(_, is_polled)| *is_polled))
            }
            Message::Lost | Message::Refused => (false, false),
        };
        is_woken |= is_polled;
        match was_woken && is_awaited {
            true if is_polled || are_few => Last::MayBe,
            true if !waits_for_one => Last::IsLeftOut,
            _ => Last::CannotBe,
        }
    })
}

/// Whether nothing keeps its session alive, so that it expires by itself.
fn is_silent(client: &Client) -> bool {
    match client.phase {
        // Where it lives, it was told otherwise, or does not know whether its end has arrived.
        Phase::Running => client.state.is_final(),
        Phase::Crashed | Phase::Paused => true,
        Phase::Unbegun => false,
    }
}

/// Whether it is looking for a server, and the next one may be wrong. That is news, too, of which it hears when its
/// code has done with what it was given before.
fn can_be_misled(state: &State, client: &Client) -> bool {
    let looks = client.runs() && client.lives && client.state == KeeperState::Disconnected;
    state.left.expiries > 0 && looks && client.node.ready.is_empty()
}

//! The code of the processes: what it does, in which orders of names, and when it begins. What a model leaves out of
//! that, where it may matter, is told.
//!
//! # Beginnings
//!
//! In the simulator, and with real clients, code begins at some time: others may have ended by then. And a handle is
//! there before its session is: the code begins, what it submits waits, and the session comes later, or not at all. In
//! a model a first life begins later than all else, or without its session, only where that can be told: recipes that
//! neither say something at once nor look at their session pay nothing.
//!
//! **Late.** What code says counts from when it is said. So a first life whose first step says something, in one of the
//! ways in which it begins, may begin at any time, and sees an ensemble that is as far behind as it would be, had it
//! begun before. Who says nothing then begins before anything else. *Claimed:* take any run in which it begins late. It
//! does the same where it begins at once, what its first step submits is not served before that moment, what this
//! writes to the outside does not arrive, and its timers, points and tasks wait. Nobody can tell the two runs apart,
//! but by when its session was opened, which no promise compares with what others do. What could refute the claim is
//! `who_says_nothing_at_first_may_as_well_begin_at_once` (`model/tests/reductions.rs`).
//!
//! **Early.** *Claimed:* take any run of a process that begins without a session. Until it is connected, nothing
//! reaches it from the ensemble: its own timers, points, writes and tasks go on, and what it has submitted may fail as
//! no server is found. If in none of these steps its code looks at the session, or at its state before such a failure,
//! none waits for the state to change before one, and none closes the session or gives credentials, which come to the
//! server before all that waits, then it does the same where it is connected from the start, its requests are not
//! served before the moment at which it would have been connected, and such a failure is a drop before any of them is
//! served. So nobody can tell the two runs apart, but by when the session was opened, which no promise compares with
//! what code does. A crash before the connection is one after it, in which the session expires before what was sent
//! arrives.
//!
//! All these steps are gone through here, up to [`STEPS_MAX`] of them: where there are more, both ways of beginning are
//! explored. What could refute the claim are the generated programs of `zoocheck fuzz`, in which the simulator begins
//! without sessions every time, and `a_beginning_without_a_session_changes_no_verdict_of_who_does_not_look`
//! (`model/tests/reductions.rs`).

use crate::action::Action;
use crate::digest::{Digest, digest_of};
use crate::life::Life;
use crate::link::{Client, Phase};
use crate::memo::Memo;
use crate::monitors::Findings;
use crate::orders::{self, Order};
use crate::process::{Given, Input, Node, ProcessStep, Replayer};
use crate::reads::Reads;
use crate::state::State;
use crate::timers;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use zk_api::{KeeperState, Request};
use zk_harness::event::ActorId;
use zk_harness::trial::Bounds;

/// So many steps before the connection are looked at.
const STEPS_MAX: usize = 100;

const UPKEEP: &str = "containers and znodes with a time to live are never deleted in a model";
const IDS: &str = "code reads or hashes the number of a session id, of which a model has few: compare ids, or judge it by seeds";
const NUMBERS: &str = "code reads or hashes the number of a zxid, and a model has one epoch: compare zxids by their order, or judge it \
                       by seeds";
const ORDERS: &str =
    "lists of more than five names, whose order the code reads, come in some of their orders";
const HEAPS: &str = "where code waits for more than four calls and watches, not every number of their answers and events \
                     comes together";

/// See the module.
pub(crate) struct Actors {
    pub(crate) replayer: Replayer,
    bounds: Bounds,
    varied: Reads,
    /// Which lives begin in two ways, and which say something as they begin.
    starts: Memo<bool>,
    /// A list has come to code that reads the order of its names, which were too many for all of their orders.
    left_out_orders: AtomicBool,
    /// Messages came together to code that waits for many things, and not every way in which they could.
    left_out_heaps: AtomicBool,
}

impl Actors {
    pub(super) fn new(replayer: Replayer, bounds: Bounds, varied: Reads) -> Actors {
        let (left_out_orders, left_out_heaps) = (AtomicBool::new(false), AtomicBool::new(false));
        Actors { replayer, bounds, varied, starts: Memo::new(true), left_out_orders, left_out_heaps }
    }

    /// What the model cannot show of the simulator, though it would take it to say that anything holds.
    pub(super) fn leaves_out(&self) -> Option<String> {
        let left_out = [
            (self.replayer.needs_upkeep(), UPKEEP),
            (self.replayer.noted.reads().has(Reads::NUMBERS), NUMBERS),
            (self.replayer.noted.reads().has(Reads::IDS), IDS),
            (self.left_out_heaps.load(Relaxed), HEAPS),
            (self.left_out_orders.load(Relaxed), ORDERS),
        ];
        left_out.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned())
    }

    /// Not all orders of some names are gone through.
    pub(crate) fn leave_out_orders(&self) {
        self.left_out_orders.store(true, Relaxed);
    }

    /// Not every way is gone through in which messages come together.
    pub(crate) fn leave_out_heaps(&self) {
        self.left_out_heaps.store(true, Relaxed);
    }

    /// Notes what a promise has read.
    pub(super) fn note(&self, findings: &Findings) {
        if findings.numbered {
            self.replayer.noted.add(Reads::NUMBERS);
        }
    }

    /// The orders in which the names of a client's next so many messages can come; none where that is the same to it.
    pub(crate) fn orders(&self, state: &State, me: u8, many: u8) -> Vec<Order> {
        if !self.replayer.varies(Reads::ORDER) {
            return Vec::new();
        }
        let client = &state.clients[usize::from(me)];
        let answers: Vec<_> = client.lists_to_come(many).collect();
        let mut names = answers.iter().flat_map(|answer| orders::names_in(answer)).collect();
        orders::as_they_come(&mut names);
        let orders = orders::orders_of(&names);
        match *answers {
            [] => return Vec::new(),
            [answer]
                if many == 1
                    && self.replayer.minds_no_order((&client.node, client.state), answer, &orders) =>
            {
                return Vec::new();
            }
            _ => {}
        }
        if orders::are_too_many(&names) {
            self.leave_out_orders();
        }
        orders
    }

    /// Whether every order of session ids is explored, as somebody looks at it.
    pub(crate) fn ranks_sessions(&self) -> bool {
        self.varied.has(Reads::SESSIONS)
    }

    /// The ranks that a session may have which is opened now: one between any two of those that are there, and one at
    /// each end. Of one that is gone for good it may be on one side alone.
    pub(crate) fn ranks_to_come(&self, state: &State) -> Vec<u16> {
        if !self.ranks_sessions() {
            return vec![0];
        }
        let taken: BTreeSet<u16> = state.clients.iter().map(|client| client.rank).collect();
        let ends = taken.iter().copied().chain([u16::MAX]);
        let between = |(low, high): (u16, u16)| (high - low > 1).then(|| low + (high - low) / 2);
        [0].into_iter().chain(taken.iter().copied()).zip(ends).filter_map(between).collect()
    }

    /// Whether a life is to be begun both with its session and before it has one.
    pub(crate) fn begins_early(&self, actor: ActorId, rounds: u8) -> bool {
        self.starts.get(digest_of(0xea51, &(actor, rounds)), || self.can_ever_tell(actor, rounds))
    }

    /// Whether a first life says something by its first step, in one of the ways in which it begins.
    pub(crate) fn speaks_first(&self, life: Life) -> bool {
        let speaks = |early| {
            let work = || !self.replayer.start(Life { early, ..life }).out.events.is_empty();
            self.starts.get(digest_of(0xf125, &Life { early, ..life }), work)
        };
        speaks(false) || (self.begins_early(life.actor, life.rounds) && speaks(true))
    }

    /// Before anything else, sessions have their order where somebody looks at it, and every process begins that says
    /// nothing as it does; gives whether one is still to.
    pub(crate) fn begin_first(&self, state: &State, actions: &mut Vec<Action>) -> bool {
        let unbegun = |(_, client): &(u8, &Arc<Client>)| client.phase == Phase::Unbegun;
        let unbegun = || (0..).zip(&state.clients).filter(unbegun);
        if self.ranks_sessions() {
            actions.extend(unbegun().filter(|(_, client)| client.rank == 0).map(|(me, _)| Action::Rank(me)));
        }
        if actions.is_empty() {
            let rounds = self.bounds.rounds;
            let life = |client: &Client| Life { rank: client.rank, ..Life::new(client.actor(), rounds) };
            let silent = unbegun().find(|(_, client)| !self.speaks_first(life(client)));
            silent
                .into_iter()
                .for_each(|(me, client)| self.begins(me, client.actor(), client.rank, rounds, actions));
        }
        !actions.is_empty()
    }

    /// The ways in which a life of a process may begin.
    pub(crate) fn begins(&self, me: u8, actor: ActorId, rank: u16, rounds: u8, actions: &mut Vec<Action>) {
        actions.push(Action::Begin(me, rank));
        if self.begins_early(actor, rounds) {
            actions.push(Action::Early(me, rank));
        }
    }

    fn can_ever_tell(&self, actor: ActorId, rounds: u8) -> bool {
        let mut known = BTreeSet::new();
        let mut open = Vec::new();
        let reach = |step: &ProcessStep, losses: u8, known: &mut BTreeSet<(Digest, u8)>| {
            let is_new = known.insert((step.node.digest, losses)) && !step.node.is_done;
            is_new.then(|| (step.node.clone(), losses))
        };
        let first = self.replayer.start(Life { early: true, ..Life::new(actor, rounds) });
        if self.can_tell(&first, 0) {
            return true;
        }
        open.extend(reach(&first, 0, &mut known));
        while let Some((node, losses)) = open.pop() {
            for input in self.inputs_before_connection(&node, losses) {
                let busy = node.may_stand_over(&input);
                let given = Given { input, state: KeeperState::Disconnected, busy };
                let losses = losses + u8::from(given.input == Input::NoServer);
                let step = self.replayer.remembered(&node, &given);
                if self.can_tell(&step, losses) || known.len() > STEPS_MAX {
                    return true;
                }
                open.extend(reach(&step, losses, &mut known));
            }
        }
        false
    }

    /// What may happen to a process that has no session yet.
    fn inputs_before_connection(&self, node: &Arc<Node>, losses: u8) -> Vec<Input> {
        let waits = &node.waits;
        let mut inputs: Vec<Input> = (0..waits.points).map(Input::Point).collect();
        inputs.extend(timers::over_first(&waits.timers, self.bounds.pauses > 0).map(Input::Timer));
        let written = |nth| [true, false].map(|accepted| Input::Written { nth, accepted });
        inputs.extend((0..waits.writes).flat_map(written));
        inputs.extend(node.ready.iter().map(|task| Input::Run(*task)));
        let may_lose = losses < self.bounds.drops && node.ready.is_empty() && !waits.calls.is_empty();
        inputs.extend(may_lose.then_some(Input::NoServer));
        inputs
    }

    /// Whether a process can tell by this step, after so many failures, that it was not connected before.
    fn can_tell(&self, step: &ProcessStep, losses: u8) -> bool {
        let (looks, waits) = (step.out.looks, &step.node.waits);
        // After a failure the state is the same either way. Credentials come to a server before whatever else its
        // client has to send, also what was submitted before them.
        let is_special = |sent: &Request| matches!(sent, Request::CloseSession | Request::Auth { .. });
        let is_special = step.out.requests.iter().any(|sent| is_special(&sent.request));
        let minds_state = looks.at_state || waits.changes > 0;
        is_special || looks.at_session || (minds_state && losses == 0)
    }
}

//! A process between two steps, and what a step of it gives.

use super::given::{Emitted, Given, Input};
use crate::digest::{Digest, digest_all, digest_of};
use crate::life::Life;
use crate::message::Message;
use crate::orders::Order;
use crate::waits::{Polled, Waits};
use std::sync::Arc;
use zk_harness::event::{ActorId, End};

/// How a process went wrong by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// It panicked, saying this.
    Panic(String),
    /// It submits or polls without end.
    Spin,
    /// A checkpoint's key does not tell all that matters.
    Key(String),
    /// It does not do the same when it is given the same again.
    NotDetermined,
    /// It asks for more than a state can count.
    Beyond,
}

/// A process between two steps.
#[derive(Debug)]
pub struct Node {
    /// Who it is.
    pub actor: ActorId,
    /// How its life began.
    pub life: Life,
    /// What tells it from others.
    pub digest: Digest,
    /// The same, as it sees itself; zero without symmetry.
    pub seen: Digest,
    /// The digest of its whole history, whatever the checkpoints say.
    pub whole: Digest,
    pub(super) history: Option<Arc<History>>,
    /// Its last checkpoint, if any counted.
    pub(super) checkpoint: Option<&'static str>,
    /// Itself, given lists of names in other orders since the last checkpoint.
    pub(super) counterparts: Counterparts,
    /// What it waits for.
    pub waits: Waits,
    /// What of that its tasks would look at as soon as it came.
    pub polled: Polled,
    /// Its tasks that could run and do not yet, by their numbers, ascending. Which of them is next is a choice.
    pub ready: Vec<u8>,
    /// It has more than one task.
    pub(super) crowded: bool,
    /// How its main task ended.
    pub end: Option<End>,
    /// None of its tasks is left.
    pub is_done: bool,
    /// How it went wrong; then it is done.
    pub trouble: Option<Trouble>,
}

impl Node {
    /// A process that is gone.
    pub fn crashed(actor: ActorId) -> Node {
        let digest = digest_of(0xdead, &actor);
        Node::idle(actor, digest, 0xdead)
    }

    /// A process that is to begin.
    pub fn unbegun(actor: ActorId) -> Node {
        let digest = digest_of(0xb16, &actor);
        Node { is_done: false, ..Node::idle(actor, digest, 0xb16) }
    }

    pub(super) fn idle(actor: ActorId, digest: Digest, seen: Digest) -> Node {
        Node {
            actor,
            life: Life::new(actor, 0),
            digest,
            seen,
            whole: digest,
            history: None,
            checkpoint: None,
            counterparts: Counterparts::default(),
            waits: Waits::default(),
            polled: Polled::default(),
            ready: Vec::new(),
            crowded: false,
            end: None,
            is_done: true,
            trouble: None,
        }
    }

    /// Whether the input makes any difference. One that does not must not enter the history.
    pub fn minds(&self, input: &Input) -> bool {
        match input {
            _ if self.is_done => false,
            Input::Answer(_) | Input::NoServer => !self.waits.calls.is_empty(),
            Input::Event(event) => self.waits.watches.iter().any(|watching| watching.sees(event)),
            Input::Removed(path, kind) => self.waits.watches.iter().any(|w| w.is_removed_by(path, *kind)),
            Input::Lost => !self.waits.calls.is_empty() || self.waits.changes > 0,
            Input::Connected => self.waits.changes > 0,
            Input::Over => {
                !self.waits.calls.is_empty() || self.waits.changes > 0 || !self.waits.watches.is_empty()
            }
            Input::Renewed(_) | Input::Point(_) | Input::Timer(_) | Input::Written { .. } => true,
            Input::Run(task) => self.ready.contains(task),
        }
    }

    /// Whether a task that this wakes alone may stand still while another goes on by itself, which is not the same as
    /// an input that is late: that one's timer is over later for certain, or it knows of the connection what is news.
    pub fn may_stand_over(&self, input: &Input) -> bool {
        let Waits { timers, points, writes, .. } = &self.waits;
        let goes_on_by_itself = !timers.is_empty() || *points > 0 || *writes > 0;
        let is_so = match input {
            Input::Timer(_) => timers.len() > 1,
            Input::Answer(answer) => Message::last_state_of(answer).is_some() && goes_on_by_itself,
            Input::Lost | Input::NoServer | Input::Connected | Input::Over | Input::Renewed(_) => {
                goes_on_by_itself
            }
            Input::Event(_)
            | Input::Point(_)
            | Input::Written { .. }
            | Input::Run(_)
            | Input::Removed(..) => false,
        };
        self.crowded && is_so
    }

    /// Its history, oldest first.
    pub(super) fn inputs(&self) -> Vec<Arc<History>> {
        let mut items: Vec<_> =
            std::iter::successors(self.history.clone(), |item| item.before.clone()).collect();
        items.reverse();
        items
    }
}

/// A history, shared with those that begin alike. Newest first.
#[derive(Debug)]
pub(super) struct History {
    /// `None` is the start.
    pub(super) given: Option<Given>,
    /// What was let out then, and waited for: a replay must come to the same.
    pub(super) came_of_it: Digest,
    pub(super) before: Option<Arc<History>>,
}

/// What a step of a process gave.
#[derive(Debug)]
pub struct ProcessStep {
    /// The process after it.
    pub node: Arc<Node>,
    /// What it let out.
    pub out: Emitted,
    /// Whose history it was worked out from.
    pub(super) from: Digest,
    pub(super) came_of_it: Digest,
    /// It has come to a checkpoint.
    pub(super) marked: bool,
    /// Counterparts that came to the same checkpoint.
    pub(super) merged: Vec<Arc<Node>>,
}

/// A process in its place, had names come in other orders.
#[derive(Clone, Debug, Default)]
pub(super) struct Counterparts {
    /// The names that have come in lists, in the order in which they came.
    pub(super) names: Order,
    /// The process for each order. `None` where its lists have come in no other order than they did.
    pub(super) all: Vec<(Order, Option<Arc<Node>>)>,
}

impl Counterparts {
    /// Which of them, or itself, names have come to in this order.
    pub(super) fn of(&self, order: &Order) -> Option<&Arc<Node>> {
        let order: Order = order.iter().filter(|name| self.names.contains(name)).cloned().collect();
        self.all.iter().find(|(other, _)| *other == order).and_then(|(_, node)| node.as_ref())
    }
}

/// Whether two processes do the same in a step, as far as anybody can tell by now.
pub(super) fn is_same(step: &ProcessStep, other: &ProcessStep) -> bool {
    let (one, two) = (&step.node, &other.node);
    step.marked == other.marked
        && (!step.marked || one.digest == two.digest)
        && (one.end, one.is_done, &one.trouble) == (two.end, two.is_done, &two.trouble)
        && (&one.waits, &one.polled, &one.ready) == (&two.waits, &two.polled, &two.ready)
        && digest_of_emitted(&step.out, 0, 0) == digest_of_emitted(&other.out, 0, 0)
}

/// The digest of a whole history, with what came last.
pub(super) fn whole_after(before: Digest, now: Option<&Given>) -> Digest {
    digest_all(3, [before, digest_of(3, &now)])
}

pub(super) fn digest_of_emitted(out: &Emitted, requests: usize, events: usize) -> Digest {
    let requests = out.requests[requests..].iter().map(|request| request.digest);
    digest_all(9, requests.chain([digest_of(9, &(&out.events[events..], &out.writes))]))
}

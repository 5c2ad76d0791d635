//! A model without something that it varies: proof that a generated program would find it.

use super::language::Named;
use strum::{IntoStaticStr, VariantArray};
use zk_model::actions::Action;
use zk_model::reads::Reads;
use zk_model::state::State;

/// What a model is blind to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Blind {
    /// Tasks that are ready run in the order in which they became so.
    Tasks,
    /// Whatever reaches a process, its code looks at that alone.
    Together,
    /// All happens at one time.
    Times,
    /// A process that is done is spared.
    Done,
    /// Names come in one order.
    ListOrder,
    /// Deletions take no number.
    Pzxid,
    /// Sessions have ids in the order of their processes.
    SessionOrder,
    /// Who a client is reaches no server.
    Identities,
    /// Each process begins with its session.
    Start,
    /// No administrator changes anything.
    Administrator,
    /// No client gets another session.
    Renewal,
}

impl Named for Blind {}

impl Blind {
    /// What of that which is read is not varied.
    pub(super) fn unread(self) -> Reads {
        match self {
            Blind::Times => Reads::TIMES,
            Blind::ListOrder => Reads::ORDER,
            Blind::Pzxid => Reads::PZXID,
            Blind::SessionOrder => Reads::SESSIONS,
            _ => Reads::default(),
        }
    }

    /// Whether this is left out.
    pub(super) fn leaves_out(self, state: &State, action: Action) -> bool {
        let is_done = |me: u8| state.clients[usize::from(me)].node.is_done;
        match (self, action) {
            (Blind::Tasks, Action::Run(_, nth)) => nth > 0,
            (Blind::Together, Action::Together(..)) => true,
            (Blind::Done, Action::Expire(me) | Action::Crash(me)) => is_done(me),
            (Blind::Start, Action::Early(_, _)) => true,
            (Blind::Administrator, Action::Delete(_) | Action::Set(..)) => true,
            (Blind::Renewal, Action::Renew(..)) => true,
            _ => false,
        }
    }
}

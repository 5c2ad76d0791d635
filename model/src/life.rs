//! How a life of a process begins.

use crate::model::RecipeModel;
use crate::reads::Reads;
use crate::symmetry::session_of;
use zk_api::{KeeperState, SessionId};
use zk_trials::event::ActorId;

/// A life of a process, as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Life {
    /// Whose, and which one.
    pub actor: ActorId,
    /// How many rounds it is told to do.
    pub rounds: u8,
    /// Its code begins before it has a session.
    pub early: bool,
    /// The place of its process's session ids among those of all, from 1; 0 where nobody looks at their order.
    pub rank: u8,
}

impl Life {
    /// A life with a session that is one of many.
    pub fn new(actor: ActorId, rounds: u8) -> Life {
        Life { actor, rounds, early: false, rank: 0 }
    }

    /// Its first session.
    pub fn session(&self) -> SessionId {
        self.session_after(0)
    }

    /// The one that it has after so many.
    pub fn session_after(&self, before: u8) -> SessionId {
        session_of(self.actor, self.rank, before)
    }

    /// The state in which it begins.
    pub fn first_state(&self) -> KeeperState {
        if self.early { KeeperState::Disconnected } else { KeeperState::SyncConnected }
    }
}

impl RecipeModel {
    /// Whether every order of the processes' session ids is explored, as somebody looks at it. The ids of one process keep
    /// their rank through all of its lives.
    pub fn ranks_sessions(&self) -> bool {
        self.varied.has(Reads::SESSIONS)
    }
}

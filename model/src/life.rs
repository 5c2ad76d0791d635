//! How a life of a process begins.
//!
//! ```
//! use zk_api::KeeperState;
//! use zk_model::{life::Life, symmetry::actor_of};
//! # use zk_harness::event::ActorId;
//! # let actor = ActorId { process: 0, life: 0, thread: 0 };
//!
//! let life = Life::new(actor, 3);
//! assert_eq!(actor_of(life.session()), Some(actor));
//! assert_eq!(life.first_state(), KeeperState::SyncConnected);
//! assert_eq!(Life { early: true, ..life }.first_state(), KeeperState::Disconnected);
//! ```

use crate::symmetry::session_of;
use zk_api::{KeeperState, SessionId};
use zk_harness::event::ActorId;

/// A life of a process, as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Life {
    /// Whose, and which one.
    pub actor: ActorId,
    /// How many rounds it is told to do.
    pub rounds: u8,
    /// Its code begins before it has a session.
    pub early: bool,
    /// The place of its first session's id among those of all; 0 where nobody looks at their order.
    pub rank: u16,
}

impl Life {
    /// A life with a session that is one of many.
    pub fn new(actor: ActorId, rounds: u8) -> Life {
        Life { actor, rounds, early: false, rank: 0 }
    }

    /// Its first session.
    pub fn session(&self) -> SessionId {
        session_of(self.actor, self.rank, 0)
    }

    /// The state in which it begins.
    pub fn first_state(&self) -> KeeperState {
        if self.early { KeeperState::Disconnected } else { KeeperState::SyncConnected }
    }
}

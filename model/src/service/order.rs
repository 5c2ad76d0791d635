//! What can happen to the ensemble.

use std::sync::Arc;
use zk_api::{Identity, Request, SessionId, WatchedEvent};
use zk_proto::watching::Watching;

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
    /// A client is back, with these watches, in the order of this number, and says again who it is; with `None`, what
    /// is refused.
    Reconnect { client: u8, watches: &'a [Watching], nth: u8, identities: Option<Arc<[Identity]>> },
    /// They have come to its server.
    Register { client: u8, nth: u8 },
    /// A client's server applies one transaction more.
    CatchUp { client: u8 },
    /// Time passes, or another leader's clock is another one: see [`TIMES_MS`](super::TIMES_MS).
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
    /// A session is opened in the place of a client's former one, which nobody looks at any more. `goes_back`:
    /// connections may still drop.
    Open { client: u8, session: SessionId, goes_back: bool },
    /// A client's session is to outlast its process: it gets a place of its own among the views, this one.
    Leave { client: u8, place: u8 },
    /// Nothing is left of a session that had a place of its own.
    Remove { client: u8 },
}

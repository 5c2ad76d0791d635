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

mod at;
mod order;
mod rules;
mod servers;
mod stamp;
mod view;

pub use order::Order;
pub use rules::Rules;
pub use servers::Servers;
pub use stamp::{SET_UP, TIMES_MS};

use crate::digest::Digest;
use crate::message::{Events, List, Post};
use at::At;
use std::ops::Deref;
use std::sync::Arc;
use zk_api::Text;
use zk_harness::event::ActorId;

/// The ensemble: its servers, as they are between two orders.
#[derive(Clone, Debug)]
pub struct Service {
    servers: Servers,
    /// What tells it from others.
    pub digest: Digest,
    /// What each process sees of it; empty without symmetry.
    pub seen: Vec<Digest>,
}

impl Deref for Service {
    type Target = Servers;

    fn deref(&self) -> &Servers {
        &self.servers
    }
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

impl Service {
    /// With these znodes, some of which have had so many children, and a session for each actor.
    ///
    /// Panics if a counter is of a znode that is not there.
    pub fn new(setup: &[Text], counters: &[(Text, i32)], actors: &[ActorId], rules: &Rules) -> Arc<Service> {
        Service::of(Servers::new(setup, counters, actors, rules), rules)
    }

    /// Takes an order.
    pub fn step(&self, order: &Order<'_>, rules: &Rules) -> Served {
        let mut at = At::new(self.servers.clone(), rules);
        at.take(order);
        let post = at.post();
        let At { servers, events, stale, tells_order, .. } = at;
        Served { service: Service::of(servers, rules), post, events: List::new(events), stale, tells_order }
    }

    fn of(mut servers: Servers, rules: &Rules) -> Arc<Service> {
        servers.forget_old();
        let digest = servers.digest(rules.ranks);
        let seen = if rules.symmetry { servers.seen() } else { Vec::new() };
        Arc::new(Service { servers, digest, seen })
    }
}

//! What went from one to another, with both its times: for whoever draws a run.
//!
//! ```
//! use zk_simulator::{RunOptions, Scenario, run};
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let alone = Scenario { clients: 2, rounds: 1, servers: 1, observers: 0, ..Scenario::default() };
//! let run = run(&lock, &alone.without_faults(), 7, &RunOptions { trace: true, ..RunOptions::default() });
//! let arrived = run.crossings.iter().filter(|crossing| crossing.arrived_ns > Some(crossing.sent_ns));
//! assert_eq!(arrived.count() as u64, run.messages, "one server hears from clients alone");
//! ```

use crate::trace_event::Place;
use zk_proto::message::{ConnId, ToClient, ToPeer, ToServer};
use zk_proto::zab::message::LinkId;

/// A message. Datagrams of elections are not kept: they may come twice, and belong to no link.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// When it was sent.
    pub sent_ns: u64,
    /// When it arrived, if it did.
    pub arrived_ns: Option<u64>,
    /// From where.
    pub from: Place,
    /// To where.
    pub to: Place,
    /// What it is.
    pub what: Carried,
}

/// What a message is.
#[derive(Clone, Debug, PartialEq)]
pub enum Carried {
    /// From a client to its server.
    ToServer(ToServer),
    /// From a server to its client.
    ToClient(ToClient),
    /// From a server to another.
    ToPeer(ToPeer),
}

/// Which message: its number in its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// To the server of a connection.
    ToServer(ConnId, u64),
    /// To its client.
    ToClient(ConnId, u64),
    /// To this end of a link.
    ToPeer(LinkId, usize, u64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn a_message_that_is_lost_has_no_time_of_arrival() {
        let mut trace = Trace::new(true, false);
        let way = |number| Way::ToServer(ConnId(7), number);
        let ends = [Place::Simulation, Place::Server(0)];
        trace.sent(1, way(0), ends, || Carried::ToServer(ToServer::Ping));
        trace.sent(2, way(1), ends, || Carried::ToServer(ToServer::Ping));
        trace.arrived(5, way(1));
        trace.arrived(6, way(1));
        let (.., crossings) = trace.finish();
        let times: Vec<_> = crossings.iter().map(|c| (c.sent_ns, c.arrived_ns)).collect();
        assert_eq!(times, [(1, None), (2, Some(5))]);
    }
}

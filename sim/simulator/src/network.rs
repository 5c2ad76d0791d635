//! Connections between clients and servers: first in, first out in each direction, until they drop.
//!
//! Who moves messages is the simulator's loop; this is the book it keeps of them.

use std::collections::BTreeMap;
use zk_api::SessionId;
use zk_harness::event::ActorId;
use zk_proto::message::ConnId;

/// All connections that at least one end still has.
#[derive(Debug, Default)]
pub struct Network {
    conns: BTreeMap<ConnId, Conn>,
    opened: u64,
}

/// A connection.
#[derive(Debug)]
pub struct Conn {
    /// Whose it is.
    pub actor: ActorId,
    /// To which server.
    pub server: u8,
    /// The client's end is open.
    pub client_open: bool,
    /// The server's end is open, or will be when the first message arrives.
    pub server_open: bool,
    /// The server has had the first message.
    pub greeted: bool,
    /// The client has been told, or will be, that it is closed.
    pub client_told: bool,
    /// Nothing gets through any more, and nobody is told.
    pub silent: bool,
    /// The session that the server has taken it for, once it said so.
    pub session: SessionId,
    pub to_server: Direction,
    pub to_client: Direction,
}

/// One direction of a connection. Messages are numbered in the order in which they are sent.
#[derive(Debug, Default)]
pub struct Direction {
    sent: u64,
    arrived: u64,
    /// Messages from this number on never arrive.
    lost_from: Option<u64>,
    /// When the last message will arrive: no later one may overtake it.
    last_ns: u64,
    /// Messages that arrive earlier than this are held up until then.
    held_until_ns: u64,
}

/// What becomes of a message that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is there.
    Here,
    /// It is lost.
    Lost,
    /// It comes again at this time.
    Later(u64),
}

impl Direction {
    /// A message is sent that would arrive at `at_ns`: its number, and when it will arrive.
    pub fn send(&mut self, at_ns: u64) -> (u64, u64) {
        let number = self.sent;
        self.sent += 1;
        self.last_ns = self.last_ns.max(at_ns);
        (number, self.last_ns)
    }

    /// The end of the stream is sent and would arrive at `at_ns`: when it does. A cut does not lose it.
    pub fn end(&mut self, at_ns: u64) -> u64 {
        self.last_ns = self.last_ns.max(at_ns);
        self.last_ns
    }

    /// Message `number` arrives now.
    pub fn arrive(&mut self, number: u64, now_ns: u64) -> Arrival {
        if self.lost_from.is_some_and(|from| number >= from) {
            return Arrival::Lost;
        }
        if now_ns <= self.held_until_ns {
            return Arrival::Later(self.held_until_ns + 1);
        }
        self.arrived = number + 1;
        Arrival::Here
    }

    /// How many messages are on their way.
    pub fn in_flight(&self) -> u64 {
        self.lost_from.unwrap_or(self.sent).saturating_sub(self.arrived)
    }

    /// Of the messages on their way only the first `kept` arrive, and no later one.
    pub fn cut(&mut self, kept: u64) {
        let from = self.arrived + kept;
        self.lost_from = Some(self.lost_from.map_or(from, |before| before.min(from)));
    }

    /// Of the messages on their way those up to this number arrive, and no later one.
    pub fn cut_after(&mut self, number: u64) {
        self.cut((number + 1).saturating_sub(self.arrived));
    }

    /// Whether a message on its way never arrives.
    pub fn loses(&self, number: u64) -> bool {
        self.lost_from.is_some_and(|from| number >= from)
    }

    /// Messages on their way are held up until `until_ns`.
    pub fn hold(&mut self, until_ns: u64) {
        self.held_until_ns = self.held_until_ns.max(until_ns);
        // Behind the messages that are held up, whose arrival is put off to one nanosecond after.
        self.last_ns = self.last_ns.max(self.held_until_ns + 2);
    }
}

impl Network {
    /// A new connection. Its name was never used before.
    pub fn open(&mut self, actor: ActorId, server: u8) -> ConnId {
        self.opened += 1;
        let id = ConnId(self.opened);
        let conn = Conn {
            actor,
            server,
            client_open: true,
            server_open: true,
            greeted: false,
            client_told: false,
            silent: false,
            session: SessionId::NONE,
            to_server: Direction::default(),
            to_client: Direction::default(),
        };
        self.conns.insert(id, conn);
        id
    }

    /// A connection that at least one end still has.
    pub fn conn(&mut self, id: ConnId) -> Option<&mut Conn> {
        self.conns.get_mut(&id)
    }

    /// Whether a message never arrives: lost on its way, or its receiver's end is closed.
    pub fn is_lost(&self, id: ConnId, number: u64, to_server: bool) -> bool {
        self.conns.get(&id).is_none_or(|conn| match to_server {
            true => conn.to_server.loses(number),
            false => conn.to_client.loses(number) || !conn.client_open,
        })
    }

    /// Whose it is, and to which server.
    pub fn ends(&self, id: ConnId) -> Option<(ActorId, u8)> {
        self.conns.get(&id).map(|conn| (conn.actor, conn.server))
    }

    /// Whether it is a process's, which has not closed it.
    pub fn is_open_of(&self, id: ConnId, process: u16) -> bool {
        self.conns.get(&id).is_some_and(|conn| conn.actor.process == process && conn.client_open)
    }

    /// Whether it was an actor's, which has closed it, and its server has not.
    pub fn was_of(&self, id: ConnId, actor: ActorId) -> bool {
        self.conns.get(&id).is_some_and(|conn| conn.actor == actor && !conn.client_open)
    }

    /// Forgets a connection that both ends have closed.
    pub fn forget_closed(&mut self, id: ConnId) {
        if self.conns.get(&id).is_some_and(|c| !c.client_open && !c.server_open) {
            self.conns.remove(&id);
        }
    }

    /// The connections of a server.
    pub fn of_server(&self, server: u8) -> Vec<ConnId> {
        self.conns.iter().filter(|(_, c)| c.server == server).map(|(id, _)| *id).collect()
    }

    /// The connections of a process that it has not closed.
    pub fn of_process(&self, process: u16) -> Vec<ConnId> {
        self.conns
            .iter()
            .filter(|(_, c)| c.actor.process == process && c.client_open)
            .map(|(id, _)| *id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_never_overtakes_an_earlier_one() {
        let mut direction = Direction::default();
        assert_eq!(direction.send(100), (0, 100));
        assert_eq!(direction.send(50), (1, 100));
        assert_eq!(direction.send(101), (2, 101));
    }

    #[test]
    fn a_cut_loses_what_is_on_its_way_and_all_that_is_sent_later() {
        let mut direction = Direction::default();
        for at in [1, 2, 3] {
            direction.send(at);
        }
        assert_eq!(direction.arrive(0, 1), Arrival::Here);
        assert_eq!(direction.in_flight(), 2);
        direction.cut(1);
        direction.send(4);
        assert_eq!(direction.arrive(1, 2), Arrival::Here);
        assert_eq!(direction.arrive(2, 3), Arrival::Lost);
        assert_eq!(direction.arrive(3, 4), Arrival::Lost);
        assert_eq!(direction.in_flight(), 0);
    }

    #[test]
    fn messages_that_are_held_up_arrive_late_and_in_order() {
        let mut direction = Direction::default();
        direction.send(10);
        direction.hold(50);
        assert_eq!(direction.arrive(0, 10), Arrival::Later(51));
        assert_eq!(direction.send(20), (1, 52));
        assert_eq!(direction.arrive(0, 51), Arrival::Here);
    }

    #[test]
    fn names_of_connections_are_never_used_again() {
        let mut network = Network::default();
        let actor = ActorId { process: 0, life: 0, thread: 0 };
        let first = network.open(actor, 0);
        let conn = network.conn(first).unwrap();
        (conn.client_open, conn.server_open) = (false, false);
        network.forget_closed(first);
        assert!(network.conn(first).is_none());
        assert_ne!(network.open(actor, 0), first);
    }
}

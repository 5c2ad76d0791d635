//! Connections between clients and servers: what goes over them, how long that takes, and how they end.

use crate::choices::{Stream, share};
use crate::clock::MS;
use crate::crossing::{Carried, Way};
use crate::event::SimEvent;
use crate::fault::Loss;
use crate::network::{Arrival, Network};
use crate::stage::{Phase, Stage};
use crate::trace_event::Place;
use crate::watch::watch;
use std::collections::BTreeMap;
use zk_api::{Response, SessionId};
use zk_harness::event::ActorId;
use zk_proto::message::{ConnId, ToClient, ToServer};

/// The connections of a run.
pub struct Conns {
    pub network: Network,
    /// How slow the messages of each process are.
    slow: Vec<Slow>,
    /// Since when each session has asked something and got no answer, on whatever connection.
    pub owed: BTreeMap<SessionId, u64>,
}

/// Messages take so many times as long, until then.
#[derive(Clone)]
struct Slow {
    factor: u32,
    until_ns: u64,
}

impl Conns {
    /// None yet, of so many processes.
    pub fn new(processes: u16) -> Conns {
        let slow = vec![Slow { factor: 1, until_ns: 0 }; processes.into()];
        Conns { network: Network::default(), slow, owed: BTreeMap::new() }
    }

    /// How long a message from or to a client travels.
    fn latency(&self, stage: &mut Stage<'_>, process: u16, server: u8, to_server: bool) -> u64 {
        let [least, most] = stage.swarm.latency_ns;
        let link = u64::from(server) << 9 | u64::from(process) << 1 | u64::from(to_server);
        let x = stage.choices.below(Stream::Latency, link, 1 << 16);
        let spread = match stage.phase {
            Phase::Setup => 0,
            Phase::Faults => most - least,
            // Fast enough for any session to live.
            Phase::Healed => ((most - least) / 4).min(stage.granted_timeout_ns() / 40),
        };
        let ns = least + share(spread, x, stage.swarm.latency_power);
        ns * u64::from(self.slow[usize::from(process)].factor)
    }

    /// An actor asks for a connection.
    pub fn open(&mut self, stage: &mut Stage<'_>, actor: ActorId, server: u8) -> ConnId {
        let (process, conn) = (actor.process, self.network.open(actor, server));
        let handshake = stage.choices.range(Stream::Connect, process.into(), 0, stage.swarm.latency_ns[1]);
        let after = if stage.phase == Phase::Setup { 0 } else { handshake };
        let there =
            self.latency(stage, process, server, true) + self.latency(stage, process, server, false) + after;
        stage.queue.push(stage.now + there, SimEvent::Opening { conn });
        conn
    }

    /// A server says something to a client.
    pub fn send_to_client(&mut self, stage: &mut Stage<'_>, id: ConnId, message: ToClient) {
        watch!(stage, invariants.answering(id, &message));
        let Some(conn) = self.network.conn(id) else { return };
        match &message {
            ToClient::Connected(response) => conn.session = response.session,
            ToClient::Reply { .. } | ToClient::WatchesSet { .. } | ToClient::Pong { .. } => {
                self.owed.remove(&conn.session);
            }
            ToClient::Event { .. } => {}
        }
        let (actor, server) = (conn.actor, conn.server);
        let at = stage.now + self.latency(stage, actor.process, server, false);
        let Some(conn) = self.network.conn(id) else { return };
        let (number, at) = conn.to_client.send(at);
        let ends = [Place::Server(server), Place::Client(actor)];
        stage.trace.sent(stage.now, Way::ToClient(id, number), ends, || Carried::ToClient(message.clone()));
        stage.queue.push(at, SimEvent::AtClient { conn: id, number, message });
    }

    /// A message comes to its client: to whom, from which server, and what, unless it is lost or late.
    pub fn at_client(
        &mut self,
        stage: &mut Stage<'_>,
        id: ConnId,
        number: u64,
        message: ToClient,
    ) -> Option<(ActorId, u8, ToClient)> {
        let conn = self.network.conn(id)?;
        match conn.to_client.arrive(number, stage.now) {
            Arrival::Here if conn.client_open => {
                stage.trace.arrived(stage.now, Way::ToClient(id, number));
                return Some((conn.actor, conn.server, message));
            }
            Arrival::Here | Arrival::Lost => {
                if let ToClient::Reply { result: Ok(response), .. } = &message
                    && is_answer_to_write(response)
                {
                    stage.once("answer lost after commit");
                }
            }
            Arrival::Later(at) => stage.queue.push(at, SimEvent::AtClient { conn: id, number, message }),
        }
        None
    }

    /// The client closes its end; the server notices when all that was sent has arrived.
    pub fn close_by_client(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        let Some(conn) = self.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        conn.client_open = false;
        conn.to_client.cut(0);
        if conn.server_open {
            self.tell_server(stage, id);
        }
        self.network.forget_closed(id);
    }

    /// A server closes its end; the client notices when all that was sent has arrived.
    pub fn close_by_server(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        watch!(stage, invariants.closed(id));
        let Some(conn) = self.network.conn(id) else { return };
        conn.server_open = false;
        self.tell_client(stage, id);
        self.network.forget_closed(id);
    }

    /// The server's machine is gone: of what it had sent, some may still arrive.
    pub fn break_by_server(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        watch!(stage, invariants.closed(id));
        let Some(conn) = self.network.conn(id) else { return };
        conn.server_open = false;
        let (process, in_flight) = (conn.actor.process, conn.to_client.in_flight());
        let kept = stage.choices.below(Stream::CrashLoss, process.into(), in_flight + 1);
        let Some(conn) = self.network.conn(id) else { return };
        conn.to_client.cut(kept);
        self.tell_client(stage, id);
        self.network.forget_closed(id);
    }

    /// A client sends something.
    pub fn send_to_server(&mut self, stage: &mut Stage<'_>, id: ConnId, message: ToServer) {
        let Some((actor, server)) = self.network.ends(id) else { return };
        let at = stage.now + self.latency(stage, actor.process, server, true);
        let Some(conn) = self.network.conn(id) else { return };
        let (number, at) = conn.to_server.send(at);
        let ends = [Place::Client(actor), Place::Server(server)];
        stage.trace.sent(stage.now, Way::ToServer(id, number), ends, || Carried::ToServer(message.clone()));
        stage.queue.push(at, SimEvent::AtServer { conn: id, number, message });
    }

    fn tell_server(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        let Some((actor, server)) = self.network.ends(id) else { return };
        let at = stage.now + self.latency(stage, actor.process, server, true);
        let Some(conn) = self.network.conn(id) else { return };
        if !conn.silent {
            let at = conn.to_server.end(at);
            stage.queue.push(at, SimEvent::ServerSees { conn: id });
        }
    }

    /// The client is to learn that its connection is closed, after all that still reaches it.
    pub fn tell_client(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        let Some(conn) = self.network.conn(id) else { return };
        if !conn.client_open || conn.client_told || conn.silent {
            return;
        }
        conn.client_told = true;
        let (actor, server) = (conn.actor, conn.server);
        let at = stage.now + self.latency(stage, actor.process, server, false);
        let Some(conn) = self.network.conn(id) else { return };
        let at = conn.to_client.end(at);
        stage.queue.push(at, SimEvent::ClientSees { conn: id });
    }

    /// A connection drops.
    pub fn lose(&mut self, stage: &mut Stage<'_>, id: ConnId, loss: Loss) {
        let now = stage.now;
        let Some(conn) = self.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        conn.to_client.cut(0);
        match loss {
            Loss::RequestsLost => conn.to_server.cut(0),
            Loss::AnswersLost => {}
            Loss::InFlight { for_ms } => conn.to_server.hold(now + for_ms * MS),
            Loss::Silence => {
                conn.to_server.cut(0);
                conn.silent = true;
                stage.once("connection went silent");
                return;
            }
        }
        self.drops_now(stage, id);
    }

    /// A connection has dropped: what still gets through is settled, and both ends are to learn of it.
    pub fn drops_now(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        self.tell_server(stage, id);
        self.tell_client(stage, id);
    }

    /// For a while, what goes from and to a client takes longer.
    pub fn slow_link(&mut self, stage: &mut Stage<'_>, client: u16, factor: u32, for_ms: u64) {
        if client < stage.scenario.clients {
            let until_ns = stage.now + for_ms * MS;
            self.slow[usize::from(client)] = Slow { factor: factor.max(1), until_ns };
            stage.queue.push(until_ns, SimEvent::SlowLinkEnds { client, until_ns });
        }
    }

    /// A while of slow messages ends, unless another one has begun.
    pub fn slow_link_ends(&mut self, client: u16, until_ns: u64) {
        let slow = &mut self.slow[usize::from(client)];
        if slow.until_ns == until_ns {
            slow.factor = 1;
        }
    }

    /// What goes from and to a client is fast again.
    pub fn heal(&mut self, client: u16) {
        self.slow[usize::from(client)].factor = 1;
    }
}

fn is_answer_to_write(response: &Response) -> bool {
    matches!(
        response,
        Response::Created { .. }
            | Response::Deleted
            | Response::DataSet(_)
            | Response::AclSet(_)
            | Response::Multi(_)
            | Response::Closed
    )
}

//! A run that its script holds up; and views that lag in it: one server that leads, and observers of which each belongs
//! to one client.
//!
//! What an observer is told of transactions waits until the script lets its client's view go on; all else between
//! servers happens at once. What a lost connection still carries is proposed, and may stand later than its session has
//! moved on: until somebody must see it, the leader's disk does not write it. A new connection of a client is to its
//! next observer, which is as far as the leader is by the time that it has asked the leader whether the session lives,
//! and no less.

use crate::event::SimEvent;
use crate::script::WrittenStep;
use crate::script_state::Views;
use crate::simulation::Simulation;
use zk_api::Zxid;
use zk_harness::event::ActorId;
use zk_harness::script::ScriptStep;
use zk_proto::message::{ConnId, ToClient, ToPeer, ToServer};
use zk_proto::server::ServerId;
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::message::{LinkId, Packet};

/// The only voter.
const LEADER: u8 = 0;

/// What one step may take of events: far more than any does.
pub const EVENTS_PER_STEP: u32 = 10_000;

/// A run in which nothing happens but what its script has happen.
pub struct Held<'s, 'a> {
    pub run: &'s mut Simulation<'a>,
    /// What is held back among the servers, where views lag.
    pub views: Option<Views>,
}

impl Held<'_, '_> {
    /// A process's present life.
    pub fn client(&self, process: u16) -> ActorId {
        self.run.clients.lives.processes[process].actor
    }

    /// What happens next, out of its time; no timer fires before its own.
    pub fn happens(&mut self, at_ns: Option<u64>, event: SimEvent) {
        self.run.stage.now = self.run.stage.now.max(at_ns.unwrap_or(0));
        self.run.stage.run.steps += 1;
        self.run.happen(event);
        self.run.turn();
        self.run.stage.tell_broken();
    }

    /// Takes the first event that is one of these, out of its time.
    pub fn take(&mut self, is: impl Fn(&SimEvent) -> bool, missing: &str) -> Result<(), String> {
        let (_, event) = self.run.stage.queue.take_first(is).ok_or_else(|| missing.to_owned())?;
        self.happens(None, event);
        Ok(())
    }

    /// What servers do by themselves is done, and what is lost is gone.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..EVENTS_PER_STEP {
            let network = &self.run.servers.conns.network;
            let next = self.run.stage.queue.first(|event| match event {
                SimEvent::DiskDone { server, .. } => self.writes_at_once(*server),
                SimEvent::AtPeer { link, end, number, message } => {
                    self.carries_at_once(*link, *end, *number, message)
                }
                SimEvent::AtServer { conn, number, .. } => network.is_lost(*conn, *number, true),
                SimEvent::AtClient { conn, number, .. } => network.is_lost(*conn, *number, false),
                _ => false,
            });
            let next = next.and_then(|number| self.run.stage.queue.take_numbered(number));
            match next.or_else(|| self.end_of_a_lost_connection()) {
                Some((at, event @ SimEvent::DiskDone { .. })) => self.happens(Some(at), event),
                Some((_, event)) => self.happens(None, event),
                None => return Ok(()),
            }
        }
        Err("the servers do not come to rest".to_owned())
    }

    /// A server is to notice that a connection is closed once all that it still carries has arrived.
    fn end_of_a_lost_connection(&mut self) -> Option<(u64, SimEvent)> {
        let carries = |conn: ConnId| {
            let mut events = self.run.stage.queue.events();
            events.any(|h| matches!(h, SimEvent::AtServer { conn: c, .. } if *c == conn))
        };
        let ends = self.run.stage.queue.events().find_map(|h| match h {
            SimEvent::ServerSees { conn } if !carries(*conn) => Some(*conn),
            _ => None,
        })?;
        self.run.stage.queue.take_first(|h| matches!(h, SimEvent::ServerSees { conn } if *conn == ends))
    }

    /// The oldest message to or from the server on a connection.
    pub fn next_on(&self, conn: ConnId, to_server: bool) -> Option<u64> {
        let number = |event: &SimEvent| match event {
            SimEvent::AtServer { conn: c, number, .. } if to_server && *c == conn => Some(*number),
            SimEvent::AtClient { conn: c, number, .. } if !to_server && *c == conn => Some(*number),
            _ => None,
        };
        self.run.stage.queue.events().filter_map(number).min()
    }

    /// Takes the oldest message to the server on a connection: whether it was a request, and whether that was a write.
    fn take_to_server(&mut self, conn: ConnId) -> Option<Option<bool>> {
        let oldest = self.next_on(conn, true)?;
        let is = |h: &SimEvent| matches!(h, SimEvent::AtServer { conn: c, number, .. } if *c == conn && *number == oldest);
        let (_, event) = self.run.stage.queue.take_first(is)?;
        let request = match &event {
            SimEvent::AtServer { message: ToServer::Request { request, .. }, .. } => Some(request.is_write()),
            _ => None,
        };
        self.happens(None, event);
        Some(request)
    }

    pub fn serve_next(&mut self, p: u16) -> Result<(), String> {
        let conn = *self.run.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        loop {
            match self.take_to_server(conn) {
                Some(Some(_)) => return Ok(()),
                Some(None) => self.settle()?,
                None => return Err("no request is on its way".to_owned()),
            }
        }
    }

    pub fn serve_lost(&mut self, p: u16) -> Result<(), String> {
        self.serve_lost_of(self.client(p))
    }

    /// Reads are nobody's business any more.
    pub fn serve_lost_of(&mut self, actor: ActorId) -> Result<(), String> {
        loop {
            let lost = self.run.stage.queue.events().find_map(|h| match h {
                SimEvent::AtServer { conn, .. } if self.run.servers.conns.network.was_of(*conn, actor) => {
                    Some(*conn)
                }
                _ => None,
            });
            let conn = lost.ok_or("no write of a lost connection is on its way")?;
            if self.take_to_server(conn) == Some(Some(true)) {
                return Ok(());
            }
            self.settle()?;
        }
    }

    /// Whether what a server's disk does is done at once.
    fn writes_at_once(&self, server: u8) -> bool {
        server != LEADER || self.views.as_ref().is_none_or(|views| views.unwritten() == 0)
    }

    /// Whether what goes over a link arrives at once: the oldest in its direction, unless it is a transaction for an
    /// observer.
    fn carries_at_once(&self, link: LinkId, end: usize, number: u64, message: &ToPeer) -> bool {
        let oldest = |h: &SimEvent| match h {
            SimEvent::AtPeer { link: l, end: e, number, .. } if (*l, *e) == (link, end) => Some(*number),
            _ => None,
        };
        let holds = self.views.as_ref().is_some_and(Views::holds);
        self.run.stage.queue.events().filter_map(oldest).min() == Some(number)
            && !(holds && matches!(message, ToPeer::Zab(Packet::Inform(_))))
    }

    /// The observer that a client is connected to.
    fn observer_of(&self, p: u16) -> Option<u8> {
        let conn = *self.run.servers.conns.network.of_process(p).last()?;
        self.run.servers.conns.network.ends(conn).map(|(_, server)| server)
    }

    /// Whether a transaction is none in a model: one that opens a session, or ends that of the administrator.
    fn is_unseen(&self, txn: &Txn) -> bool {
        let stage = &self.run.stage;
        match txn.body {
            TxnBody::CreateSession { .. } => true,
            TxnBody::CloseSession { .. } => {
                let actor = stage.knowledge.actor(txn.session);
                actor.is_none_or(|actor| actor.process >= stage.scenario.clients)
            }
            _ => false,
        }
    }

    fn informs<'h>(&self, event: &'h SimEvent, server: u8) -> Option<&'h Txn> {
        match event {
            SimEvent::AtPeer { link, end, message: ToPeer::Zab(Packet::Inform(txn)), .. }
                if self.run.servers.ensemble.cluster.links.reader(*link, *end) == Some(ServerId(server)) =>
            {
                Some(txn)
            }
            _ => None,
        }
    }

    /// How many transactions an observer has to catch up with.
    fn behind(&self, server: u8) -> usize {
        let on_their_way = self.run.stage.queue.events().filter_map(|h| self.informs(h, server));
        let unwritten = self.views.as_ref().map_or(0, Views::unwritten);
        on_their_way.filter(|txn| !self.is_unseen(txn)).count() + unwritten
    }

    /// The leader's disk writes what it has held back.
    fn write_all(&mut self) -> Result<(), String> {
        self.views_that_lag().write_all();
        self.settle()
    }

    /// An observer takes the next transaction. False if there is none.
    fn goes_on(&mut self, server: u8) -> Result<bool, String> {
        loop {
            let next = self.run.stage.queue.first(|h| self.informs(h, server).is_some());
            let Some((_, event)) = next.and_then(|number| self.run.stage.queue.take_numbered(number)) else {
                if self.views_that_lag().unwritten() == 0 {
                    return Ok(false);
                }
                self.write_all()?;
                continue;
            };
            let is_seen = self.informs(&event, server).is_some_and(|txn| !self.is_unseen(txn));
            self.happens(None, event);
            self.settle()?;
            if is_seen {
                return Ok(true);
            }
        }
    }

    /// A client's server applies one transaction more. That of one that has no connection has it when it is asked.
    pub fn catch_up(&mut self, p: u16) -> Result<(), String> {
        match self.observer_of(p) {
            None => Ok(()),
            Some(server) => match self.goes_on(server)? {
                true => Ok(()),
                false => Err("its server has nothing to catch up with".to_owned()),
            },
        }
    }

    /// Nobody lags more than is allowed.
    pub fn hasten(&mut self) -> Result<(), String> {
        for p in 0..self.run.stage.scenario.clients {
            let Some(server) = self.observer_of(p) else { continue };
            while self.behind(server) > self.views_that_lag().lag() && self.goes_on(server)? {}
        }
        Ok(())
    }

    fn answers_on_their_way(&self, p: u16) -> usize {
        let conns = self.run.servers.conns.network.of_process(p);
        let is = |h: &&SimEvent| {
            matches!(
                h,
                SimEvent::AtClient { conn, message: ToClient::Reply { .. }, .. } if conns.contains(conn)
            )
        };
        self.run.stage.queue.events().filter(is).count()
    }

    /// Whether the next request of a client is a write of which it will not hear, as its connection is lost before.
    pub fn is_never_answered(&self, p: u16, rest: &[WrittenStep]) -> bool {
        let conns = self.run.servers.conns.network.of_process(p);
        let to_it = |h: &&SimEvent| match h {
            SimEvent::AtClient { conn, message, .. } => {
                conns.contains(conn) && matches!(message, ToClient::Reply { .. } | ToClient::Event { .. })
            }
            _ => false,
        };
        let before = self.run.stage.queue.events().filter(to_it).count();
        let mut heard = 0;
        for WrittenStep(step) in rest {
            match *step {
                ScriptStep::Deliver(q) | ScriptStep::DeliverInOrder(q, _) if q == p => heard += 1,
                ScriptStep::DeliverAnswers(q) if q == p => heard = before + 1,
                ScriptStep::Drop(q, _) | ScriptStep::Crash(q) if q == p => {
                    return heard <= before && self.next_is_write(p);
                }
                _ => {}
            }
            if heard > before {
                return false;
            }
        }
        false
    }

    fn next_is_write(&self, p: u16) -> bool {
        let Some(conn) = self.run.servers.conns.network.of_process(p).first().copied() else { return false };
        let request = |h: &SimEvent| match h {
            SimEvent::AtServer { conn: c, number, message: ToServer::Request { request, .. } }
                if *c == conn =>
            {
                Some((*number, request.is_write()))
            }
            _ => None,
        };
        self.run.stage.queue.events().filter_map(request).min().is_some_and(|(_, is_write)| is_write)
    }

    /// What a client has asked comes to its answer: a write when its server has it, and all before it.
    pub fn comes_to_an_answer(
        &mut self,
        p: u16,
        serve: impl FnOnce(&mut Self, u16) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = self.answers_on_their_way(p);
        serve(self, p)?;
        self.settle()?;
        while self.answers_on_their_way(p) == before {
            let Some(server) = self.observer_of(p) else { break };
            if !self.goes_on(server)? {
                break;
            }
        }
        self.hasten()
    }

    /// A write of a lost connection is served. `early`: before the script comes to it, as its session moves on.
    pub fn proposes_lost(
        &mut self,
        p: u16,
        early: bool,
        serve: impl FnOnce(&mut Self, u16) -> Result<(), String>,
    ) -> Result<(), String> {
        if !early && self.views_that_lag().comes_to_early(p) {
            return self.write_all();
        }
        if !early {
            self.nothing_unwritten()?;
        }
        self.views_that_lag().propose(p, early);
        serve(self, p)?;
        self.settle()?;
        self.hasten()
    }

    /// What was proposed stands before anything else is done.
    pub fn nothing_unwritten(&mut self) -> Result<(), String> {
        match self.views_that_lag().unwritten() {
            0 => Ok(()),
            _ => self.write_all(),
        }
    }

    /// The servers that may be a client's next are not behind what it knows.
    pub fn next_servers_know(&mut self, p: u16) -> Result<(), String> {
        let Some(known) =
            self.run.clients.lives.processes[p].client.as_ref().map(|client| client.last_zxid())
        else {
            return Ok(());
        };
        for server in self.run.stage.scenario.own_observers(p) {
            while self.applied_by(server) < known && self.goes_on(server)? {}
        }
        Ok(())
    }

    fn applied_by(&self, server: u8) -> Zxid {
        let server = self.run.servers.ensemble.cluster.server(server);
        server.map_or(Zxid::ZERO, |server| server.tree().last_zxid())
    }

    /// A client that waits for its next server has it go on until that one knows what the leader says. False if there
    /// is nothing to go on with.
    pub fn next_server_goes_on(&mut self, p: u16) -> Result<bool, String> {
        match self.observer_of(p) {
            Some(server) if self.views.is_some() => self.goes_on(server),
            Some(_) | None => Ok(false),
        }
    }

    fn views_that_lag(&mut self) -> &mut Views {
        self.views.as_mut().expect("only scripts with views that lag come here")
    }
}

//! Clients: what reaches a client's session, and what it wants done.

use crate::clock::MS;
use crate::crossing::Way;
use crate::event::{Armed, SimEvent};
use crate::executor::{Caught, quietly};
use crate::fault::{RequestKind, When};
use crate::hosted::Client;
use crate::network::Arrival;
use crate::process::Process;
use crate::simulation::Simulation;
use crate::trace_event::{Place, What};
use crate::watch::watch;
use zk_api::{Error, KeeperState, Pending, Request, Response};
use zk_invariants::Invariant;
use zk_proto::client::{CallId, ClientEvent, ClientInput, ClientOutput, ClientTimer, WatchId};
use zk_proto::message::{ConnId, ToClient, ToServer};
use zk_trials::event::{ActorId, GroundTruth};
use zk_trials::pulse::Acting;

impl Simulation<'_> {
    /// Something happens at a client process: now, or when its pause is over.
    pub fn at_process(&mut self, event: SimEvent) {
        let process = match &event {
            SimEvent::AtClient { conn, .. } | SimEvent::ClientSees { conn } | SimEvent::Opening { conn } => {
                match self.servers.conns.network.conn(*conn) {
                    Some(conn) => conn.actor.process,
                    None => return,
                }
            }
            SimEvent::ClientTimer { actor, .. }
            | SimEvent::Renew { actor }
            | SimEvent::Wake { actor, .. }
            | SimEvent::TaskGoesOn { actor, .. }
            | SimEvent::WriteAnswered { actor, .. } => actor.process,
            _ => unreachable!("only these are a client's"),
        };
        match &mut self.processes[usize::from(process)].held_back {
            Some(held_back) => held_back.push(event),
            None => self.at_running_process(process, event),
        }
    }

    /// The same, of a process that is not paused.
    fn at_running_process(&mut self, process: u16, event: SimEvent) {
        self.let_go_on(process, &event);
        match event {
            SimEvent::AtClient { conn, number, message } => self.at_client(conn, number, message),
            SimEvent::ClientSees { conn } => self.client_sees(conn),
            SimEvent::Opening { conn } => self.opening(conn),
            SimEvent::ClientTimer { actor, timer, generation } => self.client_timer(actor, timer, generation),
            SimEvent::Renew { actor } => self.renew(actor),
            SimEvent::Wake { actor, completer, .. } => {
                if self.processes[usize::from(actor.process)].is(actor) {
                    completer.complete(());
                    self.program_may_go_on(actor.process);
                }
            }
            SimEvent::TaskGoesOn { actor, task } => self.task_goes_on(actor.process, task),
            SimEvent::WriteAnswered { actor, accepted, completer } => {
                let process = &mut self.processes[usize::from(actor.process)];
                if process.is(actor) {
                    process.polling.forget();
                    completer.complete(accepted);
                    self.program_may_go_on(actor.process);
                }
            }
            _ => unreachable!("only these are a client's"),
        }
    }

    fn at_client(&mut self, id: ConnId, number: u64, message: ToClient) {
        let Some(conn) = self.servers.conns.network.conn(id) else { return };
        let arrival = conn.to_client.arrive(number, self.stage.now);
        let (actor, server, open) = (conn.actor, conn.server, conn.client_open);
        match arrival {
            Arrival::Here if open => {}
            Arrival::Here | Arrival::Lost => {
                if let ToClient::Reply { result: Ok(response), .. } = &message
                    && is_answer_to_write(response)
                {
                    self.stage.once("answer lost after commit");
                }
                return;
            }
            Arrival::Later(at) => {
                self.stage.queue.push(at, SimEvent::AtClient { conn: id, number, message });
                return;
            }
        }
        if self.servers.ensemble.cluster.server(server).is_none() {
            self.stage.once("answer arrived after its server's crash");
        }
        self.stage.run.messages += 1;
        self.stage.trace.arrived(self.stage.now, Way::ToClient(id, number));
        self.stage.note(Place::Client(actor), &What::ToClient { conn: id, message: &message });
        watch!(self.stage, invariants.delivered(id, &message));
        let session = self.processes[usize::from(actor.process)].session();
        self.stage.visible.gets(session, &message);
        self.client_event(actor.process, ClientEvent::Received { conn: id, message });
    }

    fn client_sees(&mut self, id: ConnId) {
        let Some(conn) = self.servers.conns.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        conn.client_open = false;
        let actor = conn.actor;
        self.servers.conns.network.forget_closed(id);
        self.stage.note(Place::Client(actor), &What::Lost { conn: id });
        self.client_event(actor.process, ClientEvent::Lost { conn: id });
    }

    fn opening(&mut self, id: ConnId) {
        let Some(conn) = self.servers.conns.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        let (actor, server) = (conn.actor, conn.server);
        self.processes[usize::from(actor.process)].opening = None;
        if self.servers.ensemble.cluster.server(server).is_some() {
            self.stage.note(Place::Client(actor), &What::Opened { conn: id });
            self.client_event(actor.process, ClientEvent::Opened { conn: id });
            return;
        }
        (conn.client_open, conn.server_open) = (false, false);
        self.servers.conns.network.forget_closed(id);
        self.stage.note(Place::Client(actor), &What::Refused { conn: id });
        self.client_event(actor.process, ClientEvent::Lost { conn: id });
    }

    fn client_timer(&mut self, actor: ActorId, timer: ClientTimer, generation: u32) {
        let process = &mut self.processes[usize::from(actor.process)];
        if process.is(actor) && *process.timer(timer) == generation {
            self.stage.note(Place::Client(actor), &What::ClientTimer(timer));
            self.client_event(actor.process, ClientEvent::Timer(timer));
        }
    }

    /// Steps a client's session and does what it wants done.
    pub fn client_event(&mut self, process: u16, event: ClientEvent) {
        let p = &mut self.processes[usize::from(process)];
        let now_ms = p.clock.now_ms(self.stage.now);
        let client = match &mut p.client {
            Some(Client::Session(client)) => client,
            Some(Client::Program(_)) => return self.program_event(process, event),
            None => return,
        };
        let mut out = std::mem::take(&mut self.client_out);
        let former = self.stage.pulse.acts(Acting::Client(process));
        let stepped = quietly(|| client.step(ClientInput { now_ms, event }, &mut out));
        self.stage.pulse.acts(former);
        if let Err(Caught::Panic(what)) = stepped {
            let actor = self.processes[usize::from(process)].actor;
            self.stage
                .invariants
                .report
                .broken(Invariant::NoPanic, format!("the session of {actor} panicked: {what}"));
            self.stage.over = true;
            return;
        }
        for output in out.drain(..) {
            self.client_output(process, output);
        }
        self.client_out = out;
    }

    fn client_output(&mut self, process: u16, output: ClientOutput) {
        match output {
            ClientOutput::Open { server } => drop(self.open(process, server.0)),
            ClientOutput::Send { conn, message } => self.send_to_server(conn, message),
            ClientOutput::Close { conn } => {
                if let Some(conn) = conn.or(self.processes[usize::from(process)].opening.take()) {
                    self.servers.conns.close_by_client(&mut self.stage, conn);
                }
            }
            ClientOutput::Complete { call, result, watch } => self.complete(process, call, result, watch),
            ClientOutput::Event { watch, event, last } => {
                let Process { watches, polling, .. } = &mut self.processes[usize::from(process)];
                polling.forget();
                if last {
                    if let Some(completer) = watches.remove(&watch) {
                        completer.complete((*event).clone());
                    }
                } else if let Some(completer) = watches.get(&watch) {
                    completer.send((*event).clone());
                }
            }
            ClientOutput::State(state) => self.client_state(process, state),
            ClientOutput::SetTimer { timer, after_ms } => {
                let p = &mut self.processes[usize::from(process)];
                let after = p.clock.real_ns(u64::from(after_ms) * MS);
                let actor = p.actor;
                let count = p.timer(timer);
                *count += 1;
                let generation = *count;
                self.stage
                    .queue
                    .push(self.stage.now + after, SimEvent::ClientTimer { actor, timer, generation });
            }
        }
    }

    fn complete(
        &mut self,
        process: u16,
        call: CallId,
        result: Result<Response, Error>,
        watch: Option<WatchId>,
    ) {
        let p = &mut self.processes[usize::from(process)];
        let Some((request, asked_at, completer)) = p.calls.remove(&call.0) else { return };
        if completer.is_abandoned() {
            // Nor will anybody wait for its watch, which is not to be registered again.
            return watch
                .into_iter()
                .for_each(|watch| self.client_event(process, ClientEvent::Abandon { watch }));
        }
        let answer = result.as_ref().map_err(|error| error.code);
        let polls = p.polling.answer(p.actor, asked_at, &request, answer);
        let result = result.map(|response| {
            let watch = watch.map(|id| {
                let (completer, watch) = Pending::slot();
                p.watches.insert(id, completer);
                watch
            });
            (response, watch)
        });
        completer.complete(result);
        polls.into_iter().for_each(|truth| self.stage.establish(truth));
    }

    pub fn client_state(&mut self, process: u16, state: KeeperState) {
        let p = &mut self.processes[usize::from(process)];
        let Some(client) = &p.client else { return };
        let (actor, session) = (p.actor, client.session());
        p.renews = false;
        p.polling.forget();
        p.learns_loss = state != KeeperState::SyncConnected;
        p.mailbox.learn(session, state);
        self.stage.note(Place::Client(actor), &What::State(state));
        if state != KeeperState::SyncConnected {
            self.stage.knowledge.disconnected(process);
        }
        self.stage.visible.changes(session, state, !self.stage.knowledge.is_known(session));
        match state {
            KeeperState::SyncConnected => {
                for truth in self.stage.knowledge.learned(session, actor) {
                    self.stage.establish(truth);
                }
                self.stage.establish(GroundTruth::Connected { actor });
            }
            KeeperState::Disconnected => self.stage.establish(GroundTruth::Disconnected { actor }),
            KeeperState::Expired => {
                if self.stage.knowledge.is_holding(actor) {
                    self.stage.once("learned of expiry while holding");
                }
                self.stage.establish(GroundTruth::LearnsExpiry { actor });
                self.is_to_renew(actor);
            }
            KeeperState::AuthFailed | KeeperState::Closed => {}
        }
    }

    pub fn open(&mut self, process: u16, server: u8) -> ConnId {
        let actor = self.processes[usize::from(process)].actor;
        let conn = self.servers.conns.open(&mut self.stage, actor, server);
        self.processes[usize::from(process)].opening = Some(conn);
        conn
    }

    pub fn send_to_server(&mut self, id: ConnId, message: ToServer) {
        let Some(conn) = self.servers.conns.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        let actor = conn.actor;
        let session = self.processes[usize::from(actor.process)].session();
        self.stage.visible.sends(session, &message);
        let (mut armed, mut owner) = (None, None);
        if let ToServer::Request { xid, request } = &message {
            armed = self.disarm(actor.process, request);
            if armed.is_some() {
                owner = self.stage.knowledge.owner(&request.path());
            }
            watch!(self.stage, invariants.sent(id, session, *xid, request));
        }
        self.servers.conns.send_to_server(&mut self.stage, id, message);
        match armed {
            Some(Armed::Lose(loss)) => {
                self.stage.once("connection dropped at a request");
                self.servers.conns.lose(&mut self.stage, id, loss);
            }
            Some(Armed::ExpireOwner) => {
                if let Some(owner) = owner {
                    self.stage.once("owner of what was looked at expired");
                    self.servers.expire_session(&mut self.stage, owner);
                }
            }
            Some(armed @ (Armed::Pause { .. } | Armed::Crash { .. } | Armed::Meddle(_))) => {
                self.stage.queue.push(self.stage.now, SimEvent::Strike { actor, armed });
            }
            None => {}
        }
    }

    /// What was to happen as the process sends this request.
    fn disarm(&mut self, process: u16, request: &Request) -> Option<Armed> {
        let p = &mut self.processes[usize::from(process)];
        if p.armed.is_empty() {
            return None;
        }
        let mine = p.client.as_ref().map(|c| c.session());
        let others = self.stage.knowledge.owner(&request.path()).is_some_and(|owner| Some(owner) != mine);
        let at = p.armed.iter().position(|(when, armed)| {
            fits(*when, request) && (others || !matches!(armed, Armed::ExpireOwner))
        })?;
        Some(p.armed.remove(at).1)
    }
}

fn fits(when: When, request: &Request) -> bool {
    match when {
        When::NextRequest(RequestKind::Any) => true,
        When::NextRequest(RequestKind::Create) => matches!(
            request,
            Request::Create { .. } | Request::SetData { .. } | Request::SetAcl { .. } | Request::Multi { .. }
        ),
        When::NextRequest(RequestKind::Delete) => matches!(request, Request::Delete { .. }),
        When::NextRequest(RequestKind::Read) => !request.is_write(),
        When::Now | When::NextGrant | When::NextWork => false,
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

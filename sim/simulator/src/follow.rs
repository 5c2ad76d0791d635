//! How a script is followed: its steps are taken in their order, whatever would come next by time.
//!
//! Everything is as in any other run, servers, sessions, promises, but for what comes first. A message is held up, and
//! work goes on, until the script says otherwise; servers do what is theirs alone at once. Time passes only where a
//! timer of a recipe has to fire. When the script is over, what is left comes in its own time, and the run ends as any.

use crate::event::{Meddling, SimEvent};
use crate::fault::Fault;
use crate::process::Process;
use crate::script::{Script, WrittenStep};
use crate::simulation::Simulation;
use crate::trace_event::{Place, What};
use std::collections::BTreeMap;
use zk_api::{KeeperState, Text};
use zk_proto::client::ClientTimer;
use zk_proto::message::{ConnId, ToClient, ToServer};
use zk_trials::event::ActorId;
use zk_trials::script::{ScriptStep, late};

/// Between two steps.
const BETWEEN_NS: u64 = 1_000;
/// Longer than any script and the healing after it.
const PAUSE_MS: u64 = 1 << 40;
/// What one step may take of events: far more than any does.
const EVENTS_PER_STEP: u32 = 10_000;

impl Simulation<'_> {
    /// Takes a script. If something in it cannot happen here, says what, and in which step.
    fn follow(&mut self, script: &Script) -> Result<(), String> {
        let mut late = late(script.steps.iter().map(|WrittenStep(step)| step));
        late.retain(|p, _| *p < self.stage.scenario.clients);
        self.everybody_connects(&late)?;
        self.hold_views();
        let many = script.steps.len();
        for (nth, WrittenStep(step)) in script.steps.iter().enumerate() {
            if self.stage.over {
                break;
            }
            self.stage.now += BETWEEN_NS;
            let replay_error = |problem| format!("step {} of {many}, '{step}': {problem}", nth + 1);
            let rest = &script.steps[nth + 1..];
            let taken = match step.process().filter(|p| late.get(p) == Some(&step)) {
                Some(p) => {
                    late.remove(&p);
                    self.begins(p);
                    Ok(())
                }
                None => self.take_step(step, rest),
            };
            taken.and_then(|()| self.settle()).map_err(replay_error)?;
        }
        Ok(())
    }

    /// All sessions, then all actors, as in a model's first state, but those who are `late`. Of these, who begins without
    /// a session does not know of its own yet.
    fn everybody_connects(&mut self, late: &BTreeMap<u16, &ScriptStep>) -> Result<(), String> {
        for process in 0..self.stage.scenario.clients {
            self.processes[usize::from(process)].comes_back = false;
            self.begin_session(ActorId { process, life: 0, thread: 0 });
            self.connects(process, late.get(&process) != Some(&&ScriptStep::Early(process)))?;
        }
        (0..self.stage.scenario.clients).filter(|p| !late.contains_key(p)).for_each(|p| self.begins(p));
        Ok(())
    }

    /// The code of a process begins, which has a session.
    fn begins(&mut self, p: u16) {
        let mailbox = self.processes[usize::from(p)].mailbox.clone();
        self.begin_actor(p, mailbox);
        self.turn();
        self.stage.tell_broken();
    }

    fn take_step(&mut self, step: &ScriptStep, rest: &[WrittenStep]) -> Result<(), String> {
        if let Some(p) = step.process().filter(|p| *p >= self.stage.scenario.clients) {
            return Err(format!("there is no p{p}"));
        }
        match self.script.views {
            Some(_) => self.take_lagging_step(step, rest),
            None => self.take_plain_step(step),
        }
    }

    /// A step where views lag.
    fn take_lagging_step(&mut self, step: &ScriptStep, rest: &[WrittenStep]) -> Result<(), String> {
        match *step {
            ScriptStep::CatchUp(p) => self.catch_up(p),
            ScriptStep::Serve(p) if self.is_never_answered(p, rest) => {
                self.proposes_lost(p, false, Simulation::serve_next)
            }
            ScriptStep::Serve(p) => self.comes_to_an_answer(p, Simulation::serve_next),
            ScriptStep::ServeLost(p) => self.proposes_lost(p, false, Simulation::serve_lost),
            ScriptStep::ServeFormer(p, life) => {
                self.proposes_lost(p, false, |simulation, p| simulation.serve_lost_of(former(p, life)))
            }
            ScriptStep::Reconnect(p) => {
                // A leader takes nothing from where a session is no more.
                let lost = rest.iter().filter(|step| step.0 == ScriptStep::ServeLost(p)).count();
                for _ in 0..lost {
                    self.proposes_lost(p, true, Simulation::serve_lost)?;
                }
                self.next_servers_know(p)?;
                self.connects(p, true)
            }
            ScriptStep::Expire(_)
            | ScriptStep::ExpireFormer(..)
            | ScriptStep::Delete(_)
            | ScriptStep::Set(..) => {
                self.nothing_unwritten()?;
                self.take_plain_step(step)?;
                self.settle()?;
                self.hasten()
            }
            _ => self.take_plain_step(step),
        }
    }

    fn take_plain_step(&mut self, step: &ScriptStep) -> Result<(), String> {
        match *step {
            ScriptStep::Deliver(p) => self.deliver(p, &[]),
            ScriptStep::DeliverInOrder(p, ref names) => self.deliver(p, names),
            ScriptStep::DeliverAnswers(p) => {
                while self.answer_is_coming(p) {
                    self.deliver(p, &[])?;
                }
                Ok(())
            }
            ScriptStep::Serve(p) => self.serve_next(p),
            ScriptStep::ServeLost(p) => self.serve_lost(p),
            ScriptStep::ServeFormer(p, life) => self.serve_lost_of(former(p, life)),
            ScriptStep::Point(p, nth) => self.wake(p, nth, false),
            ScriptStep::Timer(p, nth) => self.wake(p, nth, true),
            ScriptStep::Arrive(p, nth) => self.arrive(p, nth),
            ScriptStep::Learn(p, nth) => self.learn(p, nth),
            ScriptStep::Reconnect(p) => self.connects(p, true),
            ScriptStep::Renew(p) => {
                self.renew(self.client(p));
                self.connects(p, true)
            }
            ScriptStep::Register(p) => self.register(p),
            ScriptStep::Expire(p) => self.expire_of(self.client(p)),
            ScriptStep::ExpireFormer(p, life) => self.expire_of(former(p, life)),
            ScriptStep::Drop(p, in_flight) => self.drop_of(p, in_flight),
            ScriptStep::Crash(p) => {
                self.crash_process(p);
                Ok(())
            }
            ScriptStep::Begin(p) => self.begin_next(p, true),
            ScriptStep::Early(p) => self.begin_next(p, false),
            ScriptStep::Pause(p) => {
                let actor = self.client(p);
                self.pause(actor, PAUSE_MS);
                Ok(())
            }
            ScriptStep::Resume(p) => {
                let is = |h: &SimEvent| matches!(h, SimEvent::Resume { actor, .. } if actor.process == p);
                self.take(is, "it is not paused")
            }
            ScriptStep::Run(p, nth) => self.run_in_script(p, nth),
            ScriptStep::Busy(p) => {
                self.busy_in_script(p);
                Ok(())
            }
            ScriptStep::GoOn(p) => self.goes_on_in_script(p),
            ScriptStep::Stand(p) => self.stands_in_script(p),
            ScriptStep::Delete(ref path) => self.administrate(path, Meddling::Delete),
            ScriptStep::Set(ref path, ref data) => self.administrate(path, Meddling::Write(data.clone())),
            ScriptStep::Clock(_) => Err("clocks are not set in the simulator's scripts".to_owned()),
            ScriptStep::CatchUp(_) => Err("no views lag in this script".to_owned()),
            ScriptStep::FalseExpiry(_) => {
                Err("no leader is deposed without knowing it in the simulator's scripts".to_owned())
            }
        }
    }

    fn client(&self, process: u16) -> ActorId {
        self.processes[usize::from(process)].actor
    }

    /// What happens next, out of its time; no timer fires before its own.
    pub fn happens(&mut self, at_ns: Option<u64>, event: SimEvent) {
        self.stage.now = self.stage.now.max(at_ns.unwrap_or(0));
        self.stage.run.steps += 1;
        self.happen(event);
        self.turn();
        self.stage.tell_broken();
    }

    /// Takes the first event that is one of these, out of its time.
    fn take(&mut self, is: impl Fn(&SimEvent) -> bool, missing: &str) -> Result<(), String> {
        let (_, event) = self.stage.queue.take_first(is).ok_or_else(|| missing.to_owned())?;
        self.happens(None, event);
        Ok(())
    }

    /// What servers do by themselves is done, and what is lost is gone.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..EVENTS_PER_STEP {
            let network = &self.servers.conns.network;
            let next = self.stage.queue.first(|event| match event {
                SimEvent::DiskDone { server, .. } => self.writes_at_once(*server),
                SimEvent::AtPeer { link, end, number, message } => {
                    self.carries_at_once(*link, *end, *number, message)
                }
                SimEvent::AtServer { conn, number, .. } => network.is_lost(*conn, *number, true),
                SimEvent::AtClient { conn, number, .. } => network.is_lost(*conn, *number, false),
                _ => false,
            });
            let next = next.and_then(|number| self.stage.queue.take_numbered(number));
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
            self.stage.queue.events().any(|h| matches!(h, SimEvent::AtServer { conn: c, .. } if *c == conn))
        };
        let ends = self.stage.queue.events().find_map(|h| match h {
            SimEvent::ServerSees { conn } if !carries(*conn) => Some(*conn),
            _ => None,
        })?;
        self.stage.queue.take_first(|h| matches!(h, SimEvent::ServerSees { conn } if *conn == ends))
    }

    /// The oldest message to or from the server on a connection.
    fn next_on(&self, conn: ConnId, to_server: bool) -> Option<u64> {
        let number = |event: &SimEvent| match event {
            SimEvent::AtServer { conn: c, number, .. } if to_server && *c == conn => Some(*number),
            SimEvent::AtClient { conn: c, number, .. } if !to_server && *c == conn => Some(*number),
            _ => None,
        };
        self.stage.queue.events().filter_map(number).min()
    }

    /// Takes the oldest message to the server on a connection: whether it was a request, and whether that was a write.
    fn take_to_server(&mut self, conn: ConnId) -> Option<Option<bool>> {
        let oldest = self.next_on(conn, true)?;
        let is = |h: &SimEvent| matches!(h, SimEvent::AtServer { conn: c, number, .. } if *c == conn && *number == oldest);
        let (_, event) = self.stage.queue.take_first(is)?;
        let request = match &event {
            SimEvent::AtServer { message: ToServer::Request { request, .. }, .. } => Some(request.is_write()),
            _ => None,
        };
        self.happens(None, event);
        Some(request)
    }

    fn serve_next(&mut self, p: u16) -> Result<(), String> {
        let conn = *self.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        loop {
            match self.take_to_server(conn) {
                Some(Some(_)) => return Ok(()),
                Some(None) => self.settle()?,
                None => return Err("no request is on its way".to_owned()),
            }
        }
    }

    /// A process whose life has ended begins the next, once it has a session, of which it is `told` or not.
    fn begin_next(&mut self, p: u16, told: bool) -> Result<(), String> {
        let Process { actor, rounds_left, ref client, .. } = self.processes[usize::from(p)];
        match (client, actor.life.checked_add(1)) {
            (Some(_), _) => Err("its life goes on".to_owned()),
            (None, Some(life)) if rounds_left > 0 => {
                self.begin_session(ActorId { life, ..actor });
                self.connects(p, told)?;
                self.begins(p);
                Ok(())
            }
            (None, _) => Err("it has nothing left to do".to_owned()),
        }
    }

    fn serve_lost(&mut self, p: u16) -> Result<(), String> {
        self.serve_lost_of(self.client(p))
    }

    /// Reads are nobody's business any more.
    fn serve_lost_of(&mut self, actor: ActorId) -> Result<(), String> {
        loop {
            let lost = self.stage.queue.events().find_map(|h| match h {
                SimEvent::AtServer { conn, .. } if self.servers.conns.network.was_of(*conn, actor) => {
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

    fn register(&mut self, p: u16) -> Result<(), String> {
        let conn = *self.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        let is = |h: &SimEvent| {
            matches!(
                h,
                SimEvent::AtServer { conn: c, message: ToServer::SetWatches { .. }, .. } if *c == conn
            )
        };
        self.take(is, "no watches are to be registered")
    }

    fn answer_is_coming(&self, p: u16) -> bool {
        let Some(conn) = self.servers.conns.network.of_process(p).first().copied() else { return false };
        self.stage.queue.events().any(|h| {
            matches!(h, SimEvent::AtClient { conn: c, message: ToClient::Reply { .. }, .. } if *c == conn)
        })
    }

    /// The next message that concerns the process: an answer, an event that it waits for, or the end of the connection.
    /// The next message reaches it, with its names in this order if there is one.
    fn deliver(&mut self, p: u16, order: &[Text]) -> Result<(), String> {
        let conn = *self.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        while let Some(oldest) = self.next_on(conn, false) {
            let is = |h: &SimEvent| matches!(h, SimEvent::AtClient { conn: c, number, .. } if *c == conn && *number == oldest);
            let Some((_, mut event)) = self.stage.queue.take_first(is) else { break };
            if let SimEvent::AtClient { message: ToClient::Reply { result: Ok(response), .. }, .. } =
                &mut event
            {
                zk_proto::order::sort(response, order);
            }
            let (is_reply, is_event) = match &event {
                SimEvent::AtClient { message, .. } => {
                    (matches!(message, ToClient::Reply { .. }), matches!(message, ToClient::Event { .. }))
                }
                _ => (false, false),
            };
            let (waiting, ready) = (self.watches_waited_for(p), self.executor.ready_of(p).len());
            self.stage.run.steps += 1;
            self.happen(event);
            let is_heard = self.watches_waited_for(p) < waiting || self.executor.ready_of(p).len() > ready;
            self.turn();
            self.stage.tell_broken();
            // An event that nobody waits for is no step: nobody can tell whether it came.
            if is_reply || (is_event && is_heard) {
                return Ok(());
            }
        }
        self.take(
            |h| matches!(h, SimEvent::ClientSees { conn: c } if *c == conn),
            "no message is on its way to it",
        )
    }

    fn watches_waited_for(&self, p: u16) -> usize {
        let watches = self.processes[usize::from(p)].watches.values();
        watches.filter(|completer| !completer.is_abandoned()).count()
    }

    /// It opens connections until a server says whether its session lives. Where it is not `told`, that is on its way.
    fn connects(&mut self, p: u16, told: bool) -> Result<(), String> {
        for nth in 0..EVENTS_PER_STEP {
            match self.processes[usize::from(p)].state() {
                None if nth == 0 => return Err("it is gone".to_owned()),
                Some(KeeperState::Disconnected) => {}
                // It may have ended at the news that its session is dead.
                None | Some(_) => return Ok(()),
            }
            let network = &self.servers.conns.network;
            let mine = |conn: &ConnId| network.is_open_of(*conn, p);
            let tells = |h: &SimEvent| matches!(h, SimEvent::AtClient { conn, message: ToClient::Connected(_), .. } if mine(conn));
            if !told && self.stage.queue.events().any(tells) {
                return Ok(());
            }
            let next = self.stage.queue.take_first(|event| match event {
                SimEvent::Opening { conn } | SimEvent::ClientSees { conn } => mine(conn),
                SimEvent::AtServer { conn, message: ToServer::Connect(_), .. } => mine(conn),
                SimEvent::AtClient { .. } => tells(event),
                SimEvent::ClientTimer { actor, timer: ClientTimer::Reconnect, .. } => actor.process == p,
                _ => false,
            });
            let Some((at, event)) = next else {
                match self.next_server_goes_on(p)? {
                    true => continue,
                    false => return Err("it looks for no server".to_owned()),
                }
            };
            let at = matches!(event, SimEvent::ClientTimer { .. }).then_some(at);
            self.happens(at, event);
            self.settle()?;
        }
        Err("it finds no server".to_owned())
    }

    fn wake(&mut self, p: u16, nth: u8, sleeps: bool) -> Result<(), String> {
        let is = |h: &&SimEvent| {
            matches!(h, SimEvent::Wake { actor, sleeps: s, completer, .. }
                if actor.process == p && *s == sleeps && !completer.is_abandoned())
        };
        let mut waits = self.stage.queue.numbered().into_iter().filter(|(_, _, h)| is(h));
        let (number, at, _) = waits.nth(usize::from(nth)).ok_or("it does not wait for that")?;
        if sleeps {
            self.pass_until(at)?;
        }
        let (_, event) =
            self.stage.queue.take_numbered(number).ok_or("it does not wait for that any more")?;
        self.happens(sleeps.then_some(at), event);
        Ok(())
    }

    /// Time passes: what keeps sessions alive goes on, all else is held up.
    fn pass_until(&mut self, until_ns: u64) -> Result<(), String> {
        for _ in 0..EVENTS_PER_STEP {
            let due = self.stage.queue.numbered().into_iter().find(|(_, at, event)| {
                *at <= until_ns
                    && match event {
                        SimEvent::ServerTimer { .. } => true,
                        SimEvent::ClientTimer { timer: ClientTimer::Liveness, .. } => true,
                        SimEvent::AtServer { conn, number, message: ToServer::Ping } => {
                            self.next_on(*conn, true) == Some(*number)
                        }
                        SimEvent::AtClient { conn, number, message: ToClient::Pong { .. } } => {
                            self.next_on(*conn, false) == Some(*number)
                        }
                        _ => false,
                    }
            });
            let Some((number, at, _)) = due else { return Ok(()) };
            let (_, event) = self.stage.queue.take_numbered(number).expect("it was just seen");
            self.happens(Some(at), event);
            self.settle()?;
        }
        Err("the sleep is too long".to_owned())
    }

    fn arrive(&mut self, p: u16, nth: u8) -> Result<(), String> {
        let is = |h: &SimEvent| matches!(h, SimEvent::WriteArrives { actor, .. } if actor.process == p);
        let mut writes = self.stage.queue.numbered().into_iter().filter(|(_, _, h)| is(h));
        let (number, ..) = writes.nth(usize::from(nth)).ok_or("no such write is on its way")?;
        let (_, event) = self.stage.queue.take_numbered(number).expect("it was just seen");
        self.happens(None, event);
        let process = &self.processes[usize::from(p)];
        if process.held_back.is_some() {
            return Ok(());
        }
        // The answer of this one is the newest.
        let answers = |h: &SimEvent| matches!(h, SimEvent::WriteAnswered { actor, .. } if actor.process == p);
        let newest =
            self.stage.queue.numbered().into_iter().filter(|(_, _, h)| answers(h)).map(|(n, ..)| n).max();
        if let Some((_, event)) = newest.and_then(|number| self.stage.queue.take_numbered(number)) {
            self.happens(None, event);
        }
        Ok(())
    }

    fn learn(&mut self, p: u16, nth: u8) -> Result<(), String> {
        let me = self.client(p);
        let is = |h: &SimEvent| matches!(h, SimEvent::WriteAnswered { actor, .. } if actor.main() == me);
        let mut answers = self.stage.queue.numbered().into_iter().filter(|(_, _, h)| is(h));
        let (number, ..) = answers.nth(usize::from(nth)).ok_or("no such write has arrived")?;
        let (_, event) = self.stage.queue.take_numbered(number).expect("it was just seen");
        self.happens(None, event);
        Ok(())
    }

    fn expire_of(&mut self, actor: ActorId) -> Result<(), String> {
        let session = self.stage.knowledge.sessions().find(|(_, of)| *of == actor);
        let (session, _) = session.ok_or("it has no session that lives")?;
        self.stage.note(Place::Simulation, &What::Fault(&Fault::Expire { client: actor.process }));
        self.servers.expire_session(&mut self.stage, session);
        self.stage.tell_broken();
        self.settle()
    }

    /// The client learns of it at once.
    fn drop_of(&mut self, p: u16, in_flight: u8) -> Result<(), String> {
        let id = *self.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        let write = |h: &SimEvent| match h {
            SimEvent::AtServer { conn, number, message: ToServer::Request { request, .. } }
                if *conn == id && request.is_write() =>
            {
                Some(*number)
            }
            _ => None,
        };
        let mut writes: Vec<u64> = self.stage.queue.events().filter_map(write).collect();
        writes.sort_unstable();
        let last = match in_flight {
            0 => None,
            n => Some(*writes.get(usize::from(n) - 1).ok_or("not so many writes are on their way")?),
        };
        let conn = self.servers.conns.network.conn(id).expect("it is open");
        conn.to_client.cut(0);
        match last {
            Some(last) => conn.to_server.cut_after(last),
            None => conn.to_server.cut(0),
        }
        self.servers.conns.drops_now(&mut self.stage, id);
        self.take(|h| matches!(h, SimEvent::ClientSees { conn } if *conn == id), "it is not told")
    }

    /// He does it by a session of his own, and nothing else happens meanwhile.
    fn administrate(&mut self, path: &Text, meddling: Meddling) -> Result<(), String> {
        self.meddle_with(path, meddling);
        self.turn();
        let p = self.stage.scenario.clients;
        for _ in 0..EVENTS_PER_STEP {
            self.settle()?;
            let network = &self.servers.conns.network;
            let mine = |conn: &ConnId| network.is_open_of(*conn, p);
            let next = self.stage.queue.take_first(|event| match event {
                SimEvent::Opening { conn }
                | SimEvent::ClientSees { conn }
                | SimEvent::AtServer { conn, .. }
                | SimEvent::AtClient { conn, .. } => mine(conn),
                SimEvent::ClientTimer { actor, timer: ClientTimer::Reconnect, .. } => actor.process == p,
                _ => false,
            });
            let Some((at, event)) = next else { return Ok(()) };
            let at = matches!(event, SimEvent::ClientTimer { .. }).then_some(at);
            self.happens(at, event);
        }
        Err("the administrator does not come to an end".to_owned())
    }

    /// Takes a script to its end, and lets everything heal; or ends the run where it cannot be taken.
    pub fn take_script(&mut self, script: &Script) {
        self.script.begin(script, self.stage.scenario.clients);
        let followed = self.follow(script);
        self.script.end();
        match followed {
            Ok(()) => {
                self.heal();
                self.turn();
            }
            Err(replay_error) => (self.stage.run.replay_error, self.stage.over) = (Some(replay_error), true),
        }
    }
}

/// A former life of a process.
fn former(process: u16, life: u8) -> ActorId {
    ActorId { process, life, thread: 0 }
}

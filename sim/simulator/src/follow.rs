//! How a script is followed: its steps are taken in their order, whatever would come next by time.
//!
//! Everything is as in any other run, servers, sessions, promises, but for what comes first. A message is held up, and
//! work goes on, until the script says otherwise; servers do what is theirs alone at once. Time passes only where a
//! timer of a recipe has to fire. When the script is over, what is left comes in its own time, and the run ends as any.

use crate::event::{Meddling, SimEvent};
use crate::fault::Fault;
use crate::process::Process;
use crate::script::{Script, WrittenStep};
use crate::script_state::Views;
use crate::simulation::Simulation;
use crate::trace_event::{Place, What};
use crate::views::{EVENTS_PER_STEP, Held};
use std::collections::BTreeMap;
use zk_api::{KeeperState, Text, ZPath};
use zk_harness::event::ActorId;
use zk_harness::script::{ScriptStep, late};
use zk_proto::client::ClientTimer;
use zk_proto::message::{ConnId, ToClient, ToServer};

/// Between two steps.
const BETWEEN_NS: u64 = 1_000;
/// Longer than any script and the healing after it.
const PAUSE_MS: u64 = 1 << 40;

/// Takes a script to its end, and lets everything heal; or ends the run where it cannot be taken.
pub fn take(run: &mut Simulation<'_>, script: &Script) {
    let views = (script.lag > 0).then(|| Views::new(script.lag, run.stage.scenario.clients));
    run.clients.lives.tasks.follow_script(true);
    let followed = Follower { held: Held { run, views } }.follow(script);
    run.clients.lives.tasks.follow_script(false);
    match followed {
        Ok(()) => {
            run.nemesis().heal();
            run.turn();
        }
        Err(replay_error) => {
            (run.stage.run.replay_error, run.stage.over) = (Some(replay_error), true);
        }
    }
}

/// Takes the steps of a script.
struct Follower<'s, 'a> {
    held: Held<'s, 'a>,
}

impl Follower<'_, '_> {
    /// Takes a script. If something in it cannot happen here, says what, and in which step.
    fn follow(&mut self, script: &Script) -> Result<(), String> {
        let mut late = late(script.steps.iter().map(|WrittenStep(step)| step));
        late.retain(|p, _| *p < self.held.run.stage.scenario.clients);
        self.everybody_connects(&late)?;
        self.held.views.iter_mut().for_each(Views::hold);
        let many = script.steps.len();
        for (nth, WrittenStep(step)) in script.steps.iter().enumerate() {
            if self.held.run.stage.over {
                break;
            }
            self.held.run.stage.now += BETWEEN_NS;
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
            taken.and_then(|()| self.held.settle()).map_err(replay_error)?;
        }
        Ok(())
    }

    /// All sessions, then all actors, as in a model's first state, but those who are `late`. Of these, who begins
    /// without a session does not know of its own yet.
    fn everybody_connects(&mut self, late: &BTreeMap<u16, &ScriptStep>) -> Result<(), String> {
        for process in 0..self.held.run.stage.scenario.clients {
            self.held.run.clients.lives.processes[process].comes_back = false;
            self.held.run.clients.begin_session(
                &mut self.held.run.stage,
                &mut self.held.run.servers,
                ActorId { process, life: 0, thread: 0 },
            );
            self.connects(process, late.get(&process) != Some(&&ScriptStep::Early(process)))?;
        }
        (0..self.held.run.stage.scenario.clients)
            .filter(|p| !late.contains_key(p))
            .for_each(|p| self.begins(p));
        Ok(())
    }

    /// The code of a process begins, which has a session.
    fn begins(&mut self, p: u16) {
        let mailbox = self.held.run.clients.lives.processes[p].mailbox.clone();
        self.held.run.clients.lives.begin_actor(&mut self.held.run.stage, p, mailbox);
        self.held.run.turn();
        self.held.run.stage.tell_broken();
    }

    fn take_step(&mut self, step: &ScriptStep, rest: &[WrittenStep]) -> Result<(), String> {
        if let Some(p) = step.process().filter(|p| *p >= self.held.run.stage.scenario.clients) {
            return Err(format!("there is no p{p}"));
        }
        match self.held.views {
            Some(_) => self.take_lagging_step(step, rest),
            None => self.take_plain_step(step),
        }
    }

    /// A step where views lag.
    fn take_lagging_step(&mut self, step: &ScriptStep, rest: &[WrittenStep]) -> Result<(), String> {
        match *step {
            ScriptStep::CatchUp(p) => self.held.catch_up(p),
            ScriptStep::Serve(p) if self.held.is_never_answered(p, rest) => {
                self.held.proposes_lost(p, false, Held::serve_next)
            }
            ScriptStep::Serve(p) => self.held.comes_to_an_answer(p, Held::serve_next),
            ScriptStep::ServeLost(p) => self.held.proposes_lost(p, false, Held::serve_lost),
            ScriptStep::ServeFormer(p, life) => {
                self.held.proposes_lost(p, false, |simulation, p| simulation.serve_lost_of(former(p, life)))
            }
            ScriptStep::Reconnect(p) => {
                // A leader takes nothing from where a session is no more.
                let lost = rest.iter().filter(|step| step.0 == ScriptStep::ServeLost(p)).count();
                for _ in 0..lost {
                    self.held.proposes_lost(p, true, Held::serve_lost)?;
                }
                self.held.next_servers_know(p)?;
                self.connects(p, true)
            }
            ScriptStep::Expire(_)
            | ScriptStep::ExpireFormer(..)
            | ScriptStep::Delete(_)
            | ScriptStep::Set(..) => {
                self.held.nothing_unwritten()?;
                self.take_plain_step(step)?;
                self.held.settle()?;
                self.held.hasten()
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
            ScriptStep::Serve(p) => self.held.serve_next(p),
            ScriptStep::ServeLost(p) => self.held.serve_lost(p),
            ScriptStep::ServeFormer(p, life) => self.held.serve_lost_of(former(p, life)),
            ScriptStep::Point(p, nth) => self.wake(p, nth, false),
            ScriptStep::Timer(p, nth) => self.wake(p, nth, true),
            ScriptStep::Arrive(p, nth) => self.arrive(p, nth),
            ScriptStep::Reach(p, nth) => self.reach(p, nth),
            ScriptStep::Learn(p, nth) => self.learn(p, nth),
            ScriptStep::Reconnect(p) => self.connects(p, true),
            ScriptStep::Renew(p) => {
                let actor = self.held.client(p);
                self.held.run.clients.renew(&mut self.held.run.stage, &mut self.held.run.servers, actor);
                self.connects(p, true)
            }
            ScriptStep::Register(p) => self.register(p),
            ScriptStep::Expire(p) => self.expire_of(self.held.client(p)),
            ScriptStep::ExpireFormer(p, life) => self.expire_of(former(p, life)),
            ScriptStep::Drop(p, in_flight) => self.drop_of(p, in_flight),
            ScriptStep::Crash(p) => {
                self.held.run.clients.lives.crash_process(
                    &mut self.held.run.stage,
                    &mut self.held.run.servers,
                    p,
                );
                Ok(())
            }
            ScriptStep::Begin(p) => self.begin_next(p, true),
            ScriptStep::Early(p) => self.begin_next(p, false),
            ScriptStep::Pause(p) => {
                let actor = self.held.client(p);
                self.held.run.clients.lives.pause(&mut self.held.run.stage, actor, PAUSE_MS);
                Ok(())
            }
            ScriptStep::Resume(p) => {
                let is = |h: &SimEvent| matches!(h, SimEvent::Resume { actor, .. } if actor.process == p);
                self.held.take(is, "it is not paused")
            }
            ScriptStep::Run(p, nth) => self.run_task_of(p, nth),
            ScriptStep::Busy(p) => {
                self.held.run.clients.lives.tasks.busy_in_script(p);
                Ok(())
            }
            ScriptStep::GoOn(p) => {
                self.held.run.clients.lives.tasks.stands_in_script(p)?;
                match self.held.run.clients.lives.tasks.executor.ready_of(p).len() {
                    1 => self.run_task_of(p, 0),
                    _ => Ok(()),
                }
            }
            ScriptStep::Stand(p) => self.held.run.clients.lives.tasks.stands_in_script(p),
            ScriptStep::Delete(ref path) => self.administrate(path, Meddling::Delete),
            ScriptStep::Set(ref path, ref data) => self.administrate(path, Meddling::Write(data.clone())),
            ScriptStep::Clock(_) => Err("clocks are not set in the simulator's scripts".to_owned()),
            ScriptStep::CatchUp(_) => Err("no views lag in this script".to_owned()),
            ScriptStep::FalseExpiry(_) => {
                Err("no leader is deposed without knowing it in the simulator's scripts".to_owned())
            }
        }
    }

    /// Of a process's ready tasks, the one of this number runs.
    fn run_task_of(&mut self, process: u16, nth: u8) -> Result<(), String> {
        self.held.run.clients.lives.tasks.due_in_script(process, nth)?;
        self.held.run.turn();
        self.held.run.stage.tell_broken();
        Ok(())
    }

    /// A process whose life has ended begins the next, once it has a session, of which it is `told` or not.
    fn begin_next(&mut self, p: u16, told: bool) -> Result<(), String> {
        let Process { actor, rounds_left, ref client, .. } = self.held.run.clients.lives.processes[p];
        match (client, actor.life.checked_add(1)) {
            (Some(_), _) => Err("its life goes on".to_owned()),
            (None, Some(life)) if rounds_left > 0 => {
                self.held.run.clients.begin_session(
                    &mut self.held.run.stage,
                    &mut self.held.run.servers,
                    ActorId { life, ..actor },
                );
                self.connects(p, told)?;
                self.begins(p);
                Ok(())
            }
            (None, _) => Err("it has nothing left to do".to_owned()),
        }
    }

    fn register(&mut self, p: u16) -> Result<(), String> {
        let conn =
            *self.held.run.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        let is = |h: &SimEvent| {
            matches!(
                h,
                SimEvent::AtServer { conn: c, message: ToServer::SetWatches { .. }, .. } if *c == conn
            )
        };
        self.held.take(is, "no watches are to be registered")
    }

    fn answer_is_coming(&self, p: u16) -> bool {
        let Some(conn) = self.held.run.servers.conns.network.of_process(p).first().copied() else {
            return false;
        };
        self.held.run.stage.queue.events().any(|h| {
            matches!(h, SimEvent::AtClient { conn: c, message: ToClient::Reply { .. }, .. } if *c == conn)
        })
    }

    /// The next message that concerns the process: an answer, an event that it waits for, or the end of the connection.
    /// The next message reaches it, with its names in this order if there is one.
    fn deliver(&mut self, p: u16, order: &[Text]) -> Result<(), String> {
        let conn =
            *self.held.run.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        while let Some(oldest) = self.held.next_on(conn, false) {
            let is = |h: &SimEvent| matches!(h, SimEvent::AtClient { conn: c, number, .. } if *c == conn && *number == oldest);
            let Some((_, mut event)) = self.held.run.stage.queue.take_first(is) else { break };
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
            let (waiting, ready) =
                (self.watches_waited_for(p), self.held.run.clients.lives.tasks.executor.ready_of(p).len());
            self.held.run.stage.run.steps += 1;
            self.held.run.happen(event);
            let is_heard = self.watches_waited_for(p) < waiting
                || self.held.run.clients.lives.tasks.executor.ready_of(p).len() > ready;
            self.held.run.turn();
            self.held.run.stage.tell_broken();
            // An event that nobody waits for is no step: nobody can tell whether it came.
            if is_reply || (is_event && is_heard) {
                return Ok(());
            }
        }
        self.held.take(
            |h| matches!(h, SimEvent::ClientSees { conn: c } if *c == conn),
            "no message is on its way to it",
        )
    }

    fn watches_waited_for(&self, p: u16) -> usize {
        let watches = self.held.run.clients.lives.processes[p].watches.values();
        watches.filter(|completer| !completer.is_abandoned()).count()
    }

    /// It opens connections until a server says whether its session lives. Where it is not `told`, that is on its way.
    fn connects(&mut self, p: u16, told: bool) -> Result<(), String> {
        for nth in 0..EVENTS_PER_STEP {
            match self.held.run.clients.lives.processes[p].state() {
                None if nth == 0 => return Err("it is gone".to_owned()),
                Some(KeeperState::Disconnected) => {}
                // It may have ended at the news that its session is dead.
                None | Some(_) => return Ok(()),
            }
            let network = &self.held.run.servers.conns.network;
            let mine = |conn: &ConnId| network.is_open_of(*conn, p);
            let tells = |h: &SimEvent| matches!(h, SimEvent::AtClient { conn, message: ToClient::Connected(_), .. } if mine(conn));
            if !told && self.held.run.stage.queue.events().any(tells) {
                return Ok(());
            }
            let next = self.held.run.stage.queue.take_first(|event| match event {
                SimEvent::Opening { conn } | SimEvent::ClientSees { conn } => mine(conn),
                SimEvent::AtServer { conn, message: ToServer::Connect(_), .. } => mine(conn),
                SimEvent::AtClient { .. } => tells(event),
                SimEvent::ClientTimer { actor, timer: ClientTimer::Reconnect, .. } => actor.process == p,
                _ => false,
            });
            let Some((at, event)) = next else {
                match self.held.next_server_goes_on(p)? {
                    true => continue,
                    false => return Err("it looks for no server".to_owned()),
                }
            };
            let at = matches!(event, SimEvent::ClientTimer { .. }).then_some(at);
            self.held.happens(at, event);
            self.held.settle()?;
        }
        Err("it finds no server".to_owned())
    }

    fn wake(&mut self, p: u16, nth: u8, sleeps: bool) -> Result<(), String> {
        let is = |h: &&SimEvent| {
            matches!(h, SimEvent::Wake { actor, sleeps: s, completer, .. }
                if actor.process == p && *s == sleeps && !completer.is_abandoned())
        };
        let mut waits = self.held.run.stage.queue.numbered().into_iter().filter(|(_, _, h)| is(h));
        let (number, at, _) = waits.nth(usize::from(nth)).ok_or("it does not wait for that")?;
        if sleeps {
            self.pass_until(at)?;
        }
        let (_, event) =
            self.held.run.stage.queue.take_numbered(number).ok_or("it does not wait for that any more")?;
        self.held.happens(sleeps.then_some(at), event);
        Ok(())
    }

    /// Time passes: what keeps sessions alive goes on, all else is held up.
    fn pass_until(&mut self, until_ns: u64) -> Result<(), String> {
        for _ in 0..EVENTS_PER_STEP {
            let due = self.held.run.stage.queue.numbered().into_iter().find(|(_, at, event)| {
                *at <= until_ns
                    && match event {
                        SimEvent::ServerTimer { .. } => true,
                        SimEvent::ClientTimer { timer: ClientTimer::Liveness, .. } => true,
                        SimEvent::AtServer { conn, number, message: ToServer::Ping } => {
                            self.held.next_on(*conn, true) == Some(*number)
                        }
                        SimEvent::AtClient { conn, number, message: ToClient::Pong { .. } } => {
                            self.held.next_on(*conn, false) == Some(*number)
                        }
                        _ => false,
                    }
            });
            let Some((number, at, _)) = due else { return Ok(()) };
            let (_, event) = self.held.run.stage.queue.take_numbered(number).expect("it was just seen");
            self.held.happens(Some(at), event);
            self.held.settle()?;
        }
        Err("the sleep is too long".to_owned())
    }

    fn reach(&mut self, p: u16, nth: u8) -> Result<(), String> {
        let is = |h: &SimEvent| matches!(h, SimEvent::WriteArrives { actor, .. } if actor.process == p);
        let mut writes = self.held.run.stage.queue.numbered().into_iter().filter(|(_, _, h)| is(h));
        let (number, ..) = writes.nth(usize::from(nth)).ok_or("no such write is on its way")?;
        let (_, event) = self.held.run.stage.queue.take_numbered(number).expect("it was just seen");
        self.held.happens(None, event);
        Ok(())
    }

    fn arrive(&mut self, p: u16, nth: u8) -> Result<(), String> {
        self.reach(p, nth)?;
        let process = &self.held.run.clients.lives.processes[p];
        if process.held_back.is_some() {
            return Ok(());
        }
        // The answer of this one is the newest.
        let answers = |h: &SimEvent| matches!(h, SimEvent::WriteAnswered { actor, .. } if actor.process == p);
        let numbered = self.held.run.stage.queue.numbered().into_iter();
        let newest = numbered.filter(|(_, _, h)| answers(h)).map(|(n, ..)| n).max();
        if let Some((_, event)) = newest.and_then(|number| self.held.run.stage.queue.take_numbered(number)) {
            self.held.happens(None, event);
        }
        Ok(())
    }

    fn learn(&mut self, p: u16, nth: u8) -> Result<(), String> {
        let me = self.held.client(p);
        let is = |h: &SimEvent| matches!(h, SimEvent::WriteAnswered { actor, .. } if actor.main() == me);
        let mut answers = self.held.run.stage.queue.numbered().into_iter().filter(|(_, _, h)| is(h));
        let (number, ..) = answers.nth(usize::from(nth)).ok_or("no such write has arrived")?;
        let (_, event) = self.held.run.stage.queue.take_numbered(number).expect("it was just seen");
        self.held.happens(None, event);
        Ok(())
    }

    fn expire_of(&mut self, actor: ActorId) -> Result<(), String> {
        let session = self.held.run.stage.knowledge.sessions().find(|(_, of)| *of == actor);
        let (session, _) = session.ok_or("it has no session that lives")?;
        self.held.run.stage.note(Place::Simulation, &What::Fault(&Fault::Expire { client: actor.process }));
        self.held.run.servers.expire_session(&mut self.held.run.stage, session);
        self.held.run.stage.tell_broken();
        self.held.settle()
    }

    /// The client learns of it at once.
    fn drop_of(&mut self, p: u16, in_flight: u8) -> Result<(), String> {
        let id = *self.held.run.servers.conns.network.of_process(p).first().ok_or("it has no connection")?;
        let write = |h: &SimEvent| match h {
            SimEvent::AtServer { conn, number, message: ToServer::Request { request, .. } }
                if *conn == id && request.is_write() =>
            {
                Some(*number)
            }
            _ => None,
        };
        let mut writes: Vec<u64> = self.held.run.stage.queue.events().filter_map(write).collect();
        writes.sort_unstable();
        let last = match in_flight {
            0 => None,
            n => Some(*writes.get(usize::from(n) - 1).ok_or("not so many writes are on their way")?),
        };
        let conn = self.held.run.servers.conns.network.conn(id).expect("it is open");
        conn.to_client.cut(0);
        match last {
            Some(last) => conn.to_server.cut_after(last),
            None => conn.to_server.cut(0),
        }
        self.held.run.servers.conns.drops_now(&mut self.held.run.stage, id);
        self.held.take(|h| matches!(h, SimEvent::ClientSees { conn } if *conn == id), "it is not told")
    }

    /// He does it by a session of his own, and nothing else happens meanwhile.
    fn administrate(&mut self, path: &Text, meddling: Meddling) -> Result<(), String> {
        let Simulation { stage, servers, clients, .. } = &mut *self.held.run;
        if let Ok(node) = ZPath::parse(path) {
            clients.administers(stage, servers, node, meddling);
        }
        self.held.run.turn();
        let p = self.held.run.stage.scenario.clients;
        for _ in 0..EVENTS_PER_STEP {
            self.held.settle()?;
            let network = &self.held.run.servers.conns.network;
            let mine = |conn: &ConnId| network.is_open_of(*conn, p);
            let next = self.held.run.stage.queue.take_first(|event| match event {
                SimEvent::Opening { conn }
                | SimEvent::ClientSees { conn }
                | SimEvent::AtServer { conn, .. }
                | SimEvent::AtClient { conn, .. } => mine(conn),
                SimEvent::ClientTimer { actor, timer: ClientTimer::Reconnect, .. } => actor.process == p,
                _ => false,
            });
            let Some((at, event)) = next else { return Ok(()) };
            let at = matches!(event, SimEvent::ClientTimer { .. }).then_some(at);
            self.held.happens(at, event);
        }
        Err("the administrator does not come to an end".to_owned())
    }
}

/// A former life of a process.
fn former(process: u16, life: u8) -> ActorId {
    ActorId { process, life, thread: 0 }
}

//! The end of a run: when nothing moves any more, and what is left then.

use crate::clock::MS;
use crate::event::SimEvent;
use crate::lives::Lives;
use crate::server_host::Servers;
use crate::stage::{Phase, Stage};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use zk_api::{KeeperState, SessionId};
use zk_harness::event::ActorId;
use zk_harness::promise::{Rest, Watch};
use zk_invariants::Invariant;
use zk_proto::server::Server;
use zk_proto::txn::NodeKind;

/// What an answer may take at most where there is no fault, beside what sessions need to move on.
const ANSWER_MS: u64 = 20_000;

/// So many quarters of the time after healing may go by in naps, with nothing between them. Who naps on is stuck.
const ENDLESS: u64 = 20;

/// What decides whether a run is over, and what is judged then.
pub struct Ending<'s, 'a> {
    pub stage: &'s mut Stage<'a>,
    pub servers: &'s Servers,
    pub lives: &'s Lives,
}

impl Ending<'_, '_> {
    /// Whether all actors are done, what they sent has arrived, and the sessions of the dead have ended.
    /// Ends the faults as soon as all actors are done: nobody is left to suffer from them.
    pub fn is_at_rest(&mut self) -> bool {
        if !self.lives.processes.0.iter().all(|p| p.is_done()) || self.threads_go_on() {
            self.stage.deadline.goes_on();
            return false;
        }
        // A server that does not serve is given all the time there is.
        if !self.servers.ensemble.cluster.hosts.iter().all(|host| host.is_serving || host.own.stays_out) {
            return false;
        }
        let since = self.stage.deadline.done_since(self.stage.now);
        let timeout = self.stage.granted_timeout_ns();
        // What was sent last is done by now, and a dead session had time to expire by ticks.
        self.stage.now >= since + timeout && (self.only_the_living() || self.stage.now >= since + 6 * timeout)
    }

    /// Whether a process whose main thread has ended has others that wait for an answer or for something that they have
    /// told, have it, work or sleep. A program has none: it ends with the last of them, and its client's own timers go
    /// on for ever.
    fn threads_go_on(&self) -> bool {
        if self.lives.trial.programs().is_some() {
            return false;
        }
        let has_ended = |actor: &ActorId| {
            let process = &self.lives.processes[actor.process];
            process.is(*actor) && process.finished.is_some()
        };
        let is_at_it =
            |actor| self.stage.waiting.has_of(actor) || self.stage.knowledge.has_holding_thread(actor);
        let is_due = |event: &SimEvent| match event {
            SimEvent::Wake { actor, completer, .. } => has_ended(actor) && !completer.is_abandoned(),
            SimEvent::WriteArrives { actor, completer, .. }
            | SimEvent::WriteAnswered { actor, completer, .. } => {
                has_ended(actor) && !completer.is_abandoned()
            }
            _ => false,
        };
        let mut live = self.lives.processes.0.iter().filter(|p| p.client.is_some());
        live.any(|p| is_at_it(p.actor) || p.awaits_answers()) || self.stage.queue.events().any(is_due)
    }

    /// Whether all actors are done while faults go on.
    pub fn may_heal_early(&self) -> bool {
        let all_done = || self.lives.processes.0.iter().all(|p| p.is_done());
        self.stage.phase == Phase::Faults && all_done() && !self.threads_go_on()
    }

    /// Whether every open session is that of a process that lives and has not done with it: one that was closed in
    /// vain, as its client was not connected, is to expire.
    fn only_the_living(&self) -> bool {
        let state = |actor: ActorId| self.lives.processes[actor.process].state();
        let is_final = |actor| state(actor).is_some_and(KeeperState::is_final);
        let mut sessions = self.stage.knowledge.sessions();
        sessions.all(|(session, actor)| self.is_present_session(session, actor) && !is_final(actor))
    }

    fn is_present_session(&self, session: SessionId, actor: ActorId) -> bool {
        let process = &self.lives.processes[actor.process];
        process.is(actor) && process.client.as_ref().is_some_and(|client| client.session() == session)
    }

    /// A client that lives, and that servers hear, was answered within four timeouts and some seconds.
    fn judge_answers(&mut self) {
        let most_ns =
            (4 * self.stage.granted_timeout_ns() + ANSWER_MS * MS).min(self.stage.scenario.heal_ns() / 2);
        for process in &self.lives.processes.0[..usize::from(self.stage.scenario.clients)] {
            let Some(client) = process.client.as_ref().filter(|client| client.is_owed_answers()) else {
                continue;
            };
            let (actor, session) = (process.actor, client.session());
            let since_ns = self.servers.conns.owed.get(&session);
            let since_ns = since_ns.map(|since_ns| (*since_ns).max(self.stage.deadline.healed_ns()));
            let waits_ns = since_ns.map_or(0, |since_ns| self.stage.now.saturating_sub(since_ns));
            self.stage.invariants.report.check(Invariant::AnswersInTime, waits_ns <= most_ns, || {
                let seconds = waits_ns / MS / 1000;
                format!("{actor} of {session} has asked and got no answer for {seconds} s, without any fault")
            });
        }
    }

    /// Whether nothing more happens in the time that the run may take.
    pub fn time_is_up(&mut self) -> bool {
        let deadline_ns = self.stage.deadline.put_off();
        let next_at = self.stage.queue.next_at();
        if next_at.is_some_and(|at| at > deadline_ns) {
            self.wait_for_sleepers();
        }
        next_at.is_some_and(|at| at > self.stage.deadline.at_ns())
    }

    /// Who still sleeps, and has for a good part of the time after healing, at once or in long naps, is no waiter that
    /// is stuck: the run goes on until it wakes, for ten times as long as it may at most.
    fn wait_for_sleepers(&mut self) {
        let last_ns = self.stage.scenario.faults_ns() + 10 * self.stage.scenario.heal_ns();
        let wakes_ns =
            self.stage.queue.numbered().into_iter().filter(|(_, at_ns, it)| self.sleeps_long(*at_ns, it));
        let wakes_ns = wakes_ns.map(|(_, at_ns, _)| at_ns).filter(|at_ns| *at_ns <= last_ns);
        if let Some(wakes_ns) = wakes_ns.max() {
            self.stage.deadline.wait_for(wakes_ns);
        }
    }

    fn sleeps_long(&self, at_ns: u64, event: &SimEvent) -> bool {
        let SimEvent::Wake { actor, after_ns, sleeps: true, completer } = event else { return false };
        let (process, long_ns) = (&self.lives.processes[actor.process], self.stage.scenario.heal_ns() / 4);
        let began_ns = at_ns.saturating_sub(*after_ns);
        let dozed_ns = process.dozes_since_ns.map_or(0, |since_ns| began_ns.saturating_sub(since_ns));
        let lives = process.is(*actor) && !completer.is_abandoned();
        // In short naps it may look again and again for what another task tells it; in long ones, too, if they never
        // end.
        let naps = *after_ns >= long_ns / 3 && dozed_ns + after_ns >= long_ns;
        lives && dozed_ns < ENDLESS * long_ns && (*after_ns >= long_ns || naps)
    }

    /// Judges what is left.
    pub fn judge_rest(&mut self) {
        if self.stage.queue.numbered().into_iter().any(|(_, at_ns, it)| self.sleeps_long(at_ns, it)) {
            return self.stage.once("somebody slept on when the run was over: it needs more heal-seconds");
        }
        let mut rest = Rest::default();
        for process in &self.lives.processes.0[..usize::from(self.stage.scenario.clients)] {
            let Some(client) = &process.client else { continue };
            let goes_on = self.stage.knowledge.is_open(client.session()) || client.renews();
            if process.finished.is_none() && goes_on {
                let (actor, hosts) = (process.actor, &self.servers.ensemble.cluster.hosts);
                let watches = client.watches(hosts.iter().filter_map(|host| host.server.as_ref()));
                rest.watches.extend(watches.into_iter().map(|(path, of_children)| Watch {
                    actor,
                    path,
                    of_children,
                }));
                rest.unfinished.push(actor);
            }
        }
        // The process that made the trial's znodes is no actor.
        let clients = self.stage.scenario.clients;
        let known = |(session, actor): &(SessionId, ActorId)| {
            actor.process < clients && self.stage.knowledge.is_known(*session)
        };
        rest.sessions = self.stage.knowledge.sessions().filter(known).collect();
        let leads =
            self.servers.ensemble.leader().and_then(|leader| self.servers.ensemble.cluster.server(leader));
        if let Some(server) = leads {
            for (path, node) in server.tree().nodes() {
                if self.lives.trial.owns(path) {
                    let owner = match node.kind {
                        NodeKind::Ephemeral(owner) => owner,
                        NodeKind::Persistent | NodeKind::Container | NodeKind::Ttl(_) => SessionId::NONE,
                    };
                    rest.nodes.push((path.clone(), owner));
                }
            }
            self.stage.trace.add(self.stage.now, Place::Simulation, &What::End { tree: server.tree() });
        }
        let committed = self.stage.knowledge.committed;
        for (id, host) in (0..).zip(&self.servers.ensemble.cluster.hosts) {
            // One that is a little behind has what ended last.
            let is_there = |server: &&Server| server.is_serving() && server.tree().last_zxid() >= committed;
            if let Some(server) = host.server.as_ref().filter(is_there) {
                let knowledge = &self.stage.knowledge;
                watch!(
                    self.stage,
                    invariants.at_rest(id, server.tree(), |session| knowledge.is_open(session))
                );
            }
        }
        self.judge_health();
        if !rest.unfinished.is_empty() {
            self.stage.once("somebody was stuck");
        }
        self.stage.tell_broken();
        watch!(self.stage, judge.at_rest(self.stage.now, &rest));
    }

    /// Faults are over: every server serves, every client is answered, and all show the same.
    fn judge_health(&mut self) {
        self.servers.ensemble.check_ensemble(self.stage);
        if self.stage.phase != Phase::Healed {
            return;
        }
        self.judge_answers();
        let sick: Vec<u8> = (0..)
            .zip(&self.servers.ensemble.cluster.hosts)
            .filter(|(_, h)| !h.is_serving && !h.own.stays_out)
            .map(|(id, _)| id)
            .collect();
        self.stage.invariants.report.check(Invariant::EveryServerServes, sick.is_empty(), || {
            format!("servers {sick:?} did not serve when faults were long over")
        });
        let servers = self.servers.ensemble.cluster.hosts.iter().filter_map(|host| host.server.as_ref());
        let trees = servers.map(|server| server.tree());
        let behind = trees.clone().map(|tree| tree.last_zxid()).min();
        let newest = trees.map(|tree| tree.last_zxid()).max();
        if behind != newest {
            self.stage.once("a server was behind at the end");
        }
    }
}

//! Faults are over: everything arrives, and time passes only when nothing else can.

use crate::zab::rig::{Action, Rig};
use zk_proto::server::ServerId;
use zk_proto::zab::{PeerConfig, Role, Timer};

impl Rig {
    /// An ensemble in which everybody serves.
    pub fn serving(voters: u8, observers: u8, tune: impl Fn(&mut PeerConfig)) -> Rig {
        let mut rig = Rig::new(voters, observers, tune);
        rig.serve().expect("an ensemble comes up");
        rig
    }

    /// Does what is allowed, the first of it first, until something is so. Panics if it does not come to that.
    pub fn drive(&mut self, allowed: impl Fn(&Rig, &Action) -> bool, done: impl Fn(&Rig) -> bool) {
        for _ in 0..1000 {
            if done(self) {
                return;
            }
            let action = self.actions().into_iter().find(|action| allowed(self, action));
            self.act(action.expect("something is left to do"));
            self.check().expect("every invariant holds");
        }
        panic!("it does not come to that");
    }

    /// The leader proposes so many.
    pub fn propose(&mut self, count: usize) {
        let server = self.leader().expect("a leader");
        for _ in 0..count {
            self.act(Action::Propose { server });
        }
    }

    /// A server and the others hear nothing of each other.
    pub fn isolate(&mut self, server: u8) {
        let server = ServerId(server);
        for other in self.nodes.keys().copied().filter(|other| *other != server).collect::<Vec<_>>() {
            self.act(Action::Cut { from: server, to: other });
            self.act(Action::Cut { from: other, to: server });
        }
    }

    /// A server dies; nothing of the write under way is left.
    pub fn kill(&mut self, server: u8) {
        self.act(Action::Crash { server: ServerId(server), outcome: 0, mute: false });
    }

    pub fn revive(&mut self, server: u8) {
        self.act(Action::Restart { server: ServerId(server) });
    }

    /// Lets time pass until something is so.
    pub fn wait(&mut self, done: impl Fn(&Rig) -> bool) {
        self.quiet().expect("every invariant holds");
        for _ in 0..50 {
            if done(self) {
                return;
            }
            self.pass().expect("every invariant holds");
        }
        panic!("it does not come to that");
    }

    /// Lets everything arrive, and fires no timer.
    pub fn quiet(&mut self) -> Result<(), String> {
        for _ in 0..20_000 {
            let waits = |action: &Action| !matches!(action, Action::Fire { .. });
            let Some(action) = self.actions().into_iter().find(waits) else { return Ok(()) };
            self.act(action);
            self.check()?;
        }
        Err("the ensemble does not come to rest".to_string())
    }

    /// Lets time pass: every timer that is set fires, those that come sooner first.
    pub fn pass(&mut self) -> Result<(), String> {
        for wanted in [Timer::Finalize, Timer::Notify, Timer::Tick] {
            for server in self.nodes.keys().copied().collect::<Vec<_>>() {
                let node = &self.nodes[&server];
                if node.peer.is_some() && node.timers.contains(&wanted) {
                    self.act(Action::Fire { server, timer: wanted });
                    self.check()?;
                    if wanted == Timer::Finalize {
                        self.quiet()?;
                    }
                }
            }
            self.quiet()?;
        }
        Ok(())
    }

    /// Ends all faults, and demands that all serve and that new and old transactions get to everybody.
    pub fn heal(&mut self) -> Result<(), String> {
        self.cut.clear();
        for server in self.nodes.keys().copied().collect::<Vec<_>>() {
            if self.nodes[&server].peer.is_none() {
                self.act(Action::Restart { server });
            }
        }
        self.serve()?;
        for _ in 0..2 {
            let server = self.leader().ok_or("the leader has gone")?;
            self.act(Action::Propose { server });
            self.quiet()?;
            // The epoch may have come to its end with it.
            self.serve()?;
        }
        let stands = self.ghost.committed.len();
        match self.nodes.iter().find(|(_, node)| node.state.len() != stands) {
            Some((server, node)) => {
                Err(format!("{server:?} has {} of {stands} transactions", node.state.len()))
            }
            None => Ok(()),
        }
    }

    /// Lets time pass until everybody serves.
    pub fn serve(&mut self) -> Result<(), String> {
        self.quiet()?;
        for _ in 0..100 {
            if self.everybody_serves() {
                return Ok(());
            }
            self.pass()?;
        }
        let roles: Vec<_> =
            self.nodes.values().map(|node| node.peer.as_ref().map(|peer| peer.role())).collect();
        Err(format!("after 100 ticks without a fault: {roles:?}"))
    }

    /// Whether everybody serves in the epoch of one leader.
    pub fn everybody_serves(&self) -> bool {
        let Some(leader) = self.leader() else { return false };
        let Role::Leading { epoch: newest } = self.peer(leader.0).role() else { return false };
        self.nodes.values().all(|node| match node.peer.as_ref().map(|peer| peer.role()) {
            Some(Role::Leading { epoch }) => epoch == newest && node.config.id == leader,
            Some(Role::Following { leader: whom, epoch } | Role::Observing { leader: whom, epoch }) => {
                epoch == newest && whom == leader
            }
            Some(Role::Looking | Role::Joining { .. }) | None => false,
        })
    }
}

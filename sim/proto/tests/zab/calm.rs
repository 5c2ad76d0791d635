//! Faults are over: everything arrives, and time passes only when nothing else can.

use crate::rig::{Action, Rig};
use zk_proto::zab::{Role, Timer};

impl Rig {
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
        match self.nodes.iter().find(|(_, node)| node.machine.len() != stands) {
            Some((server, node)) => {
                Err(format!("{server:?} has {} of {stands} transactions", node.machine.len()))
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

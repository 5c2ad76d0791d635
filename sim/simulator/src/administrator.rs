//! The administrator: somebody with a session of his own who deletes what clients hold, or writes to it. No actor, and
//! nothing that is told of one is told of him but what he does to znodes.

use crate::event::Meddling;
use crate::mailbox::Mailbox;
use crate::simulation::Simulation;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{Data, Outcome, SessionId, Text, ZPath, ZooKeeper, sequence_of};
use zk_trials::event::{ActorId, End};

/// Tries of one administrator's write: none is repeated for ever, as faults come to an end.
const TRIES: u32 = 20;

impl Simulation<'_> {
    /// An administrator meddles with an ephemeral znode of an actor, the newest that it has below the trial's setup.
    pub fn meddle(&mut self, actor: ActorId, meddling: Meddling) {
        let owner = self.processes[usize::from(actor.process)].client.as_ref().map(|c| c.session());
        // Who has no session yet owns nothing; what is nobody's is not an ephemeral znode.
        let owner = owner.filter(|owner| *owner != SessionId::NONE);
        let Some(node) = owner.and_then(|owner| self.newest_ephemeral(owner)) else { return };
        self.stage.once(match &meddling {
            Meddling::Delete if self.stage.knowledge.is_holding(actor) => {
                "an administrator deleted a holder's znode"
            }
            Meddling::Delete => "an administrator deleted a znode",
            Meddling::Write(_) => "an administrator wrote to a znode",
        });
        self.administers(node, meddling);
    }

    /// An administrator meddles with a znode.
    pub fn meddle_with(&mut self, path: &Text, meddling: Meddling) {
        if let Ok(node) = ZPath::parse(path) {
            self.administers(node, meddling);
        }
    }

    fn administers(&mut self, node: ZPath, meddling: Meddling) {
        let zk = self.administrators_session();
        let code = async move {
            for _ in 0..TRIES {
                let done = match &meddling {
                    Meddling::Delete => zk.delete(&node, -1).await,
                    Meddling::Write(text) => zk.set_data(&node, Data::from(&**text), -1).await.map(|_| ()),
                };
                match done {
                    Err(e) if e.outcome() == Outcome::Unknown && !e.is_session_over() => {
                        zk.sleep(Duration::from_millis(100)).await;
                    }
                    Ok(()) | Err(_) => break,
                }
            }
            None
        };
        self.executor.spawn(self.stage.scenario.clients, Box::pin(code));
    }

    fn newest_ephemeral(&self, owner: SessionId) -> Option<ZPath> {
        let mut own: Vec<&Text> = self.stage.knowledge.ephemerals(owner).collect();
        own.retain(|path| self.is_below_setup(path));
        // By number: the names begin with guids.
        let newest = own.into_iter().max_by_key(|path| (sequence_of(path), (*path).clone()))?;
        ZPath::parse(newest).ok()
    }

    /// His session: the one he has, or a new one. The process is the one that has made the trial's znodes.
    fn administrators_session(&mut self) -> Arc<Mailbox> {
        let process = &self.processes[usize::from(self.stage.scenario.clients)];
        if process.state().is_some_and(|state| !state.is_final()) {
            return process.mailbox.clone();
        }
        let life = process.actor.life.saturating_add(1);
        let mailbox = self.begin_session(ActorId { process: self.stage.scenario.clients, life, thread: 0 });
        // Nobody waits for him.
        self.processes[usize::from(self.stage.scenario.clients)].finished = Some(End::Done);
        mailbox
    }
}

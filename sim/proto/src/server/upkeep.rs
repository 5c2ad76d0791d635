//! What comes round by itself: ticks and containers, which are the leader's work.

use super::{Server, ServerStep, Timer};
use crate::message::Xid;
use crate::prepare::close_session;
use crate::txn::TxnBody;
use zk_api::SessionId;

impl Server {
    /// Makes servers equal that will do the same where no time passes, for models: counts begin anew that nobody looks
    /// at, and nobody is told who was heard of. The disk has done all that it was asked for if it `is_idle`.
    pub fn forget_counts(&mut self, is_idle: bool) {
        self.storage.forget_counts(is_idle, &self.config);
        self.touched.clear();
    }

    /// A timer has come. Those of a leader end with its leading.
    pub(super) fn on_timer(&mut self, timer: Timer, step: &mut ServerStep<'_>) {
        match timer {
            Timer::Sessions => {
                let Some(lead) = &mut self.lead else { return };
                for session in lead.tracker.tick() {
                    self.expire(session, step);
                }
                let Some(lead) = &self.lead else { return };
                step.set_timer(Timer::Sessions, lead.tracker.next_tick_ms());
            }
            Timer::Containers => {
                self.remove_expired_nodes(step);
                if self.lead.is_some() {
                    step.set_timer(Timer::Containers, self.config.container_check_ms);
                }
            }
            Timer::Snapshot => self.storage.continue_snapshot(&self.config, &self.tree, step),
            Timer::Zab(timer) => self.zab(crate::zab::Event::Timer(timer), step),
        }
    }

    /// Proposes that a session ends, if it is not about to end anyway. It ends when that is committed.
    pub(super) fn expire(&mut self, session: SessionId, step: &mut ServerStep<'_>) {
        let Some(lead) = &mut self.lead else { return };
        lead.tracker.forget(session);
        if lead.sessions.find(session).is_some() {
            let body = close_session(&lead.ahead, &self.config.tree, session, true);
            let body = self.config.closes_otherwise(&self.tree, session, body, step.out);
            self.propose(session, Xid(0), body, step);
        }
    }

    /// Removes containers and TTL znodes whose time is up, one transaction each.
    fn remove_expired_nodes(&mut self, step: &mut ServerStep<'_>) {
        let Some(lead) = &self.lead else { return };
        for path in lead.ahead.expired_nodes(step.now_ms) {
            self.propose(SessionId::NONE, Xid(0), TxnBody::Delete { path }, step);
        }
    }
}

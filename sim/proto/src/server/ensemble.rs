//! The server's peer: what it wants done, and what it makes of this server.

use super::{Note, Output, Server, ServerStep, Timer};
use crate::disk::FileId;
use crate::message::ToPeer;
use crate::mutant::Mutant;
use crate::snapshot;
use crate::zab::message::{LinkId, Packet, Snapshot};
use crate::zab::{self, Role};
use std::collections::VecDeque;
use zk_api::Zxid;

/// What the peer is to be told when what it wants now is done.
type Next = VecDeque<zab::Event>;

impl Server {
    /// Tells the peer what happened, and does what it wants done.
    pub(super) fn zab(&mut self, event: zab::Event, step: &mut ServerStep<'_>) {
        let mut out = Vec::new();
        self.peer.step(event, &mut out);
        self.zab_outputs(out, step);
    }

    pub(super) fn zab_outputs(&mut self, mut out: Vec<zab::Output>, step: &mut ServerStep<'_>) {
        let mut next = Next::new();
        loop {
            for output in out.drain(..) {
                self.zab_output(output, &mut next, step);
            }
            let Some(event) = next.pop_front() else { break };
            self.peer.step(event, &mut out);
        }
        self.answer_syncs(self.peer.committed(), step);
    }

    fn zab_output(&mut self, output: zab::Output, next: &mut Next, step: &mut ServerStep<'_>) {
        match output {
            zab::Output::Notify { to, notification } => {
                step.out.push(Output::Notify { to, notification });
            }
            zab::Output::Send { link, packet } => {
                if matches!(packet, Packet::Ping) {
                    self.tell_touched(link, step);
                    self.ask_again(link, step);
                }
                step.out.push(Output::SendPeer { link, message: ToPeer::Zab(packet) });
            }
            zab::Output::Dial { to } => step.out.push(Output::Dial { to }),
            zab::Output::Hang { link } => step.out.push(Output::Hang { link }),
            zab::Output::Write(write) => {
                let waits = self.storage.write(&write, step.out) && !self.writes_otherwise(&write, step);
                step.note(Note::Writes(write));
                if !waits {
                    step.note(Note::Written);
                    next.push_back(zab::Event::Written);
                }
            }
            zab::Output::SetTimer { timer, after_ms } => step.set_timer(Timer::Zab(timer), after_ms),
            zab::Output::NeedSnapshot { link } => {
                let image = snapshot::encode(&self.tree, &self.sessions).into();
                let snapshot = Snapshot { zxid: self.tree.last_zxid(), image };
                next.push_back(zab::Event::Snapshot { link, snapshot });
            }
            zab::Output::Restore(snapshot) => self.restore(&snapshot, step),
            zab::Output::Deliver(txn) => self.apply(&txn, step),
            zab::Output::Role(role) => self.take_role(role, step),
            zab::Output::Note(note) => {
                if let (zab::Note::Proposed(txn), Some(lead)) = (&note, &mut self.lead) {
                    lead.proposed(txn);
                }
                if let zab::Note::Committed(txn) = &note {
                    // Those of the one before are sent, this one's are not.
                    let before = Zxid::new(txn.zxid.epoch(), txn.zxid.counter() - 1);
                    self.answer_syncs(before, step);
                }
                step.note(Note::Zab(note));
            }
        }
    }

    /// The state of the leader's is on the disk, and in the place of this server's.
    fn restore(&mut self, image: &Snapshot, step: &mut ServerStep<'_>) {
        let state = snapshot::load(&image.image).expect("a leader's snapshot is whole: links do not rot");
        self.tree = self.config.restores_otherwise(&self.tree, state.tree, step.out);
        self.sessions = state.sessions;
        self.storage.restored(image.zxid, &self.config, step.out);
        step.note(Note::Restored(image.zxid));
    }

    /// Begins to serve, or stops: whoever is connected to a server that has no leader is sent away.
    fn take_role(&mut self, role: Role, step: &mut ServerStep<'_>) {
        match role {
            Role::Leading { epoch } => self.begin_leading(epoch, step),
            Role::Following { .. } | Role::Observing { .. } => {}
            Role::Looking | Role::Joining { .. } => {
                self.lead = None;
                self.touched.clear();
                if self.forwarded.is_empty() || !self.deviates(Mutant::ForwardedOutlivesRole, step) {
                    self.forwarded.clear();
                }
                let connected: Vec<_> = self.connections.keys().copied().collect();
                for conn in connected {
                    self.close(conn, step);
                }
            }
        }
    }

    /// Its peer begins once the disk has done all repairs.
    pub(super) fn begin_when_mended(&mut self, step: &mut ServerStep<'_>) {
        if let Some(mending) = self.mending.take_if(|mending| mending.awaited.is_empty()) {
            self.zab_outputs(mending.first, step);
        }
    }

    /// The disk has done a `Sync` or a `Replace`.
    pub(super) fn on_synced(&mut self, file: FileId, ticket: u64, step: &mut ServerStep<'_>) {
        if let Some(mending) = &mut self.mending {
            mending.awaited.remove(&ticket);
            self.begin_when_mended(step);
        } else if self.storage.written(ticket) {
            step.note(Note::Written);
            self.zab(zab::Event::Written, step);
        } else if let FileId::Snapshot(_) = file
            && let Some(oldest) = self.storage.on_snapshot_synced(ticket, &self.config, step.out)
        {
            self.zab(zab::Event::Trimmed { to: oldest }, step);
        }
    }

    /// Something of the peer's happened on the network. A server that is still mending its disk is not there.
    pub(super) fn peer_event(&mut self, event: zab::Event, step: &mut ServerStep<'_>) {
        if self.mending.is_none() {
            self.zab(event, step);
        } else if let zab::Event::Accepted { link, .. } = event {
            step.out.push(Output::Hang { link });
        }
    }

    /// Something came from another server over a link.
    pub(super) fn peer_said(&mut self, link: LinkId, message: ToPeer, step: &mut ServerStep<'_>) {
        match message {
            ToPeer::Zab(packet) => self.peer_event(zab::Event::Received { link, packet }, step),
            ToPeer::Ask(ask) => self.learner_asks(link, ask, step),
            ToPeer::Answer(answer) => self.leader_answers(link, answer, step),
        }
    }
}

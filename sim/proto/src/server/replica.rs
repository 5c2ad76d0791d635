//! What a server has as one of an ensemble: its peer, its disk, the tree and the sessions as they are applied; what it
//! does for others while it leads, and asks of its leader while it learns.

use super::clients::Clients;
use super::config::{ServerConfig, Syncs};
use super::event::{Note, Output, ServerStep, Timer};
use super::lead::{AskedSync, Lead, Place};
use super::storage::Storage;
use super::view::View;
use crate::disk::{DiskOp, FileId, Files};
use crate::ids::{ConnId, Password, Xid};
use crate::message::{Answer, Ask, ForwardedWrite, ToPeer};
use crate::mutant::Mutant;
use crate::prepare::{Caller, close_session, prepare};
use crate::recovery::{Recovered, RecoveryError};
use crate::sessions::{Session, SessionTable, SessionTracker};
use crate::snapshot;
use crate::tree::DataTree;
use crate::txn::{Txn, TxnBody};
use crate::zab::message::{LinkId, Packet, Snapshot};
use crate::zab::{self, Draft, Peer, RecoveredHistory, Role};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::{ErrorCode, Request, SessionId, Zxid};

/// What a server has as one of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Replica {
    pub(super) config: ServerConfig,
    /// The tree as it is applied: everything the peer has delivered. Nothing in it is not in the log.
    pub(super) tree: DataTree,
    /// The sessions as they are applied.
    pub(super) sessions: SessionTable,
    pub(super) peer: Peer,
    /// Until what recovery has mended is on the disk.
    mending: Option<Mending>,
    /// While it leads.
    pub(super) lead: Option<Lead>,
    storage: Storage,
    /// Sessions that were heard of since the leader was told, and their timeouts.
    touched: BTreeMap<SessionId, u32>,
}

/// A server that repairs what it has found on its disk, before it says anything to anybody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Mending {
    /// What its disk has yet to do.
    awaited: BTreeSet<u64>,
    /// What its peer wants done first.
    first: Vec<zab::Output>,
}

impl Replica {
    /// As its disk has it. Adds what is to be done to that.
    pub(super) fn recover(
        config: ServerConfig,
        files: &Files,
        out: &mut Vec<Output>,
    ) -> Result<Replica, RecoveryError> {
        let mut found = config.recovers_otherwise(files, out)?;
        let keeps_tails = config.keeps_tails(&mut found, out);
        config.replays_otherwise(files, &mut found, out);
        let history = RecoveredHistory {
            accepted_epoch: found.accepted_epoch,
            current_epoch: found.current_epoch,
            base: found.tree.last_zxid(),
            log: std::mem::take(&mut found.log),
        };
        let (peer, first) = Peer::start(config.zab.clone(), history);
        let Recovered { tree, sessions, replayed, mut repairs, to_sync, logs, mut snapshots, .. } = found;
        snapshots.extend(found.is_new.then_some(Zxid::ZERO));
        let mut storage = Storage::new(replayed, logs, snapshots, keeps_tails);
        if found.is_new {
            // As in ZooKeeper: without any snapshot, nobody could tell logs that have lost one from whole ones.
            let (file, bytes) = (FileId::Snapshot(Zxid::ZERO), snapshot::encode(&tree, &sessions));
            repairs.push(DiskOp::Replace { file, bytes, ticket: storage.ticket() });
        }
        // A tail that is cut but comes back would stand in the middle of the log.
        for file in to_sync {
            repairs.push(DiskOp::Sync { file, ticket: storage.ticket() });
        }
        let awaited = repairs.iter().filter_map(DiskOp::ticket).map(|(_, ticket)| ticket).collect();
        out.extend(repairs.into_iter().map(Output::Disk));
        let mending = Some(Mending { awaited, first });
        Ok(Replica { config, tree, sessions, peer, mending, lead: None, storage, touched: BTreeMap::new() })
    }

    /// See [`Server::forget_counts`](super::Server::forget_counts).
    pub(super) fn forget_counts(&mut self, is_idle: bool) {
        self.storage.forget_counts(is_idle, &self.config);
        self.touched.clear();
    }

    /// Whether it answers clients.
    pub(super) fn is_serving(&self) -> bool {
        match self.peer.role() {
            Role::Leading { .. } | Role::Following { .. } | Role::Observing { .. } => true,
            Role::Looking | Role::Joining { .. } => false,
        }
    }

    /// Whether its requests go to a leader elsewhere.
    pub(super) fn is_learning(&self) -> bool {
        self.is_serving() && self.lead.is_none()
    }

    /// The last transaction that this server shows to clients. A leader of an ensemble counts from the
    /// beginning of its epoch, though nothing has happened in it.
    ///
    /// Source: measured; a server that is alone does not.
    pub(super) fn shown(&self) -> Zxid {
        let last = self.tree.last_zxid();
        match &self.lead {
            Some(lead) if self.config.zab.voters.len() + self.config.zab.observers.len() > 1 => {
                last.max(Zxid::new(lead.epoch, 0))
            }
            Some(_) | None => last,
        }
    }

    pub(super) fn view(&self) -> View<'_> {
        let next = self.lead.as_ref().and_then(|_| self.peer.next_zxid());
        View { config: &self.config, tree: &self.tree, zxid: self.shown(), next }
    }

    /// Tells the peer what happened, and does what it wants done.
    fn zab(&mut self, event: zab::Event, clients: &mut Clients, step: &mut ServerStep<'_>) {
        let mut out = Vec::new();
        self.peer.step(event, &mut out);
        self.zab_outputs(out, clients, step);
    }

    fn zab_outputs(&mut self, mut out: Vec<zab::Output>, clients: &mut Clients, step: &mut ServerStep<'_>) {
        // What the peer is to be told when what it wants now is done.
        let mut next = VecDeque::new();
        loop {
            for output in out.drain(..) {
                self.zab_output(output, &mut next, clients, step);
            }
            let Some(event) = next.pop_front() else { break };
            self.peer.step(event, &mut out);
        }
        self.answer_syncs(self.peer.committed(), clients, step);
    }

    fn zab_output(
        &mut self,
        output: zab::Output,
        next: &mut VecDeque<zab::Event>,
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) {
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
                let waits =
                    self.storage.write(&write, step.out) && !self.config.writes_otherwise(&write, step.out);
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
            zab::Output::Deliver(txn) => self.apply(&txn, clients, step),
            zab::Output::Role(role) => self.take_role(role, clients, step),
            zab::Output::Note(note) => {
                if let (zab::Note::Proposed(txn), Some(lead)) = (&note, &mut self.lead) {
                    lead.proposed(txn);
                }
                if let zab::Note::Committed(txn) = &note {
                    // Those of the one before are sent, this one's are not.
                    let before = Zxid::new(txn.zxid.epoch(), txn.zxid.counter() - 1);
                    self.answer_syncs(before, clients, step);
                }
                step.note(Note::Zab(note));
            }
        }
    }

    /// Applies a committed transaction.
    fn apply(&mut self, txn: &Arc<Txn>, clients: &mut Clients, step: &mut ServerStep<'_>) {
        let applied = self.tree.apply(txn);
        self.sessions.apply(txn);
        step.note(Note::Applied(txn.clone()));
        clients.applied(txn, applied, self.view(), step);
        self.storage.applied(&self.config, &self.tree, &self.sessions, step);
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
    fn take_role(&mut self, role: Role, clients: &mut Clients, step: &mut ServerStep<'_>) {
        match role {
            Role::Leading { epoch } => self.begin_leading(epoch, step),
            Role::Following { .. } | Role::Observing { .. } => {}
            Role::Looking | Role::Joining { .. } => {
                self.lead = None;
                self.touched.clear();
                clients.close_all(self.view(), step);
            }
        }
    }

    /// The epoch is established: every session gets its full timeout, and the leader's timers begin.
    fn begin_leading(&mut self, epoch: u32, step: &mut ServerStep<'_>) {
        let mut tracker = SessionTracker::new(self.config.tick_ms, step.now_ms);
        for (id, session) in self.sessions.iter() {
            tracker.track(id, self.config.grants_otherwise(session.timeout_ms, step.out));
        }
        step.set_timer(Timer::Sessions, tracker.next_tick_ms());
        step.set_timer(Timer::Containers, self.config.container_check_ms);
        let ahead = self.config.counts_otherwise(self.tree.clone(), step.out);
        self.lead = Some(Lead::new(epoch, ahead, self.sessions.clone(), tracker));
    }

    /// Its peer begins once the disk has done all repairs.
    pub(super) fn begin_when_mended(&mut self, clients: &mut Clients, step: &mut ServerStep<'_>) {
        if let Some(mending) = self.mending.take_if(|mending| mending.awaited.is_empty()) {
            self.zab_outputs(mending.first, clients, step);
        }
    }

    /// The disk has done a `Sync` or a `Replace`.
    pub(super) fn on_synced(
        &mut self,
        file: FileId,
        ticket: u64,
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) {
        if let Some(mending) = &mut self.mending {
            mending.awaited.remove(&ticket);
            self.begin_when_mended(clients, step);
        } else if self.storage.written(ticket) {
            step.note(Note::Written);
            self.zab(zab::Event::Written, clients, step);
        } else if let FileId::Snapshot(_) = file
            && let Some(oldest) = self.storage.on_snapshot_synced(ticket, &self.config, step.out)
        {
            self.zab(zab::Event::Trimmed { to: oldest }, clients, step);
        }
    }

    /// Something of the peer's happened on the network. A server that is still mending its disk is not there.
    pub(super) fn peer_event(&mut self, event: zab::Event, clients: &mut Clients, step: &mut ServerStep<'_>) {
        if self.mending.is_none() {
            self.zab(event, clients, step);
        } else if let zab::Event::Accepted { link, .. } = event {
            step.out.push(Output::Hang { link });
        }
    }

    /// A timer has come. Those of a leader end with its leading.
    pub(super) fn on_timer(&mut self, timer: Timer, clients: &mut Clients, step: &mut ServerStep<'_>) {
        match timer {
            Timer::Sessions => {
                let Some(lead) = &mut self.lead else { return };
                for session in lead.tracker.tick() {
                    self.expire(session, clients, step);
                }
                let Some(lead) = &self.lead else { return };
                step.set_timer(Timer::Sessions, lead.tracker.next_tick_ms());
            }
            Timer::Containers => {
                self.remove_expired_nodes(clients, step);
                if self.lead.is_some() {
                    step.set_timer(Timer::Containers, self.config.container_check_ms);
                }
            }
            Timer::Snapshot => self.storage.continue_snapshot(&self.config, &self.tree, step),
            Timer::Zab(timer) => self.zab(zab::Event::Timer(timer), clients, step),
        }
    }

    /// Proposes that a session ends, if it is not about to end anyway. It ends when that is committed.
    pub(super) fn expire(&mut self, session: SessionId, clients: &mut Clients, step: &mut ServerStep<'_>) {
        let Some(lead) = &mut self.lead else { return };
        lead.tracker.forget(session);
        if lead.sessions.find(session).is_some() {
            let body = close_session(&lead.ahead, &self.config.tree, session, true);
            let body = self.config.closes_otherwise(&self.tree, session, body, step.out);
            self.propose(session, Xid(0), body, clients, step);
        }
    }

    /// Removes containers and TTL znodes whose time is up, one transaction each.
    fn remove_expired_nodes(&mut self, clients: &mut Clients, step: &mut ServerStep<'_>) {
        let Some(lead) = &self.lead else { return };
        for path in lead.ahead.expired_nodes(step.now_ms) {
            self.propose(SessionId::NONE, Xid(0), TxnBody::Delete { path }, clients, step);
        }
    }

    /// Gives a transaction its place in the order and sends it on its way. `None` if the epoch is at its end:
    /// then everybody is sent away soon, and nothing comes of it.
    pub(super) fn propose(
        &mut self,
        session: SessionId,
        xid: Xid,
        body: TxnBody,
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) -> Option<Zxid> {
        let zxid = self.peer.next_zxid()?;
        let draft = Draft { session, xid, time_ms: step.now_ms, body };
        self.zab(zab::Event::Propose(draft), clients, step);
        Some(zxid)
    }

    /// The last transaction that a session has asked for and that is not applied here: it may stand, on the disks of
    /// others, before it is on this server's.
    pub(super) fn last_unapplied_of(&self, session: SessionId) -> Option<Zxid> {
        let unapplied = self.peer.history().after(self.tree.last_zxid());
        unapplied.iter().rev().find(|txn| txn.session == session).map(|txn| txn.zxid)
    }

    /// What a `sync` at the leader waits for: see [`Syncs`].
    pub(super) fn sync_point(&self) -> Zxid {
        match self.config.syncs {
            Syncs::AsShipped => self.peer.in_flight().next_back().map_or(Zxid::ZERO, |txn| txn.zxid),
            Syncs::AskQuorum => self.peer.history().last(),
        }
    }

    /// A client of this server's wants to see everything: what is to be applied before it is told so, if that is known.
    pub(super) fn begin_sync(&mut self, conn: ConnId, step: &mut ServerStep<'_>) -> Option<Zxid> {
        if self.lead.is_none() {
            if self.config.deviates(Mutant::SyncWithoutLeader, step.out) {
                return Some(Zxid::ZERO);
            }
            self.ask(Ask::Sync { conn }, step);
            return None;
        }
        let sync = self.asked_sync(None, conn, step);
        let lead = self.lead.as_mut().expect("it was just seen to lead");
        if lead.is_confirmed(sync.round, &self.config.zab) {
            return Some(sync.after);
        }
        lead.push_sync(sync);
        None
    }

    /// A sync has come to this leader, which asks whom it has to.
    fn asked_sync(&mut self, link: Option<LinkId>, conn: ConnId, step: &mut ServerStep<'_>) -> AskedSync {
        let after = self.sync_point();
        let lead = self.lead.as_mut().expect("whoever takes a sync leads");
        let round = match self.config.syncs {
            Syncs::AsShipped => 0,
            Syncs::AskQuorum => lead.next_round(),
        };
        if round > 0 {
            for (link, _) in self.peer.serving_links() {
                step.out.push(Output::SendPeer { link, message: ToPeer::Answer(Answer::Asks { round }) });
            }
        }
        AskedSync { after, round, link, conn }
    }

    /// Asks again with each ping, as a learner that has come since was not asked.
    fn ask_again(&mut self, link: LinkId, step: &mut ServerStep<'_>) {
        if let Some(round) = self.lead.as_ref().and_then(Lead::open_round) {
            step.out.push(Output::SendPeer { link, message: ToPeer::Answer(Answer::Asks { round }) });
        }
    }

    /// Answers the syncs that wait for nothing behind `committed`, of which all commits were sent.
    fn answer_syncs(&mut self, committed: Zxid, clients: &mut Clients, step: &mut ServerStep<'_>) {
        let Some(lead) = &mut self.lead else { return };
        for AskedSync { after, link, conn, .. } in lead.due_syncs(committed, &self.config.zab) {
            match link {
                Some(link) => {
                    let message = ToPeer::Answer(Answer::Synced { conn });
                    step.out.push(Output::SendPeer { link, message });
                }
                None => clients.may_sync(conn, after, self.view(), step),
            }
        }
    }

    /// Asks the leader. Only called while this server learns.
    pub(super) fn ask(&mut self, ask: Ask, step: &mut ServerStep<'_>) {
        let link = self.peer.leader_link().expect("a learner that serves has a link");
        step.out.push(Output::SendPeer { link, message: ToPeer::Ask(ask) });
    }

    /// Notes that a session was heard of, and whether what came is to be looked at. The leader knows at once
    /// which sessions are ending, a learner only when they have ended.
    pub(super) fn touch(&mut self, session: SessionId, timeout_ms: u32) -> bool {
        match &mut self.lead {
            Some(lead) => lead.tracker.touch(session, timeout_ms),
            None => {
                self.touched.insert(session, timeout_ms);
                true
            }
        }
    }

    /// Whom this learner has heard of since it was last asked: the leader watches over all sessions.
    fn tell_touched(&mut self, link: LinkId, step: &mut ServerStep<'_>) {
        if self.is_learning() && !self.touched.is_empty() {
            let touched = std::mem::take(&mut self.touched);
            let observes = matches!(self.peer.role(), Role::Observing { .. });
            let sessions = self.config.touches_otherwise(touched, observes, step.out).into_iter().collect();
            step.out.push(Output::SendPeer { link, message: ToPeer::Ask(Ask::Touch { sessions }) });
        }
    }

    /// A learner asks something of this server, which may lead no more.
    pub(super) fn learner_asks(
        &mut self,
        link: LinkId,
        ask: Ask,
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) {
        let Some(lead) = &mut self.lead else { return };
        let serving = self.peer.serving_links();
        let Some((_, server)) = serving.into_iter().find(|(serving, _)| *serving == link) else { return };
        let place = Place::Learner(link);
        match ask {
            Ask::Open { session, password, timeout_ms } => {
                // An identifier is only offered once.
                if lead.sessions.find(session).is_none() {
                    self.open(place, session, (password, timeout_ms), clients, step);
                }
            }
            Ask::Attach { conn, session, password, timeout_ms } => {
                let valid = self.attach(place, session, (password, timeout_ms), step);
                if valid {
                    // A connection to the leader itself ends; one to another learner is not even told.
                    clients.close_of(session, step);
                }
                let answer = Answer::Attached { conn, valid };
                step.out.push(Output::SendPeer { link, message: ToPeer::Answer(answer) });
            }
            Ask::Write { session, xid, write } => self.write_for(link, session, xid, write, clients, step),
            Ask::Sync { conn } => {
                let sync = self.asked_sync(Some(link), conn, step);
                self.lead.as_mut().expect("it was just seen to lead").push_sync(sync);
                self.answer_syncs(self.peer.committed(), clients, step);
            }
            Ask::Follows { round } => {
                lead.follows(server, round);
                self.answer_syncs(self.peer.committed(), clients, step);
            }
            Ask::Touch { sessions } => {
                for (session, timeout_ms) in sessions {
                    lead.tracker.touch(session, timeout_ms);
                }
            }
        }
    }

    /// Opens a session at this leader, for a client that is at `place`.
    pub(super) fn open(
        &mut self,
        place: Place,
        session: SessionId,
        (password, timeout_ms): (Password, u32),
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) -> Option<Zxid> {
        let lead = self.lead.as_mut().expect("whoever opens a session leads");
        lead.tracker.track(session, timeout_ms);
        lead.owners.insert(session, place);
        self.propose(session, Xid(0), TxnBody::CreateSession { timeout_ms, password }, clients, step)
    }

    /// A client has come with a session to `place`: whether it is alive and the client's own, as this leader knows.
    pub(super) fn attach(
        &mut self,
        place: Place,
        session: SessionId,
        (password, timeout_ms): (Password, u32),
        step: &mut ServerStep<'_>,
    ) -> bool {
        let lead = self.lead.as_mut().expect("whoever tells whether a session lives leads");
        let compares = |found: &Session| {
            found.password == password
                || place != Place::Here && self.config.deviates(Mutant::PasswordNotCompared, step.out)
        };
        // A session that is closing is not touched: it is as good as dead.
        let valid =
            lead.sessions.find(session).is_some_and(compares) && lead.tracker.touch(session, timeout_ms);
        if valid {
            lead.owners.insert(session, place);
        }
        valid
    }

    /// Works out what a write does at this leader, and proposes it.
    pub(super) fn write(
        &mut self,
        caller: Caller<'_>,
        xid: Xid,
        request: &Request,
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) -> Option<Zxid> {
        let lead = self.lead.as_mut().expect("whoever prepares a write leads");
        let body = prepare(&lead.ahead, &self.config.tree, caller, request);
        let body = self.config.prepares_otherwise(&lead.ahead, &self.tree, caller, request, body, step.out);
        if *request == Request::CloseSession {
            lead.tracker.forget(caller.session);
        }
        self.propose(caller.session, xid, body, clients, step)
    }

    /// A learner's client writes.
    ///
    /// Source: ZooKeeper 3.9, `SessionTrackerImpl.checkSession`: what comes from where a session is not
    /// attached any more is refused, and takes a zxid. The end of a session counts wherever it comes from.
    fn write_for(
        &mut self,
        link: LinkId,
        session: SessionId,
        xid: Xid,
        write: ForwardedWrite,
        clients: &mut Clients,
        step: &mut ServerStep<'_>,
    ) {
        let closes = matches!(write, ForwardedWrite::Request { request: Request::CloseSession, .. });
        if closes && xid == Xid(0) && self.config.deviates(Mutant::LearnerExpires, step.out) {
            return self.expire(session, clients, step);
        }
        let Some(lead) = &mut self.lead else { return };
        let refused = if lead.sessions.find(session).is_none() {
            Some(ErrorCode::SessionExpired)
        } else if !closes
            && !lead.is_owned_by(session, Place::Learner(link))
            && !self.config.deviates(Mutant::MoveNotChecked, step.out)
        {
            Some(ErrorCode::SessionMoved)
        } else {
            None
        };
        let code = match (refused, write) {
            (None, ForwardedWrite::Request { request, identities }) => {
                let caller = Caller { session, identities: &identities };
                self.write(caller, xid, &request, clients, step);
                return;
            }
            (Some(code), _) | (None, ForwardedWrite::Malformed(code)) => code,
        };
        if closes {
            lead.tracker.forget(session);
        }
        self.propose(session, xid, TxnBody::Error(code), clients, step);
    }
}

//! Bytes of a trace: explicit, little-endian, the same on every machine and in every version of the compiler.

use crate::schedule::{Fault, Loss, Node, RequestKind, When};
use zk_api::{
    AclList, AddWatchMode, CreateMode, Data, ErrorCode, EventType, Identity, KeeperState, MultiOutcome, Op,
    OpResult, ReadOp, Request, Response, SessionId, Stat, WatchedEvent, WatcherKind, Zxid,
};
use zk_proto::message::{ToClient, ToServer, WatchList};
use zk_trials::event::{ActorId, End, Fact, Observation, Resource};

/// A buffer that values are written to, one after the other.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn byte(&mut self, v: u8) {
        self.0.push(v);
    }

    pub fn u32(&mut self, v: u32) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }

    pub fn i32(&mut self, v: i32) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }

    pub fn u64(&mut self, v: u64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }

    pub fn i64(&mut self, v: i64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }

    pub fn zxid(&mut self, v: Zxid) {
        self.i64(v.to_i64());
    }

    pub fn session(&mut self, v: SessionId) {
        self.i64(v.get());
    }

    pub fn text(&mut self, v: &str) {
        self.u32(v.len() as u32);
        self.0.extend_from_slice(v.as_bytes());
    }

    /// A count, then the values.
    fn list<T>(&mut self, values: &[T], one: impl Fn(&mut Bytes, &T)) {
        self.u32(values.len() as u32);
        for value in values {
            one(self, value);
        }
    }

    /// Whether there is one, then the value.
    fn option<T>(&mut self, value: Option<&T>, one: impl FnOnce(&mut Bytes, &T)) {
        self.byte(value.is_some().into());
        if let Some(value) = value {
            one(self, value);
        }
    }

    pub fn data(&mut self, v: &Data) {
        self.byte(v.is_null().into());
        self.u32(v.bytes().len() as u32);
        self.0.extend_from_slice(v.bytes());
    }

    fn acl(&mut self, v: &AclList) {
        self.list(v, |b, acl| {
            b.byte(acl.perms.0);
            b.identity(&acl.who);
        });
    }

    fn identity(&mut self, v: &Identity) {
        self.text(&v.scheme);
        self.text(&v.id);
    }

    fn mode(&mut self, v: CreateMode) {
        self.byte(match v {
            CreateMode::Persistent => 0,
            CreateMode::Ephemeral => 1,
            CreateMode::PersistentSequential => 2,
            CreateMode::EphemeralSequential => 3,
            CreateMode::Container => 4,
            CreateMode::PersistentTtl(_) => 5,
            CreateMode::PersistentSequentialTtl(_) => 6,
        });
        self.i64(v.ttl_ms().unwrap_or(0));
    }

    pub fn stat(&mut self, v: &Stat) {
        let v = v.fields();
        for zxid in [v.czxid, v.mzxid, v.pzxid] {
            self.zxid(zxid);
        }
        self.i64(v.ctime_ms);
        self.i64(v.mtime_ms);
        for version in [v.version, v.cversion, v.aversion] {
            self.i32(version);
        }
        self.session(v.ephemeral_owner);
        self.u32(v.data_length);
        self.u32(v.num_children);
    }

    fn code(&mut self, v: ErrorCode) {
        self.i32(v.to_i32());
    }

    fn create(&mut self, path: &str, data: &Data, acl: &AclList, mode: CreateMode, stat: bool) {
        self.text(path);
        self.data(data);
        self.acl(acl);
        self.mode(mode);
        self.byte(stat.into());
    }

    fn op(&mut self, v: &Op) {
        match v {
            Op::Create { path, data, acl, mode, stat } => {
                self.byte(0);
                self.create(path, data, acl, *mode, *stat);
            }
            Op::Delete { path, version } => self.versioned(1, path, *version),
            Op::SetData { path, data, version } => {
                self.versioned(2, path, *version);
                self.data(data);
            }
            Op::Check { path, version } => self.versioned(3, path, *version),
        }
    }

    fn versioned(&mut self, tag: u8, path: &str, version: i32) {
        self.byte(tag);
        self.text(path);
        self.i32(version);
    }

    fn flagged(&mut self, tag: u8, path: &str, flags: u8) {
        self.byte(tag);
        self.text(path);
        self.byte(flags);
    }

    pub fn request(&mut self, v: &Request) {
        match v {
            Request::Create { path, data, acl, mode, stat } => {
                self.byte(0);
                self.create(path, data, acl, *mode, *stat);
            }
            Request::Delete { path, version } => self.versioned(1, path, *version),
            Request::Exists { path, watch } => self.flagged(2, path, (*watch).into()),
            Request::GetData { path, watch } => self.flagged(3, path, (*watch).into()),
            Request::SetData { path, data, version } => {
                self.versioned(4, path, *version);
                self.data(data);
            }
            Request::GetChildren { path, watch, stat } => {
                self.flagged(5, path, u8::from(*watch) | u8::from(*stat) << 1);
            }
            Request::GetAcl { path } => self.flagged(6, path, 0),
            Request::SetAcl { path, acl, version } => {
                self.versioned(7, path, *version);
                self.acl(acl);
            }
            Request::Sync { path } => self.flagged(8, path, 0),
            Request::Multi { ops } => {
                self.byte(9);
                self.list(ops, Bytes::op);
            }
            Request::MultiRead { ops } => {
                self.byte(10);
                self.list(ops, |b, op| match op {
                    ReadOp::GetData { path } => b.flagged(0, path, 0),
                    ReadOp::GetChildren { path } => b.flagged(1, path, 0),
                });
            }
            Request::AddWatch { path, mode } => self.flagged(11, path, watch_mode(*mode)),
            Request::RemoveWatches { path, kind } => self.flagged(12, path, watcher_kind(*kind)),
            Request::CheckWatches { path, kind } => self.flagged(13, path, watcher_kind(*kind)),
            Request::GetEphemerals { prefix } => self.flagged(14, prefix, 0),
            Request::GetAllChildrenNumber { path } => self.flagged(15, path, 0),
            Request::WhoAmI => self.byte(16),
            Request::Auth { scheme, credentials } => {
                self.flagged(17, scheme, 0);
                self.data(credentials);
            }
            Request::CloseSession => self.byte(18),
        }
    }

    pub fn response(&mut self, v: &Response) {
        match v {
            Response::Created { path, stat } => {
                self.flagged(0, path, 0);
                self.option(stat.as_ref(), Bytes::stat);
            }
            Response::Deleted => self.byte(1),
            Response::Exists(stat) => {
                self.byte(2);
                self.option(stat.as_ref(), Bytes::stat);
            }
            Response::Data { data, stat } => {
                self.byte(3);
                self.data(data);
                self.stat(stat);
            }
            Response::DataSet(stat) => {
                self.byte(4);
                self.stat(stat);
            }
            Response::Children { names, stat } => {
                self.byte(5);
                self.list(names, |b, name| b.text(name));
                self.option(stat.as_ref(), Bytes::stat);
            }
            Response::Acl { acl, stat } => {
                self.byte(6);
                self.acl(acl);
                self.stat(stat);
            }
            Response::AclSet(stat) => {
                self.byte(7);
                self.stat(stat);
            }
            Response::Synced { path } => self.flagged(8, path, 0),
            Response::Multi(outcome) => self.multi(outcome),
            Response::MultiRead(outcomes) => {
                self.byte(10);
                self.list(outcomes, Bytes::result);
            }
            Response::WatchAdded => self.byte(11),
            Response::WatchesRemoved => self.byte(12),
            Response::WatchesPresent => self.byte(13),
            Response::Ephemerals(paths) => {
                self.byte(14);
                self.list(paths, |b, path| b.text(path));
            }
            Response::AllChildrenNumber(n) => {
                self.byte(15);
                self.u32(*n);
            }
            Response::WhoAmI(identities) => {
                self.byte(16);
                self.list(identities, Bytes::identity);
            }
            Response::Authenticated => self.byte(17),
            Response::Closed => self.byte(18),
        }
    }

    fn multi(&mut self, v: &MultiOutcome) {
        self.byte(9);
        match v {
            MultiOutcome::Applied(results) => {
                self.byte(0);
                self.list(results, |b, result| match result {
                    OpResult::Created { path, stat } => {
                        b.flagged(0, path, 0);
                        b.option(stat.as_ref(), Bytes::stat);
                    }
                    OpResult::Deleted => b.byte(1),
                    OpResult::DataSet(stat) => {
                        b.byte(2);
                        b.stat(stat);
                    }
                    OpResult::Checked => b.byte(3),
                });
            }
            MultiOutcome::Failed(codes) => {
                self.byte(1);
                self.list(codes, |b, code| b.option(code.as_ref(), |b, code| b.code(*code)));
            }
        }
    }

    pub fn result(&mut self, v: &Result<Response, ErrorCode>) {
        match v {
            Ok(response) => {
                self.byte(0);
                self.response(response);
            }
            Err(code) => {
                self.byte(1);
                self.code(*code);
            }
        }
    }

    pub fn event(&mut self, v: &WatchedEvent) {
        self.byte(event_type(v.kind));
        self.byte(keeper_state(v.state));
        self.text(&v.path);
    }

    pub fn request_message(&mut self, v: &ToServer) {
        match v {
            ToServer::Connect(connect) => {
                self.byte(0);
                self.zxid(connect.last_zxid);
                self.u32(connect.timeout_ms);
                self.session(connect.session);
            }
            ToServer::Request { xid, request } => {
                self.byte(1);
                self.i32(xid.0);
                self.request(request);
            }
            ToServer::SetWatches { since, watches } => {
                self.byte(2);
                self.zxid(*since);
                self.watches(watches);
            }
            ToServer::Ping => self.byte(3),
        }
    }

    fn watches(&mut self, v: &WatchList) {
        for list in [&v.data, &v.exist, &v.child, &v.persistent, &v.recursive] {
            self.list(list, |b, path| b.text(path));
        }
    }

    pub fn answer_message(&mut self, v: &ToClient) {
        match v {
            ToClient::Connected(connected) => {
                self.byte(0);
                self.u32(connected.timeout_ms);
                self.session(connected.session);
            }
            ToClient::Reply { xid, zxid, result } => {
                self.byte(1);
                self.i32(xid.0);
                self.zxid(*zxid);
                self.result(result);
            }
            ToClient::WatchesSet { zxid } => {
                self.byte(2);
                self.zxid(*zxid);
            }
            ToClient::Pong { zxid } => {
                self.byte(3);
                self.zxid(*zxid);
            }
            ToClient::Event { zxid, event } => {
                self.byte(4);
                self.zxid(zxid.unwrap_or(Zxid::ZERO));
                self.event(event);
            }
        }
    }

    /// In one byte, or two from 128 on: seven bits each, the lowest first, and a set eighth bit says that there is another.
    fn process(&mut self, v: u16) {
        let mut rest = v;
        while rest >= 0x80 {
            self.byte(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.byte(rest as u8);
    }

    pub fn actor(&mut self, v: ActorId) {
        self.process(v.process);
        self.byte(v.life);
        // No life is the last of 256 and said so: what it is a mark of comes behind it.
        if v.thread > 0 {
            self.byte(u8::MAX);
            self.byte(v.thread);
        }
    }

    pub fn observation(&mut self, v: &Observation) {
        match v {
            Observation::Attempts { lock } => self.flagged(0, lock, 0),
            Observation::Granted { lock, node, token } => {
                self.flagged(1, lock, 0);
                self.text(node);
                self.option(token.as_ref(), |b, token| b.zxid(*token));
            }
            Observation::Enters { lock } => self.flagged(2, lock, 0),
            Observation::Leaves { lock } => self.flagged(3, lock, 0),
            Observation::Released { lock } => self.flagged(4, lock, 0),
            Observation::GivesUp { lock, why } => {
                self.flagged(5, lock, 0);
                self.text(why);
            }
            Observation::Notes { what, about, number } => self.note(6, what, about, *number),
            Observation::Shares { lock, node, token } => {
                self.flagged(7, lock, 0);
                self.text(node);
                self.option(token.as_ref(), |b, token| b.zxid(*token));
            }
            Observation::Begins { what, about, number } => self.note(8, what, about, *number),
            Observation::Ends { what, about, number } => self.note(9, what, about, *number),
        }
    }

    fn note(&mut self, kind: u8, what: &str, about: &str, number: i64) {
        self.flagged(kind, what, 0);
        self.text(about);
        self.i64(number);
    }

    pub fn fact(&mut self, v: &Fact) {
        match v {
            Fact::SessionOpened { session, actor } => self.session_of(0, *session, *actor, 0),
            Fact::SessionClosed { session, actor, expired } => {
                self.session_of(1, *session, *actor, (*expired).into());
            }
            Fact::NodeCreated { path, by, owner, czxid } => {
                self.flagged(2, path, 0);
                self.session(*by);
                self.session(*owner);
                self.zxid(*czxid);
            }
            // Its zxid is that of the transaction, which is told already.
            Fact::NodeDeleted { path, by, owner, zxid: _ } => {
                self.flagged(3, path, 0);
                self.session(*by);
                self.session(*owner);
            }
            Fact::Fired { path, kind, woken } => {
                self.flagged(4, path, event_type(*kind));
                self.list(woken, |b, actor| b.actor(*actor));
            }
            Fact::Disconnected { actor } => self.tagged_actor(5, *actor),
            Fact::Connected { actor } => self.tagged_actor(6, *actor),
            Fact::LearnsExpiry { actor } => self.tagged_actor(7, *actor),
            Fact::Crashed { actor } => self.tagged_actor(8, *actor),
            Fact::Paused { actor } => self.tagged_actor(9, *actor),
            Fact::Resumed { actor } => self.tagged_actor(10, *actor),
            Fact::Wrote { resource, actor, token, accepted } => {
                self.tagged_actor(11, *actor);
                self.byte(match resource {
                    Resource::Unfenced => 0,
                    Resource::Fenced => 1,
                    Resource::FencedShared => 2,
                });
                self.option(token.as_ref(), |b, token| b.zxid(*token));
                self.byte((*accepted).into());
            }
            // Its owner was told with its creation.
            Fact::NodeWritten { path, by, owner: _, data, mzxid } => {
                self.flagged(13, path, 0);
                self.session(*by);
                self.data(data);
                self.zxid(*mzxid);
            }
            Fact::Finished { actor, end } => {
                self.tagged_actor(12, *actor);
                self.byte(match end {
                    End::Done => 0,
                    End::SessionLost => 1,
                    End::Failed => 2,
                });
            }
        }
    }

    pub fn fault(&mut self, v: &Fault) {
        match *v {
            Fault::ServerCrash { server, down_ms, mid_sync } => {
                self.fault_at(0, server, &[down_ms, mid_sync.into()]);
            }
            Fault::SlowSync { server, sync_ms, for_ms } => self.fault_at(1, server, &[sync_ms, for_ms]),
            Fault::Drop { client, when, what } => {
                let (what, for_ms) = match what {
                    Loss::RequestsLost => (0, 0),
                    Loss::AnswersLost => (1, 0),
                    Loss::InFlight { for_ms } => (2, for_ms),
                    Loss::Silence => (3, 0),
                };
                self.fault_at(2, client, &[when_number(when), what, for_ms]);
            }
            Fault::SlowLink { client, factor, for_ms } => {
                self.fault_at(3, client, &[factor.into(), for_ms]);
            }
            Fault::Expire { client } => self.fault_at(4, client, &[]),
            Fault::ExpireOwner { reader } => self.fault_at(5, reader, &[]),
            Fault::ClientCrash { client, when, restart_after_ms } => {
                self.fault_at(6, client, &[when_number(when), restart_after_ms]);
            }
            Fault::ClientPause { client, when, for_ms } => {
                self.fault_at(7, client, &[when_number(when), for_ms]);
            }
            Fault::ClockSkew { node: Node::Server(id), permille } => self.fault_at(8, id, &[permille as u64]),
            Fault::ClockSkew { node: Node::Client(id), permille } => self.fault_at(9, id, &[permille as u64]),
            Fault::ClockJump { node: Node::Server(id), by_ms } => self.fault_at(10, id, &[by_ms as u64]),
            Fault::ClockJump { node: Node::Client(id), by_ms } => self.fault_at(11, id, &[by_ms as u64]),
            Fault::LeaderCrash { down_ms, mid_sync } => {
                self.fault_at(12, 0u8, &[down_ms, mid_sync.into()]);
            }
            Fault::Partition { ref cut, for_ms } => {
                self.fault_at(13, 0u8, &[for_ms]);
                self.list(cut, |b, [from, to]| {
                    b.byte(*from);
                    b.byte(*to);
                });
            }
            Fault::ServerPause { server, for_ms } => self.fault_at(14, server, &[for_ms]),
            Fault::LeaderPause { for_ms } => self.fault_at(15, 0u8, &[for_ms]),
            Fault::ServerLag { server, factor, for_ms } => {
                self.fault_at(16, server, &[factor.into(), for_ms]);
            }
            Fault::LinkBreak { between: [a, b] } => self.fault_at(17, a, &[b.into()]),
            Fault::DiskRot { server, file, at_permille, bytes, spares, down_ms } => {
                let place = [file.into(), at_permille.into(), bytes.into(), spares.into(), down_ms];
                self.fault_at(18, server, &place);
            }
            Fault::DiskError { server, down_ms } => self.fault_at(19, server, &[down_ms]),
            Fault::DiskFull { server, for_ms, down_ms } => self.fault_at(20, server, &[for_ms, down_ms]),
            Fault::Stranger { client, server } => self.fault_at(21, client, &[server.into()]),
            Fault::AdminDelete { client, when } => self.fault_at(32, client, &[when_number(when)]),
            Fault::AdminWrite { client, when, ref data } => {
                self.fault_at(33, client, &[when_number(when)]);
                self.text(data);
            }
        }
    }

    fn fault_at(&mut self, tag: u8, node: impl Into<u16>, values: &[u64]) {
        self.byte(tag);
        self.process(node.into());
        values.iter().for_each(|value| self.u64(*value));
    }

    fn tagged_actor(&mut self, tag: u8, actor: ActorId) {
        self.byte(tag);
        self.actor(actor);
    }

    fn session_of(&mut self, tag: u8, session: SessionId, actor: ActorId, flag: u8) {
        self.tagged_actor(tag, actor);
        self.session(session);
        self.byte(flag);
    }
}

fn when_number(v: When) -> u64 {
    match v {
        When::Now => 0,
        When::NextRequest(RequestKind::Any) => 1,
        When::NextRequest(RequestKind::Create) => 2,
        When::NextRequest(RequestKind::Delete) => 3,
        When::NextRequest(RequestKind::Read) => 4,
        When::NextGrant => 5,
        When::NextWork => 6,
    }
}

fn watch_mode(v: AddWatchMode) -> u8 {
    match v {
        AddWatchMode::Persistent => 0,
        AddWatchMode::PersistentRecursive => 1,
    }
}

fn watcher_kind(v: WatcherKind) -> u8 {
    match v {
        WatcherKind::Children => 1,
        WatcherKind::Data => 2,
        WatcherKind::Any => 3,
        WatcherKind::Persistent => 4,
        WatcherKind::PersistentRecursive => 5,
    }
}

fn event_type(v: EventType) -> u8 {
    match v {
        EventType::None => 0,
        EventType::NodeCreated => 1,
        EventType::NodeDeleted => 2,
        EventType::NodeDataChanged => 3,
        EventType::NodeChildrenChanged => 4,
    }
}

/// The byte of a session's state.
pub fn keeper_state(v: KeeperState) -> u8 {
    match v {
        KeeperState::Disconnected => 0,
        KeeperState::SyncConnected => 1,
        KeeperState::AuthFailed => 2,
        KeeperState::Expired => 3,
        KeeperState::Closed => 4,
    }
}

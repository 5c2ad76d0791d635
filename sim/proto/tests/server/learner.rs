//! What servers of an ensemble do with sessions that come to them, with a hand on what comes over each link and on each
//! disk.

use crate::server::facts::{again, create, exists, new_session};
use crate::server::rig::{Rig, TICK_MS, config};
use std::collections::{BTreeSet, VecDeque};
use zk_api::{CreateMode, ErrorCode, Request, Response, SessionId};
use zk_cluster::cluster::{Cluster, Host};
use zk_cluster::disk::Disk;
use zk_proto::disk::{FileId, Files};
use zk_proto::message::{
    Answer, Ask, ConnId, ConnectRequest, ConnectResponse, ToClient, ToPeer, ToServer, Xid,
};
use zk_proto::server::{Event, Input, Output, ServerConfig, ServerId, Syncs, Timer};
use zk_proto::zab::PeerConfig;
use zk_proto::zab::message::{LinkId, Packet};

struct Several {
    /// The timers of each are set, and fire when nothing else is left.
    cluster: Cluster<BTreeSet<Timer>, (), ()>,
    /// What is on its way to each server, first in, first out.
    over: Vec<VecDeque<(LinkId, ToPeer)>>,
    /// What each connection was sent.
    sent: Vec<(ConnId, ToClient)>,
    now_ms: i64,
}

/// A leader, and its observer.
const PAIR: (u8, u8) = (1, 1);
const LEADER: usize = 0;
const OBSERVER: usize = 1;

impl Several {
    /// So many voters and observers, and all serve.
    fn serving(count: (u8, u8)) -> Several {
        Several::serving_from(count, &config(), [])
    }

    /// The same, each set up like this, and with this on their disks.
    fn serving_from(
        (voters, observers): (u8, u8),
        like: &ServerConfig,
        disks: impl IntoIterator<Item = Files>,
    ) -> Several {
        let count = voters + observers;
        let config = |id| {
            let (voters, observers) = ((0..voters).map(ServerId), (voters..count).map(ServerId));
            let peer = PeerConfig::for_server(ServerId(id), voters, observers, TICK_MS);
            ServerConfig { zab: peer, ..like.clone() }
        };
        let cluster = Cluster::new((0..count).map(|id| Host::new(config(id), BTreeSet::new())));
        let over = vec![VecDeque::new(); usize::from(count)];
        let mut several = Several { cluster, over, sent: Vec::new(), now_ms: 0 };
        for (host, files) in several.cluster.hosts.iter_mut().zip(disks) {
            host.disk = Disk::with(files);
        }
        let mut out = Vec::new();
        for host in &mut several.cluster.hosts {
            out.push(host.start(0).expect("a good disk").1);
        }
        for (who, wanted) in out.into_iter().enumerate() {
            several.wanted(who, wanted);
        }
        for _ in 0..1000 {
            several.settle();
            if several
                .cluster
                .hosts
                .iter_mut()
                .all(|host| host.serves_anew() == Some(true) || host.is_serving)
            {
                return several;
            }
            several.now_ms += i64::from(TICK_MS);
            for who in 0..several.over.len() {
                for timer in std::mem::take(&mut several.cluster.hosts[who].own) {
                    several.step(who, Event::Timer(timer));
                }
            }
        }
        panic!("they do not come to serve");
    }

    /// Who leads.
    fn leader(&self) -> usize {
        self.cluster.leader().expect("somebody leads").0.into()
    }

    fn step(&mut self, who: usize, event: Event) {
        let mut out = Vec::new();
        let server = self.cluster.hosts[who].server.as_mut().expect("nobody crashes here");
        server.step(Input { now_ms: self.now_ms, event }, &mut out);
        self.wanted(who, out);
    }

    fn wanted(&mut self, who: usize, out: Vec<Output>) {
        let from = ServerId(who as u8);
        for output in out {
            match output {
                Output::Send { conn, message } => self.sent.push((conn, message)),
                Output::Disk(op) => self.cluster.hosts[who].disk.ask(op),
                Output::Notify { to, notification } => {
                    self.step(usize::from(to.0), Event::Notified { from, notification });
                }
                Output::SendPeer { link, message } => {
                    let to = self.cluster.other_end(from.0, link).expect("a link has two ends");
                    self.over[usize::from(to)].push_back((link, message));
                }
                Output::Dial { to } => {
                    let link = self.cluster.dialled(from.0, to.0).expect("nothing is in the way");
                    self.step(usize::from(to.0), Event::Accepted { link, from });
                    self.step(who, Event::Dialled { link, to });
                }
                Output::Hang { link } => {
                    let to = self.cluster.other_end(from.0, link).expect("a link has two ends");
                    self.step(usize::from(to), Event::Unlinked { link });
                }
                Output::SetTimer { timer, .. } => {
                    self.cluster.hosts[who].own.insert(timer);
                }
                Output::Close { .. } | Output::Note(_) => {}
            }
        }
    }

    /// The oldest message over the link arrives. False if there is none.
    fn carry(&mut self, to: usize) -> bool {
        let Some((link, message)) = self.over[to].pop_front() else { return false };
        self.step(to, Event::FromPeer { link, message });
        true
    }

    fn sync(&mut self, who: usize) -> bool {
        let disk = &mut self.cluster.hosts[who].disk;
        let Some((file, ticket)) = disk.tickets().next() else { return false };
        disk.done(file, ticket);
        self.step(who, Event::Synced { file, ticket });
        true
    }

    fn settle(&mut self) {
        while (0..self.over.len()).any(|who| self.sync(who) || self.carry(who)) {}
    }

    /// Everything but what one server is told, and what its disk does.
    fn settle_but_for(&mut self, one: usize) {
        while (0..self.over.len()).any(|who| who != one && (self.sync(who) || self.carry(who))) {}
    }

    fn connect(&mut self, who: usize, conn: u64, request: ConnectRequest) {
        let offer = (SessionId::new(0x76 + conn as i64), [7; 16]);
        self.step(who, Event::Connecting { conn: ConnId(conn), request, offer, address: None });
    }

    fn ask(&mut self, who: usize, conn: u64, xid: i32, request: Request) {
        let message = ToServer::Request { xid: Xid(xid), request };
        self.step(who, Event::Received { conn: ConnId(conn), message });
    }

    fn connected(&self, conn: u64) -> Option<ConnectResponse> {
        self.sent.iter().find_map(|(to, message)| match message {
            ToClient::Connected(response) if *to == ConnId(conn) => Some(response.clone()),
            _ => None,
        })
    }

    /// The answers on a connection, by xid.
    fn answers(&self, conn: u64) -> Vec<(i32, Result<Response, ErrorCode>)> {
        let answers = self.sent.iter().filter_map(|(to, message)| match message {
            ToClient::Reply { xid, result, .. } if *to == ConnId(conn) => Some((xid.0, result.clone())),
            _ => None,
        });
        answers.collect()
    }
}

fn sync() -> Request {
    Request::Sync { path: "/".into() }
}

/// First seen as `session-fifo` under seed 305597 of suite/everything.toml: the client was let in before its leader
/// knew of that, wrote, moved on and wrote again; then the leader heard that the session was at the observer, and took
/// the first write behind the second.
#[test]
fn who_comes_before_the_news_of_its_own_session_waits_for_the_leader_all_the_same() {
    let mut pair = Several::serving(PAIR);
    pair.connect(LEADER, 1, new_session(10_000));
    pair.settle_but_for(OBSERVER);
    let granted = pair.connected(1).expect("the leader has opened it");
    pair.connect(OBSERVER, 2, again(&granted));
    let asks = |(_, message): &(LinkId, ToPeer)| matches!(message, ToPeer::Ask(Ask::Attach { .. }));
    assert!(pair.over[LEADER].iter().any(asks), "the leader is asked");
    let opens = |(_, message): &(LinkId, ToPeer)| matches!(message, ToPeer::Zab(Packet::Inform(txn)) if txn.session == granted.session);
    assert!(pair.over[OBSERVER].iter().any(opens), "the news of the session is on its way");
    while pair.carry(OBSERVER) || pair.sync(OBSERVER) {}
    assert_eq!(pair.connected(2), None, "let in before the leader said so");
    pair.settle();
    assert_eq!(pair.connected(2).map(|response| response.session), Some(granted.session));
    pair.ask(OBSERVER, 2, 1, create("/a", CreateMode::Persistent));
    pair.settle();
    assert!(matches!(pair.sent.last(), Some((ConnId(2), ToClient::Reply { result: Ok(_), .. }))));
}

/// First seen as `session-fifo` under seed 409 of `run requests`, suite/ensemble.toml: its write was on the disks of
/// others, and stood; what it asked next was answered from before it.
#[test]
fn who_comes_back_to_a_leader_waits_for_what_the_leaders_own_disk_has_not_written() {
    let mut three = Several::serving((3, 0));
    let leader = three.leader();
    three.connect(leader, 1, new_session(10_000));
    three.settle();
    let granted = three.connected(1).expect("the leader has opened it");
    three.ask(leader, 1, 1, create("/a", CreateMode::Persistent));
    three.settle_but_for(leader);
    // They have written it, and say so.
    while three.carry(leader) {}
    three.connect(leader, 2, again(&granted));
    three.ask(leader, 2, 1, exists("/a", false));
    let read = |three: &Several| {
        three.sent.iter().find_map(|(conn, message)| match message {
            ToClient::Reply { result, .. } if *conn == ConnId(2) => Some(result.clone()),
            _ => None,
        })
    };
    assert!(three.connected(2).is_some() && read(&three).is_none(), "{:?}", three.sent);
    three.settle();
    assert!(matches!(read(&three), Some(Ok(Response::Exists(Some(_))))), "{:?}", three.sent);
}

#[test]
fn a_request_that_cannot_be_read_is_not_answered_with_what_the_former_place_is_refused() {
    let mut pair = Several::serving(PAIR);
    pair.connect(OBSERVER, 1, new_session(10_000));
    pair.settle();
    let granted = pair.connected(1).expect("the leader has opened it");
    // On its way while the session moves, so it comes from where the session is not any more.
    pair.ask(OBSERVER, 1, 1, create("/a", CreateMode::Persistent));
    pair.connect(LEADER, 2, again(&granted));
    while pair.carry(LEADER) {}
    let (conn, xid, code) = (ConnId(2), Xid(2), ErrorCode::BadArguments);
    pair.step(LEADER, Event::Refused { conn, xid, code, takes_zxid: true });
    assert!(pair.answers(2).is_empty(), "neither is on the disk");
    pair.settle();
    assert!(matches!(pair.answers(2)[..], [(2, Err(ErrorCode::BadArguments))]), "{:?}", pair.sent);
}

#[test]
fn who_moves_from_the_leader_to_a_learner_is_listened_to_there_alone() {
    let mut pair = Several::serving(PAIR);
    pair.connect(LEADER, 1, new_session(10_000));
    pair.settle();
    let granted = pair.connected(1).expect("the leader has opened it");
    pair.connect(OBSERVER, 2, again(&granted));
    pair.settle();
    assert_eq!(pair.connected(2).map(|response| response.session), Some(granted.session));
    pair.ask(LEADER, 1, 1, exists("/a", false));
    pair.ask(OBSERVER, 2, 2, exists("/a", false));
    pair.settle();
    assert!(pair.answers(1).is_empty(), "the leader has closed its connection: {:?}", pair.sent);
    assert!(matches!(pair.answers(2)[..], [(2, Ok(Response::Exists(None)))]), "{:?}", pair.sent);
}

#[test]
fn who_has_only_linked_and_not_joined_asks_a_leader_in_vain() {
    let mut pair = Several::serving(PAIR);
    let link = pair.cluster.dialled(1, 0).expect("nothing is in the way");
    pair.step(LEADER, Event::Accepted { link, from: ServerId(1) });
    let session = SessionId::new(0x500);
    let ask = Ask::Open { session, password: [7; 16], timeout_ms: 10_000 };
    pair.step(LEADER, Event::FromPeer { link, message: ToPeer::Ask(ask) });
    pair.settle();
    let server = pair.cluster.hosts[LEADER].server.as_ref().expect("nobody crashes here");
    assert_eq!(server.sessions().find(session), None);
}

#[test]
fn nothing_is_answered_behind_the_end_of_a_session() {
    let mut three = Several::serving((3, 0));
    let leader = three.leader();
    let follower = (leader + 1) % 3;
    three.connect(follower, 1, new_session(10_000));
    three.settle();
    let session = three.connected(1).expect("the leader has opened it").session;
    three.step(leader, Event::Expire { session });
    three.ask(follower, 1, 1, sync());
    three.settle_but_for(follower);
    let synced = |(_, message): &(LinkId, ToPeer)| matches!(message, ToPeer::Answer(Answer::Synced { .. }));
    assert!(three.over[follower].iter().any(synced), "its leader has answered");
    // It hears that the session's end stands, and waits for just that, before its disk has written it.
    while three.carry(follower) {}
    assert!(three.answers(1).is_empty(), "{:?}", three.sent);
    three.settle();
    assert!(three.answers(1).is_empty(), "{:?}", three.sent);
}

fn asking_a_quorum() -> ServerConfig {
    ServerConfig { syncs: Syncs::AskQuorum, ..config() }
}

#[test]
fn a_leader_that_asks_its_quorum_does_so_as_the_sync_comes() {
    let mut two = Several::serving_from((2, 0), &asking_a_quorum(), []);
    let leader = two.leader();
    two.connect(leader, 1, new_session(10_000));
    two.settle();
    two.ask(leader, 1, 1, sync());
    assert!(two.answers(1).is_empty(), "nobody was heard yet");
    // No timer fires: there is no ping with which it asks again.
    two.settle();
    assert!(matches!(two.answers(1)[..], [(1, Ok(Response::Synced { .. }))]), "{:?}", two.sent);
}

#[test]
fn a_leader_as_shipped_asks_nobody() {
    let mut two = Several::serving_from((2, 0), &config(), []);
    let leader = two.leader();
    two.connect(leader, 1, new_session(10_000));
    two.settle();
    two.ask(leader, 1, 1, sync());
    assert!(matches!(two.answers(1)[..], [(1, Ok(Response::Synced { .. }))]), "{:?}", two.sent);
}

#[test]
fn an_observer_that_follows_does_not_answer_for_a_voter() {
    let mut three = Several::serving_from((2, 1), &asking_a_quorum(), []);
    let leader = three.leader();
    let voter = 1 - leader;
    three.connect(leader, 1, new_session(10_000));
    three.settle();
    three.ask(leader, 1, 1, sync());
    three.settle_but_for(voter);
    assert!(three.answers(1).is_empty(), "the other voter was not heard yet");
    three.settle();
    assert!(matches!(three.answers(1)[..], [(1, Ok(Response::Synced { .. }))]), "{:?}", three.sent);
}

#[test]
fn a_snapshot_of_the_leader_makes_older_ones_needless() {
    let busy = ServerConfig { snapshot_every: 3, snapshots_kept: 1, ..config() };
    let mut rig = Rig::serving(busy.clone());
    let client = rig.connected(10_000);
    let mut disks = Vec::new();
    for n in 0..12 {
        rig.call(client, create(&format!("/n-{n}"), CreateMode::Persistent)).unwrap();
        rig.advance(100);
        disks.push(rig.disk.files());
    }
    let snapshots = |files: &Files| -> Vec<FileId> {
        files.keys().copied().filter(|file| matches!(file, FileId::Snapshot(_))).collect()
    };
    // What comes behind the old one is not in the leader's log any more.
    let (old, new) = (disks[5].clone(), disks[11].clone());
    assert!(snapshots(&old).len() == 1 && snapshots(&old) < snapshots(&new));
    let pair = Several::serving_from(PAIR, &busy, [new, old.clone()]);
    let observer = &pair.cluster.hosts[OBSERVER];
    assert!(observer.server.as_ref().is_some_and(|server| server.tree().node("/n-11").is_some()));
    let kept = snapshots(&observer.disk.files());
    assert!(kept.len() == 1 && kept > snapshots(&old), "{kept:?}");
}

/// As in ZooKeeper, where the table of them ends with the server that a leader has made of a peer.
#[test]
fn who_loses_its_leader_forgets_whom_it_has_heard_of() {
    let mut pair = Several::serving(PAIR);
    pair.connect(OBSERVER, 1, new_session(10_000));
    pair.settle();
    pair.ask(OBSERVER, 1, 1, exists("/a", false));
    pair.settle();
    let [link] = pair.cluster.links.of(ServerId(1))[..] else { panic!("they have one link") };
    [LEADER, OBSERVER].into_iter().for_each(|who| pair.step(who, Event::Unlinked { link }));
    let touches = |(_, message): &(LinkId, ToPeer)| matches!(message, ToPeer::Ask(Ask::Touch { .. }));
    for _ in 0..20 {
        while (0..2).any(|who| pair.sync(who) || pair.carry(who)) {
            assert!(!pair.over[LEADER].iter().any(touches), "its client has come nowhere since");
        }
        pair.now_ms += i64::from(TICK_MS);
        for who in [LEADER, OBSERVER] {
            for timer in std::mem::take(&mut pair.cluster.hosts[who].own) {
                pair.step(who, Event::Timer(timer));
            }
        }
    }
    let server = pair.cluster.hosts[OBSERVER].server.as_ref().expect("nobody crashes here");
    assert!(server.is_serving() && pair.cluster.links.of(ServerId(1)).len() == 2, "it follows again");
}

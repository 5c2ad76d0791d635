//! What servers of an ensemble do with sessions that come to them, with a hand on what comes over each link and on each disk.

use crate::facts::{again, create, exists, new_session};
use crate::rig::{TICK_MS, config};
use std::collections::{BTreeSet, VecDeque};
use zk_api::{CreateMode, Request, Response, SessionId};
use zk_cluster::cluster::{Cluster, Host};
use zk_proto::message::{Ask, ConnId, ConnectRequest, ConnectResponse, ToClient, ToPeer, ToServer, Xid};
use zk_proto::server::{Event, Input, Output, ServerConfig, ServerId, Timer};
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
    fn serving((voters, observers): (u8, u8)) -> Several {
        let count = voters + observers;
        let config = |id| {
            let (voters, observers) = ((0..voters).map(ServerId), (voters..count).map(ServerId));
            let peer = PeerConfig::for_server(ServerId(id), voters, observers, TICK_MS);
            ServerConfig { zab: peer, ..config() }
        };
        let cluster = Cluster::new((0..count).map(|id| Host::new(config(id), BTreeSet::new())));
        let over = vec![VecDeque::new(); usize::from(count)];
        let mut several = Several { cluster, over, sent: Vec::new(), now_ms: 0 };
        let mut out = Vec::new();
        for host in &mut several.cluster.hosts {
            out.push(host.start(0).expect("an empty disk").1);
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
}

/// First seen as `session-fifo` under seed 305597 of suite/everything.toml: the client was let in before its leader knew
/// of that, wrote, moved on and wrote again; then the leader heard that the session was at the observer, and took the
/// first write behind the second.
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

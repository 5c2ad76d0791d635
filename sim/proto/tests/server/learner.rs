//! What an observer does with sessions that come to it: a leader and its observer, with a hand on what comes over the link.

use crate::disk::Disk;
use crate::facts::{again, create, new_session};
use crate::rig::{TICK_MS, config};
use std::collections::{BTreeSet, VecDeque};
use zk_api::{CreateMode, SessionId};
use zk_proto::message::{Ask, ConnId, ConnectResponse, ToClient, ToPeer, ToServer, Xid};
use zk_proto::server::{Event, Input, Output, Server, ServerConfig, ServerId, Timer};
use zk_proto::zab::PeerConfig;
use zk_proto::zab::message::{LinkId, Packet};

const LEADER: usize = 0;
const OBSERVER: usize = 1;

struct Pair {
    servers: Vec<(Server, Disk, BTreeSet<Timer>)>,
    /// What is on its way over the link to each, first in, first out.
    over: [VecDeque<(LinkId, ToPeer)>; 2],
    links: u64,
    /// What each connection was sent.
    sent: Vec<(ConnId, ToClient)>,
    now_ms: i64,
}

impl Pair {
    /// Both serve.
    fn serving() -> Pair {
        let config = |id| {
            let peer = PeerConfig::for_server(ServerId(id), [ServerId(0)], [ServerId(1)], TICK_MS);
            ServerConfig { zab: peer, ..config() }
        };
        let mut pair =
            Pair { servers: Vec::new(), over: Default::default(), links: 0, sent: Vec::new(), now_ms: 0 };
        let mut out = Vec::new();
        for id in [0, 1] {
            let (server, wanted) =
                Server::start(config(id), &Disk::default().files(), 0).expect("an empty disk");
            pair.servers.push((server, Disk::default(), BTreeSet::new()));
            out.push(wanted);
        }
        for (who, wanted) in out.into_iter().enumerate() {
            pair.wanted(who, wanted);
        }
        for _ in 0..1000 {
            pair.settle();
            if pair.servers.iter().all(|(server, ..)| server.is_serving()) {
                return pair;
            }
            pair.now_ms += i64::from(TICK_MS);
            for who in [LEADER, OBSERVER] {
                for timer in std::mem::take(&mut pair.servers[who].2) {
                    pair.step(who, Event::Timer(timer));
                }
            }
        }
        panic!("they do not come to serve");
    }

    fn step(&mut self, who: usize, event: Event) {
        let mut out = Vec::new();
        self.servers[who].0.step(Input { now_ms: self.now_ms, event }, &mut out);
        self.wanted(who, out);
    }

    fn wanted(&mut self, who: usize, out: Vec<Output>) {
        let from = ServerId(who as u8);
        let other = 1 - who;
        for output in out {
            match output {
                Output::Send { conn, message } => self.sent.push((conn, message)),
                Output::Disk(op) => self.servers[who].1.submit(op),
                Output::Notify { notification, .. } => {
                    self.step(other, Event::Notified { from, notification })
                }
                Output::SendPeer { link, message } => self.over[other].push_back((link, message)),
                Output::Dial { to } => {
                    self.links += 1;
                    let link = LinkId(self.links);
                    self.step(other, Event::Accepted { link, from });
                    self.step(who, Event::Dialled { link, to });
                }
                Output::Hang { link } => self.step(other, Event::Unlinked { link }),
                Output::SetTimer { timer, .. } => {
                    self.servers[who].2.insert(timer);
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
        let Some((file, ticket)) = self.servers[who].1.complete() else { return false };
        self.step(who, Event::Synced { file, ticket });
        true
    }

    fn settle(&mut self) {
        while self.sync(LEADER) || self.sync(OBSERVER) || self.carry(LEADER) || self.carry(OBSERVER) {}
    }

    /// Everything but what the observer is told.
    fn settle_but_for_the_observer(&mut self) {
        while self.sync(LEADER) || self.sync(OBSERVER) {}
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
    let mut pair = Pair::serving();
    let offer = |session| (SessionId::new(session), [7; 16]);
    pair.step(
        LEADER,
        Event::Connecting {
            conn: ConnId(1),
            request: new_session(10_000),
            offer: offer(0x77),
            address: None,
        },
    );
    pair.settle_but_for_the_observer();
    let granted = pair.connected(1).expect("the leader has opened it");
    let request = again(&granted);
    pair.step(OBSERVER, Event::Connecting { conn: ConnId(2), request, offer: offer(0x78), address: None });
    let asks = |(_, message): &(LinkId, ToPeer)| matches!(message, ToPeer::Ask(Ask::Attach { .. }));
    assert!(pair.over[LEADER].iter().any(asks), "the leader is asked");
    let opens = |(_, message): &(LinkId, ToPeer)| matches!(message, ToPeer::Zab(Packet::Inform(txn)) if txn.session == SessionId::new(0x77));
    assert!(pair.over[OBSERVER].iter().any(opens), "the news of the session is on its way");
    while pair.carry(OBSERVER) || pair.sync(OBSERVER) {}
    assert_eq!(pair.connected(2), None, "let in before the leader said so");
    pair.settle();
    assert_eq!(pair.connected(2).map(|response| response.session), Some(SessionId::new(0x77)));
    let request = create("/a", CreateMode::Persistent);
    pair.step(
        OBSERVER,
        Event::Received { conn: ConnId(2), message: ToServer::Request { xid: Xid(1), request } },
    );
    pair.settle();
    assert!(matches!(pair.sent.last(), Some((ConnId(2), ToClient::Reply { result: Ok(_), .. }))));
}

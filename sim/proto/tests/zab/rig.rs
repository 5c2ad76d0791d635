//! An ensemble of peers with their disks, timers, datagrams and links, of which every action is a choice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_api::{SessionId, Zxid};
use zk_cluster::cluster;
use zk_cluster::links::{self, Inbox};
use zk_cluster::peer::{BarePeer, Entry, entry};
use zk_proto::message::Xid;
use zk_proto::server::ServerId;
use zk_proto::txn::TxnBody;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::message::{LinkId, Notification, Packet, Stand, Vote};
use zk_proto::zab::{Draft, Event, Output, Peer, PeerConfig, RecoveredHistory, Timer, invariants};

pub type InboxLink = links::PeerLink<Inbox<Packet>>;

/// Something that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The oldest datagram arrives, or is lost.
    Datagram {
        from: ServerId,
        to: ServerId,
        lost: bool,
    },
    /// A dialled link comes about, or not.
    Dialled {
        from: ServerId,
        to: ServerId,
        lost: bool,
    },
    /// The next packet, or the news that the link is gone, gets to an end.
    Packet {
        link: LinkId,
        end: usize,
    },
    Fire {
        server: ServerId,
        timer: Timer,
    },
    /// A peer that looks for a leader is made to believe in one, as by datagrams from long ago. Nothing that is
    /// safe may rest on an election.
    Mislead {
        server: ServerId,
        leader: ServerId,
    },
    Written {
        server: ServerId,
    },
    Image {
        server: ServerId,
        link: LinkId,
    },
    Propose {
        server: ServerId,
    },
    /// The owner writes a snapshot.
    Trim {
        server: ServerId,
    },
    /// The write under way ends as it may; what was sent last is lost with it, or not.
    Crash {
        server: ServerId,
        outcome: usize,
        mute: bool,
    },
    Restart {
        server: ServerId,
    },
    /// Packets and datagrams stay where they are.
    Cut {
        from: ServerId,
        to: ServerId,
    },
    Mend {
        from: ServerId,
        to: ServerId,
    },
    /// A link breaks; of what is on its way to each end, so much arrives.
    Break {
        link: LinkId,
        arrives: [usize; 2],
    },
}

/// The ensemble.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rig {
    pub nodes: BTreeMap<ServerId, BarePeer>,
    pub links: BTreeMap<LinkId, InboxLink>,
    pub datagrams: BTreeMap<(ServerId, ServerId), VecDeque<Notification>>,
    pub dials: BTreeSet<(ServerId, ServerId)>,
    pub cut: BTreeSet<(ServerId, ServerId)>,
    pub ghost: Ghost,
    /// How many datagrams may be on their way between two peers; older ones are lost.
    pub datagrams_max: usize,
    /// Whether anything is checked.
    pub is_judged: bool,
    next_link: u64,
    drafts: i64,
}

impl Rig {
    /// An ensemble that is switched on for the first time. The first servers vote, the others observe.
    pub fn new(voters: u8, observers: u8, tune: impl Fn(&mut PeerConfig)) -> Rig {
        let voting: Vec<ServerId> = (1..=voters).map(ServerId).collect();
        let observing: Vec<ServerId> = (voters + 1..=voters + observers).map(ServerId).collect();
        let mut rig = Rig {
            nodes: BTreeMap::new(),
            links: BTreeMap::new(),
            datagrams: BTreeMap::new(),
            dials: BTreeSet::new(),
            cut: BTreeSet::new(),
            ghost: Ghost::default(),
            datagrams_max: 3,
            is_judged: true,
            next_link: 0,
            drafts: 0,
        };
        for id in voting.iter().chain(&observing) {
            let mut config = PeerConfig::new(*id, voting.clone(), observing.clone());
            (config.init_limit_ticks, config.sync_limit_ticks) = (4, 3);
            tune(&mut config);
            rig.nodes.insert(*id, BarePeer::off(config, empty()));
        }
        for id in voting.into_iter().chain(observing) {
            rig.restart(id);
        }
        rig
    }

    /// Everything that can happen without a fault.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for ((from, to), _) in self.datagrams.iter().filter(|(pair, _)| !self.cut.contains(pair)) {
            actions.push(Action::Datagram { from: *from, to: *to, lost: false });
        }
        for (from, to) in &self.dials {
            let is_cut = self.cut.contains(&(*from, *to)) || self.cut.contains(&(*to, *from));
            let up = self.nodes[to].peer.is_some();
            actions.push(Action::Dialled { from: *from, to: *to, lost: is_cut || !up });
        }
        for (link, state) in &self.links {
            for end in [0, 1] {
                let is_cut = self.cut.contains(&(state.ends[1 - end], state.ends[end]));
                if state.is_news(end) && !is_cut {
                    actions.push(Action::Packet { link: *link, end });
                }
            }
        }
        for (server, node) in &self.nodes {
            let server = *server;
            if node.peer.is_some() {
                actions.extend(node.timers.iter().map(|timer| Action::Fire { server, timer: *timer }));
                actions.extend(node.writing.iter().map(|_| Action::Written { server }));
                actions.extend(node.imaging.iter().map(|link| Action::Image { server, link: *link }));
            }
        }
        actions
    }

    /// Does it, and gives what the peers wanted done.
    pub fn act(&mut self, action: Action) -> Vec<Output> {
        match action {
            Action::Datagram { from, to, lost } => self.datagram(from, to, lost),
            Action::Dialled { from, to, lost } => self.dialled(from, to, lost),
            Action::Packet { link, end } => self.packet(link, end),
            Action::Fire { server, timer } => self.step(server, Event::Timer(timer)),
            Action::Mislead { server, leader } => self.mislead(server, leader),
            Action::Written { server } => self.step(server, Event::Written),
            Action::Image { server, link } => {
                let event = self.node(server).image(link);
                self.step(server, event)
            }
            Action::Propose { server } => {
                self.drafts += 1;
                let (session, body) = (SessionId::NONE, TxnBody::Delete { path: "/".into() });
                let draft = Draft { session, xid: Xid(0), time_ms: self.drafts, body };
                self.step(server, Event::Propose(draft))
            }
            Action::Trim { server } => {
                let to = self.node(server).trim();
                self.step(server, Event::Trimmed { to })
            }
            Action::Crash { server, outcome, mute } => self.crash(server, outcome, mute),
            Action::Restart { server } => self.restart(server),
            Action::Cut { from, to } => {
                self.cut.insert((from, to));
                Vec::new()
            }
            Action::Mend { from, to } => {
                self.cut.remove(&(from, to));
                Vec::new()
            }
            Action::Break { link, arrives } => {
                let state = self.links.get_mut(&link).expect("a link");
                for end in [0, 1] {
                    state.to[end].packets.truncate(arrives[end]);
                }
                state.breaks();
                Vec::new()
            }
        }
    }

    pub fn node(&mut self, server: ServerId) -> &mut BarePeer {
        self.nodes.get_mut(&server).expect("a server of the ensemble")
    }

    pub fn peer(&self, server: u8) -> &Peer {
        self.nodes[&ServerId(server)].peer.as_ref().expect("it is up")
    }

    fn datagram(&mut self, from: ServerId, to: ServerId, lost: bool) -> Vec<Output> {
        let waiting = self.datagrams.get_mut(&(from, to)).expect("a datagram");
        let notification = waiting.pop_front().expect("no queue is kept empty");
        if waiting.is_empty() {
            self.datagrams.remove(&(from, to));
        }
        if lost { Vec::new() } else { self.step(to, Event::Notified { from, notification }) }
    }

    /// A leader is elected by all others; a follower hears of an established leader.
    fn mislead(&mut self, server: ServerId, leader: ServerId) -> Vec<Output> {
        let mut out = Vec::new();
        let Some(peer) = &self.nodes[&server].peer else { return out };
        let others: Vec<ServerId> = peer.config().voters.iter().copied().filter(|id| *id != server).collect();
        let round = peer.round() + 1;
        let mut vote = Vote { epoch: 0, zxid: Zxid::ZERO, leader };
        for from in
            others.iter().copied().filter(|from| server == leader || *from == leader).chain(others.clone())
        {
            let stand = match from {
                _ if server == leader => Stand::Looking,
                from if from == leader => Stand::Leading,
                _ => Stand::Following,
            };
            let notification = Notification { round, vote: Some(vote), stand };
            out.extend(self.step(server, Event::Notified { from, notification }));
            let now = self.nodes[&server].peer.as_ref().and_then(|peer| peer.vote());
            // By the newer round it is for itself again, and so are all others now.
            vote = now.filter(|now| now.leader == server && server == leader).unwrap_or(vote);
        }
        out
    }

    fn dialled(&mut self, from: ServerId, to: ServerId, lost: bool) -> Vec<Output> {
        self.dials.remove(&(from, to));
        if lost {
            return Vec::new();
        }
        self.next_link += 1;
        let link = LinkId(self.next_link);
        self.links.insert(link, InboxLink::new(from, to));
        let mut out = self.step(to, Event::Accepted { link, from });
        out.extend(self.step(from, Event::Dialled { link, to }));
        out
    }

    fn packet(&mut self, link: LinkId, end: usize) -> Vec<Output> {
        let state = self.links.get_mut(&link).expect("a link");
        let server = state.ends[end];
        if let Some(packet) = state.arrive(end) {
            return self.step(server, Event::Received { link, packet });
        }
        self.sweep();
        self.step(server, Event::Unlinked { link })
    }

    /// One end will hear no more; the other will, when it has heard everything.
    fn close(&mut self, link: LinkId, end: usize) {
        if let Some(state) = self.links.get_mut(&link) {
            state.hang(end, false);
        }
        self.sweep();
    }

    fn sweep(&mut self) {
        self.links.retain(|_, link| link.open[0] || link.open[1]);
    }

    fn crash(&mut self, server: ServerId, outcome: usize, mute: bool) -> Vec<Output> {
        let node = self.node(server);
        node.crash(outcome);
        let found = node.finds();
        self.ghost.stopped(server, &found);
        self.dials.retain(|(from, _)| *from != server);
        self.datagrams.retain(|(_, to), _| *to != server);
        let links: Vec<_> = self.links.iter().map(|(link, state)| (*link, state.ends)).collect();
        for (link, ends) in links {
            for end in (0..2).filter(|end| ends[*end] == server) {
                if mute && let Some(state) = self.links.get_mut(&link) {
                    state.to[1 - end].packets.clear();
                }
                self.close(link, end);
            }
        }
        Vec::new()
    }

    fn restart(&mut self, server: ServerId) -> Vec<Output> {
        let mut out = Vec::new();
        self.node(server).start(&mut out);
        self.ghost.started(self.nodes[&server].peer.as_ref().expect("it is up"));
        self.settle(server, &out);
        // Its writes begin with the first step; there are none before.
        out
    }

    /// Takes one step of a peer; nothing happens to one that is down.
    pub fn step(&mut self, server: ServerId, event: Event) -> Vec<Output> {
        let mut out = Vec::new();
        self.node(server).step(event, &mut out);
        self.settle(server, &out);
        out
    }

    /// Does what a peer wants done.
    fn settle(&mut self, server: ServerId, out: &[Output]) {
        if let Some(peer) = &self.nodes[&server].peer {
            self.ghost.observe(peer, out);
        }
        for output in out {
            match output {
                Output::Notify { to, notification } if self.nodes[to].peer.is_some() => {
                    let max = self.datagrams_max;
                    let waiting = self.datagrams.entry((server, *to)).or_default();
                    if waiting.back() != Some(notification) {
                        waiting.push_back(*notification);
                    }
                    waiting.drain(..waiting.len().saturating_sub(max));
                }
                Output::Send { link, packet } => self.send(server, *link, packet),
                Output::Dial { to } => {
                    self.dials.insert((server, *to));
                }
                Output::Hang { link } => {
                    let ends = self.links.get(link).map(|state| state.ends);
                    if let Some(end) = ends.and_then(|ends| ends.iter().position(|end| *end == server)) {
                        self.close(*link, end);
                    }
                }
                // Done, or of no concern.
                Output::Notify { .. }
                | Output::Write(_)
                | Output::SetTimer { .. }
                | Output::NeedSnapshot { .. }
                | Output::Restore(_)
                | Output::Deliver(_)
                | Output::Role(_)
                | Output::Note(_) => {}
            }
        }
    }

    fn send(&mut self, server: ServerId, link: LinkId, packet: &Packet) {
        if let Some(state) = self.links.get_mut(&link) {
            let from = state.ends.iter().position(|end| *end == server).expect("an end of its own link");
            assert!(state.open[from], "nothing is sent on a link that this end gave up");
            // On a broken link it goes nowhere.
            if state.takes(1 - from) {
                state.to[1 - from].packets.push_back(packet.clone());
            }
        }
    }

    /// What is wrong, if anything.
    pub fn check(&self) -> Result<(), String> {
        if !self.is_judged {
            return Ok(());
        }
        match invariants::check_all(&self.peers(), &self.ghost).first() {
            Some(broken) => Err(format!("{}: {}", broken.invariant, broken.what)),
            None => self.check_itself(),
        }
    }

    /// What the rig knows better than the ghost history: the disks as they are, and the owners' states.
    pub fn check_itself(&self) -> Result<(), String> {
        self.machines_agree()?;
        self.what_stands_is_on_a_quorum()
    }

    /// What owners made of what was delivered is what stands, from the beginning.
    fn machines_agree(&self) -> Result<(), String> {
        let stands: Vec<Entry> = self.ghost.committed.values().map(|txn| entry(txn)).collect();
        match self.nodes.iter().find(|(_, node)| !stands.starts_with(&node.state)) {
            Some((server, node)) => Err(format!("{server:?} made {:?} of {stands:?}", node.state)),
            None => Ok(()),
        }
    }

    fn what_stands_is_on_a_quorum(&self) -> Result<(), String> {
        let config = &self.nodes[&ServerId(1)].config;
        let stands: Vec<Entry> = self.ghost.committed.values().map(|txn| entry(txn)).collect();
        let have = self.nodes.iter().filter(|(_, node)| node.entries().starts_with(&stands));
        if config.is_quorum(&have.map(|(server, _)| *server).collect()) {
            return Ok(());
        }
        // Not one quorum has it all; then each has to be on some quorum's.
        for entry in stands {
            let have = self.nodes.iter().filter(|(_, node)| node.entries().contains(&entry));
            if !config.is_quorum(&have.map(|(server, _)| *server).collect()) {
                return Err(format!("{} stands and is on no quorum's disks", entry.0));
            }
        }
        Ok(())
    }

    /// The established leader of the newest epoch.
    pub fn leader(&self) -> Option<ServerId> {
        cluster::leader(self.peers()).map(|(server, _)| server)
    }

    fn peers(&self) -> Vec<&Peer> {
        self.nodes.values().filter_map(|node| node.peer.as_ref()).collect()
    }
}

/// The disk of a server that is switched on for the first time.
fn empty() -> RecoveredHistory {
    RecoveredHistory::default()
}

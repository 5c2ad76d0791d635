//! Links between servers, first in, first out in each direction, until they break; and what is cut off from what.
//!
//! ```
//! use zk_cluster::links::{Inbox, PeerLink};
//! use zk_proto::server::ServerId;
//!
//! let mut link = PeerLink::<Inbox<char>>::new(ServerId(0), ServerId(1));
//! link.to[1].packets.push_back('a');
//! link.breaks();
//! assert!(!link.takes(1), "nothing more gets on its way");
//! assert_eq!(link.arrive(1), Some('a'), "what is on its way still arrives");
//! assert_eq!(link.arrive(1), None, "then comes the news");
//! assert_eq!(link.open, [true, false]);
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_proto::server::ServerId;
use zk_proto::zab::message::LinkId;

/// A link. End 0 has dialled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerLink<W> {
    /// The servers at its ends.
    pub ends: [ServerId; 2],
    /// Whether an end has it, and has not heard that it is gone.
    pub open: [bool; 2],
    /// What is on its way to each end.
    pub to: [W; 2],
}

impl<W: Default> PeerLink<W> {
    /// A link that is whole, with nothing on its way.
    pub fn new(from: ServerId, to: ServerId) -> PeerLink<W> {
        PeerLink { ends: [from, to], open: [true; 2], to: [W::default(), W::default()] }
    }
}

impl<W> PeerLink<W> {
    /// Which end a server is.
    pub fn end_of(&self, server: ServerId) -> usize {
        usize::from(self.ends[1] == server)
    }

    /// From whom to whom what arrives at an end goes.
    pub fn way_to(&self, end: usize) -> (ServerId, ServerId) {
        (self.ends[1 - end], self.ends[end])
    }
}

/// What is on its way to an end, where that may arrive at any time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inbox<P> {
    pub packets: VecDeque<P>,
    /// Behind them, the news that the link is gone.
    pub gone: bool,
    /// It broke, or the other end crashed: the packets may be lost.
    pub torn: bool,
}

impl<P> Default for Inbox<P> {
    fn default() -> Inbox<P> {
        Inbox { packets: VecDeque::new(), gone: false, torn: false }
    }
}

impl<P> PeerLink<Inbox<P>> {
    /// Whether both ends have it and it is not broken.
    pub fn is_whole(&self) -> bool {
        self.open == [true; 2] && !self.to.iter().any(|inbox| inbox.gone)
    }

    /// Whether something has come for an end.
    pub fn is_news(&self, end: usize) -> bool {
        self.open[end] && (self.to[end].gone || !self.to[end].packets.is_empty())
    }

    /// Whether what is sent to an end gets on its way. A broken link takes nothing more, whoever knows of it.
    pub fn takes(&self, end: usize) -> bool {
        self.open[end] && !self.to[end].gone
    }

    /// The next packet gets to an end; `None` is the news that the link is gone, behind all of them.
    pub fn arrive(&mut self, end: usize) -> Option<P> {
        let packet = self.to[end].packets.pop_front();
        self.open[end] = packet.is_some();
        packet
    }

    /// One end will hear no more; the other will, when it has heard everything that is not lost.
    pub fn hang(&mut self, end: usize, torn: bool) {
        // What this end needs to know no more is the same as if it had known.
        (self.open[end], self.to[end]) = (false, Inbox::default());
        let other = &mut self.to[1 - end];
        (other.gone, other.torn) = (true, other.torn || torn);
    }

    /// It breaks under both ends.
    pub fn breaks(&mut self) {
        self.to.iter_mut().for_each(|inbox| (inbox.gone, inbox.torn) = (true, true));
    }
}

/// All links of which at least one end is open, and who dials whom.
#[derive(Debug, Default)]
pub struct Links<W> {
    links: BTreeMap<LinkId, PeerLink<W>>,
    opened: u64,
    dialling: BTreeSet<(ServerId, ServerId)>,
}

impl<W: Default> Links<W> {
    /// A new link. Its name was never used before.
    pub fn open(&mut self, from: ServerId, to: ServerId) -> LinkId {
        self.opened += 1;
        let id = LinkId(self.opened);
        self.links.insert(id, PeerLink::new(from, to));
        id
    }
}

impl<W> Links<W> {
    /// A server begins to dial another. False if it does so already.
    pub fn dials(&mut self, from: ServerId, to: ServerId) -> bool {
        self.dialling.insert((from, to))
    }

    /// That comes to something or to nothing.
    pub fn dialled(&mut self, from: ServerId, to: ServerId) {
        self.dialling.remove(&(from, to));
    }

    /// A server is gone, and dials nobody any more.
    pub fn forget_dials(&mut self, server: ServerId) {
        self.dialling.retain(|(from, _)| *from != server);
    }

    /// A link of which an end is open.
    pub fn link(&mut self, id: LinkId) -> Option<&mut PeerLink<W>> {
        self.links.get_mut(&id)
    }

    /// Who reads what arrives at an end of a link, while that is open.
    pub fn reader(&self, id: LinkId, end: usize) -> Option<ServerId> {
        self.links.get(&id).filter(|link| link.open[end]).map(|link| link.ends[end])
    }

    /// Whether a server has its end of a link.
    pub fn has(&self, server: ServerId, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(|link| link.open[link.end_of(server)])
    }

    /// Who is at the other end of a link.
    pub fn other_end(&self, server: ServerId, id: LinkId) -> Option<ServerId> {
        self.links.get(&id).map(|link| link.ends[1 - link.end_of(server)])
    }

    /// A server has its end no more. A link of which nobody has an end is forgotten.
    pub fn close(&mut self, server: ServerId, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.open[link.end_of(server)] = false;
        if link.open == [false; 2] {
            self.links.remove(&id);
        }
    }

    /// The links of a server.
    pub fn of(&self, server: ServerId) -> Vec<LinkId> {
        self.links.iter().filter(|(_, link)| link.ends.contains(&server)).map(|(id, _)| *id).collect()
    }
}

/// What is cut off from what.
#[derive(Debug)]
pub struct Partitions<T> {
    /// From which server to which nothing gets through, and how many partitions say so.
    cut: BTreeMap<(ServerId, ServerId), u32>,
    /// What has come to a cut, in the order in which it came.
    stalled: BTreeMap<(ServerId, ServerId), Vec<T>>,
}

impl<T> Default for Partitions<T> {
    fn default() -> Partitions<T> {
        Partitions { cut: BTreeMap::new(), stalled: BTreeMap::new() }
    }
}

impl<T> Partitions<T> {
    /// Nothing gets from one server to another any more.
    pub fn cut(&mut self, from: ServerId, to: ServerId) {
        *self.cut.entry((from, to)).or_insert(0) += 1;
    }

    /// One partition less says so. Gives what had come to the cut if it was the last.
    pub fn mend(&mut self, from: ServerId, to: ServerId) -> Vec<T> {
        match self.cut.get_mut(&(from, to)) {
            Some(1) => {
                self.cut.remove(&(from, to));
                self.stalled.remove(&(from, to)).unwrap_or_default()
            }
            Some(count) => {
                *count -= 1;
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Whether nothing gets from one server to another.
    pub fn is_cut(&self, from: ServerId, to: ServerId) -> bool {
        self.cut.contains_key(&(from, to))
    }

    /// All cuts there are.
    pub fn cuts(&self) -> Vec<(ServerId, ServerId)> {
        self.cut.keys().copied().collect()
    }

    /// Something waits where it cannot get through.
    pub fn stall(&mut self, from: ServerId, to: ServerId, what: T) {
        self.stalled.entry((from, to)).or_default().push(what);
    }

    /// Keeps of what waits at cuts only what `keep` says.
    pub fn retain_stalled(&mut self, keep: impl Fn(&T) -> bool) {
        self.stalled.values_mut().for_each(|stalled| stalled.retain(&keep));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [ServerId; 3] = [ServerId(0), ServerId(1), ServerId(2)];

    #[test]
    fn what_comes_to_a_cut_waits_until_the_last_partition_is_over() {
        let [a, b, _] = IDS;
        let mut partitions = Partitions::default();
        partitions.cut(a, b);
        partitions.cut(a, b);
        assert!(partitions.is_cut(a, b) && !partitions.is_cut(b, a));
        partitions.stall(a, b, 'a');
        partitions.stall(a, b, 'b');
        assert!(partitions.mend(a, b).is_empty() && partitions.is_cut(a, b));
        assert_eq!(partitions.mend(a, b), ['a', 'b']);
        assert!(!partitions.is_cut(a, b) && partitions.mend(a, b).is_empty());
    }

    /// First seen under seed 10138 of the suite's ensemble: a server that crashed while it stood still never dialled
    /// again.
    #[test]
    fn a_server_that_is_gone_dials_anew_when_it_is_back() {
        let [_, from, to] = IDS;
        let mut links = Links::<()>::default();
        assert!(links.dials(from, to) && !links.dials(from, to));
        links.forget_dials(from);
        assert!(links.dials(from, to));
    }

    #[test]
    fn a_link_is_forgotten_when_neither_end_has_it() {
        let [callee, _, caller] = IDS;
        let mut links = Links::<()>::default();
        let id = links.open(caller, callee);
        let link = links.link(id).unwrap();
        assert_eq!((link.end_of(caller), link.end_of(callee), link.way_to(0)), (0, 1, (callee, caller)));
        assert_eq!((links.other_end(caller, id), links.other_end(callee, id)), (Some(callee), Some(caller)));
        links.close(caller, id);
        assert!(!links.has(caller, id) && links.has(callee, id));
        assert_eq!((links.reader(id, 0), links.reader(id, 1)), (None, Some(callee)));
        links.close(callee, id);
        assert!(links.of(callee).is_empty() && links.other_end(callee, id).is_none());
        assert!(links.open(caller, callee) != id);
    }

    #[test]
    fn who_hears_that_a_link_is_gone_has_heard_all_that_was_sent_before() {
        let [a, b, _] = IDS;
        let mut link = PeerLink::<Inbox<char>>::new(a, b);
        link.to[1].packets.push_back('a');
        link.to[0].packets.push_back('b');
        assert!(link.is_whole() && link.is_news(0) && link.is_news(1));
        link.hang(0, false);
        assert!(!link.is_whole() && !link.is_news(0) && !link.takes(0) && !link.takes(1));
        assert_eq!((link.arrive(1), link.open), (Some('a'), [false, true]));
        assert!(link.is_news(1));
        assert_eq!((link.arrive(1), link.open), (None, [false; 2]));
    }

    #[test]
    fn a_broken_link_carries_what_is_on_its_way_and_nothing_more() {
        let [a, b, _] = IDS;
        let mut link = PeerLink::<Inbox<char>>::new(a, b);
        link.to[1].packets.push_back('a');
        link.breaks();
        assert!(!link.takes(0) && !link.takes(1) && link.to[1].torn);
        assert_eq!((link.arrive(1), link.arrive(1), link.open), (Some('a'), None, [true, false]));
    }
}

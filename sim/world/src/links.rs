//! Links between servers: first in, first out in each direction, until they break. The book that the world keeps
//! of them, and of what is cut off from what.

use crate::network::Direction;
use std::collections::{BTreeMap, BTreeSet};
use zk_proto::zab::message::LinkId;

/// All links of which at least one end is open, and partitions.
#[derive(Debug)]
pub struct Links<T> {
    links: BTreeMap<LinkId, Link>,
    opened: u64,
    /// From which server to which nothing gets through, and how many partitions say so.
    cut: BTreeMap<(u8, u8), u32>,
    /// What has come to a cut, in the order in which it came.
    stalled: BTreeMap<(u8, u8), Vec<T>>,
    /// Dials under way.
    dialling: BTreeSet<(u8, u8)>,
}

/// A link. End 0 has dialled.
#[derive(Debug)]
pub struct Link {
    /// The servers at its ends.
    pub ends: [u8; 2],
    /// Whether an end has it, and has not heard that it is gone.
    pub open: [bool; 2],
    /// What is on its way to each end.
    pub to: [Direction; 2],
}

impl Link {
    /// Which end a server is.
    pub fn end_of(&self, server: u8) -> usize {
        usize::from(self.ends[1] == server)
    }

    /// From whom to whom what arrives at an end goes.
    pub fn way_to(&self, end: usize) -> (u8, u8) {
        (self.ends[1 - end], self.ends[end])
    }
}

impl<T> Links<T> {
    /// None.
    pub fn new() -> Links<T> {
        Links {
            links: BTreeMap::new(),
            opened: 0,
            cut: BTreeMap::new(),
            stalled: BTreeMap::new(),
            dialling: BTreeSet::new(),
        }
    }

    /// A server begins to dial another. False if it does so already.
    pub fn dials(&mut self, from: u8, to: u8) -> bool {
        self.dialling.insert((from, to))
    }

    /// That comes to something or to nothing.
    pub fn dialled(&mut self, from: u8, to: u8) {
        self.dialling.remove(&(from, to));
    }

    /// A server is gone, and dials nobody any more.
    pub fn forget_dials(&mut self, server: u8) {
        self.dialling.retain(|(from, _)| *from != server);
    }

    /// A new link. Its name was never used before.
    pub fn open(&mut self, from: u8, to: u8) -> LinkId {
        self.opened += 1;
        let id = LinkId(self.opened);
        let link =
            Link { ends: [from, to], open: [true; 2], to: [Direction::default(), Direction::default()] };
        self.links.insert(id, link);
        id
    }

    /// A link of which an end is open.
    pub fn link(&mut self, id: LinkId) -> Option<&mut Link> {
        self.links.get_mut(&id)
    }

    /// Who reads what arrives at an end of a link, while that is open.
    pub fn reader(&self, id: LinkId, end: usize) -> Option<u8> {
        self.links.get(&id).filter(|link| link.open[end]).map(|link| link.ends[end])
    }

    /// Forgets a link of which neither end is open.
    pub fn forget_closed(&mut self, id: LinkId) {
        if self.links.get(&id).is_some_and(|link| link.open == [false; 2]) {
            self.links.remove(&id);
        }
    }

    /// The links of a server.
    pub fn of(&self, server: u8) -> Vec<LinkId> {
        self.links.iter().filter(|(_, link)| link.ends.contains(&server)).map(|(id, _)| *id).collect()
    }

    /// Nothing gets from one server to another any more.
    pub fn cut(&mut self, from: u8, to: u8) {
        *self.cut.entry((from, to)).or_insert(0) += 1;
    }

    /// One partition less says so. Gives what had come to the cut if it was the last.
    pub fn mend(&mut self, from: u8, to: u8) -> Vec<T> {
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
    pub fn is_cut(&self, from: u8, to: u8) -> bool {
        self.cut.contains_key(&(from, to))
    }

    /// All cuts there are.
    pub fn cuts(&self) -> Vec<(u8, u8)> {
        self.cut.keys().copied().collect()
    }

    /// Something waits where it cannot get through.
    pub fn stall(&mut self, from: u8, to: u8, what: T) {
        self.stalled.entry((from, to)).or_default().push(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_to_a_cut_waits_until_the_last_partition_is_over() {
        let mut links = Links::new();
        links.cut(0, 1);
        links.cut(0, 1);
        assert!(links.is_cut(0, 1) && !links.is_cut(1, 0));
        links.stall(0, 1, 'a');
        links.stall(0, 1, 'b');
        assert!(links.mend(0, 1).is_empty() && links.is_cut(0, 1));
        assert_eq!(links.mend(0, 1), ['a', 'b']);
        assert!(!links.is_cut(0, 1) && links.mend(0, 1).is_empty());
    }

    /// First seen under seed 10138 of the suite's ensemble: a server that crashed while it stood still never dialled
    /// again.
    #[test]
    fn a_server_that_is_gone_dials_anew_when_it_is_back() {
        let mut links = Links::<()>::new();
        assert!(links.dials(1, 2) && !links.dials(1, 2));
        links.forget_dials(1);
        assert!(links.dials(1, 2));
    }

    #[test]
    fn a_link_is_forgotten_when_neither_end_has_it() {
        let mut links = Links::<()>::new();
        let id = links.open(2, 0);
        let link = links.link(id).unwrap();
        assert_eq!((link.end_of(2), link.end_of(0), link.way_to(0)), (0, 1, (0, 2)));
        link.open = [false, true];
        links.forget_closed(id);
        assert_eq!(links.of(0), [id]);
        links.link(id).unwrap().open[1] = false;
        links.forget_closed(id);
        assert!(links.of(0).is_empty() && links.open(2, 0) != id);
    }
}

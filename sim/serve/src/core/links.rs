//! Links between servers: first in, first out in each direction, until they break; and partitions.

use std::collections::BTreeMap;
use zk_proto::zab::message::LinkId;

/// All links of which at least one end is open, and what is cut off from what.
#[derive(Debug)]
pub(super) struct Links<T> {
    links: BTreeMap<LinkId, Link>,
    opened: u64,
    /// From which server to which nothing gets through, and how many partitions say so.
    cut: BTreeMap<(u8, u8), u32>,
    /// What has come to a cut, in this order.
    stalled: BTreeMap<(u8, u8), Vec<T>>,
    /// What is late between two servers: how much of it, and when the last of it is there.
    late: BTreeMap<(u8, u8), (u64, u64)>,
}

/// A link. End 0 has dialled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    ends: [u8; 2],
    /// Whether an end has it, and has not heard that it is gone.
    open: [bool; 2],
    /// Whether it is broken: nothing more gets through, though an end may not have heard of it.
    broken: bool,
}

impl<T> Links<T> {
    /// None.
    pub(super) fn new() -> Links<T> {
        Links {
            links: BTreeMap::new(),
            opened: 0,
            cut: BTreeMap::new(),
            stalled: BTreeMap::new(),
            late: BTreeMap::new(),
        }
    }

    /// A new link. Its name was never used before.
    pub(super) fn open(&mut self, from: u8, to: u8) -> LinkId {
        self.opened += 1;
        let id = LinkId(self.opened);
        self.links.insert(id, Link { ends: [from, to], open: [true; 2], broken: false });
        id
    }

    /// Whether a server has its end of a link.
    pub(super) fn has(&self, server: u8, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(|link| link.open[usize::from(link.ends[1] == server)])
    }

    /// Who is at the other end of a link.
    pub(super) fn other_end(&self, server: u8, id: LinkId) -> Option<u8> {
        self.links.get(&id).map(|link| link.ends[usize::from(link.ends[0] == server)])
    }

    /// A link breaks. Both ends are still to be told.
    pub(super) fn breaks(&mut self, id: LinkId) {
        if let Some(link) = self.links.get_mut(&id) {
            link.broken = true;
        }
    }

    /// Whether what a server sends over a link gets through.
    pub(super) fn carries(&self, from: u8, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(|link| !link.broken && link.open[usize::from(link.ends[0] == from)])
    }

    /// A server has its end no more. A link of which nobody has an end is forgotten.
    pub(super) fn close(&mut self, server: u8, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.open[usize::from(link.ends[1] == server)] = false;
        if link.open == [false; 2] {
            self.links.remove(&id);
        }
    }

    /// The links of a server.
    pub(super) fn of(&self, server: u8) -> Vec<LinkId> {
        self.links.iter().filter(|(_, link)| link.ends.contains(&server)).map(|(id, _)| *id).collect()
    }

    /// Nothing gets from one server to another any more.
    pub(super) fn cut(&mut self, from: u8, to: u8) {
        *self.cut.entry((from, to)).or_insert(0) += 1;
    }

    /// One partition less says so. Gives what had come to the cut if it was the last.
    pub(super) fn mend(&mut self, from: u8, to: u8) -> Vec<T> {
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
    pub(super) fn is_cut(&self, from: u8, to: u8) -> bool {
        self.cut.contains_key(&(from, to))
    }

    /// Something waits where it cannot get through.
    pub(super) fn stall(&mut self, from: u8, to: u8, what: T) {
        self.stalled.entry((from, to)).or_default().push(what);
    }

    /// Keeps of what waits at cuts only what `keep` says.
    pub(super) fn retain_stalled(&mut self, keep: impl Fn(&T) -> bool) {
        self.stalled.values_mut().for_each(|stalled| stalled.retain(&keep));
    }

    /// When something that is sent now and is to be there at `due` is there: behind whatever is late already.
    /// `None` if that is at once; what is not is to be [landed](Links::landed).
    pub(super) fn sent(&mut self, from: u8, to: u8, now: u64, due: u64) -> Option<u64> {
        match self.late.get_mut(&(from, to)) {
            Some((count, last)) => {
                (*count, *last) = (*count + 1, due.max(*last));
                Some(*last)
            }
            None if due > now => {
                self.late.insert((from, to), (1, due));
                Some(due)
            }
            None => None,
        }
    }

    /// Something that was late is late no more.
    pub(super) fn landed(&mut self, from: u8, to: u8) {
        if let Some((count, _)) = self.late.get_mut(&(from, to)) {
            *count -= 1;
            if *count == 0 {
                self.late.remove(&(from, to));
            }
        }
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

    #[test]
    fn a_link_is_forgotten_when_neither_end_has_it() {
        let mut links = Links::<()>::new();
        let id = links.open(2, 0);
        assert_eq!((links.other_end(2, id), links.other_end(0, id)), (Some(0), Some(2)));
        links.close(2, id);
        assert!(!links.has(2, id) && links.has(0, id));
        links.close(0, id);
        assert!(links.of(0).is_empty() && links.other_end(0, id).is_none() && links.open(2, 0) != id);
    }

    #[test]
    fn nothing_overtakes_what_is_late() {
        let mut links = Links::<()>::new();
        assert_eq!(links.sent(0, 1, 5, 5), None);
        assert_eq!(links.sent(0, 1, 5, 9), Some(9));
        assert_eq!((links.sent(0, 1, 9, 9), links.sent(1, 0, 9, 9)), (Some(9), None));
        links.landed(0, 1);
        links.landed(0, 1);
        assert_eq!(links.sent(0, 1, 9, 9), None);
    }
}

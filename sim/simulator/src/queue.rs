//! The event queue: what happens next, and in which order at one time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events by time; those of one time in the order in which they were put in.
///
/// The heap holds small keys only, and the events stay where they are.
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    slots: Vec<Option<E>>,
    free: Vec<u32>,
    sequence: u64,
}

impl<E> Queue<E> {
    /// Empty.
    pub fn new() -> Queue<E> {
        Queue { heap: BinaryHeap::new(), slots: Vec::new(), free: Vec::new(), sequence: 0 }
    }

    /// Puts in an event for the time `at_ns`.
    pub fn push(&mut self, at_ns: u64, event: E) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(event);
                slot
            }
            None => {
                self.slots.push(Some(event));
                u32::try_from(self.slots.len() - 1).expect("far fewer events than 2^32")
            }
        };
        self.heap.push(Reverse((at_ns, self.sequence, slot)));
        self.sequence += 1;
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        let Reverse((at_ns, _, slot)) = self.heap.pop()?;
        self.free.push(slot);
        Some((at_ns, self.slots[slot as usize].take().expect("a queued slot is full")))
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// The events, in no order.
    pub fn events(&self) -> impl Iterator<Item = &E> {
        self.slots.iter().flatten()
    }

    /// All events in the order in which they were put in, each with its number and its time.
    pub fn numbered(&self) -> Vec<(u64, u64, &E)> {
        let event = |slot: u32| self.slots[slot as usize].as_ref().expect("a queued slot is full");
        let keys = self.heap.iter().map(|Reverse((at_ns, number, slot))| (*number, *at_ns, event(*slot)));
        let mut all: Vec<_> = keys.collect();
        all.sort_unstable_by_key(|(number, ..)| *number);
        all
    }

    /// Takes the event of this number, out of its turn.
    pub fn take_numbered(&mut self, number: u64) -> Option<(u64, E)> {
        let Reverse((at_ns, _, slot)) = *self.heap.iter().find(|Reverse((_, n, _))| *n == number)?;
        self.heap.retain(|Reverse((_, n, _))| *n != number);
        self.free.push(slot);
        Some((at_ns, self.slots[slot as usize].take().expect("a queued slot is full")))
    }

    /// Takes the next of the events that are such ones, out of its turn.
    pub fn take_first(&mut self, is: impl Fn(&E) -> bool) -> Option<(u64, E)> {
        let number = self.first(is)?;
        self.take_numbered(number)
    }

    /// The number of the next of the events that are such ones.
    pub fn first(&self, is: impl Fn(&E) -> bool) -> Option<u64> {
        let event = |slot: u32| self.slots[slot as usize].as_ref().expect("a queued slot is full");
        let such = self.heap.iter().map(|Reverse(key)| key).filter(|(.., slot)| is(event(*slot)));
        such.min().map(|(_, number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_can_be_taken_out_of_its_turn_and_no_other_moves() {
        let mut queue = Queue::new();
        for (at, name) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b')] {
            queue.push(at, name);
        }
        assert_eq!(queue.take_first(|name| *name >= 'c'), Some((5, 'c')));
        assert_eq!(queue.take_first(|name| *name == 'x'), None);
        let all: Vec<_> =
            queue.numbered().into_iter().map(|(number, at, name)| (number, at, *name)).collect();
        assert_eq!(all, [(1, 1, 'a'), (2, 5, 'd'), (3, 1, 'b')]);
        assert_eq!(queue.take_numbered(2), Some((5, 'd')));
        queue.push(0, 'e');
        let rest: Vec<char> = std::iter::from_fn(|| queue.pop()).map(|(_, name)| name).collect();
        assert_eq!(rest, ['e', 'a', 'b']);
    }

    #[test]
    fn events_come_by_time_and_then_in_the_order_they_were_put_in() {
        let mut queue = Queue::new();
        for (at, name) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b')] {
            queue.push(at, name);
        }
        assert_eq!(queue.pop(), Some((1, 'a')));
        queue.push(5, 'e');
        let rest: Vec<char> = std::iter::from_fn(|| queue.pop()).map(|(_, name)| name).collect();
        assert_eq!(rest, ['b', 'c', 'd', 'e']);
    }
}

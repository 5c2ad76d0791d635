//! The states that a search has found, each with the action that first led to it.
//!
//! A state is known by 64 bits of its digest. Of n states, two share their 64 bits with odds of n²/2⁶⁵: 2·10⁻⁵ for
//! thirty million. A path is told by taking its actions again.

use crate::digest::Digested;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

/// A state's number: they are numbered as they are found.
pub type Number = u32;

/// A way: with which of the first states it begins, and the numbers of the actions from there.
pub type Way = (u16, Vec<u16>);

/// See the module.
#[derive(Debug, Default)]
pub struct Tree {
    /// The numbers of the states found, by their fingerprints.
    numbers: HashMap<u64, Number, BuildHasherDefault<Digested>>,
    /// For each state: the number of the state it was first reached from, and by which of its actions. A state that
    /// the search began with has itself, and its place among those.
    parents: Vec<(Number, u16)>,
}

impl Tree {
    /// How many states were found.
    pub fn len(&self) -> u64 {
        self.parents.len() as u64
    }

    /// Whether a state was found.
    pub fn knows(&self, fingerprint: u64) -> bool {
        self.numbers.contains_key(&fingerprint)
    }

    /// Adds a state to begin with; `None` if it is known.
    pub fn start(&mut self, fingerprint: u64, nth: u16) -> Option<Number> {
        let number = self.parents.len() as Number;
        self.add(fingerprint, (number, nth)).ok()
    }

    /// Adds what action number `nth` of `parent` leads to. `Err` with its number if it is known.
    pub fn reach(&mut self, fingerprint: u64, parent: Number, nth: u16) -> Result<Number, Number> {
        self.add(fingerprint, (parent, nth))
    }

    fn add(&mut self, fingerprint: u64, from: (Number, u16)) -> Result<Number, Number> {
        match self.numbers.entry(fingerprint) {
            Entry::Occupied(known) => Err(*known.get()),
            Entry::Vacant(new) => {
                let number = self.parents.len() as Number;
                new.insert(number);
                self.parents.push(from);
                Ok(number)
            }
        }
    }

    /// The way to a state.
    pub fn path(&self, state: Number) -> Way {
        let (mut at, mut path) = (state, Vec::new());
        loop {
            let (parent, nth) = self.parents[at as usize];
            if parent == at {
                path.reverse();
                return (nth, path);
            }
            path.push(nth);
            at = parent;
        }
    }
}

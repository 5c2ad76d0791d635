//! Which words of a program are heard by what is owed, so that those can be named that nobody hears: a word that is
//! misspelt, or the path that it is about, would pass for silence.
//!
//! ```
//! use zk_harness::event::{ActorId, Observation};
//! use zk_harness::heard::{Heard, Told, Hears};
//! use zk_harness::words;
//!
//! let heard = Heard::new(vec![Hears { path: "/lock".into(), words: &[words::ENTERS], below: false }]);
//! let actor = ActorId { process: 1, life: 0, thread: 0 };
//! let mut told = Told::default();
//! for lock in ["/lock", "/lck", "/lock/"] {
//!     told.add(&heard, actor, &Observation::Enters { lock: lock.into() });
//! }
//! assert_eq!(told.heard_by, [1].into());
//! let unheard: Vec<&str> = told.unheard.keys().map(|(_, about)| &**about).collect();
//! assert_eq!(unheard, ["/lck", "/lock/"]);
//! ```

use crate::event::{ActorId, Observation};
use crate::words::Word;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::Text;

/// What the promises of one kind hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hears {
    /// What they are about.
    pub path: Text,
    /// The words that they hear; none stands for all that there may be.
    pub words: &'static [Word<'static>],
    /// Whether they hear of what is below it, too.
    pub below: bool,
}

impl Hears {
    fn is_about(&self, what: &Observation) -> bool {
        // Of a payload, which is no path, they are told where there are words for it.
        let about = what.subject();
        match about.strip_prefix(&*self.path) {
            Some("") => true,
            Some(rest) => self.below && rest.len() > 1 && rest.starts_with(['/', '{', ' ', ':']),
            None => !about.starts_with('/') && !self.words.is_empty(),
        }
    }
}

/// What all promises that are owed hear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard(Vec<Hears>);

impl Heard {
    /// Of these kinds.
    pub fn new(kinds: Vec<Hears>) -> Heard {
        Heard(kinds)
    }

    /// Whether anything that is owed hears it.
    pub fn hears(&self, what: &Observation) -> bool {
        let knows = |kind: &Hears| kind.words.is_empty() || kind.words.contains(&what.word());
        self.0.iter().any(|kind| knows(kind) && kind.is_about(what))
    }

    /// The words that anything that is owed hears.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().flat_map(|kind| kind.words).map(|word| word.text())
    }

    /// What all that is about.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|kind| &*kind.path)
    }

    /// The first names of a path, as many as any that is owed has: what is below is one with it.
    fn place(&self, about: &str) -> Text {
        if !about.starts_with('/') {
            return "".into();
        }
        let depth = self.paths().map(|path| path.split('/').count()).max().unwrap_or(2);
        let end = about.match_indices('/').nth(depth - 1).map_or(about.len(), |(at, _)| at);
        let (place, rest) = about.split_at(end);
        match rest {
            "" => place.split(['{', ' ', ':']).next().unwrap_or(place).into(),
            "/" => about.into(),
            _ if self.paths().any(|path| path == place) => format!("{place}/…").into(),
            _ => place.into(),
        }
    }
}

/// What was told in a run: by whom anything that is heard, and what nobody heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The processes that have told something that is heard.
    pub heard_by: BTreeSet<u16>,
    /// By word and place: how often, and by whom.
    pub unheard: BTreeMap<(Text, Text), (u64, BTreeSet<u16>)>,
}

impl Told {
    /// Adds a word.
    pub fn add(&mut self, heard: &Heard, actor: ActorId, what: &Observation) {
        if heard.hears(what) {
            self.heard_by.insert(actor.process);
            return;
        }
        let of = (what.word().text().into(), heard.place(what.subject()));
        let (times, by) = self.unheard.entry(of).or_default();
        *times += 1;
        by.insert(actor.process);
    }

    /// Adds what was told in another run.
    pub fn merge(&mut self, other: &Told) {
        self.heard_by.extend(&other.heard_by);
        for (of, (more, who)) in &other.unheard {
            let (times, by) = self.unheard.entry(of.clone()).or_default();
            *times += more;
            by.extend(who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    #[test]
    fn what_is_about_another_path_or_below_one_that_stands_for_itself_is_unheard() {
        let queue = Hears { path: "/a/q".into(), words: &[words::TAKES, words::PUTS], below: true };
        let lock = Hears { path: "/lock".into(), words: &[words::ENTERS], below: false };
        let heard = Heard::new(vec![queue, lock]);
        let enters = |lock: &str| Observation::Enters { lock: lock.into() };
        let says = |word, about: &str| Observation::begins(Word::own(word), about, 1);
        for of_one in ["/a/q{a", "/a/q a", "/a/q:a"] {
            assert!(heard.hears(&says("takes", of_one)), "{of_one}");
        }
        for what in [enters("/lock"), says("takes", "/a/q/item"), says("puts", "pay"), says("takes", "/a/q")]
        {
            assert!(heard.hears(&what), "{what}");
        }
        let mut told = Told::default();
        let actor = ActorId { process: 3, life: 1, thread: 2 };
        for (what, place) in [
            (enters("/lck"), "/lck"),
            (enters("/lcc{a"), "/lcc"),
            (enters("/lock/"), "/lock/"),
            (enters("/lock/child"), "/lock/child"),
            (says("takes", "/a/q/"), "/a/q/"),
            (enters("/a/q"), "/a/q"),
            (says("takes", "/a/qq/item"), "/a/qq"),
            (says("takes", "/a/qq/other"), "/a/qq"),
            (says("gets", "/a/q/item"), "/a/q/…"),
            (says("gets", "pay"), ""),
        ] {
            told.add(&heard, actor, &what);
            let of = (Text::from(what.word().text()), Text::from(place));
            assert!(told.unheard.contains_key(&of), "{what}: {told:?}");
        }
        assert_eq!(told.heard_by, BTreeSet::new());
        assert_eq!(told.unheard[&("takes".into(), "/a/qq".into())], (2, [3].into()));
        let all = Heard::new(vec![Hears { path: "/b".into(), words: &[], below: true }]);
        assert!(all.hears(&says("gets", "/b")) && all.hears(&enters("/b/c")) && !all.hears(&enters("/c")));
        assert!(!all.hears(&says("gets", "pay")), "it is no word of its own");
    }

    #[test]
    fn what_was_told_in_several_runs_is_told_by_all() {
        let of = |heard_by: u16, times, by: u16| Told {
            heard_by: [heard_by].into(),
            unheard: [(("gets".into(), "/q".into()), (times, [by].into()))].into(),
        };
        let mut told = of(1, 2, 3);
        told.merge(&of(2, 3, 4));
        assert_eq!(told.heard_by, [1, 2].into());
        assert_eq!(told.unheard[&("gets".into(), "/q".into())], (5, [3, 4].into()));
    }
}

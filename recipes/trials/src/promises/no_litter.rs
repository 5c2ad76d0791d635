//! `no-litter`.

use super::no_waiter_stuck::dies;
use super::{broken_at, parent};
use crate::event::Event;
use crate::promise::{Finding, Promise, Rest, Terms};
use std::collections::BTreeMap;
use zk_api::SessionId;

/// Where everybody has come to its end, and nobody has died, nobody has left persistent znodes that become more with every
/// client or round: two in one place whose names differ in nothing but numbers and guids.
///
/// What is ephemeral goes with its session. What each leaves on purpose, as a queue's items or the votes of a transaction,
/// is no litter: whoever does so opts out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoLitter {
    died: bool,
}

impl Promise for NoLitter {
    fn terms(&self) -> Terms {
        Terms::of("no-litter")
            .about("Where all have come to their ends, no persistent znodes are left that become more with every client or round.")
            .tested_when("Everybody has come to its end, and nobody has died.")
    }

    fn see(&mut self, event: &Event, _: &mut Vec<Finding>) {
        self.died |= dies(event);
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if self.died || !rest.unfinished.is_empty() {
            return;
        }
        found.push(Finding::Tested);
        let mut known = BTreeMap::new();
        for (path, _) in rest.nodes.iter().filter(|(_, owner)| *owner == SessionId::NONE) {
            let Some(kind) = kind(&path[parent(path).len()..]) else { continue };
            if let Some(other) = known.insert((parent(path), kind), path) {
                let what = format!("{other} and {path} are left, though everybody has come to its end");
                found.push(broken_at(what, [&**other, &**path]));
                return;
            }
        }
    }
}

/// A name without its numbers and guids, if there are any in it.
fn kind(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_number = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    let kind: Vec<&str> = words.iter().map(|word| if is_number(word) { "#" } else { word }).collect();
    words.iter().any(is_number).then(|| kind.join("-"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn at_rest(events: Vec<Event>, nodes: &[(&str, SessionId)], unfinished: u16) -> Vec<Finding> {
        let nodes = nodes.iter().map(|(path, owner)| ((*path).into(), *owner)).collect();
        let rest = Rest { unfinished: (0..unfinished).map(actor).collect(), nodes, sessions: Vec::new() };
        resting(NoLitter::default(), events, &rest)
    }

    #[test]
    fn two_of_a_kind_that_are_left_break_it() {
        for two in
            [["/a/p0", "/a/p1"], ["/a/seen-g00x1", "/a/seen-g01x1"], ["/a/n-0000000000", "/a/n-0000000001"]]
        {
            let found = at_rest(vec![finished(0)], &two.map(|path| (path, SessionId::NONE)), 0);
            let what = format!("{} and {} are left, though everybody has come to its end", two[0], two[1]);
            assert_eq!(broken_by(&found), [(&*what, None)]);
        }
    }

    #[test]
    fn one_is_none_nor_are_two_of_two_kinds_or_in_two_places_or_ephemerals() {
        for two in
            [["/a/entries", "/a/taken"], ["/a/p0", "/b/p1"], ["/a/seen-1", "/a/done-1"], ["/a/x", "/a/x1"]]
        {
            assert_eq!(
                at_rest(vec![], &two.map(|path| (path, SessionId::NONE)), 0),
                [Finding::Tested],
                "{two:?}"
            );
        }
        assert_eq!(at_rest(vec![], &[("/a/p0", session(0)), ("/a/p1", session(1))], 0), [Finding::Tested]);
    }

    #[test]
    fn who_has_not_ended_or_has_died_may_have_left_them() {
        let two = ["/a/p0", "/a/p1"].map(|path| (path, SessionId::NONE));
        assert_eq!(at_rest(vec![], &two, 1), []);
        for dies in [crashed(0), closed(0)] {
            assert_eq!(at_rest(vec![dies], &two, 0), []);
        }
    }
}

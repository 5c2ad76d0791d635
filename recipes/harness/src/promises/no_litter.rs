//! `no-litter`.

use super::findings::broken_at;
use super::no_waiter_stuck::Deaths;
use crate::context::{RunningThreads, parent};
use crate::event::{Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// When everybody has come to its end and nobody has died, nobody has left persistent znodes that grow in number with
/// every round: two of one session in one place, whose names differ only in numbers and guids.
///
/// Ephemeral znodes go with their session, and one znode of each client may be its data. What clients leave on purpose,
/// such as a queue's items or the votes of a transaction, is no litter: a trial in which they do opts out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoLitter {
    deaths: Deaths,
    running: RunningThreads,
    /// The sessions of actors: what an administrator has made is not judged.
    sessions: BTreeSet<SessionId>,
    /// The persistent znodes that exist, and who has made them.
    made: BTreeMap<Text, SessionId>,
    /// There were two of a kind at some time: one that is left is no sign that a further round would leave another.
    were_two: bool,
}

impl Promise for NoLitter {
    fn terms(&self) -> Terms {
        Terms::of("no-litter")
            .about("In the end nobody has left persistent znodes that become more with every round.")
            .tested_when(
                "Everybody has come to its end, nobody has died, and nothing is left that could become more, \
                 or somebody had made two of a kind.",
            )
    }

    fn see(&mut self, event: &Event, _: &mut Vec<Finding>) {
        self.deaths.see(event);
        self.running.see(event);
        match event {
            // Nothing is judged any more.
            _ if self.deaths.any() => {
                self.made.clear();
                self.sessions.clear();
            }
            Event::Is(GroundTruth::SessionOpened { session, .. }) => drop(self.sessions.insert(*session)),
            Event::Is(GroundTruth::NodeCreated { path, by, owner: SessionId::NONE, .. })
                if kind(path).is_some() =>
            {
                let is_like = |(other, maker): (&Text, &SessionId)| maker == by && like(other) == like(path);
                self.were_two |= self.sessions.contains(by) && self.made.iter().any(is_like);
                self.made.insert(path.clone(), *by);
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => drop(self.made.remove(path)),
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if self.deaths.any() || self.running.any() || !rest.unfinished.is_empty() {
            return;
        }
        let mut known = BTreeMap::new();
        for (path, by) in self.made.iter().filter(|(_, by)| self.sessions.contains(by)) {
            if let Some(other) = known.insert((like(path), by), path) {
                let what = format!("{other} and {path} are left, though everybody has come to its end");
                found.push(broken_at(what, [&**other, &**path]));
                return;
            }
        }
        found.extend((known.is_empty() || self.were_two).then_some(Finding::Tested));
    }
}

/// Those for which this is the same are of one place and one kind.
fn like(path: &str) -> (&str, Option<String>) {
    (parent(path), kind(path))
}

/// A name without its numbers and guids, if there are any in it.
fn kind(path: &str) -> Option<String> {
    let name = &path[parent(path).len()..];
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_number = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    let kind: Vec<&str> = words.iter().map(|word| if is_number(word) { "#" } else { word }).collect();
    words.iter().any(is_number).then(|| kind.join("-"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// What is found at rest after these znodes were made, and these events.
    fn at_rest(made: &[(&str, u16)], then: Vec<Event>, unfinished: u16) -> Vec<Finding> {
        let made = made.iter().map(|(path, p)| {
            let (by, owner, czxid) = (session(*p), SessionId::NONE, zk_api::Zxid::new(1, 1));
            Event::Is(GroundTruth::NodeCreated { path: (*path).into(), by, owner, czxid })
        });
        let rest = Rest { unfinished: (0..unfinished).map(actor).collect(), ..Rest::default() };
        let opened = [opened(0), opened(1)].into_iter();
        resting(NoLitter::default(), opened.chain(made).chain(then).collect(), &rest)
    }

    const NUMBERS: [&str; 2] = ["/a/n-0000000000", "/a/n-0000000001"];

    #[test]
    fn two_of_a_kind_that_one_has_left_break_it() {
        for two in [["/a/1", "/a/2"], ["/a/seen-g00x00x1", "/a/seen-g00x00x2"], NUMBERS] {
            let found = at_rest(&two.map(|path| (path, 0)), vec![finished(0)], 0);
            let what = format!("{} and {} are left, though everybody has come to its end", two[0], two[1]);
            assert_eq!(broken_by(&found), [(&*what, None)]);
        }
        let third = [(NUMBERS[0], 0), (NUMBERS[1], 0), ("/a/n-0000000002", 0)];
        assert_eq!(broken_by(&at_rest(&third, vec![], 0)).len(), 1, "it is told once");
    }

    /// One that is left may become two with the next round, or stay one.
    #[test]
    fn one_of_each_is_none_nor_are_two_kinds_or_places_or_what_is_deleted_or_an_administrators() {
        let others = [["/a/p0", "/b/p1"], ["/a/seen-1", "/a/done-1"], ["/a/x", "/a/x1"]];
        for two in others {
            assert_eq!(at_rest(&two.map(|path| (path, 0)), vec![], 0), [], "{two:?}");
        }
        assert_eq!(at_rest(&[(NUMBERS[0], 0), (NUMBERS[1], 1)], vec![], 0), []);
        let administrators = NUMBERS.map(|path| (path, ADMIN));
        assert_eq!(at_rest(&administrators, vec![], 0), [Finding::Tested]);
        assert_eq!(at_rest(&[&administrators[..], &[("/b/p0", 0)]].concat(), vec![], 0), []);
        assert_eq!(at_rest(&["/a/entries", "/a/taken"].map(|path| (path, 0)), vec![], 0), [Finding::Tested]);
        let own = NUMBERS.map(|path| (path, 0));
        let one_goes = deleted(NUMBERS[0], 0, NOBODY);
        assert_eq!(at_rest(&own, vec![one_goes.clone()], 0), [Finding::Tested]);
        assert_eq!(at_rest(&own[..1], vec![one_goes], 0), [Finding::Tested]);
    }

    #[test]
    fn who_has_not_ended_or_has_died_may_have_left_them() {
        let own = NUMBERS.map(|path| (path, 0));
        assert_eq!(at_rest(&own, vec![], 1), []);
        for dies in [crashed(0), closed(0)] {
            assert_eq!(at_rest(&own, vec![dies], 0), []);
        }
        assert_eq!(at_rest(&own, vec![by_thread(1, attempts(0)), finished(0)], 0), [], "its thread goes on");
        // Neither is a death: what an administrator takes away elsewhere, and to close one's own session.
        for event in [deleted("/b/p0", ADMIN, 0), closes(0)] {
            assert_eq!(broken_by(&at_rest(&own, vec![event], 0)).len(), 1);
        }
    }
}

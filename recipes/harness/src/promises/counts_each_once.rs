//! `counts-each-once`.
//!
//! An actor that counts says of the counter's znode that it *adds* a number, and *has added* it. The znode's data is
//! the sum, in digits.

use super::findings::broken_at;
use crate::event::{Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;

/// A counter shows what was added, each number once: never more than the sum of what actors have begun to add, and at
/// rest no less than the sum of what they have added. Numbers are not negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountsEachOnce {
    node: &'static str,
    begun: i64,
    added: i64,
    shown: i64,
}

impl CountsEachOnce {
    /// For one counter, which begins with nothing.
    pub fn of(node: &'static str) -> Self {
        CountsEachOnce { node, begun: 0, added: 0, shown: 0 }
    }
}

impl Promise for CountsEachOnce {
    fn terms(&self) -> Terms {
        Terms::of("counts-each-once")
            .about("A counter shows the sum of what was added to it, each number once.")
            .tested_when("Somebody says that it has added something.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { what, .. } => match what.told() {
                Some((words::ADDS, node, number)) if node == self.node => self.begun += number,
                Some((words::HAS_ADDED, node, number)) if node == self.node => {
                    self.added += number;
                    found.push(Finding::Tested);
                }
                _ => {}
            },
            Event::Is(GroundTruth::NodeWritten { path, data, .. }) if **path == *self.node => {
                let text = String::from_utf8_lossy(data.bytes());
                self.shown = text.trim().parse().unwrap_or(0);
                if self.shown > self.begun {
                    let what = format!("{} shows {}, and {} were added", self.node, self.shown, self.begun);
                    found.push(broken_at(what, [self.node]));
                }
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if **path == *self.node => self.shown = 0,
            Event::Is(_) => {}
        }
    }

    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        if self.shown < self.added {
            let what =
                format!("{} shows {} in the end, and {} were added", self.node, self.shown, self.added);
            found.push(broken_at(what, [self.node]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::event::Observation;
    use zk_api::{SessionId, Zxid};

    fn says(what: &str) -> Event {
        Event::Observed {
            actor: actor(0),
            what: Observation::note(crate::words::Word::own(what), "/counter", 2),
        }
    }

    fn shows(number: &str) -> Event {
        let (path, by, owner) = ("/counter".into(), session(0), SessionId::NONE);
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data: number.into(), mzxid: Zxid::new(1, 1) })
    }

    #[test]
    fn what_is_added_once_keeps_it() {
        let events = vec![shows(""), says("adds"), shows("2"), says("has added"), says("adds"), shows("4")];
        assert_eq!(findings(CountsEachOnce::of("/counter"), events.clone()), [Finding::Tested]);
        assert_eq!(resting(CountsEachOnce::of("/counter"), events, &Rest::default()), []);
    }

    #[test]
    fn what_is_added_twice_breaks_it() {
        let found = findings(CountsEachOnce::of("/counter"), vec![says("adds"), shows("2"), shows("4")]);
        assert_eq!(broken_by(&found), [("/counter shows 4, and 2 were added", None)]);
        let found = findings(CountsEachOnce::of("/counter"), vec![says("adds"), shows("3")]);
        assert_eq!(broken_by(&found), [("/counter shows 3, and 2 were added", None)]);
    }

    #[test]
    fn what_was_added_and_is_not_there_breaks_it() {
        let events = vec![says("adds"), shows("2"), says("has added"), shows("0")];
        let found = resting(CountsEachOnce::of("/counter"), events, &Rest::default());
        assert_eq!(broken_by(&found), [("/counter shows 0 in the end, and 2 were added", None)]);
    }

    /// It was held to what it had shown last.
    #[test]
    fn a_counter_that_is_gone_shows_nothing() {
        let gone = deleted("/counter", 0, 0);
        let events = vec![says("adds"), shows("2"), says("has added"), gone.clone()];
        let found = resting(CountsEachOnce::of("/counter"), events, &Rest::default());
        assert_eq!(broken_by(&found), [("/counter shows 0 in the end, and 2 were added", None)]);
        let another = vec![says("adds"), shows("2"), says("has added"), deleted("/another", 0, 0)];
        assert_eq!(resting(CountsEachOnce::of("/counter"), another, &Rest::default()), []);
        let again = vec![says("adds"), shows("2"), says("has added"), gone, shows("2")];
        assert_eq!(resting(CountsEachOnce::of("/counter"), again, &Rest::default()), []);
    }
}

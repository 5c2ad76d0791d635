//! `counts-each-once`.
//!
//! An actor that counts says of the counter's znode that it *adds* a number, and *has added* it, or as much of it as it
//! has: 0 if it was refused. Who adds several numbers at a time tells of different ones. The znode's data is the sum:
//! in digits, or as four or eight bytes, as Curator has it; and what it is made with before anybody adds. A counter
//! that begins as something else is not judged.

use super::findings::broken_at;
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::BTreeSet;

/// A counter shows what was added, each number once: never more than the sum of what actors have begun to add, and at
/// rest no less than the sum of what they have added. What is taken away counts as soon as it may have been for the
/// latter, and when it surely was for the former: at rest it may show too much that did not when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountsEachOnce {
    node: &'static str,
    most: i64,
    least: i64,
    shown: i64,
    /// What each actor adds, and has not said to have added. Who tells of the same number again tries again.
    open: BTreeSet<(ActorId, i64)>,
    /// Who adds to it: whoever is alone loses nothing to another.
    adders: BTreeSet<ActorId>,
    /// Whether what it first showed was a number.
    is_number: Option<bool>,
}

impl CountsEachOnce {
    /// For one counter, which begins with nothing.
    pub fn of(node: &'static str) -> Self {
        CountsEachOnce {
            node,
            most: 0,
            least: 0,
            shown: 0,
            open: BTreeSet::new(),
            adders: BTreeSet::new(),
            is_number: None,
        }
    }

    fn shows(&mut self, data: &[u8], found: &mut Vec<Finding>) {
        let shown = if data.is_empty() { Some(0) } else { sum(data) };
        let is_first = self.is_number.is_none();
        if !data.is_empty() {
            self.is_number.get_or_insert(shown.is_some());
        }
        self.shown = shown.unwrap_or(0);
        if is_first && self.adders.is_empty() {
            (self.most, self.least) = (self.shown, self.shown);
        }
        if self.shown > self.most && self.is_number != Some(false) {
            let what = format!("{} shows {}, and {} were added", self.node, self.shown, self.most);
            found.push(broken_at(what, [self.node]));
        }
    }
}

impl Promise for CountsEachOnce {
    fn terms(&self) -> Terms {
        Terms::of("counts-each-once")
            .about("A counter shows the sum of what was added to it, each number once.")
            .tested_when("Somebody says that it has added something to a counter that shows numbers, and another adds to it as well.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => match what.told() {
                Some((words::ADDS, node, number)) if node == self.node => {
                    self.adders.insert(*actor);
                    if self.open.insert((*actor, number)) {
                        self.most += number.max(0);
                        self.least += number.min(0);
                    }
                }
                Some((words::HAS_ADDED, node, number)) if node == self.node => {
                    let mut its = self.open.range((*actor, i64::MIN)..=(*actor, i64::MAX));
                    let same = self.open.get(&(*actor, number)).or_else(|| its.next()).copied();
                    let begun = same.map_or(number, |(_, begun)| begun);
                    self.open.remove(&(*actor, begun));
                    self.most += number - begun.max(0);
                    self.least += number - begun.min(0);
                    self.adders.insert(*actor);
                    let is_tested = self.is_number != Some(false) && self.adders.len() > 1;
                    found.extend(is_tested.then_some(Finding::Tested));
                }
                _ => {}
            },
            Event::Is(GroundTruth::NodeWritten { path, data, .. }) if **path == *self.node => {
                self.shows(data.bytes(), found);
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if **path == *self.node => self.shown = 0,
            Event::Is(_) => {}
        }
    }

    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        let added = if self.shown < self.least { self.least } else { self.most.min(self.shown) };
        if self.shown != added && self.is_number != Some(false) {
            let what = format!("{} shows {} in the end, and {added} were added", self.node, self.shown);
            found.push(broken_at(what, [self.node]));
        }
    }
}

/// What a counter shows, if it is a number. Fractions do not count.
fn sum(data: &[u8]) -> Option<i64> {
    let is_text = |text: &&str| text.chars().all(|it| it.is_whitespace() || !it.is_control());
    if let Some(text) = std::str::from_utf8(data).ok().map(str::trim).filter(is_text) {
        return text.parse().or_else(|_| text.parse().map(|shown: f64| shown as i64)).ok();
    }
    let int = data.try_into().map(|bytes| i32::from_be_bytes(bytes).into());
    int.or_else(|_| data.try_into().map(i64::from_be_bytes)).ok()
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

    /// Another adds nothing.
    fn another(word: &str) -> Event {
        let what = Observation::note(crate::words::Word::own(word), "/counter", 0);
        Event::Observed { actor: actor(1), what }
    }

    fn shows(number: &str) -> Event {
        let (path, by, owner) = ("/counter".into(), session(0), SessionId::NONE);
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data: number.into(), mzxid: Zxid::new(1, 1) })
    }

    #[test]
    fn what_is_added_once_keeps_it() {
        let events = vec![shows(""), says("adds"), shows("2"), says("has added"), says("adds"), shows("4")];
        assert_eq!(findings(CountsEachOnce::of("/counter"), events.clone()), []);
        assert_eq!(resting(CountsEachOnce::of("/counter"), events, &Rest::default()), []);
    }

    /// Whoever adds alone cannot lose what another adds, and that it had added passed for a test.
    #[test]
    fn it_takes_another_that_adds() {
        let found = |before| findings(CountsEachOnce::of("/counter"), vec![before, says("has added")]);
        assert_eq!(found(says("adds")), []);
        assert_eq!(found(another("adds")), [Finding::Tested]);
        assert_eq!(found(another("has added")), [Finding::Tested]);
        assert_eq!(found(another("reads")), []);
    }

    #[test]
    fn what_is_added_twice_breaks_it() {
        let found = findings(CountsEachOnce::of("/counter"), vec![says("adds"), shows("2"), shows("4")]);
        assert_eq!(broken_by(&found), [("/counter shows 4, and 2 were added", None)]);
        let found = findings(CountsEachOnce::of("/counter"), vec![says("adds"), shows("3")]);
        assert_eq!(broken_by(&found), [("/counter shows 3, and 2 were added", None)]);
    }

    /// It was told of as something to be added for ever, so that others could count twice.
    #[test]
    fn what_was_refused_is_not_added() {
        let says = |p, word: &str, number| Event::Observed {
            actor: actor(p),
            what: Observation::note(crate::words::Word::own(word), "/counter", number),
        };
        let refused = || vec![says(0, "adds", 1), says(0, "has added", 0)];
        let judged = |then: Vec<Event>| {
            broken_by(&findings(CountsEachOnce::of("/counter"), [refused(), then].concat())).len()
        };
        let adds = || vec![says(0, "adds", 1), shows("1"), says(0, "has added", 1)];
        assert_eq!((judged(vec![shows("1")]), judged(adds())), (1, 0));
        assert_eq!(judged([adds(), vec![shows("2")]].concat()), 1);
        assert_eq!(
            judged(vec![says(1, "adds", 2), says(0, "adds", 1), says(0, "has added", 0), shows("2")]),
            0
        );
        let unheard = vec![says(1, "has added", 2), shows("2")];
        assert_eq!(judged(unheard.clone()), 1, "it was not begun");
        let found = broken_by(&findings(CountsEachOnce::of("/counter"), unheard)).len();
        assert_eq!(found, 1, "nor does it begin with that");
    }

    /// Each try was taken for a number more, so that one could be added twice.
    #[test]
    fn who_tells_again_that_it_adds_tries_again() {
        let tries = || vec![says("adds"), shows("2"), says("adds"), shows("4"), says("has added")];
        let found = findings(CountsEachOnce::of("/counter"), tries());
        assert_eq!(broken_by(&found), [("/counter shows 4, and 2 were added", None)]);
        let once = vec![says("adds"), says("adds"), shows("2"), says("has added")];
        assert_eq!(findings(CountsEachOnce::of("/counter"), once.clone()), []);
        assert_eq!(resting(CountsEachOnce::of("/counter"), once, &Rest::default()), []);
        // The next life of one that has crashed may add again what the first has added already.
        let next_life = match says("adds") {
            Event::Observed { actor, what } => Event::Observed { actor: ActorId { life: 1, ..actor }, what },
            event => event,
        };
        let both = vec![says("adds"), shows("2"), crashed(0), next_life, shows("4")];
        assert_eq!(findings(CountsEachOnce::of("/counter"), both), []);
    }

    /// The second of two that were under way was taken for another try of the first.
    #[test]
    fn who_adds_different_numbers_adds_each_of_them() {
        let says = |word, number| Event::Observed {
            actor: actor(0),
            what: Observation::note(crate::words::Word::own(word), "/counter", number),
        };
        let both = |shown: &[&str]| {
            let begins = vec![says("adds", 1), says("adds", 2)];
            let ends = vec![says("has added", 1), says("has added", 2)];
            let shown = shown.iter().map(|number| shows(number)).collect();
            let events = [begins, shown, ends].concat();
            broken_by(&resting(CountsEachOnce::of("/counter"), events, &Rest::default())).len()
        };
        assert_eq!(both(&["1", "3"]), 0);
        assert_eq!(both(&["3", "4"]), 1);
        assert_eq!(both(&["2"]), 1, "the other one is lost");
    }

    #[test]
    fn what_was_added_and_is_not_there_breaks_it() {
        let events = vec![says("adds"), shows("2"), says("has added"), shows("0")];
        let found = resting(CountsEachOnce::of("/counter"), events, &Rest::default());
        assert_eq!(broken_by(&found), [("/counter shows 0 in the end, and 2 were added", None)]);
    }

    /// Whoever takes something away was held to have added it.
    #[test]
    fn what_is_taken_away_is_missing_when_it_may_be_and_must_be_when_it_is() {
        let less = |word| match says(word) {
            Event::Observed { actor, .. } => Event::Observed {
                actor,
                what: Observation::note(crate::words::Word::own(word), "/counter", -2),
            },
            event => event,
        };
        let adds = vec![says("adds"), shows("2"), says("has added")];
        let ends = |then: Vec<Event>| {
            let events = [adds.clone(), then].concat();
            let at_once = broken_by(&findings(CountsEachOnce::of("/counter"), events.clone())).len();
            (at_once, broken_by(&resting(CountsEachOnce::of("/counter"), events, &Rest::default())).len())
        };
        assert_eq!(ends(vec![less("adds")]), (0, 0));
        assert_eq!(ends(vec![less("adds"), shows("0"), less("has added")]), (0, 0));
        assert_eq!(ends(vec![less("adds"), less("has added"), shows("2")]), (1, 1));
        assert_eq!(ends(vec![less("adds"), less("has added")]), (0, 1), "nobody has taken it away");
        assert_eq!(ends(vec![less("adds"), shows("-1")]), (0, 1));
    }

    #[test]
    fn a_sum_is_in_digits_or_in_bytes() {
        let shown = [&b"12"[..], b" -3\n", b"4.0", &[0, 0, 1, 2], &[0xff; 8]].map(|data| sum(data).unwrap());
        assert_eq!(shown, [12, -3, 4, 258, -1]);
        assert_eq!([&b""[..], b"none", b"a\nbc", &[0xff; 3]].map(sum), [None; 4]);
    }

    /// Data in a format of its own was nothing, to which nothing had been added.
    #[test]
    fn a_counter_of_no_numbers_is_not_judged_and_one_begins_as_it_is_made() {
        let ends = |events: Vec<Event>| {
            let found = findings(CountsEachOnce::of("/counter"), events.clone());
            let rest = resting(CountsEachOnce::of("/counter"), events, &Rest::default());
            (found.len(), broken_by(&found).len(), broken_by(&rest).len())
        };
        let adds = |shown: &[&str]| {
            let [first, then] = shown else { panic!("two") };
            vec![shows(first), says("adds"), another("adds"), shows(then), says("has added")]
        };
        assert_eq!(ends(adds(&["{\"value\": 0}", "{\"value\": 2}"])), (0, 0, 0));
        assert_eq!(ends(adds(&["none", "7"])), (0, 0, 0), "it may mean anything");
        assert_eq!(ends(vec![shows("1000"), shows("1003")]), (1, 1, 1), "it is made once");
        assert_eq!(ends(adds(&["0", "none"])), (1, 0, 1), "it has been a number");
        assert_eq!((ends(adds(&["1000", "1002"])), ends(adds(&["1000", "1003"]))), ((1, 0, 0), (2, 1, 1)));
        assert_eq!(ends(adds(&["1000", "2"])), (1, 0, 1), "what was there is gone");
        let by_the_first = vec![says("adds"), shows("2"), says("has added"), says("adds"), shows("4")];
        assert_eq!(ends(by_the_first), (0, 0, 0));
        assert_eq!(ends(vec![says("adds"), shows("3")]), (1, 1, 1));
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

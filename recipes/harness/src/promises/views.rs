//! What readers see of a znode's children over time: `committed-reads`, `no-torn-reads`, `monotone-reads`,
//! `reads-what-it-was-told` and `fresh-at-rest`.

use super::findings::{broken, broken_at};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{Data, Text, Zxid};

/// What readers read of the children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Of {
    /// Their names.
    Names,
    /// Their names and data.
    Values,
}

/// What is promised of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Owes {
    Committed,
    Untorn,
    Monotone,
    Told,
    Fresh,
}

/// Children with their values, as text.
type Children = BTreeMap<Text, Text>;

/// Children as a note shows them: `{a=1,b=2}`, or `{a,b}` for names alone.
pub fn shown<'a>(children: impl IntoIterator<Item = (&'a Text, Option<&'a Data>)>) -> String {
    let one = |(name, data): (&Text, Option<&Data>)| match data {
        Some(data) => format!("{name}={}", String::from_utf8_lossy(data.bytes())),
        None => name.to_string(),
    };
    format!("{{{}}}", children.into_iter().map(one).collect::<Vec<_>>().join(","))
}

/// A promise about what readers see of one znode's children.
///
/// A reader says "follows" of the znode, and "sees" of its path with what the reader has just been given, as [`shown`].
/// A reader that learns from somebody else that there is something newer than what it saw last says "told" before it
/// reads again. What there was to be seen is taken from the ground truth. The changes of one transaction count as one,
/// where its zxid is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Views {
    root: &'static str,
    of: Of,
    owes: Owes,
    /// What there was, oldest first, from what somebody who reads may have seen last. Never empty.
    states: Vec<Children>,
    /// What there was before, in no order any more; of what is to be fresh, only what a trial has set up.
    past: BTreeSet<Children>,
    /// The transaction of the last of them, if it may be under way.
    zxid: Option<Zxid>,
    readers: BTreeMap<ActorId, Reader>,
}

/// Who follows the znode and has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Reader {
    /// The state it saw last, the oldest that it may have been.
    at: Option<usize>,
    /// It was told that there is a newer one, and has not read since.
    told: bool,
}

impl Views {
    fn new(root: &'static str, of: Of, owes: Owes) -> Views {
        let states = vec![Children::new()];
        Views { root, of, owes, states, past: BTreeSet::new(), zxid: None, readers: BTreeMap::new() }
    }

    /// What is read was committed. A mixture of several states passes if each part was in one of them: to rule that out
    /// is for [`untorn`](Views::untorn), which goes with this promise.
    pub fn committed(root: &'static str, of: Of) -> Views {
        Views::new(root, of, Owes::Committed)
    }

    /// What is read existed as a whole at one time.
    pub fn untorn(root: &'static str, of: Of) -> Views {
        Views::new(root, of, Owes::Untorn)
    }

    /// No reader sees something older than what it saw before.
    pub fn monotone(root: &'static str, of: Of) -> Views {
        Views::new(root, of, Owes::Monotone)
    }

    /// A reader that is told of something newer reads it. If an administrator takes that away, there may be nothing
    /// newer until it is set again: so this promise is [`Undisturbed`](super::Undisturbed).
    pub fn told(root: &'static str, of: Of) -> Views {
        Views::new(root, of, Owes::Told)
    }

    /// At rest, a reader that still follows has seen the latest state.
    pub fn fresh(root: &'static str, of: Of) -> Views {
        Views::new(root, of, Owes::Fresh)
    }

    fn show(&self, state: &Children) -> String {
        let data = |value: &Text| Data::from(&**value);
        match self.of {
            Of::Names => shown(state.keys().map(|name| (name, None))),
            Of::Values => {
                let all: Vec<_> = state.iter().map(|(name, value)| (name, data(value))).collect();
                shown(all.iter().map(|(name, data)| (*name, Some(data))))
            }
        }
    }

    /// Whether it has come about by a change.
    fn is_changed(&self, state: &Children) -> bool {
        !state.is_empty() && !self.past.contains(state)
    }

    /// The name of a child.
    fn child(&self, path: &Text) -> Option<Text> {
        let name = path.strip_prefix(self.root)?.strip_prefix('/')?;
        (!name.contains('/')).then(|| name.into())
    }

    /// The state that a change is made to: a new one, unless it is of the same transaction as the last change.
    fn next(&mut self, zxid: Option<Zxid>) -> &mut Children {
        if zxid.is_none() || self.zxid != zxid {
            self.states.push(self.states.last().expect("there is always one").clone());
        }
        self.zxid = zxid;
        self.states.last_mut().expect("there is always one")
    }

    fn learn(&mut self, truth: &GroundTruth, found: &mut Vec<Finding>) {
        match truth {
            GroundTruth::NodeCreated { path, czxid, .. } => {
                if let Some(name) = self.child(path) {
                    self.next(Some(*czxid)).insert(name, "".into());
                }
            }
            GroundTruth::NodeWritten { path, data, mzxid, .. } if self.of == Of::Values => {
                if let Some(name) = self.child(path) {
                    let value = String::from_utf8_lossy(data.bytes()).as_ref().into();
                    self.next(Some(*mzxid)).insert(name, value);
                }
            }
            GroundTruth::NodeDeleted { path, zxid, .. } => {
                if let Some(name) = self.child(path) {
                    self.next(*zxid).remove(&name);
                }
            }
            GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor } => {
                let saw = self.readers.remove(actor).and_then(|reader| reader.at);
                let saw_change = saw.is_some_and(|at| self.is_changed(&self.states[at]));
                found.extend((saw_change && self.owes == Owes::Fresh).then_some(Finding::Tested));
            }
            GroundTruth::Crashed { actor } => self.readers.retain(|reader, _| reader.main() != *actor),
            _ => {}
        }
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        match what.told() {
            Some((words::FOLLOWS, about, _)) if about == self.root => {
                self.readers.entry(actor).or_default();
            }
            Some((words::TOLD, about, _)) if about == self.root => {
                self.readers.entry(actor).or_default().told = true;
            }
            Some((words::SEES, about, _)) => {
                if let Some(shown) = about.strip_prefix(self.root).filter(|rest| rest.starts_with('{')) {
                    self.sees(actor, shown, found);
                }
            }
            _ => {}
        }
    }

    fn sees(&mut self, actor: ActorId, shown: &str, found: &mut Vec<Finding>) {
        let Reader { at, told } = self.readers.get(&actor).copied().unwrap_or_default();
        let all: Vec<usize> =
            (0..self.states.len()).filter(|nth| self.show(&self.states[*nth]) == shown).collect();
        let newer = at.map_or(0, |at| at + usize::from(told));
        let fits = all.iter().copied().find(|nth| *nth >= newer);
        let was = !all.is_empty() || self.past.iter().any(|state| self.show(state) == shown);
        let is_older = at.is_some_and(|at| all.last().is_none_or(|last| *last < at));
        let root = self.root;
        // What it owes is judged where nothing worse is wrong.
        let wrong = match (self.owes, fits, was) {
            (Owes::Committed, None, false) if !self.is_torn(shown) => Some("which never was"),
            (Owes::Untorn, None, false) if self.is_torn(shown) => Some("which never was at one time"),
            (Owes::Monotone, None, true) if is_older => Some("which is older than what it saw before"),
            (Owes::Told, None, true) if told => Some("though it was told that there is something newer"),
            (Owes::Committed | Owes::Untorn | Owes::Monotone | Owes::Told | Owes::Fresh, _, _) => None,
        };
        match wrong {
            Some(why) => found.push(broken_at(format!("{actor} sees {root}{shown}, {why}"), [root])),
            None => {
                let is_tested = match self.owes {
                    Owes::Committed | Owes::Untorn => !self.past.is_empty(),
                    Owes::Monotone => at.is_some_and(|at| at < self.states.len() - 1),
                    Owes::Told => told && at.is_some(),
                    Owes::Fresh => false,
                };
                found.extend(is_tested.then_some(Finding::Tested));
            }
        }
        let at = match self.owes {
            // When it was is no matter.
            Owes::Committed | Owes::Untorn => None,
            Owes::Monotone | Owes::Told | Owes::Fresh => fits.or(all.last().copied()).or(at),
        };
        self.readers.insert(actor, Reader { at, told: false });
        self.forget();
    }

    /// Of what nobody who reads may have seen last, the order is no matter. Whoever begins to read later may see it still.
    fn forget(&mut self) {
        let last = self.states.len() - 1;
        let first = match self.owes {
            Owes::Committed | Owes::Untorn => last,
            Owes::Monotone | Owes::Told | Owes::Fresh => {
                self.readers.values().map(|reader| reader.at.unwrap_or(0)).min().unwrap_or(0).min(last)
            }
        };
        let old = self.states.drain(..first);
        match self.owes {
            Owes::Fresh => drop(old),
            Owes::Committed | Owes::Untorn | Owes::Monotone | Owes::Told => self.past.extend(old),
        }
        for at in self.readers.values_mut().filter_map(|reader| reader.at.as_mut()) {
            *at -= first;
        }
    }

    /// Whether each part of what is shown was so at some time.
    fn is_torn(&self, shown: &str) -> bool {
        let parts = shown.trim_matches(['{', '}']).split(',').filter(|part| !part.is_empty());
        let was = |part: &str| {
            self.states
                .iter()
                .chain(&self.past)
                .any(|state| self.show(state).trim_matches(['{', '}']).split(',').any(|other| other == part))
        };
        parts.into_iter().all(was)
    }
}

impl Promise for Views {
    fn terms(&self) -> Terms {
        match self.owes {
            Owes::Committed => Terms::of("committed-reads")
                .about("Whatever a reader sees was committed.")
                .tested_when("Somebody sees something after a change."),
            Owes::Untorn => Terms::of("no-torn-reads")
                .about("What a reader sees of several znodes was so at one time.")
                .tested_when("Somebody sees something after a change."),
            Owes::Monotone => Terms::of("monotone-reads")
                .about("No reader sees something older than what it saw before.")
                .tested_when("Somebody that has seen something sees it again after a change."),
            Owes::Told => Terms::of("reads-what-it-was-told")
                .about("Who is told by others that there is something newer, and reads, sees it.")
                .tested_when("Somebody that has seen something, and is told that there is something newer, reads again."),
            Owes::Fresh => Terms::of("fresh-at-rest")
                .about("At rest, whoever still follows has seen the last there is.")
                .tested_when("Somebody that has seen a change comes to its end, or waits at rest."),
        }
    }

    fn begins_with(&mut self, setup: &[Text]) {
        let children: Children =
            setup.iter().filter_map(|path| Some((self.child(path)?, Text::default()))).collect();
        if self.owes == Owes::Fresh && !children.is_empty() {
            self.past.insert(children.clone());
        }
        self.states = vec![children];
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => self.hear(*actor, what, found),
            Event::Is(truth) => {
                self.learn(truth, found);
                self.forget();
            }
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if self.owes != Owes::Fresh {
            return;
        }
        let last = self.show(self.states.last().expect("there is always one"));
        for (actor, reader) in self.readers.iter().filter(|(actor, _)| rest.goes_on(**actor)) {
            let saw = reader.at.map(|at| (self.show(&self.states[at]), self.is_changed(&self.states[at])));
            let root = self.root;
            match saw {
                Some((saw, is_changed)) if saw == last => found.extend(is_changed.then_some(Finding::Tested)),
                Some((saw, _)) => {
                    let what = format!("{actor} waits on with {root}{saw}, and it is {root}{last}");
                    found.push(broken(what, None));
                }
                None => found.push(broken(format!("{actor} waits on and has never seen {root}{last}"), None)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::event::End;
    use zk_api::SessionId;

    const ROOT: &str = "/c";

    fn says(p: u16, what: &str, about: &str) -> Event {
        Event::Observed { actor: actor(p), what: Observation::note(crate::words::Word::own(what), about, 0) }
    }

    fn sets(name: &str, value: &str, zxid: u32, is_new: bool) -> Vec<Event> {
        let (path, by, zxid) = (Text::from(format!("/c/{name}")), session(9), Zxid::new(1, zxid));
        let created = Event::Is(GroundTruth::NodeCreated {
            path: path.clone(),
            by,
            owner: SessionId::NONE,
            czxid: zxid,
        });
        let written = Event::Is(GroundTruth::NodeWritten {
            path,
            by,
            owner: SessionId::NONE,
            data: Data::from(value),
            mzxid: zxid,
        });
        if is_new { vec![created, written] } else { vec![written] }
    }

    fn removes(name: &str, zxid: Option<u32>) -> Event {
        let (path, none) = (Text::from(format!("/c/{name}")), SessionId::NONE);
        let zxid = zxid.map(|counter| Zxid::new(1, counter));
        Event::Is(GroundTruth::NodeDeleted { path, by: none, owner: none, zxid })
    }

    /// `{}`, then both 1 at once, then both 2, one after the other.
    fn history() -> Vec<Event> {
        [sets("a", "1", 1, true), sets("b", "1", 1, true), sets("a", "2", 2, false), sets("b", "2", 3, false)]
            .concat()
    }

    fn judge(promise: Views, events: &[Event]) -> Vec<Finding> {
        findings(promise, [history(), events.to_vec()].concat())
    }

    fn rests(events: Vec<Event>) -> Vec<Finding> {
        let mut promise = Views::fresh(ROOT, Of::Values);
        let mut found = Vec::new();
        [history(), events].concat().iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest { unfinished: vec![actor(0)], ..Rest::default() }, &mut found);
        found
    }

    #[test]
    fn what_never_was_breaks_committed_reads_and_half_of_each_no_torn_reads() {
        let never = [says(0, "sees", "/c{a=1,b=7}")];
        let found = judge(Views::committed(ROOT, Of::Values), &never);
        assert_eq!(broken_by(&found), [("p0 sees /c{a=1,b=7}, which never was", None)]);
        assert_eq!(broken_by(&judge(Views::untorn(ROOT, Of::Values), &never)), []);
        for torn in ["/c{a=1,b=2}", "/c{a=1}"] {
            let torn = [says(0, "sees", torn)];
            assert_eq!(broken_by(&judge(Views::committed(ROOT, Of::Values), &torn)), []);
            let found = judge(Views::untorn(ROOT, Of::Values), &torn);
            assert!(broken_by(&found)[0].0.ends_with("which never was at one time"));
        }
    }

    #[test]
    fn what_one_transaction_did_is_seen_whole_and_what_two_did_may_be_seen_between() {
        for seen in ["/c{}", "/c{a=1,b=1}", "/c{a=2,b=1}", "/c{a=2,b=2}"] {
            let found = judge(Views::untorn(ROOT, Of::Values), &[says(0, "sees", seen)]);
            assert_eq!(found, [Finding::Tested], "{seen}");
        }
    }

    #[test]
    fn what_one_transaction_sets_and_deletes_is_one_and_seen_between_is_torn() {
        let changed = |zxid| [sets("a", "9", 9, false), vec![removes("b", zxid)]].concat();
        let between = |zxid| {
            judge(
                Views::untorn(ROOT, Of::Values),
                &[changed(zxid), vec![says(0, "sees", "/c{a=9,b=2}")]].concat(),
            )
        };
        let what = "p0 sees /c{a=9,b=2}, which never was at one time";
        assert_eq!(broken_by(&between(Some(9))), [(what, None)]);
        assert_eq!(between(Some(10)), [Finding::Tested], "two transactions");
    }

    #[test]
    fn going_back_breaks_monotone_reads_for_one_reader_and_not_for_two() {
        let (new, old) = ("/c{a=2,b=2}", "/c{a=1,b=1}");
        let found = judge(Views::monotone(ROOT, Of::Values), &[says(0, "sees", new), says(0, "sees", old)]);
        let what = "p0 sees /c{a=1,b=1}, which is older than what it saw before";
        assert_eq!(broken_by(&found), [(what, None)]);
        let found = judge(Views::monotone(ROOT, Of::Values), &[says(0, "sees", new), says(1, "sees", old)]);
        assert_eq!(broken_by(&found), []);
        // By one state is back as well, where somebody who may still see the oldest keeps their order.
        let events = [says(1, "follows", ROOT), says(0, "sees", new), says(0, "sees", "/c{a=2,b=1}")];
        let found = judge(Views::monotone(ROOT, Of::Values), &events);
        let what = "p0 sees /c{a=2,b=1}, which is older than what it saw before";
        assert_eq!(broken_by(&found), [(what, None)]);
    }

    #[test]
    fn what_nobody_can_have_seen_last_is_in_no_order_any_more() {
        let new = says(0, "sees", "/c{a=2,b=2}");
        let old = says(0, "sees", "/c{a=1,b=1}");
        let forgets = |mut promise: Views, events: &[Event]| {
            let all = [history(), vec![new.clone()], events.to_vec()].concat();
            all.iter().for_each(|event| promise.see(event, &mut Vec::new()));
            (promise.states.len(), promise.past.len())
        };
        assert_eq!(forgets(Views::monotone(ROOT, Of::Values), &[]), (1, 3));
        assert_eq!(forgets(Views::fresh(ROOT, Of::Values), &[]), (1, 0));
        assert_eq!(forgets(Views::committed(ROOT, Of::Values), &[]), (1, 3));
        assert_eq!(forgets(Views::committed(ROOT, Of::Values), &[old]), (1, 3));
        let follows = says(1, "follows", ROOT);
        let both = judge(Views::monotone(ROOT, Of::Values), &[new, follows, says(1, "sees", "/c{}")]);
        assert_eq!(both, [], "whoever comes later may see what is old");
    }

    #[test]
    fn what_never_changes_puts_nothing_to_the_test() {
        let [follows, nothing] = [says(0, "follows", ROOT), says(0, "sees", "/c{}")];
        let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::Done });
        let new = [Views::committed, Views::untorn, Views::monotone, Views::told, Views::fresh];
        for promise in new.map(|new| new(ROOT, Of::Values)) {
            let events = [&follows, &nothing, &nothing, &ends].map(Clone::clone);
            assert_eq!(findings(promise, events.into()), []);
        }
    }

    #[test]
    fn seeing_the_same_again_after_being_told_of_something_newer_breaks_it() {
        let old = says(0, "sees", "/c{a=1,b=1}");
        let told = [old.clone(), says(0, "told", ROOT), old.clone()];
        let found = judge(Views::told(ROOT, Of::Values), &told);
        let what = "p0 sees /c{a=1,b=1}, though it was told that there is something newer";
        assert_eq!(broken_by(&found), [(what, None)]);
        let found = judge(
            Views::told(ROOT, Of::Values),
            &[old.clone(), says(0, "told", ROOT), says(0, "sees", "/c{a=2,b=1}")],
        );
        assert_eq!(found, [Finding::Tested]);
        assert_eq!(judge(Views::told(ROOT, Of::Values), &[old.clone(), old]), []);
    }

    #[test]
    fn waiting_with_something_old_at_rest_breaks_it_and_with_the_last_does_not() {
        let follows = says(0, "follows", ROOT);
        let found = rests(vec![follows.clone(), says(0, "sees", "/c{a=1,b=1}")]);
        assert_eq!(broken_by(&found), [("p0 waits on with /c{a=1,b=1}, and it is /c{a=2,b=2}", None)]);
        let found = rests(vec![follows.clone()]);
        assert_eq!(broken_by(&found), [("p0 waits on and has never seen /c{a=2,b=2}", None)]);
        assert_eq!(rests(vec![follows.clone(), says(0, "sees", "/c{a=2,b=2}")]), [Finding::Tested]);
        let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::Done });
        assert_eq!(rests(vec![follows, says(0, "sees", "/c{a=1,b=1}"), ends]), [Finding::Tested]);
    }

    #[test]
    fn a_thread_that_waits_on_when_the_main_one_has_ended_is_judged_as_well() {
        let old = [says(0, "follows", ROOT), says(0, "sees", "/c{a=1,b=1}")].map(|event| by_thread(1, event));
        let (mut promise, mut found) = (Views::fresh(ROOT, Of::Values), Vec::new());
        let events = [history(), old.to_vec(), vec![finished(0)]].concat();
        events.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() }, &mut found);
        assert_eq!(broken_by(&found), [("p0/1 waits on with /c{a=1,b=1}, and it is /c{a=2,b=2}", None)]);
    }

    /// What a trial sets up was nothing that a reader could have seen, and was missing from what it had seen.
    #[test]
    fn what_a_trial_sets_up_was_there_before_anything_else() {
        let setup = ["/c", "/c/a", "/c/b", "/c/b/of_b", "/other"].map(Text::from);
        let judge = |new: fn(&'static str, Of) -> Views, of, events: &[Event]| {
            let (mut promise, mut found) = (new(ROOT, of), Vec::new());
            promise.begins_with(&setup);
            events.iter().for_each(|event| promise.see(event, &mut found));
            promise.at_rest(&Rest { unfinished: vec![actor(0)], ..Rest::default() }, &mut found);
            found
        };
        let [names, first] = ["/c{a,b}", "/c{a=,b=}"].map(|shown| says(0, "sees", shown));
        for new in [Views::committed, Views::untorn, Views::monotone, Views::told, Views::fresh] {
            assert_eq!(judge(new, Of::Values, std::slice::from_ref(&first)), [], "nothing has changed");
            assert_eq!(judge(new, Of::Names, std::slice::from_ref(&names)), []);
        }
        let found = judge(Views::untorn, Of::Values, &[says(0, "sees", "/c{}")]);
        assert_eq!(broken_by(&found), [("p0 sees /c{}, which never was at one time", None)]);
        let both = [sets("a", "1", 1, false), sets("b", "1", 1, false)].concat();
        let torn = [both.clone(), vec![says(0, "sees", "/c{a=,b=1}")]].concat();
        let what = "p0 sees /c{a=,b=1}, which never was at one time";
        assert_eq!(broken_by(&judge(Views::untorn, Of::Values, &torn)), [(what, None)]);
        let waits = [vec![first], both.clone()].concat();
        let what = "p0 waits on with /c{a=,b=}, and it is /c{a=1,b=1}";
        assert_eq!(broken_by(&judge(Views::fresh, Of::Values, &waits)), [(what, None)]);
        let last = [both, vec![says(0, "sees", "/c{a=1,b=1}")]].concat();
        assert_eq!(judge(Views::fresh, Of::Values, &last), [Finding::Tested]);
    }

    #[test]
    fn names_are_read_without_values_and_deletions_count() {
        let gone = removes("a", None);
        let both = says(0, "sees", "/c{a,b}");
        let events = [both.clone(), gone, says(0, "sees", "/c{b}"), both];
        let found = judge(Views::monotone("/c", Of::Names), &events);
        assert_eq!(broken_by(&found), [("p0 sees /c{a,b}, which is older than what it saw before", None)]);
    }

    #[test]
    fn two_changes_of_which_no_transaction_is_known_are_two() {
        let gone = [removes("a", None), removes("b", None)].to_vec();
        for seen in ["/c{b=2}", "/c{}"] {
            let events = [gone.clone(), vec![says(0, "sees", seen)]].concat();
            assert_eq!(judge(Views::untorn(ROOT, Of::Values), &events), [Finding::Tested]);
        }
    }

    #[test]
    fn the_crash_of_another_lets_nobody_go_back() {
        let (new, old) = (says(0, "sees", "/c{a=2,b=2}"), says(0, "sees", "/c{a=1,b=1}"));
        let broken = |who| {
            let events = [new.clone(), crashed(who), old.clone()];
            broken_by(&judge(Views::monotone(ROOT, Of::Values), &events)).len()
        };
        assert_eq!((broken(0), broken(1)), (0, 1));
    }

    #[test]
    fn to_see_the_same_again_is_not_to_go_back_though_it_was_told() {
        let new = says(0, "sees", "/c{a=2,b=2}");
        let again = [new.clone(), says(0, "told", ROOT), new.clone()];
        assert_eq!(broken_by(&judge(Views::monotone(ROOT, Of::Values), &again)), []);
        let first = [says(0, "told", ROOT), new];
        assert_eq!(judge(Views::told(ROOT, Of::Values), &first), [], "it had seen nothing before");
    }

    #[test]
    fn only_what_is_to_be_fresh_is_judged_at_the_end_and_at_rest() {
        let follows = [says(0, "follows", ROOT), says(1, "sees", "/c{a=2,b=2}")];
        let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        for new in [Views::committed, Views::untorn, Views::monotone, Views::told] {
            let events = [&history()[..], &follows].concat();
            assert_eq!(resting(new(ROOT, Of::Values), events.clone(), &rest), []);
            let found = |ends: &[Event]| findings(new(ROOT, Of::Values), [&events, ends].concat());
            assert_eq!(found(&[finished(1)]), found(&[]));
        }
    }
}

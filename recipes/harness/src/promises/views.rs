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
/// A reader says "follows" of the znode, or of each of the children that it reads, until it "is through with" it, and
/// "sees" of the znode's path with what the reader has just been given, as [`shown`]. A reader that learns from
/// somebody else that there is something newer than what it saw last says "told" before it reads again. What there was
/// to be seen is taken from the ground truth. The changes of one transaction count as one, where its zxid is known.
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

/// Who reads the znode and has not ended, or follows it still.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Reader {
    /// The state it saw last, the oldest that it may have been.
    at: Option<usize>,
    /// It was told that there is a newer one, and has not read since.
    told: bool,
    follows: Follows,
    /// The children that it reads; none stands for all.
    names: BTreeSet<Text>,
}

impl Reader {
    /// It follows a child, or not any more. Who follows all of them follows it as well.
    fn reads(&mut self, child: Text, on: bool) {
        let has_all = self.follows == Follows::Yes && self.names.is_empty();
        match on {
            _ if has_all => {}
            true => {
                self.follows = Follows::Yes;
                self.names.insert(child);
            }
            false if self.names.len() > 1 => drop(self.names.remove(&child)),
            false if self.names.contains(&child) => self.follows = Follows::Through,
            false => {}
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Follows {
    /// It reads as often as it likes.
    #[default]
    No,
    Yes,
    /// Though its code has come to its end: what its session's watches call reads on.
    Still,
    /// Not any more.
    Through,
}

impl Views {
    fn new(root: &'static str, of: Of, owes: Owes) -> Views {
        let states = vec![Children::new()];
        Views { root, of, owes, states, past: BTreeSet::new(), zxid: None, readers: BTreeMap::new() }
    }

    /// What is read was committed, and so was what somebody says that it *has set*: `/config to 1`. A mixture of
    /// several states passes if each part was in one of them: to rule that out is for [`untorn`](Views::untorn), which
    /// goes with this promise.
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

    /// At rest, a reader that still follows has seen the latest state, though its code may have come to its end.
    pub fn fresh(root: &'static str, of: Of) -> Views {
        Views::new(root, of, Owes::Fresh)
    }

    /// What there is to be seen by who reads these children, or all.
    fn show(&self, state: &Children, names: &BTreeSet<Text>) -> String {
        let read = state.iter().filter(|(name, _)| names.is_empty() || names.contains(*name));
        let all: Vec<_> = read.map(|(name, value)| (name, Data::from(&**value))).collect();
        shown(all.iter().map(|(name, data)| (*name, (self.of == Of::Values).then_some(data))))
    }

    /// What such a reader saw last, and whether it has come about by a change.
    fn saw(&self, Reader { at, names, .. }: &Reader) -> Option<(String, bool)> {
        let saw = self.show(&self.states[(*at)?], names);
        let is_changed = saw != "{}" && self.past.iter().all(|state| self.show(state, names) != saw);
        Some((saw, is_changed))
    }

    /// The name of a child.
    fn child(&self, path: &str) -> Option<Text> {
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
            GroundTruth::Finished { actor, end } if end.leaves_nothing_running() => {
                self.readers.retain(|reader, _| reader.main() != *actor);
            }
            GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor } => {
                found.extend(self.ends(*actor).then_some(Finding::Tested));
            }
            // Its client may go on in another one, but no watch of this one does.
            GroundTruth::SessionClosed { actor, .. } => {
                self.readers.retain(|reader, how| reader.main() != *actor || how.follows != Follows::Still)
            }
            GroundTruth::Crashed { actor } => self.readers.retain(|reader, _| reader.main() != *actor),
            _ => {}
        }
    }

    /// Its code comes to its end. Gives whether it was through with a change that it saw.
    fn ends(&mut self, actor: ActorId) -> bool {
        let Some(mut reader) = self.readers.remove(&actor) else { return false };
        if self.owes == Owes::Fresh && reader.follows == Follows::Yes {
            reader.follows = Follows::Still;
            self.readers.insert(actor, reader);
            return false;
        }
        let saw_change = self.saw(&reader).is_some_and(|(_, is_changed)| is_changed);
        self.owes == Owes::Fresh && reader.follows == Follows::Through && saw_change
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        match what.told() {
            Some((words::FOLLOWS, about, _)) if about == self.root => {
                let reader = self.readers.entry(actor).or_default();
                reader.follows = Follows::Yes;
                reader.names.clear();
            }
            Some((words::IS_THROUGH_WITH, about, _)) if about == self.root => {
                self.readers.entry(actor).or_default().follows = Follows::Through;
            }
            Some((word @ (words::FOLLOWS | words::IS_THROUGH_WITH), about, _)) => {
                if let Some(child) = self.child(about) {
                    self.readers.entry(actor).or_default().reads(child, word == words::FOLLOWS);
                }
            }
            Some((words::TOLD, about, _)) if about == self.root => {
                self.readers.entry(actor).or_default().told = true;
            }
            Some((words::HAS_SET, about, _)) if (self.owes, self.of) == (Owes::Committed, Of::Values) => {
                found.extend(self.has_set(actor, about));
            }
            Some((words::SEES, about, _)) => {
                if let Some(shown) = about.strip_prefix(self.root).filter(|rest| rest.starts_with('{')) {
                    self.sees(actor, shown, found);
                }
            }
            _ => {}
        }
    }

    /// Whether one of the values, or this one, was what it says that it has set it to, at any time.
    fn has_set(&self, actor: ActorId, about: &str) -> Option<Finding> {
        let (path, value) = about.split_once(" to ")?;
        let child = self.child(path);
        if child.is_none() && path != self.root {
            return None;
        }
        let is = |name: &Text| child.as_ref().is_none_or(|child| child == name);
        let mut all = self.states.iter().chain(&self.past).flatten();
        if all.any(|(name, was)| is(name) && **was == *value) {
            return Some(Finding::Tested);
        }
        let which = if child.is_some() { "it never" } else { "no znode below it ever" };
        let what = format!("{actor} says that it has set {path} to {value}, and {which} had that data");
        Some(broken_at(what, [self.root]))
    }

    fn sees(&mut self, actor: ActorId, shown: &str, found: &mut Vec<Finding>) {
        let reader = self.readers.get(&actor).cloned().unwrap_or_default();
        let Reader { at, told, .. } = reader;
        let is_shown = |state: &Children| self.show(state, &reader.names) == shown;
        let all: Vec<usize> = (0..self.states.len()).filter(|nth| is_shown(&self.states[*nth])).collect();
        let newer = at.map_or(0, |at| at + usize::from(told));
        let fits = all.iter().copied().find(|nth| *nth >= newer);
        let was = !all.is_empty() || self.past.iter().any(is_shown);
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
            Some(why) => {
                let hint = if was { "" } else { self.hint(shown, &reader.names) };
                found.push(broken_at(format!("{actor} sees {root}{shown}, {why}{hint}"), [root]));
            }
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
        self.readers.insert(actor, Reader { at, told: false, ..reader });
        self.forget();
    }

    /// What may be told in another way than it is to be.
    fn hint(&self, shown: &str, names: &BTreeSet<Text>) -> &'static str {
        let has_data = shown.contains('=');
        let parts = |shown: &str| shown.trim_matches(['{', '}']).split(',').map(str::to_owned).collect();
        let some: BTreeSet<String> = parts(shown);
        let is_of_one = |state: &Children| shown != "{}" && some.is_subset(&parts(&self.show(state, names)));
        match self.of {
            Of::Names if has_data => " (members are told by their names, without data)",
            Of::Values if !has_data && shown != "{}" => " (values are told with their names and data)",
            _ if names.is_empty() && self.states.iter().chain(&self.past).any(is_of_one) => {
                " (who does not read all children says which of them it follows, by their paths)"
            }
            _ => "",
        }
    }

    /// Of what nobody who reads may have seen last, the order is no matter. Whoever begins to read later may see it
    /// still.
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
        let all = BTreeSet::new();
        let was = |part: &str| {
            self.states.iter().chain(&self.past).any(|state| {
                self.show(state, &all).trim_matches(['{', '}']).split(',').any(|other| other == part)
            })
        };
        parts.into_iter().all(was)
    }
}

impl Promise for Views {
    fn terms(&self) -> Terms {
        match self.owes {
            Owes::Committed => Terms::of("committed-reads")
                .about("Whatever a reader sees was committed, and so was what a writer says that it has set.")
                .tested_when("Somebody sees something after a change, or has set something."),
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
                .tested_when("Somebody that has seen a change is through with it and comes to its end, or follows it still, or waits, at rest."),
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
        for (actor, reader) in &self.readers {
            // Nobody knows what it has been given since.
            if rest.unshown.contains(&actor.main()) {
                continue;
            }
            let lives = rest.sessions.iter().any(|(_, of)| *of == actor.main());
            let root = self.root;
            let (goes_on, why) = match reader.follows {
                Follows::Still if lives => (
                    "follows on",
                    format!("; its code has ended, and has not said that it is through with {root}"),
                ),
                Follows::No | Follows::Yes | Follows::Through if rest.goes_on(*actor) => {
                    ("waits on", String::new())
                }
                _ => continue,
            };
            let last = self.show(self.states.last().expect("there is always one"), &reader.names);
            found.push(match self.saw(reader) {
                Some((saw, true)) if saw == last => Finding::Tested,
                Some((saw, false)) if saw == last => continue,
                Some((saw, _)) => {
                    broken(format!("{actor} {goes_on} with {root}{saw}, and it is {root}{last}{why}"), None)
                }
                None => broken(format!("{actor} {goes_on} and has never seen {root}{last}{why}"), None),
            });
        }
    }
}

#[cfg(test)]
mod tests;

//! Promises of these recipes' own.

use crate::typical_recipes::judge::read;
use std::collections::{BTreeMap, BTreeSet};
use zoocheck::api::{SessionId, Text};
use zoocheck::trials::event::{ActorId, End, Event, GroundTruth, Observation};
use zoocheck::trials::promise::{Finding, Promise, Rest, Terms, Violation};

fn broken(what: String) -> Finding {
    Finding::Broken(Violation::new(what, None))
}

/// The note, beginning or end in an event: who, what, about what, and the number.
fn told(event: &Event) -> Option<(ActorId, &str, &Text, i64)> {
    match event {
        Event::Observed { actor, what } => {
            what.told().map(|(told, _, number)| (*actor, told.text(), what.subject(), number))
        }
        Event::Is(_) => None,
    }
}

/// Who has just come to its end: by a crash, or with its session.
fn dies(event: &Event) -> Option<ActorId> {
    match event {
        Event::Is(GroundTruth::SessionClosed { actor, .. } | GroundTruth::Crashed { actor }) => Some(*actor),
        _ => None,
    }
}

/// Nobody has to say that it is "bad"; "good" is a test that it passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Never(pub &'static str);

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of(self.0).about("Nobody finds it broken.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match told(event) {
            Some((_, "good", ..)) => found.push(Finding::Tested),
            Some((actor, "bad", about, number)) => {
                found.push(broken(format!("{actor} finds {about} {number}")))
            }
            _ => {}
        }
    }
}

/// What is "got" is got once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Once(BTreeSet<(Text, i64)>);

impl Promise for Once {
    fn terms(&self) -> Terms {
        Terms::of("once").about("No two get the same.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, "gets", about, number)) = told(event) {
            match self.0.insert((about.clone(), number)) {
                true => found.push(Finding::Tested),
                false => found.push(broken(format!("{actor} gets {about} {number} a second time"))),
            }
        }
    }
}

/// At most so many are in at a time, of those whose sessions live.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AtMost {
    most: usize,
    within: BTreeSet<ActorId>,
    dead: BTreeSet<ActorId>,
}

impl AtMost {
    pub fn of(most: usize) -> AtMost {
        AtMost { most, within: BTreeSet::new(), dead: BTreeSet::new() }
    }
}

impl Promise for AtMost {
    fn terms(&self) -> Terms {
        Terms::of("at-most").about("At most so many are in.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(actor) = dies(event) {
            self.within.retain(|other| other.main() != actor);
            self.dead.insert(actor);
        }
        let Event::Observed { actor, what } = event else { return };
        match what {
            Observation::Begins { .. } if !self.dead.contains(&actor.main()) => {
                self.within.insert(*actor);
                match self.within.len() <= self.most {
                    true => found.push(Finding::Tested),
                    false => found.push(broken(format!("{} are in with {actor}", self.within.len()))),
                }
            }
            Observation::Ends { .. } => drop(self.within.remove(actor)),
            _ => {}
        }
    }
}

/// The number in a znode is at least that of the additions that are done, and at most that of those begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counted {
    begun: i64,
    done: i64,
    count: i64,
}

impl Promise for Counted {
    fn terms(&self) -> Terms {
        Terms::of("counted").about("The count is that of the additions.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match (event, told(event)) {
            (_, Some((_, "adds", ..))) => self.begun += 1,
            (_, Some((_, "has added", ..))) => self.done += 1,
            (Event::Is(GroundTruth::NodeWritten { data, .. }), _) if !data.is_null() => {
                self.count = read(data);
                match self.count > self.begun {
                    true => found.push(broken(format!("{} of {} begun", self.count, self.begun))),
                    false => found.push(Finding::Tested),
                }
            }
            _ => {}
        }
    }
    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        if self.count < self.done {
            found.push(broken(format!("{} of {} that are done", self.count, self.done)));
        }
    }
}

/// At rest, who lives has "seen" as many znodes as there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeesAll(BTreeMap<ActorId, i64>);

impl Promise for SeesAll {
    fn terms(&self) -> Terms {
        Terms::of("sees-all").about("At rest, an observer has the true number.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, "sees", _, number)) = told(event) {
            self.0.insert(actor, number);
            found.push(Finding::Tested);
        }
    }
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for actor in &rest.unfinished {
            let there = rest.nodes.len() as i64;
            match self.0.get(actor) {
                Some(seen) if *seen != there => {
                    found.push(broken(format!("{actor} sees {seen} of {there}")));
                }
                _ => {}
            }
        }
    }
}

/// At rest, what a live session has "registered" is there, and its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registered(BTreeMap<ActorId, Text>);

impl Promise for Registered {
    fn terms(&self) -> Terms {
        Terms::of("registered").about("At rest, who lives and has registered is listed.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, "registers", about, _)) = told(event) {
            self.0.insert(actor, about.clone());
            found.push(Finding::Tested);
        }
    }
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (session, actor) in &rest.sessions {
            match self.0.get(actor) {
                Some(at) if !rest.nodes.contains(&(at.clone(), *session)) => {
                    found.push(broken(format!("{at} of {actor} is not there")));
                }
                _ => {}
            }
        }
    }
}

/// What is written at `address` is written by who owns `leader`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WrittenByOwner {
    owner: SessionId,
}

impl WrittenByOwner {
    pub fn new() -> WrittenByOwner {
        WrittenByOwner { owner: SessionId::NONE }
    }
}

impl Promise for WrittenByOwner {
    fn terms(&self) -> Terms {
        Terms::of("written-by-owner").about("The leader alone writes its address.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, .. }) if path.ends_with("/leader") => {
                self.owner = *owner;
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if path.ends_with("/leader") => {
                self.owner = SessionId::NONE;
            }
            Event::Is(GroundTruth::NodeWritten { path, by, .. }) if path.ends_with("/address") => {
                match *by == self.owner {
                    true => found.push(Finding::Tested),
                    false => found.push(broken(format!("{by} writes, {} leads", self.owner))),
                }
            }
            _ => {}
        }
    }
}

/// Nobody opens before so many have arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllArrived(BTreeSet<u16>);

impl Promise for AllArrived {
    fn terms(&self) -> Terms {
        Terms::of("all-arrived").about("It opens when all have arrived.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match told(event) {
            Some((actor, "arrives", ..)) => drop(self.0.insert(actor.process)),
            Some((actor, "opens", _, all)) if (self.0.len() as i64) < all => {
                found.push(broken(format!("{actor} goes on with {} of {all}", self.0.len())));
            }
            Some((_, "opens", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

/// Of those who looked for each other, the last one has seen all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OneSees(BTreeSet<u16>);

impl Promise for OneSees {
    fn terms(&self) -> Terms {
        Terms::of("one-sees").about("Not all of them see nobody.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, "sees nobody", ..)) = told(event) {
            self.0.insert(actor.process);
            match self.0.len() > 1 {
                true => found.push(broken("two see nobody".into())),
                false => found.push(Finding::Tested),
            }
        }
    }
}

/// Whoever reads after somebody "has written" reads that or a later number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReadsLatest {
    written: i64,
    owed: BTreeMap<ActorId, i64>,
}

impl Promise for ReadsLatest {
    fn terms(&self) -> Terms {
        Terms::of("reads-latest").about("A read shows what was acknowledged before it.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match told(event) {
            Some((_, "has written", _, number)) => self.written = self.written.max(number),
            Some((actor, "asks", ..)) => drop(self.owed.insert(actor, self.written)),
            Some((actor, "reads", _, number)) => match self.owed.get(&actor) {
                Some(owed) if number < *owed => {
                    found.push(broken(format!("{actor} reads {number}, {owed} was there")));
                }
                _ => found.push(Finding::Tested),
            },
            _ => {}
        }
    }
}

/// An item that somebody has deleted, somebody "takes"; and nobody else does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TakenOnce {
    sessions: BTreeMap<SessionId, ActorId>,
    gone: BTreeMap<Text, ActorId>,
    taken: BTreeSet<Text>,
}

impl Promise for TakenOnce {
    fn terms(&self) -> Terms {
        Terms::of("item-taken-once").about("Each item that is gone was taken, by one.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, "takes", item, _)) = told(event) {
            match self.taken.insert(item.clone()) {
                true => found.push(Finding::Tested),
                false => found.push(broken(format!("{actor} takes {item}, which was taken"))),
            }
        }
        if let Some(dead) = dies(event) {
            self.gone.retain(|_, actor| *actor != dead);
            self.sessions.retain(|_, actor| *actor != dead);
        }
        match event {
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
            }
            Event::Is(GroundTruth::NodeDeleted { path, by, .. }) if path.starts_with("/r/q/") => {
                if let Some(actor) = self.sessions.get(by) {
                    self.gone.insert(path.clone(), *actor);
                }
            }
            _ => {}
        }
    }
    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        for (item, actor) in &self.gone {
            if !self.taken.contains(item) {
                found.push(broken(format!("{actor} has deleted {item}, and nobody has it")));
            }
        }
    }
}

/// At rest, nothing is left of a process that is done: `of-0-…` for process 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NothingOf(BTreeSet<u16>);

impl Promise for NothingOf {
    fn terms(&self) -> Terms {
        Terms::of("nothing-of-who-is-done").about("Who is done has left nothing.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::SessionOpened { actor, .. }) => drop(self.0.remove(&actor.process)),
            Event::Is(GroundTruth::Finished { actor, end: End::Done }) => {
                self.0.insert(actor.process);
                found.push(Finding::Tested);
            }
            _ => {}
        }
    }
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (at, _) in &rest.nodes {
            if self.0.iter().any(|done| at.contains(&format!("/of-{done}-"))) {
                found.push(broken(format!("{at} is left")));
            }
        }
    }
}

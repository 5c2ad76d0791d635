//! Promises: small state machines over events that say when a promise is broken.
//!
//! ```
//! use zk_harness::event::Event;
//! use zk_harness::promise::{Finding, Promise, Terms, Violation};
//! use zk_harness::words::Word;
//!
//! /// The bell rings once at most.
//! #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
//! struct RingsOnce {
//!     has_rung: bool,
//! }
//!
//! impl Promise for RingsOnce {
//!     fn terms(&self) -> Terms {
//!         Terms::of("rings-once").about("The bell rings once at most.").tested_when("It rings.")
//!     }
//!
//!     fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
//!         let Event::Observed { actor, what } = event else { return };
//!         if what.word() == Word::own("rings") {
//!             let again = std::mem::replace(&mut self.has_rung, true);
//!             let broken = || Finding::Broken(Violation::new(format!("{actor} rings again"), None));
//!             found.push(if again { broken() } else { Finding::Tested });
//!         }
//!     }
//! }
//! # use zk_harness::event::{ActorId, Observation};
//! # let actor = ActorId { process: 0, life: 0, thread: 0 };
//! # let rings = Event::Observed { actor, what: Observation::note(Word::own("rings"), "/bell", 1) };
//! # let (mut promise, mut found) = (RingsOnce::default(), Vec::new());
//! # promise.see(&rings, &mut found);
//! # promise.see(&rings, &mut found);
//! # assert_eq!(found[0], Finding::Tested);
//! # assert!(matches!(&found[1], Finding::Broken(violation) if violation.what == "p0 rings again"));
//! ```

use crate::event::{ActorId, Event};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use zk_api::{SessionId, Text};

/// What puts a promise to the test that does not say it itself.
pub const NOT_SAID: &str = "Something happens that could break it.";

/// Something that must hold. Its state is part of a model's state, so it should forget what can no longer matter.
pub trait Promise: Clone + Debug + PartialEq + Eq + Hash + Send + Sync + 'static {
    /// What the promise says of itself; always the same.
    fn terms(&self) -> Terms;

    /// Learns which znodes the trial [sets up](crate::trial::Trial::setup), empty, before it sees anything.
    fn begins_with(&mut self, setup: &[Text]) {
        let _ = setup;
    }

    /// Learns, before it sees anything, that nobody will tell it what becomes of znodes, but for what is left in the
    /// end: the ensemble is a live one.
    fn judges_from_outside(&mut self) {}

    /// Sees one event, and adds to `found` what that shows.
    fn see(&mut self, event: &Event, found: &mut Vec<Finding>);

    /// The same by another name, where a trial promises it of two things: `ExclusionAmongLiveSessions::of("/b")
    /// .called("exclusion-of-b")`.
    fn called(self, name: &'static str) -> Called<Self> {
        Called { name, promise: self }
    }

    /// Judges what is left when nothing moves any more: faults are over, the ensemble has healed, and no actor
    /// can take a step.
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let _ = (rest, found);
    }
}

/// A promise by [another name](Promise::called).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Called<P> {
    name: &'static str,
    promise: P,
}

impl<P: Promise> Promise for Called<P> {
    fn terms(&self) -> Terms {
        Terms { name: self.name, ..Promise::terms(&self.promise) }
    }

    fn begins_with(&mut self, setup: &[Text]) {
        Promise::begins_with(&mut self.promise, setup);
    }

    fn judges_from_outside(&mut self) {
        Promise::judges_from_outside(&mut self.promise);
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        Promise::see(&mut self.promise, event, found);
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        Promise::at_rest(&self.promise, rest, found);
    }
}

/// What a promise says of itself: `Terms::of("leavers-unlisted").about("Whoever has left …").tested_when("…")`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its name, such as `exclusion-among-live-sessions`.
    pub name: &'static str,
    /// What it promises, in one sentence.
    pub about: &'static str,
    /// What has to happen, and who must take part, for the promise to be put to the test, in one sentence. When that
    /// happens, and only then, [`see`](Promise::see) or [`at_rest`](Promise::at_rest) finds the promise
    /// [`Tested`](Finding::Tested). The sentence is shown to users who get no answer because nothing has tested the
    /// promise.
    pub tested_when: &'static str,
    /// The assumptions under which it is owed. A violation caused by one that does not hold names it; by any other, a
    /// violation is not excused.
    pub assumes: &'static [Assumption],
    /// Whether it can be judged from outside a running ensemble, where only this is reported: sessions opened,
    /// connections lost and made, expiries learnt, writes at the resource, actors finished. Neither the end of a
    /// session nor what becomes of a znode is reported.
    ///
    /// `false`, which is the default, is always safe: the promise is then reported as not judged. `true` means that the
    /// following holds even if only the above is reported:
    ///
    /// - what it reports as tested really was put to the test;
    /// - a break that it finds in an event is real if the sessions of all actors that could have a part in it lived on
    ///   after it. The engine makes sure of that, and treats the break as expected where it cannot;
    /// - what it finds at rest is true: sessions and znodes are then known by asking.
    pub judged_from_outside: bool,
}

/// The name of a promise; [`about`](Named::about) adds what it promises.
#[derive(Clone, Copy, Debug)]
pub struct Named(&'static str);

impl Named {
    /// See the [field](Terms::about).
    pub const fn about(self, about: &'static str) -> Terms {
        Terms { name: self.0, about, tested_when: NOT_SAID, assumes: &[], judged_from_outside: false }
    }
}

impl Terms {
    /// Begins the terms of a promise called `name`.
    pub const fn of(name: &'static str) -> Named {
        Named(name)
    }

    /// See the [field](Terms::tested_when).
    #[must_use]
    pub const fn tested_when(self, tested_when: &'static str) -> Terms {
        Terms { tested_when, ..self }
    }

    /// See the [field](Terms::assumes).
    #[must_use]
    pub const fn assumes(self, assumes: &'static [Assumption]) -> Terms {
        Terms { assumes, ..self }
    }

    /// See the [field](Terms::judged_from_outside).
    #[must_use]
    pub const fn judged_from_outside(self) -> Terms {
        Terms { judged_from_outside: true, ..self }
    }
}

/// What a promise may rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// No actor writes to the outside resource after its session has ended (because of a pause, a slow write or a lost
    /// connection).
    NoActionAfterSessionEnd,
    /// No administrator deletes or changes the recipe's znodes.
    NoAdministrator,
    /// Everybody concerned had a live session. Used by engines that see an ensemble from outside: there the end of a
    /// session is not reported, and an actor that is not known to have lived on may have been dead already.
    SessionsKnownToLive,
    /// No server starts from a disk that has lost what was durable without showing it. Every promise and every
    /// invariant of servers assumes this, without having to say so.
    DiskIntact,
    /// The recipe promises it. [`Measured`](crate::promises::Measured) promises rest on this alone: what they find is
    /// reported, but is no defect.
    Promised,
    /// Nobody is meant to wait for ever. Its author alone can say: what rests on this leaves the verdict open.
    NobodyMeantToWait,
}

/// What a promise has to say of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Finding {
    /// The promise was put to the test: what that takes [happened](Terms::tested_when), and the event could have broken
    /// it but did not.
    Tested,
    /// The event has broken it.
    Broken(Violation),
}

/// How a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// What happened, naming actors and things, in one line.
    pub what: String,
    /// The assumption that did not hold, if that is the cause: the promise was then not owed, and the break is
    /// expected. `None` means a defect of the recipe.
    pub violated_assumption: Option<Assumption>,
    /// What it is about, to find out whether an administrator's change concerned it.
    pub about: Subject,
}

impl Violation {
    /// A violation without a subject, for promises that no administrator's change concerns more than another, or that
    /// find the violated assumption themselves.
    pub fn new(what: String, violated_assumption: Option<Assumption>) -> Violation {
        Violation { what, violated_assumption, about: Subject::Unsaid }
    }
}

/// What a violation is about: one of an [`Undisturbed`](crate::promises::Undisturbed) promise is expected after an
/// administrator's change that concerns this subject, and after no other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// No subject is given, and the violation is expected after no change.
    Unsaid,
    /// These znodes, with all those below and above them.
    Znodes(Vec<Text>),
    /// Whatever any of these actors relies on: its own ephemeral znode, that of another actor whose place it took, and
    /// znodes that nobody owns, as long as the actor is not through with them.
    Actors(Vec<ActorId>),
}

/// What is left when nothing moves any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rest {
    /// Actors that live, have a live session, and whose code has not ended. The sessions of crashed actors have expired
    /// by then; otherwise nobody could be blamed for waiting behind them.
    pub unfinished: Vec<ActorId>,
    /// The znodes that are the [trial's](crate::trial::Trial::owns), and their owners: `NONE` if not ephemeral.
    pub nodes: Vec<(Text, SessionId)>,
    /// The live sessions and their actors.
    pub sessions: Vec<(SessionId, ActorId)>,
    /// The one-shot watches of these actors that somebody waits for; none where servers do not tell.
    pub watches: Vec<Watch>,
    /// Whose code has ended and who are shown no further, though what outlives the code goes on: a search leaves out
    /// what the client of a program that has ended does.
    pub unshown: Vec<ActorId>,
}

/// A one-shot watch that has not fired.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    /// Whose: of the process, whichever thread has set it.
    pub actor: ActorId,
    /// Where.
    pub path: Text,
    /// Whether it is of the children alone.
    pub of_children: bool,
}

impl Rest {
    /// The znodes of live sessions, and whose they are.
    pub(crate) fn owned(&self) -> impl Iterator<Item = (&Text, ActorId)> {
        let actor = |owner: SessionId| self.sessions.iter().find(move |(session, _)| *session == owner);
        self.nodes.iter().filter_map(move |(path, owner)| Some((path, actor(*owner)?.1)))
    }

    /// Whether one that has told that it waits does so still: its code has not ended. Of a thread beside the main one,
    /// nobody but itself can tell, and its session lives.
    pub fn goes_on(&self, actor: ActorId) -> bool {
        match actor.thread {
            0 => self.unfinished.contains(&actor),
            _ => self.sessions.iter().any(|(_, lives)| *lives == actor.main()),
        }
    }
}

/// A promise with its type erased. Implemented for every [`Promise`].
pub trait AnyPromise: Debug + Send + Sync {
    /// As [`Promise::terms`].
    fn terms(&self) -> Terms;
    /// As [`Promise::begins_with`].
    fn begins_with(&mut self, setup: &[Text]) {
        let _ = setup;
    }
    /// As [`Promise::judges_from_outside`].
    fn judges_from_outside(&mut self) {}
    /// As [`Promise::see`].
    fn see(&mut self, event: &Event, found: &mut Vec<Finding>);
    /// As [`Promise::at_rest`].
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>);
    /// Its [name](Terms::name).
    fn name(&self) -> &'static str {
        self.terms().name
    }
    /// A copy in a box.
    fn boxed(&self) -> Box<dyn AnyPromise>;
    /// Puts its state into a hash.
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<P: Promise> AnyPromise for P {
    fn terms(&self) -> Terms {
        Promise::terms(self)
    }
    fn begins_with(&mut self, setup: &[Text]) {
        Promise::begins_with(self, setup);
    }
    fn judges_from_outside(&mut self) {
        Promise::judges_from_outside(self);
    }
    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let new = anew(found, |found| Promise::see(self, event, found));
        excuse_by_terms(self, new);
    }
    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let new = anew(found, |found| Promise::at_rest(self, rest, found));
        excuse_by_terms(self, new);
    }
    fn boxed(&self) -> Box<dyn AnyPromise> {
        Box::new(self.clone())
    }
    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// What is found by this, and was not before.
pub(crate) fn anew(found: &mut Vec<Finding>, looks: impl FnOnce(&mut Vec<Finding>)) -> &mut [Finding] {
    let before = found.len();
    looks(found);
    &mut found[before..]
}

/// An assumption that a promise does not name excuses nothing of it. One that is only measured needs no excuse.
fn excuse_by_terms(promise: &impl Promise, found: &mut [Finding]) {
    for finding in found {
        if let Finding::Broken(Violation { violated_assumption, .. }) = finding {
            let assumes = promise.terms().assumes;
            *violated_assumption = violated_assumption
                .filter(|it| assumes.contains(it) || assumes.contains(&Assumption::Promised));
        }
    }
}

impl Clone for Box<dyn AnyPromise> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

impl Hash for dyn AnyPromise {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash_into(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promises::Measured;
    use crate::promises::testing::finished;
    use std::hash::BuildHasher;

    /// Breaks at each event and at rest, and says that no administrator may have been at it.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Excuses(&'static [Assumption]);

    impl Promise for Excuses {
        fn terms(&self) -> Terms {
            Terms::of("excuses").about("Nothing happens.").assumes(self.0)
        }

        fn see(&mut self, _: &Event, found: &mut Vec<Finding>) {
            found.push(Finding::Broken(Violation::new("it".into(), Some(Assumption::NoAdministrator))));
        }

        fn at_rest(&self, _: &Rest, found: &mut Vec<Finding>) {
            Promise::see(&mut self.clone(), &finished(0), found);
        }
    }

    /// A promise of one's own could break by an assumption that it had never named, and held.
    #[test]
    fn an_assumption_that_is_not_named_is_no_excuse() {
        let excused = |mut promise: Box<dyn AnyPromise>| {
            let mut found = Vec::new();
            promise.see(&finished(0), &mut found);
            promise.at_rest(&Rest::default(), &mut found);
            let [Finding::Broken(at_once), Finding::Broken(at_rest)] = &*found else { panic!("{found:?}") };
            assert_eq!(at_once.violated_assumption, at_rest.violated_assumption);
            at_once.violated_assumption.is_some()
        };
        assert!(excused(Box::new(Excuses(&[Assumption::NoAdministrator]))));
        assert!(!excused(Box::new(Excuses(&[Assumption::NoActionAfterSessionEnd]))));
        assert!(!excused(Box::new(Excuses(&[]))));
        assert!(excused(Box::new(Measured(Excuses(&[])))));
    }

    #[test]
    fn by_another_name_it_is_the_same_promise() {
        let promise = Excuses(&[Assumption::NoAdministrator]);
        let called = promise.clone().called("excuses-too");
        assert_eq!(Promise::terms(&called), Terms { name: "excuses-too", ..Promise::terms(&promise) });
        let seen = |mut promise: Box<dyn AnyPromise>| {
            let mut found = Vec::new();
            promise.see(&finished(0), &mut found);
            promise.at_rest(&Rest::default(), &mut found);
            found
        };
        assert_eq!(seen(Box::new(called)), seen(Box::new(promise)));
        let (mut views, setup) =
            (crate::promises::Views::committed("/a", crate::promises::Of::Names), ["/a/b".into()]);
        let mut called = views.clone().called("reads");
        Promise::begins_with(&mut called, &setup);
        assert_ne!(called.promise, views);
        Promise::begins_with(&mut views, &setup);
        assert_eq!(called.promise, views);
    }

    /// Or a search would take one state for another.
    #[test]
    fn promises_in_different_states_have_different_hashes() {
        let hash = |assumes| {
            let promise: Box<dyn AnyPromise> = Box::new(Excuses(assumes));
            std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default().hash_one(&promise)
        };
        let [none, one] = [&[][..], &[Assumption::NoAdministrator]];
        assert!(hash(none) == hash(none) && hash(none) != hash(one));
    }
}

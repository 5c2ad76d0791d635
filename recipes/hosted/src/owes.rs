//! What a program owes: one kind of promises or several.

use std::hash::Hasher;
use std::iter::once;
use zk_api::Text;
use zk_harness::event::Event;
use zk_harness::heard::Heard;
use zk_harness::promise::{AnyPromise, Finding, Rest, Terms};
use zk_harness::promises::Owed;

/// The promise that is owed once by all kinds together, though each bears the loss of znodes of its own.
const NO_FAILURE: &str = "no-failure";

/// What a program owes, as the command line names it: `lock=/lock` and `counter=/count`.
#[derive(Clone)]
pub struct Owes {
    /// What was said of each kind, and what it stands for.
    kinds: Vec<(String, Owed)>,
    promises: Vec<Box<dyn AnyPromise>>,
}

impl Owes {
    /// Reads what is owed: see [`Owed::parse`]. What several kinds owe in the same way is owed once; kinds that owe
    /// promises of one name in different ways are refused, as verdicts tell promises apart by their names. The error is
    /// one line.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Owes, String> {
        let (without, texts): (Vec<&str>, Vec<&str>) =
            texts.into_iter().partition(|text| text.starts_with("without="));
        let mut kinds = Vec::new();
        for text in texts {
            kinds.push((text.to_owned(), Owed::parse(once(text).chain(without.iter().copied()))?));
        }
        if kinds.is_empty() {
            // Which tells what is wrong.
            Owed::parse(without)?;
        }
        let promises = joined(&kinds)?;
        Ok(Owes { kinds, promises })
    }

    /// See [`Owed::opts_out`].
    pub fn opts_out(&self) -> Vec<&'static str> {
        self.kinds.iter().flat_map(|(_, owed)| owed.opts_out()).copied().collect()
    }

    /// See [`Owed::paths`].
    pub fn paths(&self) -> Vec<&'static str> {
        self.kinds.iter().flat_map(|(_, owed)| owed.paths()).collect()
    }

    /// The words that it hears, unless it is the program itself that says what is wrong.
    pub fn heard(&self) -> Option<Heard> {
        let all: Vec<_> = self.kinds.iter().flat_map(|(_, owed)| owed.hears()).collect();
        all.iter().any(|kind| !kind.words.is_empty()).then(|| Heard::new(all))
    }

    /// How many clients it takes to put it to the test, if a search of so many can be had.
    pub fn clients(&self) -> u8 {
        self.kinds.iter().map(|(_, owed)| owed.clients()).max().unwrap_or(2)
    }

    /// The promises, as they begin.
    pub fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        self.promises.clone()
    }

    /// What was said of each kind, and the promises that it stands for.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, Vec<Box<dyn AnyPromise>>)> {
        self.kinds.iter().map(|(text, owed)| (&**text, owed.promises()))
    }

    /// See [`Owed::setup`].
    pub fn setup(&self) -> Vec<Text> {
        let mut all: Vec<Text> = self.kinds.iter().flat_map(|(_, owed)| owed.setup()).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The promises of all kinds, each name once.
fn joined(kinds: &[(String, Owed)]) -> Result<Vec<Box<dyn AnyPromise>>, String> {
    let mut all: Vec<(&str, Box<dyn AnyPromise>)> = Vec::new();
    for (text, owed) in kinds {
        for promise in owed.promises() {
            match all.iter_mut().find(|(_, other)| other.name() == promise.name()) {
                None => all.push((text, promise)),
                Some((_, other)) if format!("{other:?}") == format!("{promise:?}") => {}
                Some((_, other)) if promise.name() == NO_FAILURE => {
                    *other = Box::new(Strictest { one: other.clone(), other: promise });
                }
                Some((before, _)) => {
                    return Err(format!(
                        "'{before}' and '{text}' each owe {} in a way of their own, and a verdict has each name once: \
                         judge them one at a time",
                        promise.name()
                    ));
                }
            }
        }
    }
    Ok(all.into_iter().map(|(_, promise)| promise).collect())
}

/// A promise in two forms, which find the same and excuse less or more of it: excused is what both excuse.
#[derive(Clone, Debug)]
struct Strictest {
    one: Box<dyn AnyPromise>,
    other: Box<dyn AnyPromise>,
}

fn excuse_less(found: &mut [Finding], others: Vec<Finding>) {
    assert_eq!(found.len(), others.len(), "both find the same");
    for found in found.iter_mut().zip(others) {
        if let (Finding::Broken(one), Finding::Broken(other)) = found {
            one.violated_assumption = one.violated_assumption.and(other.violated_assumption);
        }
    }
}

impl AnyPromise for Strictest {
    fn terms(&self) -> Terms {
        self.one.terms()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let (before, mut others) = (found.len(), Vec::new());
        self.one.see(event, found);
        self.other.see(event, &mut others);
        excuse_less(&mut found[before..], others);
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let (before, mut others) = (found.len(), Vec::new());
        self.one.at_rest(rest, found);
        self.other.at_rest(rest, &mut others);
        excuse_less(&mut found[before..], others);
    }

    fn boxed(&self) -> Box<dyn AnyPromise> {
        Box::new(self.clone())
    }

    fn hash_into(&self, hasher: &mut dyn Hasher) {
        self.one.hash_into(hasher);
        self.other.hash_into(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::SessionId;
    use zk_harness::event::{ActorId, End, GroundTruth};

    fn names(owes: &Owes) -> Vec<&'static str> {
        owes.promises().iter().map(|promise| promise.name()).collect()
    }

    #[test]
    fn what_kinds_owe_in_the_same_way_is_owed_once() {
        let both = Owes::parse(["lock=/a/lock", "counter=/b/count"]).expect("both can be owed");
        let lock = names(&Owes::parse(["lock=/a/lock"]).expect("it is well said"));
        assert_eq!(names(&both), [&lock[..], &["counts-each-once"]].concat());
        assert_eq!(both.setup(), ["/a", "/a/lock", "/b"].map(Text::from));
        assert_eq!(both.paths(), ["/a/lock", "/b/count"]);
        let of_each =
            both.kinds().map(|(_, all)| all.iter().any(|promise| promise.name() == "counts-each-once"));
        assert_eq!(of_each.collect::<Vec<_>>(), [false, true], "each kind has its own");
        let meet = Owes::parse(["barrier=/up", "without=no-litter", "double-barrier=/all", "queue=/items"]);
        let meet = meet.expect("all wait for others alike");
        assert_eq!(names(&meet).iter().filter(|name| **name == "no-waiter-stuck").count(), 1);
        assert!(meet.opts_out().contains(&"no-litter"));
        let alike = Owes::parse(["lock=/a", "fair-lock=/a"]).expect("the second owes more");
        assert_eq!(names(&alike).len(), names(&Owes::parse(["fair-lock=/a"]).expect("well said")).len());
    }

    #[test]
    fn what_kinds_owe_in_different_ways_is_refused() {
        for (texts, name) in [
            (["lock=/a", "lock=/b"], "exclusion-among-live-sessions"),
            (["fair-lock=/a", "shared-lock=/b"], "exclusion-among-live-sessions"),
            (["queue=/a", "queue=/b"], "nothing-lost"),
            (["lock=/a", "barrier=/b"], "no-waiter-stuck"),
        ] {
            let error = Owes::parse(texts).err().expect("a name twice");
            let why = format!("'{}' and '{}' each owe {name} in a way of their own", texts[0], texts[1]);
            assert!(error.starts_with(&why) && error.lines().count() == 1, "{error}");
        }
        let none = Owes::parse(["without=no-litter"]).err().expect("nothing is owed");
        assert!(none.contains("nothing is owed"), "{none}");
    }

    #[test]
    fn a_failure_is_excused_only_by_what_no_kind_bears() {
        let session = |id| SessionId::new(id);
        let actor = ActorId { process: 0, life: 0, thread: 0 };
        let excused = |texts: &[&str], path: &str| {
            let owes = Owes::parse(texts.iter().copied()).expect("well said");
            let mut failure = owes.promises().into_iter().find(|promise| promise.name() == NO_FAILURE);
            let mut found = Vec::new();
            let (by, owner) = (session(9), SessionId::NONE);
            for truth in [
                GroundTruth::SessionOpened { session: session(1), actor },
                GroundTruth::NodeDeleted { path: path.into(), by, owner, zxid: None },
                GroundTruth::Finished { actor, end: End::Failed },
            ] {
                failure.as_mut().expect("it is owed").see(&Event::Is(truth), &mut found);
            }
            let [Finding::Broken(violation)] = &*found else { panic!("{found:?}") };
            violation.violated_assumption.is_some()
        };
        assert!(excused(&["lock=/lock"], "/c/a"));
        for both in [["lock=/lock", "counter=/c"], ["counter=/c", "lock=/lock"]] {
            assert!(!excused(&both, "/c/a") && !excused(&both, "/lock/a") && excused(&both, "/else/a"));
        }
    }
}

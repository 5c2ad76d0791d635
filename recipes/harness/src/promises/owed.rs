//! What a program owes, as it is said on a command line: `fair-lock=/lock`.

use super::by_recipe::with_abort_validity;
use super::{
    AbortValidity, BarrierHolds, BarrierOpens, BarrierReleases, CountsEachOnce, EntersTogether,
    ExclusionAmongLiveSessions, Fifo, LeavesTogether, NoFailure, NoOpeningMissed, NoOrphanZnode,
    NoWaiterStuck, OneWokenPerDeletion, RaisedAsTold, RoundsDoNotMix, STANDARD, SharersMeet, Undisturbed,
    without_tokens,
};
use crate::heard::Hears;
use crate::promise::AnyPromise;
use crate::words::{self, Word};
use std::collections::BTreeSet;
use zk_api::{Text, ZPath};
use zk_recipes::queue::Delivery;

/// Something that can be owed.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// The promises that it stands for, of something at a path.
    promises: Promises,
    /// Only the znodes above the one at the path are there from the beginning.
    comes_and_goes: bool,
    /// The standard promises that are not owed with it.
    without: &'static [&'static str],
    /// The words that it listens for, about the znode at the path or what is below; of a program's own, all.
    words: &'static [Word<'static>],
}

#[derive(Clone, Copy)]
enum Promises {
    Of(fn(&'static str) -> Vec<Box<dyn AnyPromise>>),
    /// Of something that has so many permits.
    OfPermits(fn(&'static str, usize) -> Vec<Box<dyn AnyPromise>>, usize),
}

impl Kind {
    const fn of(
        name: &'static str,
        promises: fn(&'static str) -> Vec<Box<dyn AnyPromise>>,
        words: &'static [Word<'static>],
    ) -> Kind {
        Kind { name, promises: Promises::Of(promises), comes_and_goes: false, without: &[], words }
    }

    /// The one that is called so, with the number of permits in its name.
    fn called(name: &str) -> Option<Kind> {
        let (word, permits) = name.split_once(':').unwrap_or((name, ""));
        let kind =
            KINDS.into_iter().find(|kind| kind.name.strip_suffix(":N").unwrap_or(kind.name) == word)?;
        let promises = match kind.promises {
            Promises::Of(_) if name == word => kind.promises,
            Promises::Of(_) => return None,
            Promises::OfPermits(of, _) => {
                let many: usize = permits.parse().ok().filter(|many| *many > 0)?;
                (many.to_string() == permits).then_some(Promises::OfPermits(of, many))?
            }
        };
        Some(Kind { promises, ..kind })
    }

    fn promises_of(&self, path: &'static str) -> Vec<Box<dyn AnyPromise>> {
        match self.promises {
            Promises::Of(all) => all(path),
            Promises::OfPermits(all, permits) => all(path, permits),
        }
    }

    /// One whose znodes are left on purpose.
    const fn of_items(
        name: &'static str,
        promises: fn(&'static str) -> Vec<Box<dyn AnyPromise>>,
        words: &'static [Word<'static>],
    ) -> Kind {
        Kind { without: &["no-litter"], ..Kind::of(name, promises, words) }
    }

    /// Those of locks, barriers and counters are about nothing below.
    fn hears_below(&self) -> bool {
        [&OF_QUEUES[..], &OF_GROUPS, &OF_CONFIGURATIONS, &OF_COMMITMENTS, &[]].contains(&self.words)
    }
}

const OF_LOCKS: [Word<'static>; 6] =
    [words::ATTEMPTS, words::IS_GRANTED, words::ENTERS, words::LEAVES, words::RELEASED, words::GIVES_UP];
const OF_BARRIERS: [Word<'static>; 8] = [
    words::COMES_TO,
    words::SEES,
    words::PASSES,
    words::GIVES_UP,
    words::RAISES,
    words::HAS_RAISED,
    words::LOWERS,
    words::HAS_LOWERED,
];
const OF_DOUBLE_BARRIERS: [Word<'static>; 5] =
    [words::ARRIVES_AT, words::PASSES, words::ASKS_TO_LEAVE, words::HAS_LEFT, words::GIVES_UP];
const OF_QUEUES: [Word<'static>; 10] = [
    words::PUTS,
    words::HAS_PUT,
    words::GIVES_UP,
    words::BEGINS_TO_PUT_INTO,
    words::HAS_PUT_INTO,
    words::ASKS,
    words::TAKES,
    words::IS_GIVEN,
    words::HAS_WORKED_OFF,
    words::IS_DONE_WITH,
];
const OF_COUNTERS: [Word<'static>; 2] = [words::ADDS, words::HAS_ADDED];
const OF_GROUPS: [Word<'static>; 8] = [
    words::JOINS,
    words::IS_A_MEMBER_BY,
    words::LEAVES,
    words::ENDS_ITS_ROUND_WITH,
    words::FOLLOWS,
    words::TOLD,
    words::SEES,
    words::IS_THROUGH_WITH,
];
const OF_CONFIGURATIONS: [Word<'static>; 7] = [
    words::FOLLOWS,
    words::TOLD,
    words::SEES,
    words::IS_THROUGH_WITH,
    words::SETS,
    words::HAS_SET,
    words::GIVES_UP,
];
const OF_COMMITMENTS: [Word<'static>; 8] = [
    words::PROPOSES,
    words::IS_TO_DO,
    words::WAITS_NO_LONGER,
    words::VOTES_TO_COMMIT,
    words::VOTES_TO_ABORT,
    words::COMMITS,
    words::ABORTS,
    words::IS_THROUGH_WITH,
];

/// What can be owed.
const KINDS: [Kind; 14] = [
    Kind::of("lock", of_lock, &OF_LOCKS),
    Kind::of("fair-lock", of_fair_lock, &OF_LOCKS),
    Kind::of("shared-lock", of_shared_lock, &OF_LOCKS),
    Kind {
        promises: Promises::OfPermits(of_semaphore, 0),
        ..Kind::of("semaphore:N", |_| Vec::new(), &OF_LOCKS)
    },
    Kind { comes_and_goes: true, ..Kind::of("barrier", of_barrier, &OF_BARRIERS) },
    Kind { comes_and_goes: true, ..Kind::of("barrier-raised-again", of_barrier_raised_again, &OF_BARRIERS) },
    Kind::of("double-barrier", of_double_barrier, &OF_DOUBLE_BARRIERS),
    Kind::of_items("queue", of_queue, &OF_QUEUES),
    Kind::of_items("queue-at-most-once", of_queue_at_most_once, &OF_QUEUES),
    Kind { comes_and_goes: true, ..Kind::of("counter", of_counter, &OF_COUNTERS) },
    Kind::of("membership", super::of_membership, &OF_GROUPS),
    Kind::of_items("configuration", super::of_configuration, &OF_CONFIGURATIONS),
    Kind::of_items("commitment", of_commitment, &OF_COMMITMENTS),
    // It says itself, by an error, what is wrong: the standard promises tell of it.
    Kind::of("program", |_| Vec::new(), &[]),
];

/// What opts out of a standard promise, in the place of a kind.
const WITHOUT: &str = "without";

/// What is owed.
#[derive(Clone)]
pub struct Owed {
    of: Vec<(&'static str, Kind)>,
    without: Vec<&'static str>,
}

impl Owed {
    /// Reads what is owed, as `KIND=PATH`, and which standard promises are not, as `without=PROMISE`. The error is one
    /// line. The paths are never freed.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Owed, String> {
        let (mut of, mut without) = (Vec::new(), Vec::new());
        let mut names = Vec::new();
        for text in texts {
            let expected = || {
                let kinds = KINDS.map(|kind| kind.name);
                format!(
                    "'{text}': expected KIND=PATH, such as fair-lock=/lock; KIND is one of {}",
                    kinds.join(", ")
                )
            };
            let (name, path) = text.split_once('=').ok_or_else(expected)?;
            if name == WITHOUT {
                let standard = STANDARD.into_iter().find(|standard| *standard == path);
                without.push(standard.ok_or_else(|| {
                    format!("'{text}': '{path}' is no standard promise ({})", STANDARD.join(", "))
                })?);
                continue;
            }
            let kind = Kind::called(name).ok_or_else(expected)?;
            let is_root = path == "/";
            if is_root || ZPath::parse(path).is_err() {
                return Err(format!("'{text}': '{path}' is no path of a znode below the root"));
            }
            let path: &'static str = Box::leak(path.into());
            for promise in kind.promises_of(path) {
                if names.contains(&promise.name()) {
                    return Err(format!(
                        "'{text}': {} is owed already, and can be owed once",
                        promise.name()
                    ));
                }
                names.push(promise.name());
            }
            without.extend(kind.without);
            of.push((path, kind));
        }
        // What a kind owes by itself nobody opts out of.
        if let Some(name) = without.iter().find(|name| names.contains(name)) {
            return Err(format!(
                "'{WITHOUT}={name}': {name} is owed by a kind that is named, and not as a standard"
            ));
        }
        match of.is_empty() {
            true => Err("nothing is owed, so that nothing could be judged".into()),
            false => Ok(Owed { of, without }),
        }
    }

    /// The standard promises that are not owed.
    pub fn opts_out(&self) -> &[&'static str] {
        &self.without
    }

    /// The paths that it is about.
    pub fn paths(&self) -> Vec<&'static str> {
        self.of.iter().map(|(path, _)| *path).collect()
    }

    /// The words that it hears.
    pub fn hears(&self) -> impl Iterator<Item = Hears> {
        self.of.iter().map(|(path, kind)| Hears {
            path: Text::from(*path),
            words: kind.words,
            below: kind.hears_below(),
        })
    }

    /// How many clients it takes to put it to the test, if a search of so many can be had.
    pub fn clients(&self) -> u8 {
        let least = self.of.iter().map(|(_, kind)| match kind.promises {
            Promises::Of(_) | Promises::OfPermits(_, 1) => 2,
            Promises::OfPermits(_, 2) => 3,
            Promises::OfPermits(..) => 4,
        });
        least.max().unwrap_or(2)
    }

    /// The promises, as they begin.
    pub fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        self.of.iter().flat_map(|(path, kind)| kind.promises_of(path)).collect()
    }

    /// The znodes that are there from the beginning, parents first: those that promises are about, and those above
    /// them.
    pub fn setup(&self) -> Vec<Text> {
        let mut all = BTreeSet::new();
        for (path, kind) in &self.of {
            let path = ZPath::parse(path).expect("it was parsed before");
            let mut above = if kind.comes_and_goes { path.parent() } else { Some(path) };
            while let Some(path) = above.filter(|path| *path != ZPath::root()) {
                above = path.parent();
                all.insert(path.text());
            }
        }
        all.into_iter().collect()
    }
}

/// A lock that is given in any order.
fn of_lock(lock: &'static str) -> Vec<Box<dyn AnyPromise>> {
    without_tokens(super::of_lock(lock, Vec::new()))
}

/// One that is given in the order of the line, though some may pass it and tell by no znode.
fn of_fair_lock(lock: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let of_line: Vec<Box<dyn AnyPromise>> =
        vec![Box::new(Fifo::of_all(lock)), Box::new(OneWokenPerDeletion::of(lock))];
    without_tokens(super::of_lock(lock, of_line))
}

/// One that some may share. Nobody knows by their znodes who asks for a share, but two are to have one at a time.
fn of_shared_lock(lock: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_lock(lock);
    all.push(Box::new(SharersMeet::of_any(lock)));
    all
}

/// A lock that several may have at a time, in any order.
fn of_semaphore(semaphore: &'static str, permits: usize) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(ExclusionAmongLiveSessions::of_permits(semaphore, permits)),
        Box::new(NoWaiterStuck),
        Box::new(NoOrphanZnode::of(semaphore)),
        Box::new(Undisturbed::of(NoFailure).sparing(semaphore)),
    ]
}

/// A barrier whose znode is there while it is up, and is passed once it was lowered, though it may be up again.
fn of_barrier_raised_again(node: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_barrier(node);
    all.push(Box::new(NoOpeningMissed::of(node)));
    all
}

/// A barrier whose znode is there while it is up.
fn of_barrier(node: &'static str) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(BarrierHolds::of(node)),
        Box::new(BarrierReleases::of(node)),
        Box::new(RaisedAsTold::of(node)),
        Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
        Box::new(Undisturbed::of(NoFailure).sparing(node)),
    ]
}

/// A double barrier whose members' znodes are below.
fn of_double_barrier(barrier: &'static str) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(EntersTogether::of(barrier)),
        Box::new(LeavesTogether::of(barrier)),
        Box::new(RoundsDoNotMix::of(barrier)),
        Box::new(BarrierOpens::of(barrier)),
        Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
        Box::new(Undisturbed::of(NoFailure).sparing(barrier)),
    ]
}

/// A queue whose items are below, each worked off once or, where a consumer dies, again.
fn of_queue(items: &'static str) -> Vec<Box<dyn AnyPromise>> {
    super::of_queue(items, Delivery::AtLeastOnce)
}

/// The same, where an item is gone before it is worked off.
fn of_queue_at_most_once(items: &'static str) -> Vec<Box<dyn AnyPromise>> {
    super::of_queue(items, Delivery::AtMostOnce)
}

/// Transactions whose znodes are below, each with its sites' votes and its decision below its own.
fn of_commitment(root: &'static str) -> Vec<Box<dyn AnyPromise>> {
    with_abort_validity(root, AbortValidity::of_any_sites(root))
}

/// A counter whose znode is made by who first adds to it.
fn of_counter(node: &'static str) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(Undisturbed::of(CountsEachOnce::of(node))),
        Box::new(Undisturbed::of(NoFailure).sparing(node)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LOCK, actor, broken_by, granted, opened, session};
    use super::*;
    use crate::event::{Event, GroundTruth, Observation};
    use zk_api::{SessionId, Zxid};

    #[test]
    fn what_is_owed_is_said_by_kind_and_path() {
        let owed = Owed::parse(["fair-lock=/a/lock"]).expect("it is well said");
        assert_eq!(owed.promises().len(), of_fair_lock("/a/lock").len());
        assert_eq!(owed.setup(), ["/a".into(), "/a/lock".into()]);
        let barrier = Owed::parse(["barrier=/a/gate"]).expect("it is well said");
        assert_eq!(barrier.setup(), ["/a".into()]);
        assert_eq!(barrier.opts_out(), [""; 0]);
        let queue = Owed::parse(["queue=/a", "without=no-second-znode"]).expect("it is well said");
        assert_eq!(queue.opts_out(), ["no-litter", "no-second-znode"]);
        for (kind, first, leaves) in [
            ("membership=/a", "committed-reads", false),
            ("configuration=/a", "committed-reads", true),
            ("commitment=/a", "agreement", true),
        ] {
            let owed = Owed::parse([kind]).expect("it is well said");
            assert_eq!((owed.promises()[0].name(), owed.setup()), (first, vec!["/a".into()]));
            assert_eq!(owed.opts_out().contains(&"no-litter"), leaves, "{kind}");
        }
    }

    #[test]
    fn a_program_owes_the_standard_promises_and_has_a_znode() {
        let owed = Owed::parse(["program=/a/b", "lock=/lock"]).expect("it is well said");
        assert_eq!(owed.promises().len(), of_lock("/lock").len());
        let owed = Owed::parse(["program=/a/b"]).expect("it is well said");
        assert_eq!((owed.promises().len(), owed.opts_out()), (0, &[][..]));
        assert_eq!(owed.setup(), ["/a".into(), "/a/b".into()]);
    }

    #[test]
    fn a_semaphore_has_as_many_permits_as_is_said() {
        let owed = Owed::parse(["semaphore:2=/a"]).expect("it is well said");
        let names: Vec<_> = owed.promises().iter().map(|promise| promise.name()).collect();
        assert_eq!(names, ["at-most-n-hold", "no-waiter-stuck", "no-orphan-znode", "no-failure"]);
        assert_eq!((owed.paths(), owed.setup()), (vec!["/a"], vec!["/a".into()]));
        let clients = |owed: &str| Owed::parse([owed]).map(|owed| owed.clients());
        assert_eq!(
            ["lock=/a", "semaphore:1=/a", "semaphore:2=/a", "semaphore:9=/a"].map(clients),
            [2, 2, 3, 4].map(Ok)
        );
        let owed = Owed::parse([format!("semaphore:2={LOCK}").as_str()]).expect("it is well said");
        let (mut at_most, mut found) = (owed.promises().remove(0), Vec::new());
        let mut broken = |p| {
            at_most.see(&granted(p), &mut found);
            broken_by(&found).len()
        };
        assert_eq!([0, 1, 2].map(&mut broken), [0, 0, 1]);
    }

    /// Or what is told of items and members would be named as unheard.
    #[test]
    fn what_is_below_is_heard_where_promises_are_about_it() {
        let all =
            ["queue", "membership", "configuration", "commitment", "program", "lock", "barrier", "counter"];
        let below = all.map(|kind| {
            let owed = Owed::parse([format!("{kind}=/a").as_str()]).expect("it is well said");
            owed.hears().next().expect("it is one").below
        });
        assert_eq!(below, [true, true, true, true, true, false, false, false]);
    }

    #[test]
    fn what_is_badly_said_is_told_with_what_was_expected() {
        for (bad, why) in [
            ("lock", "expected KIND=PATH"),
            ("look=/lock", "KIND is one of lock, fair-lock"),
            ("lock=lock", "'lock' is no path"),
            ("lock=/", "'/' is no path"),
            ("semaphore=/lock", "semaphore:N"),
            ("semaphore:=/lock", "expected KIND=PATH"),
            ("semaphore:0=/lock", "expected KIND=PATH"),
            ("semaphore:02=/lock", "expected KIND=PATH"),
            ("lock:2=/lock", "expected KIND=PATH"),
            ("without=no-liter", "no standard promise (no-waiter-stuck, "),
            ("without=no-litter", "nothing is owed"),
        ] {
            let error = Owed::parse([bad]).err().expect(bad);
            assert!(error.contains(why), "{error}");
        }
        let twice = Owed::parse(["lock=/a", "fair-lock=/b"]).err().expect("one promise twice");
        assert!(twice.contains("owed already"), "{twice}");
        let owed = Owed::parse(["without=no-failure", "queue=/a"]).err().expect("the queue owes it itself");
        assert!(owed.contains("no-failure is owed by a kind"), "{owed}");
        assert!(Owed::parse([]).is_err());
    }

    fn there() -> Event {
        let (path, by, owner, mzxid) = ("/a/child".into(), session(9), SessionId::NONE, Zxid::new(1, 1));
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data: "other".into(), mzxid })
    }

    /// All that a word may be told as, of what is at this path, or below it.
    fn tellings(word: Word<'static>, path: &str) -> Vec<Event> {
        let by_itself = |lock: Text| match word {
            words::ATTEMPTS => Some(Observation::Attempts { lock }),
            words::IS_GRANTED => Some(Observation::Granted { lock, node: "".into(), token: None }),
            words::ENTERS => Some(Observation::Enters { lock }),
            words::LEAVES => Some(Observation::Leaves { lock }),
            words::RELEASED => Some(Observation::Released { lock }),
            words::GIVES_UP => Some(Observation::GivesUp { lock, why: "".into() }),
            _ => None,
        };
        let about =
            ["", "/child", "{child}", " to pay", ": pay", "/child: pay"].map(|rest| format!("{path}{rest}"));
        let told = about.iter().flat_map(|about| {
            let notes =
                [Observation::note, Observation::begins, Observation::ends].map(|tell| tell(word, about, 1));
            notes.into_iter().chain(by_itself(about.as_str().into()))
        });
        told.chain([Observation::note(word, "pay", 1)])
            .map(|what| Event::Observed { actor: actor(0), what })
            .collect()
    }

    /// That somebody had set a configuration was heard, so that nobody was warned, and judged by nothing.
    #[test]
    fn each_word_that_a_kind_hears_is_listened_to_by_a_promise_of_its_own() {
        // By some, faults are aimed at who writes; who gives up waits no more; what is taken once is not given back.
        let others = |kind: &str, word| match word {
            words::BEGINS_TO_PUT_INTO | words::HAS_PUT_INTO | words::SETS => true,
            words::GIVES_UP => kind.starts_with("barrier") || kind == "configuration",
            words::IS_DONE_WITH => kind == "queue-at-most-once",
            _ => false,
        };
        for kind in KINDS.iter().filter(|kind| kind.name != "semaphore:N") {
            for word in kind.words.iter().copied().filter(|word| !others(kind.name, *word)) {
                let own = || {
                    let all = kind.promises_of("/a").into_iter();
                    all.filter(|promise| !["no-waiter-stuck", "no-failure"].contains(&promise.name()))
                };
                let told = |events: &[&Event]| {
                    let mut found = Vec::new();
                    let mut all: Vec<_> = own().collect();
                    all.iter_mut().for_each(|one| events.iter().for_each(|event| one.see(event, &mut found)));
                    format!("{all:?} {found:?}")
                };
                let (opened, there) = (opened(0), there());
                let before = || kind.words.iter().flat_map(|word| tellings(*word, "/a"));
                let after = tellings(word, "/a");
                let is_heard = |before: &[&Event]| {
                    let silent = told(before);
                    after.iter().any(|event| told(&[before, &[event]].concat()) != silent)
                };
                let is_heard = before()
                    .any(|before| is_heard(&[&opened, &before]) || is_heard(&[&opened, &there, &before]));
                assert!(is_heard, "{} hears '{word}' for nothing", kind.name);
            }
        }
    }

    #[test]
    fn what_a_kind_owes_beyond_another_is_among_its_promises() {
        let more = |kind: &str, than: &str| {
            let names = |kind| {
                let owed = Owed::parse([format!("{kind}=/a").as_str()]).expect("it is well said");
                owed.promises().iter().map(|promise| promise.name()).collect::<Vec<_>>()
            };
            let fewer = names(than);
            names(kind).into_iter().filter(|name| !fewer.contains(name)).collect::<Vec<_>>()
        };
        assert_eq!(more("shared-lock", "lock"), ["sharers-meet"]);
        assert_eq!(more("barrier-raised-again", "barrier"), ["no-opening-missed"]);
    }
}

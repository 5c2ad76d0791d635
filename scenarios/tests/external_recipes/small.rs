//! Small recipes that an engine once judged wrongly, each with a promise of its own: nobody says "bad".

use crate::external_recipes::judge::{about, broken, noted, path};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use zoocheck::Catalogue;
use zoocheck::api::{CreateMode, Data, Error, SessionId, ZooKeeper, Zxid};
use zoocheck::reports::{CheckReport, Judgement, Verdict};
use zoocheck::trials::common::{AnyProbe, AnyZooKeeper};
use zoocheck::trials::event::{Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::promises::NothingLeftBehind;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;

const ROOT: &str = "/small";

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NobodySaysBad;

impl Promise for NobodySaysBad {
    fn terms(&self) -> Terms {
        Terms::of("nobody-says-bad").about("Nobody says \"bad\".")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((actor, "bad", ..)) => found.push(broken(format!("{actor} says bad"))),
            Some((_, "good", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

fn say(probe: &AnyProbe, is_good: bool) {
    let word = if is_good { "good" } else { "bad" };
    probe.observe(Observation::note(Word::own(word), ROOT, 0));
}

fn small<F>(bounds: Bounds, code: impl Fn(AnyZooKeeper, AnyProbe, Role) -> F + Send + Sync + 'static) -> Trial
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let mut trial = Trial::new("small", code).setup([ROOT]).promises(|| vec![Box::new(NobodySaysBad)]);
    trial.about = about("small", "Says good, or bad.", bounds);
    trial
}

fn check(trial: Trial) -> CheckReport {
    let catalogue = Catalogue::empty().with(trial);
    catalogue.check("small", &catalogue.check_config("small").expect("it is there")).expect("a check")
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// What a process makes of its session's id and of its last transaction: whether it is to say "good".
type Looks = fn(SessionId, Zxid) -> bool;

fn looks(looks: Looks) -> CheckReport {
    check(small(Bounds::clients(2), move |zk, probe, _| async move {
        let stat = zk.set_data(&path(ROOT), Data::NULL, -1).await?;
        say(&probe, looks(zk.session(), stat.mzxid()));
        Ok(())
    }))
}

/// One in eight is bad: the model has one number for each, which is none of those, and a run has all.
#[test]
fn nothing_holds_of_code_that_hashes_ids_or_looks_at_their_numbers() {
    let wrong: [(Looks, &str); 3] = [
        (|session, _| hash_of(&session) % 1_000_003 != 7, "session id"),
        (|session, _| session.get() != 7, "session id"),
        (|_, zxid| hash_of(&zxid) % 1_000_003 != 7, "zxid"),
    ];
    for (nth, (wrong, what)) in wrong.into_iter().enumerate() {
        let report = looks(wrong);
        assert_eq!(report.verdict, Judgement::Undecided, "{nth}: {report}");
        let why = report.ran_out.as_deref().unwrap_or_default();
        assert!(why.contains("hashes") && why.contains(what), "{nth}: {why}");
    }
    let right: [Looks; 2] = [
        |session, zxid| BTreeSet::from([session]).contains(&session) && zxid == zxid,
        |session, _| !format!("{session:x}").is_empty(),
    ];
    for right in right {
        let report = looks(right);
        assert_eq!(report.verdict, Judgement::Holds, "{report}");
    }
}

/// The textbook's lost wake-up: what was looked at is not what is watched. It says nothing while it waits.
#[test]
fn who_waits_for_ever_breaks_a_standard_promise_though_it_has_said_nothing() {
    let waits = |looks_again: bool| {
        let bounds = Bounds { effects: false, ..Bounds::clients(2) };
        small(bounds, move |zk, probe, role| async move {
            say(&probe, true);
            if role.me.process == 0 {
                return zk.set_data(&path(ROOT), "up".into(), -1).await.map(drop);
            }
            if zk.data(&path(ROOT)).await?.0 == Data::NULL {
                let ((data, _), watch) = zk.data_watch(&path(ROOT)).await?;
                if !looks_again || data == Data::NULL {
                    watch.await;
                }
            }
            Ok(())
        })
    };
    let report = check(waits(false));
    assert_eq!(report.promise.as_deref(), Some("no-waiter-stuck"), "{report}");
    let catalogue = Catalogue::empty().with(waits(false));
    let calm = catalogue.scenario("small").expect("it is there").without_faults();
    let sweep = catalogue.sweep(&calm, 0..100).expect("a sweep");
    assert_eq!(
        sweep.promise("no-waiter-stuck").expect("a standard promise").verdict,
        Verdict::Broken,
        "{sweep}"
    );
    assert_eq!(check(waits(true)).verdict, Judgement::Holds);
}

/// Whose client has closed its session while it was not connected has done with it: the session expires, and its znodes
/// go with it. At seed 69 a run was taken to be at rest before that.
#[test]
fn a_session_that_was_closed_in_vain_expires_before_what_is_left_is_judged() {
    let trial = small(Bounds::clients(2), |zk, probe, role| async move {
        probe.observe(Observation::begins(Word::own("makes"), ROOT, 0));
        say(&probe, true);
        let own = path(&format!("{ROOT}/{}", role.me.process));
        let made = zk.create(&own, Data::NULL, CreateMode::Ephemeral).await;
        let done = match made {
            Ok(_) => zk.delete(&own, -1).await,
            Err(error) => Err(error),
        };
        if done.is_err() {
            let _ = zk.close().await;
        }
        Ok(())
    });
    let trial = trial.promises(|| vec![Box::new(NobodySaysBad), Box::new(NothingLeftBehind::of(ROOT))]);
    let catalogue = Catalogue::empty().with(trial);
    let sweep = catalogue.sweep(&catalogue.scenario("small").expect("it is there"), 0..400).expect("a sweep");
    let left = sweep.promise("nothing-left-behind").expect("it is promised");
    assert_eq!(left.verdict, Verdict::Held, "{sweep}");
}

//! The library, as an external crate uses it: a trial of one's own, from a test.
#![cfg(feature = "run")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, ZPath, ZooKeeper};
use zoocheck::trials::event::{End, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::ExclusionAmongLiveSessions;
use zoocheck::trials::trial::{About, Bounds, Reductions, Role, Trial};
use zoocheck::{Answer, Catalogue, Scenario, Verdict};

/// A lock without any locking.
#[derive(Clone)]
struct Anarchy;

const ROOT: &str = "/anarchy";

fn about(name: &'static str) -> About {
    About {
        name,
        summary: "Everybody enters.",
        source: "a test",
        breaks: None,
        bounds: Bounds::clients(2),
        reductions: Reductions::default(),
    }
}

impl From<Anarchy> for Trial {
    fn from(_: Anarchy) -> Trial {
        async fn actor(zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
            let root = ZPath::parse(ROOT).expect("a path");
            for _ in 0..role.rounds {
                if zk.exists(&root).await.is_err() {
                    return End::SessionLost;
                }
                probe.observe(Observation::Enters { lock: ROOT.into() });
                probe.work().await;
                probe.observe(Observation::Leaves { lock: ROOT.into() });
            }
            End::Done
        }
        let about = { about("anarchy") };
        let mut trial = Trial::new(about.name, actor)
            .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of(ROOT))])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

/// Takes chance from where no seed reaches.
#[derive(Clone)]
struct Dice;

static ROLLS: AtomicU64 = AtomicU64::new(0);

impl From<Dice> for Trial {
    fn from(_: Dice) -> Trial {
        async fn actor(zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, _role: Role) -> End {
            let roll = ROLLS.fetch_add(1, Ordering::Relaxed);
            zk.sleep(Duration::from_millis(roll % 97)).await;
            let path = ZPath::parse(&format!("{ROOT}/{roll}")).expect("a path");
            match zk.create(&path, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => End::Done,
                Err(_) => End::SessionLost,
            }
        }
        let about = { about("dice") };
        let mut trial = Trial::new(about.name, actor)
            .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of(ROOT))])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

/// Gives up in the worst way.
#[derive(Clone)]
struct Panics;

impl From<Panics> for Trial {
    fn from(_: Panics) -> Trial {
        async fn actor(zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, role: Role) -> End {
            zk.sleep(Duration::from_millis(5)).await;
            assert_ne!(role.me.process, 1, "the second process has no luck");
            End::Done
        }
        let about = { about("panics") };
        let mut trial = Trial::new(about.name, actor)
            .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of(ROOT))])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

fn calm(catalogue: &Catalogue, name: &str) -> Scenario {
    catalogue.scenario(name).expect("it is there").without_faults()
}

#[test]
fn an_external_trial_is_swept() {
    let catalogue = Catalogue::default().with(Anarchy);
    let report = catalogue.sweep(&calm(&catalogue, "anarchy"), 0..10).expect("a sweep");
    assert_eq!(report.answer, Answer::Broken, "{report}");
    assert_eq!(report.promises[0].verdict, Verdict::Broken, "{report}");
    assert!(!report.to_string().contains("through all faults"), "{report}");
    let failure = &report.failures[0];
    let replay = catalogue.replay(&calm(&catalogue, "anarchy"), failure.seed).expect("a replay");
    assert_eq!((replay.digest, replay.violations[0].virtual_ns), (failure.digest, failure.virtual_ns));
}

#[test]
fn an_external_trial_is_checked() {
    let catalogue = Catalogue::empty().with(Anarchy);
    let report = catalogue
        .check("anarchy", &catalogue.check_config("anarchy").expect("it is there"))
        .expect("a check");
    assert!(!report.held(), "{report}");
    assert!(!report.steps.is_empty(), "{report}");
}

#[test]
fn a_hidden_source_of_chance_is_caught() {
    let catalogue = Catalogue::empty().with(Dice);
    let report = catalogue.sweep(&calm(&catalogue, "dice"), 0..5).expect("a sweep");
    let determinism = report.promise("determinism").expect("it is an invariant");
    assert_eq!(determinism.verdict, Verdict::Broken, "{report}");
    let failure =
        report.failures.iter().find(|failure| failure.promise == "determinism").expect("it is told");
    assert!(failure.what.contains("first differed here"), "{}", failure.what);
}

#[test]
fn a_panic_of_a_recipe_is_a_broken_invariant_with_its_message() {
    let catalogue = Catalogue::empty().with(Panics);
    let report = catalogue.sweep(&calm(&catalogue, "panics"), 0..3).expect("a sweep");
    assert_eq!(report.answer, Answer::Broken, "{report}");
    let failure = &report.failures[0];
    assert_eq!(failure.promise, "no-panic");
    assert!(failure.what.contains("the second process has no luck"), "{}", failure.what);
    let report =
        catalogue.check("panics", &catalogue.check_config("panics").expect("it is there")).expect("a check");
    assert_eq!(report.promise.as_deref(), Some("no-panic"), "{report}");
}

#[test]
#[should_panic(expected = "two trials are called 'anarchy'")]
fn a_name_is_given_once() {
    let _ = Catalogue::default().with(Anarchy).with(Anarchy);
}

#[test]
fn an_impossible_scenario_is_refused() {
    let catalogue = Catalogue::default();
    let scenario = Scenario { clients: 0, ..catalogue.scenario("lock").expect("it is there") };
    let error = catalogue.sweep(&scenario, 0..1).expect_err("nobody is there").to_string();
    assert!(error.starts_with("clients: 0"), "{error}");
    let scenario = catalogue.scenario("lock").expect("it is there");
    catalogue.sweep(&scenario, 5..5).expect_err("no seed");
    let unknown = Scenario { recipe: "lokc".into(), ..scenario };
    assert!(catalogue.replay(&unknown, 1).expect_err("unknown").to_string().contains("did you mean 'lock'?"));
}

/// A candidate that was told of its lost connection stood still for a moment, and what it had written before arrived
/// meanwhile: that was taken for a write of one that goes on. Seed 140 was one of them.
#[test]
fn who_is_told_of_a_loss_goes_on_at_once() {
    let catalogue = Catalogue::default();
    let sweep =
        catalogue.sweep(&catalogue.scenario("election").expect("it is there"), 135..145).expect("a sweep");
    let stops = sweep.promise("stops-at-loss").expect("it is promised");
    assert_eq!(stops.verdict, Verdict::Held, "{sweep}");
}

/// Each promise there is, made as by an external crate: of what `zoocheck` exports alone.
fn every_promise() -> Vec<Box<dyn AnyPromise>> {
    use zoocheck::trials::promises::*;
    let mut all: Vec<Box<dyn AnyPromise>> = vec![
        Box::new(AbortValidity::of("/tx", "/sites")),
        Box::new(AbortsEarly::of("/tx")),
        Box::new(Agreement::of("/tx")),
        Box::new(AnnouncedLeaderLed::of(ROOT)),
        Box::new(BarrierHolds::of(ROOT)),
        Box::new(BarrierReleases::of(ROOT)),
        Box::new(NoOpeningMissed::of(ROOT)),
        Box::new(RaisedAsTold::of(ROOT)),
        Box::new(CommitValidity::of("/tx")),
        Box::new(ContentReaches::of("/tx")),
        Box::new(CountsEachOnce::of(ROOT)),
        Box::new(BarrierOpens::of(ROOT)),
        Box::new(EntersTogether::of(ROOT)),
        Box::new(LeavesTogether::of(ROOT)),
        Box::new(RoundsDoNotMix::of(ROOT)),
        Box::new(ExclusionAmongLiveSessions::of(ROOT)),
        Box::new(ExclusionAtResource::checked(ROOT)),
        Box::new(ExclusionAtResource::delayed(ROOT, Duration::from_secs(1))),
        Box::new(ExclusionAtResource::fenced(ROOT)),
        Box::new(ExclusionAtResource::unfenced(ROOT)),
        Box::new(Fifo::of_shared(ROOT, "-write-")),
        Box::new(Irrevocability::of("/tx")),
        Box::new(LeaversUnlisted::of(ROOT)),
        Box::new(LiveMembersListed::of(ROOT)),
        Box::new(NoForeignDelete::of(ROOT)),
        Box::new(NoOrphanTransaction::of("/tx")),
        Box::new(NoOrphanZnode::of(ROOT)),
        Box::new(NoPolling),
        Box::new(NoSecondZnode::default()),
        Box::new(NoLitter::default()),
        Box::new(NoWaiterStuck),
        Box::new(NothingLeftBehind::of(ROOT)),
        Box::new(OneTermPerElection::of(ROOT)),
        Box::new(Measured(OneWokenPerDeletion::of(ROOT))),
        Box::new(NothingLost::of(ROOT, Delivery::AtLeastOnce)),
        Box::new(TakenOnce::of(ROOT, Delivery::AtMostOnce)),
        Box::new(QueueProgress::of(ROOT, Delivery::AtLeastOnce)),
        Box::new(TakesInOrder::of(ROOT)),
        Box::new(RevocationHeeded::of(ROOT)),
        Box::new(SequencerNamesAHolder::of(ROOT, "-write-")),
        Box::new(SessionEndNoticed::default()),
        Box::new(SharersMeet::of(ROOT, "-write-")),
        Box::new(SharersWakeTogether::of(ROOT, "-write-")),
        Box::new(StopsAtLoss::of(ROOT, OnDisconnect::Stop)),
        Box::new(TellsInOrder::of(&[(zoocheck::trials::words::ASKS, &[START]), (DONE, &[START])])),
        Box::new(TokensIncrease::of(ROOT)),
        Box::new(TrySucceedsUncontended::of(ROOT)),
        Box::new(Undisturbed::of(NoFailure).within(ROOT)),
        Box::new(Views::told(ROOT, Of::Names)),
        Box::new(VotersLearn::of("/tx")),
        Box::new(WokenWhenDue::of(ROOT)),
    ];
    all.extend(Owed::parse(["barrier=/up"]).expect("it is well said").promises());
    all
}

#[test]
fn every_promise_can_be_made_of_what_the_library_exports() {
    let here = include_str!("library.rs");
    let exported = include_str!("../../recipes/harness/src/promises/mod.rs");
    let exports = exported.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let names = exports.flat_map(|names| names.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let is_type = |name: &&str| name.chars().any(char::is_lowercase) && name.starts_with(char::is_uppercase);
    // What it takes to list words in their order is in place there.
    for name in names.filter(is_type).filter(|name| *name != "Order") {
        let made = [format!("{name}::"), format!("({name})"), format!("({name}(")];
        assert!(made.iter().any(|made| here.contains(made)), "{name}");
    }
    assert!(every_promise().iter().all(|promise| !promise.name().is_empty()));
}

//! A trial in which nothing happens: no engine may call it green.

use crate::external_recipes::judge::about;
use std::sync::Arc;
use zoocheck::api::ZooKeeper;
use zoocheck::trials::mutation::{Kind, Mutated, Mutation};
use zoocheck::trials::prelude::*;
use zoocheck::trials::promises::{
    BarrierOpens, BarrierReleases, NoFailure, NoOrphanTransaction, NoOrphanZnode, NoWaiterStuck,
    NothingLeftBehind, QueueProgress,
};
use zoocheck::trials::recipes::queue::Delivery;
use zoocheck::trials::trial::Bounds;
use zoocheck::{Answer, Catalogue, CheckConfig, Engine, Scenario, Verdict};

const ROOT: &str = "/idle";

/// Its actors return at once.
#[derive(Clone)]
struct Idle;

impl From<Idle> for Trial {
    fn from(_: Idle) -> Trial {
        async fn actor(_zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, _role: Role) -> End {
            End::Done
        }
        let about = { about("external-idle", "Nobody does anything.", Bounds::clients(2)) };
        let mut trial = Trial::new(about.name, actor)
            .promises(|| {
                vec![
                    Box::new(NoWaiterStuck),
                    Box::new(NoFailure),
                    Box::new(NoOrphanZnode::of(ROOT)),
                    Box::new(NothingLeftBehind::of(ROOT)),
                    Box::new(QueueProgress::of(ROOT, Delivery::AtLeastOnce)),
                    Box::new(BarrierReleases::of(ROOT)),
                    Box::new(BarrierOpens::of(ROOT)),
                    Box::new(NoOrphanTransaction::of(ROOT)),
                ]
            })
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

/// One member passes a barrier for one as it likes: that once was a test of what it takes several for.
#[test]
fn one_member_is_no_test_of_a_double_barrier() {
    let catalogue = Catalogue::default();
    let scenario = catalogue.scenario("double-barrier").expect("it is there");
    let sweep = catalogue.sweep(&Scenario { clients: 1, rounds: 1, ..scenario }, 0..20).expect("a sweep");
    let config = catalogue.check_config("double-barrier").expect("it is there");
    let bounds = Bounds { clients: 1, ..config.bounds };
    let check = catalogue.check("double-barrier", &CheckConfig { bounds, ..config }).expect("a check");
    assert_eq!(
        (sweep.answer, check.verdict.answer()),
        (Answer::Undecided, Answer::Undecided),
        "{sweep}{check}"
    );
    for name in ["enters-together", "leaves-together", "rounds-do-not-mix", "barrier-opens"] {
        let swept = sweep.promise(name).expect("it is promised").verdict;
        let checked = check.promises.iter().find(|promise| promise.name == name).expect("it is promised");
        assert_eq!((swept, checked.verdict), (Verdict::NeverTested, Verdict::NeverTested), "{name}");
    }
}

/// Each of these promises took any quiet rest for a test, and a check was green where nothing was tested: this trial
/// held in every engine.
#[test]
fn what_does_nothing_is_green_nowhere() {
    let catalogue = Catalogue::empty().with(Idle);
    let config = catalogue.check_config("external-idle").expect("it is there");
    for engine in [Engine::Own, Engine::Stateright] {
        let config = CheckConfig { engine, ..config.clone() };
        let check = catalogue.check("external-idle", &config).expect("a check");
        assert_eq!((check.verdict.answer(), check.exhaustive), (Answer::Undecided, true), "{check}");
        let tested = |promise: &&zoocheck::reports::CheckedPromise| promise.verdict != Verdict::NeverTested;
        assert_eq!(check.promises.iter().find(tested), None, "{check}");
    }
    let sweep =
        catalogue.sweep(&catalogue.scenario("external-idle").expect("it is there"), 0..20).expect("a sweep");
    assert_eq!(sweep.answer, Answer::Undecided, "{sweep}");
    assert!(sweep.promises.iter().all(|promise| promise.verdict == Verdict::NeverTested), "{sweep}");
    let judged = catalogue.judge(&[], 20).expect("a judgement");
    assert_eq!(judged.answer, Answer::Undecided, "{judged}");
    let open = judged.trials[0].wrong.iter().filter(|wrong| wrong.ends_with("was never put to the test"));
    assert_eq!(open.count(), 8, "{judged}");
}

#[test]
fn no_right_recipe_of_the_catalogue_is_green_where_its_actors_do_nothing() {
    for trial in Catalogue::default().trials().iter().filter(|trial| trial.about.breaks.is_none()) {
        let name = trial.about.name;
        // Its actors return at once.
        let idles = (**trial).clone().code(|_, _, _| std::future::ready(End::Done));
        let catalogue = Catalogue::empty().with(idles);
        let sweep = catalogue.sweep(&catalogue.scenario(name).expect("it is there"), 0..5).expect("a sweep");
        let check =
            catalogue.check(name, &catalogue.check_config(name).expect("it is there")).expect("a check");
        let answers = (sweep.answer, check.verdict.answer());
        assert!(
            !matches!(answers, (Answer::Held, _) | (_, Answer::Held)),
            "{name}: {answers:?}\n{sweep}{check}"
        );
    }
}

/// What is put to the test under all these seeds, unless something is broken: where nobody but the process itself does
/// anything wrong, and one server is enough, or with the faults of its scenario. Without faults nothing is held for
/// want of tests, so that the answer alone would tell nobody from the right one.
fn tested(trial: &Mutated, with_faults: bool, seeds: std::ops::Range<u64>) -> Option<Vec<String>> {
    let name = trial.trial.about.name;
    let catalogue = Catalogue::empty().with(trial.explored());
    let scenario = catalogue.scenario(name).expect("it is there");
    let scenario = Scenario { work_ms: [8_000, 16_000], heal_seconds: 300, ..scenario };
    let alone = |scenario: Scenario| Scenario { servers: 1, observers: 0, ..scenario.without_faults() };
    let scenario = if with_faults { scenario } else { alone(scenario) };
    let sweep = catalogue.sweep(&scenario, seeds).expect("a sweep");
    let tested = sweep.promises.iter().filter(|promise| promise.verdict != Verdict::NeverTested);
    (sweep.answer != Answer::Broken).then(|| tested.map(|promise| promise.name.clone()).collect())
}

/// How often there is an occasion to go wrong in this way, in a run without faults.
fn occasions(trial: &Mutated, kind: Kind) -> u8 {
    let seen = trial.log.seen();
    seen.places.keys().filter(|(of, _)| *of == kind).map(|(_, nth)| *nth).max().unwrap_or(0)
}

/// Where it goes wrong, and nothing is broken that is right in its place, and no promise tested less.
fn goes_on_green(kinds: &[Kind], with_faults: bool) -> Vec<String> {
    let mut green = Vec::new();
    for trial in Catalogue::default().trials().iter().filter(|trial| trial.about.breaks.is_none()) {
        let right = Mutated::none(trial.clone());
        let name = trial.about.name;
        // Most are found by the first seed.
        let parts = [0..1, 1..12].map(|seeds| (tested(&right, with_faults, seeds.clone()), seeds));
        assert!(parts.iter().all(|(tested, _)| tested.as_ref().is_some_and(|it| !it.is_empty())), "{name}");
        for kind in kinds {
            for nth in 1..=occasions(&right, *kind) {
                let wrong = right.with(Mutation { kind: *kind, nth }, None);
                if parts
                    .iter()
                    .all(|(of_right, seeds)| tested(&wrong, with_faults, seeds.clone()) == *of_right)
                {
                    green.push(format!("{name}: {kind:?} {nth}"));
                }
            }
        }
    }
    green
}

/// The end comes at each request of a run, one after the other: what was begun is not done, or it hangs. At these,
/// without faults, nobody notices it.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn who_stops_at_any_request_of_a_run_is_noticed_nearly_everywhere() {
    let known = [
        "timed-lock: NeverReturns 1",
        "timed-lock: NeverReturns 9",
        "timed-lock: NeverReturns 10",
        "revocable-lock/by-force: ReturnsEarly 46",
        "revocable-lock/by-force: ReturnsEarly 47",
        "revocable-lock/by-force: ReturnsEarly 48",
        "revocable-lock/by-force: ReturnsEarly 49",
        "revocable-lock/by-force: NeverReturns 47",
        "revocable-lock/by-force: NeverReturns 48",
        "two-phase-commit: ReturnsEarly 46",
        "two-phase-commit: NeverReturns 2",
        "two-phase-commit/each-other: ReturnsEarly 46",
        "two-phase-commit/silent: NeverReturns 2",
        "configuration/notified: ReturnsEarly 41",
    ];
    assert_eq!(goes_on_green(&[Kind::ReturnsEarly, Kind::NeverReturns], false), known);
}

#[test]
fn who_is_deaf_to_the_end_of_its_session_is_green_nowhere() {
    assert_eq!(goes_on_green(&[Kind::DeafToEnd], true), [] as [String; 0]);
}

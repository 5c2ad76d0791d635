//! A trial in which nothing happens: no engine may call it green.

use crate::judge::about;
use std::sync::Arc;
use zoocheck::api::ZooKeeper;
use zoocheck::trials::prelude::*;
use zoocheck::trials::promises::{
    BarrierOpens, BarrierReleases, NoFailure, NoOrphanTransaction, NoOrphanZnode, NoWaiterStuck,
    NothingLeftBehind, QueueProgress,
};
use zoocheck::trials::trial::Bounds;
use zoocheck::{Answer, CheckConfig, Engine, Scenario, Verdict, Zoo};

const ROOT: &str = "/idle";

/// Its actors return at once.
#[derive(Clone)]
struct Idle;

impl From<Idle> for Trial {
    fn from(_: Idle) -> Trial {
        async fn actor(_zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, _part: Part) -> End {
            End::Done
        }
        let about = { about("stranger-idle", "Nobody does anything.", Bounds::clients(2)) };
        let mut trial = Trial::new(about.name, actor)
            .promises(|| {
                vec![
                    Box::new(NoWaiterStuck),
                    Box::new(NoFailure),
                    Box::new(NoOrphanZnode::of(ROOT)),
                    Box::new(NothingLeftBehind::of(ROOT)),
                    Box::new(QueueProgress::of(ROOT)),
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
    let zoo = Zoo::default();
    let scenario = zoo.scenario("double-barrier").expect("it is there");
    let sweep = zoo.sweep(&Scenario { clients: 1, rounds: 1, ..scenario }, 0..20).expect("a sweep");
    let config = zoo.check_config("double-barrier").expect("it is there");
    let bounds = Bounds { clients: 1, ..config.bounds };
    let check = zoo.check("double-barrier", &CheckConfig { bounds, ..config }).expect("a check");
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

/// Each of these promises took any quiet rest for a test, and a check was green where nothing was tested: this trial held in
/// every engine.
#[test]
fn what_does_nothing_is_green_nowhere() {
    let zoo = Zoo::empty().with(Idle);
    let config = zoo.check_config("stranger-idle").expect("it is there");
    for engine in [Engine::Own, Engine::Stateright] {
        let config = CheckConfig { engine, ..config.clone() };
        let check = zoo.check("stranger-idle", &config).expect("a check");
        assert_eq!((check.verdict.answer(), check.exhaustive), (Answer::Undecided, true), "{check}");
        let tested = |promise: &&zoocheck::reports::CheckedPromise| promise.verdict != Verdict::NeverTested;
        assert_eq!(check.promises.iter().find(tested), None, "{check}");
    }
    let sweep = zoo.sweep(&zoo.scenario("stranger-idle").expect("it is there"), 0..20).expect("a sweep");
    assert_eq!(sweep.answer, Answer::Undecided, "{sweep}");
    assert!(sweep.promises.iter().all(|promise| promise.verdict == Verdict::NeverTested), "{sweep}");
    let judged = zoo.judge(&[], 20).expect("a judgement");
    assert_eq!(judged.answer, Answer::Undecided, "{judged}");
    let open = judged.trials[0].wrong.iter().filter(|wrong| wrong.ends_with("was never put to the test"));
    assert_eq!(open.count(), 8, "{judged}");
}

#[test]
fn no_right_recipe_of_the_catalogue_is_green_where_its_actors_do_nothing() {
    for trial in Zoo::default().trials().iter().filter(|trial| trial.about.breaks.is_none()) {
        let name = trial.about.name;
        // Its actors return at once.
        let idles = (**trial).clone().code(|_, _, _| std::future::ready(End::Done));
        let zoo = Zoo::empty().with(idles);
        let sweep = zoo.sweep(&zoo.scenario(name).expect("it is there"), 0..5).expect("a sweep");
        let check = zoo.check(name, &zoo.check_config(name).expect("it is there")).expect("a check");
        let answers = (sweep.answer, check.verdict.answer());
        assert!(
            !matches!(answers, (Answer::Held, _) | (_, Answer::Held)),
            "{name}: {answers:?}\n{sweep}{check}"
        );
    }
}

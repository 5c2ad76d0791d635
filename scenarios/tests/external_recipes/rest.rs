//! What is judged at rest: of recipes of which some code never comes to it nothing may hold, and of the others all that
//! is left counts.

use crate::external_recipes::judge::{about, path};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Error, ErrorCode, ZooKeeper};
use zoocheck::reports::Judgement;
use zoocheck::trials::common::{AnyProbe, AnyZooKeeper};
use zoocheck::trials::event::Observation;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises::{CountsEachOnce, NothingLeftBehind};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::{ADDS, HAS_ADDED, Word};
use zoocheck::{Answer, Catalogue, Scenario, Verdict};

const COUNTER: &str = "/rest/counter";

/// What goes on when a process has added its one.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Nothing,
    /// A task of its own, for ever.
    Ticks,
    /// The process itself, for an hour.
    Sleeps,
}

/// Adds one; not if another has added meanwhile, which nobody notices but the promise, at rest.
async fn turn(after: After, zk: AnyZooKeeper, probe: AnyProbe, _: Role) -> Result<(), Error> {
    let counter = path(COUNTER);
    probe.observe(Observation::note(ADDS, COUNTER, 1));
    let (data, stat) = zk.data(&counter).await?;
    let number: u32 = std::str::from_utf8(data.bytes()).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    match zk.set_data(&counter, Data::from((number + 1).to_string().as_str()), stat.version()).await {
        Err(error) if error.code == ErrorCode::BadVersion => {}
        set => drop(set?),
    }
    probe.observe(Observation::note(HAS_ADDED, COUNTER, 1));
    match after {
        After::Nothing => {}
        After::Ticks => {
            let ticks = zk.clone();
            probe.spawn(Box::pin(async move {
                loop {
                    ticks.checkpoint("ticks", &[]);
                    ticks.sleep(Duration::from_secs(1)).await;
                }
            }));
        }
        After::Sleeps => zk.sleep(Duration::from_secs(3600)).await,
    }
    Ok(())
}

fn of(after: After) -> Catalogue {
    let mut trial = Trial::new("adds", move |zk, probe, role| turn(after, zk, probe, role))
        .setup(["/rest", COUNTER])
        .promises(|| vec![Box::new(CountsEachOnce::of(COUNTER))]);
    trial.about = about("adds", "Some do not add.", Bounds::clients(2));
    Catalogue::empty().with(trial)
}

/// Both held: the one as no state of the model was at rest, the other as no run was.
#[test]
fn where_nothing_is_at_rest_nothing_holds() {
    for (after, in_the_model, by_chance) in [
        (After::Nothing, Judgement::Violated, Answer::Broken),
        (After::Ticks, Judgement::Undecided, Answer::Broken),
        (After::Sleeps, Judgement::Violated, Answer::Undecided),
    ] {
        let catalogue = of(after);
        let check = catalogue.check("adds", &catalogue.check_config("adds").expect("it is there"));
        let check = check.expect("a check");
        assert_eq!(check.verdict, in_the_model, "{check}");
        let is_told = check.ran_out.as_ref().is_some_and(|why| why.starts_with("nothing was ever at rest"));
        assert_eq!(is_told, after == After::Ticks, "{check}");
        let scenario = catalogue.scenario("adds").expect("it is there");
        let scenario = Scenario { rounds: 1, servers: 1, observers: 0, ..scenario };
        let sweep = catalogue.sweep(&scenario.without_faults(), 0..20).expect("a sweep");
        assert_eq!(sweep.answer, by_chance, "{sweep}");
        let slept = sweep.to_string().contains("nothing was judged at rest: somebody slept on");
        assert_eq!(slept, after == After::Sleeps, "{sweep}");
    }
}

/// Makes its own directory, joins it, and leaves its znode there.
async fn joins(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), Error> {
    const GROUP: &str = "/joined";
    match zk.create(&path(GROUP), Data::NULL, CreateMode::Persistent).await {
        Err(error) if error.code == ErrorCode::NodeExists => {}
        made => drop(made?),
    }
    probe.observe(Observation::note(Word::own("joins"), GROUP, 0));
    let name = format!("{GROUP}/p{}", role.me.process);
    zk.create(&path(&name), Data::NULL, CreateMode::Ephemeral).await?;
    Ok(())
}

/// Only znodes below a trial's setup were looked at, and what is left elsewhere held.
#[test]
fn what_is_left_counts_also_where_nothing_was_set_up() {
    let mut trial = Trial::new("joins", joins).promises(|| vec![Box::new(NothingLeftBehind::of("/joined"))]);
    trial.about = about("joins", "Nobody leaves.", Bounds::clients(2));
    let catalogue = Catalogue::empty().with(trial);
    let check = catalogue.check("joins", &catalogue.check_config("joins").expect("it is there"));
    let check = check.expect("a check");
    assert_eq!(check.promise.as_deref(), Some("nothing-left-behind"), "{check}");
    let scenario = catalogue.scenario("joins").expect("it is there");
    let scenario = Scenario { rounds: 1, servers: 1, observers: 0, ..scenario };
    let sweep = catalogue.sweep(&scenario.without_faults(), 0..5).expect("a sweep");
    let left = sweep.promise("nothing-left-behind").expect("it is promised");
    assert_eq!(left.verdict, Verdict::Broken, "{sweep}");
}

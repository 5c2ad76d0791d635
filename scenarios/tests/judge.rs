//! Judgements: they agree where they should, and where a trial's own word is wrong, they say so.

mod common;

use common::zoocheck;
use zk_trials::event::End;
use zk_trials::lock::{LockKind, OnTrial, Simple};
use zk_trials::probe::Probe;
use zk_trials::promise::AnyPromise;
use zk_trials::trial::{About, Bounds, Breaks, FoundBy, Part, Trial};
use zoocheck::api::{Text, ZooKeeper};
use zoocheck::reports::{HerdReport, JudgeReport, judge_markdown};
use zoocheck::trials as zk_trials;
use zoocheck::{Answer, Verdict, Zoo};

/// A lock that says other things of itself.
struct Claims<K> {
    lock: OnTrial<K>,
    breaks: Option<Breaks>,
    bounds: Bounds,
    found_by: FoundBy,
    keeps: &'static [&'static str],
}

impl<K: LockKind> Claims<K> {
    fn of(lock: K) -> Claims<K> {
        let about = lock.about();
        let (breaks, bounds) = (about.breaks, about.bounds);
        Claims { lock: OnTrial(lock), breaks, bounds, found_by: FoundBy::Both, keeps: &[] }
    }
}

impl<K: LockKind> Trial for Claims<K> {
    fn about(&self) -> About {
        About { name: "claims", breaks: self.breaks, bounds: self.bounds, ..self.lock.about() }
    }
    fn setup(&self) -> Vec<Text> {
        self.lock.setup()
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        self.lock.promises()
    }
    fn found_by(&self) -> FoundBy {
        self.found_by
    }
    fn keeps(&self) -> &'static [&'static str] {
        self.keeps
    }
    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        self.lock.actor(zk, probe, part).await
    }
}

fn judge(claims: Claims<impl LockKind>) -> JudgeReport {
    Zoo::empty().with(claims).judge(&[], 60).expect("it can be judged")
}

#[test]
fn what_is_not_catalogued_as_wrong_must_hold() {
    let report = judge(Claims { breaks: None, ..Claims::of(Simple) });
    assert_eq!(report.answer, Answer::Broken);
    let wrong = report.trials[0].wrong.join("; ");
    assert!(wrong.contains("no-waiter-stuck is broken in the model"), "{wrong}");
    assert!(wrong.contains("no-waiter-stuck is broken under "), "{wrong}");
}

#[test]
fn what_is_catalogued_must_be_broken_by_both_engines_under_its_name() {
    let breaks = Some(Breaks { promise: "no-foreign-delete", defect: "S-000", fault: "none" });
    let report = judge(Claims { breaks, ..Claims::of(Simple) });
    assert_eq!(report.answer, Answer::Broken);
    let expected =
        ["no-foreign-delete is not broken in the model", "no-foreign-delete is broken under no seed"];
    assert_eq!(report.trials[0].wrong, expected);
    let breaks = Some(Breaks { promise: "no-such-promise", defect: "S-000", fault: "none" });
    let report = judge(Claims { breaks, ..Claims::of(Simple) });
    assert_eq!(report.trials[0].wrong, ["no-such-promise is no promise of it"]);
}

#[test]
fn an_engine_that_is_not_named_need_not_find_it() {
    // One client alone meets nobody, in the model; under seeds there are five.
    let alone = || Claims { bounds: Bounds::clients(1), ..Claims::of(Simple) };
    assert_eq!(judge(alone()).answer, Answer::Broken);
    let by_chaos = judge(Claims { found_by: FoundBy::Chaos, ..alone() });
    assert_eq!(by_chaos.answer, Answer::Held, "{by_chaos}");
    assert_eq!(judge(Claims { found_by: FoundBy::Model, ..alone() }).answer, Answer::Broken);
}

#[test]
fn what_a_wrong_variant_is_said_to_keep_must_hold_to_the_end() {
    let keeps: &[&str] = &["exclusion-among-live-sessions", "no-foreign-delete"];
    let report = judge(Claims { keeps, ..Claims::of(Simple) });
    assert_eq!(report.answer, Answer::Held, "{report}");
    let report = judge(Claims { keeps: &["no-orphan-znode"], ..Claims::of(zk_trials::lock::NoGuid) });
    assert_eq!(report.answer, Answer::Broken, "{report}");
}

#[test]
fn a_search_that_had_no_end_is_undecided() {
    let ran = zoocheck("judge lock --seeds 60 --max-states 1000");
    assert_eq!(ran.status, 3, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("lock: the model is not explored to the end (states: 1000)"),
        "{}",
        ran.stdout
    );
    let ran = zoocheck("judge lock/simple --seeds 60 --format json");
    assert_eq!(ran.status, 0, "{}", ran.stdout);
    ran.json::<JudgeReport>();
}

#[test]
fn everything_is_as_catalogued_and_the_published_table_is_that_of_a_run() {
    let report = Zoo::default().judge(&[], 100).expect("it can be judged");
    assert_eq!(report.answer, Answer::Held, "{report}");
    // Each promise is put to the test by the model of some right recipe, within that recipe's own bounds.
    let right = || report.trials.iter().filter(|trial| trial.catalogued.is_none());
    let all = right().flat_map(|trial| &trial.promises);
    let (tested, untested): (Vec<_>, Vec<_>) = all.partition(|promise| promise.model != Verdict::NeverTested);
    for promise in untested {
        assert!(tested.iter().any(|other| other.name == promise.name), "{}: {report}", promise.name);
    }
    let published = include_str!("../../recipes/trials/JUDGED.md");
    for line in judge_markdown(&report).lines() {
        assert!(published.contains(line), "recipes/trials/JUDGED.md lacks this line of a run:\n{line}");
    }
}

#[test]
fn the_published_table_of_herds_is_that_of_a_run() {
    let ran = zoocheck("judge --herd=20,1,2,5,10 --format markdown");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let published = include_str!("../../ARCHITECTURE.md");
    for line in ran.stdout.lines() {
        let begins = line.strip_suffix('|').expect("a row of a table");
        assert!(
            published.contains(&format!("\n{begins}|")),
            "ARCHITECTURE.md lacks this line of a run:\n{line}"
        );
    }
    let ran = zoocheck("judge lock/simple --herd=10 --format json");
    let report: HerdReport = serde_json::from_value(ran.json::<HerdReport>()).expect("one");
    let run = report.trials[0].runs[0];
    assert_eq!((run.granted, run.woken, run.most), (10, 45, 9));
}

#[test]
fn a_recipe_that_grants_nothing_has_no_herd_to_count() {
    let ran = zoocheck("judge queue --herd=3");
    assert_eq!(ran.status, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("* queue: 0 of 3 were granted what they asked for"), "{}", ran.stdout);
}

#[test]
fn a_name_that_nobody_has_is_told() {
    let error = Zoo::default().judge(&["lok"], 1).expect_err("there is none");
    assert!(error.to_string().contains("did you mean 'lock'?"), "{error}");
}

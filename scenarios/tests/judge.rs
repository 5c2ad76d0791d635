//! Judgements: they agree where they should, and where a trial's own word is wrong, they say so.

use crate::common::zoocheck;
use zk_harness::trial::{Bounds, Breaks, FoundBy, Trial};
use zoocheck::reports::{HerdReport, JudgeReport, Report};
use zoocheck::{Answer, Catalogue, Verdict, trials as zk_harness};

/// A lock of the catalogue that says other things of itself.
fn claims(lock: &str) -> Trial {
    let mut all = zk_catalogue::lock::trials().into_iter();
    let mut trial = all.find(|trial| trial.about.name == lock).expect("it is there");
    trial.about.name = "claims";
    trial.found_by(FoundBy::Both)
}

fn breaking(mut trial: Trial, breaks: Option<Breaks>) -> Trial {
    trial.about.breaks = breaks;
    trial
}

fn judge(claims: Trial) -> JudgeReport {
    Catalogue::empty().with(claims).judge(&[], 60).expect("it can be judged")
}

#[test]
fn what_is_not_catalogued_as_wrong_must_hold() {
    let report = judge(breaking(claims("lock/simple"), None));
    assert_eq!(report.answer, Answer::Broken);
    let wrong = report.trials[0].wrong.join("; ");
    assert!(wrong.contains("no-waiter-stuck is broken in the model"), "{wrong}");
    assert!(wrong.contains("no-waiter-stuck is broken under "), "{wrong}");
}

#[test]
fn what_is_catalogued_must_be_broken_by_both_engines_under_its_name() {
    let breaks = Some(Breaks { promise: "no-foreign-delete", defect: "S-000", fault: "none" });
    let report = judge(breaking(claims("lock/simple"), breaks));
    assert_eq!(report.answer, Answer::Broken);
    let expected =
        ["no-foreign-delete is not broken in the model", "no-foreign-delete is broken under no seed"];
    assert_eq!(report.trials[0].wrong, expected);
    let breaks = Some(Breaks { promise: "no-such-promise", defect: "S-000", fault: "none" });
    let report = judge(breaking(claims("lock/simple"), breaks));
    assert_eq!(report.trials[0].wrong, ["no-such-promise is no promise of it"]);
}

#[test]
fn an_engine_that_is_not_named_need_not_find_it() {
    // One client alone meets nobody, in the model; under seeds there are five.
    let alone = || claims("lock/simple").bounds(Bounds::clients(1));
    assert_eq!(judge(alone()).answer, Answer::Broken);
    let by_chaos = judge(alone().found_by(FoundBy::Chaos));
    assert_eq!(by_chaos.answer, Answer::Held, "{by_chaos}");
    assert_eq!(judge(alone().found_by(FoundBy::Model)).answer, Answer::Broken);
}

#[test]
fn what_a_wrong_variant_is_said_to_keep_must_hold_to_the_end() {
    let keeps: &[&str] = &["exclusion-among-live-sessions", "no-foreign-delete"];
    let report = judge(claims("lock/simple").keeps(keeps));
    assert_eq!(report.answer, Answer::Held, "{report}");
    let report = judge(claims("lock/no-guid").keeps(&["no-orphan-znode"]));
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
#[ignore = "takes a minute: .ci/run runs it"]
fn everything_is_as_catalogued_and_the_published_table_is_that_of_a_run() {
    // In a process of its own, whose memory is given back.
    let ran = zoocheck("judge --seeds 100 --format json");
    let report: JudgeReport = serde_json::from_value(ran.json::<JudgeReport>()).expect("one");
    assert_eq!((ran.status, report.answer), (0, Answer::Held), "{report}");
    // Each promise is put to the test by the model of some right recipe, within that recipe's own bounds.
    let right = || report.trials.iter().filter(|trial| trial.catalogued.is_none());
    let all = right().flat_map(|trial| &trial.promises);
    let (tested, untested): (Vec<_>, Vec<_>) = all.partition(|promise| promise.model != Verdict::NeverTested);
    for promise in untested {
        assert!(tested.iter().any(|other| other.name == promise.name), "{}: {report}", promise.name);
    }
    let published = include_str!("../../recipes/catalogue/JUDGED.md");
    for line in report.table().lines() {
        assert!(published.contains(line), "recipes/catalogue/JUDGED.md lacks this line of a run:\n{line}");
    }
}

#[test]
fn the_published_table_of_herds_is_that_of_a_run() {
    let ran = zoocheck("judge --herd=20,1,2,5,10 --format markdown");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let published = include_str!("../FIGURES.md");
    for line in ran.stdout.lines() {
        let begins = line.strip_suffix('|').expect("a row of a table");
        assert!(
            published.contains(&format!("\n{begins}|")),
            "scenarios/FIGURES.md lacks this line of a run:\n{line}"
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
    let error = Catalogue::default().judge(&["lok"], 1).expect_err("there is none");
    assert!(error.to_string().contains("did you mean 'lock'?"), "{error}");
}

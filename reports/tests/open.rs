//! What leaves an answer open is told as held nowhere: neither in the answer, nor in a case, nor in a row.

use crate::reports::{check, live, result, sweep};
use crate::sample::live_promise;
use zk_reports::{
    Answer, CheckReport, CheckedPromise, Judgement, LivePromise, LiveReport, Reached, Regression, Report,
    SLEPT_ON, SweepReport, UNSAID, Verdict, annotations, junit,
};

const IS_IT_MEANT: &str = r#"<skipped message="only its author can say whether it is intended"/>"#;

/// The cases of a report, for CI systems.
fn cases(report: &impl Report) -> String {
    junit(&report.suite().expect("it has cases"))
}

/// Broken, unless that was meant, and only where something else did not hold either.
fn meant() -> LivePromise {
    let assumptions = vec!["nobody sleeps".into(), UNSAID.into()];
    LivePromise { verdict: Some(Verdict::Undecided), assumptions, ..live_promise("effects", 0, 1, Some(4)) }
}

#[test]
fn what_is_broken_unless_that_was_meant_is_no_live_run_that_held() {
    let held = || live_promise("exclusion", 0, 0, Some(3));
    for [promises, invariants] in [[vec![held(), meant()], vec![]], [vec![held()], vec![meant()]]] {
        assert_eq!(LiveReport::answer_of(&promises, &invariants, false), Answer::Undecided);
        assert!(cases(&LiveReport { promises, invariants, ..live() }).contains(IS_IT_MEANT));
    }
    let both = live_promise("effects", 0, 0, Some(5)).with(meant());
    assert_eq!(both.verdict, Some(Verdict::Undecided), "in another seed it may have been meant");
}

#[test]
fn what_is_broken_unless_that_was_meant_is_no_case_of_a_sweep_that_passed() {
    let meant = zk_reports::PromiseResult { verdict: Verdict::Undecided, ..result("effects", 0, 1, 4) };
    for [promises, invariants] in [[vec![meant.clone()], vec![]], [vec![], vec![meant]]] {
        assert!(cases(&SweepReport { promises, invariants, ..sweep() }).contains(IS_IT_MEANT));
    }
}

/// A check to its end of this promise, or of this invariant.
fn checked(verdict: Verdict, is_owed: bool) -> CheckReport {
    let CheckReport { mut promises, .. } = check();
    let result = CheckedPromise { verdict, broken: None, ..promises.remove(0) };
    let (promises, invariants) = if is_owed { (vec![result], vec![]) } else { (vec![], vec![result]) };
    CheckReport { verdict: Judgement::Undecided, exhaustive: true, promises, invariants, ..check() }
}

#[test]
fn what_is_broken_unless_that_was_meant_is_no_case_of_a_check_that_passed() {
    for is_owed in [true, false] {
        let report = checked(Verdict::Undecided, is_owed);
        assert!(cases(&report).contains(IS_IT_MEANT));
        assert!(report.to_string().contains("undecided"), "{report}");
    }
    let report = checked(Verdict::Undecided, false).to_string();
    assert!(report.contains("invariants: exclusion undecided\n"), "{report}");
}

#[test]
fn a_case_has_passed_only_in_a_search_that_came_to_its_end() {
    let whole = checked(Verdict::Held, true);
    assert!(cases(&whole).contains(r#"skipped="0""#));
    let cut = CheckReport { exhaustive: false, ran_out: Some("10 states".into()), ..whole };
    assert!(cases(&cut).contains(r#"<skipped message="not broken so far: 10 states"/>"#));
}

#[test]
fn a_sweep_in_which_most_slept_on_or_a_case_cannot_be_tried_has_not_held() {
    let answer = |seeds: u64, errors: &[bool]| {
        let case = |error: &bool| Regression {
            file: "it.toml".into(),
            breaks: "exclusion".into(),
            broken: None,
            replay_error: error.then(|| "step 3".into()),
        };
        let mut report = SweepReport {
            promises: vec![result("exclusion", 0, 0, 9)],
            sometimes: vec![Reached { name: SLEPT_ON.into(), seeds, times: seeds }],
            regressions: errors.iter().map(case).collect(),
            failures: Vec::new(),
            ..sweep()
        };
        report.seeds.missing.clear();
        report.settle();
        report.answer
    };
    assert_eq!([answer(25, &[]), answer(26, &[])], [Answer::Held, Answer::Undecided], "of 50 seeds");
    assert_eq!([answer(0, &[false]), answer(0, &[false, true])], [Answer::Held, Answer::Undecided]);
}

#[test]
fn of_what_a_search_says_it_holds_alone_is_held() {
    use Judgement::{Holds, NotDetermined, Undecided, Violated};
    let answers = [Holds, Violated, Undecided, NotDetermined].map(Judgement::answer);
    assert_eq!(answers, [Answer::Held, Answer::Broken, Answer::Undecided, Answer::Undecided]);
}

#[test]
fn the_last_line_of_a_check_that_holds_says_what_was_cut_and_what_broke_of_what_was_asked() {
    let promise = |name: &str, verdict| {
        let [mut promise] = <[_; 1]>::try_from(checked(verdict, true).promises).expect("it has one");
        promise.name = name.into();
        promise
    };
    let promises = vec![promise("effects", Verdict::BrokenAsExpected), promise("exclusion", Verdict::Held)];
    let audit = CheckedPromise {
        partly: Some("from the first checkpoint on".into()),
        ..promise("honest-checkpoints", Verdict::Held)
    };
    let (verdict, invariants) = (Judgement::Holds, vec![audit]);
    let last = |asked: Option<&str>| {
        let asked = asked.map(String::from);
        let report = CheckReport {
            verdict,
            asked,
            exhaustive: true,
            promises: promises.clone(),
            invariants: invariants.clone(),
            ..check()
        };
        report.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (asked, but) in [(None, true), (Some("effects"), true), (Some("exclusion"), false)] {
        let text = last(asked);
        assert_eq!(text.contains(", but for what was broken as expected"), but, "{text}");
        assert!(text.ends_with("; honest-checkpoints from the first checkpoint on"), "{text}");
    }
}

/// It was told nowhere but in the last line of the text.
#[test]
fn why_a_live_run_is_undecided_is_a_warning() {
    let warns = |answer, ran_out: Option<&str>| {
        let report = LiveReport { answer, ran_out: ran_out.map(String::from), ..live() };
        annotations(&report.suite().expect("it has cases"))
    };
    assert!(warns(Answer::Undecided, Some("the time limit came")).contains("undecided::the time limit came"));
    assert!(warns(Answer::Undecided, None).contains("undecided::a promise was never put to the test"));
    assert!(!warns(Answer::Broken, Some("the time limit came")).contains("the time limit came"));
}

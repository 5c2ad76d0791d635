//! Answers in words.

use crate::verdict::but_for_expected;
use crate::{
    Answer, Bounds, CheckReport, EnsembleReport, Judged, Judgement, SLEPT_ON, SweepReport, Told, Verdict,
    named, of,
};
use std::fmt::Write as _;

/// The answer of a sweep in words.
pub(crate) fn sweep_answer(report: &SweepReport) -> String {
    let leaves_open = open(&report.promises, &report.invariants);
    match report.answer {
        Answer::Held => format!("every promise held{}", but_for_expected(report.all())),
        Answer::Broken => {
            let again = report.regressions.iter();
            let again =
                again.filter_map(|case| Some(format!("{} in {}", case.broken.as_ref()?.promise, case.file)));
            let all: Vec<String> = again.chain(report.broken().map(String::from)).collect();
            format!("BROKEN: {}", all.join(", "))
        }
        Answer::Undecided if !leaves_open.is_empty() => format!("undecided: {leaves_open}"),
        Answer::Undecided if report.regressions.iter().any(|case| case.replay_error.is_some()) => {
            "undecided: a past failure cannot be tried any more".into()
        }
        Answer::Undecided if !report.is_complete() => "undecided: not all seeds were run".into(),
        Answer::Undecided if report.slept_on() == report.seeds.count => {
            format!("undecided: nothing was judged at rest: {SLEPT_ON}")
        }
        Answer::Undecided if report.most_slept_on() => {
            let (slept, all) = (report.slept_on(), of(report.seeds.count, "seed"));
            format!("undecided: {slept} of {all} were not judged at rest: {SLEPT_ON}")
        }
        Answer::Undecided => match report.told.as_ref().and_then(Told::unjudged) {
            Some(why) => format!("undecided: {why}"),
            None => "undecided: not covered".into(),
        },
    }
}

/// Why promises and invariants leave it open; empty if they do not. What an invariant is about need not happen.
pub fn open<R: Judged>(promises: &[R], invariants: &[R]) -> String {
    let unsaid: Vec<&str> = named(promises.iter().chain(invariants), Verdict::Undecided).collect();
    let untested: Vec<&str> = named(promises, Verdict::NeverTested).collect();
    let all =
        [(IS_IT_MEANT, unsaid), (UNTESTED, untested)].into_iter().filter(|(_, names)| !names.is_empty());
    all.map(|(why, names)| format!("{why}: {}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

/// The answer of a search of servers in words.
pub(crate) fn ensemble_answer(report: &EnsembleReport) -> String {
    let whole = format!("(exhaustive, {}, depth {})", of(report.states, "state"), report.depth);
    let (promise, ran_out) = (report.promise.as_deref(), report.ran_out.as_deref());
    judgement(report.verdict, &report.steps, promise, ran_out, &whole)
}

/// The verdict, over what it is, and what to ask next.
pub(crate) fn check_answer(report: &CheckReport) -> String {
    let mut line = verdict_words(report);
    if report.verdict != Judgement::Violated && report.exhaustive {
        let _ = write!(line, "; with {}", bounds(&report.bounds));
        let audit = report.invariants.iter().find(|result| result.name == "honest-checkpoints");
        if let Some(cut) = audit.and_then(|audit| audit.partly.as_ref()) {
            let _ = write!(line, "; honest-checkpoints {cut}");
        }
        if let Some(partly) = &report.partly {
            let _ = write!(line, "; {partly}");
        }
    }
    if let Some(next) = &report.next {
        let _ = write!(line, "; next: {next}");
    }
    line
}

/// How it is told why nothing is said where a promise was not tested.
pub(crate) const UNTESTED: &str = "never put to the test";

/// Why a promise leaves it open that was broken, unless that was [meant](crate::verdict::UNSAID).
pub(crate) const IS_IT_MEANT: &str = "only its author can say whether it is intended";

/// The verdict of a search that was not `undecided` for want of tests.
fn judgement(
    verdict: Judgement,
    steps: &[String],
    promise: Option<&str>,
    ran_out: Option<&str>,
    whole: &str,
) -> String {
    match verdict {
        Judgement::Holds => format!("holds {whole}"),
        Judgement::Violated => {
            format!("violated ({}): {}", of(steps.len() as u64, "step"), promise.unwrap_or("a promise"))
        }
        Judgement::Undecided => format!("undecided ({})", ran_out.unwrap_or("cut short")),
        Judgement::NotDetermined => format!("not determined: {}", ran_out.unwrap_or("the code")),
    }
}

/// The verdict of a check in words: of the promise that was asked about, or of all.
fn verdict_words(report: &CheckReport) -> String {
    let whole = format!("(exhaustive, {}, depth {})", of(report.states, "state"), report.depth);
    let (promise, ran_out) = (report.promise.as_deref(), report.ran_out.as_deref());
    let answer = judgement(report.verdict, &report.steps, promise, ran_out, &whole);
    let answer = match report.verdict {
        Judgement::Violated | Judgement::NotDetermined => return answer,
        Judgement::Holds if report.left_out.is_some() => {
            format!("{answer}{}, with all that its host leaves open taken in one way", unless(report))
        }
        Judgement::Holds => format!("{answer}{}", unless(report)),
        Judgement::Undecided if report.exhaustive => {
            let why = match (report.asked.is_some(), ran_out) {
                (true, Some(why)) if why.starts_with(UNTESTED) => UNTESTED,
                (_, why) => why.unwrap_or(UNTESTED),
            };
            format!("undecided {whole}: {why}")
        }
        Judgement::Undecided => answer,
    };
    let Some(asked) = &report.asked else { return answer };
    let broken: Vec<&str> = named(report.all(), Verdict::Broken).collect();
    match broken.is_empty() {
        true => format!("{asked}: {answer}"),
        false => format!("{asked}: {answer}; broken: {}", broken.join(", ")),
    }
}

/// That something was broken as expected.
fn unless(report: &CheckReport) -> &'static str {
    let is_asked = |name: &String| report.asked.as_ref().is_none_or(|asked| asked == name);
    but_for_expected(report.promises.iter().filter(|result| is_asked(&result.name)))
}

/// What there is, and then what there is not.
pub(crate) fn bounds(b: &Bounds) -> String {
    let faults = [
        (b.expiries, "expiry", "expiries"),
        (b.drops, "drop", "drops"),
        (b.crashes, "crash", "crashes"),
        (b.pauses, "pause", "pauses"),
        (b.restarts, "restart", "restarts"),
        (b.admin, "admin change", "admin changes"),
    ];
    let (most, mut none) = at_most(&faults);
    let mut text = format!("{} × {}{most}", of(b.clients.into(), "client"), of(b.rounds.into(), "round"));
    match b.lag {
        0 => none.push("lag"),
        lag => {
            text.push_str(&format!("; views lag by at most {}", of(lag.into(), "transaction")));
            text.push_str(if b.stale_syncs { "; syncs may not help" } else { "; syncs help" });
            text.push_str(match b.false_expiries {
                true => "; live sessions may be reported ended",
                false => "; sessions are reported ended only if they are",
            });
        }
    }
    text.push_str(match b.pauses {
        0 => "; timers fire at any time, those of one process in order",
        _ => "; timers fire at any time",
    });
    if !none.is_empty() {
        text.push_str(&format!("; no {}", none.join(", ")));
    }
    text
}

/// How many there are at most, behind a semicolon, and what there are none of.
pub(crate) fn at_most<'a>(counted: &[(u8, &str, &'a str)]) -> (String, Vec<&'a str>) {
    let (mut some, mut none) = (Vec::new(), Vec::new());
    for &(number, one, many) in counted {
        match number {
            0 => none.push(many),
            1 => some.push(format!("1 {one}")),
            _ => some.push(format!("{number} {many}")),
        }
    }
    let most = if some.is_empty() { String::new() } else { format!("; at most {}", some.join(", ")) };
    (most, none)
}

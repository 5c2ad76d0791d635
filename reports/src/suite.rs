//! A report as cases, which CI systems count and builds are annotated by.

use crate::answers::{IS_IT_MEANT, UNTESTED, check_answer, ensemble_answer, sweep_answer};
use crate::{
    Answer, CheckReport, CheckedPromise, DriveReport, EnsembleReport, JudgeReport, JudgedTrial, Judgement,
    LivePromise, LiveReport, Path, PromiseResult, Regression, SweepReport, Verdict, of, seconds,
};
use std::time::Duration;

/// The cases of a report: one for each promise and invariant, or for each trial that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// What was tried, as it was asked for.
    pub(crate) title: String,
    pub(crate) properties: Vec<(&'static str, String)>,
    /// How long it took, where the report says it.
    pub(crate) time: Option<Duration>,
    /// What a case is that is not well.
    pub(crate) broken: &'static str,
    pub(crate) cases: Vec<Case>,
    /// Why nobody knows, if nothing is broken and not everything could be judged.
    pub(crate) undecided: Option<String>,
}

/// One of its cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// What else is to be said of it.
    pub(crate) aside: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Passed,
    /// Nothing is known of it, and why.
    Skipped(String),
    /// How often or how soon, and what happened; that ends with the command that shows it again.
    Broken { how: String, what: String },
    /// It could not be judged at all.
    Error { kind: &'static str, why: String },
}

pub(crate) fn of_sweep(report: &SweepReport) -> Suite {
    let mut properties = vec![("recipe", report.recipe.clone())];
    properties.push(("seeds", format!("{}..{}", report.seeds.first, report.seeds.end)));
    properties.extend(report.seeds.shard.clone().map(|shard| ("shard", shard)));
    let mut cases = Vec::new();
    if !report.is_complete() {
        // Whatever held so far.
        let outcome = Outcome::Error { kind: "incomplete", why: "not all seeds were run".into() };
        cases.push(Case::new(format!("{}.sweep", report.recipe), "complete", outcome));
    }
    cases.extend(report.regressions.iter().map(|case| regressed(&report.recipe, case)));
    for (class, results) in [("promises", &report.promises), ("invariants", &report.invariants)] {
        let class = format!("{}.{class}", report.recipe);
        cases.extend(results.iter().map(|result| swept(report, &class, result)));
    }
    let undecided = (report.answer == Answer::Undecided).then(|| sweep_answer(report));
    Suite { title: report.what.clone(), properties, time: None, broken: "broken", cases, undecided }
}

fn regressed(recipe: &str, case: &Regression) -> Case {
    let outcome = match (&case.broken, &case.replay_error) {
        (Some(it), _) => Outcome::Broken {
            how: format!("breaks {}", it.promise),
            what: format!("{}\n{}", it.what, it.replay),
        },
        (None, Some(replay_error)) => Outcome::Skipped(replay_error.clone()),
        (None, None) => Outcome::Passed,
    };
    Case::new(format!("{recipe}.regressions"), &case.file, outcome)
}

fn swept(report: &SweepReport, class: &str, result: &PromiseResult) -> Case {
    let in_seeds = |many| format!("in {many} of {} seeds", report.seeds.count);
    let outcome = match result.verdict {
        Verdict::Held | Verdict::BrokenAsExpected => Outcome::Passed,
        Verdict::NeverTested => Outcome::Skipped(UNTESTED.into()),
        Verdict::Undecided => Outcome::Skipped(IS_IT_MEANT.into()),
        Verdict::Broken => {
            let first = report.failures.iter().find(|failure| failure.promise == result.name);
            let what = first.map(|it| {
                format!("seed {}, at {}: {}\n{}", it.seed, seconds(it.virtual_ns), it.what, it.replay)
            });
            Outcome::Broken {
                how: format!("broken {}", in_seeds(result.broken)),
                what: what.unwrap_or_default(),
            }
        }
    };
    let is_expected = result.verdict == Verdict::BrokenAsExpected;
    let why =
        || format!("broken as expected {}: {}", in_seeds(result.expected), result.assumptions.join(", "));
    Case { aside: is_expected.then(why), ..Case::new(class, &result.name, outcome) }
}

/// What is not judged on a live ensemble is skipped, as what was never put to the test.
pub(crate) fn of_live(report: &LiveReport) -> Suite {
    let properties = vec![("recipe", report.recipe.clone()), ("connect", report.connect.clone())];
    let cases = in_real_time(&report.recipe, &report.promises, &report.invariants);
    let why = || "a promise was never put to the test, or none can be judged from outside".into();
    let undecided = (report.answer == Answer::Undecided).then(|| report.ran_out.clone().unwrap_or_else(why));
    Suite { cases, undecided, ..Suite::of_real_time(&report.what, properties, report.wall_seconds) }
}

pub(crate) fn of_drive(report: &DriveReport) -> Suite {
    let properties = vec![("seeds", report.seeds.to_string())];
    let cases = in_real_time("drive", &report.promises, &report.invariants);
    let why = || match report.unjudged.is_empty() {
        true => "a seed came to no end, or a promise was never put to the test".into(),
        false => LiveReport::unjudged_words(&report.unjudged, &report.promises),
    };
    let undecided = (report.answer == Answer::Undecided).then(why);
    Suite { cases, undecided, ..Suite::of_real_time(&report.program, properties, report.wall_seconds) }
}

impl Suite {
    fn of_real_time(title: &str, properties: Vec<(&'static str, String)>, seconds: f64) -> Suite {
        let (title, time) = (title.to_owned(), time(seconds));
        Suite { title, properties, time, broken: "broken", cases: Vec::new(), undecided: None }
    }
}

fn in_real_time(name: &str, promises: &[LivePromise], invariants: &[LivePromise]) -> Vec<Case> {
    let case = |class: &str, result: &LivePromise| {
        let is_expected = result.verdict == Some(Verdict::BrokenAsExpected);
        let why =
            || format!("broken as expected {} times: {}", result.expected, result.assumptions.join(", "));
        Case {
            aside: is_expected.then(why),
            ..Case::new(format!("{name}.{class}"), &result.name, seen(result))
        }
    };
    let promises = promises.iter().map(|result| case("promises", result));
    promises.chain(invariants.iter().map(|result| case("invariants", result))).collect()
}

fn seen(result: &LivePromise) -> Outcome {
    match result.verdict {
        Some(Verdict::Held | Verdict::BrokenAsExpected) => Outcome::Passed,
        Some(Verdict::NeverTested) => Outcome::Skipped(UNTESTED.into()),
        Some(Verdict::Undecided) => Outcome::Skipped(IS_IT_MEANT.into()),
        None => Outcome::Skipped("not judged on a live ensemble".into()),
        Some(Verdict::Broken) => {
            let first = result.first.as_ref();
            let what = first.map(|first| format!("{}: {}", first.at(), first.what));
            Outcome::Broken { how: format!("broken {} times", result.broken), what: what.unwrap_or_default() }
        }
    }
}

pub(crate) fn of_check(report: &CheckReport) -> Suite {
    let search = Search {
        class: format!("{}.check", report.recipe),
        exhaustive: report.exhaustive,
        verdict: report.verdict,
        ran_out: report.ran_out.as_deref(),
        asked: report.asked.as_deref(),
        command: report.command.as_deref(),
    };
    let command = report.command.clone().map(|command| ("command", command));
    let properties = std::iter::once(("recipe", report.recipe.clone())).chain(command).collect();
    let undecided = (report.verdict.answer() == Answer::Undecided).then(|| check_answer(report));
    let cases = search.cases(&[("promises", &report.promises), ("invariants", &report.invariants)]);
    let (title, time) = (format!("check {}", report.what), time(report.wall_seconds));
    Suite { title, properties, time, broken: "broken", cases, undecided }
}

pub(crate) fn of_ensemble(report: &EnsembleReport) -> Suite {
    let search = Search {
        class: "ensemble.check".into(),
        exhaustive: report.exhaustive,
        verdict: report.verdict,
        ran_out: report.ran_out.as_deref(),
        asked: None,
        command: report.command.as_deref(),
    };
    let command = report.command.clone().map(|command| ("command", command));
    let properties = std::iter::once(("level", report.level.clone())).chain(command).collect();
    let undecided = (report.verdict.answer() == Answer::Undecided).then(|| ensemble_answer(report));
    let cases = search.cases(&[("invariants", &report.invariants), ("liveness", &report.liveness)]);
    let (title, time) = ("check ensemble".into(), time(report.wall_seconds));
    Suite { title, properties, time, broken: "broken", cases, undecided }
}

/// What the cases of a search have in common.
struct Search<'a> {
    class: String,
    exhaustive: bool,
    verdict: Judgement,
    ran_out: Option<&'a str>,
    /// The promise that it answers for, if not for all.
    asked: Option<&'a str>,
    command: Option<&'a str>,
}

impl Search<'_> {
    fn cases(&self, groups: &[(&str, &[CheckedPromise])]) -> Vec<Case> {
        let mut cases = Vec::new();
        if self.verdict == Judgement::NotDetermined {
            let why = self.ran_out.unwrap_or("the code").into();
            let outcome = Outcome::Error { kind: "not determined", why };
            cases.push(Case::new(&self.class, "determined", outcome));
        }
        for (group, results) in groups {
            let class = format!("{}.{group}", self.class);
            cases.extend(results.iter().map(|result| self.case(&class, result)));
        }
        cases
    }

    fn case(&self, class: &str, result: &CheckedPromise) -> Case {
        let outcome = match (result.verdict, &result.broken) {
            (Verdict::Held, _) if !self.exhaustive => Outcome::Skipped(format!(
                "not broken so far: {}",
                self.ran_out.unwrap_or("the search ended at a break")
            )),
            (Verdict::Held | Verdict::BrokenAsExpected, _) => Outcome::Passed,
            (Verdict::Broken, Some(path)) => {
                let how = format!("broken in {}", of(path.steps.len() as u64, "step"));
                match self.asked.is_none_or(|asked| asked == result.name) {
                    true => Outcome::Broken { how, what: self.told(path) },
                    false => Outcome::Skipped(format!("{how}, and not asked about")),
                }
            }
            (Verdict::Undecided, _) => Outcome::Skipped(IS_IT_MEANT.into()),
            (Verdict::NeverTested | Verdict::Broken, _) => Outcome::Skipped(UNTESTED.into()),
        };
        let failed = result.expected.as_ref().and_then(|path| path.assumption.as_ref());
        let failed = failed.filter(|_| result.verdict == Verdict::BrokenAsExpected);
        let aside = failed.map(|it| format!("broken as expected: this assumption failed: {it}"));
        Case { aside, ..Case::new(class, &result.name, outcome) }
    }

    /// Why, how, and how to see it again.
    fn told(&self, path: &Path) -> String {
        let mut lines = path.why.clone();
        lines.extend((1..).zip(&path.steps).map(|(nth, step)| format!("{nth:3}. {step}")));
        lines.push(format!("  => {}", path.what));
        lines.extend(self.command.map(String::from));
        lines.join("\n")
    }
}

/// A case for each trial: it is as the catalogue expects, or it is not.
pub(crate) fn of_judge(report: &JudgeReport) -> Suite {
    let what = if report.what.is_empty() { String::new() } else { format!(" {}", report.what.join(" ")) };
    let open = report.trials.iter().filter(|trial| trial.answer == Answer::Undecided);
    let open: Vec<String> = open.map(|trial| format!("{}: {}", trial.name, trial.wrong.join("; "))).collect();
    Suite {
        title: format!("judge{what}"),
        properties: vec![("seeds", report.seeds.to_string()), ("max-states", report.max_states.to_string())],
        time: time(report.wall_seconds),
        broken: "not as expected",
        cases: report.trials.iter().map(judged).collect(),
        undecided: (report.answer == Answer::Undecided).then(|| open.join("\n")),
    }
}

fn judged(trial: &JudgedTrial) -> Case {
    let outcome = match trial.answer {
        Answer::Held => Outcome::Passed,
        Answer::Undecided => Outcome::Skipped(trial.wrong.join("; ")),
        Answer::Broken => {
            let seed = trial.promises.iter().find_map(|promise| promise.first_seed);
            let mut lines = vec![format!("zoocheck check {}", trial.name)];
            lines.extend(seed.map(|seed| format!("zoocheck replay {} --seed {seed}", trial.name)));
            Outcome::Broken { how: trial.wrong.join("; "), what: lines.join("\n") }
        }
    };
    Case::new("judge", &trial.name, outcome)
}

fn time(wall_seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(wall_seconds).ok()
}

impl Case {
    fn new(class: impl Into<String>, name: &str, outcome: Outcome) -> Case {
        Case { class: class.into(), name: name.into(), outcome, aside: None }
    }
}

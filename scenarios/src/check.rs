//! Checks, and the Explorer.

mod ladder;

use crate::story::cause::Cause;
use crate::trial_list::{assumption, catalogued, told};
use crate::{BadInput, draw, story};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use zk_harness::trial::{About, Bounds, Trial};
use zk_model::{Check, CheckConfig, Counterexample, Engine, Progress, PromiseReport, Verdict};
use zk_reports::{
    Bounds as ReportedBounds, CHECK_SCHEMA, CheckReport, CheckedPromise, How, Judgement, Limits, Path,
    Picture, Reached, SweepReport, Told, Verdict as Became,
};

/// Where a search gives up unless somebody says otherwise: once the process holds so many gigabytes.
///
/// How much a state takes depends on what is explored. Measured: 70 to 250 bytes without lag, up to 1,800 where views
/// lag.
pub(crate) const MOST_GIGABYTES: u32 = 8;
/// Where stateright's search gives up, which knows no limit of memory.
pub(crate) const MOST_STATES_OF_STATERIGHT: u64 = 20_000_000;

/// So many gigabytes.
pub(crate) fn gigabytes(n: u32) -> u64 {
    u64::from(n) * 1_000_000_000
}

/// So many states behind one step of a counterexample are looked at, to find out from which on it is inevitable.
pub(crate) const CONTINUATIONS: usize = 50_000;

/// What is explored unless somebody says otherwise: the trial's own bounds, with the reductions that a test has
/// shown to be sound for it.
///
/// Effects are on whatever the trial's bounds say: without them, promises about the outside resource would never
/// be put to the test, and nobody would have asked for that.
pub(crate) fn default_config(about: &About) -> CheckConfig {
    let bounds = Bounds { effects: true, ..about.bounds };
    let max_memory = Some(gigabytes(MOST_GIGABYTES));
    CheckConfig { reductions: about.reductions, effects: true, max_memory, ..CheckConfig::new(bounds) }
}

/// Explores, and reports. `what` is the trial as it was asked for.
pub(crate) fn check(
    what: &str,
    trial: &Arc<Trial>,
    config: &CheckConfig,
    progress: &mut dyn FnMut(Progress),
) -> CheckReport {
    explored(what, trial, config, progress).0
}

/// The same, with all that the search gave.
pub(crate) fn explored(
    what: &str,
    trial: &Arc<Trial>,
    config: &CheckConfig,
    progress: &mut dyn FnMut(Progress),
) -> (CheckReport, Check) {
    let owed = trial.owed();
    let names: Vec<&str> = owed.iter().map(|promise| promise.name()).collect();
    // Only the simulator of time can show code another one.
    #[cfg(feature = "run")]
    let other_time = Some(zk_model::OtherTime(zk_simulator::in_other_time));
    #[cfg(not(feature = "run"))]
    let other_time = None;
    let config = &CheckConfig { other_time, ..config.clone() };
    let mut check = zk_model::check(trial.clone(), config, progress);
    let programs = trial.programs();
    if check.verdict == Verdict::Holds
        && let Some(ran_out) = programs.as_ref().and_then(|programs| programs.undecided())
    {
        check.verdict = Verdict::Undecided { ran_out };
    }
    let told = told(trial, &check.told);
    let left_out = programs.as_ref().map(|programs| programs.left_out().to_owned());
    let histories = programs.and_then(|programs| programs.histories());
    let mut report =
        CheckReport { left_out, histories, told, ..report(what, &trial.about, &names, config, &check) };
    for promise in report.promises.iter_mut().filter(|promise| promise.verdict == Became::NeverTested) {
        let terms = owed.iter().find(|owed| owed.name() == promise.name).map(|owed| owed.terms());
        promise.tested_when = terms.map(|terms| terms.tested_when.into());
    }
    if let (Judgement::Holds, Some(why)) = (report.verdict, report.told.as_ref().and_then(Told::unjudged)) {
        (report.verdict, report.ran_out, report.next) = (Judgement::Undecided, Some(why), None);
    }
    (report, check)
}

/// The ways to break promises that a search gave, drawn.
pub(crate) fn drawn(check: &Check, clients: u8) -> Vec<Picture> {
    let draw = |result: &PromiseReport, owed: bool, example: &Option<Counterexample>| {
        let diagram = draw::steps::diagram(result.name, example.as_ref()?, clients);
        Some((result.name.to_string(), owed, diagram))
    };
    let paths = check.promises.iter().flat_map(|result| {
        [draw(result, true, &result.broken), draw(result, false, &result.expected)].into_iter().flatten()
    });
    paths.take(SweepReport::DRAWN).collect()
}

/// `owed` are the names of the trial's own promises; all others are invariants of the search itself.
fn report(what: &str, about: &About, owed: &[&str], config: &CheckConfig, check: &Check) -> CheckReport {
    let open = open(owed, config, check);
    let (verdict, promise, ran_out) = match &check.verdict {
        // Nothing holds that nothing could have broken.
        Verdict::Holds if !open.is_empty() => (Judgement::Undecided, None, Some(open)),
        Verdict::Holds if never_at_rest(check) => (Judgement::Undecided, None, Some(NEVER_AT_REST.into())),
        Verdict::Holds => match unsound(about.name, config, &how(about, config)) {
            Some(why) => (Judgement::Undecided, None, Some(why)),
            None => (Judgement::Holds, None, None),
        },
        Verdict::Violated { promise, .. } => {
            (Judgement::Violated, Some(promise.clone()), check.ran_out.clone())
        }
        Verdict::Undecided { ran_out } => (Judgement::Undecided, None, Some(ran_out.clone())),
        Verdict::NotDetermined { what } => (Judgement::NotDetermined, None, Some(what.clone())),
    };
    let broken = check.promises.iter().find(|result| Some(result.name) == promise.as_deref());
    let steps = broken.and_then(|result| result.broken.as_ref()).map(|path| path.steps.clone());
    let (promises, invariants): (Vec<_>, Vec<_>) =
        check.promises.iter().partition(|result| owed.contains(&result.name));
    let counted = config.engine == Engine::Own;
    let path_of = |result: &PromiseReport| {
        let (name, clients) = (result.name, config.bounds.clients);
        move |example: &Counterexample| path(name, example, clients)
    };
    CheckReport {
        schema: CHECK_SCHEMA.into(),
        what: what.into(),
        recipe: about.name.into(),
        about: about.summary.into(),
        catalogued: catalogued(about),
        bounds: bounds(config),
        how: how(about, config),
        limits: Limits {
            time_seconds: config.time_limit.map(|limit| limit.as_secs_f64()),
            max_states: config.max_states,
            max_memory: config.max_memory,
            max_depth: config.max_depth,
        },
        verdict,
        holds_in: "Service".into(),
        command: None,
        pictures: Vec::new(),
        ran_out,
        exhaustive: check.verdict == Verdict::Holds,
        left_out: None,
        told: None,
        partly: check.partly.map(str::to_owned),
        asked: config.promise.clone(),
        next: (check.verdict == Verdict::Holds).then(|| ladder::next(what, about, config)).flatten(),
        states: check.states,
        transitions: check.transitions,
        histories: None,
        depth: check.depth,
        promise,
        steps: steps.unwrap_or_default(),
        wall_seconds: check.wall.as_secs_f64(),
        promises: promises.into_iter().map(|it| promise_report(it, counted, &path_of(it))).collect(),
        invariants: invariants.into_iter().map(|it| invariant_report(it, &path_of(it))).collect(),
        sometimes: reached(&check.sometimes),
    }
}

/// Why nothing holds where some code goes on for ever, such as a task that outlives its process's main one.
const NEVER_AT_REST: &str =
    "nothing was ever at rest, where promises are judged that something happens: some code goes on for ever";

fn never_at_rest(check: &Check) -> bool {
    check.sometimes.contains(&(zk_model::search::AT_REST, 0))
}

/// How often each case was reached.
pub(crate) fn reached(cases: &[(&str, u64)]) -> Vec<Reached> {
    let reached = |(name, times): &(&str, u64)| Reached {
        name: name.to_string(),
        seeds: (*times).min(1),
        times: *times,
    };
    cases.iter().map(reached).collect()
}

/// Why promises leave the answer open, of those whose fate it is; empty if none does.
fn open(owed: &[&str], config: &CheckConfig, check: &Check) -> String {
    let is_asked = |result: &&PromiseReport| config.promise.as_ref().is_none_or(|it| result.name == it);
    let all = check.promises.iter().filter(is_asked).map(|it| (it.name, became(it)));
    let (promises, invariants): (Vec<_>, Vec<_>) = all.partition(|(name, _)| owed.contains(name));
    zk_reports::open(&promises, &invariants)
}

fn bounds(config: &CheckConfig) -> ReportedBounds {
    let b = config.bounds;
    ReportedBounds {
        clients: b.clients,
        rounds: b.rounds,
        expiries: b.expiries,
        drops: b.drops,
        crashes: b.crashes,
        pauses: b.pauses,
        restarts: b.restarts,
        admin: b.admin,
        lag: b.lag,
        stale_syncs: config.stale_syncs && b.lag > 0,
        false_expiries: config.false_expiries,
    }
}

/// Why a search that has found nothing says nothing.
fn unsound(name: &str, config: &CheckConfig, how: &How) -> Option<String> {
    if !how.unproven.is_empty() {
        return Some(format!("not shown to give the same verdict for {name}: {}", how.unproven.join(", ")));
    }
    let is_unaudited = config.keys && !config.memo;
    is_unaudited.then(|| "checkpoints are not audited where nothing is remembered: add --no-keys".to_owned())
}

fn how(about: &About, config: &CheckConfig) -> How {
    let unproven = [
        (config.reductions.eager && !about.reductions.eager, "eager delivery"),
        (config.reductions.symmetry && !about.reductions.symmetry, "symmetry"),
        (config.ranks, How::BY_ORDER),
    ];
    How {
        engine: <&str>::from(config.engine).into(),
        eager: config.reductions.eager,
        symmetry: config.reductions.symmetry,
        unproven: unproven.iter().filter(|(is, _)| *is).map(|(_, name)| name.to_string()).collect(),
        keys: config.keys,
        audit: config.audit,
        memo: config.memo,
        effects: config.effects,
        true_zxids: config.true_zxids,
    }
}

fn became(result: &PromiseReport) -> Became {
    let failed = result.expected.as_ref().and_then(|example| example.violated_assumption.map(assumption));
    let (broken, expected) = (result.broken.is_some(), result.expected.is_some());
    Became::of(broken.into(), expected.into(), result.tested).resting_on(failed.as_slice())
}

/// Tells of a way to break a promise.
type Retold<'a> = &'a dyn Fn(&Counterexample) -> Path;

/// `counted` says whether the search counts how often a promise is put to the test, and not only whether it is; `path`
/// tells of a way to break it.
pub(crate) fn promise_report(result: &PromiseReport, counted: bool, path: Retold<'_>) -> CheckedPromise {
    CheckedPromise {
        name: result.name.into(),
        verdict: became(result),
        tested: (counted && result.unchecked.is_none()).then_some(result.tested),
        partly: result.unchecked.clone().filter(|_| result.tested > 0),
        broken: result.broken.as_ref().map(path),
        expected: result.expected.as_ref().map(path),
        tested_when: None,
    }
}

/// An invariant of the search has no tests to count: it holds, unless it was not looked for.
pub(crate) fn invariant_report(result: &PromiseReport, path: Retold<'_>) -> CheckedPromise {
    let tested = result.tested.max(result.unchecked.is_none().into());
    promise_report(&PromiseReport { tested, ..result.clone() }, false, path)
}

fn path(promise: &str, example: &Counterexample, clients: u8) -> Path {
    let lines = story::steps::lines(promise, example, clients);
    let Cause { why, lines } = story::cause::cause(&lines, lines.len() - 1, &|at| format!("step {at}"));
    // The break itself is no step.
    let matters =
        lines.iter().map(|line| *line as u32 + 1).filter(|nth| *nth as usize <= example.steps.len());
    Path {
        why,
        matters: matters.collect(),
        inevitable_from: example.inevitable_from.map(|step| step as u32),
        what: example.what.clone(),
        assumption: example.violated_assumption.map(|violated| assumption(violated).into()),
        steps: example.steps.clone(),
    }
}

/// Serves the Explorer until the process ends.
pub(crate) fn explore(trial: &Arc<Trial>, config: &CheckConfig, address: SocketAddr) -> Result<(), BadInput> {
    // The Explorer panics if it cannot have the address, so that is found out here.
    let free = TcpListener::bind(address).and_then(|listener| listener.local_addr());
    let address = free.map_err(|error| bad!("--listen {address}: cannot listen: {error}"))?;
    crate::output::print(&format!("exploring {} at http://{address}/ until Ctrl-C\n", trial.about.name))?;
    zk_model::explore(trial.clone(), config, address);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use zk_harness::trial::{Breaks, Reductions};

    const ABOUT: About = About {
        name: "lock/simple",
        summary: "one ephemeral znode",
        source: "a test",
        breaks: Some(Breaks { promise: "exclusion", defect: "S-000", fault: "expiry" }),
        bounds: Bounds::clients(2),
        reductions: Reductions { eager: true, symmetry: false },
    };

    fn promise(name: &'static str, tested: u64, steps: Option<&[&str]>) -> PromiseReport {
        let broken = steps.map(|steps| Counterexample {
            what: "two inside".into(),
            violated_assumption: None,
            steps: steps.iter().map(|step| step.to_string()).collect(),
            inevitable_from: None,
            scenes: Vec::new(),
            script: Vec::new(),
            guids_fall: false,
        });
        PromiseReport { name, tested, broken, expected: None, unchecked: None }
    }

    fn check(verdict: Verdict, promises: Vec<PromiseReport>) -> Check {
        let sometimes = vec![("expiry", 3), ("drop", 0)];
        let (states, transitions, depth, wall) = (1234, 5678, 9, Duration::ZERO);
        let reads = Vec::new();
        Check {
            told: Default::default(),
            verdict,
            ran_out: None,
            states,
            transitions,
            depth,
            promises,
            sometimes,
            reads,
            partly: None,
            wall,
        }
    }

    fn found(verdict: Verdict, promises: Vec<PromiseReport>) -> CheckReport {
        let check = check(verdict, promises);
        report("lock/simple", &ABOUT, &["exclusion", "herd"], &default_config(&ABOUT), &check)
    }

    #[test]
    fn a_check_that_holds_says_that_it_is_exhaustive_and_of_what() {
        let report = found(Verdict::Holds, vec![promise("exclusion", 7, None), promise("herd", 2, None)]);
        assert!(report.held() && report.exhaustive);
        let text = report.to_string();
        let last = "\nholds (exhaustive, 1,234 states, depth 9); with 2 clients × 1 round; timers fire at any time, those \
                    of one process in order; no expiries, drops, crashes, pauses, restarts, admin changes, \
                    lag; next: zoocheck check lock/simple --drops 1\n";
        assert!(text.ends_with(last), "{text}");
        assert!(text.contains("\n  model: Service, "), "{text}");
        assert!(text.contains("not seen: S-000 is catalogued to break exclusion"), "{text}");
    }

    /// It once said that such a recipe holds.
    #[test]
    fn what_was_never_put_to_the_test_leaves_a_check_undecided_however_far_it_went() {
        let report = found(Verdict::Holds, vec![promise("exclusion", 7, None), promise("herd", 0, None)]);
        assert_eq!((report.verdict.answer().exit_status(), report.exhaustive), (3, true));
        let text = report.to_string();
        let last =
            "\nundecided (exhaustive, 1,234 states, depth 9): never put to the test: herd; with 2 clients ";
        assert!(text.contains(last), "{text}");
        let row = |name| text.lines().find(|line| line.starts_with(name)).expect("a row").to_owned();
        assert!(row("herd").contains("never put to the test") && !row("herd").contains("hold"), "{text}");
        assert!(row("exclusion").contains("holds"), "{text}");
        assert!(!text.contains("--max-states"), "{text}");
    }

    #[test]
    fn what_is_broken_unless_that_was_meant_leaves_a_check_undecided() {
        let violated_assumption = Some(zk_harness::promise::Assumption::NobodyMeantToWait);
        let mut meant = promise("herd", 2, Some(&["p0 waits"]));
        meant.expected = meant.broken.take().map(|it| Counterexample { violated_assumption, ..it });
        let report = found(Verdict::Holds, vec![promise("exclusion", 7, None), meant]);
        assert_eq!((report.verdict, report.promises[1].verdict), (Judgement::Undecided, Became::Undecided));
        let why = "only its author can say whether it is intended: herd";
        assert_eq!(report.ran_out.as_deref(), Some(why));
    }

    #[test]
    fn where_nothing_was_ever_at_rest_nothing_holds() {
        let mut check = check(Verdict::Holds, vec![promise("exclusion", 7, None)]);
        check.sometimes.push((zk_model::search::AT_REST, 0));
        let report = report("lock", &ABOUT, &["exclusion"], &default_config(&ABOUT), &check);
        assert_eq!((report.verdict, report.ran_out.as_deref()), (Judgement::Undecided, Some(NEVER_AT_REST)));
    }

    #[test]
    fn a_violation_is_told_step_by_step() {
        let verdict = Verdict::Violated { promise: "exclusion".into(), steps: 2 };
        let report = found(verdict, vec![promise("exclusion", 7, Some(&["p0 asks", "p1 asks"]))]);
        assert_eq!(report.promise.as_deref(), Some("exclusion"));
        assert_eq!(
            (&report.steps[..], report.exhaustive),
            (&["p0 asks", "p1 asks"].map(String::from)[..], false)
        );
        let text = report.to_string();
        assert!(text.contains("  1. p0 asks\n  2. p1 asks\n  => two inside\n"), "{text}");
        assert!(text.contains("as catalogued: S-000"), "{text}");
        assert!(text.ends_with("violated (2 steps): exclusion\n"), "{text}");
    }

    #[test]
    fn what_breaks_the_search_itself_is_no_promise_and_is_told() {
        let verdict = Verdict::Violated { promise: "no-spin".into(), steps: 1 };
        let report =
            found(verdict, vec![promise("exclusion", 7, None), promise("no-spin", 0, Some(&["p0 spins"]))]);
        assert_eq!((report.promises.len(), report.invariants.len()), (1, 1));
        assert_eq!(report.steps, ["p0 spins"]);
        let text = report.to_string();
        assert!(text.contains("invariants: no-spin BROKEN"), "{text}");
        assert!(text.contains("not as catalogued: S-000"), "{text}");
    }

    #[test]
    fn what_was_not_looked_for_is_not_called_held() {
        let livelock =
            PromiseReport { unchecked: Some("a reason".into()), ..promise("no-livelock", 0, None) };
        let report = found(Verdict::Holds, vec![promise("exclusion", 7, None), livelock]);
        assert_eq!(report.invariants[0].verdict, Became::NeverTested);
        let text = report.to_string();
        assert!(text.contains("invariants: no-livelock not checked"), "{text}");
    }

    #[test]
    fn a_cut_search_is_never_called_held() {
        let verdict = Verdict::Undecided { ran_out: "10 states".into() };
        let report = found(verdict, vec![promise("exclusion", 7, None)]);
        assert_eq!(report.verdict.answer().exit_status(), 3);
        assert!(!report.exhaustive);
        let text = report.to_string();
        assert!(!text.contains("holds"), "{text}");
        assert!(
            text.contains("not broken so far")
                && text.contains("--max-states")
                && text.ends_with("undecided (10 states)\n"),
            "{text}"
        );
    }

    #[test]
    fn a_search_for_livelocks_alone_says_of_nothing_else_that_it_did_not_break() {
        let config = CheckConfig { ranks: true, ..default_config(&ABOUT) };
        let ran_out = "only livelocks were looked for".to_owned();
        let check = check(
            Verdict::Undecided { ran_out },
            vec![promise("exclusion", 7, None), promise("herd", 0, None)],
        );
        let text = report("lock/simple", &ABOUT, &["exclusion", "herd"], &config, &check).to_string();
        assert_eq!(text.matches("not looked for (--ranks)").count(), 2, "{text}");
        for untrue in ["so far", "--max-states", "not seen"] {
            assert!(!text.contains(untrue), "{untrue}: {text}");
        }
        assert!(text.ends_with("undecided (only livelocks were looked for)\n"), "{text}");
    }

    #[test]
    fn what_was_asked_for_is_answered_whatever_else_breaks() {
        let answer = |verdict, herd: u64| {
            let promises = vec![promise("exclusion", 7, Some(&["p0 asks"])), promise("herd", herd, None)];
            let config = CheckConfig { promise: Some("herd".into()), ..default_config(&ABOUT) };
            let report = report("lock", &ABOUT, &["exclusion", "herd"], &config, &check(verdict, promises));
            let text = report.to_string();
            (report.verdict.answer().exit_status(), text.lines().last().expect("a line").to_owned())
        };
        let cut = answer(Verdict::Undecided { ran_out: "time limit".into() }, 3);
        assert_eq!(cut, (3, "herd: undecided (time limit); broken: exclusion".into()));
        let (status, held) = answer(Verdict::Holds, 3);
        let told = "herd: holds (exhaustive, 1,234 states, depth 9); broken: exclusion; with ";
        assert!(status == 0 && held.starts_with(told), "{held}");
        assert!(held.ends_with("; next: zoocheck check lock --drops 1 --promise herd"), "{held}");
        let (status, idle) = answer(Verdict::Holds, 0);
        let told =
            "herd: undecided (exhaustive, 1,234 states, depth 9): never put to the test; broken: exclusion; ";
        assert!(status == 3 && idle.starts_with(told), "{idle}");
    }

    #[test]
    fn a_search_that_does_not_count_tells_what_was_tested_all_the_same() {
        let config = CheckConfig { engine: Engine::Stateright, ..default_config(&ABOUT) };
        let text = |tested| {
            let check = check(Verdict::Holds, vec![promise("exclusion", tested, None)]);
            report("lock", &ABOUT, &["exclusion"], &config, &check).to_string()
        };
        assert!(text(1).contains("holds    not counted"), "{}", text(1));
        assert!(text(0).contains("): never put to the test: exclusion"), "{}", text(0));
    }

    #[test]
    fn every_promise_is_put_to_the_test_and_memory_is_guarded_unless_somebody_says_otherwise() {
        let config = default_config(&ABOUT);
        assert!(config.effects && config.bounds.effects);
        assert_eq!((config.max_states, config.max_memory), (None, Some(8_000_000_000)));
    }

    #[test]
    fn a_reduction_that_no_test_has_shown_sound_is_named() {
        let mut config = default_config(&ABOUT);
        assert!(how(&ABOUT, &config).unproven.is_empty());
        config.reductions.symmetry = true;
        assert_eq!(how(&ABOUT, &config).unproven, ["symmetry"]);
        let unremembered = CheckConfig { memo: false, ..default_config(&ABOUT) };
        let why = unsound("lock", &unremembered, &how(&ABOUT, &unremembered));
        assert!(why.is_some_and(|why| why.starts_with("checkpoints are not audited")));
    }
}

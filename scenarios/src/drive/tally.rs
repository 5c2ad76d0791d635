//! The report of all seeds.

use super::plan::Plan;
use super::seed::SeedRun;
use std::time::Duration;
use zk_reports::{
    DRIVE_SCHEMA, DriveFailure, DriveReport, DriveUndecided, Happened, LiveBreak, LivePromise, LiveReport,
    Verdict, named,
};
use zk_serve::Finding;

/// One seed, and as often again as it is to be tried again.
pub(super) struct Tried {
    pub(super) seed: u64,
    pub(super) first: SeedRun,
    pub(super) again: Vec<SeedRun>,
}

/// The report before the first seed.
pub(super) fn begun(plan: &Plan) -> DriveReport {
    DriveReport {
        schema: DRIVE_SCHEMA.into(),
        program: plan.arguments.program.clone(),
        owed: plan.arguments.promises.clone(),
        servers: plan.scenario.servers,
        clients: plan.scenario.clients,
        rounds: plan.scenario.rounds,
        session_timeout_ms: plan.scenario.session_timeout_ms.into(),
        fault_seconds: plan.scenario.fault_seconds,
        ..DriveReport::default()
    }
}

/// Adds a seed. `command` is what tries one once more.
pub(super) fn add(report: &mut DriveReport, tried: Tried, command: &dyn Fn(u64) -> String) {
    let Tried { seed, first, again } = tried;
    let invariants = server_invariants(&first.servers);
    if first.is_broken() {
        let broken = named(first.found.promises.iter().chain(&invariants), Verdict::Broken);
        report.failures.push(DriveFailure {
            seed,
            broken: broken.map(String::from).collect(),
            again: again.len() as u32,
            broken_again: again.iter().filter(|run| run.is_broken()).count() as u32,
            command: command(seed),
            output: first.output,
        });
    } else if let Some(why) = first.ran_out {
        report.undecided.push(DriveUndecided { seed, why, command: command(seed) });
    }
    report.seeds += 1;
    report.faults += first.faults;
    happened_too(&mut report.happened, &first.found.happened);
    report.unjudged = first.found.unjudged;
    merge(&mut report.promises, first.found.promises, seed);
    merge(&mut report.invariants, invariants, seed);
}

/// The report of all of them.
pub(super) fn finished(mut report: DriveReport, took: Duration, interrupted: Option<String>) -> DriveReport {
    report.failures.sort_by_key(|failure| failure.seed);
    report.undecided.sort_by_key(|undecided| undecided.seed);
    let is_open = interrupted.is_some() || !report.undecided.is_empty() || !report.unjudged.is_empty();
    report.answer = LiveReport::answer_of(&report.promises, &report.invariants, is_open);
    DriveReport { wall_seconds: took.as_secs_f64(), interrupted, ..report }
}

fn happened_too(all: &mut Happened, more: &Happened) {
    let Happened { sessions, sessions_lost, disconnections, grants, writes, refused } = more;
    all.sessions += sessions;
    all.sessions_lost += sessions_lost;
    all.disconnections += disconnections;
    all.grants += grants;
    all.writes += writes;
    all.refused += refused;
}

/// What was found of each name, with a further seed.
fn merge(all: &mut Vec<LivePromise>, more: Vec<LivePromise>, seed: u64) {
    for mut one in more {
        let breaks = one.first.iter_mut().chain(&mut one.first_expected);
        breaks.for_each(|found| found.seed = Some(seed));
        match all.iter().position(|known| known.name == one.name) {
            Some(at) => all[at] = all[at].clone().with(one),
            None => all.push(one),
        }
    }
}

/// The invariants at the servers, as results.
fn server_invariants(verdict: &zk_serve::Verdict) -> Vec<LivePromise> {
    let result = |judged: &zk_serve::Judged| {
        let broken = u64::from(judged.verdict == Finding::Broken);
        let what = verdict.broken.iter().find(|broken| broken.invariant == judged.name);
        LivePromise {
            name: judged.name.into(),
            verdict: Some(Verdict::of(broken, 0, judged.tested)),
            tested: judged.tested,
            broken,
            first: what.map(|broken| LiveBreak {
                seed: None,
                seconds: 0.0,
                what: broken.what.clone(),
                timeline: Vec::new(),
            }),
            ..LivePromise::default()
        }
    };
    verdict.invariants.iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Found;
    use zk_reports::Answer;
    use zk_serve::{Broken, Judged};

    const LOCK: &str = "exclusion-among-live-sessions";
    const SERVERS: &str = "session-fifo";

    /// One seed in which these were broken.
    fn run(broken: &[&str]) -> SeedRun {
        let is_broken = broken.contains(&LOCK);
        let promise = LivePromise {
            name: LOCK.into(),
            verdict: Some(Verdict::of(is_broken.into(), 0, 3)),
            tested: 3,
            broken: is_broken.into(),
            ..LivePromise::default()
        };
        let held = !broken.contains(&SERVERS);
        let finding = if held { Finding::Held } else { Finding::Broken };
        let what = Broken { invariant: SERVERS, what: "2 came before 1".into() };
        let servers = zk_serve::Verdict {
            schema: "",
            held,
            invariants: vec![Judged { name: SERVERS, verdict: finding, tested: 9 }],
            broken: if held { Vec::new() } else { vec![what] },
            cases: [].into(),
            requests: 1,
            not_compared: Vec::new(),
            promises: None,
            record_lacks: None,
        };
        let found = Found {
            answer: if is_broken { Answer::Broken } else { Answer::Held },
            not_at_rest: None,
            unjudged: Vec::new(),
            happened: Happened::default(),
            promises: vec![promise],
            sessions: [].into(),
        };
        SeedRun { found, servers, ran_out: None, faults: 2, output: Vec::new() }
    }

    /// What seeds come to, the last of them first.
    fn told(runs: Vec<SeedRun>, interrupted: bool) -> DriveReport {
        let mut report = DriveReport::default();
        for (seed, first) in (0..).zip(runs).collect::<Vec<_>>().into_iter().rev() {
            add(&mut report, Tried { seed, first, again: Vec::new() }, &|seed| format!("--seeds {seed}"));
        }
        finished(report, Duration::ZERO, interrupted.then(|| "it was interrupted".into()))
    }

    #[test]
    fn what_is_broken_in_any_seed_is_broken_by_its_name() {
        for (broken, name) in [([LOCK], LOCK), ([SERVERS], SERVERS)] {
            let report = told(vec![run(&[]), run(&broken), run(&[])], false);
            assert_eq!((report.answer, report.seeds, report.faults), (Answer::Broken, 3, 6));
            let [failure] = &report.failures[..] else { panic!("{:?}", report.failures) };
            assert_eq!((failure.seed, &failure.broken[..]), (1, &[name.to_owned()][..]));
            let results: Vec<_> = report.all().map(|it| (it.broken, it.tested)).collect();
            assert_eq!(results, [(u64::from(name == LOCK), 9), (u64::from(name == SERVERS), 27)]);
        }
    }

    #[test]
    fn nothing_is_held_where_a_seed_came_to_no_end_or_was_not_run_or_a_kind_is_not_judged() {
        assert_eq!(told(vec![run(&[]), run(&[])], false).answer, Answer::Held);
        assert_eq!(told(vec![run(&[])], true).answer, Answer::Undecided);
        let endless = || SeedRun { ran_out: Some("the time limit came".into()), ..run(&[]) };
        let report = told(vec![run(&[]), endless(), endless()], false);
        assert_eq!(report.answer, Answer::Undecided);
        assert_eq!(report.undecided.iter().map(|it| it.seed).collect::<Vec<_>>(), [1, 2]);
        let mut unjudged = run(&[]);
        unjudged.found.unjudged = vec!["counter=/c".into()];
        assert_eq!(told(vec![unjudged], false).answer, Answer::Undecided);
    }
}

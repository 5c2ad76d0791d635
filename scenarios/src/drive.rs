//! `zoocheck drive`: client programs in any language, in real time, under the faults of many seeds.
//!
//! | module | what is in it |
//! |---|---|
//! | `plan` | what was typed, and what all seeds have in common |
//! | `seed` | one seed: servers, programs and faults, until it is over |
//! | `processes` | the programs' processes: started, paused, killed, looked at |
//! | `faults` | what a seed draws, done to servers and programs |
//! | `tally` | the report |

mod faults;
mod plan;
mod processes;
mod seed;
mod tally;

use crate::interrupt::Interrupt;
use crate::output::show;
use crate::progress::Progress;
use crate::run::{default_jobs, read_scenario, scenario_file};
use crate::shell::{program, with};
use crate::{Answer, BadInput, observe};
pub(crate) use plan::DriveArguments;
use plan::Plan;
use std::sync::Arc;
use std::time::Instant;
use tally::{Tried, add, begun, finished};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use zk_reports::{count, prepare_report_dir};
use zk_simulator::{Faults, Scenario};

pub(crate) const ABOUT: &str = "\
Runs client programs, in any language, in real time, under the faults of many seeds

zoocheck serves an ensemble and runs each client as a process of the program. A seed's faults
strike servers, connections and processes. What the programs say that they do (over HTTP, as with
'serve --promises') is judged.

This is not deterministic: a seed fixes only the faults. A seed in which something broke is tried
again, and the report counts how often it breaks then.

The environment tells a program ZOOCHECK_SERVERS (HOST:PORT,…), ZOOCHECK_CONTROL (a URL),
ZOOCHECK_CLIENT (its number), ZOOCHECK_NAME, ZOOCHECK_CLIENTS, ZOOCHECK_ROUNDS (how many to run),
ZOOCHECK_SEED and ZOOCHECK_SESSION_TIMEOUT_MS. A program that is done says so ({\"finishes\":
\"done\"}) and waits, or exits with status 0. zoocheck then ends its process group. If zoocheck
itself dies, the program's stdin closes.";

pub(crate) const EPILOGUE: &str = "\
Exit status:
  0  every judged promise held
  1  a promise or an invariant was broken
  2  bad command line, file or environment
  3  undecided: a promise was never put to the test, a seed came to no end, or nothing of a kind's
     own can be judged

Examples:
  zoocheck drive --program 'python -m zoocheck_live lock.py:worker' --promises fair-lock=/lock
  zoocheck drive --program 'java -jar mine.jar' --promises lock=/lock --seeds 100 --jobs 4";

/// Five clients of three servers: short times, as they pass in earnest.
fn scenario() -> Scenario {
    Scenario {
        about: "Five client programs contend through faults in real time.".into(),
        observers: 0,
        tick_ms: 200,
        session_timeout_ms: 1500,
        work_ms: [0, 2000],
        fault_seconds: 15,
        faults: Faults {
            server_down_ms: [50, 2000],
            pause_ms: [100, 4000],
            partition_ms: [100, 4000],
            server_pause_ms: [100, 3000],
            ..Faults::default()
        },
        ..Scenario::default()
    }
}

impl DriveArguments {
    fn plan(self) -> Result<Plan, BadInput> {
        let mut scenario = self.scenario.as_deref().map_or_else(|| Ok(scenario()), read_scenario)?;
        for assignment in &self.set {
            scenario = scenario_file::set(&scenario, assignment)?;
        }
        scenario.clients = self.clients.unwrap_or(scenario.clients);
        scenario.rounds = self.rounds.unwrap_or(scenario.rounds);
        scenario.servers = self.servers.unwrap_or(scenario.servers);
        scenario.observers = 0;
        if self.program.trim().is_empty() {
            return Err(bad!(
                "--program: expected a command, such as 'python -m zoocheck_live lock.py:worker'"
            ));
        }
        scenario.validate().map_err(BadInput::new)?;
        observe::owes(&self.promises)?;
        Ok(Plan { arguments: self, scenario, interrupt: Interrupt::watch()? })
    }

    /// What tries a seed once more.
    fn command(&self, seed: u64) -> String {
        let options = [
            with("--program", [&self.program]),
            with("--promises", &self.promises),
            with("--seeds", [format!("{seed}..{}", seed + 1)]),
            with("--clients", self.clients),
            with("--rounds", self.rounds),
            with("--servers", self.servers),
            with("--scenario", &self.scenario),
            with("--set", &self.set),
        ];
        format!("{} drive{}", program(), options.concat())
    }
}

/// Runs the programs under every seed, and writes what came of it.
pub(crate) fn drive(arguments: DriveArguments) -> Result<Answer, BadInput> {
    let plan = Arc::new(arguments.plan()?);
    let arguments = &plan.arguments;
    arguments.report.as_deref().map(prepare_report_dir).transpose()?;
    let runtime = Runtime::new().map_err(|error| bad!("cannot start threads: {error}"))?;
    let report = runtime.block_on(all(&plan))?;
    show(&report, &arguments.format.of(&report), arguments.report.as_deref())?;
    Ok(report.answer)
}

async fn all(plan: &Arc<Plan>) -> Result<zk_reports::DriveReport, BadInput> {
    let arguments = &plan.arguments;
    let (began, total) = (Instant::now(), arguments.seeds.count());
    let jobs = arguments.jobs.map_or_else(default_jobs, usize::from);
    let mut progress = Progress::new(arguments.format, Some(total));
    let mut report = begun(plan);
    let mut next = 0;
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < jobs
            && plan.interrupt.seen().is_none()
            && let Some(seed) = arguments.seeds.nth(next)
        {
            next += 1;
            under_way.spawn(tried(plan.clone(), seed));
        }
        let Some(done) = under_way.join_next().await else { break };
        let tried = done.map_err(|error| bad!("a seed's run failed: {error}"))??;
        add(&mut report, tried, &|seed| arguments.command(seed));
        let broken = report.failures.len();
        let so_far = || format!("{} of {} seeds, {broken} broken", count(report.seeds), count(total));
        progress.at(report.seeds, String::new, so_far);
    }
    drop(progress);
    let interrupted = plan.interrupt.seen().map(|signal| format!("it was interrupted by {signal}"));
    Ok(finished(report, began.elapsed(), interrupted))
}

async fn tried(plan: Arc<Plan>, seed: u64) -> Result<Tried, BadInput> {
    let first = seed::run(&plan, seed).await?;
    let mut again = Vec::new();
    while first.is_broken() && again.len() < plan.arguments.again as usize && plan.interrupt.seen().is_none()
    {
        again.push(seed::run(&plan, seed).await?);
    }
    Ok(Tried { seed, first, again })
}

//! What can be typed.

#[cfg(feature = "run")]
use super::run_arguments::{ReplayArguments, ReportArguments, RunArguments, ShrinkArguments};
use crate::BadInput;
use crate::bad_input::did_you_mean;
use crate::check::{MOST_GIGABYTES, MOST_STATES_OF_STATERIGHT, gigabytes};
use crate::ensemble::EnsembleArguments;
use crate::output::Format;
use crate::typed::{address, duration, one_of, whole};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use std::net::SocketAddr;
use std::time::Duration;
use zk_model::{CheckConfig, Engine};
use zk_reports::SCHEMAS;

const EPILOGUE: &str = "\
WHAT is a recipe (lock), a variant of it (lock/simple), a scenario file (*.toml), or, for
run, replay, shrink, check and mutate, an unmodified program: kazoo/lock, which is built
in, or lock.py:worker, a function in a file of yours.

Exit status:
  0  every promise held
  1  a promise was broken
  2  bad command line, file or environment
  3  undecided: a check was cut short, a promise was never put to the test, or a sweep
     did not finish (its report has what broke before that)

Examples:
  zoocheck list                        what there is
  zoocheck new my-lock                 a crate with a recipe of your own, to begin with
  zoocheck check lock/simple           is it right, in every run of a small model?
  zoocheck check ensemble --servers 3  are the simulated servers right?
  zoocheck run lock --seeds 1000       does it bear faults?
  zoocheck run lock --shard 1/4 --report one
  zoocheck report one two three four -o all
  zoocheck replay lock/java --seed 0   what happened there?
  zoocheck judge lock                  every lock by both engines, as expected?
  zoocheck shrink lock/java --seed 0 -o small.toml
  zoocheck fuzz --programs 1000        do both engines, simulator and model, agree?
  zoocheck serve                       a test server, for clients in any language
  zoocheck run lock --connect zk1:2181 the recipe on a running ensemble
  zoocheck run my.py:worker --promises fair-lock=/lock";

/// Tells whether a ZooKeeper recipe is right before anybody adopts it
#[derive(Parser, Debug)]
#[command(name = "zoocheck", version, after_help = EPILOGUE)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Names recipes, variants, promises and scenarios
    List {
        /// Only this recipe, variant, or scenario file's recipe, in full
        what: Option<String>,
        /// How to write the result
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Explains what a defect's number, such as S-070, stands for
    Explain {
        /// The number, as it is printed
        defect: String,
    },
    /// Creates a starter crate for a recipe of your own
    #[command(long_about = crate::new::ABOUT)]
    New(crate::new::NewArguments),
    /// Runs a recipe under many seeds, with faults
    #[cfg(feature = "run")]
    Run(RunArguments),
    /// Shows saved reports again, merges those of shards
    #[cfg(feature = "run")]
    Report(ReportArguments),
    /// Runs one seed again: what happened, verdicts, digest
    #[cfg(feature = "run")]
    Replay(ReplayArguments),
    /// Makes a failing run smaller, and writes it as a scenario file
    #[cfg(feature = "run")]
    Shrink(ShrinkArguments),
    /// Explores every run of a small model
    #[command(args_conflicts_with_subcommands = true)]
    Check {
        #[command(subcommand)]
        kind: Option<CheckKind>,
        #[command(flatten)]
        check: Option<CheckArguments>,
        #[command(flatten)]
        outputs: CheckOutputs,
    },
    /// Shows the model in stateright's Explorer, in a browser
    Explore {
        #[command(flatten)]
        check: CheckArguments,
        /// Where to serve it
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3000", value_parser = address)]
        listen: SocketAddr,
    },
    /// Judges recipes and variants by both engines, against the catalogue
    #[cfg(feature = "run")]
    #[command(long_about = crate::judge::ABOUT)]
    Judge(crate::judge::JudgeArguments),
    /// Compares recipes: what they promise, what they cost, what breaks them
    #[cfg(feature = "run")]
    #[command(long_about = crate::compare::ABOUT)]
    Compare(crate::compare::CompareArguments),
    /// Measures how strong a recipe's promises are, by mutating the recipe
    #[cfg(feature = "run")]
    #[command(long_about = crate::mutate::ABOUT)]
    Mutate(crate::mutate::MutateArguments),
    /// Plants bugs in the simulated servers, and shows what finds them
    #[cfg(feature = "run")]
    #[command(long_about = crate::mutants::ABOUT)]
    Mutants(crate::mutants::MutantsArguments),
    /// Compares both engines by generated client programs
    #[cfg(feature = "run")]
    #[command(long_about = crate::fuzz::ABOUT)]
    Fuzz(crate::fuzz::FuzzArguments),
    /// Serves real clients, with faults on demand: a test server, not a production one
    #[cfg(feature = "serve")]
    #[command(long_about = crate::serve::ABOUT, after_help = crate::serve::EPILOGUE)]
    Serve(crate::serve::ServeArguments),
    /// Runs client programs in real time, and judges what they say they do
    #[cfg(all(feature = "serve", feature = "live"))]
    #[command(long_about = crate::drive::ABOUT, after_help = crate::drive::EPILOGUE)]
    Drive(crate::drive::DriveArguments),
    /// Compares the simulated ZooKeeper with a real one, answer by answer
    #[cfg(feature = "conform")]
    #[command(long_about = crate::conform::ABOUT, after_help = crate::conform::EPILOGUE)]
    Conform(crate::conform::ConformArguments),
    /// Prints a shell completion script for this command
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Prints a manual page: zoocheck manual > zoocheck.1
    Manual {
        /// The command, such as run or check ensemble [default: all commands]
        command: Vec<String>,
    },
    /// Explains scenario files
    #[cfg(feature = "run")]
    Scenario {
        #[command(subcommand)]
        what: ScenarioKind,
    },
    /// Prints the JSON Schema of a report, such as zoocheck-sweep/3
    Schema {
        /// The value of the report's key 'schema'
        #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.map(|(name, _)| name)))]
        report: String,
    },
}

/// What can be checked besides recipes.
#[derive(Subcommand, Debug)]
pub(super) enum CheckKind {
    /// Explores an ensemble of servers
    #[command(long_about = crate::ensemble::ABOUT)]
    Ensemble(EnsembleArguments),
}

/// What can be explained about scenarios.
#[cfg(feature = "run")]
#[derive(Subcommand, Debug)]
pub(super) enum ScenarioKind {
    /// What each key is for, what it may be, and its default
    #[command(long_about = crate::scenario_keys::ABOUT)]
    Explain(crate::scenario_keys::ExplainArguments),
}

const BOUNDS: &str = "Bounds: how many of each at most [default: as catalogued]";
const LIMITS: &str = "When to give up";
const SEARCH: &str = "How to search";

/// The bounds that are not given are the trial's own.
#[derive(Args, Debug)]
pub(super) struct CheckArguments {
    /// A recipe, a variant, a scenario file, or a program (lock.py:worker)
    pub(super) what: String,
    /// What a program owes: KIND=PATH, such as fair-lock=/lock; repeatable
    #[arg(long, value_name = "OWED", value_delimiter = ',')]
    pub(super) promises: Vec<String>,
    /// Client processes
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=16u8))]
    clients: Option<u8>,
    /// Rounds for each client
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=16u8))]
    rounds: Option<u8>,
    /// Sessions that expire though their process lives
    #[arg(help_heading = BOUNDS, long, value_name = "E", allow_negative_numbers = true, value_parser = whole(0..=u8::MAX))]
    expiries: Option<u8>,
    /// Connections that drop
    #[arg(help_heading = BOUNDS, long, value_name = "D", allow_negative_numbers = true, value_parser = whole(0..=u8::MAX))]
    drops: Option<u8>,
    /// Processes that crash
    #[arg(help_heading = BOUNDS, long, value_name = "C", allow_negative_numbers = true, value_parser = whole(0..=u8::MAX))]
    crashes: Option<u8>,
    /// Processes that are paused
    #[arg(help_heading = BOUNDS, long, value_name = "P", allow_negative_numbers = true, value_parser = whole(0..=u8::MAX))]
    pauses: Option<u8>,
    /// Processes that begin another life, after a crash or the loss of their session
    #[arg(help_heading = BOUNDS, long, value_name = "R", allow_negative_numbers = true, value_parser = whole(0..=8u8))]
    restarts: Option<u8>,
    /// Changes by an administrator: a deletion, or data that the trial names
    #[arg(help_heading = BOUNDS, long, value_name = "A", allow_negative_numbers = true, value_parser = whole(0..=u8::MAX))]
    admin: Option<u8>,
    /// The administrator may also change what the trial sets up
    #[arg(help_heading = BOUNDS, long, requires = "admin")]
    admin_parents: bool,
    /// Transactions by which a client's view may lag
    #[arg(help_heading = BOUNDS, long, value_name = "L", allow_negative_numbers = true, value_parser = whole(0..=u8::MAX))]
    lag: Option<u8>,
    /// Assume that a sync shows all that is committed; ZooKeeper's may not
    #[arg(help_heading = BOUNDS, long)]
    true_syncs: bool,
    /// Assume that no client is told that its live session has ended
    #[arg(help_heading = BOUNDS, long)]
    true_ends: bool,
    /// Deliver answers as requests are served; sound for some recipes only
    #[arg(help_heading = SEARCH, long)]
    eager: bool,
    /// Do not tell processes apart; sound for some recipes only
    #[arg(help_heading = SEARCH, long)]
    symmetry: bool,
    /// Turn off --eager and --symmetry, also where they are sound
    #[arg(help_heading = SEARCH, long, conflicts_with_all = ["eager", "symmetry"])]
    full: bool,
    /// Do not merge states that agree at a recipe's checkpoints
    #[arg(help_heading = SEARCH, long)]
    no_keys: bool,
    /// Replay every transition instead of remembering it
    #[arg(help_heading = SEARCH, long)]
    no_memo: bool,
    /// No writes to what the lock protects: faster, less is put to the test
    #[arg(help_heading = SEARCH, long)]
    no_effects: bool,
    /// Do not look for livelocks
    #[arg(help_heading = SEARCH, long)]
    no_livelock: bool,
    /// Look for livelocks only, comparing zxids and versions by their order
    #[arg(help_heading = SEARCH, long, conflicts_with = "true_zxids")]
    ranks: bool,
    /// Give every transaction a zxid, also where none matters
    #[arg(help_heading = SEARCH, long)]
    true_zxids: bool,
    /// Give up after so long, such as 90s, 5m or 1h
    #[arg(help_heading = LIMITS, long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
    /// Give up once the search uses this many gigabytes of memory
    #[arg(help_heading = LIMITS, long, value_name = "GB", allow_negative_numbers = true, default_value_t = MOST_GIGABYTES, value_parser = whole(1..=100_000u32))]
    max_memory: u32,
    /// Give up after this many states
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=u64::MAX))]
    max_states: Option<u64>,
    /// Go no deeper than this many steps
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=u32::MAX))]
    max_depth: Option<u32>,
    /// Which engine searches
    #[arg(help_heading = SEARCH, long, default_value = "own", value_parser = one_of(Engine::ALL))]
    engine: Engine,
    /// Look only for a break of this promise; the verdict covers no other
    #[arg(help_heading = SEARCH, long, value_name = "NAME")]
    promise: Option<String>,
}

/// Where the results of a check go.
#[derive(Args, Debug)]
pub(super) struct CheckOutputs {
    /// Write index.html, report.json, junit.xml and summary.md there
    #[arg(long, value_name = "DIR")]
    pub(super) report: Option<std::path::PathBuf>,
    /// Write the counterexample as a new scenario file, for `replay`
    #[cfg(feature = "run")]
    #[arg(long, value_name = "FILE.toml")]
    pub(super) export: Option<std::path::PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl CheckArguments {
    /// `base` with what was typed. `promises` are the names of the trial's own.
    pub(super) fn config(&self, base: CheckConfig, promises: &[&str]) -> Result<CheckConfig, BadInput> {
        let mut config = base;
        if let Some(typed) = self.promise.as_deref().filter(|typed| !promises.contains(typed)) {
            let (what, hint) = (&self.what, did_you_mean(typed, promises.iter().copied()));
            return Err(bad!("--promise: {what} has no promise '{typed}'{hint}"));
        }
        config.promise = self.promise.clone();
        let bounds = &mut config.bounds;
        for (typed, bound) in [
            (self.clients, &mut bounds.clients),
            (self.rounds, &mut bounds.rounds),
            (self.expiries, &mut bounds.expiries),
            (self.drops, &mut bounds.drops),
            (self.crashes, &mut bounds.crashes),
            (self.pauses, &mut bounds.pauses),
            (self.restarts, &mut bounds.restarts),
            (self.admin, &mut bounds.admin),
            (self.lag, &mut bounds.lag),
        ] {
            *bound = typed.unwrap_or(*bound);
        }
        config.reductions.eager = !self.full && (self.eager || config.reductions.eager);
        config.reductions.symmetry = !self.full && (self.symmetry || config.reductions.symmetry);
        config.keys = !self.no_keys;
        config.memo = !self.no_memo;
        config.effects = !self.no_effects;
        config.bounds.effects = config.effects;
        config.stale_syncs = !self.true_syncs;
        config.false_expiries = !self.true_ends;
        config.admin_parents = self.admin_parents;
        config.true_zxids = self.true_zxids;
        config.ranks = self.ranks;
        config.livelock = !self.no_livelock;
        config.time_limit = self.time_limit;
        config.max_depth = self.max_depth;
        if self.engine == Engine::Stateright {
            let own = [(self.ranks, "--ranks"), (self.time_limit.is_some(), "--time-limit")];
            if let Some((_, option)) = own.iter().find(|(is_asked, _)| *is_asked) {
                return Err(bad!(
                    "{option}: stateright's search has no such thing; leave one of the two out"
                ));
            }
        }
        config.engine = self.engine;
        (config.max_states, config.max_memory) = match config.engine {
            Engine::Own => (self.max_states, Some(gigabytes(self.max_memory))),
            Engine::Stateright => (Some(self.max_states.unwrap_or(MOST_STATES_OF_STATERIGHT)), None),
        };
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}

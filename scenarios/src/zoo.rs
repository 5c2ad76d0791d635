//! The trials, and what can be done with them.

use crate::BadInput;
use crate::bad_input::nearest;
use std::process::ExitCode;
use std::sync::Arc;
use zk_model::CheckConfig;
use zk_reports::{Catalogued, CheckReport};
use zk_trials::promise::Assumption;
use zk_trials::trial::{About, AnyTrial, Trial};

/// The trials: those that are built in, and those that somebody adds.
#[derive(Clone)]
pub struct Zoo {
    trials: Vec<Arc<dyn AnyTrial>>,
}

impl Default for Zoo {
    /// The built-in catalogue.
    fn default() -> Zoo {
        Zoo { trials: zk_trials::catalogue() }
    }
}

impl Zoo {
    /// No trials at all, not even the built-in ones.
    pub fn empty() -> Zoo {
        Zoo { trials: Vec::new() }
    }

    /// One more trial. Panics if its name is taken, or could not be typed.
    #[must_use]
    pub fn with(mut self, trial: impl Trial) -> Zoo {
        let name = Trial::about(&trial).name;
        assert!(self.trials.iter().all(|other| other.about().name != name), "two trials are called '{name}'");
        let typable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
        assert!(!name.is_empty() && name.chars().all(typable), "a trial cannot be called '{name}'");
        assert!(!is_file(name), "a trial cannot be called '{name}': that stands for a file");
        self.trials.push(Arc::new(trial));
        self
    }

    /// All of them, in the order in which they are listed.
    pub fn trials(&self) -> &[Arc<dyn AnyTrial>] {
        &self.trials
    }

    /// The trial of that name.
    pub fn find(&self, name: &str) -> Result<Arc<dyn AnyTrial>, BadInput> {
        if let Some(trial) = self.trials.iter().find(|trial| trial.about().name == name) {
            return Ok(trial.clone());
        }
        let hint = match nearest(name, self.trials.iter().map(|trial| trial.about().name)) {
            Some(meant) => format!("did you mean '{meant}'?"),
            None => "'zoocheck list' names what there is".to_string(),
        };
        Err(BadInput::new(format!(
            "'{name}' is neither a recipe, a variant, nor a scenario file (*.toml); {hint}"
        )))
    }

    /// What `zoocheck check` explores of a trial if it is given no options: a start for one's own.
    pub fn check_config(&self, name: &str) -> Result<CheckConfig, BadInput> {
        Ok(crate::check::default_config(&self.find(name)?.about()))
    }

    /// Explores a trial's model.
    pub fn check(&self, name: &str, config: &CheckConfig) -> Result<CheckReport, BadInput> {
        Ok(crate::check::check(name, &self.find(name)?, config, &mut |_| {}))
    }

    /// The command, with the arguments of this process.
    pub fn main(self) -> ExitCode {
        crate::command::main(&self, std::env::args_os())
    }
}

#[cfg(feature = "run")]
mod chaos {
    use super::{BadInput, Zoo};
    use crate::judge::{Effort, MAX_STATES};
    use crate::run::{self, Target};
    use std::ops::Range;
    use zk_reports::{JudgeReport, ReplayReport, SweepReport};
    use zk_world::Scenario;

    impl Zoo {
        /// The scenario that `zoocheck run` takes for a recipe, a variant or a scenario file: a start for one's own.
        pub fn scenario(&self, what: &str) -> Result<Scenario, BadInput> {
            Ok(Target::resolve(self, what, None, &[])?.scenario)
        }

        /// Runs a scenario under every one of the seeds, on all cores.
        pub fn sweep(&self, scenario: &Scenario, seeds: Range<u64>) -> Result<SweepReport, BadInput> {
            let target = Target::of_scenario(self, scenario)?;
            run::sweep(&target, &run::SeedRange::new(seeds.start, seeds.end)?, run::default_jobs())
        }

        /// Judges recipes and variants by both engines, as `zoocheck judge` does; nothing stands for all. `seeds` each.
        pub fn judge(&self, what: &[&str], seeds: u64) -> Result<JudgeReport, BadInput> {
            let what: Vec<String> = what.iter().map(|what| what.to_string()).collect();
            let effort = Effort { scenario: None, seeds, max_states: MAX_STATES, jobs: run::default_jobs() };
            crate::judge::judge(self, &what, &effort, &mut |_| {})
        }

        /// Runs a scenario's trial once on a live ensemble, `HOST:PORT[,HOST:PORT…]`: its clients, its rounds, its
        /// work. Its faults are left out: they are the ensemble's. Blocks; not to be called within a runtime.
        #[cfg(feature = "live")]
        pub fn live(
            &self,
            scenario: &Scenario,
            servers: &str,
            time_limit: std::time::Duration,
        ) -> Result<zk_reports::LiveReport, BadInput> {
            let (connect, clients, rounds) = (servers.into(), scenario.clients, scenario.rounds);
            let run = run::LiveRun { connect, clients, rounds, time_limit };
            run::live(&Target::of_scenario(self, scenario)?, &run, &mut |_| {})
        }

        /// Runs a scenario under one seed, with its whole trace.
        pub fn replay(&self, scenario: &Scenario, seed: u64) -> Result<ReplayReport, BadInput> {
            run::replay(&Target::of_scenario(self, scenario)?, seed, true, false)
        }
    }
}

/// Judges a trial by both engines, for a `#[test]`: panics with the report unless it is right, in every run of its model
/// and under so many seeds.
///
/// ```no_run
/// # use zoocheck::trials::lock::{Guid as MyLock, OnTrial};
/// zoocheck::assert_right(OnTrial(MyLock), 200);
/// ```
#[cfg(feature = "run")]
pub fn assert_right(trial: impl Trial, seeds: u64) {
    let report = Zoo::empty().with(trial).judge(&[], seeds).unwrap_or_else(|bad| panic!("{bad}"));
    assert!(report.answer == zk_reports::Answer::Held, "\n{report}");
}

/// Whether WHAT stands for a scenario file.
pub(crate) fn is_file(what: &str) -> bool {
    std::path::Path::new(what).extension().is_some_and(|extension| extension == "toml")
}

/// What the catalogue says of a variant.
pub(crate) fn catalogued(about: &About) -> Option<Catalogued> {
    about.breaks.map(|breaks| Catalogued {
        promise: breaks.promise.into(),
        defect: breaks.defect.into(),
        fault: breaks.fault.into(),
    })
}

/// An assumption in words that follow "the assumption failed that".
pub(crate) fn assumption(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::NoActionAfterSessionEnd => "nobody acts after its session has ended",
        Assumption::NoAdministrator => "no administrator changes the recipe's znodes",
        Assumption::SessionsKnownToLive => "everybody concerned is known to have had a live session",
        Assumption::Promised => "the recipe promises it",
    }
}

/// A word as a shell reads it back.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

//! What is to be run.

use super::program::{is_program, no_program, program, says_itself};
use crate::BadInput;
use crate::shell::{shell_word, with};
use crate::trial_list::Trials;
use crate::trial_list::is_file;
use crate::typed::whole;
use clap::Args;
use std::sync::Arc;
use zk_harness::trial::Trial;
use zk_simulator::{MOST_CLIENTS, Scenario, SyncRule};

/// What is to be run, and how it was asked for.
pub(crate) struct Target {
    /// What the command line said of it, and so how to ask again; nothing if the library was asked.
    pub(crate) what: String,
    pub(crate) trial: Arc<Trial>,
    /// Its `recipe` names the trial.
    pub(crate) scenario: Scenario,
    asked: Option<Asked>,
}

/// What a command line says beside WHAT.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Run it in this file's scenario instead of the default one
    #[arg(long = "scenario", value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Another value for a scenario's key, such as faults.drops=5; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Client processes, each with a session, like --set clients=N
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=MOST_CLIENTS))]
    pub(crate) clients: Option<u16>,
    /// Rounds for each client, like --set rounds=N
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=100u8))]
    pub(crate) rounds: Option<u8>,
    /// What a program owes: KIND=PATH, such as fair-lock=/lock; repeatable
    #[arg(long, value_name = "OWED", value_delimiter = ',')]
    pub(crate) promises: Vec<String>,
}

impl Target {
    /// From WHAT, and the file whose scenario a recipe is run in.
    pub(crate) fn resolve(catalogue: &Trials, what: &str, file: Option<&str>) -> Result<Target, BadInput> {
        Target::asked(catalogue, what, Asked { file: file.map(String::from), ..Asked::default() })
    }

    /// From a command line.
    pub(crate) fn asked(catalogue: &Trials, what: &str, mut asked: Asked) -> Result<Target, BadInput> {
        let sizes = [("clients", asked.clients.take()), ("rounds", asked.rounds.take().map(u16::from))];
        asked.set.extend(sizes.into_iter().filter_map(|(key, size)| Some(format!("{key}={}", size?))));
        let find = |name: &str| find(catalogue, name, &asked.promises);
        let in_file = |error| bad!("{what}: recipe: {error}");
        let (mut trial, mut scenario) = match (is_file(what), &asked.file) {
            (true, None) => {
                let scenario = super::read_scenario(what)?;
                (find(&scenario.recipe).map_err(in_file)?, scenario)
            }
            (true, Some(file)) => {
                return Err(bad!("--scenario {file}: {what} is a scenario already; name a recipe"));
            }
            (false, file) => {
                let base = file.as_deref().map_or_else(|| Ok(Scenario::default()), super::read_scenario)?;
                let trial = find(what)?;
                let scenario = suited(base, trial.as_ref())?;
                (trial, scenario)
            }
        };
        for assignment in &asked.set {
            scenario = super::scenario_file::set(&scenario, assignment)?;
        }
        if scenario.recipe != trial.about.name {
            trial =
                find(&scenario.recipe).map_err(|error| if is_file(what) { in_file(error) } else { error })?;
        }
        Ok(Target { what: what.into(), trial, scenario, asked: Some(asked) })
    }

    /// From a scenario that somebody made.
    pub(crate) fn of_scenario(catalogue: &Trials, scenario: &Scenario) -> Result<Target, BadInput> {
        scenario.validate().map_err(BadInput::new)?;
        let trial = find(catalogue, &scenario.recipe, &[])?;
        let what = scenario.recipe.clone();
        Ok(Target { what, trial, scenario: scenario.clone(), asked: None })
    }

    /// One run of its trial, from a file.
    pub(crate) fn case(&self, file: String, scenario: Scenario) -> Target {
        let asked = Some(Asked { promises: self.promises().into(), ..Asked::default() });
        Target { what: file, trial: self.trial.clone(), scenario, asked }
    }

    /// What is owed of a program, as it was asked for.
    pub(crate) fn promises(&self) -> &[String] {
        self.asked.as_ref().map_or(&[], |asked| &asked.promises)
    }

    /// The file whose scenario a recipe is run in.
    pub(crate) fn file(&self) -> Option<&str> {
        self.asked.as_ref()?.file.as_deref()
    }

    /// Which run is meant: the seed that was typed, or that of the file's one run.
    pub(crate) fn seed(&self, typed: Option<u64>) -> Result<u64, BadInput> {
        match (&self.scenario.run, typed) {
            (None, Some(seed)) => Ok(seed),
            (None, None) => Err(bad!("--seed: say which run; a sweep names those that broke something")),
            (Some(one), None) => Ok(one.seed),
            (Some(_), Some(_)) => Err(bad!("--seed: {} is one run already; leave the seed out", self.what)),
        }
    }

    /// Fails if it is one run, where many are wanted.
    pub(crate) fn of_seeds(self) -> Result<Target, BadInput> {
        match &self.scenario.run {
            None => Ok(self),
            Some(_) => Err(bad!("{} is one run, and has no seeds; replay it", self.what)),
        }
    }

    /// What shows a seed again, and how it broke that promise.
    pub(crate) fn replay_command(&self, seed: u64, promise: Option<&str>) -> String {
        let words = self.words(&crate::shell::program(), "replay", seed);
        words + &with("--promise", promise.filter(|_| self.asked.is_some()))
    }

    /// What does something with a seed.
    pub(crate) fn words(&self, program: &str, command: &str, seed: u64) -> String {
        let Some(Asked { file, set, promises, .. }) = &self.asked else {
            return format!("Catalogue::{command}(&scenario, {seed})");
        };
        let options = [
            with("--seed", self.scenario.run.is_none().then_some(seed)),
            with("--scenario", file),
            with("--set", set),
            with("--promises", promises),
        ];
        format!("{program} {command} {}{}", shell_word(&self.what), options.concat())
    }

    /// The scenario's key facts, for people.
    pub(crate) fn facts(&self) -> Vec<String> {
        let s = &self.scenario;
        let default = Scenario { recipe: s.recipe.clone(), ..Scenario::default() };
        let (name, about) = match &self.asked {
            // What the default one is for would not be true of it.
            None if *s != default && s.about == default.about => ("a scenario of one's own", ""),
            None if *s != default => ("a scenario of one's own", s.about.as_str()),
            Some(_) if is_file(&self.what) => (self.what.as_str(), s.about.as_str()),
            Some(Asked { file: Some(file), .. }) => (file.as_str(), s.about.as_str()),
            None | Some(_) => ("the default scenario", s.about.as_str()),
        };
        let about: Vec<&str> = about.split_whitespace().collect();
        let mut first = match about.is_empty() {
            true => format!("{name}."),
            false => format!("{name}: {}", about.join(" ")),
        };
        let own: Vec<String> =
            self.trial.scenario.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if self.asked.is_some() && !is_file(&self.what) && !own.is_empty() {
            first.push_str(&format!(" What it is made for: {}.", own.join(", ")));
        }
        if let Some(Asked { set, .. }) = &self.asked
            && !set.is_empty()
        {
            first.push_str(&format!(" With {}.", set.join(", ")));
        }
        let size = format!(
            "{} × {}, {}{}, session timeout {} ms, work {}–{} ms, latency {}–{} ms",
            plural_of(s.clients.into(), "client"),
            plural_of(s.rounds.into(), "round"),
            match s.observers {
                0 => plural_of(s.servers.into(), "server"),
                n => format!(
                    "{} and {}",
                    plural_of(s.servers.into(), "server"),
                    plural_of(n.into(), "observer")
                ),
            },
            match s.sync {
                SyncRule::AsShipped => "",
                SyncRule::AsksQuorum => " whose syncs ask a quorum",
            },
            s.session_timeout_ms,
            s.work_ms[0],
            s.work_ms[1],
            s.latency_ms[0],
            s.latency_ms[1],
        );
        vec![first, size, self.fault_facts()]
    }

    fn fault_facts(&self) -> String {
        if let Some(one) = &self.scenario.run {
            let faults = plural_of(one.schedule.faults.len(), "fault");
            return format!("one run with {faults}, made by zoocheck {} to break {}", one.build, one.breaks);
        }
        let faults = toml::Table::try_from(self.scenario.possible_faults()).expect("faults are a table");
        // Ranges say how strong a fault is; a count says whether there is any.
        let some = faults.iter().filter_map(|(key, value)| match value {
            toml::Value::Integer(most) if *most > 0 => Some(format!("{key} {most}")),
            _ => None,
        });
        let some: Vec<String> = some.collect();
        match some.is_empty() {
            true => "no faults".into(),
            false => format!("faults for {} s, at most: {}", self.scenario.fault_seconds, some.join(", ")),
        }
    }
}

/// `1 fault`, `2 faults`.
pub(super) fn plural_of(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// A trial, or what watches servers alone: that is no recipe, and promises nothing.
fn find(catalogue: &Trials, name: &str, promises: &[String]) -> Result<Arc<Trial>, BadInput> {
    if is_program(name) {
        return program(name, promises);
    }
    if let Some(error) = no_program(name) {
        return Err(error);
    }
    if let Some(owed) = promises.first() {
        return Err(says_itself(name, owed));
    }
    match catalogue.find(name) {
        Err(_) if name == super::requests::NAME => Ok(Arc::new(super::requests())),
        found => found,
    }
}

/// A scenario with the trial, and with what that is made for.
pub(crate) fn suited(scenario: Scenario, trial: &Trial) -> Result<Scenario, BadInput> {
    let name = trial.about.name;
    let mut scenario = Scenario { recipe: name.into(), ..scenario };
    for (key, value) in &trial.scenario {
        scenario = super::scenario_file::set(&scenario, &format!("{key}={value}"))
            .map_err(|error| bad!("the scenario of {name}: {error}"))?;
    }
    Ok(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_survives_the_shell() {
        assert_eq!(shell_word("scenarios/suite/calm.toml"), "scenarios/suite/calm.toml");
        assert_eq!(shell_word("my file.toml"), "'my file.toml'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word("latency-ms=[1, 2]"), "'latency-ms=[1, 2]'");
    }

    #[test]
    fn the_replay_command_has_everything_that_makes_the_run() {
        let catalogue = Trials::built_in();
        let name = catalogue.trials()[0].about.name;
        let set = vec!["faults.drops=3".into(), "latency-ms=[0.1, 20]".into()];
        let command = Target::asked(&catalogue, name, Asked { set, clients: Some(7), ..Asked::default() })
            .expect("it is there")
            .replay_command(41, Some("exclusion"));
        let expected = format!(
            " replay {name} --seed 41 --set faults.drops=3 --set 'latency-ms=[0.1, 20]' --set clients=7 --promise \
             exclusion"
        );
        assert!(command.ends_with(&expected), "{command}");
    }
}

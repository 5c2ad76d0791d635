//! A model's counterexample as a scenario file that the world replays.

use super::build::build;
use std::sync::Arc;
use zk_model::{CheckConfig, Counterexample};
use zk_trials::trial::AnyTrial;
use zk_world::course::{Course, Step};
use zk_world::{Faults, OneRun, Run, RunOptions, Scenario, Schedule};

/// Ticks so long that no session ends by itself while a course goes on.
const TICK_MS: u32 = 10_000;
/// Twenty of them, the longest that servers grant.
const SESSION_TIMEOUT_MS: u32 = 200_000;
/// Dead sessions have to end before the run does.
const HEAL_SECONDS: u32 = 4_000;

/// The scenario in which the world takes the steps of a counterexample, and the run of it, in which the same promise
/// breaks; or why there is none.
pub(crate) fn export(
    trial: &Arc<dyn AnyTrial>,
    config: &CheckConfig,
    promise: &str,
    example: &Counterexample,
) -> Result<(Scenario, Run), String> {
    if promise == zk_model::model::NO_LIVELOCK {
        return Err("a round that is gone for ever has no end in the world".into());
    }
    if !trial.counters().is_empty() {
        return Err("it begins with counters near their end, which no run of the world comes to".into());
    }
    let mut scenario = scenario(trial, config, promise, example);
    let run = zk_world::run(trial, &scenario, 0, &RunOptions::default());
    let why = |problem: String| match config.bounds.lag {
        0 => problem,
        _ => format!(
            "{problem}; in the model views lag, and the world takes courses on one server, try --lag 0"
        ),
    };
    if let Some(astray) = &run.astray {
        return Err(why(format!("the world cannot take {astray}")));
    }
    let owed = |name: &str| run.violations.iter().find(|v| v.excuse.is_none() && v.promise == name);
    let Some(violation) = owed(promise) else {
        return Err(why(format!("the world takes every step of it, and {promise} does not break there")));
    };
    let one = scenario.run.as_mut().expect("it was given one");
    one.what = violation.what.clone();
    one.digest = format!("{:016x}", run.digest);
    one.build = build();
    Ok((scenario, run))
}

fn scenario(
    trial: &Arc<dyn AnyTrial>,
    config: &CheckConfig,
    promise: &str,
    example: &Counterexample,
) -> Scenario {
    let name = trial.about().name;
    let course = Course {
        effects: config.effects || config.bounds.effects,
        steps: example.course.iter().cloned().map(Step).collect(),
    };
    let one = OneRun {
        seed: 0,
        breaks: promise.into(),
        what: String::new(),
        digest: String::new(),
        build: String::new(),
        schedule: Schedule::default(),
        course: Some(course),
    };
    Scenario {
        recipe: name.into(),
        about: format!("{name} breaks {promise}: a counterexample of the model, step by step."),
        clients: config.bounds.clients,
        rounds: config.bounds.rounds,
        servers: 1,
        observers: 0,
        tick_ms: TICK_MS,
        session_timeout_ms: SESSION_TIMEOUT_MS,
        latency_ms: [0.1, 1.0],
        work_ms: [0, 10],
        heal_seconds: HEAL_SECONDS,
        faults: Faults::none(),
        run: Some(one),
        ..Scenario::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::default_config;
    use zk_model::Verdict;

    /// The model and the world agree: whatever breaks there, in views that do not lag, breaks here by the same steps.
    #[test]
    fn the_world_takes_every_counterexample_of_the_catalogue() {
        let (mut taken, mut lagging) = (0, Vec::new());
        for trial in zk_trials::catalogue() {
            let about = trial.about();
            let config = default_config(&about);
            if about.breaks.is_none() {
                continue;
            }
            let check = zk_model::check(trial.clone(), &config, &mut |_| {});
            let Verdict::Violated { promise, .. } = &check.verdict else { continue };
            let broken = check.promises.iter().find(|result| result.name == promise);
            let example = broken.and_then(|result| result.broken.as_ref()).expect("it was broken");
            match export(&trial, &config, promise, example) {
                Ok((scenario, run)) => {
                    let again = zk_world::run(&trial, &scenario, 0, &RunOptions::default());
                    assert_eq!(again, run, "{}", about.name);
                    taken += 1;
                }
                Err(why) if config.bounds.lag > 0 => lagging.push((about.name, why)),
                Err(_) if promise == zk_model::model::NO_LIVELOCK => {}
                Err(why) => panic!("{}: {promise}: {why}", about.name),
            }
        }
        assert!(taken >= 75, "{taken}");
        assert!(lagging.len() <= 8, "{lagging:?}");
        assert!(lagging.iter().all(|(_, why)| why.contains("views lag")), "{lagging:?}");
    }
}

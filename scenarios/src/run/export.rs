//! A model's counterexample as a scenario file that the simulator replays.

use super::build::build;
use std::sync::Arc;
use zk_api::Text;
use zk_harness::event::ActorId;
use zk_harness::script::{ScriptStep, late};
use zk_harness::trial::Trial;
use zk_model::{CheckConfig, Counterexample};
use zk_simulator::script::{Script, WrittenStep};
use zk_simulator::{Faults, GuidOrder, OneRun, Run, RunOptions, Scenario};

/// Ticks so long that no session ends by itself while a script goes on.
const TICK_MS: u32 = 10_000;
/// Twenty of them, the longest that servers grant.
const SESSION_TIMEOUT_MS: u32 = 200_000;
/// More guids than any process of a model asks for.
const GUIDS: u32 = 64;
/// Nor has any process so many further lives in a counterexample.
const MOST_RESTARTS: u8 = 8;
/// How it is told that a step cannot be taken.
const CANNOT_TAKE: &str = "the simulator cannot take";
/// Dead sessions have to end before the run does.
const HEAL_SECONDS: u32 = 4_000;

/// The scenario in which the simulator takes the steps of a counterexample, and the run of it, in which the same
/// promise breaks; or why there is none.
pub(crate) fn export(
    trial: &Arc<Trial>,
    config: &CheckConfig,
    promise: &str,
    example: &Counterexample,
) -> Result<(Scenario, Run), String> {
    if promise == zk_model::model::NO_LIVELOCK {
        return Err("a round that is gone for ever has no end in the simulator".into());
    }
    // On one server if that will do, as it is less to look at.
    let one = taken(trial, scenario(trial, config, promise, example, 0), promise);
    match one {
        Err(_) if config.bounds.lag > 0 => {
            let lagging = taken(trial, scenario(trial, config, promise, example, config.bounds.lag), promise);
            lagging.map_err(|why| match why.starts_with(CANNOT_TAKE) {
                true => format!(
                    "{why}; in the model a deposed leader answers, which there is none of in the simulator's \
                     scripts: try --true-syncs --true-ends, or --lag 0"
                ),
                false => why,
            })
        }
        one => one,
    }
}

/// The scenario with what came of it, if the promise breaks there.
fn taken(trial: &Arc<Trial>, mut scenario: Scenario, promise: &str) -> Result<(Scenario, Run), String> {
    let run = zk_simulator::run(trial, &scenario, 0, &RunOptions::default());
    if let Some(replay_error) = &run.replay_error {
        return Err(format!("{CANNOT_TAKE} {replay_error}"));
    }
    let Some(violation) = run.owed().find(|violation| violation.promise == promise) else {
        return Err(format!("the simulator takes every step of it, and {promise} does not break there"));
    };
    let one = scenario.run.as_mut().expect("it was given one");
    one.what = violation.what.clone();
    one.digest = format!("{:016x}", run.digest);
    one.build = build();
    Ok((scenario, run))
}

fn scenario(
    trial: &Arc<Trial>,
    config: &CheckConfig,
    promise: &str,
    example: &Counterexample,
    lag: u8,
) -> Scenario {
    let name = trial.about.name;
    let clients = config.bounds.clients;
    let script = Script {
        effects: config.effects || config.bounds.effects,
        lag,
        guids_fall: example.guids_fall,
        steps: example
            .script
            .iter()
            .map(|step| WrittenStep(with_own_guids(step, clients, example.guids_fall)))
            .collect(),
    };
    let one = OneRun { breaks: promise.into(), script: Some(script), ..OneRun::default() };
    Scenario {
        recipe: name.into(),
        about: format!("{name} breaks {promise}: a counterexample of the model, step by step."),
        clients: clients.into(),
        rounds: config.bounds.rounds,
        servers: 1,
        observers: if lag > 0 { clients.saturating_mul(connections(clients, example)) } else { 0 },
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

/// Guids in the paths of a step as they are in the simulator.
fn with_own_guids(step: &ScriptStep, clients: u8, fall: bool) -> ScriptStep {
    match step {
        ScriptStep::Delete(path) => ScriptStep::Delete(renamed(path, clients, fall)),
        ScriptStep::DeliverInOrder(p, names) => {
            ScriptStep::DeliverInOrder(*p, names.iter().map(|name| renamed(name, clients, fall)).collect())
        }
        ScriptStep::Set(path, data) => ScriptStep::Set(renamed(path, clients, fall), data.clone()),
        step => step.clone(),
    }
}

/// The same path with the simulator's guids for a model's, where they are words of their own.
fn renamed(path: &str, clients: u8, fall: bool) -> Text {
    let order = if fall { GuidOrder::Falling } else { GuidOrder::Rising };
    let own = |word: &str| {
        let lives = |process: u8| (0..=MOST_RESTARTS).map(move |life| (process, life));
        let actors = (0..clients).flat_map(lives);
        let actors = actors.map(|(process, life)| ActorId { process: process.into(), life, thread: 0 });
        let mut guids = actors.flat_map(|actor| (0..GUIDS).map(move |nth| (actor, nth)));
        guids.find(|(actor, nth)| *zk_model::symmetry::guid(*actor, *nth, fall) == *word)
    };
    let is_of_word = |c: char| c.is_ascii_alphanumeric();
    let words = path.split_inclusive(|c: char| !is_of_word(c)).map(|piece| {
        let (word, end) = piece.split_at(piece.trim_end_matches(|c: char| !is_of_word(c)).len());
        match own(word) {
            Some((actor, nth)) => format!("{}{end}", zk_simulator::guid(actor, nth, order)),
            None => piece.to_owned(),
        }
    });
    words.collect::<String>().into()
}

/// How many connections a client has at most.
fn connections(clients: u8, example: &Counterexample) -> u8 {
    let connects = |step: &&ScriptStep, p| {
        let again =
            [ScriptStep::Reconnect(p), ScriptStep::Begin(p), ScriptStep::Early(p), ScriptStep::Renew(p)];
        again.contains(step)
    };
    // Who begins its first life has the connection that all have.
    let late = late(&example.script);
    let again = |p| {
        let connects = example.script.iter().filter(|step| connects(step, p)).count();
        connects - usize::from(late.get(&p) == Some(&&ScriptStep::Begin(p)))
    };
    let most = (0..clients.into()).map(again).max().unwrap_or(0);
    u8::try_from(most + 1).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::default_config;
    use std::collections::BTreeSet;
    use std::time::Duration;
    use zk_api::{CreateMode, Data, SessionId, ZPath, ZooKeeper};
    use zk_harness::event::{End, Event, GroundTruth, Observation};
    use zk_harness::probe::Probe;
    use zk_harness::promise::{Finding, Promise, Rest, Terms, Violation};
    use zk_harness::trial::{Bounds, Role, Trial};
    use zk_model::Verdict;

    #[test]
    fn a_guid_is_renamed_where_it_is_a_word() {
        assert_eq!(&*renamed("/lock/p1g0-lock-0000000000", 2, false), "/lock/g01x00x1-lock-0000000000");
        assert_eq!(&*renamed("/lock/xp1g0/p1g0x/p2g0", 2, false), "/lock/xp1g0/p1g0x/p2g0");
        assert_eq!(&*renamed("/a-p0g11", 2, false), "/a-g00x00xc");
        assert_eq!(&*renamed("/a-p0l1g0", 2, false), "/a-g00x01x1");
    }

    /// The model and the simulator agree: whatever breaks there breaks here by the same steps, unless it takes a leader
    /// that is none any more.
    #[test]
    fn the_simulator_takes_every_counterexample_of_the_catalogue() {
        let (mut taken, mut lagging) = (0, Vec::new());
        for trial in zk_catalogue::trials() {
            let about = trial.about;
            let config = default_config(&about);
            if about.breaks.is_none() {
                continue;
            }
            let check = zk_model::check(trial.clone(), &config, &mut |_| {});
            let mut own = check.promises.iter().filter(|result| result.broken.is_some());
            assert!(own.all(|result| result.name != zk_model::model::HONEST_CHECKPOINTS), "{}", about.name);
            let Verdict::Violated { promise, .. } = &check.verdict else { continue };
            let broken = check.promises.iter().find(|result| result.name == promise);
            let example = broken.and_then(|result| result.broken.as_ref()).expect("it was broken");
            match export(&trial, &config, promise, example) {
                Ok((scenario, run)) => {
                    let again = zk_simulator::run(&trial, &scenario, 0, &RunOptions::default());
                    assert_eq!(again, run, "{}", about.name);
                    taken += 1;
                }
                Err(why) if config.bounds.lag > 0 => lagging.push((about.name, why)),
                Err(_) if promise == zk_model::model::NO_LIVELOCK => {}
                Err(why) => panic!("{}: {promise}: {why}", about.name),
            }
        }
        assert!(taken >= 79, "{taken}");
        let names: Vec<&str> = lagging.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["lock/behind-sync", "configuration/sync-asks-nobody"], "{lagging:?}");
        assert!(lagging.iter().all(|(_, why)| why.contains("a deposed leader answers")), "{lagging:?}");
    }

    /// What breaks where code begins before it has a session.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Hasty {
        /// A life that does.
        Life(u8),
        /// One whose client finds no server at first.
        FindsNoServer,
    }

    /// Nobody is that hasty.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct NobodyHasty;

    impl Promise for NobodyHasty {
        fn terms(&self) -> Terms {
            Terms::of("nobody-hasty").about("Nobody is hasty.")
        }

        fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
            if let Event::Observed { what: Observation::Notes { .. }, .. } = event {
                found.push(Finding::Broken(Violation::new("somebody is".into(), None)));
            }
        }
    }

    impl From<Hasty> for Trial {
        fn from(it: Hasty) -> Trial {
            Trial::new("hasty", move |zk, probe, role| it.actor(zk, probe, role))
                .summary("Begins before it has a session.")
                .promises(|| vec![Box::new(NobodyHasty)])
                .setup(["/hasty"])
        }
    }

    impl Hasty {
        async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
            let own = ZPath::parse(&format!("/hasty/{}-{}", role.me.process, role.me.life)).expect("a path");
            let none = zk.session() == SessionId::NONE;
            let made = zk.create(&own, Data::NULL, CreateMode::Persistent).await;
            let is_hasty = match self {
                Hasty::Life(life) => none && made.is_ok() && role.me.life == life,
                Hasty::FindsNoServer => {
                    let still_none = zk.session() == SessionId::NONE;
                    still_none && made.is_err() && zk.exists(&own).await == Ok(None)
                }
            };
            if is_hasty && zk.session() != SessionId::NONE {
                probe.observe(Observation::note(zk_harness::words::Word::own("is"), "hasty", 0));
            }
            // Who is done needs no other life.
            zk.sleep(Duration::from_secs(1)).await;
            End::Done
        }
    }

    /// In the model, processes had their sessions from the start once, and a script had no other beginning.
    #[test]
    fn the_simulator_takes_counterexamples_that_begin_without_a_session() {
        let of = |clients| Bounds::clients(clients);
        for (hasty, bounds) in [
            (Hasty::Life(0), of(2)),
            (Hasty::Life(0), Bounds { lag: 1, ..of(2) }),
            (Hasty::Life(1), Bounds { crashes: 1, restarts: 1, ..of(1) }),
            (Hasty::FindsNoServer, Bounds { drops: 1, ..of(1) }),
            (Hasty::FindsNoServer, Bounds { drops: 1, lag: 1, ..of(2) }),
        ] {
            let (trial, config): (Arc<Trial>, _) = (Arc::new(hasty.into()), CheckConfig::new(bounds));
            let check = zk_model::check(trial.clone(), &config, &mut |_| {});
            let broken = check.promises.iter().find(|result| result.name == "nobody-hasty");
            let example = broken.and_then(|result| result.broken.as_ref()).expect("it was broken");
            let taken = export(&trial, &config, "nobody-hasty", example);
            assert!(taken.is_ok(), "{hasty:?}, lag {}: {taken:?}", bounds.lag);
            let early = |step: &ScriptStep| matches!(step, ScriptStep::Early(_));
            assert_eq!(example.script.iter().filter(|step| early(step)).count(), 1, "{:?}", example.steps);
        }
    }

    /// Registers, and is done. Its client library opens a new session where the former has expired.
    #[derive(Clone)]
    struct Registers;

    /// Who is done is registered by the session that it has.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct AllRegistered(BTreeSet<ActorId>);

    impl Promise for AllRegistered {
        fn terms(&self) -> Terms {
            Terms::of("all-registered").about("At rest, who is done is registered.")
        }

        fn see(&mut self, event: &Event, _found: &mut Vec<Finding>) {
            if let Event::Is(GroundTruth::Finished { actor, end: End::Done }) = event {
                self.0.insert(*actor);
            }
        }
        fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
            let is_there = |session| rest.nodes.iter().any(|(_, owner)| owner == session);
            if rest.sessions.iter().any(|(session, actor)| self.0.contains(actor) && !is_there(session)) {
                found.push(Finding::Broken(Violation::new("somebody is not".into(), None)));
            }
        }
    }

    impl From<Registers> for Trial {
        fn from(_: Registers) -> Trial {
            async fn actor(zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, role: Role) -> End {
                let own = ZPath::parse(&format!("/all/{}", role.me.process)).expect("a path");
                let made = zk.create(&own, Data::NULL, CreateMode::Ephemeral).await;
                made.map_or_else(End::from, |_| End::Done)
            }
            Trial::new("registers", actor)
                .summary("Registers once.")
                .promises(|| vec![Box::<AllRegistered>::default()])
                .opts_out(&zk_harness::promises::STANDARD)
                .setup(["/all"])
                .renews_session()
        }
    }

    /// In the model, no session was renewed under code that has ended.
    #[test]
    fn the_simulator_renews_the_session_of_who_is_done_where_a_counterexample_does() {
        for bounds in [Bounds::clients(1), Bounds { lag: 1, ..Bounds::clients(2) }] {
            let trial: Arc<Trial> = Arc::new(Registers.into());
            let config = CheckConfig::new(Bounds { expiries: 1, ..bounds });
            let check = zk_model::check(trial.clone(), &config, &mut |_| {});
            let broken = check.promises.iter().find(|result| result.name == "all-registered");
            let example = broken.and_then(|result| result.broken.as_ref()).expect("it was broken");
            let taken = export(&trial, &config, "all-registered", example);
            assert!(taken.is_ok(), "{:?}: {taken:?}", example.steps);
        }
    }

    /// Who goes on does so behind all.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct AllArrive(BTreeSet<ActorId>);

    impl Promise for AllArrive {
        fn terms(&self) -> Terms {
            Terms::of("all-arrive").about("Who goes on does so behind both.")
        }

        fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
            let Event::Observed { actor, .. } = event else { return };
            if !self.0.insert(*actor) && self.0.len() < 2 {
                found.push(Finding::Broken(Violation::new("one is alone".into(), None)));
            }
        }
    }

    /// In the simulator its code began at once, and said that it was there.
    #[test]
    fn the_simulator_keeps_back_who_never_begins_in_a_counterexample() {
        let trial = Trial::new("alone", async |zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _| {
            for path in ["/alone", "/"] {
                probe.observe(Observation::note(zk_harness::words::Word::own("is"), "there", 0));
                let _ = zk.exists(&ZPath::parse(path).expect("a path")).await;
            }
            End::Done
        });
        let trial = Arc::new(trial.promises(|| vec![Box::<AllArrive>::default()]));
        for lag in [0, 1] {
            let config = CheckConfig::new(Bounds { lag, ..Bounds::clients(2) });
            let check = zk_model::check(trial.clone(), &config, &mut |_| {});
            let broken = check.promises.iter().find(|result| result.name == "all-arrive");
            let example = broken.and_then(|result| result.broken.as_ref()).expect("it was broken");
            let taken = export(&trial, &config, "all-arrive", example);
            assert!(taken.is_ok(), "{:?}: {taken:?}", example.steps);
            let why = export(&trial, &config, "no-failure", example).expect_err("that one is not broken");
            assert!(why.ends_with("no-failure does not break there"), "{why}");
        }
    }
}

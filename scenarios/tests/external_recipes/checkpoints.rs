//! Checkpoints in an external recipe: what they save, and what becomes of one that forgets a local.

use crate::external_recipes::judge::{about, broken, noted, path};
use std::sync::Arc;
use zk_recipes::Lock;
use zoocheck::api::{Data, ErrorCode, Local, Locals, ZooKeeper};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Catalogue, CheckConfig, CheckReport};

const ROOT: &str = "/tries";
const TRIES: i64 = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    None,
    Honest,
    /// Does not tell how often it has tried.
    Forgets,
}

/// Sets a znode if nobody else does at the same time, and gives up after so many tries.
#[derive(Clone)]
struct Tries(Edition);

impl Tries {
    async fn set(&self, zk: &impl ZooKeeper) -> End {
        let mut tries = 0;
        while tries < TRIES {
            match self.0 {
                Edition::None => {}
                Edition::Honest => zk.checkpoint("tries", &[Local::Number(tries)]),
                Edition::Forgets => zk.checkpoint("tries", &[]),
            }
            tries += 1;
            let Ok((_, stat)) = zk.data(&path(ROOT)).await else { return End::Failed };
            match zk.set_data(&path(ROOT), Data::NULL, stat.version()).await {
                Ok(_) => return End::Done,
                Err(error) if error.code == ErrorCode::BadVersion => {}
                Err(_) => return End::Failed,
            }
        }
        End::Failed
    }
}

impl From<Tries> for Trial {
    fn from(it: Tries) -> Trial {
        let code = it.clone();
        let about = { about("external-tries", "Gives up in the end.", Bounds::clients(3)) };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .promises(|| vec![Box::new(NobodyGivesUp)])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Tries {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        for _ in 0..role.rounds {
            let end = self.set(&zk).await;
            probe.observe(Observation::note(Word::own("ends"), ROOT, (end == End::Done).into()));
            if end != End::Done {
                return end;
            }
        }
        End::Done
    }
}

/// Nobody gives up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NobodyGivesUp;

impl Promise for NobodyGivesUp {
    fn terms(&self) -> Terms {
        Terms::of("nobody-gives-up").about("Nobody gives up.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((actor, "ends", _, 0)) => found.push(broken(format!("{actor} gives up"))),
            Some((_, "ends", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

/// Reads a setting, takes a lock, and then does as the setting said.
#[derive(Clone)]
struct Calls {
    /// The lock's checkpoints are told of the setting.
    tells: bool,
}

impl From<Calls> for Trial {
    fn from(it: Calls) -> Trial {
        let code = it.clone();
        let about =
            { about("external-calls", "Reads before it locks.", Bounds { drops: 1, ..Bounds::clients(2) }) };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::new(NobodyGivesUp)])
            .setup([ROOT, "/lock"]);
        trial.about = about;
        trial
    }
}

impl Calls {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _role: Role) -> End {
        let locals = Locals::default();
        let Ok((_, setting)) = zk.data(&path(ROOT)).await else { return End::Failed };
        let version = Local::Number(setting.version().into());
        if self.tells {
            locals.set(&[version]);
        }
        let mut lock = Lock::new(locals.told_by(zk.clone()), &path("/lock"), &probe.guid()).expect("a guid");
        let Ok(held) = lock.acquire().await else { return End::SessionLost };
        // What was set meanwhile is no error here.
        let _ = zk.set_data(&path(ROOT), Data::NULL, setting.version()).await;
        probe.observe(Observation::note(Word::own("ends"), ROOT, 1));
        let _ = held.release().await;
        End::Done
    }
}

/// A local that lives across a call of a recipe was taken for a lie of that recipe's, with no way to mend it.
#[test]
fn a_callers_locals_are_told_by_what_it_calls() {
    let checked = |tells| {
        let catalogue = Catalogue::empty().with(Calls { tells });
        let bounds = Bounds { drops: 1, ..Bounds::clients(2) };
        catalogue.check("external-calls", &CheckConfig::new(bounds)).expect("a check")
    };
    let forgets = checked(false);
    assert_eq!(forgets.promise.as_deref(), Some("honest-checkpoints"), "{forgets}");
    assert!(forgets.to_string().contains("its checkpoint \"line/"), "{forgets}");
    let tells = checked(true);
    assert_eq!(tells.promise, None, "{tells}");
}

fn checked(edition: Edition) -> CheckReport {
    let catalogue = Catalogue::empty().with(Tries(edition));
    catalogue.check("external-tries", &CheckConfig::new(Bounds::clients(3))).expect("a check")
}

#[test]
fn a_checkpoint_changes_no_verdict_and_merges_states() {
    let (with, without) = (checked(Edition::Honest), checked(Edition::None));
    for report in [&with, &without] {
        assert_eq!(report.promise.as_deref(), Some("nobody-gives-up"), "{report}");
    }
    assert_eq!(with.steps, without.steps);
    assert!(with.states < without.states, "{with}{without}");
}

#[test]
fn a_checkpoint_that_forgets_a_local_is_found_out() {
    let report = checked(Edition::Forgets);
    assert_eq!(report.promise.as_deref(), Some("honest-checkpoints"), "{report}");
    assert!(!report.steps.is_empty(), "{report}");
    println!("{report}");
}

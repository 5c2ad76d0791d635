//! What becomes of a process that is done, and of one that begins again.

use crate::external_recipes::judge::{Expected, about, broken, insist, judge, noted, passing, path, remove};
use std::sync::Arc;
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, ErrorCode, ZPath, ZooKeeper};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::promises::NoForeignDelete;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Catalogue, CheckConfig, Faults};

const ROOT: &str = "/beacon";
const VALUE: &str = "/beacon/value";

/// Process 0 publishes a value and is done. The others see it, and rely on it for a while.
#[derive(Clone)]
struct Beacon {
    mode: CreateMode,
    /// Its first life ends its own process when it has published.
    exits: bool,
}

/// What was seen is there for good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Stays;

impl Promise for Stays {
    fn terms(&self) -> Terms {
        Terms::of("stays").about("What was published is there for good.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((_, "still sees", ..)) => found.push(Finding::Tested),
            Some((actor, "misses", about, _)) => {
                found.push(broken(format!("{actor} misses {about}, which it has seen")));
            }
            _ => {}
        }
    }
}

impl Beacon {
    async fn role(&self, zk: &impl ZooKeeper, probe: &impl Probe, role: Role) -> Result<(), End> {
        let value = path(VALUE);
        if role.me.process == 0 {
            // An answer that was lost may have been that it is there.
            let _ = zk.create(&value, Data::NULL, self.mode).await;
            return if self.exits && role.me.life == 0 { Err(End::Exited) } else { Ok(()) };
        }
        loop {
            let (stat, watch) = insist(zk, || zk.exists_watch(&value)).await?;
            if stat.is_some() {
                break;
            }
            watch.await;
        }
        // Longer than a session lives in silence.
        zk.sleep(Duration::from_secs(20)).await;
        let stat = insist(zk, || zk.exists(&value)).await?;
        let what = if stat.is_some() { "still sees" } else { "misses" };
        probe.observe(Observation::note(Word::own(what), VALUE, 1));
        Ok(())
    }
}

impl From<Beacon> for Trial {
    fn from(it: Beacon) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds { expiries: 1, crashes: 1, ..Bounds::clients(2) };
            match it.mode {
                CreateMode::Persistent => about("external-beacon", "Publishes for good.", bounds),
                _ => {
                    about("external-beacon/ephemeral", "Publishes for as long as the session lives.", bounds)
                }
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::new(Stays)])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Beacon {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        self.role(&zk, &probe, role).await.err().unwrap_or(End::Done)
    }
}

fn expiries() -> Faults {
    Faults { expiries: 40, ..Faults::none() }
}

fn crashes() -> Faults {
    Faults { client_crashes: 40, ..Faults::none() }
}

/// A fault each, and only that one.
fn each_fault() -> [(Bounds, Faults); 3] {
    let bounds = Bounds::clients(2);
    [
        (Bounds { expiries: 1, ..bounds }, expiries()),
        (Bounds { crashes: 1, ..bounds }, crashes()),
        (Bounds { pauses: 1, ..bounds }, Faults { client_pauses: 40, ..Faults::none() }),
    ]
}

/// The process that has published is done by the time of the fault: the end of its session is the only thing that can
/// go wrong, and models spared it once.
#[test]
fn what_a_process_that_is_done_has_published_is_gone_with_its_session() {
    for (bounds, faults) in each_fault() {
        let expected = Expected::Wrong { promise: "stays", steps: 12 };
        judge(
            Beacon { mode: CreateMode::Ephemeral, exits: false },
            &CheckConfig::new(bounds),
            2,
            faults,
            &expected,
        );
    }
}

#[test]
fn what_is_published_for_good_survives_who_published_it() {
    for (bounds, faults) in each_fault() {
        let mode = CreateMode::Persistent;
        judge(Beacon { mode, exits: false }, &CheckConfig::new(bounds), 2, faults, &Expected::Right);
    }
}

/// As if it had crashed, and without a crash among the bounds or the faults.
#[test]
fn what_a_process_that_ends_itself_has_published_is_gone_with_its_session() {
    let wrong = Expected::Wrong { promise: "stays", steps: 12 };
    for (mode, expected) in [(CreateMode::Ephemeral, wrong), (CreateMode::Persistent, Expected::Right)] {
        let config = CheckConfig::new(Bounds::clients(2));
        judge(Beacon { mode, exits: true }, &config, 2, Faults::none(), &expected);
    }
}

const SEATS: &str = "/seats";

/// Each process has a seat of its name. One that comes back may find it taken: by the session of its former life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// It waits until that session has expired.
    Waits,
    /// It removes what it finds.
    Removes,
}

impl Seat {
    async fn sit(self, zk: &impl ZooKeeper, seat: &ZPath) -> Result<(), End> {
        loop {
            match zk.create(seat, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => return Ok(()),
                Err(error) if error.code == ErrorCode::NodeExists => match self {
                    Seat::Removes => remove(zk, seat).await?,
                    Seat::Waits => {
                        let (stat, watch) = insist(zk, || zk.exists_watch(seat)).await?;
                        match stat {
                            // A create whose answer was lost has made it.
                            Some(stat) if stat.ephemeral_owner() == zk.session() => return Ok(()),
                            Some(_) => drop(watch.await),
                            None => {}
                        }
                    }
                },
                Err(error) => passing(zk, error).await?,
            }
        }
    }

    async fn role(self, zk: &impl ZooKeeper, probe: &impl Probe, role: Role) -> Result<(), End> {
        let seat = path(&format!("{SEATS}/of-{}", role.me.process));
        for round in 0..role.rounds {
            self.sit(zk, &seat).await?;
            probe.observe(Observation::begins(Word::own("sits"), seat.as_str(), round.into()));
            probe.work().await;
            probe.observe(Observation::ends(Word::own("gets up"), seat.as_str(), round.into()));
            remove(zk, &seat).await?;
        }
        Ok(())
    }
}

impl From<Seat> for Trial {
    fn from(it: Seat) -> Trial {
        let about = {
            let bounds = Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) };
            match it {
                Seat::Waits => about("external-seat", "Waits for the end of its former life.", bounds),
                Seat::Removes => {
                    about("external-seat/removes", "Removes what its former life has left.", bounds)
                }
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| it.actor(zk, probe, role))
            .promises(|| vec![Box::new(NoForeignDelete::of(SEATS))])
            .setup([SEATS]);
        trial.about = about;
        trial
    }
}

impl Seat {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        (self).role(&zk, &probe, role).await.err().unwrap_or(End::Done)
    }
}

/// Models knew one life of each process once: nothing was wrong with a next life that deletes what it finds.
#[test]
fn a_next_life_that_removes_what_it_finds_removes_the_znode_of_another_session() {
    let bounds = Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) };
    let expected = Expected::Wrong { promise: "no-foreign-delete", steps: 9 };
    judge(Seat::Removes, &CheckConfig::new(bounds), 2, crashes(), &expected);
    // The same bounds with one life each.
    let catalogue = Catalogue::empty().with(Seat::Removes);
    let once = CheckConfig::new(Bounds { restarts: 0, ..bounds });
    let report = catalogue.check("external-seat/removes", &once).expect("a check");
    assert!(report.held(), "{report}");
}

#[test]
fn a_next_life_that_waits_for_the_end_of_the_former_removes_only_its_own() {
    for bounds in [
        Bounds { rounds: 2, crashes: 1, restarts: 1, ..Bounds::clients(2) },
        Bounds { expiries: 1, restarts: 1, lag: 1, ..Bounds::clients(2) },
        Bounds { crashes: 2, restarts: 2, ..Bounds::clients(1) },
    ] {
        let faults = Faults { expiries: 20, ..crashes() };
        judge(Seat::Waits, &CheckConfig::new(bounds), 2, faults, &Expected::Right);
    }
}

/// A deletion that is repeated as its answer was lost may be in flight when its process crashes, and arrive when the
/// next life has made the znode anew: what a former life has sent goes on beside the next one.
#[test]
fn what_a_former_life_has_sent_may_strike_the_next() {
    let bounds = Bounds { drops: 1, crashes: 1, restarts: 1, ..Bounds::clients(1) };
    let catalogue = Catalogue::empty().with(Seat::Waits);
    let report = catalogue.check("external-seat", &CheckConfig::new(bounds)).expect("a check");
    assert_eq!(report.promise.as_deref(), Some("no-foreign-delete"), "{report}");
    let without = CheckConfig::new(Bounds { drops: 0, ..bounds });
    assert!(catalogue.check("external-seat", &without).expect("a check").held());
}

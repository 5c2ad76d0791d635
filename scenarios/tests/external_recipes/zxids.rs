//! Code that looks at the numbers of zxids, where only their order is the same in every run.

use crate::external_recipes::judge::{Expected, about, broken, insist, judge, noted, passing, path};
use std::collections::BTreeSet;
use std::sync::Arc;
use zoocheck::api::{CreateMode, Data, ErrorCode, ZooKeeper, Zxid, open_acl};
use zoocheck::reports::Judgement;
use zoocheck::trials::event::{End, Event, Observation, Resource};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::promises::{ExclusionAtResource, STANDARD, TokensIncrease};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Catalogue, CheckConfig, Engine, Faults};

const ROOT: &str = "/zxids";
const OWN: &str = "/zxids/own";

/// What is done with a zxid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Its counter is somebody's id.
    CounterAsId,
    /// It is somebody's id, as a text.
    TextAsId,
    /// Its counter is a fencing token.
    CounterAsToken,
    /// It is a fencing token.
    Token,
    /// Two of one process must have one epoch.
    OneEpoch,
    /// The later one of two of one process must be the next one.
    NextOne,
    /// The later one of two of one process must be higher.
    HigherOne,
}

/// No two are given one id, and nobody says bad.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NobodySaysBad(BTreeSet<String>);

impl Promise for NobodySaysBad {
    fn terms(&self) -> Terms {
        Terms::of("nobody-says-bad").about("No two are given one id, and nobody says bad.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((_, "good", ..)) => found.push(Finding::Tested),
            Some((actor, "bad", what, _)) => found.push(broken(format!("{actor} says bad of {what}"))),
            Some((actor, "is called", id, _)) => found.push(match self.0.insert(id.to_owned()) {
                true => Finding::Tested,
                false => broken(format!("{actor} is called {id}, as another is")),
            }),
            _ => {}
        }
    }
}

impl Edition {
    fn bounds(self) -> Bounds {
        let effects = matches!(self, Edition::CounterAsToken | Edition::Token);
        Bounds { effects, ..Bounds::clients(2) }
    }
}

impl From<Edition> for Trial {
    fn from(it: Edition) -> Trial {
        let mut trial = Trial::new("external-zxids", move |zk, probe, role| it.actor(zk, probe, role))
            .opts_out(&STANDARD)
            .promises(move || match it.bounds().effects {
                true => {
                    vec![Box::new(ExclusionAtResource::fenced(ROOT)), Box::new(TokensIncrease::of(ROOT))]
                }
                false => vec![Box::<NobodySaysBad>::default()],
            })
            .setup([ROOT]);
        trial.about = about("external-zxids", "Makes something of a zxid.", it.bounds());
        trial
    }
}

impl Edition {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let done = match self {
            Edition::CounterAsId | Edition::TextAsId => self.is_called(&zk, &probe).await,
            Edition::CounterAsToken | Edition::Token => self.writes(&zk, &probe).await,
            Edition::OneEpoch | Edition::NextOne | Edition::HigherOne => {
                self.sets_twice(&zk, &probe, role.me.process).await
            }
        };
        done.err().unwrap_or(End::Done)
    }

    /// Makes a znode, whose czxid nobody else's has.
    async fn is_called(self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
        let own = path(&format!("{ROOT}/{}", probe.guid()));
        let czxid = loop {
            match zk.create2(&own, Data::NULL, open_acl(), CreateMode::Persistent).await {
                Ok((_, stat)) => break stat.czxid(),
                Err(error) if error.code == ErrorCode::NodeExists => {
                    break insist(zk, || zk.data(&own)).await?.1.czxid();
                }
                Err(error) => passing(zk, error).await?,
            }
        };
        let id = match self {
            Edition::CounterAsId => czxid.counter().to_string().into(),
            _ => czxid.to_text(),
        };
        probe.observe(Observation::note(Word::own("is called"), &id, 0));
        probe.work().await;
        Ok(())
    }

    /// Takes a simple lock, and writes to what it fences.
    async fn writes(self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
        let (own, lock) = (path(OWN), zoocheck::api::Text::from(ROOT));
        probe.observe(Observation::Attempts { lock: lock.clone() });
        let czxid = holds(zk).await?;
        let token = Some(match self {
            Edition::CounterAsToken => Zxid::new(0, czxid.counter()),
            _ => czxid,
        });
        probe.observe(Observation::Granted { lock: lock.clone(), node: own.text(), token });
        probe.observe(Observation::Enters { lock: lock.clone() });
        probe.write(Resource::Fenced, token).await;
        probe.work().await;
        probe.observe(Observation::Leaves { lock: lock.clone() });
        crate::external_recipes::judge::remove(zk, &own).await?;
        probe.observe(Observation::Released { lock });
        Ok(())
    }

    /// Sets its own znode twice, while another process fails to delete what is not there.
    async fn sets_twice(self, zk: &impl ZooKeeper, probe: &impl Probe, me: u16) -> Result<(), End> {
        if me > 0 {
            let _ = zk.delete(&path(OWN), -1).await;
            return Ok(());
        }
        let root = path(ROOT);
        let first = insist(zk, || zk.set_data(&root, Data::NULL, -1)).await?.mzxid();
        for _ in 0..4 {
            if self == Edition::OneEpoch {
                probe.work().await;
            }
        }
        let second = insist(zk, || zk.set_data(&root, Data::NULL, -1)).await?.mzxid();
        let good = match self {
            Edition::OneEpoch => first.epoch() == second.epoch(),
            Edition::NextOne => first.next() == second,
            _ => first < second,
        };
        let word = Word::own(if good { "good" } else { "bad" });
        probe.observe(Observation::note(word, "two zxids", 0));
        Ok(())
    }
}

/// Waits until it holds the lock; gives the czxid of its znode.
async fn holds(zk: &impl ZooKeeper) -> Result<Zxid, End> {
    let own = path(OWN);
    loop {
        match zk.create2(&own, Data::NULL, open_acl(), CreateMode::Ephemeral).await {
            Ok((_, stat)) => return Ok(stat.czxid()),
            Err(error) if error.code == ErrorCode::NodeExists => {}
            Err(error) => passing(zk, error).await?,
        }
        let (stat, watch) = insist(zk, || zk.exists_watch(&own)).await?;
        match stat {
            Some(stat) if stat.ephemeral_owner() == zk.session() => return Ok(stat.czxid()),
            Some(_) if watch.await.path.is_empty() => return Err(End::SessionLost),
            _ => {}
        }
    }
}

/// Each search says that it leaves out what the code looks at, and each of its seeds may be what it leaves out.
fn undecided(edition: Edition, faults: Faults, broken: &str) {
    let trial = Trial::from(edition);
    let name = trial.about.name;
    let catalogue = Catalogue::empty().with(trial);
    for engine in [Engine::Own, Engine::Stateright] {
        let config = CheckConfig { engine, ..CheckConfig::new(edition.bounds()) };
        let report = catalogue.check(name, &config).expect("a check");
        assert_eq!(report.verdict, Judgement::Undecided, "{report}");
        assert!(report.to_string().contains("code reads or hashes the number of a zxid"), "{report}");
    }
    let scenario = catalogue.scenario(name).expect("it is there");
    let scenario = zoocheck::Scenario { servers: 3, clients: 2, fault_seconds: 15, faults, ..scenario };
    let report = catalogue.sweep(&scenario, 0..400).expect("a sweep");
    assert!(report.broken().any(|promise| promise == broken), "{report}");
}

/// Leaders that crash again and again.
fn elections() -> Faults {
    Faults { leader_crashes: 20, ..Faults::none() }
}

fn right(edition: Edition) {
    judge(edition, &CheckConfig::new(edition.bounds()), 2, Faults::none(), &Expected::Right);
}

#[test]
fn a_counter_is_nobodys_id_and_a_whole_zxid_is() {
    undecided(Edition::CounterAsId, elections(), "nobody-says-bad");
    right(Edition::TextAsId);
}

#[test]
fn a_counter_is_no_fencing_token_and_a_whole_zxid_is() {
    undecided(Edition::CounterAsToken, elections(), "tokens-increase");
    right(Edition::Token);
}

#[test]
fn two_zxids_need_not_be_of_one_epoch() {
    undecided(Edition::OneEpoch, elections(), "nobody-says-bad");
}

/// Transactions that change nothing took no number, whoever counted them.
#[test]
fn what_changes_nothing_takes_a_number_as_well() {
    let wrong = Expected::Wrong { promise: "nobody-says-bad", steps: 12 };
    judge(Edition::NextOne, &CheckConfig::new(Bounds::clients(2)), 2, Faults::none(), &wrong);
    right(Edition::HigherOne);
}

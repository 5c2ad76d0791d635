//! Guids are texts of which nobody knows which is lower.

use crate::external_recipes::judge::{Expected, about, broken, drops, insist, judge, noted, passing, path};
use std::sync::Arc;
use zoocheck::CheckConfig;
use zoocheck::api::{CreateMode, Data, ErrorCode, Text, ZooKeeper};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Trial};
use zoocheck::trials::words::Word;

const NAMES: &str = "/names";

/// How a process finds what it made last among all that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finds {
    /// It is the highest name of its own.
    Highest,
    /// It is the lowest name of its own.
    Lowest,
    /// It has the name that it was given.
    ByName,
}

/// Whoever looks for what it made last finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct FindsTheLast;

impl Promise for FindsTheLast {
    fn terms(&self) -> Terms {
        Terms::of("finds-the-last").about("Whoever looks for what it made last finds it.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((_, "finds", _, 1)) => found.push(Finding::Tested),
            Some((actor, "finds", what, _)) => {
                found.push(broken(format!("{actor} takes {what} for its last")))
            }
            _ => {}
        }
    }
}

impl Finds {
    fn of(self, own: &[Text], all: &[Text]) -> Option<Text> {
        let mut own_of_all = all.iter().filter(|name| own.contains(name)).cloned();
        match self {
            Finds::Highest => own_of_all.max(),
            Finds::Lowest => own_of_all.min(),
            Finds::ByName => own_of_all.find(|name| Some(name) == own.last()),
        }
    }

    async fn part(self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
        let own = [probe.guid(), probe.guid()];
        for guid in &own {
            let member = path(&format!("{NAMES}/{guid}"));
            loop {
                match zk.create(&member, Data::NULL, CreateMode::Persistent).await {
                    Ok(_) => break,
                    Err(error) if error.code == ErrorCode::NodeExists => break,
                    Err(error) => passing(zk, error).await?,
                }
            }
        }
        let all = insist(zk, || zk.children(&path(NAMES))).await?;
        let is_last = self.of(&own, &all).as_ref() == own.last();
        probe.observe(Observation::note(Word::own("finds"), NAMES, is_last.into()));
        Ok(())
    }
}

fn trial(name: &'static str, finds: Finds) -> Trial {
    let part = move |zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _| async move {
        finds.part(&zk, &probe).await.err().unwrap_or(End::Done)
    };
    let mut trial = Trial::new(name, part)
        .opts_out(&zoocheck::trials::promises::STANDARD)
        .promises(|| vec![Box::<FindsTheLast>::default()])
        .setup([NAMES]);
    trial.about = about(name, "Makes two znodes, and looks for the second.", Bounds::clients(2));
    trial
}

/// Guids rose in the order in which they were given, in both engines, and no code that relied on it was wrong.
#[test]
fn who_takes_its_highest_guid_for_the_last_is_wrong() {
    let expected = Expected::Wrong { promise: "finds-the-last", steps: 12 };
    judge(
        trial("external-highest", Finds::Highest),
        &CheckConfig::new(Bounds::clients(1)),
        2,
        drops(),
        &expected,
    );
    judge(
        trial("external-lowest", Finds::Lowest),
        &CheckConfig::new(Bounds::clients(1)),
        2,
        drops(),
        &expected,
    );
}

#[test]
fn who_compares_guids_for_equality_alone_is_right() {
    let bounds = Bounds { drops: 1, ..Bounds::clients(2) };
    judge(trial("external-by-name", Finds::ByName), &CheckConfig::new(bounds), 2, drops(), &Expected::Right);
}

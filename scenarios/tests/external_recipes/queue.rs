//! A queue of persistent items.

use crate::external_recipes::judge::{
    Expected, about, broken, by_number, insist, judge, noted, passing, path, remove,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use zoocheck::api::{CreateMode, Data, ErrorCode, ZPath, ZooKeeper, sequence_of};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/queue";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Who deletes the item has it.
    Claims,
    /// Works on the first item, and deletes it then.
    NoClaim,
}

#[derive(Clone)]
struct Queue(Edition);

/// No item is taken twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct TakenOnce {
    taken: BTreeSet<i64>,
}

impl Promise for TakenOnce {
    fn terms(&self) -> Terms {
        Terms::of("taken-once").about("No item is taken twice.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some((actor, "takes", _, item)) = noted(event) {
            let is_new = self.taken.insert(item);
            let again = || broken(format!("{actor} takes item {item}, which was taken"));
            found.push(if is_new { Finding::Tested } else { again() });
        }
    }
}

impl Queue {
    /// Whether the item was this client's to take.
    async fn claims(&self, zk: &impl ZooKeeper, item: &ZPath) -> Result<bool, End> {
        match zk.delete(item, -1).await {
            Ok(()) => Ok(true),
            Err(error) if error.code == ErrorCode::NoNode => Ok(false),
            // It may have been this client's deletion; then nobody takes the item.
            Err(error) => passing(zk, error).await.map(|()| false),
        }
    }

    async fn turn(&self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
        let prefix = path("/queue/item-");
        if let Err(error) = zk.create(&prefix, Data::NULL, CreateMode::PersistentSequential).await {
            passing(zk, error).await?;
        }
        loop {
            let items = by_number(insist(zk, || zk.children(&path(ROOT))).await?);
            let Some(first) = items.first() else { return Ok(()) };
            let number = sequence_of(first).ok_or(End::Failed)?;
            let item = path(ROOT).join(first).expect("a child's name");
            if self.0 == Edition::Claims && !self.claims(zk, &item).await? {
                continue;
            }
            probe.observe(Observation::note(words::TAKES, ROOT, number.into()));
            probe.work().await;
            if self.0 == Edition::NoClaim {
                remove(zk, &item).await?;
            }
        }
    }
}

impl From<Queue> for Trial {
    fn from(it: Queue) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds::clients(2);
            match it.0 {
                Edition::Claims => about("external-queue", "Who deletes an item has it.", bounds),
                Edition::NoClaim => about("external-queue/no-claim", "Works first, deletes then.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .promises(|| vec![Box::new(TakenOnce::default())])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Queue {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        for _ in 0..role.rounds {
            if let Err(end) = self.turn(&zk, &probe).await {
                return end;
            }
        }
        End::Done
    }
}

#[test]
fn an_item_that_is_claimed_by_its_deletion_is_taken_once() {
    let bounds = Bounds { expiries: 1, drops: 1, ..Bounds::clients(2) };
    judge(Queue(Edition::Claims), &CheckConfig::new(bounds), 4, Faults::default(), &Expected::Right);
}

#[test]
fn an_item_that_nobody_claims_is_taken_twice() {
    let expected = Expected::Wrong { promise: "taken-once", steps: 14 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Queue(Edition::NoClaim), &config, 4, Faults::none(), &expected);
}

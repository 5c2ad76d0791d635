//! A counter that is added to by setData with the version that was read.

use crate::external_recipes::judge::{Expected, about, broken, drops, insist, judge, noted, passing, path};
use std::sync::Arc;
use zoocheck::api::{Data, ErrorCode, ZooKeeper};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/counter";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// The data is the list of all additions' names.
    Named,
    /// The data is the number, and a lost answer is taken for a lost request.
    Blind,
}

#[derive(Clone)]
struct Counter(Edition);

/// The counter is never more than the additions that were begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct CountedOnce {
    begun: i64,
}

impl Promise for CountedOnce {
    fn terms(&self) -> Terms {
        Terms::of("counted-once").about("The counter is never more than the additions that were begun.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((_, "adds", ..)) => self.begun += 1,
            Some((actor, "has added", _, count)) if count > self.begun => {
                let begun = self.begun;
                found.push(broken(format!("{actor} has counted to {count} with {begun} additions begun")));
            }
            Some((_, "has added", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

impl Counter {
    /// What the data is after one addition, and the count; `None` if the addition is in it already.
    fn added(&self, data: &[u8], name: &str) -> (Option<String>, i64) {
        let text = std::str::from_utf8(data).expect("text");
        match self.0 {
            Edition::Named => {
                let names: Vec<&str> = text.split_whitespace().collect();
                let count = names.len() as i64;
                match names.contains(&name) {
                    true => (None, count),
                    false => (Some(format!("{text} {name}")), count + 1),
                }
            }
            Edition::Blind => {
                let count = text.parse().unwrap_or(0_i64) + 1;
                (Some(count.to_string()), count)
            }
        }
    }

    async fn add(&self, zk: &impl ZooKeeper, name: &str) -> Result<i64, End> {
        loop {
            let (data, stat) = insist(zk, || zk.data(&path(ROOT))).await?;
            let (Some(text), count) = self.added(data.bytes(), name) else {
                return Ok(self.added(data.bytes(), name).1);
            };
            match zk.set_data(&path(ROOT), Data::from(text.as_str()), stat.version()).await {
                Ok(_) => return Ok(count),
                Err(error) if error.code == ErrorCode::BadVersion => {}
                Err(error) => passing(zk, error).await?,
            }
        }
    }
}

impl From<Counter> for Trial {
    fn from(it: Counter) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds { drops: 1, ..Bounds::clients(2) };
            match it.0 {
                Edition::Named => {
                    about("external-counter", "Each addition has its name in the data.", bounds)
                }
                Edition::Blind => about("external-counter/blind", "A lost answer is a lost request.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::new(CountedOnce::default())])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Counter {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        for _ in 0..role.rounds {
            probe.observe(Observation::note(words::ADDS, ROOT, 1));
            match self.add(&zk, &probe.guid()).await {
                Ok(count) => probe.observe(Observation::note(words::HAS_ADDED, ROOT, count)),
                Err(end) => return end,
            }
            probe.work().await;
        }
        End::Done
    }
}

#[test]
fn an_addition_with_a_name_is_counted_once() {
    let bounds = Bounds { expiries: 1, drops: 1, ..Bounds::clients(2) };
    judge(Counter(Edition::Named), &CheckConfig::new(bounds), 3, Faults::default(), &Expected::Right);
}

#[test]
fn an_addition_that_is_tried_again_blindly_is_counted_twice() {
    let expected = Expected::Wrong { promise: "counted-once", steps: 16 };
    let config = CheckConfig::new(Bounds { drops: 1, ..Bounds::clients(2) });
    judge(Counter(Edition::Blind), &config, 3, drops(), &expected);
}

//! A lock that many readers or one writer hold.

use crate::external_recipes::judge::{
    Expected, about, broken, by_number, dies, insist, judge, noted, path, remove,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zoocheck::api::{CreateMode, Data, ZPath, ZooKeeper};
use zoocheck::trials::event::{ActorId, End, Event, GroundTruth, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{AnyPromise, Finding, Promise, Rest, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::{self, Word};
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/shared";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Readers and writers in directories of their own; who finds another there gives up.
    Apart,
    /// The same, and who gives up leaves its znode behind.
    Leaves,
    /// One queue; a writer waits for all before it, a reader for the writers before it.
    Queue,
    /// One queue; a writer waits for the writers before it alone.
    WritersOnly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Access {
    Reads,
    Writes,
}

impl Access {
    fn note(self) -> &'static str {
        match self {
            Access::Reads => "reads",
            Access::Writes => "writes",
        }
    }
}

#[derive(Clone)]
struct Shared(Edition);

/// Who writes is alone, among those whose sessions live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct WritersAlone {
    dead: BTreeSet<ActorId>,
    inside: BTreeMap<ActorId, Access>,
}

impl WritersAlone {
    fn enters(&mut self, actor: ActorId, access: Access, found: &mut Vec<Finding>) {
        if self.dead.contains(&actor) {
            return;
        }
        let other =
            self.inside.iter().find(|(_, other)| access == Access::Writes || **other == Access::Writes);
        found.push(match other {
            Some((other, theirs)) => {
                broken(format!("{actor} {} while {other} {}", Word::own(access.note()), theirs.note()))
            }
            None => Finding::Tested,
        });
        self.inside.insert(actor, access);
    }
}

impl Promise for WritersAlone {
    fn terms(&self) -> Terms {
        Terms::of("writers-alone").about("Who writes is alone, among those whose sessions live.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(actor) = dies(event) {
            self.inside.remove(&actor);
            self.dead.insert(actor);
        }
        match noted(event) {
            Some((actor, "reads", ..)) => self.enters(actor, Access::Reads, found),
            Some((actor, "writes", ..)) => self.enters(actor, Access::Writes, found),
            Some((actor, "leaves", ..)) => {
                self.inside.remove(&actor);
            }
            _ => {}
        }
    }
}

/// At rest, no znode is left of who has come to an end, unless by an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NothingLeft {
    failed: BTreeSet<ActorId>,
}

impl Promise for NothingLeft {
    fn terms(&self) -> Terms {
        Terms::of("nothing-left").about("At rest, no znode is left of who has tried.")
    }

    fn see(&mut self, event: &Event, _: &mut Vec<Finding>) {
        if let Event::Is(GroundTruth::Finished { actor, end: End::Failed }) = event {
            self.failed.insert(*actor);
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let owner =
            |session| rest.sessions.iter().find(|(other, _)| *other == session).map(|(_, actor)| actor);
        let is_left = |(_, session): &&_| owner(*session).is_none_or(|actor| !self.failed.contains(actor));
        match rest.nodes.iter().find(is_left) {
            Some((node, _)) => found.push(broken(format!("{node} is left"))),
            None => found.push(Finding::Tested),
        }
    }
}

impl Shared {
    fn is_apart(&self) -> bool {
        matches!(self.0, Edition::Apart | Edition::Leaves)
    }

    /// Gives whether it was granted, and the own znode.
    async fn acquire(&self, zk: &impl ZooKeeper, access: Access, number: ZPath) -> Result<bool, End> {
        if self.is_apart() {
            let writers = insist(zk, || zk.children(&path("/shared/write"))).await?;
            let readers = insist(zk, || zk.children(&path("/shared/read"))).await?;
            return Ok(match access {
                Access::Reads => writers.is_empty(),
                Access::Writes => writers.len() == 1 && readers.is_empty(),
            });
        }
        let any = access == Access::Writes && self.0 == Edition::Queue;
        loop {
            let names = by_number(insist(zk, || zk.children(&path(ROOT))).await?);
            let mine = names.iter().position(|name| **name == *number.name()).ok_or(End::Failed)?;
            let before = names[..mine].iter().rfind(|name| any || name.starts_with("write-"));
            let Some(before) = before else { return Ok(true) };
            let before = path(ROOT).join(before).expect("a child's name");
            let (stat, watch) = insist(zk, || zk.exists_watch(&before)).await?;
            if stat.is_some() {
                watch.await;
            }
        }
    }

    async fn turn(&self, zk: &impl ZooKeeper, probe: &impl Probe, access: Access) -> Result<(), End> {
        let prefix = match (self.is_apart(), access) {
            (true, Access::Reads) => path("/shared/read/read-"),
            (true, Access::Writes) => path("/shared/write/write-"),
            (false, Access::Reads) => path("/shared/read-"),
            (false, Access::Writes) => path("/shared/write-"),
        };
        // Whoever cannot know whether it has a znode ends, as these recipes have no guid.
        let mine = match zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(mine) => path(&mine),
            Err(error) if error.is_session_over() => return Err(End::SessionLost),
            Err(_) => return Err(End::Failed),
        };
        if self.acquire(zk, access, mine.clone()).await? {
            probe.observe(Observation::note(Word::own(access.note()), ROOT, 0));
            probe.work().await;
            probe.observe(Observation::note(words::LEAVES, ROOT, 0));
        } else if self.0 == Edition::Leaves {
            return Ok(());
        }
        remove(zk, &mine).await
    }
}

impl From<Shared> for Trial {
    fn from(it: Shared) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds::clients(2);
            match it.0 {
                Edition::Apart => about("external-shared/apart", "Two directories.", bounds),
                Edition::Leaves => about("external-shared/leaves", "Leaves its znode behind.", bounds),
                Edition::Queue => about("external-shared", "One queue.", bounds),
                Edition::WritersOnly => about("external-shared/writers-only", "Writers see writers.", bounds),
            }
        };
        let setup = {
            match it.0 {
                Edition::Apart | Edition::Leaves => {
                    vec![ROOT.into(), "/shared/read".into(), "/shared/write".into()]
                }
                Edition::Queue | Edition::WritersOnly => vec![ROOT.into()],
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises({
                let it = it.clone();
                move || {
                    let mut promises: Vec<Box<dyn AnyPromise>> = vec![Box::new(WritersAlone::default())];
                    // In a queue without a guid, a znode whose create was not answered holds up who comes behind it.
                    if it.is_apart() {
                        promises.push(Box::new(NothingLeft::default()));
                    }
                    promises
                }
            });
        trial.about = about;
        trial.setup = setup;
        trial
    }
}

impl Shared {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let access = if role.me.process.is_multiple_of(2) { Access::Writes } else { Access::Reads };
        for _ in 0..role.rounds {
            if let Err(end) = self.turn(&zk, &probe, access).await {
                return end;
            }
        }
        End::Done
    }
}

#[test]
fn readers_and_writers_in_two_directories_exclude_each_other() {
    let bounds = Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(2) };
    judge(Shared(Edition::Apart), &CheckConfig::new(bounds), 4, Faults::default(), &Expected::Right);
}

#[test]
fn readers_and_writers_in_one_queue_exclude_each_other() {
    let bounds = Bounds { expiries: 1, drops: 1, ..Bounds::clients(2) };
    judge(Shared(Edition::Queue), &CheckConfig::new(bounds), 4, Faults::default(), &Expected::Right);
}

#[test]
fn a_writer_that_waits_for_writers_alone_enters_over_a_reader() {
    let expected = Expected::Wrong { promise: "writers-alone", steps: 10 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Shared(Edition::WritersOnly), &config, 4, Faults::none(), &expected);
}

#[test]
fn who_gives_up_and_leaves_his_znode_is_found_out() {
    let expected = Expected::Wrong { promise: "nothing-left", steps: 16 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Shared(Edition::Leaves), &config, 4, Faults::none(), &expected);
}

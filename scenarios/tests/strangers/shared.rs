//! A lock that many readers or one writer hold.

use crate::judge::{Expected, about, broken, by_number, dies, insist, judge, noted, path, remove};
use std::collections::{BTreeMap, BTreeSet};
use zoocheck::api::{CreateMode, Data, Text, ZPath, ZooKeeper};
use zoocheck::trials::event::{ActorId, End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{AnyPromise, Finding, Promise};
use zoocheck::trials::trial::{About, Bounds, Part, Trial};
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/shared";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Readers and writers in directories of their own; who finds another there gives up.
    Apart,
    /// One queue; a writer waits for all before it, a reader for the writers before it.
    Queue,
    /// One queue; a writer waits for the writers before it alone.
    WritersOnly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Role {
    Reads,
    Writes,
}

struct Shared(Edition);

/// Who writes is alone, among those whose sessions live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct WritersAlone {
    dead: BTreeSet<ActorId>,
    inside: BTreeMap<ActorId, Role>,
}

impl WritersAlone {
    fn enters(&mut self, actor: ActorId, role: Role, found: &mut Vec<Finding>) {
        if self.dead.contains(&actor) {
            return;
        }
        let other = self.inside.iter().find(|(_, other)| role == Role::Writes || **other == Role::Writes);
        found.push(match other {
            Some((other, theirs)) => broken(format!("{actor} {role:?} while {other} {theirs:?}")),
            None => Finding::Tested,
        });
        self.inside.insert(actor, role);
    }
}

impl Promise for WritersAlone {
    fn name(&self) -> &'static str {
        "writers-alone"
    }

    fn about(&self) -> &'static str {
        "Who writes is alone, among those whose sessions live."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(actor) = dies(event) {
            self.inside.remove(&actor);
            self.dead.insert(actor);
        }
        match noted(event) {
            Some((actor, "reads", ..)) => self.enters(actor, Role::Reads, found),
            Some((actor, "writes", ..)) => self.enters(actor, Role::Writes, found),
            Some((actor, "leaves", ..)) => {
                self.inside.remove(&actor);
            }
            _ => {}
        }
    }
}

impl Shared {
    /// Gives whether it was granted, and the own znode.
    async fn acquire(&self, zk: &impl ZooKeeper, role: Role, number: ZPath) -> Result<bool, End> {
        if self.0 == Edition::Apart {
            let writers = insist(zk, || zk.children(&path("/shared/write"))).await?;
            let readers = insist(zk, || zk.children(&path("/shared/read"))).await?;
            return Ok(match role {
                Role::Reads => writers.is_empty(),
                Role::Writes => writers.len() == 1 && readers.is_empty(),
            });
        }
        let any = role == Role::Writes && self.0 == Edition::Queue;
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

    async fn turn(&self, zk: &impl ZooKeeper, probe: &impl Probe, role: Role) -> Result<(), End> {
        let prefix = match (self.0, role) {
            (Edition::Apart, Role::Reads) => "/shared/read/",
            (Edition::Apart, Role::Writes) => "/shared/write/",
            (_, Role::Reads) => "/shared/",
            (_, Role::Writes) => "/shared/",
        };
        let kind = if role == Role::Reads { "read-" } else { "write-" };
        let prefix = path(&format!("{prefix}{kind}"));
        // Whoever cannot know whether it has a znode ends, as these recipes have no guid.
        let mine = match zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(mine) => path(&mine),
            Err(error) if error.is_session_over() => return Err(End::SessionLost),
            Err(_) => return Err(End::Failed),
        };
        if self.acquire(zk, role, mine.clone()).await? {
            probe.observe(Observation::note(if role == Role::Reads { "reads" } else { "writes" }, ROOT, 0));
            probe.work().await;
            probe.observe(Observation::note("leaves", ROOT, 0));
        }
        remove(zk, &mine).await
    }
}

impl Trial for Shared {
    fn about(&self) -> About {
        let bounds = Bounds::clients(2);
        match self.0 {
            Edition::Apart => about("stranger-shared/apart", "Two directories.", bounds),
            Edition::Queue => about("stranger-shared", "One queue.", bounds),
            Edition::WritersOnly => about("stranger-shared/writers-only", "Writers see writers.", bounds),
        }
    }

    fn setup(&self) -> Vec<Text> {
        match self.0 {
            Edition::Apart => vec![ROOT.into(), "/shared/read".into(), "/shared/write".into()],
            Edition::Queue | Edition::WritersOnly => vec![ROOT.into()],
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(WritersAlone::default())]
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let role = if part.me.process.is_multiple_of(2) { Role::Writes } else { Role::Reads };
        for _ in 0..part.rounds {
            if let Err(end) = self.turn(&zk, &probe, role).await {
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

//! Leader election: each candidate watches the one before it.

use crate::external_recipes::judge::{
    Expected, about, broken, by_number, dies, drops, insist, judge, noted, passing, path, remove,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use zoocheck::api::{CreateMode, Data, Text, ZPath, ZooKeeper};
use zoocheck::trials::event::{ActorId, End, Event, GroundTruth, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Assumption, Finding, Promise, Rest, Terms, Violation};
use zoocheck::trials::promises::OneWokenPerDeletion;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/election";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    Right,
    /// Looks whether it leads only when its watch has told something.
    NeverLooks,
    /// Waits for its predecessor even if that is gone already.
    WatchesTheGone,
    /// After a lost answer it stands again without a look.
    StandsTwice,
    /// All watch the one who leads.
    Herd,
    /// Takes the least name for the first, guid and all.
    ByName,
}

#[derive(Clone)]
struct Election(Edition);

/// Two whose sessions live never both lead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct OneLeader {
    dead: BTreeSet<ActorId>,
    leads: BTreeSet<ActorId>,
}

impl Promise for OneLeader {
    fn terms(&self) -> Terms {
        Terms::of("one-leader").about("Two whose sessions live never both lead.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(actor) = dies(event) {
            self.leads.remove(&actor);
            self.dead.insert(actor);
        }
        match noted(event) {
            Some((actor, "leads", ..)) if !self.dead.contains(&actor) => {
                match self.leads.first() {
                    Some(other) => found.push(broken(format!("{actor} leads while {other} leads"))),
                    None => found.push(Finding::Tested),
                }
                self.leads.insert(actor);
            }
            Some((actor, "resigns", ..)) => {
                self.leads.remove(&actor);
            }
            _ => {}
        }
    }
}

/// Two never both believe that they lead, as long as nobody acts after the end of his session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct OneBelieves {
    dead: BTreeSet<ActorId>,
    believes: BTreeSet<ActorId>,
}

impl Promise for OneBelieves {
    fn terms(&self) -> Terms {
        Terms::of("one-believes")
            .about("Two never both believe that they lead.")
            .assumes(&[Assumption::NoActionAfterSessionEnd])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::SessionClosed { actor, .. }) => {
                self.dead.insert(*actor);
            }
            Event::Is(GroundTruth::Crashed { actor } | GroundTruth::Finished { actor, .. }) => {
                self.believes.remove(actor);
            }
            _ => {}
        }
        match noted(event) {
            Some((actor, "leads", ..)) => {
                // Against one who lives no assumption is violated.
                let other = self.believes.iter().min_by_key(|other| self.dead.contains(other));
                found.push(match other {
                    Some(other) => {
                        let is_late = self.dead.contains(&actor) || self.dead.contains(other);
                        let violated_assumption = is_late.then_some(Assumption::NoActionAfterSessionEnd);
                        let what = format!("{actor} leads while {other} believes that it does");
                        Finding::Broken(Violation::new(what, violated_assumption))
                    }
                    None => Finding::Tested,
                });
                self.believes.insert(actor);
            }
            Some((actor, "resigns", ..)) => {
                self.believes.remove(&actor);
            }
            _ => {}
        }
    }
}

/// Where somebody stands, somebody leads in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct SomebodyLeads;

impl Promise for SomebodyLeads {
    fn terms(&self) -> Terms {
        Terms::of("somebody-leads").about("At rest, nobody stands who does not come to lead.")
    }

    fn see(&mut self, _: &Event, _: &mut Vec<Finding>) {}

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        match rest.unfinished.first() {
            Some(actor) => found.push(broken(format!("{actor} stands, and nobody leads"))),
            None => found.push(Finding::Tested),
        }
    }
}

struct Candidate<'a, Z> {
    zk: &'a Z,
    guid: Text,
    edition: Edition,
}

impl<Z: ZooKeeper> Candidate<'_, Z> {
    fn child(&self, name: &str) -> ZPath {
        path(ROOT).join(name).expect("a child's name")
    }

    /// The candidates in order. What an old connection still carries has come by then.
    async fn list(&self) -> Result<Vec<Text>, End> {
        insist(self.zk, || self.zk.sync(&path(ROOT))).await?;
        let mut names = insist(self.zk, || self.zk.children(&path(ROOT))).await?;
        if self.edition == Edition::ByName {
            names.sort();
            return Ok(names);
        }
        Ok(by_number(names))
    }

    fn is_mine(&self, name: &str) -> bool {
        name.starts_with(&*self.guid)
    }

    async fn stand(&self) -> Result<(), End> {
        let prefix = self.child(&format!("{}-n-", self.guid));
        while let Err(error) = self.zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            passing(self.zk, error).await?;
            if self.edition == Edition::StandsTwice {
                continue;
            }
            if self.list().await?.iter().any(|name| self.is_mine(name)) {
                break;
            }
        }
        Ok(())
    }

    /// Returns when it leads.
    async fn wait(&self) -> Result<(), End> {
        let mut told = self.edition != Edition::NeverLooks;
        loop {
            let names = self.list().await?;
            let is_mine = |name: &Text| self.is_mine(name);
            // Who does not know of its first znode counts with its last.
            let mine = match self.edition {
                Edition::StandsTwice => names.iter().rposition(is_mine),
                _ => names.iter().position(is_mine),
            };
            let mine = mine.ok_or(End::Failed)?;
            match mine.checked_sub(1) {
                None if told => return Ok(()),
                None => std::future::pending().await,
                Some(before) => {
                    let before = if self.edition == Edition::Herd { 0 } else { before };
                    let before = self.child(&names[before]);
                    let (stat, watch) = insist(self.zk, || self.zk.exists_watch(&before)).await?;
                    if stat.is_some() || self.edition == Edition::WatchesTheGone {
                        watch.await;
                        told = true;
                    }
                }
            }
        }
    }

    async fn withdraw(&self) -> Result<(), End> {
        for name in self.list().await?.iter().filter(|name| self.is_mine(name)) {
            remove(self.zk, &self.child(name)).await?;
        }
        Ok(())
    }
}

impl Election {
    async fn turn(&self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
        let candidate = Candidate { zk, guid: probe.guid(), edition: self.0 };
        candidate.stand().await?;
        candidate.wait().await?;
        probe.observe(Observation::note(Word::own("leads"), ROOT, 0));
        probe.work().await;
        probe.observe(Observation::note(Word::own("resigns"), ROOT, 0));
        candidate.withdraw().await
    }
}

impl From<Election> for Trial {
    fn from(it: Election) -> Trial {
        let code = it.clone();
        let about = {
            let bounds = Bounds::clients(2);
            match it.0 {
                Edition::Right => about("external-election", "Each watches the one before it.", bounds),
                Edition::NeverLooks => {
                    about("external-election/never-looks", "The first never looks.", bounds)
                }
                Edition::WatchesTheGone => about("external-election/gone", "Waits for the gone.", bounds),
                Edition::StandsTwice => about("external-election/twice", "Stands again blindly.", bounds),
                Edition::Herd => about("external-election/herd", "All watch the leader.", bounds),
                Edition::ByName => about("external-election/by-name", "The least name leads.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| {
                vec![
                    Box::new(OneLeader::default()),
                    Box::new(OneBelieves::default()),
                    Box::new(SomebodyLeads),
                    Box::new(OneWokenPerDeletion::of(ROOT)),
                ]
            })
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Election {
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
fn an_election_that_watches_its_predecessor_has_one_leader() {
    let bounds = Bounds { expiries: 1, drops: 1, ..Bounds::clients(2) };
    let expected = Expected::RightBut { promise: "one-believes" };
    judge(Election(Edition::Right), &CheckConfig::new(bounds), 3, Faults::default(), &expected);
}

#[test]
fn an_election_whose_first_candidate_never_looks_has_no_leader() {
    let expected = Expected::Wrong { promise: "somebody-leads", steps: 14 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Election(Edition::NeverLooks), &config, 3, Faults::none(), &expected);
}

#[test]
fn an_election_by_the_least_name_has_two_leaders() {
    let expected = Expected::Wrong { promise: "one-leader", steps: 16 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Election(Edition::ByName), &config, 3, Faults::none(), &expected);
}

#[test]
fn an_election_that_waits_for_the_gone_has_no_leader() {
    let expected = Expected::Wrong { promise: "somebody-leads", steps: 22 };
    let config = CheckConfig::new(Bounds::clients(2));
    judge(Election(Edition::WatchesTheGone), &config, 3, Faults::none(), &expected);
}

#[test]
fn a_candidate_that_stands_twice_waits_for_itself() {
    let expected = Expected::Wrong { promise: "somebody-leads", steps: 22 };
    let config = CheckConfig::new(Bounds { drops: 1, ..Bounds::clients(2) });
    judge(Election(Edition::StandsTwice), &config, 3, drops(), &expected);
}

#[test]
fn an_election_where_all_watch_the_leader_is_a_herd() {
    let expected = Expected::Wrong { promise: "one-woken-per-deletion", steps: 30 };
    let config = CheckConfig::new(Bounds::clients(3));
    judge(Election(Edition::Herd), &config, 4, Faults::none(), &expected);
}

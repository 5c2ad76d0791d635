//! `exclusion-among-live-sessions` and `at-most-n-hold`.

use super::findings::broken;
use crate::context::{SessionTracker, below};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Terms};
use crate::standing::Standing;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text, sequence_of};

/// At most one actor with a live session believes that it holds the lock, unless all that do share it.
///
/// What an actor says after its session was closed, or after it crashed, does not count. Who held the lock, and makes
/// in its next session the very znode of the line that went with the former one, holds it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExclusionAmongLiveSessions {
    lock: &'static str,
    tracker: SessionTracker,
    /// The ephemeral znodes below the lock that have a number, and whose they are.
    line: BTreeMap<Text, SessionId>,
    /// How those stand, and by which of these znodes, whose sessions have ended, and who have not asked anew or been
    /// done since.
    outlived: BTreeMap<ActorId, (Standing, BTreeSet<Text>)>,
    /// How those had it who have told of its release in the section that they have not left, and who has had it since.
    released: BTreeMap<ActorId, (Standing, Option<ActorId>)>,
}

impl ExclusionAmongLiveSessions {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        ExclusionAmongLiveSessions::of_permits(lock, 1)
    }

    /// For a semaphore: `at-most-n-hold`, unless it has one permit. Whoever says that it holds or shares it has one.
    pub fn of_permits(semaphore: &'static str, permits: usize) -> Self {
        let (line, outlived, released) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut tracker = SessionTracker::of(semaphore);
        tracker.permits = permits;
        ExclusionAmongLiveSessions { lock: semaphore, tracker, line, outlived, released }
    }

    /// Takes note of what has happened; gives who has the lock again.
    fn takes_again(&mut self, truth: &GroundTruth) -> Vec<(ActorId, Standing)> {
        match truth {
            GroundTruth::NodeCreated { path, by, owner, .. }
                if by == owner && below(self.lock, path) && sequence_of(path).is_some() =>
            {
                self.line.insert(path.clone(), *owner);
                let process = self.tracker.live.get(owner);
                let is_its = |other: &ActorId, nodes: &BTreeSet<Text>| {
                    Some(&other.main()) == process && nodes.contains(path)
                };
                let again = self
                    .outlived
                    .iter()
                    .filter(|(other, (how, nodes))| *how != Standing::Waits && is_its(other, nodes));
                again.map(|(other, (how, _))| (*other, *how)).collect()
            }
            GroundTruth::NodeDeleted { path, .. } => {
                self.line.remove(path);
                Vec::new()
            }
            GroundTruth::Crashed { actor } => {
                self.outlived.retain(|other, _| other.main() != *actor);
                self.released.retain(|other, _| other.main() != *actor);
                Vec::new()
            }
            GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor } => {
                self.outlived.remove(actor);
                self.released.remove(actor);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A session has ended, whose znodes go with it. These have stood so before.
    fn outlives(&mut self, session: SessionId, stood: BTreeMap<ActorId, Standing>) {
        let nodes: BTreeSet<_> =
            self.line.iter().filter(|(_, owner)| **owner == session).map(|(path, _)| path.clone()).collect();
        if !nodes.is_empty() {
            let those = stood.into_iter().filter(|(actor, _)| self.tracker.standing.get(*actor).is_none());
            self.outlived.extend(those.map(|(actor, how)| (actor, (how, nodes.clone()))));
        }
    }

    /// Who has outlived its session may learn only now that it was granted it.
    fn tells(&mut self, actor: ActorId, what: &Observation) {
        let Some((how, _)) = self.outlived.get_mut(&actor) else { return };
        match what {
            Observation::Granted { .. } => *how = Standing::Holds,
            Observation::Shares { .. } => *how = Standing::Shares,
            Observation::Enters { .. } if *how == Standing::Waits => *how = Standing::Holds,
            Observation::Enters { .. }
            | Observation::Notes { .. }
            | Observation::Begins { .. }
            | Observation::Ends { .. } => {}
            Observation::Attempts { .. }
            | Observation::Leaves { .. }
            | Observation::Released { .. }
            | Observation::GivesUp { .. } => drop(self.outlived.remove(&actor)),
        }
    }

    /// Whoever leaves now was inside all the time, though it may have told of the release before, of what it had not
    /// lost.
    fn leaves(
        &mut self,
        actor: ActorId,
        what: &Observation,
        inside: Option<Standing>,
        found: &mut Vec<Finding>,
    ) {
        let released = self.released.remove(&actor);
        match (what, released) {
            (Observation::Leaves { .. }, Some((_, Some(next)))) => {
                let what = format!(
                    "{actor} was inside {} until it left, and {next} has had it meanwhile",
                    self.lock
                );
                found.push(broken(what, None));
            }
            (Observation::Released { .. }, _) if !self.tracker.lost_a_znode(actor.main()) => {
                self.released.extend(inside.map(|how| (actor, (how, None))));
            }
            _ => {}
        }
    }

    /// It holds it, alone or as one of several.
    fn holds(&mut self, actor: ActorId, how: Standing, found: &mut Vec<Finding>) {
        let permits = self.tracker.permits;
        for (other, (had, next)) in &mut self.released {
            let contradicts = permits == 1 && (*had == Standing::Holds || how == Standing::Holds);
            if contradicts && *other != actor {
                next.get_or_insert(actor);
            }
        }
        let others = || self.tracker.standing.iter().filter(|(other, _)| *other != actor);
        let against = |standing: Standing| match standing {
            Standing::Waits => false,
            Standing::Shares => how == Standing::Holds || permits > 1,
            Standing::Holds => true,
        };
        let holders: Vec<_> =
            others().filter(|(_, standing)| against(*standing)).map(|(other, _)| other).collect();
        if holders.len() >= permits {
            // Holders that have lost nothing to an administrator leave no violated assumption but the newcomer's.
            let has_lost = |other: &ActorId| self.tracker.lost_its_claim(*other);
            let rightful = holders.iter().filter(|other| !has_lost(other)).count();
            let is_his = has_lost(&actor) || rightful < permits;
            let what = self.too_many(actor, &holders);
            found.push(broken(what, is_his.then_some(Assumption::NoAdministrator)));
        } else if (how == Standing::Holds || permits > 1) && others().count() >= permits {
            // Those who share a lock do not exclude each other.
            found.push(Finding::Tested);
        }
    }

    /// How it is said that one holds it beside these.
    fn too_many(&self, actor: ActorId, holders: &[ActorId]) -> String {
        let (lock, permits) = (self.lock, self.tracker.permits);
        if permits > 1 {
            let names: Vec<_> = holders.iter().map(ActorId::to_string).collect();
            let (last, before) = names.split_last().expect("there are as many as permits");
            let before = before.join(", ");
            return format!(
                "{actor} holds {lock}, which {permits} may hold at a time, while {before} and {last} still hold it"
            );
        }
        let word = |actor: &ActorId| match self.tracker.standing.get(*actor) {
            Some(Standing::Shares) => "shares",
            Some(Standing::Holds | Standing::Waits) | None => "holds",
        };
        let other =
            holders.iter().max_by_key(|other| !self.tracker.lost_its_claim(**other)).expect("there is one");
        format!("{actor} {} {lock} while {other} still {} it", word(&actor), word(other))
    }
}

impl Promise for ExclusionAmongLiveSessions {
    fn terms(&self) -> Terms {
        let terms = match self.tracker.permits {
            1 => Terms::of("exclusion-among-live-sessions")
                .about("At most one actor whose session lives believes that it holds the lock, or only such as share it.")
                .tested_when("Somebody is granted the lock, alone, while another asks for it or has it."),
            _ => Terms::of("at-most-n-hold")
                .about("No more actors whose sessions live believe at a time that they hold it than it has permits.")
                .tested_when("Somebody is granted a permit while as many others as there are permits ask for one or have one."),
        };
        terms
            .assumes(&[Assumption::NoAdministrator])
            // What it hears is what actors believe. Two who hold at a time, and whose sessions live on after that, had
            // live sessions then.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let (actor, what) = match event {
            Event::Observed { actor, what } => (actor, what),
            Event::Is(GroundTruth::SessionClosed { session, actor, expired }) => {
                let stood = self.tracker.standing.iter().collect();
                self.released.retain(|other, _| !expired || other.main() != *actor);
                self.tracker.see(event);
                return self.outlives(*session, stood);
            }
            Event::Is(truth) => {
                self.tracker.see(event);
                for (actor, how) in self.takes_again(truth) {
                    self.outlived.remove(&actor);
                    self.tracker.standing.insert(actor, how);
                    self.holds(actor, how, found);
                }
                return;
            }
        };
        let (before, inside) = (self.tracker.standing.get(*actor), self.tracker.standing.inside(*actor));
        self.tracker.see(event);
        if **what.subject() == *self.lock && what.told().is_none() {
            self.tells(*actor, what);
            let stays = self.tracker.standing.get(*actor).is_some();
            self.leaves(*actor, what, inside.filter(|_| !stays), found);
        }
        match (before, self.tracker.standing.get(*actor)) {
            // Less than before is no news for others.
            (_, None | Some(Standing::Waits)) | (Some(Standing::Holds), _) => {}
            (before, Some(how)) if before == Some(how) => {}
            (_, Some(how)) => self.holds(*actor, how, found),
        }
    }
}

#[cfg(test)]
mod tests;

//! `no-second-znode`.

use super::findings::broken;
use crate::context;
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use zk_api::{SessionId, Text, sequence_of};

/// No session makes a sequential ephemeral znode while it has another whose name differs only in the number: a create
/// whose answer was lost is not repeated before it is looked up. A name that ends in ten digits is taken for
/// sequential, unless a persistent znode has had it elsewhere: then it is named after that, as a claim is after its
/// item. A recipe that chooses such names itself opts out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoSecondZnode {
    sessions: BTreeMap<SessionId, ActorId>,
    /// How many there are of a name.
    made: BTreeMap<(SessionId, u64), u8>,
    /// What persistent znodes are called, or were.
    persistent: BTreeSet<Text>,
}

impl NoSecondZnode {
    /// The words in which a break is reported.
    pub const DIFFERS: &'static str = "still has another whose name differs in its number alone";

    /// Whose a znode is, and its path without the number.
    fn name(&self, path: &Text, owner: SessionId) -> Option<(ActorId, (SessionId, u64))> {
        let actor = *self.sessions.get(&owner)?;
        sequence_of(path)?;
        Some((actor, (owner, mark(actor, &path[..path.len() - 10]))))
    }
}

impl Promise for NoSecondZnode {
    fn terms(&self) -> Terms {
        Terms::of("no-second-znode")
            .about("Nobody makes a sequential ephemeral znode of which it has one already.")
            .tested_when("Somebody makes an ephemeral znode that is sequential.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
            }
            Event::Is(GroundTruth::SessionClosed { session, .. }) => {
                self.sessions.remove(session);
                self.made.retain(|(owner, _), _| owner != session);
            }
            Event::Is(GroundTruth::NodeCreated { path, owner: SessionId::NONE, .. }) => {
                self.persistent.extend(sequence_of(path).map(|_| context::name(path).into()));
            }
            Event::Is(GroundTruth::NodeCreated { path, .. })
                if self.persistent.contains(context::name(path)) => {}
            Event::Is(GroundTruth::NodeCreated { path, owner, .. }) => {
                let Some((actor, name)) = self.name(path, *owner) else { return };
                let made = self.made.entry(name).or_insert(0);
                *made = made.saturating_add(1);
                found.push(match *made {
                    1 => Finding::Tested,
                    _ => broken(format!("{actor} makes {path}, and {}", Self::DIFFERS), None),
                });
            }
            Event::Is(GroundTruth::NodeDeleted { path, owner, .. }) => {
                let Some((_, name)) = self.name(path, *owner) else { return };
                if let Some(made) = self.made.get_mut(&name) {
                    *made -= 1;
                    if *made == 0 {
                        self.made.remove(&name);
                    }
                }
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

/// What stands for a text behind an actor's name in a promise's state. Its own name in it counts for nothing, so that
/// another process has the same in its place: a model tells processes that only their names tell apart from none.
fn mark(actor: ActorId, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.replace(&format!("p{}", actor.process), "\0").hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use zk_api::Zxid;

    const FIRST: &str = "/lock/a-lock-0000000000";
    const SECOND: &str = "/lock/a-lock-0000000001";

    #[test]
    fn a_second_one_of_the_same_name_breaks_it() {
        let two = vec![opened(0), created(FIRST, 0), created(SECOND, 0)];
        let found = findings(NoSecondZnode::default(), two);
        let what =
            "p0 makes /lock/a-lock-0000000001, and still has another whose name differs in its number alone";
        assert_eq!((&found[0], broken_by(&found)), (&Finding::Tested, vec![(what, None)]));
    }

    #[test]
    fn one_after_the_other_is_none_nor_one_of_another_name_or_session() {
        let again = vec![vanished(FIRST, 0), created(SECOND, 0)];
        let other = vec![created("/lock/b-lock-0000000001", 0)];
        for next in [again, other, vec![opened(1), created(SECOND, 1)]] {
            let found =
                findings(NoSecondZnode::default(), [vec![opened(0), created(FIRST, 0)], next].concat());
            assert_eq!(found, [Finding::Tested, Finding::Tested]);
        }
    }

    #[test]
    fn a_name_without_a_number_is_none_of_a_sequence() {
        let names = vec![opened(0), created("/a", 0), created("/lock/member-b", 0), deleted("/a", 0, 0)];
        assert_eq!(findings(NoSecondZnode::default(), names), []);
    }

    /// Who had two claims at a time, each named after its item, was taken for one that had repeated a create.
    #[test]
    fn what_is_named_after_another_znode_is_not_sequential() {
        let item = |n: u8| {
            let (path, czxid) = (format!("/items/item-000000000{n}").as_str().into(), Zxid::new(1, 1));
            Event::Is(GroundTruth::NodeCreated { path, by: session(0), owner: SessionId::NONE, czxid })
        };
        let claim = |n: u8| created(&format!("/claims/item-000000000{n}"), 0);
        let judged = |events: Vec<Event>| broken_by(&findings(NoSecondZnode::default(), events)).len();
        assert_eq!(judged(vec![opened(0), item(0), item(1), claim(0), claim(1)]), 0);
        assert_eq!(judged(vec![opened(0), claim(0), claim(1)]), 1);
        assert_eq!(judged(vec![opened(0), item(2), claim(0), claim(1)]), 1);
    }

    #[test]
    fn who_has_two_and_deletes_one_has_one() {
        let third = created("/lock/a-lock-0000000002", 0);
        let made = vec![opened(0), opened(1), created(FIRST, 0), created(SECOND, 0)];
        for meanwhile in [deleted(FIRST, 0, 0), closed(1)] {
            let events = [made.clone(), vec![meanwhile, third.clone()]].concat();
            assert_eq!(broken_by(&findings(NoSecondZnode::default(), events)).len(), 2);
        }
    }

    #[test]
    fn nothing_is_left_of_a_name_or_a_session_that_is_gone() {
        for end in [vec![deleted(FIRST, 0, 0), closed(0)], vec![closed(0), vanished(FIRST, 0)]] {
            let mut promise = NoSecondZnode::default();
            let events = [vec![opened(0), created(FIRST, 0)], end].concat();
            events.iter().for_each(|event| promise.see(event, &mut Vec::new()));
            assert_eq!(promise, NoSecondZnode::default());
        }
        let gone = [opened(0), created(FIRST, 0), deleted(FIRST, 0, 0)];
        let mut promise = NoSecondZnode::default();
        gone.iter().for_each(|event| promise.see(event, &mut Vec::new()));
        assert!(promise.made.is_empty());
    }
}

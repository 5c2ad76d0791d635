//! How each stands to a lock, by what it says of it.

use crate::event::{ActorId, Observation};
use std::collections::BTreeMap;
use zk_api::{SessionId, Text};

/// How an actor stands to a lock, by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Standing {
    /// It asks for it.
    Waits,
    /// It has it with others.
    Shares,
    /// It has it alone.
    Holds,
}

/// How those who live stand to a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Standings {
    all: BTreeMap<ActorId, Stand>,
    /// The last session that each process was given. One that its client has given up before may live on.
    newest: BTreeMap<ActorId, SessionId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stand {
    how: Standing,
    /// The last session that its process had been given as it took it.
    session: SessionId,
    /// The znode by which it has it, until it enters.
    by: Option<Text>,
    /// It has entered and not left, and has entered so many times more without asking.
    inside: Option<u8>,
    /// It has it, and asks for it once more.
    again: Option<Again>,
}

/// What becomes of a lock that somebody takes while it has it, or a share of it. Without another znode of its own it
/// goes on by what it has: then the inner section ends, and the outer one goes on; or it has made one of its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Again {
    asks: bool,
    /// It asks by another znode, and is inside by what it has.
    anew: bool,
    /// How many sections go on around the one that it is in.
    outer: u8,
    /// It has just left an inner one, and may tell of its release as well.
    has_left: bool,
}

impl Stand {
    fn new(how: Standing, session: SessionId) -> Stand {
        Stand { how, session, by: None, inside: None, again: None }
    }

    fn has(&self) -> Option<Standing> {
        Some(self.how).filter(|how| *how != Standing::Waits)
    }

    fn asks(&self) -> bool {
        self.again.is_some_and(|again| again.asks)
    }

    /// How it stands after it has told this in its process's newest session; `None` if it is through with the lock.
    fn after(mut self, what: &Observation, newest: SessionId) -> Option<Stand> {
        if self.again.is_some_and(|again| again.anew) {
            self.again = None;
            match what {
                Observation::GivesUp { .. } => return Some(self),
                Observation::Attempts { .. } => {}
                _ => self.inside = None,
            }
        }
        let goes_on = self.is_nested(what)
            || match what {
                // Who asks once more for what it has keeps it meanwhile.
                Observation::Attempts { .. } if self.has().is_some() && self.session == newest => {
                    self.again.get_or_insert_default().asks = true;
                    true
                }
                Observation::Attempts { .. } => false,
                _ => self.ends_inner(what),
            };
        if goes_on { Some(self) } else { self.stands(what, newest) }
    }

    /// Whether this begins or ends a section within another one for which it has not asked.
    fn is_nested(&mut self, what: &Observation) -> bool {
        let asks = self.asks();
        let had = self.inside.take();
        let (is_nested, inside) = match what {
            Observation::Enters { .. } if asks => (false, Some(0)),
            Observation::Enters { .. } => {
                (had.is_some(), Some(had.map_or(0, |within| within.saturating_add(1))))
            }
            Observation::Leaves { .. } => {
                let within = had.and_then(|within| within.checked_sub(1));
                (within.is_some(), within)
            }
            Observation::Granted { .. } if asks || self.how != Standing::Holds => (false, None),
            Observation::Shares { .. } | Observation::Released { .. } => (false, None),
            _ => (false, had),
        };
        self.inside = inside;
        is_nested
    }

    /// Whether this ends an inner section: the outer one goes on.
    fn ends_inner(&mut self, what: &Observation) -> bool {
        let has = self.has();
        let Some(again) = &mut self.again else { return false };
        let asked = std::mem::take(&mut again.asks);
        let gets = match what {
            Observation::Granted { .. } => Some(Standing::Holds),
            Observation::Shares { .. } => Some(Standing::Shares),
            Observation::Enters { .. } if asked => Some(Standing::Holds),
            Observation::Enters { .. } => has,
            _ => None,
        };
        match what {
            _ if gets == has => {
                again.outer = again.outer.saturating_add(asked.into());
                again.has_left = false;
                false
            }
            Observation::Leaves { .. } if again.outer > 0 => {
                again.outer -= 1;
                again.has_left = true;
                true
            }
            Observation::GivesUp { .. } if asked => true,
            Observation::Released { .. } if again.has_left => {
                again.has_left = false;
                true
            }
            Observation::Released { .. } if again.outer > 0 => {
                again.outer -= 1;
                true
            }
            _ => {
                self.again = None;
                // What it gets, it has instead of its share.
                self.how = Standing::Waits;
                false
            }
        }
    }

    fn stands(mut self, what: &Observation, newest: SessionId) -> Option<Stand> {
        // Unless it may be inside by another znode.
        let may_name = (self.has().is_none() || self.by.is_some()) && self.again.is_none();
        self.by = match what {
            Observation::Granted { node, .. } | Observation::Shares { node, .. } if may_name => {
                Some(node.clone())
            }
            _ => None,
        };
        self.how = match what {
            Observation::Attempts { .. } => Standing::Waits,
            Observation::Granted { .. } => Standing::Holds,
            Observation::Shares { .. } => Standing::Shares,
            // Who was granted a share enters with no more than that.
            Observation::Enters { .. } if self.how == Standing::Shares => return Some(self),
            Observation::Enters { .. } => Standing::Holds,
            _ => return None,
        };
        self.session = newest;
        Some(self)
    }
}

impl Standings {
    /// What it says of the lock.
    pub(crate) fn hear(&mut self, actor: ActorId, what: &Observation) {
        if what.told().is_none() {
            let newest = self.newest(actor.main());
            let before = self.all.remove(&actor).unwrap_or_else(|| Stand::new(Standing::Waits, newest));
            self.all.extend(before.after(what, newest).map(|after| (actor, after)));
        }
    }

    pub(crate) fn get(&self, actor: ActorId) -> Option<Standing> {
        self.all.get(&actor).map(|stand| stand.how)
    }

    /// How it has it that has entered and not left.
    pub(crate) fn inside(&self, actor: ActorId) -> Option<Standing> {
        self.all.get(&actor).filter(|stand| stand.inside.is_some()).map(|stand| stand.how)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ActorId, Standing)> {
        self.all.iter().map(|(actor, stand)| (*actor, stand.how))
    }

    /// It stands so, whatever it says.
    pub(crate) fn insert(&mut self, actor: ActorId, how: Standing) {
        let newest = self.newest(actor.main());
        self.all.entry(actor).or_insert_with(|| Stand::new(how, newest)).how = how;
    }

    fn of(&mut self, process: ActorId) -> impl Iterator<Item = &mut Stand> {
        self.all.iter_mut().filter(move |(actor, _)| actor.main() == process).map(|(_, stand)| stand)
    }

    /// The last session that a process was given.
    pub(crate) fn newest(&self, process: ActorId) -> SessionId {
        self.newest.get(&process).copied().unwrap_or(SessionId::NONE)
    }

    /// What its threads take from now on is not what they have by the former session.
    pub(crate) fn opens_session(&mut self, process: ActorId, session: SessionId) {
        self.newest.insert(process, session);
        for stand in self.of(process) {
            if stand.asks() {
                stand.how = Standing::Waits;
            }
            (stand.inside, stand.again) = (None, None);
        }
    }

    /// Its session has ended. Who has closed it itself is inside until it leaves.
    pub(crate) fn ends_session(&mut self, process: ActorId, has_expired: bool) {
        let is_inside = |stand: &Stand| !has_expired && stand.inside.is_some();
        self.all.retain(|actor, stand| actor.main() != process || is_inside(stand));
    }

    /// A session has ended that was given up for another: nothing is left of how they stood by it.
    pub(crate) fn forgets_former(&mut self, process: ActorId, session: SessionId) {
        self.all.retain(|actor, stand| stand.session != session || actor.main() != process);
    }

    /// A process has made a znode: what its threads ask for they get by that, and not by what they have. What they are
    /// inside by, they have until they leave or are granted the other.
    pub(crate) fn asks_anew(&mut self, process: ActorId) {
        for stand in self.of(process).filter(|stand| stand.asks()) {
            stand.again = stand.inside.map(|_| Again { anew: true, ..Again::default() });
            if stand.inside.is_none() {
                stand.how = Standing::Waits;
            }
        }
    }

    /// Who deletes the znode by which it has the lock has given it back, unless it is inside.
    pub(crate) fn gives_back(&mut self, process: ActorId, path: &Text) {
        let has_by = |stand: &Stand| stand.by.as_ref() == Some(path) && stand.again.is_none();
        self.all.retain(|actor, stand| actor.main() != process || !has_by(stand));
    }

    /// Those stand to the lock no more.
    pub(crate) fn forgets(&mut self, are_those: impl Fn(ActorId) -> bool) {
        self.all.retain(|actor, _| !are_those(*actor));
    }
}

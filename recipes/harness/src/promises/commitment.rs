//! What promises of atomic commitment have in common: how votes and decisions are told.

use crate::context::below;
use crate::event::{ActorId, Event, GroundTruth};
use crate::words;
use zk_api::{SessionId, Text};

/// Something that a promise of atomic commitment goes by.
pub(super) enum Told<'a> {
    /// A process proposes this transaction, among so many sites.
    Proposed(&'a str, i64),
    /// A site has done as decided: this process, and whether it commits.
    Done(&'a str, i64, bool),
    /// This one votes, by its own word: whether it is to commit.
    Voted(&'a str, ActorId, bool),
    /// This znode has become a vote, or a decision: whether it is to commit, and whose session wrote it.
    Written(&'a Text, bool, SessionId),
    /// Somebody waits no longer for the others in this transaction.
    Impatient(&'a str),
    /// Who may be waited for in vain from now on: its session has ended, or its process crashed.
    Failed(ActorId),
    /// Who is there, or there again, by this session.
    Begun(ActorId, SessionId),
}

/// What an event tells of transactions whose znodes are children of `root`, with one child for each vote.
pub(super) fn told<'a>(root: &str, event: &'a Event) -> Option<Told<'a>> {
    match event {
        Event::Observed { actor, what } => {
            let (what, about, number) = what.told()?;
            match what {
                _ if !below(root, about) => None,
                words::PROPOSES => Some(Told::Proposed(about, number)),
                words::COMMITS => Some(Told::Done(about, number, true)),
                words::VOTES_TO_COMMIT => Some(Told::Voted(about, actor.main(), true)),
                words::VOTES_TO_ABORT => Some(Told::Voted(about, actor.main(), false)),
                words::ABORTS => Some(Told::Done(about, number, false)),
                words::WAITS_NO_LONGER => Some(Told::Impatient(about)),
                _ => None,
            }
        }
        Event::Is(GroundTruth::NodeWritten { path, by, data, .. })
            if transaction_of(root, path).is_some() =>
        {
            match data.bytes() {
                b"commit" => Some(Told::Written(path, true, *by)),
                b"abort" => Some(Told::Written(path, false, *by)),
                _ => None,
            }
        }
        Event::Is(GroundTruth::SessionClosed { actor, .. } | GroundTruth::Crashed { actor }) => {
            Some(Told::Failed(*actor))
        }
        Event::Is(GroundTruth::SessionOpened { session, actor }) => Some(Told::Begun(*actor, *session)),
        Event::Is(_) => None,
    }
}

/// The transaction that a znode is of, if it is a child of one.
pub(super) fn transaction_of<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let (transaction, _) = path.rsplit_once('/')?;
    let (parent, _) = transaction.rsplit_once('/')?;
    (parent == root).then_some(transaction)
}

/// In a sentence.
pub(super) fn verb(commits: bool) -> &'static str {
    if commits { words::COMMITS.text() } else { words::ABORTS.text() }
}

#[cfg(test)]
pub(super) mod testing {
    use super::super::testing::{actor, session};
    use crate::event::{Event, GroundTruth, Observation};
    use zk_api::{SessionId, Zxid};

    pub const TX: &str = "/tx/1";

    fn says(p: u16, what: Observation) -> Event {
        Event::Observed { actor: actor(p), what }
    }
    pub fn proposes(sites: i64) -> Event {
        says(0, Observation::note(crate::words::PROPOSES, TX, sites))
    }
    pub fn impatient(p: u16) -> Event {
        says(p, Observation::note(crate::words::WAITS_NO_LONGER, TX, 2))
    }
    pub fn does(p: u16, what: &str) -> Event {
        says(p, Observation::ends(crate::words::Word::own(what), TX, p.into()))
    }
    pub fn written(path: &str, data: &str) -> Event {
        written_by(session(0), path, data)
    }
    pub fn written_by(by: SessionId, path: &str, data: &str) -> Event {
        let (path, data) = (path.into(), data.into());
        let (owner, mzxid) = (SessionId::NONE, Zxid::new(1, 1));
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data, mzxid })
    }
}

//! States that differ only in which process is which, told apart no longer.
//!
//! Each process looks at the whole state and calls itself ME and every other OTHER; a state's fingerprint is
//! that of the sorted list of what the processes see. Names of processes occur in three shapes, which a
//! hasher recognises as they pass: actors (hashed as one `u16`), sessions (a number in a range of their own)
//! and guids within texts (`p2g0`, see [`guid`]).
//!
//! This merges too much where names order processes or roles differ, and it forgets which OTHER is which. A
//! test must show that it changes no verdict of a trial before the trial may ask for it.
//!
//! ```
//! use zk_model::symmetry::{actor_of, guid, session_of};
//! use zk_harness::event::ActorId;
//!
//! let actor = ActorId { process: 2, life: 0, thread: 0 };
//! let session = session_of(actor, 0, 0);
//! assert_eq!(actor_of(session), Some(actor));
//! assert_eq!(&*guid(actor, 0, false), "p2g0");
//! ```

use crate::digest::{Digest, Digester, unnoted};
use std::hash::Hasher;
use zk_api::{SessionId, Text};
use zk_harness::event::ActorId;

const SESSIONS: i64 = 0x7a_6b00_0000_0000;
const ME: u8 = 0xfd;
const OTHER: u8 = 0xfe;

/// A session of an actor, which has had so many before. `rank`: its place among the ids of all; where nobody looks, all
/// are of one rank.
pub fn session_of(actor: ActorId, rank: u16, before: u8) -> SessionId {
    let (before, life) = (i64::from(before) << 16, i64::from(actor.life) << 8);
    SessionId::new(SESSIONS | i64::from(rank) << 24 | before | life | (i64::from(actor.process) + 1))
}

/// The session of this rank that an actor is given after another.
pub fn session_after(session: SessionId, rank: u16) -> SessionId {
    let same_rank = number(session) & !(0xffff << 24);
    SessionId::new((same_rank + 0x1_0000) | (i64::from(rank) << 24))
}

/// A session's rank.
pub fn rank_of(session: SessionId) -> u16 {
    (number(session) >> 24) as u16
}

/// The actor that a session is of, if it is an actor's.
pub fn actor_of(session: SessionId) -> Option<ActorId> {
    let life = (number(session) >> 8) as u8;
    process_of(session).map(|process| ActorId { process: process as u16, life, thread: 0 })
}

/// The process that a session belongs to, if it is an actor's.
pub fn process_of(session: SessionId) -> Option<usize> {
    process_in(number(session))
}

/// It is the engine that looks at it, and not the code under trial.
fn number(session: SessionId) -> i64 {
    unnoted(|| session.get())
}

fn process_in(number: i64) -> Option<usize> {
    (number & !0xff_ffff_ffff == SESSIONS).then(|| (number & 0xff) as usize - 1)
}

/// The guid number `nth` of an actor: as texts they rise by process, life and number, or they fall.
pub fn guid(actor: ActorId, nth: u32, fall: bool) -> Text {
    let rising = format!("{actor}g{nth}").replace('.', "l");
    if !fall {
        return rising.into();
    }
    format!("{:04x}{:02x}{:04x}{rising}", u16::MAX - actor.process, u8::MAX - actor.life, 0xffff - nth).into()
}

/// Hashes what one process sees.
///
/// Promises keep processes in ordered collections, so whose entry comes first depends on who is who. Within a
/// collection, what follows the name of an actor or a session up to the next one, or up to a text, is taken
/// for an entry, and entries are added up in no order. Texts keep their order. (So a list of actors in an order
/// that matters is taken for a set: one more thing that a trial's test must show to change no verdict.)
#[derive(Debug)]
pub struct Eyes {
    me: u8,
    digester: Digester,
    /// The entries of the collection at hand, added up.
    entries: Digest,
    entry: Option<Digester>,
}

impl Eyes {
    /// The eyes of a process.
    pub fn new(kind: u64, me: usize) -> Eyes {
        Eyes { me: me as u8, digester: Digester::new(kind), entries: 0, entry: None }
    }

    /// The digest of all that was seen.
    pub fn end(mut self) -> Digest {
        self.close();
        self.digester.end()
    }

    /// Adds a digest made by the same eyes.
    pub fn digest(&mut self, digest: Digest) {
        self.at().digest(digest);
    }

    fn at(&mut self) -> &mut Digester {
        self.entry.as_mut().unwrap_or(&mut self.digester)
    }

    /// A name begins an entry.
    fn name_of(&mut self, process: u8, rest: u64) {
        self.close_entry();
        let name = if process == self.me { ME } else { OTHER };
        let mut entry = Digester::new(name.into());
        entry.word(rest);
        self.entry = Some(entry);
    }

    fn close_entry(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.entries = self.entries.wrapping_add(entry.end());
        }
    }

    fn close(&mut self) {
        self.close_entry();
        self.digester.digest(std::mem::take(&mut self.entries));
    }
}

impl Hasher for Eyes {
    fn finish(&self) -> u64 {
        self.digester.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        let (mut seen, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
        while let Some((at, len, process)) = find_guid(rest) {
            seen.extend_from_slice(&rest[..at]);
            seen.push(if process == self.me { ME } else { OTHER });
            rest = &rest[at + len..];
        }
        seen.extend_from_slice(rest);
        self.close_entry();
        self.digester.write(&seen);
    }

    fn write_u16(&mut self, n: u16) {
        let [process, life] = n.to_le_bytes();
        self.name_of(process, life.into());
    }

    fn write_i64(&mut self, n: i64) {
        match process_in(n) {
            Some(process) => self.name_of(process as u8, n as u64 >> 8),
            None => self.at().write_i64(n),
        }
    }

    /// The length of a collection.
    fn write_usize(&mut self, n: usize) {
        self.close();
        self.digester.write_usize(n);
    }

    /// The variant of an enum.
    fn write_isize(&mut self, n: isize) {
        self.at().write_isize(n);
    }
    fn write_u8(&mut self, n: u8) {
        self.at().write_u8(n);
    }
    fn write_u32(&mut self, n: u32) {
        self.at().write_u32(n);
    }
    fn write_u64(&mut self, n: u64) {
        self.at().write_u64(n);
    }
    fn write_u128(&mut self, n: u128) {
        self.at().write_u128(n);
    }
}

/// Where the first name of a process in a guid is: its place, its length, and which process it names.
fn find_guid(bytes: &[u8]) -> Option<(usize, usize, u8)> {
    for (at, _) in bytes.iter().enumerate().filter(|(_, b)| **b == b'p') {
        let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        let after = bytes.get(at + 1 + digits);
        let last = bytes.get(at + 2 + digits);
        if digits > 0 && matches!(after, Some(b'g' | b'l')) && last.is_some_and(u8::is_ascii_digit) {
            let number = std::str::from_utf8(&bytes[at + 1..at + 1 + digits]).ok()?;
            return number.parse().ok().map(|process| (at, digits + 1, process));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn seen(me: usize, value: &impl Hash) -> Digest {
        let mut eyes = Eyes::new(0, me);
        value.hash(&mut eyes);
        eyes.end()
    }

    #[test]
    fn a_process_knows_itself_in_every_shape() {
        let actor = |process| ActorId { process, life: 0, thread: 0 };
        for (me, other) in [(0, 1), (1, 0), (2, 0), (11, 1)] {
            let of = |process: usize| {
                let actor = actor(process as u16);
                (actor, session_of(actor, 0, 0), format!("/lock/{}-lock-0000000003", guid(actor, 0, false)))
            };
            assert_eq!(seen(me, &of(me)), seen(0, &of(0)));
            assert_eq!(seen(me, &of(other)), seen(0, &of(1)));
            // Each shape by itself tells who it is.
            let ((a, s, g), (other_a, other_s, other_g)) = (of(me), of(other));
            assert_ne!(seen(me, &a), seen(me, &other_a));
            assert_ne!(seen(me, &s), seen(me, &other_s));
            assert_ne!(seen(me, &g), seen(me, &other_g));
        }
    }

    #[test]
    fn others_are_not_told_apart() {
        let session = |process| session_of(ActorId { process, life: 0, thread: 0 }, 0, 0);
        assert_eq!(seen(0, &session(1)), seen(0, &session(2)));
        assert_ne!(seen(0, &session(1)), seen(0, &SessionId::NONE));
    }
}

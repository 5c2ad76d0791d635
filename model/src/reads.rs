//! What a trial's actors read that varies in the simulator and is one value in a model unless somebody looks.
//!
//! A search begins with none of it. Each replay notes what its code has read; once that is more than the model varies,
//! the search begins anew with it. So it costs nothing where nobody reads it, and it is never left out where somebody
//! does.
//!
//! ```
//! use zk_model::reads::Reads;
//!
//! let read = Reads::ORDER.and(Reads::PZXID);
//! assert!(read.has(Reads::ORDER) && !read.has(Reads::TIMES));
//! assert_eq!(read.names(), ["the order of names in a list", "pzxid"]);
//! assert_eq!(read.without(Reads::ORDER), Reads::PZXID);
//! ```

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use zk_api::{SessionId, StatReads, Zxid};

thread_local! {
    static GUIDS: Cell<Reads> = const { Cell::new(Reads(0)) };
}

/// A set of things that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reads(u32);

impl Reads {
    /// The order of names in a list.
    pub const ORDER: Reads = Reads(1);
    /// When a znode was created or set, by its leader's clock.
    pub const TIMES: Reads = Reads(2);
    /// Which transaction last changed a znode's children: also one that deletes.
    pub const PZXID: Reads = Reads(4);
    /// Which of two sessions has the higher id.
    pub const SESSIONS: Reads = Reads(8);

    /// Which events are withheld from a client that may not read, and told to it by a later connection. Nothing that
    /// code reads: it asks for a znode that not everybody may read.
    pub const WITHHELD: Reads = Reads(16);

    /// In which order the ephemeral znodes of one session go when it ends. Noted when somebody is told of two of them.
    pub const ENDS: Reads = Reads(32);

    /// That there are guids: a text cannot tell that code compares it with another, so both orders are searched. Noted
    /// when one is given, and never varied within one search: see
    /// [`CheckConfig::guids_fall`](crate::CheckConfig::guids_fall).
    pub const GUIDS: Reads = Reads(128);

    /// That a process has a second guid, so that with those of others there are more than two: a search with rising and
    /// one with falling ones are not all their orders then. Noted, and never varied.
    pub const MORE_GUIDS: Reads = Reads(512);

    /// The numbers of zxids, and not only their order. All transactions are numbered then, and yet never as the
    /// simulator numbers them, where leaders change: so nothing holds.
    pub const NUMBERS: Reads = Reads(64);

    /// The numbers of session ids, or their hashes. They are not varied, so nothing holds.
    pub const IDS: Reads = Reads(256);

    /// Each of them, with what it is called.
    pub const ALL: [(Reads, &'static str); 10] = [
        (Reads::ORDER, "the order of names in a list"),
        (Reads::TIMES, "ctime or mtime, which take seven values"),
        (Reads::PZXID, "pzxid"),
        (Reads::SESSIONS, "the order of session ids"),
        (Reads::WITHHELD, "events of znodes that not everybody may read"),
        (Reads::ENDS, "the order in which a session's ephemerals go"),
        (Reads::GUIDS, "guids, which rise in the order in which they are given, or fall"),
        (Reads::MORE_GUIDS, "a second guid of one process"),
        (Reads::NUMBERS, "the numbers of zxids"),
        (Reads::IDS, "the numbers of session ids"),
    ];

    /// What this thread has read since it was asked last.
    pub fn take() -> Reads {
        let stats = StatReads::take();
        let of = |is_read, reads| if is_read { reads } else { Reads::default() };
        of(stats.has(StatReads::TIMES), Reads::TIMES)
            .and(of(stats.has(StatReads::PZXID), Reads::PZXID))
            .and(of(SessionId::were_ordered(), Reads::SESSIONS))
            .and(of(Zxid::were_numbered(), Reads::NUMBERS))
            .and(of(SessionId::were_numbered(), Reads::IDS))
            .and(GUIDS.take())
    }

    /// This thread gives a process its guid number `nth` in this life.
    pub fn note_guid(life: u8, nth: u32) {
        let more = if life > 0 || nth > 0 { Reads::MORE_GUIDS } else { Reads::default() };
        GUIDS.set(GUIDS.get().and(Reads::GUIDS).and(more));
    }

    /// What a search begins with: the order of guids is varied by another search.
    pub fn at_first() -> Reads {
        Reads::GUIDS.and(Reads::MORE_GUIDS)
    }

    /// Whether all of these are in it.
    pub fn has(self, other: Reads) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets.
    pub fn and(self, other: Reads) -> Reads {
        Reads(self.0 | other.0)
    }

    /// What is left without these.
    pub fn without(self, other: Reads) -> Reads {
        Reads(self.0 & !other.0)
    }

    /// All there is to read.
    pub fn all() -> Reads {
        Reads::ALL.iter().fold(Reads::default(), |all, (one, _)| all.and(*one))
    }

    /// What they are called.
    pub fn names(self) -> Vec<&'static str> {
        Reads::ALL.iter().filter(|(one, _)| self.has(*one)).map(|(_, name)| *name).collect()
    }
}

/// What has been read so far.
#[derive(Debug, Default)]
pub struct Noted(AtomicU32);

impl Noted {
    /// Adds to it.
    pub fn add(&self, reads: Reads) {
        self.0.fetch_or(reads.0, Ordering::Relaxed);
    }

    /// All of it.
    pub fn reads(&self) -> Reads {
        Reads(self.0.load(Ordering::Relaxed))
    }
}

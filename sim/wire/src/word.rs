//! Four-letter words: an administrator's questions, in place of a connection's first frame.

/// A question that an administrator sends as the first four bytes of a connection. It is answered in plain
/// text, and the connection is closed.
///
/// Read as the length of a frame, each is far above the limit, so that no frame is taken for one.
/// Source: ZooKeeper 3.9, `FourLetterCommands`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FourLetterWord {
    /// The configuration.
    Conf,
    /// All connections in full.
    Cons,
    /// Resets the statistics of all connections.
    Crst,
    /// The size of logs and snapshots.
    Dirs,
    /// Sessions and ephemerals.
    Dump,
    /// The environment.
    Envi,
    /// The trace mask.
    Gtmk,
    /// Digests of the tree's history.
    Hash,
    /// Whether the server is read-only.
    Isro,
    /// Measurements.
    Mntr,
    /// Whether the server is there: answered `imok`.
    Ruok,
    /// Resets the server's statistics.
    Srst,
    /// The server in full.
    Srvr,
    /// The server and its connections.
    Stat,
    /// Sets the trace mask; the eight bytes of the mask follow.
    Stmk,
    /// Watches by session.
    Wchc,
    /// Watches by path.
    Wchp,
    /// Watches in numbers.
    Wchs,
}

impl FourLetterWord {
    /// All words.
    pub const ALL: [FourLetterWord; 18] = [
        FourLetterWord::Conf,
        FourLetterWord::Cons,
        FourLetterWord::Crst,
        FourLetterWord::Dirs,
        FourLetterWord::Dump,
        FourLetterWord::Envi,
        FourLetterWord::Gtmk,
        FourLetterWord::Hash,
        FourLetterWord::Isro,
        FourLetterWord::Mntr,
        FourLetterWord::Ruok,
        FourLetterWord::Srst,
        FourLetterWord::Srvr,
        FourLetterWord::Stat,
        FourLetterWord::Stmk,
        FourLetterWord::Wchc,
        FourLetterWord::Wchp,
        FourLetterWord::Wchs,
    ];

    /// The four bytes.
    pub const fn to_bytes(self) -> [u8; 4] {
        match self {
            FourLetterWord::Conf => *b"conf",
            FourLetterWord::Cons => *b"cons",
            FourLetterWord::Crst => *b"crst",
            FourLetterWord::Dirs => *b"dirs",
            FourLetterWord::Dump => *b"dump",
            FourLetterWord::Envi => *b"envi",
            FourLetterWord::Gtmk => *b"gtmk",
            FourLetterWord::Hash => *b"hash",
            FourLetterWord::Isro => *b"isro",
            FourLetterWord::Mntr => *b"mntr",
            FourLetterWord::Ruok => *b"ruok",
            FourLetterWord::Srst => *b"srst",
            FourLetterWord::Srvr => *b"srvr",
            FourLetterWord::Stat => *b"stat",
            FourLetterWord::Stmk => *b"stmk",
            FourLetterWord::Wchc => *b"wchc",
            FourLetterWord::Wchp => *b"wchp",
            FourLetterWord::Wchs => *b"wchs",
        }
    }

    /// The word that these bytes are; `None` if they are none.
    pub fn from_bytes(bytes: [u8; 4]) -> Option<FourLetterWord> {
        FourLetterWord::ALL.into_iter().find(|word| word.to_bytes() == bytes)
    }
}

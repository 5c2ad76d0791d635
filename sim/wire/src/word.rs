//! Four-letter words: an administrator's questions, in place of a connection's first frame.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// A question that an administrator sends as the first four bytes of a connection. It is answered in plain
/// text, and the connection is closed.
///
/// Read as the length of a frame, each is far above the limit, so that no frame is taken for one.
/// Source: ZooKeeper 3.9, `FourLetterCommands`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray, EnumString, IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
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
    pub const ALL: &[FourLetterWord] = FourLetterWord::VARIANTS;

    /// The word itself.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The word that these bytes are; `None` if they are none.
    pub fn from_bytes(bytes: [u8; 4]) -> Option<FourLetterWord> {
        std::str::from_utf8(&bytes).ok()?.parse().ok()
    }
}

//! How the ensemble works.

/// How the ensemble works.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How many transactions a view may lag.
    pub lag: usize,
    /// A sync may leave a view where it is, as that of a leader does which asks nobody.
    pub stale_syncs: bool,
    /// A client that comes back may see what it saw when it was last answered, or what has come of that where no view
    /// lags: it is told of what was withheld from it since.
    pub goes_back: bool,
    /// An answer on its way counts as one that has come. Not so in ZooKeeper.
    pub lost_answers_bind: bool,
    /// A server serves a session that is over until it has heard of that.
    pub outlives: bool,
    /// A new connection's watches come to its server some time after the news of the connection.
    pub registers_late: bool,
    /// Somebody counts whom a change wakes: nobody is told otherwise, and what nobody waits for any more is not
    /// watched.
    pub counts_wakes: bool,
    /// Every transaction takes a number.
    pub true_zxids: bool,
    /// Those that delete take one, too.
    pub pzxids: bool,
    /// Work out what processes see.
    pub symmetry: bool,
    /// Tell trees apart by the order of their numbers alone.
    pub ranks: bool,
}

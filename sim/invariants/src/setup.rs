//! What is known of an ensemble before anything has happened.

/// What is known of an ensemble from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many servers vote: the first.
    pub voters: u8,
    /// How many servers behind them do not.
    pub observers: u8,
    /// The length of a server's tick, in milliseconds.
    pub tick_ms: u32,
    /// The last transaction of an epoch has this number.
    pub last_counter: u32,
    /// A leader asks a quorum before a sync is answered.
    pub asks_quorum: bool,
}

impl Default for Setup {
    /// One server.
    fn default() -> Setup {
        Setup { voters: 1, observers: 0, tick_ms: 500, last_counter: u32::MAX, asks_quorum: false }
    }
}

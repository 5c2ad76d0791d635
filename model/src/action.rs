//! One step of the model.

/// One step of the model. The first number is the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The next message reaches it.
    Deliver(u8),
    /// Its next request is served.
    Serve(u8),
    /// A request of its lost connection is served.
    ServeGhost(u8),
    /// Its scheduling point of this number passes.
    Point(u8, u8),
    /// Its timer of this number fires.
    Timer(u8, u8),
    /// Its write of this number arrives.
    Arrive(u8, u8),
    /// It learns that its write of this number has arrived.
    Take(u8, u8),
    /// It connects: again, or for the first time. It is told what it has missed in the order of this number.
    Reconnect(u8, u8),
    /// Its client, which knows that its session is over, is given a new one, of this rank.
    Renew(u8, u16),
    /// The watches that it registers again come to its server, likewise.
    Register(u8, u8),
    /// Its server applies one transaction more.
    CatchUp(u8),
    /// It goes on after a pause.
    Resume(u8),
    /// The leader's clock shows the time of this number.
    Clock(u8),
    /// The session that ends next loses its ephemeral znodes in the order of this number.
    EndsIn(u8),
    /// Its session expires.
    Expire(u8),
    /// It is told that its session is dead, by a leader that is deposed and does not know it, or before the end is
    /// written. The session lives.
    FalseExpiry(u8),
    /// Its connection drops; so many of its writes are still in flight.
    Drop(u8, u8),
    /// It crashes.
    Crash(u8),
    /// Of those processes whose sessions' ids have no place in the order of all yet, this one has the lowest.
    Rank(u8),
    /// Its code begins with a new session, of this rank: another life after a crash or the loss of its session, or its
    /// first one.
    Begin(u8, u16),
    /// The same before it has a session.
    Early(u8, u16),
    /// It is paused.
    Pause(u8),
    /// Of its tasks that are ready, the one of this number runs.
    Run(u8, u8),
    /// So many messages reach it before its code looks at any of them.
    Together(u8, u8),
    /// So many messages reach it like that, or one, and their names come in the order of this number.
    Order(u8, u8, u8),
    /// An administrator deletes the trial's znode of this number.
    Delete(u8),
    /// He sets its data to the text of this number.
    Set(u8, u8),
}

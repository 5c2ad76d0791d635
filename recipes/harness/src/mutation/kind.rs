//! What a mutated process does wrong, and when.

use std::fmt;
use strum::VariantArray;

/// A way to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// A delete is not sent, and answered as if it were done. In a multi, the others are sent.
    DeleteNotSent,
    /// A write is sent twice, one right behind the other; the first answer counts.
    WriteTwice,
    /// A watch is not set. It never fires, but tells the end of the session as a real one does.
    NoWatch,
    /// A create is not sequential though it should be.
    NotSequential,
    /// A create is not ephemeral though it should be.
    NotEphemeral,
    /// A write or a check takes any version.
    AnyVersion,
    /// A guid is one that every process has.
    SameGuid,
    /// A request that fails, by anything but the end of its session, is taken for one that succeeds.
    ErrorIsSuccess,
    /// A create that fails as its znode exists is taken for one that succeeds.
    NodeExistsIsOwn,
    /// A write that fails as its znode does not exist is taken for one that succeeds.
    NoNodeIsDone,
    /// A read that was made before is not made again: it gives what it gave then. The watch that it sets is real.
    NoSecondLook,
    /// The code returns in the place of a request, and says that it is done.
    ReturnsEarly,
    /// The code hangs in the place of a request.
    NeverReturns,
    /// Nobody is told of the end of the session: no watch and no change of state tells it, the state is what it was
    /// before, and a request that fails by it never returns.
    DeafToEnd,
    /// A request is sent one scheduling point late; one that nobody waits for, in time.
    StepLate,
    /// A watch is not set: the read is repeated ten times a second, and what changes its answer is told as an event.
    Polls,
    /// Something is said twice.
    SaysTwice,
    /// Something is not said.
    SaysNothing,
    /// Something is said before the first request that comes behind what was said before it; and when it is due, only
    /// if that is something else. What it is comes from the recipe's first run that said so much.
    SaysEarly,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Kind] = Kind::VARIANTS;

    /// How it is called in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One slip: at the occasion of this number, from 1, in each life of each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mutation {
    /// What goes wrong.
    pub kind: Kind,
    /// At which occasion.
    pub nth: u8,
}

/// As `no-watch 2`.
impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.nth)
    }
}

//! What the tests of the peer's parts share.

pub(super) mod sample;

//! The kinds of requests, as numbers.

/// The kind of a request, of an operation of a multi, or of one of a multi's results.
///
/// Not among them, and so not known: `deleteContainer` (20), which only a server makes, and `createSession` (-10),
/// which is the connect request. `sasl` (102) is no request: see [`Decoded::Sasl`](crate::Decoded::Sasl).
///
/// Source: ZooKeeper 3.9, `ZooDefs.OpCode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::FromRepr, strum::VariantArray)]
#[repr(i32)]
pub enum OpCode {
    /// Ends the session.
    CloseSession = -11,
    /// Only as one of a multi's results: the operation failed, or was not tried.
    Error = -1,
    /// Answered with the path.
    Create = 1,
    /// Deletes a znode.
    Delete = 2,
    /// Asks for a Stat; a znode that is not there is the error `NoNode`.
    Exists = 3,
    /// Reads data.
    GetData = 4,
    /// Sets data.
    SetData = 5,
    /// Reads the ACL.
    GetAcl = 6,
    /// Sets the ACL.
    SetAcl = 7,
    /// Answered with the names.
    GetChildren = 8,
    /// Waits until the server has caught up.
    Sync = 9,
    /// Keeps the session alive.
    Ping = 11,
    /// Answered with the names and the parent's Stat.
    GetChildren2 = 12,
    /// Compares a version; only within a multi here.
    Check = 13,
    /// All or nothing.
    Multi = 14,
    /// Answered with path and Stat.
    Create2 = 15,
    /// Changes who is in the ensemble; always refused here.
    Reconfig = 16,
    /// Asks whether there is a watch.
    CheckWatches = 17,
    /// Removes watches.
    RemoveWatches = 18,
    /// Answered as [`OpCode::Create2`].
    CreateContainer = 19,
    /// Has a time to live; answered as [`OpCode::Create2`].
    CreateTtl = 21,
    /// Several reads.
    MultiRead = 22,
    /// Credentials.
    Auth = 100,
    /// Registers one-shot watches again.
    SetWatches = 101,
    /// Lists the session's ephemerals.
    GetEphemerals = 103,
    /// Counts what is below a znode.
    GetAllChildrenNumber = 104,
    /// Registers persistent watches again as well.
    SetWatches2 = 105,
    /// Adds a persistent watch.
    AddWatch = 106,
    /// Asks whom the server takes the client for.
    WhoAmI = 107,
}

impl OpCode {
    /// The number on the wire.
    pub const fn to_i32(self) -> i32 {
        self as i32
    }

    /// From the number on the wire.
    pub fn from_i32(code: i32) -> Option<OpCode> {
        OpCode::from_repr(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn kinds_survive_the_wire() {
        for code in OpCode::VARIANTS {
            assert_eq!(OpCode::from_i32(code.to_i32()), Some(*code));
        }
        for unknown in [0, 10, 20, 23, 102, -10] {
            assert_eq!(OpCode::from_i32(unknown), None);
        }
    }
}

//! What was asked on a connection and is not answered yet.

use crate::OpCode;
use std::collections::VecDeque;
use zk_api::{CreateMode, Op, ReadOp, Request};

/// What is remembered of a request until it is answered: as much as its answer's form depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The request's kind.
    pub code: OpCode,
    /// Of a create: whether whoever asked wants the Stat. Containers and TTL znodes are answered with one
    /// in any case.
    pub stat: bool,
    /// The operations of a multi.
    pub ops: Vec<Asked>,
}

impl Asked {
    /// What is to be remembered of a request as a client makes it.
    pub fn of(request: &Request) -> Asked {
        let plain = |code| Asked { code, stat: false, ops: Vec::new() };
        match request {
            Request::Create { mode, stat, .. } => Asked { stat: *stat, ..plain(create_code(*mode, *stat)) },
            Request::Delete { .. } => plain(OpCode::Delete),
            Request::Exists { .. } => plain(OpCode::Exists),
            Request::GetData { .. } => plain(OpCode::GetData),
            Request::SetData { .. } => plain(OpCode::SetData),
            Request::GetChildren { stat: false, .. } => plain(OpCode::GetChildren),
            Request::GetChildren { stat: true, .. } => plain(OpCode::GetChildren2),
            Request::GetAcl { .. } => plain(OpCode::GetAcl),
            Request::SetAcl { .. } => plain(OpCode::SetAcl),
            Request::Sync { .. } => plain(OpCode::Sync),
            Request::Multi { ops } => {
                Asked { ops: ops.iter().map(Asked::of_op).collect(), ..plain(OpCode::Multi) }
            }
            Request::MultiRead { ops } => {
                Asked { ops: ops.iter().map(Asked::of_read).collect(), ..plain(OpCode::MultiRead) }
            }
            Request::AddWatch { .. } => plain(OpCode::AddWatch),
            Request::RemoveWatches { .. } => plain(OpCode::RemoveWatches),
            Request::CheckWatches { .. } => plain(OpCode::CheckWatches),
            Request::GetEphemerals { .. } => plain(OpCode::GetEphemerals),
            Request::GetAllChildrenNumber { .. } => plain(OpCode::GetAllChildrenNumber),
            Request::WhoAmI => plain(OpCode::WhoAmI),
            Request::Auth { .. } => plain(OpCode::Auth),
            Request::CloseSession => plain(OpCode::CloseSession),
        }
    }

    pub(crate) fn of_op(op: &Op) -> Asked {
        let (code, stat) = match op {
            Op::Create { mode, stat, .. } => (create_code(*mode, *stat), *stat),
            Op::Delete { .. } => (OpCode::Delete, false),
            Op::SetData { .. } => (OpCode::SetData, false),
            Op::Check { .. } => (OpCode::Check, false),
        };
        Asked { code, stat, ops: Vec::new() }
    }

    pub(crate) fn of_read(op: &ReadOp) -> Asked {
        let code = match op {
            ReadOp::GetData { .. } => OpCode::GetData,
            ReadOp::GetChildren { .. } => OpCode::GetChildren,
        };
        Asked { code, stat: false, ops: Vec::new() }
    }
}

/// A client says by the kind of its create which mode it means, and whether it wants the Stat.
///
/// Source: ZooKeeper 3.9, `ZooKeeper.create`.
fn create_code(mode: CreateMode, stat: bool) -> OpCode {
    match mode {
        CreateMode::Container => OpCode::CreateContainer,
        CreateMode::PersistentTtl(_) | CreateMode::PersistentSequentialTtl(_) => OpCode::CreateTtl,
        CreateMode::Persistent
        | CreateMode::PersistentSequential
        | CreateMode::Ephemeral
        | CreateMode::EphemeralSequential => {
            if stat {
                OpCode::Create2
            } else {
                OpCode::Create
            }
        }
    }
}

/// The requests of a connection that are not answered yet, in the order they were asked.
///
/// Answers come in that order. A client that is to notice when they do not looks at the xids itself.
#[derive(Clone, Debug, Default)]
pub struct Outstanding(VecDeque<(i32, Asked)>);

impl Outstanding {
    /// A request is on its way.
    pub fn push(&mut self, xid: i32, asked: Asked) {
        self.0.push_back((xid, asked));
    }

    /// Its answer is here. Of several with one xid, which only credentials should have, the oldest is meant.
    pub fn take(&mut self, xid: i32) -> Option<Asked> {
        self.take_where(|at, _| at == xid).map(|(_, asked)| asked)
    }

    /// The xid of the oldest request to register watches again, which is answered now.
    pub(crate) fn take_set_watches(&mut self) -> Option<i32> {
        let of_watches = |code| code == OpCode::SetWatches || code == OpCode::SetWatches2;
        self.take_where(|_, asked| of_watches(asked.code)).map(|(xid, _)| xid)
    }

    /// Nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take_where(&mut self, is_it: impl Fn(i32, &Asked) -> bool) -> Option<(i32, Asked)> {
        let at = self.0.iter().position(|(xid, asked)| is_it(*xid, asked))?;
        self.0.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_with_one_number_the_oldest_is_answered_first() {
        let mut outstanding = Outstanding::default();
        let codes = [OpCode::Auth, OpCode::Error, OpCode::Delete, OpCode::Exists];
        for (xid, code) in [-4, 1, -4, -4].into_iter().zip(codes) {
            outstanding.push(xid, Asked { code, stat: false, ops: Vec::new() });
        }
        let taken = [-4, -4, -4, -4, 1].map(|xid| outstanding.take(xid).map(|asked| asked.code));
        let [auth, error, delete, exists] = codes.map(Some);
        assert_eq!(taken, [auth, delete, exists, None, error]);
        assert!(outstanding.is_empty());
    }
}

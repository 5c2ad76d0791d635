//! Answers that nobody gave.

use zk_api::{
    CreateMode, Data, ErrorCode, MultiOutcome, Op, OpResult, Request, Response, SessionId, Stat, StatFields,
    Text,
};

/// What a request that succeeds is answered, as far as that can be made up: nothing is there to be read.
pub fn success(request: &Request, session: SessionId) -> Response {
    let stat = |mode: CreateMode| {
        let ephemeral_owner = if mode.is_ephemeral() { session } else { SessionId::NONE };
        Stat::from(StatFields { ephemeral_owner, ..StatFields::default() })
    };
    let none = Stat::default();
    match request {
        Request::Create { path, mode, stat: told, .. } => {
            Response::Created { path: created(path, *mode), stat: told.then(|| stat(*mode)) }
        }
        Request::Delete { .. } => Response::Deleted,
        Request::Exists { .. } => Response::Exists(None),
        Request::GetData { .. } => Response::Data { data: Data::NULL, stat: none },
        Request::SetData { .. } => Response::DataSet(none),
        Request::GetChildren { stat, .. } => {
            Response::Children { names: Vec::new(), stat: stat.then_some(none) }
        }
        Request::GetAcl { .. } => Response::Acl { acl: zk_api::open_acl(), stat: none },
        Request::SetAcl { .. } => Response::AclSet(none),
        Request::Sync { path } => Response::Synced { path: path.clone() },
        Request::Multi { ops } => {
            let result = |op: &Op| match op {
                Op::Create { path, mode, stat: told, .. } => {
                    OpResult::Created { path: created(path, *mode), stat: told.then(|| stat(*mode)) }
                }
                Op::Delete { .. } => OpResult::Deleted,
                Op::SetData { .. } => OpResult::DataSet(none),
                Op::Check { .. } => OpResult::Checked,
            };
            Response::Multi(MultiOutcome::Applied(ops.iter().map(result).collect()))
        }
        Request::MultiRead { ops } => {
            Response::MultiRead(ops.iter().map(|_| Err(ErrorCode::NoNode)).collect())
        }
        Request::AddWatch { .. } => Response::WatchAdded,
        Request::RemoveWatches { .. } => Response::WatchesRemoved,
        Request::CheckWatches { .. } => Response::WatchesPresent,
        Request::GetEphemerals { .. } => Response::Ephemerals(Vec::new()),
        Request::GetAllChildrenNumber { .. } => Response::AllChildrenNumber(0),
        Request::WhoAmI => Response::WhoAmI(Vec::new()),
        Request::Auth { .. } => Response::Authenticated,
        Request::CloseSession => Response::Closed,
    }
}

fn created(path: &Text, mode: CreateMode) -> Text {
    if mode.is_sequential() { format!("{path}0000000000").into() } else { path.clone() }
}

/// What failed, if anything did: the error, and the operation of a multi that had it.
pub fn failure(result: &Result<Response, ErrorCode>) -> Option<(ErrorCode, usize)> {
    match result {
        Err(code) => Some((*code, 0)),
        Ok(Response::Multi(MultiOutcome::Failed(codes))) => {
            codes.iter().enumerate().find_map(|(nth, code)| code.map(|code| (code, nth)))
        }
        Ok(_) => None,
    }
}

/// Whether what failed there creates a znode.
pub fn creates(request: &Request, nth: usize) -> bool {
    match request {
        Request::Create { .. } => true,
        Request::Multi { ops } => matches!(ops.get(nth), Some(Op::Create { .. })),
        _ => false,
    }
}

/// The answer to a multi of which one operation, a delete, was not sent.
pub fn with_delete(outcome: MultiOutcome, nth: usize) -> MultiOutcome {
    match outcome {
        MultiOutcome::Applied(mut results) => {
            results.insert(nth, OpResult::Deleted);
            MultiOutcome::Applied(results)
        }
        MultiOutcome::Failed(mut codes) => {
            let failed = codes.iter().position(Option::is_some).unwrap_or(codes.len());
            codes.insert(nth, (failed < nth).then_some(ErrorCode::RuntimeInconsistency));
            MultiOutcome::Failed(codes)
        }
    }
}

/// The mode without a number at the end of the name.
pub fn not_sequential(mode: CreateMode) -> CreateMode {
    match mode {
        CreateMode::PersistentSequential => CreateMode::Persistent,
        CreateMode::EphemeralSequential => CreateMode::Ephemeral,
        CreateMode::PersistentSequentialTtl(ttl) => CreateMode::PersistentTtl(ttl),
        CreateMode::Persistent
        | CreateMode::Ephemeral
        | CreateMode::Container
        | CreateMode::PersistentTtl(_) => mode,
    }
}

/// The mode for a znode that outlives its session.
pub fn not_ephemeral(mode: CreateMode) -> CreateMode {
    match mode {
        CreateMode::Ephemeral => CreateMode::Persistent,
        CreateMode::EphemeralSequential => CreateMode::PersistentSequential,
        CreateMode::Persistent
        | CreateMode::PersistentSequential
        | CreateMode::Container
        | CreateMode::PersistentTtl(_)
        | CreateMode::PersistentSequentialTtl(_) => mode,
    }
}

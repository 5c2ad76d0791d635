//! A record's answers in the terms of `Service`.

use std::collections::BTreeMap;
use zk_api::{ErrorCode, MultiOutcome, OpResult, Response, SessionId, Stat, StatFields, Zxid};

/// What the record's names are called here.
#[derive(Debug, Default)]
pub struct Names {
    pub zxids: BTreeMap<Zxid, Zxid>,
    pub sessions: BTreeMap<SessionId, SessionId>,
}

impl Names {
    /// An answer of the record, with our names, and without what is not compared.
    pub fn ours(&self, answer: &Result<Response, ErrorCode>) -> Result<Response, ErrorCode> {
        answer.as_ref().map(|response| map(response, &|stat| self.stat(stat))).map_err(|code| *code)
    }

    fn stat(&self, stat: &Stat) -> Stat {
        // One that is not known stays: it is not ours, and will not be taken for it.
        let zxid = |zxid: Zxid| self.zxids.get(&zxid).copied().unwrap_or(zxid);
        let owner = stat.ephemeral_owner();
        plain(&Stat::from(StatFields {
            czxid: zxid(stat.czxid()),
            mzxid: zxid(stat.mzxid()),
            pzxid: zxid(stat.pzxid()),
            ephemeral_owner: self.sessions.get(&owner).copied().unwrap_or(owner),
            ..stat.fields()
        }))
    }
}

/// An answer of `Service` without what is not compared.
pub fn compared(answer: &Result<Response, ErrorCode>) -> Result<Response, ErrorCode> {
    answer.as_ref().map(|response| map(response, &plain)).map_err(|code| *code)
}

fn plain(stat: &Stat) -> Stat {
    Stat::from(StatFields { ctime_ms: 0, mtime_ms: 0, ..stat.fields() })
}

fn map(response: &Response, of: &dyn Fn(&Stat) -> Stat) -> Response {
    let sorted = |names: &Vec<zk_api::Text>| {
        let mut names = names.clone();
        names.sort();
        names
    };
    match response {
        Response::Created { path, stat } => {
            Response::Created { path: path.clone(), stat: stat.as_ref().map(of) }
        }
        Response::Exists(stat) => Response::Exists(stat.as_ref().map(of)),
        Response::Data { data, stat } => Response::Data { data: data.clone(), stat: of(stat) },
        Response::DataSet(stat) => Response::DataSet(of(stat)),
        Response::Children { names, stat } => {
            Response::Children { names: sorted(names), stat: stat.as_ref().map(of) }
        }
        Response::Acl { acl, stat } => Response::Acl { acl: acl.clone(), stat: of(stat) },
        Response::AclSet(stat) => Response::AclSet(of(stat)),
        Response::Multi(MultiOutcome::Applied(results)) => {
            let results = results.iter().map(|result| match result {
                OpResult::Created { path, stat } => {
                    OpResult::Created { path: path.clone(), stat: stat.as_ref().map(of) }
                }
                OpResult::DataSet(stat) => OpResult::DataSet(of(stat)),
                OpResult::Deleted | OpResult::Checked => result.clone(),
            });
            Response::Multi(MultiOutcome::Applied(results.collect()))
        }
        Response::MultiRead(results) => {
            let of = |result: &Result<Response, ErrorCode>| match result {
                Ok(response) => Ok(map(response, of)),
                Err(code) => Err(*code),
            };
            Response::MultiRead(results.iter().map(of).collect())
        }
        Response::Ephemerals(paths) => Response::Ephemerals(sorted(paths)),
        Response::Deleted
        | Response::Synced { .. }
        | Response::Multi(MultiOutcome::Failed(_))
        | Response::WatchAdded
        | Response::WatchesRemoved
        | Response::WatchesPresent
        | Response::AllChildrenNumber(_)
        | Response::WhoAmI(_)
        | Response::Authenticated
        | Response::Closed => response.clone(),
    }
}

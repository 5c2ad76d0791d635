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
        changed(answer, &|stat| self.stat(stat))
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
    changed(answer, &plain)
}

fn plain(stat: &Stat) -> Stat {
    Stat::from(StatFields { ctime_ms: 0, mtime_ms: 0, ..stat.fields() })
}

/// An answer with other Stats, and with its lists in order.
fn changed(answer: &Result<Response, ErrorCode>, of: &dyn Fn(&Stat) -> Stat) -> Result<Response, ErrorCode> {
    let mut answer = answer.clone();
    answer.iter_mut().for_each(|response| change(response, of));
    answer
}

fn change(response: &mut Response, of: &dyn Fn(&Stat) -> Stat) {
    match response {
        Response::Created { stat, .. } | Response::Exists(stat) => *stat = stat.as_ref().map(of),
        Response::Data { stat, .. }
        | Response::DataSet(stat)
        | Response::Acl { stat, .. }
        | Response::AclSet(stat) => *stat = of(stat),
        Response::Children { names, stat } => {
            names.sort();
            *stat = stat.as_ref().map(of);
        }
        Response::Ephemerals(paths) => paths.sort(),
        Response::Multi(MultiOutcome::Applied(results)) => {
            results.iter_mut().for_each(|result| match result {
                OpResult::Created { stat, .. } => *stat = stat.as_ref().map(of),
                OpResult::DataSet(stat) => *stat = of(stat),
                OpResult::Deleted | OpResult::Checked => {}
            });
        }
        Response::MultiRead(results) => {
            results.iter_mut().flatten().for_each(|response| change(response, of));
        }
        Response::Deleted
        | Response::Synced { .. }
        | Response::Multi(MultiOutcome::Failed(_))
        | Response::WatchAdded
        | Response::WatchesRemoved
        | Response::WatchesPresent
        | Response::AllChildrenNumber(_)
        | Response::WhoAmI(_)
        | Response::Authenticated
        | Response::Closed => {}
    }
}

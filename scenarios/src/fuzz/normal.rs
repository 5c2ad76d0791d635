//! What a program sees, in words that both engines share: without times and numbers that have no meaning of their own.

use std::fmt::Debug;
use zk_api::{
    AclList, Data, EventType, KeeperState, MultiOutcome, OpResult, Response, SessionId, Stat, Text,
    WatchedEvent,
};

/// Numbers of which only the order counts, each named by its place among those seen before.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks<T>(Vec<T>);

impl<T: Ord> Ranks<T> {
    /// An even number for one that was seen before, an odd one for one that lies in between.
    pub(super) fn rank(&mut self, number: T) -> usize {
        match self.0.binary_search(&number) {
            Ok(at) => 2 * at + 1,
            Err(at) => {
                self.0.insert(at, number);
                2 * at
            }
        }
    }
}

/// An answer, but for its Stat and the order of names.
pub(super) fn answer(response: &Response) -> String {
    match response {
        Response::Created { path, .. } => format!("created {path}"),
        Response::Deleted => "deleted".into(),
        Response::Exists(None) => "not there".into(),
        Response::Exists(Some(_)) => "there".into(),
        Response::Data { data, .. } => format!("data {}", text(data)),
        Response::DataSet(_) => "set".into(),
        Response::Children { names, .. } => format!("children {}", sorted(names)),
        Response::Acl { acl, .. } => format!("acl {}", acl_text(acl)),
        Response::AclSet(_) => "acl set".into(),
        Response::Synced { path } => format!("synced {path}"),
        Response::Multi(MultiOutcome::Applied(results)) => {
            let results: Vec<String> = results.iter().map(result).collect();
            format!("applied: {}", results.join(", "))
        }
        Response::Multi(MultiOutcome::Failed(codes)) => format!("failed: {codes:?}"),
        Response::MultiRead(results) => {
            let results: Vec<String> = results
                .iter()
                .map(|result| result.as_ref().map_or_else(|code| format!("{code:?}"), answer))
                .collect();
            results.join(", ")
        }
        Response::WatchAdded => "watch added".into(),
        Response::WatchesRemoved => "watches removed".into(),
        Response::WatchesPresent => "watches present".into(),
        Response::Ephemerals(paths) => format!("ephemerals {}", sorted(paths)),
        Response::AllChildrenNumber(number) => format!("{number} below"),
        Response::WhoAmI(identities) => {
            // The address is not the model's business.
            let mut who: Vec<String> =
                identities.iter().filter(|who| &*who.scheme != "ip").map(|who| format!("{who:?}")).collect();
            who.sort();
            who.join(" ")
        }
        Response::Authenticated => "authenticated".into(),
        Response::Closed => "closed".into(),
    }
}

fn result(result: &OpResult) -> String {
    match result {
        OpResult::Created { path, .. } => format!("created {path}"),
        OpResult::DataSet(_) => "set".into(),
        OpResult::Deleted => "deleted".into(),
        OpResult::Checked => "checked".into(),
    }
}

fn text(data: &Data) -> String {
    format!("{data:?}")
}

fn sorted(names: &[Text]) -> String {
    let mut names = names.to_vec();
    names.sort();
    names.join(" ")
}

fn acl_text(acl: &AclList) -> String {
    let entries: Vec<String> = acl.iter().map(|acl| format!("{:?} {:?}", acl.perms, acl.who)).collect();
    entries.join(" ")
}

/// The Stat that an answer brings.
pub(super) fn stat_of(response: &Response) -> Option<Stat> {
    match response {
        Response::Created { stat, .. } | Response::Exists(stat) | Response::Children { stat, .. } => *stat,
        Response::Data { stat, .. }
        | Response::DataSet(stat)
        | Response::Acl { stat, .. }
        | Response::AclSet(stat) => Some(*stat),
        Response::Deleted
        | Response::Synced { .. }
        | Response::Multi(_)
        | Response::MultiRead(_)
        | Response::WatchAdded
        | Response::WatchesRemoved
        | Response::WatchesPresent
        | Response::Ephemerals(_)
        | Response::AllChildrenNumber(_)
        | Response::WhoAmI(_)
        | Response::Authenticated
        | Response::Closed => None,
    }
}

/// An event.
pub(super) fn event(event: &WatchedEvent) -> String {
    match event.kind {
        EventType::None => format!("session over: {}", state(event.state)),
        kind => format!("{kind:?} {}", event.path),
    }
}

/// A state of a session.
pub(super) fn state(state: impl Debug) -> String {
    format!("{state:?}")
}

/// Whose a znode is.
pub(super) fn owner(owner: SessionId, me: SessionId, with_order: bool) -> &'static str {
    match () {
        () if owner == SessionId::NONE => "nobody's",
        () if owner == me => "mine",
        () if !with_order => "another's",
        () if owner < me => "a lower session's",
        () => "a higher session's",
    }
}

/// Whether a session can no longer be asked for anything.
pub(super) fn is_lost(state: KeeperState) -> bool {
    state == KeeperState::Expired
}

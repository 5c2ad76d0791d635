//! The invariants of whole servers: of their trees, of what stands for requests, and of what the client was told.

use super::client::{IN_ORDER, NEVER_BACK, WATCH_FIRST};
use super::config::Traces;
use super::server_node::ServerNode;
use super::state::State;
use super::watch::{Invariant, Judged};
use super::work::{self, request};
use crate::trace_validation::validate_from;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::{Request, SessionId, Text, Zxid, split};
use zk_proto::message::Xid;
use zk_proto::server::Server;
use zk_proto::txn::{Txn, TxnBody};

/// Of two servers that show all up to the same transaction, the trees and the sessions are the same.
pub const EQUAL_TREES: &str = "EqualTrees";
/// No ephemeral znode outlives its session, anywhere.
pub const EPHEMERALS_HAVE_SESSIONS: &str = "EphemeralsHaveSessions";
/// Of a multi all operations stand, or none.
pub const MULTI_IS_ATOMIC: &str = "MultiIsAtomic";
/// A parent's counter never goes back, so that no sequential name is given twice.
pub const COUNTERS_ASCEND: &str = "CountersAscend";
/// What a session asked for takes effect in the order in which it was asked, but for its end.
pub const SESSION_ORDER: &str = "SessionOrder";
/// What a client was told to stand stands, and with that zxid.
pub const ANSWERED_STANDS: &str = "AnsweredStands";
/// A server starts from whatever a crash may leave of its disk.
pub const CRASH_SPOILS_NOTHING: &str = "CrashSpoilsNothing";

/// `Service` allows all that the client was shown: see [`crate::trace_validation`]. Asked where traces are judged.
pub const SERVICE_ALLOWS: &str = "ServiceAllows";

impl Judged for ServerNode {
    const INVARIANTS: &'static [Invariant<ServerNode>] = &ALL;
}

/// All of them, in order.
const ALL: [Invariant<ServerNode>; 11] = [
    (EQUAL_TREES, equal_trees, |state| {
        let mut shown: Vec<Zxid> = servers(state).map(|(_, server)| server.tree().last_zxid()).collect();
        shown.sort_unstable();
        shown.windows(2).any(|two| two[0] == two[1] && two[0] > Zxid::ZERO)
    }),
    (EPHEMERALS_HAVE_SESSIONS, ephemerals_have_sessions, |state| {
        servers(state).any(|(_, server)| !server.tree().ephemeral_owners().is_empty())
    }),
    (MULTI_IS_ATOMIC, multi_is_atomic, |state| {
        stand(state).any(|txn| matches!(asked_for(state, txn), Request::Multi { .. }))
    }),
    (COUNTERS_ASCEND, counters_ascend, |state| {
        stand(state).any(|txn| matches!(txn.body, TxnBody::Create { .. }))
    }),
    (SESSION_ORDER, session_order, |state| stand(state).count() > 1),
    (ANSWERED_STANDS, answered_stands, |state| !state.client.answered.is_empty()),
    (CRASH_SPOILS_NOTHING, crash_spoils_nothing, |_| true),
    (NEVER_BACK, |state| told(state, NEVER_BACK), |state| state.client.last > Zxid::ZERO),
    (IN_ORDER, |state| told(state, IN_ORDER), |state| state.client.at.is_some()),
    (WATCH_FIRST, |state| told(state, WATCH_FIRST), |state| state.client.at.is_some()),
    (SERVICE_ALLOWS, service_allows, |state| state.client.record.len() > 1),
];

/// What the client was told and must not have been, by this name.
fn told(state: &State<ServerNode>, name: &str) -> Result<(), String> {
    match state.client.wrong.iter().find(|(broken, _)| *broken == name) {
        Some((_, what)) => Err(what.clone()),
        None => Ok(()),
    }
}

/// What stands of what the client asked for.
fn stand(state: &State<ServerNode>) -> impl Iterator<Item = &Arc<Txn>> {
    state.ghost.committed.values().filter(|txn| txn.session == work::SESSION)
}

/// What the client asked for with it.
fn asked_for(state: &State<ServerNode>, txn: &Txn) -> Request {
    request(state.nodes[0].setup().work, txn.xid.0.into())
}

/// The servers that are up, by their ids.
fn servers(state: &State<ServerNode>) -> impl Iterator<Item = (u8, &Server)> {
    state.servers().filter_map(|id| Some((id.0, state.node(id).server()?)))
}

fn equal_trees(state: &State<ServerNode>) -> Result<(), String> {
    let mut first: BTreeMap<Zxid, (u8, &Server)> = BTreeMap::new();
    for (id, server) in servers(state) {
        let shows = server.tree().last_zxid();
        let (other, same) = first.entry(shows).or_insert((id, server));
        if same.tree() != server.tree() || same.sessions() != server.sessions() {
            return Err(format!("servers {other} and {id} show all up to {shows} in two ways"));
        }
    }
    Ok(())
}

fn ephemerals_have_sessions(state: &State<ServerNode>) -> Result<(), String> {
    for (id, server) in servers(state) {
        let mut owners = server.tree().ephemeral_owners().into_iter();
        if let Some(owner) = owners.find(|owner| server.sessions().find(*owner).is_none()) {
            return Err(format!("server {id} shows an ephemeral znode of {owner}, which is over"));
        }
    }
    Ok(())
}

fn multi_is_atomic(state: &State<ServerNode>) -> Result<(), String> {
    for txn in stand(state) {
        let Request::Multi { ops: asked } = asked_for(state, txn) else { continue };
        if let TxnBody::Multi { ops } = &txn.body
            && ops.len() != asked.len()
        {
            return Err(format!("{} does {} of {} operations", txn.zxid, ops.len(), asked.len()));
        }
    }
    Ok(())
}

fn counters_ascend(state: &State<ServerNode>) -> Result<(), String> {
    let (tree, _) = work::image();
    let mut created: BTreeMap<Text, i32> =
        tree.nodes().map(|(path, node)| (path.clone(), node.created)).collect();
    for txn in state.ghost.committed.values() {
        let alone = std::slice::from_ref(&txn.body);
        let ops = if let TxnBody::Multi { ops } = &txn.body { ops } else { alone };
        for op in ops {
            let TxnBody::Create { path, parent_created, .. } = op else { continue };
            let before = created.entry(split(path).0.into()).or_insert(0);
            if *parent_created <= *before {
                let (zxid, parent) = (txn.zxid, split(path).0);
                return Err(format!(
                    "{zxid} counts {parent_created} at {parent}, where {before} were created"
                ));
            }
            *before = *parent_created;
        }
    }
    Ok(())
}

fn session_order(state: &State<ServerNode>) -> Result<(), String> {
    let mut last: BTreeMap<SessionId, Xid> = BTreeMap::new();
    for txn in state.ghost.committed.values().filter(|txn| takes_effect(txn)) {
        let before = last.entry(txn.session).or_insert(txn.xid);
        if txn.xid < *before {
            return Err(format!("number {} takes effect after number {}", txn.xid.0, before.0));
        }
        *before = txn.xid;
    }
    Ok(())
}

/// Whether it is a session's request, and was not refused. The end of a session counts from wherever it comes.
fn takes_effect(txn: &Txn) -> bool {
    match txn.body {
        TxnBody::Error(_) | TxnBody::MultiError(_) | TxnBody::CloseSession { .. } => false,
        TxnBody::CreateSession { .. }
        | TxnBody::Create { .. }
        | TxnBody::Delete { .. }
        | TxnBody::SetData { .. }
        | TxnBody::SetAcl { .. }
        | TxnBody::Check { .. }
        | TxnBody::Multi { .. } => txn.session != SessionId::NONE,
    }
}

fn answered_stands(state: &State<ServerNode>) -> Result<(), String> {
    for (xid, zxid) in &state.client.answered {
        let is_it = |txn: &Arc<Txn>| txn.session == work::SESSION && txn.xid == *xid;
        if !state.ghost.committed.get(zxid).is_some_and(is_it) {
            return Err(format!("number {} is answered with {zxid}, which is not what stands", xid.0));
        }
    }
    Ok(())
}

fn service_allows(state: &State<ServerNode>) -> Result<(), String> {
    let Traces::Judged(restriction) = state.nodes[0].setup().traces else { return Ok(()) };
    let (paths, counters) = work::beginning();
    let accepted = validate_from(&paths, &counters, &state.client.record, restriction);
    accepted.map(|_| ()).map_err(|rejection| rejection.to_string())
}

fn crash_spoils_nothing(state: &State<ServerNode>) -> Result<(), String> {
    match state.servers().find(|id| state.node(*id).is_refused()) {
        Some(id) => Err(format!("server {} does not start from what a crash has left", id.0)),
        None => Ok(()),
    }
}

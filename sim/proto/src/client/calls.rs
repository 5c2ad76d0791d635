//! Requests of the user on their way, and their answers.

use super::link::LinkState;
use super::{CallId, ClientOutput, ClientSession, ClientStep, WatchId};
use crate::message::{ConnId, ToServer, Xid};
use std::collections::VecDeque;
use zk_api::{Error, ErrorCode, KeeperState, Request, Response, Zxid};

/// The number of credentials that are repeated, which nobody waits for. Source: ZooKeeper 3.9, `AUTHPACKET_XID`.
const REPEATED_AUTH: Xid = Xid(-4);

/// A request that is not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Call {
    xid: Xid,
    /// Who asked; nobody waits for credentials that are repeated.
    call: Option<CallId>,
    request: Request,
    /// Whether the user still wants the watch that it sets.
    wants_watch: bool,
}

impl ClientSession {
    /// The user submits a request.
    pub(super) fn submit(&mut self, call: CallId, request: Request, step: &mut ClientStep<'_>) {
        let call = Call { xid: Xid(0), call: Some(call), request, wants_watch: true };
        let over = match self.state {
            KeeperState::Disconnected | KeeperState::SyncConnected => None,
            KeeperState::AuthFailed => Some(ErrorCode::AuthFailed),
            KeeperState::Expired | KeeperState::Closed => Some(ErrorCode::SessionExpired),
        };
        if let Some(code) = over {
            fail(call, code, step);
            return;
        }
        if self.closing {
            // No server will ever see it. It keeps its place: it fails when the end has come.
            self.queued.push_back(call);
            return;
        }
        self.closing = call.request == Request::CloseSession;
        if let Request::Auth { scheme, credentials } = &call.request {
            let new = (scheme.clone(), credentials.clone());
            if !self.credentials.contains(&new) {
                self.credentials.push(new);
            }
        }
        match self.link {
            LinkState::Up { conn, .. } => self.send_call(conn, call, step),
            LinkState::Down | LinkState::Opening { .. } | LinkState::Asking { .. } => {
                self.queued.push_back(call)
            }
        }
    }

    /// Sends a request with the next number.
    pub(super) fn send_call(&mut self, conn: ConnId, mut call: Call, step: &mut ClientStep<'_>) {
        // What was submitted after the session's end was asked for is not sent.
        if self.sent.back().is_some_and(|last| last.request == Request::CloseSession) {
            self.queued.push_back(call);
            return;
        }
        self.last_xid = Xid(self.last_xid.0.checked_add(1).unwrap_or(1));
        call.xid = self.last_xid;
        self.send_numbered(conn, call, step);
    }

    /// Says again who the client is.
    pub(super) fn repeat_credentials(&mut self, conn: ConnId, request: Request, step: &mut ClientStep<'_>) {
        self.send_numbered(conn, Call { xid: REPEATED_AUTH, call: None, request, wants_watch: false }, step);
    }

    fn send_numbered(&mut self, conn: ConnId, call: Call, step: &mut ClientStep<'_>) {
        step.send(conn, ToServer::Request { xid: call.xid, request: call.request.clone() });
        if let LinkState::Up { sent_ms, .. } = &mut self.link {
            *sent_ms = step.now_ms;
        }
        self.sent.push_back(call);
    }

    /// An answer has come. It is that of the first request sent, or the server is out of order.
    pub(super) fn answered(
        &mut self,
        xid: Xid,
        zxid: Zxid,
        result: Result<Response, ErrorCode>,
        step: &mut ClientStep<'_>,
    ) {
        if self.sent.front().is_none_or(|call| call.xid != xid) {
            self.hang_up(step);
            return;
        }
        let call = self.sent.pop_front().expect("the front was just seen");
        self.last_zxid = self.last_zxid.max(zxid);
        let is_auth = matches!(call.request, Request::Auth { .. });
        let is_close = call.request == Request::CloseSession;
        let refused = is_auth && result == Err(ErrorCode::AuthFailed);
        let closed = is_close && result.is_ok();
        self.complete(call, result, step);
        if refused {
            self.part(KeeperState::AuthFailed, ErrorCode::AuthFailed, step);
        } else if closed {
            self.part(KeeperState::Closed, ErrorCode::SessionExpired, step);
        }
    }

    /// The session ends while it is connected.
    fn part(&mut self, state: KeeperState, code: ErrorCode, step: &mut ClientStep<'_>) {
        if let LinkState::Up { conn, .. } = self.link {
            self.former = Some(conn);
            step.out.push(ClientOutput::Close { conn: Some(conn) });
        }
        self.end(state, code, step);
    }

    /// The connection went while the session's end was on its way: for the user it is over all the same.
    /// What was asked before the end, and the end itself, may have happened; what came later did not.
    pub(super) fn end_closing(&mut self, step: &mut ClientStep<'_>) {
        let mut calls: VecDeque<Call> = std::mem::take(&mut self.sent);
        calls.append(&mut self.queued);
        let end = calls.iter().position(|call| call.request == Request::CloseSession);
        self.queued = calls.split_off(end.map_or(calls.len(), |at| at + 1));
        for call in calls {
            fail(call, ErrorCode::ConnectionLoss, step);
        }
        self.end(KeeperState::Closed, ErrorCode::SessionExpired, step);
    }

    fn complete(&mut self, call: Call, result: Result<Response, ErrorCode>, step: &mut ClientStep<'_>) {
        let Some(id) = call.call else { return };
        let Call { request, wants_watch, .. } = call;
        let mut watch = None;
        if let Ok(response) = &result
            && self.watches.answered(&request, response, wants_watch.then_some(WatchId(id.0)))
        {
            watch = Some(WatchId(id.0));
        }
        let result = result.map_err(|code| Error { code, tried: request.name(), path: request.path() });
        step.out.push(ClientOutput::Complete { call: id, result, watch });
    }

    /// Everything that was asked fails, in order.
    pub(super) fn fail_all(&mut self, code: ErrorCode, step: &mut ClientStep<'_>) {
        let sent = std::mem::take(&mut self.sent);
        let queued = std::mem::take(&mut self.queued);
        for call in sent.into_iter().chain(queued) {
            fail(call, code, step);
        }
    }

    /// The user no longer waits for a watch.
    pub(super) fn abandon(&mut self, watch: WatchId) {
        self.watches.abandon(watch);
        for call in self.sent.iter_mut().chain(&mut self.queued) {
            if call.call == Some(CallId(watch.0)) {
                call.wants_watch = false;
            }
        }
    }
}

fn fail(call: Call, code: ErrorCode, step: &mut ClientStep<'_>) {
    if let Some(id) = call.call {
        let result = Err(Error { code, tried: call.request.name(), path: call.request.path() });
        step.out.push(ClientOutput::Complete { call: id, result, watch: None });
    }
}

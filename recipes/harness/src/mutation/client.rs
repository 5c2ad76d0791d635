//! The session of a mutated process.

use super::answers::{creates, failure, not_ephemeral, not_sequential, success, with_delete};
use super::kind::Kind;
use super::life::{Held, Life};
use crate::probe::Probe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use zk_api::{
    Call, CreateMode, Error, ErrorCode, EventType, KeeperState, Local, Op, Pending, Request, Response,
    SessionId, Watch, WatchedEvent, ZooKeeper,
};

/// How long who polls sleeps.
const POLLS_EVERY: Duration = Duration::from_millis(100);

/// A session that does what its process would do if it were wrong.
pub struct Client {
    pub zk: Arc<dyn ZooKeeper>,
    pub probe: Arc<dyn Probe>,
    pub life: Arc<Life>,
}

impl ZooKeeper for Client {
    fn submit(&self, mut request: Request) -> Call {
        let life = &self.life;
        if let Some((thread, what)) = life.asks() {
            self.probe.observe_of(thread, what);
        }
        if life.meets(Kind::ReturnsEarly, &request) {
            life.end();
            return never();
        }
        if life.meets(Kind::NeverReturns, &request) {
            return never();
        }
        if let Request::Delete { .. } = request
            && life.meets(Kind::DeleteNotSent, &request)
        {
            return Pending::ready(Ok((Response::Deleted, None)));
        }
        self.change(&mut request);
        if request.is_write() && request != Request::CloseSession && life.meets(Kind::WriteTwice, &request) {
            let first = self.sent(request.clone());
            drop(self.zk.submit(request));
            return first;
        }
        if life.meets(Kind::StepLate, &request) {
            return self.late(request);
        }
        self.sent(request)
    }

    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.zk.sleep(duration)
    }

    fn session(&self) -> SessionId {
        self.zk.session()
    }

    fn state(&self) -> KeeperState {
        match self.zk.state() {
            state if is_lost(state) && self.life.is_deaf() => KeeperState::SyncConnected,
            state => state,
        }
    }

    fn state_change(&self) -> Pending<KeeperState> {
        let life = self.life.clone();
        let change = self.zk.state_change();
        Pending::boxed(async move {
            match change.await {
                state if is_lost(state) && life.is_deaf() => never().await,
                state => state,
            }
        })
    }

    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        let own = self.life.locals().map(Local::Number);
        self.zk.checkpoint(label, &locals.iter().copied().chain(own).collect::<Vec<_>>());
    }
}

impl Client {
    /// Changes what is asked for, each operation of a multi by itself.
    fn change(&self, request: &mut Request) {
        let asked = request.clone();
        let met = |kind| self.life.meets(kind, &asked);
        let mode = |mode: &mut CreateMode| {
            if mode.is_sequential() && met(Kind::NotSequential) {
                *mode = not_sequential(*mode);
            }
            if mode.is_ephemeral() && met(Kind::NotEphemeral) {
                *mode = not_ephemeral(*mode);
            }
        };
        let version = |version: &mut i32| {
            if *version != -1 && met(Kind::AnyVersion) {
                *version = -1;
            }
        };
        match request {
            Request::Create { mode: asked, .. } => mode(asked),
            Request::Delete { version: asked, .. }
            | Request::SetData { version: asked, .. }
            | Request::SetAcl { version: asked, .. } => version(asked),
            Request::Multi { ops } => ops.iter_mut().for_each(|op| match op {
                Op::Create { mode: asked, .. } => mode(asked),
                Op::Delete { version: asked, .. }
                | Op::SetData { version: asked, .. }
                | Op::Check { version: asked, .. } => version(asked),
            }),
            _ => {}
        }
    }

    /// Sends it, one scheduling point late.
    fn late(&self, request: Request) -> Call {
        let held = self.life.holds(&request);
        let mut late = Late { zk: self.zk.clone(), request: Some(request), held };
        let (point, sender) = (self.probe.point(), self.same());
        Pending::boxed(async move {
            point.await;
            let request = late.request.take().expect("it is sent once");
            drop(late);
            sender.sent(request).await
        })
    }

    fn same(&self) -> Client {
        Client { zk: self.zk.clone(), probe: self.probe.clone(), life: self.life.clone() }
    }

    /// Sends it, or what is left of it, and makes of the answer what is to be made of it.
    fn sent(&self, mut request: Request) -> Call {
        if let Some(read) = plain_read(&request)
            && let Some(former) = self.life.former(&read)
            && self.life.meets(Kind::NoSecondLook, &request)
        {
            return self.looked_before(request, former);
        }
        let ended = match watch_of(&request) {
            true if self.life.meets(Kind::NoWatch, &request) => Some(self.ended()),
            true if self.life.meets(Kind::Polls, &request) => return self.polls(request),
            true | false => None,
        };
        if ended.is_some() {
            if let Request::AddWatch { .. } = request {
                return Pending::ready(Ok((Response::WatchAdded, ended)));
            }
            unwatch(&mut request);
        }
        let unsent = self.delete_not_sent(&mut request);
        let call = match (&request, unsent) {
            (Request::Multi { ops }, Some(_)) if ops.is_empty() => {
                Pending::ready(Ok((success(&request, SessionId::NONE), None)))
            }
            _ => self.zk.submit(request.clone()),
        };
        let me = self.same();
        Pending::boxed(async move {
            let mut result = call.await.map(|(response, watch)| (response, ended.or(watch)));
            if let (Some(nth), Ok((Response::Multi(outcome), _))) = (unsent, &mut result) {
                *outcome = with_delete(outcome.clone(), nth);
            }
            me.answered(&request, result).await
        })
    }

    /// Takes an operation out of a multi, if one is not to be sent.
    fn delete_not_sent(&self, request: &mut Request) -> Option<usize> {
        let asked = request.clone();
        let Request::Multi { ops } = request else { return None };
        let is_met =
            |op: &Op| matches!(op, Op::Delete { .. }) && self.life.meets(Kind::DeleteNotSent, &asked);
        let nth = ops.iter().position(is_met)?;
        ops.remove(nth);
        Some(nth)
    }

    /// What the code is given of an answer.
    async fn answered(
        self,
        request: &Request,
        result: Result<(Response, Option<Watch>), Error>,
    ) -> Result<(Response, Option<Watch>), Error> {
        let (response, watch) = match result {
            Ok((response, watch)) => (Ok(response), watch.map(|watch| self.deafened(watch))),
            Err(error) if error.is_session_over() && self.life.is_deaf() => never().await,
            Err(error) if error.is_session_over() => return Err(error),
            Err(error) => (Err(error), None),
        };
        let code = response.clone().map_err(|error| error.code);
        if let Some((code, nth)) = failure(&code) {
            let met = |kind| self.life.meets(kind, request);
            let is_write = request.is_write();
            let mut is_taken = met(Kind::ErrorIsSuccess);
            is_taken |= code == ErrorCode::NodeExists && creates(request, nth) && met(Kind::NodeExistsIsOwn);
            is_taken |= code == ErrorCode::NoNode && is_write && met(Kind::NoNodeIsDone);
            if is_taken {
                let watch = watch_of(request).then(|| self.ended());
                return Ok((success(request, self.zk.session()), watch));
            }
        }
        if let (Ok(response), Some(read)) = (&response, plain_read(request)) {
            self.life.read(read, response);
        }
        response.map(|response| (response, watch))
    }

    /// The same of a watch that is set.
    fn deafened(&self, mut watch: Watch) -> Watch {
        let life = self.life.clone();
        Pending::polled(move |cx| match poll(&mut watch, cx) {
            Poll::Ready(event) if event.kind == EventType::None && is_lost(event.state) && life.is_deaf() => {
                Poll::Pending
            }
            polled => polled,
        })
    }

    /// A read that was made before gives what it gave then, without being made; or it is made for its watch alone.
    fn looked_before(&self, request: Request, former: Response) -> Call {
        if !watch_of(&request) {
            return Pending::ready(Ok((former, None)));
        }
        let held = self.life.holds(&(&request, &former));
        let call = self.zk.submit(request);
        Pending::boxed(async move {
            let result = call.await;
            drop(held);
            result.map(|(response, watch)| if watch.is_some() { (former, watch) } else { (response, watch) })
        })
    }

    /// A watch that nothing fires but the end of the session.
    fn ended(&self) -> Watch {
        let zk = self.zk.clone();
        let mut change = Some(zk.state_change());
        Pending::polled(move |cx| {
            while let Some(next) = &mut change {
                match poll(next, cx) {
                    Poll::Ready(state) if state.is_final() => {
                        change = None;
                        return Poll::Ready(WatchedEvent::session_ended(state));
                    }
                    Poll::Ready(_) => change = Some(zk.state_change()),
                    Poll::Pending => return Poll::Pending,
                }
            }
            Poll::Pending
        })
    }

    /// Reads without a watch, and again and again when the watch is awaited.
    fn polls(&self, mut request: Request) -> Call {
        unwatch(&mut request);
        let (zk, life) = (self.zk.clone(), self.life.clone());
        let call = zk.submit(request.clone());
        Pending::boxed(async move {
            let (first, _) = call.await?;
            let held = life.holds(&(&request, &first));
            let former = first.clone();
            let watch = Pending::boxed(async move {
                let event = changed(&*zk, &request, &former).await;
                drop(held);
                event
            });
            Ok((first, Some(watch)))
        })
    }
}

/// Waits until a read gives something else.
async fn changed(zk: &dyn ZooKeeper, read: &Request, former: &Response) -> WatchedEvent {
    let happened = |kind| WatchedEvent::node(kind, read.path());
    loop {
        zk.sleep(POLLS_EVERY).await;
        let kind = match (zk.submit(read.clone()).await, read, former) {
            (Err(error), ..) if error.is_session_over() => return WatchedEvent::session_ended(zk.state()),
            (Err(error), ..) if error.code == ErrorCode::NoNode => EventType::NodeDeleted,
            (Ok((now, _)), ..) if zk_api::StatReads::unnoted(|| now == *former) => continue,
            (Err(_), ..) => continue,
            (Ok((Response::Exists(None), _)), ..) => EventType::NodeDeleted,
            (Ok(_), Request::Exists { .. }, Response::Exists(None)) => EventType::NodeCreated,
            (Ok(_), Request::GetChildren { .. }, _) => EventType::NodeChildrenChanged,
            (Ok(_), ..) => EventType::NodeDataChanged,
        };
        return happened(kind);
    }
}

/// A request that is still to be sent. Who does not wait for the answer has it sent all the same.
struct Late {
    zk: Arc<dyn ZooKeeper>,
    request: Option<Request>,
    #[expect(dead_code, reason = "it is there until it is dropped")]
    held: Held,
}

impl Drop for Late {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            drop(self.zk.submit(request));
        }
    }
}

fn never<T>() -> Pending<T> {
    Pending::polled(|_| Poll::Pending)
}

fn poll<T>(pending: &mut Pending<T>, cx: &mut Context<'_>) -> Poll<T> {
    std::pin::Pin::new(pending).poll(cx)
}

/// Whether the session is over, and not because its own client has closed it.
fn is_lost(state: KeeperState) -> bool {
    state.is_final() && state != KeeperState::Closed
}

/// Whether it asks for a watch.
fn watch_of(request: &Request) -> bool {
    match request {
        Request::Exists { watch, .. }
        | Request::GetData { watch, .. }
        | Request::GetChildren { watch, .. } => *watch,
        Request::AddWatch { .. } => true,
        _ => false,
    }
}

fn unwatch(request: &mut Request) {
    if let Request::Exists { watch, .. }
    | Request::GetData { watch, .. }
    | Request::GetChildren { watch, .. } = request
    {
        *watch = false;
    }
}

/// A read of a znode, without its watch; `None` for anything else.
fn plain_read(request: &Request) -> Option<Request> {
    let mut read = request.clone();
    unwatch(&mut read);
    let is_read = matches!(
        read,
        Request::Exists { .. }
            | Request::GetData { .. }
            | Request::GetChildren { .. }
            | Request::GetAcl { .. }
    );
    is_read.then_some(read)
}

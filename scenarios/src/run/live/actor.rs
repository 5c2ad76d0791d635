//! A life's session and its probe, as the trial's code sees them.

use super::context::LiveContext;
use super::plan::{chance, share, travel, work};
use crate::run::message;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinHandle;
use zk_api::{Call, KeeperState, Pending, Request, SessionId, Text, ZooKeeper, Zxid};
use zk_harness::event::{ActorId, Event, GroundTruth, Observation, Resource};
use zk_harness::probe::{Probe, Task};
use zk_live::LiveClient;

/// A session that knows what is under way, and lets nothing through once the run is over.
pub(super) struct LiveZk {
    pub(super) client: LiveClient,
    pub(super) context: Arc<LiveContext>,
}

impl LiveZk {
    fn counted<T: Send + 'static>(&self, pending: Pending<T>) -> Pending<T> {
        let under_way = self.context.begin();
        pending.map(move |value| {
            drop(under_way);
            value
        })
    }
}

impl ZooKeeper for LiveZk {
    fn submit(&self, request: Request) -> Call {
        if self.context.is_over() {
            // As an actor's future is dropped at the end: nobody serves it, and nobody waits.
            return Pending::slot().1;
        }
        self.counted(self.client.submit(request))
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.counted(self.client.sleep(duration))
    }
    fn session(&self) -> SessionId {
        self.client.session()
    }
    fn state(&self) -> KeeperState {
        self.client.state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        self.client.state_change()
    }
}

/// The probe of one life.
pub(super) struct LiveProbe {
    pub(super) me: ActorId,
    pub(super) context: Arc<LiveContext>,
    pub(super) tasks: Tasks,
}

/// The other tasks of a life, which end with its session at the latest.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl Tasks {
    fn add(&self, task: JoinHandle<()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    /// Waits for the end of all.
    pub(super) async fn go_on(&self) {
        while let Some(task) = self.next() {
            // One that was aborted has ended.
            let _ = task.await;
        }
    }

    fn next(&self) -> Option<JoinHandle<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(super) fn end(&self) {
        for task in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }
}

impl LiveProbe {
    fn after(&self, time: Duration) -> Pending<()> {
        let under_way = self.context.begin();
        let _within = self.context.runtime.enter();
        let sleep = tokio::time::sleep(time);
        Pending::boxed(async move {
            sleep.await;
            drop(under_way);
        })
    }
}

impl Probe for LiveProbe {
    fn observe_of(&self, thread: u8, what: Observation) {
        self.context.tell(&Event::Observed { actor: self.me.of_thread(thread), what });
    }

    fn point(&self) -> Pending<()> {
        self.after(share(Duration::from_millis(5)))
    }

    fn work(&self) -> Pending<()> {
        self.after(work(self.context.work))
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        let (completer, answer) = Pending::slot();
        let (context, me) = (self.context.clone(), self.me.of_thread(thread));
        let under_way = self.context.begin();
        let there = travel(context.timeout);
        // Of no life: it arrives though its writer has gone.
        self.context.runtime.spawn(async move {
            tokio::time::sleep(there).await;
            let (accepted, wanted) = context.monitor.wrote(me, resource, token);
            context.want_proofs(wanted);
            tokio::time::sleep(share(Duration::from_millis(20))).await;
            drop(under_way);
            completer.complete(accepted);
        });
        answer
    }

    fn guid(&self) -> Text {
        format!("{:016x}{:016x}", chance(), chance()).into()
    }

    fn spawn(&self, task: Task) {
        let (context, me) = (self.context.clone(), self.me);
        self.tasks.add(self.context.runtime.spawn(async move {
            if let Err(message) = to_its_end(task).await {
                context.monitor.panicked(me, &message);
            }
        }));
    }

    fn thread_ends(&self, thread: u8) {
        self.context.tell(&Event::Is(GroundTruth::ThreadEnded { actor: self.me.of_thread(thread) }));
    }
}

/// Polls code to its end, or to its panic.
pub(super) async fn to_its_end<T>(mut code: Pin<Box<dyn Future<Output = T> + Send>>) -> Result<T, String> {
    poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| code.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(payload) => Poll::Ready(Err(message(&*payload).unwrap_or_else(|| "without a message".into()))),
    })
    .await
}

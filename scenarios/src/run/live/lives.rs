//! Client processes and the lives they have.

use super::LiveRun;
use super::actor::{LiveProbe, LiveZk, Tasks};
use super::course::{Course, share};
use crate::run::message;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use zk_live::LiveClient;
use zk_trials::event::{ActorId, End, Event, Fact};
use zk_trials::trial::{Actor, Part, Trial};

/// A client process: one life after the other, each with its own session, until its rounds are done or one of them
/// ends for good.
pub(super) async fn process(course: Arc<Course>, trial: Arc<Trial>, run: LiveRun, number: u16) {
    for life in 0..=u8::MAX {
        let done = u8::try_from(course.monitor.rounds_done(number)).unwrap_or(u8::MAX);
        let rounds = run.rounds.saturating_sub(done);
        // A first life without rounds may be what a trial is for.
        if rounds == 0 && life > 0 {
            return;
        }
        let client = session(&course).await;
        let me = ActorId { process: number, life, thread: 0 };
        course.begins(me, &client);
        let tasks = Tasks::default();
        let zk = Arc::new(LiveZk { client, course: course.clone() });
        let probe = Arc::new(LiveProbe { me, course: course.clone(), tasks: tasks.clone() });
        let part = Part { me, clients: run.clients, rounds, effects: true };
        let end = match to_its_end(trial.clone().actor(zk, probe, part)).await {
            Ok(end) => end,
            Err(message) => {
                course.monitor.panicked(me, &message);
                End::Failed
            }
        };
        tasks.end();
        course.tell(&Event::Is(Fact::Finished { actor: me, end }));
        match end {
            End::Done | End::Failed => return,
            End::SessionLost => tokio::time::sleep(share(Duration::from_millis(200))).await,
        }
    }
}

/// A new session, however often it takes.
async fn session(course: &Arc<Course>) -> LiveClient {
    let _under_way = course.begin();
    loop {
        if let Ok(client) = LiveClient::connect(&course.servers, course.asked).await {
            return client;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Polls an actor to its end, or to its panic.
async fn to_its_end(mut actor: Actor) -> Result<End, String> {
    poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| actor.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(payload) => Poll::Ready(Err(message(&*payload).unwrap_or_else(|| "without a message".into()))),
    })
    .await
}

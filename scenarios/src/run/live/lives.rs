//! Client processes and the lives they have.

use super::actor::{LiveProbe, LiveZk, Tasks, to_its_end};
use super::context::LiveContext;
use super::plan::{LiveRun, share};
use std::sync::Arc;
use std::time::Duration;
use zk_harness::event::{ActorId, End, Event, GroundTruth};
use zk_harness::trial::{Role, Trial};
use zk_live::LiveClient;

/// A client process: one life after the other, each with its own session, until its rounds are done or one of them
/// ends for good.
pub(super) async fn process(context: Arc<LiveContext>, trial: Arc<Trial>, run: LiveRun, number: u16) {
    for life in 0..=u8::MAX {
        let done = u8::try_from(context.monitor.rounds_done(number)).unwrap_or(u8::MAX);
        let rounds = run.rounds.saturating_sub(done);
        // A first life without rounds may be what a trial is for.
        if rounds == 0 && life > 0 {
            return;
        }
        let client = session(&context).await;
        let me = ActorId { process: number, life, thread: 0 };
        context.begins(me, &client);
        let tasks = Tasks::default();
        let zk = Arc::new(LiveZk { client, context: context.clone() });
        let probe = Arc::new(LiveProbe { me, context: context.clone(), tasks: tasks.clone() });
        let role = Role { me, clients: run.clients, rounds, effects: true };
        let end = match to_its_end(trial.clone().actor(zk, probe, role)).await {
            Ok(end) => end,
            Err(message) => {
                context.monitor.panicked(me, &message);
                End::Failed
            }
        };
        let ended = match end {
            End::Exited => GroundTruth::Crashed { actor: me },
            End::Done | End::Failed | End::SessionLost => GroundTruth::Finished { actor: me, end },
        };
        context.tell(&Event::Is(ended));
        if !end.leaves_nothing_running() {
            return tasks.go_on().await;
        }
        tasks.end();
        if end == End::Exited {
            context.leaves(me).await;
        }
        tokio::time::sleep(share(Duration::from_millis(200))).await;
    }
}

/// A new session, however often it takes.
async fn session(context: &Arc<LiveContext>) -> LiveClient {
    let _under_way = context.begin();
    loop {
        if let Ok(client) = LiveClient::connect(&context.servers, context.asked).await {
            return client;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

//! When a run on a live ensemble is over, and what is left then.

use super::context::LiveContext;
use super::lives::process;
use super::plan::{LiveRun, RoundsDone};
use super::znode_setup::ZnodeSetup;
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use zk_api::SessionId;
use zk_harness::event::ActorId;
use zk_harness::promise::Rest;
use zk_harness::trial::Trial;

/// How often it is looked whether anything moves.
const LOOK: Duration = Duration::from_millis(50);

/// So many session timeouts without a move, all connected, and nobody will move any more. A session that its client
/// has given up lives on for one after the servers are back, and for one more after each change of leaders.
const STILL: u32 = 4;

/// Why nothing goes on.
enum Over {
    /// All actors have ended.
    Done,
    /// Those who have not wait for ever.
    Still,
    /// Something else, in words.
    Early(String),
}

/// Runs the trial, and judges what is left. Gives why it ended before it was over, if it did.
pub(super) async fn run(
    context: &Arc<LiveContext>,
    trial: &Arc<Trial>,
    run: &LiveRun,
    setup: &mut ZnodeSetup,
    progress: RoundsDone<'_>,
) -> Option<String> {
    let mut processes = JoinSet::new();
    for number in 0..run.clients {
        processes.spawn(process(context.clone(), trial.clone(), run.clone(), number));
    }
    let over = until_over(context, run, setup, &mut processes, progress).await;
    // At the latest here: breaks wait for the proof that their actors lived.
    let lived = proven(context).await;
    let ran_out = match over {
        Over::Done | Over::Still => judge_rest(context, setup, &lived).await.err(),
        Over::Early(why) => Some(why),
    };
    // Dropped futures submit what they must, and it goes nowhere.
    context.shut();
    processes.abort_all();
    let _ =
        tokio::time::timeout(context.timeout, async { while processes.join_next().await.is_some() {} }).await;
    ran_out
}

async fn until_over(
    context: &Arc<LiveContext>,
    run: &LiveRun,
    setup: &mut ZnodeSetup,
    processes: &mut JoinSet<()>,
    progress: RoundsDone<'_>,
) -> Over {
    let began = Instant::now();
    let (mut still, mut since) = (None, began);
    // One for all turns: what is pressed between two would be missed.
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            joined = processes.join_next() => if joined.is_none() {
                return Over::Done;
            },
            () = tokio::time::sleep(LOOK) => {}
            _ = &mut interrupted => return Over::Early("it was interrupted".into()),
        }
        progress(context.monitor.all_rounds_done());
        if began.elapsed() >= run.time_limit {
            return Over::Early(format!("the time limit of {:?} came", run.time_limit));
        }
        let now = context.stillness().filter(|_| all_connected(context));
        if now.is_none() || now != still {
            (still, since) = (now, Instant::now());
        } else if since.elapsed() >= STILL * context.timeout {
            // Behind a session that nobody here has, one may rightly wait; it will end, or the time limit will come.
            if nobody_else(context, setup).await {
                return Over::Still;
            }
            since = Instant::now();
        }
    }
}

fn all_connected(context: &LiveContext) -> bool {
    context.monitor.unfinished().into_iter().all(|actor| context.is_connected(actor))
}

/// Whether every ephemeral znode there is belongs to a session of this run that is not over.
async fn nobody_else(context: &LiveContext, setup: &mut ZnodeSetup) -> bool {
    let open: BTreeSet<SessionId> = context.open_sessions().into_iter().map(|(session, _)| session).collect();
    match setup.look().await {
        Ok(nodes) => nodes.iter().all(|(_, owner)| *owner == SessionId::NONE || open.contains(owner)),
        Err(_) => false,
    }
}

/// The sessions that prove to live, and their actors.
async fn proven(context: &Arc<LiveContext>) -> Vec<(SessionId, ActorId)> {
    let mut proofs = JoinSet::new();
    for (session, actor) in context.open_sessions() {
        let context = context.clone();
        proofs.spawn(async move {
            let lived = tokio::time::timeout(STILL * context.timeout, context.prove(actor)).await;
            lived.unwrap_or(false).then_some((session, actor))
        });
    }
    let mut lived: Vec<_> = proofs.join_all().await.into_iter().flatten().collect();
    lived.sort_by_key(|(_, actor)| *actor);
    lived
}

/// Fails if the ensemble does not tell what is left, or not of all.
async fn judge_rest(
    context: &LiveContext,
    setup: &mut ZnodeSetup,
    lived: &[(SessionId, ActorId)],
) -> Result<(), String> {
    let unfinished = context.monitor.unfinished();
    if !unfinished.iter().all(|actor| lived.iter().any(|(_, other)| other == actor)) {
        return Err("who had not ended lost its session at the very end".into());
    }
    let nodes = setup.look().await.map_err(|why| format!("what is left could not be listed: {why}"))?;
    context.monitor.at_rest(&Rest { unfinished, nodes, sessions: lived.to_vec(), ..Rest::default() });
    Ok(())
}

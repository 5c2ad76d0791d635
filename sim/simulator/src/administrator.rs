//! The administrator: somebody with a session of his own who makes the trial's znodes, and later deletes what clients
//! hold, or writes to it. No actor, and nothing that is told of one is told of him but what he does to znodes.

use crate::event::Meddling;
use crate::mailbox::Mailbox;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, ErrorCode, Outcome, Text, ZPath, ZooKeeper};
use zk_harness::event::End;

/// Tries of one administrator's write: none is repeated for ever, as faults come to an end.
const TRIES: u32 = 20;

/// Makes the trial's znodes.
pub async fn sets_up(zk: Arc<Mailbox>, paths: Vec<Text>) -> Option<End> {
    for path in paths {
        let path = ZPath::parse(&path).expect("a trial's own paths are valid");
        // The server has just started: it may not serve yet.
        while let Err(error) = zk.create(&path, Data::NULL, CreateMode::Persistent).await {
            if error.code == ErrorCode::NodeExists {
                break;
            }
            zk.sleep(Duration::from_millis(10)).await;
        }
    }
    let _ = zk.close().await;
    Some(End::Done)
}

/// Meddles with a znode.
pub async fn meddles(zk: Arc<Mailbox>, node: ZPath, meddling: Meddling) -> Option<End> {
    for _ in 0..TRIES {
        let done = match &meddling {
            Meddling::Delete => zk.delete(&node, -1).await,
            Meddling::Write(text) => zk.set_data(&node, Data::from(&**text), -1).await.map(|_| ()),
        };
        match done {
            Err(e) if e.outcome() == Outcome::Unknown && !e.is_session_over() => {
                zk.sleep(Duration::from_millis(100)).await;
            }
            Ok(()) | Err(_) => break,
        }
    }
    None
}

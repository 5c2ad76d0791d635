//! The trial's znodes on a live ensemble: made, looked at, and removed.

use super::plan::chance;
use crate::BadInput;
use std::time::{Duration, Instant};
use zk_api::{CreateMode, Data, Error, ErrorCode, Outcome, SessionId, Text, ZPath, ZooKeeper};
use zk_live::LiveClient;

/// The trial's znodes, and a session of no actor to look after them.
pub(super) struct ZnodeSetup {
    servers: String,
    asked: Duration,
    zk: LiveClient,
    /// The trial's own, parents first.
    own: Vec<ZPath>,
    /// Those that were not there before.
    made: Vec<ZPath>,
}

/// How long a server that was there may be away.
const AWAY: Duration = Duration::from_secs(30);

impl ZnodeSetup {
    /// Opens the session. Fails if there is none within so long.
    pub(super) async fn connect(
        servers: &str,
        asked: Duration,
        patience: Duration,
    ) -> Result<ZnodeSetup, BadInput> {
        let zk = session(servers, asked, patience).await.map_err(|why| {
            bad!("--connect: {why} (within {:?}); does a ZooKeeper listen there?", patience)
        })?;
        Ok(ZnodeSetup { servers: servers.into(), asked, zk, own: Vec::new(), made: Vec::new() })
    }

    /// The session timeout that the ensemble grants.
    pub(super) fn timeout(&self) -> Duration {
        self.zk.session_timeout()
    }

    /// A znode that nobody has.
    pub(super) fn nobody(&self) -> ZPath {
        let name = format!("zoocheck-nobody-{:016x}", chance());
        let root = ZPath::parse("/").expect("the root");
        self.own.first().unwrap_or(&root).join(&name).expect("the name is valid")
    }

    /// Makes the trial's znodes. Those that are there already are taken if nothing is in them; where something is,
    /// nothing is touched.
    pub(super) async fn prepare(&mut self, setup: &[Text]) -> Result<(), BadInput> {
        for path in setup {
            let path = ZPath::parse(path).map_err(|error| bad!("the trial's znodes: {error}"))?;
            match self.make(&path).await {
                Ok(true) => self.made.push(path.clone()),
                Ok(false) => {}
                Err(why) => {
                    // The first error is the one to tell.
                    let _ = self.remove_made().await;
                    return Err(bad!("--connect {}: {why}", self.servers));
                }
            }
            self.own.push(path);
        }
        Ok(())
    }

    /// Whether it was made; `false` if it was there, with nothing in it.
    async fn make(&self, path: &ZPath) -> Result<bool, String> {
        if self.made.contains(path) {
            return Ok(false);
        }
        let made = self.again(|| self.zk.create(path, Data::NULL, CreateMode::Persistent)).await;
        match made {
            Ok(_) => return Ok(true),
            Err(e) if e.code == ErrorCode::NodeExists => {}
            Err(e) => return Err(e.to_string()),
        }
        let (_, stat) = self.again(|| self.zk.data(path)).await.map_err(|e| e.to_string())?;
        if stat.num_children() == 0 && stat.data_length() == 0 && stat.ephemeral_owner() == SessionId::NONE {
            return Ok(false);
        }
        let (children, bytes) = (stat.num_children(), stat.data_length());
        Err(format!(
            "{path} exists and is not empty (children: {children}, bytes: {bytes}); the trial wants it for itself, so \
             remove it, or use another ensemble"
        ))
    }

    /// Tries until the outcome is known.
    async fn again<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        loop {
            match attempt().await {
                Err(e) if e.outcome() == Outcome::Unknown && !e.is_session_over() => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                known => return known,
            }
        }
    }

    /// The znodes below the trial's own, parents first, with their owners, as the ensemble has them now.
    pub(super) async fn look(&mut self) -> Result<Vec<(Text, SessionId)>, String> {
        tokio::time::timeout(AWAY, self.look_around()).await.unwrap_or_else(|_| Err("no answer".into()))
    }

    async fn look_around(&mut self) -> Result<Vec<(Text, SessionId)>, String> {
        // Who was cut off for long needs another session.
        if self.zk.state().is_final() {
            self.zk = session(&self.servers, self.asked, AWAY).await?;
        }
        let mut found = Vec::new();
        let mut parents: Vec<ZPath> = self.own.iter().rev().cloned().collect();
        while let Some(parent) = parents.pop() {
            let listed = self
                .again(async || {
                    let (synced, listed) = (self.zk.sync(&parent), self.zk.children(&parent));
                    synced.await?;
                    listed.await
                })
                .await;
            let names = match listed {
                Ok(names) => names,
                Err(e) if e.code == ErrorCode::NoNode => continue,
                Err(e) => return Err(e.to_string()),
            };
            for name in names {
                let child = parent.join(&name).map_err(|error| error.to_string())?;
                if self.own.contains(&child) {
                    continue;
                }
                match self.again(|| self.zk.exists(&child)).await {
                    Ok(Some(stat)) => found.push((child.text(), stat.ephemeral_owner())),
                    Ok(None) => continue,
                    Err(e) => return Err(e.to_string()),
                }
                parents.push(child);
            }
        }
        Ok(found)
    }

    /// Removes what is below the trial's znodes, and those that were made. Gives what was left by sessions that have
    /// ended: persistent znodes.
    pub(super) async fn clean(&mut self) -> Result<Vec<String>, String> {
        let nodes = self.look().await?;
        let left = nodes.iter().filter(|(_, owner)| *owner == SessionId::NONE);
        let left = left.map(|(path, _)| path.to_string()).collect();
        let remove = async {
            for (path, _) in nodes.iter().rev() {
                let path = ZPath::parse(path).map_err(|error| error.to_string())?;
                self.remove(&path).await?;
            }
            self.remove_made().await
        };
        tokio::time::timeout(AWAY, remove).await.unwrap_or_else(|_| Err("no answer".into()))?;
        let _ = tokio::time::timeout(AWAY, self.zk.close()).await;
        Ok(left)
    }

    async fn remove_made(&self) -> Result<(), String> {
        for path in self.made.iter().rev() {
            self.remove(path).await?;
        }
        Ok(())
    }

    async fn remove(&self, path: &ZPath) -> Result<(), String> {
        match self.again(|| self.zk.delete(path, -1)).await {
            Err(e) if e.code != ErrorCode::NoNode => Err(e.to_string()),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// A session, tried for until it is there or so long is over.
async fn session(servers: &str, asked: Duration, patience: Duration) -> Result<LiveClient, String> {
    let until = Instant::now() + patience;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match tokio::time::timeout(left, LiveClient::connect(servers, asked)).await {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(error)) if Instant::now() >= until => return Err(error.to_string()),
            Ok(Err(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
            Err(_) => return Err(format!("no session with {servers}")),
        }
    }
}

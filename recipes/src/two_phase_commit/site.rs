//! A site: its session, its name, and where transactions and members are.

use crate::session::{self, RecipeError};
use std::fmt;
use std::pin::Pin;
use std::task::Poll;
use zk_api::{Error, EventType, Text, Watch, ZPath, ZooKeeper};

pub(super) struct Site<Z> {
    pub(super) zk: Z,
    pub(super) transactions: ZPath,
    pub(super) members: ZPath,
    pub(super) name: Text,
}

/// As the participant that it is.
impl<Z> fmt::Debug for Site<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Site { transactions, members, name, .. } = self;
        f.debug_struct("Participant")
            .field("transactions", transactions)
            .field("members", members)
            .field("name", name)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Site<Z> {
    pub(super) fn member(&self, name: &str) -> ZPath {
        child(&self.members, name)
    }

    pub(super) async fn passing(&self, error: Error, parent: &ZPath) -> Result<(), RecipeError> {
        session::passing(&self.zk, error, parent).await
    }

    /// Waits until one of these tells anything, or the connection was lost and is there again.
    pub(super) async fn any_of<const N: usize>(&self, mut watches: [Watch; N]) -> Result<(), RecipeError> {
        let mut change = self.zk.state_change();
        let event = std::future::poll_fn(|cx| {
            for watch in &mut watches {
                if let Poll::Ready(event) = Pin::new(watch).poll(cx) {
                    return Poll::Ready(Some(event));
                }
            }
            Pin::new(&mut change).poll(cx).map(|_| None)
        });
        let event = event.await;
        // Or they would be set again on the next connection, for nobody.
        drop(watches);
        match event {
            Some(event) if event.kind == EventType::None => Err(RecipeError::SessionLost),
            Some(_) => Ok(()),
            None => session::connected(&self.zk).await,
        }
    }
}

pub(super) fn child(parent: &ZPath, name: &str) -> ZPath {
    parent.join(name).expect("names of sites were checked")
}

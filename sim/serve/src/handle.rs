//! How others talk to the server.

use crate::core::Core;
use crate::driver::Errand;
use crate::fault::Fault;
use crate::time::Nanos;
use tokio::sync::{mpsc, oneshot};

/// Why a fault cannot be injected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// What is wrong with it, in a line.
    #[error("{0}")]
    Refused(String),
    /// The server has ended.
    #[error("the server has ended")]
    Ended,
}

/// Where others leave what they ask of the server.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) errands: mpsc::Sender<Errand>,
}

impl Handle {
    /// Does something with the server. `None` if it has ended.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Core, Nanos) -> T + Send + 'static,
    ) -> Option<T> {
        self.send(true, what).await
    }

    /// Does something with the server, which then goes on or ends.
    pub(crate) async fn send<T: Send + 'static>(
        &self,
        goes_on: bool,
        what: impl FnOnce(&mut Core, Nanos) -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        let what = move |core: &mut Core, now| {
            // Whoever asked may have gone.
            let _ = done.send(what(core, now));
            goes_on
        };
        self.errands.send(Box::new(what)).await.ok()?;
        result.await.ok()
    }

    /// Does a fault.
    pub(crate) async fn fault(&self, fault: Fault) -> Result<(), FaultError> {
        let done = self.with(move |core, now| core.fault(now, &fault)).await;
        done.ok_or(FaultError::Ended)?.map_err(FaultError::Refused)
    }
}

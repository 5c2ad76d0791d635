//! Who a client is: what it has proven to its servers, and proves again on each later connection.

use super::{At, Client};
use crate::process::Req;
use std::sync::Arc;
use zk_api::{Identity, Request};
use zk_proto::prepare::acl;

impl Client {
    /// Whom a server takes it for to which it says again who it is; `None` if that refuses its credentials.
    pub fn repeated(&self) -> Option<Arc<[Identity]>> {
        self.credentials.iter().try_fold(Arc::default(), |identities, request| {
            proven_by(&identities, &request.request).unwrap_or(Some(identities))
        })
    }
}

impl At<'_> {
    /// What the code has sent by way of credentials is sent again on each later connection.
    pub(super) fn keep_credentials(&mut self, sent: &[Arc<Req>]) {
        for request in sent.iter().filter(|sent| matches!(sent.request, Request::Auth { .. })) {
            if !self.client.credentials.iter().any(|known| known.digest == request.digest) {
                self.client.credentials.push(request.clone());
            }
        }
    }

    /// A new handle knows no credentials.
    pub(super) fn forget_who_it_is(&mut self) {
        self.client.proven.clear();
        self.client.credentials.clear();
        self.client.identities = Arc::default();
    }

    /// So many of the writes that it has sent may still be served, each for whom the server takes it by then.
    pub(super) fn leave_in_flight(&mut self, ghosts: usize) {
        let (mut identities, mut left) = (std::mem::take(&mut self.client.identities), ghosts);
        for request in std::mem::take(&mut self.client.queue) {
            if let Some(proven) = proven_by(&identities, &request.request) {
                // A server that refuses credentials listens no more.
                let Some(proven) = proven else { return };
                identities = proven;
            } else if left > 0 && request.request.is_write() {
                left -= 1;
                self.client.ghosts.push(request);
                self.client.proven.push(identities.clone());
            }
        }
    }
}

/// What a client has proven once a server has taken this request, if it is one to authenticate: `None` if it is refused.
pub(super) fn proven_by(identities: &Arc<[Identity]>, request: &Request) -> Option<Option<Arc<[Identity]>>> {
    match request {
        Request::Auth { scheme, credentials } => Some(acl::prove(identities, scheme, credentials, None)),
        _ => None,
    }
}

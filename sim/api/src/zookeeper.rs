//! `trait ZooKeeper`: what a recipe is written against.

use crate::{
    AclList, AddWatchMode, CreateMode, Data, Error, ErrorCode, Identity, KeeperState, MultiOutcome, Op,
    Pending, ReadOp, Request, Response, SessionId, Stat, Text, WatchedEvent, WatcherKind, ZPath, Zxid,
    open_acl,
};
use std::sync::Arc;
use std::time::Duration;

/// A watch: awaiting it yields its event. A persistent watch yields an event each time it is awaited.
///
/// When the session ends, every watch yields [`EventType::None`](crate::EventType::None).
pub type Watch = Pending<WatchedEvent>;

/// A request on its way: awaiting it yields the answer, and the watch if the request set one.
pub type Call = Pending<Result<(Response, Option<Watch>), Error>>;

/// The value of a local variable that is alive at a [checkpoint](ZooKeeper::checkpoint).
///
/// Text and numbers apart, so that a model checker can recognise the names of processes in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Local<'a> {
    /// A text, such as the path of the task's own znode.
    Text(&'a str),
    /// A number, such as a sequence number or a flag.
    Number(i64),
    /// A zxid, such as a fencing token; its [number](Zxid::were_numbered) does not count as looked at.
    Zxid(Zxid),
}

/// An answer on its way.
pub type Reply<T> = Pending<Result<T, Error>>;

/// What of an answer a method gives, where the answer is of the right kind.
macro_rules! picks {
    ($kind:pat => $what:expr) => {
        |response| match response {
            $kind => Some($what),
            _ => None,
        }
    };
}

/// A client's session with an ensemble.
///
/// Implementors provide `submit`, `sleep` and the session's state; everything else is built on `submit`. `Arc<dyn
/// ZooKeeper>` is a `ZooKeeper` as well.
///
/// **Order.** A request takes its place in the session's first-in-first-out order when the method is
/// called, not when the future is polled. Dropping the future does not take the request back: it may be
/// applied, its answer goes nowhere, and later answers still reach their own callers.
///
/// **Errors.** [`Error::outcome`](crate::Error::outcome) tells whether the request may have had an effect.
///
/// ```
/// use zk_api::{CreateMode, Data, Error, ZPath, ZooKeeper};
/// async fn announce(zk: impl ZooKeeper, who: &ZPath) -> Result<(), Error> {
///     // Both are on their way, in this order, before either is awaited.
///     let created = zk.create(who, Data::NULL, CreateMode::Ephemeral);
///     let listed = zk.children(&who.parent().expect("not the root"));
///     created.await?;
///     assert!(listed.await?.iter().any(|name| **name == *who.name()));
///     Ok(())
/// }
/// ```
pub trait ZooKeeper: Send + Sync {
    /// Puts a request into the session's order, now.
    fn submit(&self, request: Request) -> Call;

    /// Waits, by this client's own clock.
    fn sleep(&self, duration: Duration) -> Pending<()>;

    /// The session's id; [`SessionId::NONE`] before the first connection.
    fn session(&self) -> SessionId;

    /// What the client knows about its session now.
    fn state(&self) -> KeeperState;

    /// The next state that differs from the one now. Registered when called, not when polled.
    fn state_change(&self) -> Pending<KeeperState>;

    /// Tells a model checker that of all that this task did so far, only `locals` can matter from here on.
    ///
    /// `label` names the place in the code. A recipe's loop calls it where it begins again, so that states that differ
    /// only in how they came about are one state. On a real ensemble it does nothing. A local that is forgotten here
    /// makes verdicts wrong; zoocheck audits for it. A caller's locals, which the callee cannot know, are added by
    /// [`Locals`](crate::Locals).
    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        let _ = (label, locals);
    }

    /// Creates a znode that everybody may do everything with; returns its path, with its number if the mode is
    /// sequential. Fails with `NodeExists` if it is there, with `NoNode` if its parent is not, and with
    /// `NoChildrenForEphemerals` if its parent is ephemeral.
    fn create(&self, path: &ZPath, data: Data, mode: CreateMode) -> Reply<Text> {
        let request = Request::Create { path: path.text(), data, acl: open_acl(), mode, stat: false };
        typed(self, request, picks!(Response::Created { path, .. } => path))
    }

    /// Creates a znode with an ACL; returns its path and Stat. Fails as [`create`](ZooKeeper::create), and with
    /// `InvalidAcl`.
    fn create2(&self, path: &ZPath, data: Data, acl: AclList, mode: CreateMode) -> Reply<(Text, Stat)> {
        let request = Request::Create { path: path.text(), data, acl, mode, stat: true };
        typed(self, request, picks!(Response::Created { path, stat: Some(stat) } => (path, stat)))
    }

    /// Deletes a znode; `version` -1 stands for any. Fails with `NoNode`, `BadVersion` or, if it has children,
    /// `NotEmpty`.
    fn delete(&self, path: &ZPath, version: i32) -> Reply<()> {
        typed(self, Request::Delete { path: path.text(), version }, picks!(Response::Deleted => ()))
    }

    /// The Stat of a znode, `None` if it does not exist.
    fn exists(&self, path: &ZPath) -> Reply<Option<Stat>> {
        let request = Request::Exists { path: path.text(), watch: false };
        typed(self, request, picks!(Response::Exists(stat) => stat))
    }

    /// The same, and a watch for its creation, deletion or change.
    fn exists_watch(&self, path: &ZPath) -> Reply<(Option<Stat>, Watch)> {
        let request = Request::Exists { path: path.text(), watch: true };
        watched(self, request, picks!(Response::Exists(stat) => stat))
    }

    /// Data and Stat of a znode. Fails with `NoNode` if it does not exist.
    fn data(&self, path: &ZPath) -> Reply<(Data, Stat)> {
        let request = Request::GetData { path: path.text(), watch: false };
        typed(self, request, picks!(Response::Data { data, stat } => (data, stat)))
    }

    /// The same, and a watch for its deletion or change. There is none if the znode does not exist.
    fn data_watch(&self, path: &ZPath) -> Reply<((Data, Stat), Watch)> {
        let request = Request::GetData { path: path.text(), watch: true };
        watched(self, request, picks!(Response::Data { data, stat } => (data, stat)))
    }

    /// Sets data; returns the new Stat. `version` -1 stands for any. Fails with `NoNode` or `BadVersion`.
    fn set_data(&self, path: &ZPath, data: Data, version: i32) -> Reply<Stat> {
        let request = Request::SetData { path: path.text(), data, version };
        typed(self, request, picks!(Response::DataSet(stat) => stat))
    }

    /// The names of the children, in no specified order. Fails with `NoNode` if the parent does not exist.
    fn children(&self, path: &ZPath) -> Reply<Vec<Text>> {
        let request = Request::GetChildren { path: path.text(), watch: false, stat: false };
        typed(self, request, picks!(Response::Children { names, .. } => names))
    }

    /// The same, and a watch for a child's creation or deletion, or the znode's own deletion.
    fn children_watch(&self, path: &ZPath) -> Reply<(Vec<Text>, Watch)> {
        let request = Request::GetChildren { path: path.text(), watch: true, stat: false };
        watched(self, request, picks!(Response::Children { names, .. } => names))
    }

    /// The names of the children and the parent's Stat.
    fn children2(&self, path: &ZPath) -> Reply<(Vec<Text>, Stat)> {
        let request = Request::GetChildren { path: path.text(), watch: false, stat: true };
        typed(self, request, picks!(Response::Children { names, stat: Some(stat) } => (names, stat)))
    }

    /// ACL and Stat of a znode. Fails with `NoNode` if it does not exist.
    fn acl(&self, path: &ZPath) -> Reply<(AclList, Stat)> {
        typed(self, Request::GetAcl { path: path.text() }, picks!(Response::Acl { acl, stat } => (acl, stat)))
    }

    /// Sets the ACL; `version` is compared with the Stat's `aversion`, and -1 stands for any. Fails with `NoNode`,
    /// `BadVersion` or `InvalidAcl`.
    fn set_acl(&self, path: &ZPath, acl: AclList, version: i32) -> Reply<Stat> {
        let request = Request::SetAcl { path: path.text(), acl, version };
        typed(self, request, picks!(Response::AclSet(stat) => stat))
    }

    /// Waits until the server has caught up with its leader. Not a quorum operation.
    fn sync(&self, path: &ZPath) -> Reply<()> {
        typed(self, Request::Sync { path: path.text() }, picks!(Response::Synced { .. } => ()))
    }

    /// Does all of these or none. That none was done is no error: it is [`MultiOutcome::Failed`].
    fn multi(&self, ops: Vec<Op>) -> Reply<MultiOutcome> {
        typed(self, Request::Multi { ops }, picks!(Response::Multi(outcome) => outcome))
    }

    /// Reads several znodes, each with its own outcome.
    fn multi_read(&self, ops: Vec<ReadOp>) -> Reply<Vec<Result<Response, ErrorCode>>> {
        typed(self, Request::MultiRead { ops }, picks!(Response::MultiRead(outcomes) => outcomes))
    }

    /// A watch that stays until it is removed or the session ends.
    fn add_watch(&self, path: &ZPath, mode: AddWatchMode) -> Reply<Watch> {
        watched(self, Request::AddWatch { path: path.text(), mode }, picks!(Response::WatchAdded => ()))
            .map(|result| result.map(|((), watch)| watch))
    }

    /// Removes this session's watches of one kind. Fails with `NoWatcher` if there is none.
    fn remove_watches(&self, path: &ZPath, kind: WatcherKind) -> Reply<()> {
        let request = Request::RemoveWatches { path: path.text(), kind };
        typed(self, request, picks!(Response::WatchesRemoved => ()))
    }

    /// Lists this session's ephemeral znodes whose paths start with `prefix`.
    fn ephemerals(&self, prefix: &ZPath) -> Reply<Vec<Text>> {
        let request = Request::GetEphemerals { prefix: prefix.text() };
        typed(self, request, picks!(Response::Ephemerals(paths) => paths))
    }

    /// Counts all znodes below a path.
    fn all_children_number(&self, path: &ZPath) -> Reply<u32> {
        let request = Request::GetAllChildrenNumber { path: path.text() };
        typed(self, request, picks!(Response::AllChildrenNumber(n) => n))
    }

    /// The identities that the server knows this client by.
    fn who_am_i(&self) -> Reply<Vec<Identity>> {
        typed(self, Request::WhoAmI, picks!(Response::WhoAmI(identities) => identities))
    }

    /// Adds credentials; a client repeats them on every later connection. Fails with `AuthFailed`, which ends the
    /// session, if the server refuses them.
    fn authenticate(&self, scheme: &str, credentials: Data) -> Reply<()> {
        let request = Request::Auth { scheme: scheme.into(), credentials };
        typed(self, request, picks!(Response::Authenticated => ()))
    }

    /// Ends the session; its ephemeral znodes go with it.
    fn close(&self) -> Reply<()> {
        typed(self, Request::CloseSession, picks!(Response::Closed => ()))
    }
}

impl<Z: ZooKeeper + ?Sized> ZooKeeper for Arc<Z> {
    fn submit(&self, request: Request) -> Call {
        (**self).submit(request)
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        (**self).sleep(duration)
    }
    fn session(&self) -> SessionId {
        (**self).session()
    }
    fn state(&self) -> KeeperState {
        (**self).state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        (**self).state_change()
    }
    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        (**self).checkpoint(label, locals);
    }
}

/// The answer to a request, in its own type. An answer of another kind is the server's error, and says nothing of what
/// became of the request.
fn typed<T: Send + 'static>(
    zk: &(impl ZooKeeper + ?Sized),
    request: Request,
    pick: fn(Response) -> Option<T>,
) -> Reply<T> {
    let (tried, path) = (request.name(), request.path());
    zk.submit(request).map(move |result| {
        let (response, _) = result?;
        pick(response).ok_or(Error { code: ErrorCode::SystemError, tried, path })
    })
}

/// The same, for a request that sets a watch.
fn watched<T: Send + 'static>(
    zk: &(impl ZooKeeper + ?Sized),
    request: Request,
    pick: fn(Response) -> Option<T>,
) -> Reply<(T, Watch)> {
    let (tried, path) = (request.name(), request.path());
    zk.submit(request).map(move |result| {
        let (response, watch) = result?;
        match (pick(response), watch) {
            (Some(answer), Some(watch)) => Ok((answer, watch)),
            _ => Err(Error { code: ErrorCode::SystemError, tried, path }),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// Answers everything as if it were the end of the session.
    struct Closed;

    impl ZooKeeper for Closed {
        fn submit(&self, _: Request) -> Call {
            Pending::ready(Ok((Response::Closed, None)))
        }
        fn sleep(&self, _: Duration) -> Pending<()> {
            Pending::ready(())
        }
        fn session(&self) -> SessionId {
            SessionId::NONE
        }
        fn state(&self) -> KeeperState {
            KeeperState::Closed
        }
        fn state_change(&self) -> Pending<KeeperState> {
            Pending::ready(KeeperState::Closed)
        }
    }

    #[test]
    fn an_answer_of_another_kind_says_nothing_of_what_became_of_the_request() {
        let reply = Closed.delete(&ZPath::parse("/a").expect("a path"), -1);
        let Poll::Ready(Err(error)) = pin!(reply).poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("closed is not deleted");
        };
        assert_eq!(error.outcome(), Outcome::Unknown);
    }
}

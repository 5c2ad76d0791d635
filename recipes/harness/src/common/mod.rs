//! What trials of all recipes have in common.
//!
//! ```
//! use zk_api::{Error, ErrorCode};
//! use zk_harness::common::Stop;
//! use zk_harness::event::End;
//!
//! let error = |code| Error { code, tried: "create", path: "/lock/n-".into() };
//! assert_eq!(Stop::from(error(ErrorCode::SessionExpired)), Stop::SessionLost);
//! // The process may begin another life with a new session, if it was the session that was lost.
//! assert_eq!(End::from(Stop::SessionLost), End::SessionLost);
//! assert_eq!(End::from(Stop::from(error(ErrorCode::NoAuth))), End::Failed);
//! ```

pub mod plain;
pub mod rounds;

use crate::event::End;
use crate::probe::Probe;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use zk_api::{
    Call, Error, KeeperState, Local, Locals, Pending, Request, SessionId, TellsLocals, Text, ZooKeeper,
};
use zk_recipes::RecipeError;

/// A session, whatever its engine.
pub type AnyZooKeeper = Arc<dyn ZooKeeper>;
/// What an actor tells its promises by, whatever its engine.
pub type AnyProbe = Arc<dyn Probe>;

/// What an actor does in a round, or a part of it, given what its family gives it.
pub trait Turn<S, T = ()>: Fn(S) -> Self::Done + Copy + Send + Sync + 'static {
    /// What comes of it.
    type Done: Future<Output = Result<T, Stop>> + Send + 'static;
}

impl<S, T, D, F> Turn<S, T> for F
where
    F: Fn(S) -> D + Copy + Send + Sync + 'static,
    D: Future<Output = Result<T, Stop>> + Send + 'static,
{
    type Done = D;
}

/// Why an actor cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its session is over.
    SessionLost,
    /// Something else, in words.
    Failed(Text),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        if error.is_session_over() { Stop::SessionLost } else { Stop::Failed(error.to_string().into()) }
    }
}

impl From<RecipeError> for Stop {
    fn from(error: RecipeError) -> Stop {
        match error {
            RecipeError::SessionLost => Stop::SessionLost,
            RecipeError::NoParent(_)
            | RecipeError::GuidInUse(_)
            | RecipeError::Exhausted(_)
            | RecipeError::Gone(_)
            | RecipeError::Failed(_) => Stop::Failed(error.to_string().into()),
        }
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> End {
        stop.end().0
    }
}

impl Stop {
    /// How the actor ends, and why in words.
    pub fn end(self) -> (End, Text) {
        match self {
            Stop::SessionLost => (End::SessionLost, "the session is over".into()),
            Stop::Failed(why) => (End::Failed, why),
        }
    }
}

/// A session whose checkpoints know which round it is: the round is alive in every place of a recipe. Or something else
/// that its caller will need again.
pub type InRound<Z> = TellsLocals<Z>;

/// In a round, counted from 0.
pub fn in_round<Z>(zk: Z, round: impl Into<i64>) -> InRound<Z> {
    Locals::of(&[Local::Number(round.into())]).told_by(zk)
}

/// Where a text is needed again.
pub fn knowing<Z>(zk: Z, text: &str) -> InRound<Z> {
    Locals::of(&[Local::Text(text)]).told_by(zk)
}

/// A session without checkpoints, for several threads of a process: where one of them is tells nothing of where others
/// are.
#[derive(Clone, Debug)]
pub struct Unmarked<Z>(pub Z);

impl<Z: ZooKeeper> ZooKeeper for Unmarked<Z> {
    fn submit(&self, request: Request) -> Call {
        self.0.submit(request)
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.0.sleep(duration)
    }
    fn session(&self) -> SessionId {
        self.0.session()
    }
    fn state(&self) -> KeeperState {
        self.0.state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        self.0.state_change()
    }
}

/// Goes on with both until both have come to their ends.
pub async fn both<A: Future, B: Future>(one: A, two: B) -> (A::Output, B::Output) {
    let (mut one, mut two) = (pin!(one), pin!(two));
    let (mut first, mut second) = (None, None);
    poll_fn(|cx| {
        if first.is_none()
            && let Poll::Ready(done) = one.as_mut().poll(cx)
        {
            first = Some(done);
        }
        if second.is_none()
            && let Poll::Ready(done) = two.as_mut().poll(cx)
        {
            second = Some(done);
        }
        match (first.take(), second.take()) {
            (Some(one), Some(two)) => Poll::Ready((one, two)),
            (one, two) => {
                (first, second) = (one, two);
                Poll::Pending
            }
        }
    })
    .await
}

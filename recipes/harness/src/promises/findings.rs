//! How a promise says what it has found.

use crate::event::ActorId;
use crate::promise::{Assumption, Finding, Subject, Violation};
use zk_api::Text;

/// Broken, without a subject of its own; see [`Violation::new`].
pub(super) fn broken(what: String, violated_assumption: Option<Assumption>) -> Finding {
    Finding::Broken(Violation::new(what, violated_assumption))
}

/// Broken, and about znodes.
pub(super) fn broken_at<'a>(what: String, znodes: impl IntoIterator<Item = &'a str>) -> Finding {
    let about = Subject::Znodes(znodes.into_iter().map(Text::from).collect());
    Finding::Broken(Violation { what, violated_assumption: None, about })
}

/// Broken, and about what any of these actors has.
pub(super) fn broken_for(what: String, actors: &[ActorId]) -> Finding {
    Finding::Broken(Violation { what, violated_assumption: None, about: Subject::Actors(actors.into()) })
}

/// A promise that goes by what is known of one barrier, and nothing else.
macro_rules! promise_of_barrier {
    ($(#[$doc:meta])* $name:ident($known:ident)) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name($known);

        impl $name {
            /// For the barrier that is this znode.
            pub fn of(node: &'static str) -> Self {
                $name($known::of(node))
            }
        }
    };
}
pub(super) use promise_of_barrier;

//! The words that probes say and promises listen for. A misspelt word does not compile if it is written with its path:
//! `words::PASSES`.
//!
//! ```compile_fail
//! use zk_harness::{event::Observation, words};
//! Observation::note(words::PASES, "/barrier", 0);
//! ```
//!
//! | who | about what | words | number |
//! |---|---|---|---|
//! | locks and elections | the lock | [`ATTEMPTS`] to [`GIVES_UP`]: observations by themselves | |
//! | who waits for a lock-delay | the lock | [`WAITS_FOR_DELAY`], [`HAS_WAITED`] | milliseconds |
//! | leaders | the election | [`STOPS`]: it may have lost the lead | |
//! | actors that ask who leads | a candidate's znode, or the election's if they find nobody | [`FINDS`] | |
//! | actors that are shown a sequencer | the znode that it names | [`PRESENTS`] to [`IS_REFUSED_WITH`] | 1 where exclusive mode is asked for |
//! | waiters | the barrier's znode | [`COMES_TO`], [`SEES`], [`PASSES`] | |
//! | actors that raise it | the barrier's znode | [`RAISES`] to [`HAS_LOWERED`] | |
//! | members | the double barrier's znode | [`ARRIVES_AT`], [`PASSES`], [`ASKS_TO_LEAVE`], [`HAS_LEFT`], [`GIVES_UP`] | how many a round needs |
//! | producers | an item's data | [`PUTS`], [`HAS_PUT`] | its priority |
//! | producers | the items' parent | [`BEGINS_TO_PUT_INTO`], [`HAS_PUT_INTO`] | which item it is |
//! | consumers | the items' parent | [`ASKS`] | |
//! | consumers | an item's znode | [`TAKES`], [`HAS_WORKED_OFF`], [`IS_DONE_WITH`] | |
//! | consumers | an item's znode, and what they find in it: `/queue/items/item-7: pay` | [`IS_GIVEN`] | |
//! | sites | the transaction's znode | [`PROPOSES`], [`WAITS_NO_LONGER`] | how many sites there are |
//! | sites that hear of it | the transaction's znode, and what it is about: `/tx/7: pay` | [`IS_TO_DO`] | the site's process |
//! | sites | the transaction's znode | [`VOTES_TO_COMMIT`] to [`IS_THROUGH_WITH`] | the site's process |
//! | members | the member's znode | [`JOINS`], [`IS_A_MEMBER_BY`], [`LEAVES`], [`ENDS_ITS_ROUND_WITH`] | |
//! | readers | the parent of what they read | [`FOLLOWS`], till [`IS_THROUGH_WITH`]; [`TOLD`] of news elsewhere; [`SEES`], with what they are [shown](crate::promises::shown) | |
//! | actors that set it | the configuration, and to what: `/config to 1` | [`SETS`], [`HAS_SET`] | |
//! | actors that count | the counter's znode | [`ADDS`], [`HAS_ADDED`] | what it adds |
//!
//! A transaction's znode has a child for each site's vote, and one called `decision`; what is written in these is
//! `commit` or `abort`, or no vote and no decision.
//!
//! Most are told by [`Observation::note`](crate::event::Observation::note),
//! [`begins`](crate::event::Observation::begins) or [`ends`](crate::event::Observation::ends). For a promise of one's
//! own:
//!
//! ```
//! use zk_harness::{event::Observation, words::Word};
//! const RINGS: Word<'static> = Word::own("rings");
//! let what = Observation::note(RINGS, "/bell", 3);
//! assert!(matches!(what.told(), Some((RINGS, "/bell", 3))));
//! ```

use std::fmt;

/// A word that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word<'a>(&'a str);

impl<'a> Word<'a> {
    /// A word for your own promises.
    pub const fn own(text: &'a str) -> Word<'a> {
        Word(text)
    }

    /// As it is told.
    pub const fn text(self) -> &'a str {
        self.0
    }
}

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! words {
    ($($name:ident = $text:literal),* $(,)?) => {
        $(
            #[doc = concat!("Told as *", $text, "*.")]
            pub const $name: Word<'static> = Word($text);
        )*

        impl Word<'_> {
            /// Whether the promises of the library listen for it.
            pub(crate) fn is_of_the_library(self) -> bool {
                [$($name),*].contains(&self)
            }
        }
    };
}

words! {
    ATTEMPTS = "attempts", IS_GRANTED = "is granted", ENTERS = "enters", LEAVES = "leaves", RELEASED = "released",
    GIVES_UP = "gives up", WAITS_FOR_DELAY = "waits for the lock-delay of",
    HAS_WAITED = "has waited for the lock-delay of", STOPS = "stops", FINDS = "finds",
    PRESENTS = "presents", IS_ACCEPTED_WITH = "is accepted with", IS_REFUSED_WITH = "is refused with",
    COMES_TO = "comes to", SEES = "sees", PASSES = "passes",
    RAISES = "raises", HAS_RAISED = "has raised", LOWERS = "lowers", HAS_LOWERED = "has lowered",
    ARRIVES_AT = "arrives at", ASKS_TO_LEAVE = "asks to leave", HAS_LEFT = "has left",
    PUTS = "puts", HAS_PUT = "has put", BEGINS_TO_PUT_INTO = "begins to put into", HAS_PUT_INTO = "has put into",
    ASKS = "asks", TAKES = "takes", IS_GIVEN = "is given", HAS_WORKED_OFF = "has worked off",
    IS_DONE_WITH = "is done with",
    PROPOSES = "proposes", IS_TO_DO = "is to do", WAITS_NO_LONGER = "waits no longer for the others in",
    VOTES_TO_COMMIT = "votes to commit", VOTES_TO_ABORT = "votes to abort", COMMITS = "commits", ABORTS = "aborts",
    IS_THROUGH_WITH = "is through with",
    JOINS = "joins", IS_A_MEMBER_BY = "is a member by", ENDS_ITS_ROUND_WITH = "ends its round with",
    FOLLOWS = "follows", TOLD = "told", SETS = "sets", HAS_SET = "has set",
    ADDS = "adds", HAS_ADDED = "has added",
}

//! Group membership and its published variants on trial.
//!
//! [`Fixture`] is what they have in common: one who watches, and members who come and go.
//!
//! ```
//! use zk_harness::common::Stop;
//! use zk_catalogue::membership::{Fixture, group};
//!
//! /// Joins and works, and does not look after its znode.
//! async fn belong(fixture: Fixture) -> Result<(), Stop> {
//!     let member = fixture.member();
//!     fixture.joins(member.node());
//!     member.join().await?;
//!     fixture.begins(member.node());
//!     fixture.work().await;
//!     fixture.ends(member.node());
//!     Ok(())
//! }
//! let trial = group("my-group", Fixture::watches, belong);
//! assert!(trial.owed().iter().any(|promise| promise.name() == "live-members-listed"));
//! ```

mod fixture;
mod kept;
mod leaves_once;
mod list_then_watch;
mod never_forgets;
mod no_rejoin;
mod node_exists_is_joined;
mod roster;

pub use fixture::{Fixture, GROUP, group};

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        roster::trial(),
        kept::trial(),
        no_rejoin::trial(),
        node_exists_is_joined::trial(),
        list_then_watch::trial(),
        kept::watch_not_rearmed(),
        leaves_once::trial(),
        never_forgets::trial(),
    ]
}

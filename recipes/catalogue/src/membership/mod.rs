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
mod trials;

pub use fixture::{Fixture, GROUP, group};
pub use trials::trials;

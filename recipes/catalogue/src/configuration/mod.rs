//! Name service and configuration, and their published variants on trial.
//!
//! [`Fixture`] is what they have in common: one who writes, and readers that follow.
//!
//! ```
//! use zk_harness::common::Stop;
//! use zk_catalogue::configuration::{Fixture, configuration};
//! use zk_harness::recipes::Setting;
//!
//! async fn write(fixture: Fixture) -> Result<(), Stop> {
//!     fixture.sets().await.map(drop)
//! }
//!
//! /// Follows the setting up to its last value, and says what it sees.
//! async fn read(fixture: Fixture) -> Result<(), Stop> {
//!     fixture.follows();
//!     let mut setting = Setting::new(fixture.zk.clone(), &fixture.name());
//!     while !fixture.sees_value(setting.changed().await?.as_ref()) {}
//!     fixture.is_through();
//!     Ok(())
//! }
//! let owed: Vec<_> = configuration("my-setting", write, read).owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.starts_with(&["committed-reads", "no-torn-reads", "monotone-reads", "fresh-at-rest"]));
//! ```

mod careless;
mod fixture;
mod followed;
mod notified;
mod set_once;

pub use fixture::{CONFIG, Fixture, configuration};

use zk_harness::trial::Trial;

/// All of them, the right ones first.
pub fn trials() -> Vec<Trial> {
    [followed::right(), notified::trials(), vec![followed::torn(), set_once::trial()], careless::trials()]
        .concat()
}

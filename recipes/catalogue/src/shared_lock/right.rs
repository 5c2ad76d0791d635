//! `shared-lock`: the recipe of this project.

use super::fixture::{Access, access, promises, shared};
use crate::lock::Fixture;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Mode, OnDisconnect, RecipeError, SharedLock};

/// [`zk_recipes::SharedLock`], with its downgrade.
pub fn trial() -> Trial {
    shared("shared-lock", turn)
        .summary("Readers together or one writer, in order of arrival; a writer may go on as a reader.")
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, lag: 1, ..Bounds::clients(3) })
        .promises(promises)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock =
        SharedLock::new(fixture.zk.clone(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    let access = access(&fixture);
    if access == Access::Reads {
        let held = lock.read().await?;
        fixture
            .hold(Mode::Shared, held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop))
            .await;
        fixture.leave();
        return Ok(held.release().await?);
    }
    let held = lock.write().await?;
    let token = held.token();
    let lost =
        fixture.hold(Mode::Exclusive, held.node(), Some(token), held.session_lost(OnDisconnect::Stop)).await;
    if lost || access == Access::Writes {
        fixture.leave();
        return Ok(held.release().await?);
    }
    // Others may read before it knows that it is done, so it makes do with a share from here on.
    fixture.shares(held.node(), token);
    let held = match held.downgrade().await {
        Ok(held) => held,
        Err(RecipeError::Gone(_)) => {
            fixture.leave();
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    fixture.stays(held.node(), token, held.session_lost(OnDisconnect::Stop)).await;
    fixture.leave();
    Ok(held.release().await?)
}

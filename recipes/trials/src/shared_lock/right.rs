//! `shared-lock`: the recipe of this project.

use super::stage::{Role, promises, role, shared};
use crate::common::Stop;
use crate::lock::Stage;
use crate::trial::{Bounds, Trial};
use zk_recipes::{Mode, OnDisconnect, RecipeError, SharedLock};

/// [`zk_recipes::SharedLock`], with its downgrade.
pub fn trial() -> Trial {
    shared("shared-lock", turn)
        .summary("Readers together or one writer, in order of arrival; a writer may go on as a reader.")
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, lag: 1, ..Bounds::clients(3) })
        .promises(promises)
}

async fn turn(stage: Stage) -> Result<(), Stop> {
    let guid = stage.guid();
    let mut lock = SharedLock::new(stage.zk(), &stage.lock(), &guid).expect("a guid is fit for a name");
    let role = role(&stage);
    if role == Role::Reads {
        let held = lock.read().await?;
        stage
            .hold(Mode::Shared, held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop))
            .await;
        stage.leave();
        return Ok(held.release().await?);
    }
    let held = lock.write().await?;
    let token = held.token();
    let lost =
        stage.hold(Mode::Exclusive, held.node(), Some(token), held.session_lost(OnDisconnect::Stop)).await;
    if lost || role == Role::Writes {
        stage.leave();
        return Ok(held.release().await?);
    }
    // Others may read before it knows that it is done, so it makes do with a share from here on.
    stage.shares(held.node(), token);
    let held = match held.downgrade().await {
        Ok(held) => held,
        Err(RecipeError::Gone(_)) => {
            stage.leave();
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    stage.stays(held.node(), token, held.session_lost(OnDisconnect::Stop)).await;
    stage.leave();
    Ok(held.release().await?)
}

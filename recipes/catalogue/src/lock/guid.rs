//! `lock`: the recipe of this project.

use super::fixture::{Fixture, fenced, lock};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Lock, OnDisconnect};

/// [`zk_recipes::Lock`].
///
/// **The steps of an actor**, for whoever writes an oracle. One line is one request and its answer, or one
/// wait; `me` is `/lock/GUID-lock-`, `own` the znode created. Without faults and with `effects` false, in each
/// round:
///
/// 1. says Attempts; `create(me, EPHEMERAL_SEQUENTIAL)`.
/// 2. `getChildren(/lock)`, no watch. With nobody lower, on to 4.
/// 3. `exists(lower, watch)` on the next lower number. Absent: back to 2. Else waits for the watch's event,
///    and listens for a change of the session's state; back to 2 on whatever comes.
/// 4. `exists(own)`, no watch. There, and owned by this session: holds. Absent: back to 2.
/// 5. says Granted (with no token) and Enters in the step that takes the answer of 4; `point()`, listening for
///    a change of the session's state.
/// 6. says Leaves in the step in which the point is over, or in which the connection or the session is lost;
///    `delete(own, -1)` in the same step, even if it is bound to fail.
/// 7. says Released in the step that takes the answer (`NoNode` is as good); the next round, or the end.
///
/// Checkpoints, in this order: `trial/round` before 1, `line/list` before 2, `line/watch` before 3,
/// `line/claim` before 4, `trial/held` in 5, `line/release` before 6.
///
/// With faults: a request whose outcome is unknown waits until the session is connected again and goes back to 2 (the
/// delete of 7: to itself). As long as no answer has named the own znode, 2 is two requests in one step,
/// `multi(check(/lock, -1))` and then the list, and looks at nothing before both are answered. If 2 then shows no child
/// with the own guid, `create` and back to 2; if it shows one that no answer has named, `exists` of it and, owned by
/// this session, on as if it had been named (first in the order, that read is 4); two it never shows. A lost connection
/// in 3 waits for the next one and goes back to 2. A session that is over ends the actor: it says GivesUp.
pub fn trial() -> Trial {
    lock("lock", turn)
        .summary("Exclusive, fair and fenced: a guid finds lost creates, and claims are checked.")
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) })
        .promises(fenced)
}

pub(super) async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock = Lock::new(fixture.zk.clone(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    let held = lock.acquire().await?;
    fixture.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
    Ok(held.release().await?)
}

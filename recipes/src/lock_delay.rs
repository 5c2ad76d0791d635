//! A lock-delay: who holds a lock after one that has died waits until that one's last writes have landed.

use crate::fence::Mode;
use crate::line::Held;
use crate::session::{self, RecipeError};
use std::time::Duration;
use zk_api::{CreateMode, Data, ErrorCode, Local, MultiOutcome, Op, ZPath, ZooKeeper, Zxid};

/// For resources that cannot compare tokens: nobody comes there for so long after a holder has died.
///
/// Who holds it alone leaves its mark, a znode that is no ephemeral one, before it does anything, and removes it when
/// it gives the lock back. Who is granted the lock next and finds the mark of another knows that that one has not given
/// it back. It waits for as long as that one asked for, by its own clock and from when it has looked on, which is later
/// than the other's session has ended. Then it puts its own mark in the place of the other's.
///
/// - **What it promises.** Between the end of a holder's session and the next holder's first write lies the delay.
///   Writes of the former that land within it do no harm. How late they can be is for the user to know: a process that
///   stands still for longer, or a write that travels for longer, is not covered. A [`Fence`](crate::Fence) needs no
///   such bound.
/// - **Cost.** A read and a write more for each grant, a write more for each release, and the delay for each death.
/// - **Limits.** All holders must use it, with the same mark. The mark stays behind until the next holder comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockDelay {
    mark: ZPath,
    delay: Duration,
}

impl LockDelay {
    /// With this mark, whose parent exists. Others wait for so long if a holder of this one dies.
    pub(crate) fn new(mark: ZPath, delay: Duration) -> LockDelay {
        LockDelay { mark, delay }
    }

    /// Behind the grant: returns when the delay of a former holder is over and the own mark is there, or none is, if it
    /// is held with others, whose reads do no harm later. Fails if the lock is lost meanwhile.
    pub(crate) async fn begin<Z: ZooKeeper>(
        &self,
        held: &Held<'_, Z>,
        mode: Mode,
    ) -> Result<(), RecipeError> {
        let (zk, own) = (&held.line().zk, held.node());
        // The mark that was waited for.
        let mut waited = Zxid::ZERO;
        loop {
            let locals = [
                Local::Text(own.as_str()),
                Local::Zxid(held.token()),
                Local::Zxid(waited),
                Local::Number(self.millis()),
            ];
            zk.checkpoint("lock-delay/begin", &locals);
            let change = match zk.data(&self.mark).await {
                Ok((data, _)) if Mark::read(&data).is_some_and(|mark| mark.holder == own.name()) => {
                    return Ok(());
                }
                Ok((data, stat)) if stat.mzxid() != waited => {
                    let asked = Mark::read(&data).map_or(self.delay, |mark| mark.delay);
                    zk.sleep(asked).await;
                    waited = stat.mzxid();
                    continue;
                }
                Ok((_, stat)) => match mode {
                    Mode::Exclusive => Op::SetData {
                        path: self.mark.text(),
                        data: self.own_mark(own),
                        version: stat.version(),
                    },
                    Mode::Shared => Op::Delete { path: self.mark.text(), version: stat.version() },
                },
                Err(e) if e.code == ErrorCode::NoNode && mode == Mode::Shared => return Ok(()),
                Err(e) if e.code == ErrorCode::NoNode => {
                    Op::create(self.mark.text(), self.own_mark(own), CreateMode::Persistent)
                }
                Err(e) => {
                    session::passing(zk, e, &self.mark).await?;
                    continue;
                }
            };
            match zk.multi(vec![still_there(own), change]).await {
                Ok(MultiOutcome::Applied(_)) => return Ok(()),
                Ok(MultiOutcome::Failed(codes)) => failed(&codes, own)?,
                Err(e) => session::passing(zk, e, &self.mark).await?,
            }
        }
    }

    /// Before the release of one who holds it alone: nobody need wait. Fails if the lock is lost already; then the next
    /// holder waits.
    pub(crate) async fn end<Z: ZooKeeper>(&self, held: &Held<'_, Z>) -> Result<(), RecipeError> {
        let (zk, own) = (&held.line().zk, held.node());
        loop {
            zk.checkpoint("lock-delay/end", &[Local::Text(own.as_str())]);
            let gone = Op::Delete { path: self.mark.text(), version: -1 };
            match zk.multi(vec![still_there(own), gone]).await {
                Ok(MultiOutcome::Applied(_)) => return Ok(()),
                // Nobody else marks while this one holds: an answer was lost.
                Ok(MultiOutcome::Failed(codes)) => return failed(&codes, own),
                Err(e) => session::passing(zk, e, &self.mark).await?,
            }
        }
    }

    fn own_mark(&self, own: &ZPath) -> Data {
        format!("{} {}", own.name(), self.millis()).as_str().into()
    }

    fn millis(&self) -> i64 {
        i64::try_from(self.delay.as_millis()).unwrap_or(i64::MAX)
    }
}

/// What is done, is done while the lock is held.
fn still_there(own: &ZPath) -> Op {
    Op::Check { path: own.text(), version: -1 }
}

/// Whether it was the lock itself that was not there any more.
fn failed(codes: &[Option<ErrorCode>], own: &ZPath) -> Result<(), RecipeError> {
    match codes.first() {
        Some(Some(_)) => Err(RecipeError::Gone(own.clone())),
        _ => Ok(()),
    }
}

/// Who holds or held the lock, and how long the next one is to wait if it dies: `NAME MILLISECONDS`.
struct Mark<'a> {
    holder: &'a str,
    delay: Duration,
}

impl Mark<'_> {
    fn read(data: &Data) -> Option<Mark<'_>> {
        let text = std::str::from_utf8(data.bytes()).ok()?;
        let (holder, millis) = text.split_once(' ')?;
        Some(Mark { holder, delay: Duration::from_millis(millis.parse().ok()?) })
    }
}

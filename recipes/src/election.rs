//! Leader election, with an epoch for each leader and an announcement that others can read.

use crate::line::{Held, Line, next_lower};
use crate::session::{self, Lost, OnDisconnect, RecipeError};
use std::fmt;
use std::future::Future;
use zk_api::{Data, Error, ErrorCode, Local, MultiOutcome, Op, PathError, ZPath, ZooKeeper, Zxid};

/// The kind of its contenders.
const CANDIDATE: &str = "candidate";

/// Leader election: whoever stands first leads, and each death wakes only the next in line.
///
/// Every candidate makes an ephemeral sequential child of the election's znode, named with a guid of its own, and leads
/// when no child has a lower number. Otherwise it watches only the next lower one. A candidate without a predecessor
/// leads at once: nobody is going to tell it.
///
/// - **The epoch** of a leader is the zxid of its candidate's creation: higher than that of every earlier leader, and
///   no two leaders have the same. A resource that must be safe compares epochs, as a leader whose session has ended
///   may still believe for a while that it leads.
/// - **The announcement** is the data of the election's znode. A leader writes it when it is ready
///   ([`Leadership::announce`]), in one transaction with a check that its candidate is still there: so whoever is
///   announced leads at that moment, and announced epochs only grow. The announcement stays when its leader is gone;
///   [`leader`] checks whether it still holds. A child with the lowest number is no announcement: its process may not
///   know yet.
/// - **A lost answer, a checked claim, a znode that is gone, the end of the session, dropping:** as with
///   [`Lock`](crate::Lock), which stands in line in the same way.
/// - **Resigning** removes the candidate and gives the lead to the next in line; [`lead`](Election::lead) stands again,
///   at the end of the line, with a new epoch.
///
/// All candidates must use this recipe, and nobody else may write the data of the election's znode. The guid must be
/// unique among all attempts of all sessions. Two sessions never both lead while both live.
///
/// An election costs four requests if nobody else stands, and an announcement one more.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{Election, OnDisconnect, RecipeError};
///
/// async fn serve<Z: ZooKeeper>(zk: Z, parent: &ZPath, guid: &str) -> Result<(), RecipeError> {
///     let mut election = Election::new(zk, parent, guid).expect("a guid is fit for a name");
///     let lead = election.lead().await?;
///     lead.announce(b"10.0.0.7:80").await?;
///     // It leads from here on, and sends lead.epoch() with every write.
///     lead.lost(OnDisconnect::Stop).await;
///     lead.resign().await
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/election.md")]
pub struct Election<Z>(Line<Z>);

impl<Z> fmt::Debug for Election<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Election").field(&self.0).finish()
    }
}

impl<Z: ZooKeeper> Election<Z> {
    /// A candidate of the election at `parent`, a znode that exists. `guid` must differ from every other candidate's.
    /// Fails if it is empty or not fit for a znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str) -> Result<Election<Z>, PathError> {
        Ok(Election(Line::new(zk, parent, guid, &[CANDIDATE])?))
    }

    /// Stands, and waits until it leads. What an earlier attempt has left behind is removed first. Fails as
    /// [`Lock::acquire`](crate::Lock::acquire) does.
    pub async fn lead(&mut self) -> Result<Leadership<'_, Z>, RecipeError> {
        self.0.stand(CANDIDATE).await?.turn(next_lower).await.map(Leadership)
    }

    /// Removes what an attempt that was dropped has left behind. Returns when it is known that nothing is left.
    pub async fn abandon(&mut self) -> Result<(), RecipeError> {
        self.0.abandon().await
    }

    /// The znodes of all candidates, first come first. For inspection: the first of them may not know yet that it
    /// leads, and the list may be old when it arrives.
    pub async fn candidates(&self) -> Result<Vec<ZPath>, Error> {
        self.0.contenders().await
    }
}

/// The lead. Dropping it resigns without making sure that the lead is given up.
#[must_use = "dropping it resigns"]
pub struct Leadership<'a, Z: ZooKeeper>(Held<'a, Z>);

impl<Z: ZooKeeper> fmt::Debug for Leadership<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leadership").field(&self.0).finish()
    }
}

impl<Z: ZooKeeper> Leadership<'_, Z> {
    /// The epoch, which is the fencing token: higher than that of every earlier leader.
    pub fn epoch(&self) -> Zxid {
        self.0.token()
    }

    /// The candidate's znode.
    pub fn node(&self) -> &ZPath {
        self.0.node()
    }

    /// Announces this client as the leader, to be reached by `identity`. Call it when the leader is ready to be asked.
    /// It may be called again with another identity.
    ///
    /// Fails with [`RecipeError::Gone`] if the candidate is not there any more; nothing was announced then. A lost
    /// answer does no harm: the announcement is made again, and its check fails if it must not be made.
    pub async fn announce(&self, identity: &[u8]) -> Result<(), RecipeError> {
        let (zk, parent, node) = (&self.0.line().zk, &self.0.line().parent, self.node());
        let leader = Leader { epoch: self.epoch(), node: node.clone(), identity: identity.into() };
        let data = Data::from(leader.to_bytes());
        loop {
            let identity = String::from_utf8_lossy(identity);
            let epoch = Local::Zxid(self.epoch());
            zk.checkpoint("election/announce", &[Local::Text(node.as_str()), Local::Text(&identity), epoch]);
            let ops = vec![
                Op::Check { path: node.text(), version: -1 },
                Op::SetData { path: parent.text(), data: data.clone(), version: -1 },
            ];
            let error = |code, path: &ZPath| Error { code, tried: "multi", path: path.text() };
            match zk.multi(ops).await {
                Ok(MultiOutcome::Applied(_)) => return Ok(()),
                Ok(MultiOutcome::Failed(codes)) => match codes[..] {
                    [None, Some(ErrorCode::NoNode), ..] => {
                        return Err(RecipeError::NoParent(parent.clone()));
                    }
                    [Some(ErrorCode::NoNode), ..] => return Err(RecipeError::Gone(node.clone())),
                    [Some(code), ..] | [None, Some(code), ..] => {
                        return Err(RecipeError::Failed(error(code, node)));
                    }
                    [None] | [None, None, ..] | [] => {
                        return Err(RecipeError::Failed(error(ErrorCode::SystemError, node)));
                    }
                },
                Err(e) => session::passing(zk, e, parent).await?,
            }
        }
    }

    /// Gives up the lead, and returns when it is known that the candidate is gone. Fails if the session is over.
    pub async fn resign(self) -> Result<(), RecipeError> {
        self.0.release().await
    }

    /// Resolves when the lead is lost: the session is over, the znode is gone, or, as `on` says, the connection is
    /// lost. Race it against the work. A leader that stops must still [`resign`](Leadership::resign).
    pub async fn lost(&self, on: OnDisconnect) -> Lost {
        self.0.lost(on).await
    }

    /// As [`lost`](Leadership::lost), but without watching the znode, which saves a request: for use where nobody
    /// deletes others' znodes. It borrows only the session, and listens from this call on.
    pub fn session_lost(&self, on: OnDisconnect) -> impl Future<Output = Lost> + use<'_, Z> {
        self.0.session_lost(on)
    }
}

/// A leader as it was announced. [`leader`] and [`next_leader`] find it.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{Leader, RecipeError, next_leader};
///
/// /// Goes over to each new leader, one after the other.
/// async fn follow<Z: ZooKeeper>(zk: &Z, parent: &ZPath, go_to: impl Fn(&Leader)) -> Result<(), RecipeError> {
///     let mut epoch = None;
///     loop {
///         let leader = next_leader(zk, parent, epoch).await?;
///         go_to(&leader);
///         epoch = Some(leader.epoch);
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leader {
    /// Its epoch.
    pub epoch: Zxid,
    /// Its candidate's znode. As long as that exists, it leads.
    pub node: ZPath,
    /// How it is reached.
    pub identity: Vec<u8>,
}

impl Leader {
    /// `EPOCH NAME`, a line's end, and the identity.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {}\n", self.epoch.to_text(), self.node.name()).into_bytes();
        bytes.extend_from_slice(&self.identity);
        bytes
    }

    /// Reads an announcement; `None` if it is none.
    fn parse(parent: &ZPath, bytes: &[u8]) -> Option<Leader> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (epoch, name) = std::str::from_utf8(&bytes[..end]).ok()?.split_once(' ')?;
        let epoch = Zxid::from_text(epoch)?;
        Some(Leader { epoch, node: parent.join(name).ok()?, identity: bytes[end + 1..].into() })
    }
}

/// The current leader: the one announced last, if its candidate is still there. `None` if nobody was announced, or the
/// candidate is gone.
///
/// The server that is asked may lag. A client that was told by others of a new leader, and must not find the old one,
/// waits with [`next_leader`]; a [`sync`](ZooKeeper::sync) beforehand may not help.
pub async fn leader<Z: ZooKeeper>(zk: &Z, parent: &ZPath) -> Result<Option<Leader>, RecipeError> {
    loop {
        zk.checkpoint("election/look", &[Local::Text(parent.as_str())]);
        let leader = match zk.data(parent).await {
            Ok((data, _)) => Leader::parse(parent, data.bytes()),
            Err(e) => {
                session::passing(zk, e, parent).await?;
                continue;
            }
        };
        let Some(leader) = leader else { return Ok(None) };
        match zk.exists(&leader.node).await {
            Ok(stat) => return Ok(stat.filter(|stat| stat.czxid() == leader.epoch).map(|_| leader)),
            Err(e) => session::passing(zk, e, parent).await?,
        }
    }
}

/// Waits until a leader is announced whose epoch is later than this one; for `None`, any leader will do. That leader
/// leads or has led; [`leader`] tells whether it still leads.
pub async fn next_leader<Z: ZooKeeper>(
    zk: &Z,
    parent: &ZPath,
    after: Option<Zxid>,
) -> Result<Leader, RecipeError> {
    loop {
        let known = after.map_or(Local::Text("none"), Local::Zxid);
        zk.checkpoint("election/follow", &[Local::Text(parent.as_str()), known]);
        let change = zk.state_change();
        match zk.data_watch(parent).await {
            Ok(((data, _), watch)) => {
                match Leader::parse(parent, data.bytes()).filter(|leader| Some(leader.epoch) > after) {
                    Some(leader) => return Ok(leader),
                    None => session::something(zk, watch, change).await?,
                }
            }
            Err(e) => session::passing(zk, e, parent).await?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_is_read_as_it_was_written_and_nothing_else_is_one() {
        let parent = ZPath::parse("/election").unwrap();
        let node = parent.join("a-candidate-0000000003").unwrap();
        let leader = Leader { epoch: Zxid::new(2, 9), node, identity: b"host:1\nsecond line".to_vec() };
        assert_eq!(Leader::parse(&parent, &leader.to_bytes()), Some(leader));
        for other in ["", "7", "7 a", "7 a\n", "x a\n", "0000000000000007 a/b\n"] {
            assert_eq!(Leader::parse(&parent, other.as_bytes()), None, "{other}");
        }
    }
}

//! Chubby's interface on ZooKeeper: files that are opened, read, written and locked, and sequencers.
//!
//! | Chubby | here |
//! |---|---|
//! | Open, Close, Poison | [`Handle::open`], [`Handle::close`], [`OpenFile::poison`] |
//! | GetContentsAndStat, GetStat, ReadDir | [`OpenFile::contents_and_stat`], [`OpenFile::stat`], [`OpenFile::read_dir`] |
//! | SetContents, Delete | [`OpenFile::set_contents`], [`OpenFile::delete`] |
//! | Acquire, TryAcquire, Release | [`Handle::acquire`], [`Handle::try_acquire`], [`Locked::release`] |
//! | GetSequencer, SetSequencer, CheckSequencer | [`Locked::sequencer`], [`Handle::set_sequencer`], [`check_sequencer`] |
//! | lock-delay | [`Handle::set_lock_delay`] |
//!
//! A resource that cannot compare sequencers is safe from late writes of a former holder for as long as the lock-delay.
//!
//! ```
//! use zk_api::{ZPath, ZooKeeper};
//! use zk_recipes::Mode;
//! use zk_recipes::chubby::{FileError, Handle, Sequencer};
//!
//! # async fn write_elsewhere(_: Sequencer) {}
//! /// Changes a file, and something elsewhere, while nobody else does.
//! async fn change<Z: ZooKeeper + Clone>(zk: Z, file: &ZPath, guid: &str) -> Result<(), FileError> {
//!     let mut handle = Handle::open(zk, file, guid).await?;
//!     let locked = handle.acquire(Mode::Exclusive).await?;
//!     locked.set_contents("begun".into(), -1).await?;
//!     // Whoever takes the write asks a Fence, or check_sequencer, first.
//!     write_elsewhere(locked.sequencer()).await;
//!     locked.release().await?;
//!     Ok(handle.close().await?)
//! }
//! ```

use crate::fence::Mode;
use crate::line::Held;
use crate::lock_delay::LockDelay;
use crate::names;
use crate::session::{self, Lost, OnDisconnect, RecipeError};
use crate::shared_lock::{KINDS, READ, SharedLock};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zk_api::{
    Data, Error, ErrorCode, Local, MultiOutcome, Op, SessionId, Stat, Text, ZPath, ZooKeeper, Zxid,
};

/// The mark of who holds a lock with a lock-delay.
const MARK: &str = "lock-delay";

/// Why an operation on a file did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The handle is poisoned.
    Poisoned,
    /// There is no such file, or it was deleted since it was opened and is another one by now.
    NotThere(ZPath),
    /// The handle's sequencer is not valid any more.
    SequencerInvalid,
    /// The file does not have the version that was asked for.
    OtherVersion,
    /// It has children, or somebody stands in line for its lock.
    InUse,
    /// A write whose answer was lost: it may have taken effect. Read before writing again.
    Unknown(Error),
    /// The session is over, or a request failed for good.
    Recipe(RecipeError),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Poisoned => f.write_str("the handle is poisoned"),
            FileError::NotThere(path) => write!(f, "the file {path} that was opened is not there"),
            FileError::SequencerInvalid => f.write_str("the handle's sequencer is not valid any more"),
            FileError::OtherVersion => f.write_str("the file has another version"),
            FileError::InUse => f.write_str("the file has children, or its lock is asked for"),
            FileError::Unknown(error) => write!(f, "it may have been written: {error}"),
            FileError::Recipe(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

impl From<RecipeError> for FileError {
    fn from(error: RecipeError) -> FileError {
        FileError::Recipe(error)
    }
}

/// What a holder shows to resources: which lock it holds, in which mode, and since when.
///
/// Sequencers of one file are ordered by `token`, as their holders were: [`Fence`](crate::Fence) admits by mode and
/// token, without asking anybody, and is what makes a resource safe. [`check_sequencer`] tells more, but only of a
/// moment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequencer {
    /// The file.
    pub file: ZPath,
    /// The znode that stands for the lock held. Its path is never another's.
    pub node: ZPath,
    /// In which mode it is held.
    pub mode: Mode,
    /// The fencing token.
    pub token: Zxid,
    /// Who holds it.
    pub session: SessionId,
}

/// Whether a sequencer's holder held the lock at some moment since this was called, in the mode `needs` or a stronger
/// one.
///
/// It takes a place in the order of writes and then looks at who stands in line, so it rejects a waiter's znode, a
/// reader's where writing is asked for, and one that only a lagging server still shows. The answer is about the past
/// when it arrives: a resource that acts on it alone may be too late, and must compare tokens as well. It costs a
/// write.
pub async fn check_sequencer<Z: ZooKeeper>(
    zk: &Z,
    sequencer: &Sequencer,
    needs: Mode,
) -> Result<bool, RecipeError> {
    checked(zk, sequencer, needs, ("chubby/check", Zxid::ZERO)).await
}

/// The same, from somewhere; and what else is alive there.
async fn checked<Z: ZooKeeper>(
    zk: &Z,
    sequencer: &Sequencer,
    needs: Mode,
    (from, alive): (&'static str, Zxid),
) -> Result<bool, RecipeError> {
    if needs == Mode::Exclusive && sequencer.mode == Mode::Shared {
        return Ok(false);
    }
    loop {
        let token = Local::Zxid(sequencer.token);
        let needs = Local::Number(i64::from(needs == Mode::Exclusive));
        zk.checkpoint(from, &[Local::Text(sequencer.node.as_str()), token, needs, Local::Zxid(alive)]);
        let (ordered, listed) = (session::ordered(zk, &sequencer.file), zk.children(&sequencer.file));
        let stat = zk.exists(&sequencer.node);
        match (ordered.await, listed.await, stat.await) {
            (Ok(_), Ok(names), Ok(Some(stat))) => {
                let is_it = stat.czxid() == sequencer.token && stat.ephemeral_owner() == sequencer.session;
                return Ok(is_it && is_held(&names, sequencer));
            }
            (Ok(_), Ok(_), Ok(None)) => return Ok(false),
            (Ok(_), Err(e), _) if e.code == ErrorCode::NoNode => return Ok(false),
            (Err(e), _, _) | (_, Err(e), _) | (_, _, Err(e)) => {
                session::passing(zk, e, &sequencer.file).await?;
            }
        }
    }
}

/// Whether nobody stands before it whom it would wait for.
fn is_held(names: &[Text], sequencer: &Sequencer) -> bool {
    let all = names::in_order(names, KINDS);
    let Some(at) = all.iter().position(|contender| contender.name == sequencer.node.name()) else {
        return false;
    };
    match sequencer.mode {
        Mode::Exclusive => at == 0,
        Mode::Shared => all[..at].iter().all(|contender| contender.kind == READ),
    }
}

/// A file as it was opened. If it is deleted and made again, the handle does not stand for the new file.
///
/// # Cost
///
#[doc = include_str!("../costs/chubby.md")]
pub struct OpenFile<Z> {
    zk: Z,
    path: ZPath,
    /// Its creation: another file of this name has another.
    instance: Zxid,
    under: Option<Sequencer>,
    poisoned: AtomicBool,
}

impl<Z> fmt::Debug for OpenFile<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenFile { path, instance, under, .. } = self;
        f.debug_struct("OpenFile")
            .field("path", path)
            .field("instance", instance)
            .field("under", under)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> OpenFile<Z> {
    /// Makes all operations fail from now on, even those under way; what is held stays held. Any task may call this.
    pub fn poison(&self) {
        self.poisoned.store(true, Ordering::SeqCst);
    }

    /// What is in the file, and its Stat.
    pub async fn contents_and_stat(&self) -> Result<(Data, Stat), FileError> {
        loop {
            self.awake()?;
            self.checkpoint("chubby/read");
            match self.zk.data(&self.path).await {
                Ok((data, stat)) => return self.seen(&stat).await.map(|()| (data, stat)),
                Err(e) => self.passing(e).await?,
            }
        }
    }

    /// The file's Stat.
    pub async fn stat(&self) -> Result<Stat, FileError> {
        Ok(self.contents_and_stat().await?.1)
    }

    /// The names of the files below this one. The znodes of contenders for its lock, and the mark of a lock-delay, are
    /// not among them.
    pub async fn read_dir(&self) -> Result<Vec<Text>, FileError> {
        loop {
            self.awake()?;
            self.checkpoint("chubby/dir");
            match self.zk.children2(&self.path).await {
                Ok((mut names, stat)) => {
                    names.retain(|name| names::Contender::parse(name, KINDS).is_none() && **name != *MARK);
                    return self.seen(&stat).await.map(|()| names);
                }
                Err(e) => self.passing(e).await?,
            }
        }
    }

    /// Writes the file if it has this version; -1 stands for any. If the handle has a sequencer, that must still be
    /// valid when the write takes effect: the ensemble itself compares.
    pub async fn set_contents(&self, data: Data, version: i32) -> Result<(), FileError> {
        self.write(Op::SetData { path: self.path.text(), data, version }).await
    }

    /// Deletes the file if it has this version and no children; -1 stands for any. The mark that a holder with a
    /// lock-delay left when it died counts as a child until the next holder comes.
    pub async fn delete(&self, version: i32) -> Result<(), FileError> {
        self.write(Op::Delete { path: self.path.text(), version }).await
    }

    async fn write(&self, op: Op) -> Result<(), FileError> {
        // Whether it is still the file that was opened.
        self.stat().await?;
        let mut ops = vec![op];
        if let Some(sequencer) = &self.under {
            ops.insert(0, Op::Check { path: sequencer.node.text(), version: -1 });
        }
        let guarded = ops.len() > 1;
        match self.zk.multi(ops).await {
            Ok(MultiOutcome::Applied(_)) => self.awake(),
            Ok(MultiOutcome::Failed(codes)) => Err(self.refused(&codes, guarded)),
            Err(e) if e.is_session_over() => Err(RecipeError::SessionLost.into()),
            Err(e) => Err(FileError::Unknown(e)),
        }
    }

    fn refused(&self, codes: &[Option<ErrorCode>], guarded: bool) -> FileError {
        if guarded && codes.first().is_some_and(Option::is_some) {
            return FileError::SequencerInvalid;
        }
        match codes.last().copied().flatten() {
            Some(ErrorCode::BadVersion) => FileError::OtherVersion,
            Some(ErrorCode::NotEmpty) => FileError::InUse,
            Some(ErrorCode::NoNode) | None => FileError::NotThere(self.path.clone()),
            Some(code) => {
                let error = Error { code, tried: "write", path: self.path.text() };
                RecipeError::Failed(error).into()
            }
        }
    }

    /// What was read is of this file, and the handle may tell it.
    async fn seen(&self, stat: &Stat) -> Result<(), FileError> {
        self.awake()?;
        if stat.czxid() != self.instance {
            return Err(FileError::NotThere(self.path.clone()));
        }
        match &self.under {
            // Behind the read, so what was read was so while it held.
            Some(sequencer) => {
                let from = ("chubby/guard", stat.mzxid());
                match checked(&self.zk, sequencer, sequencer.mode, from).await? {
                    true => self.awake(),
                    false => Err(FileError::SequencerInvalid),
                }
            }
            None => Ok(()),
        }
    }

    fn awake(&self) -> Result<(), FileError> {
        match self.poisoned.load(Ordering::SeqCst) {
            true => Err(FileError::Poisoned),
            false => Ok(()),
        }
    }

    async fn passing(&self, error: Error) -> Result<(), FileError> {
        match error.code {
            ErrorCode::NoNode => Err(FileError::NotThere(self.path.clone())),
            _ => Ok(session::passing(&self.zk, error, &self.path).await?),
        }
    }

    fn checkpoint(&self, label: &'static str) {
        let under = self.under.as_ref().map_or("", |sequencer| sequencer.node.as_str());
        let locals = [Local::Zxid(self.instance), Local::Text(under)];
        self.zk.checkpoint(label, &locals);
    }
}

/// An open file, and a place in the line for its lock. Reads and writes are those of [`OpenFile`].
pub struct Handle<Z> {
    file: OpenFile<Z>,
    lock: SharedLock<Z>,
    delay: Option<LockDelay>,
}

impl<Z> fmt::Debug for Handle<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Handle { file, lock, delay } = self;
        f.debug_struct("Handle").field("file", file).field("lock", lock).field("delay", delay).finish()
    }
}

impl<Z> std::ops::Deref for Handle<Z> {
    type Target = OpenFile<Z>;

    fn deref(&self) -> &OpenFile<Z> {
        &self.file
    }
}

impl<Z: ZooKeeper + Clone> Handle<Z> {
    /// Opens a file that exists. `guid` must differ from that of every other handle, and be fit for a znode's name.
    pub async fn open(zk: Z, path: &ZPath, guid: &str) -> Result<Handle<Z>, FileError> {
        let bad = |_| {
            let error = Error { code: ErrorCode::BadArguments, tried: "open", path: path.text() };
            FileError::from(RecipeError::Failed(error))
        };
        let lock = SharedLock::new(zk.clone(), path, guid).map_err(bad)?;
        let instance = loop {
            zk.checkpoint("chubby/open", &[Local::Text(guid)]);
            match zk.exists(path).await {
                Ok(Some(stat)) => break stat.czxid(),
                Ok(None) => return Err(FileError::NotThere(path.clone())),
                Err(e) => session::passing(&zk, e, path).await?,
            }
        };
        let file =
            OpenFile { zk, path: path.clone(), instance, under: None, poisoned: AtomicBool::new(false) };
        Ok(Handle { file, lock, delay: None })
    }

    /// Closes the handle. Nothing is left behind, not even by attempts that were dropped. A lock must be released
    /// first, as it borrows the handle.
    pub async fn close(mut self) -> Result<(), RecipeError> {
        self.lock.abandon().await
    }

    /// Waits for the file's lock.
    pub async fn acquire(&mut self, mode: Mode) -> Result<Locked<'_, Z>, FileError> {
        self.file.awake()?;
        let held = match mode {
            Mode::Shared => self.lock.read().await?,
            Mode::Exclusive => self.lock.write().await?.into_held(),
        };
        begins(self.delay.as_ref(), held, mode, &self.file).await
    }

    /// Takes the lock if nobody stands before this handle. When it returns `None`, nothing is left behind. Even so it
    /// waits for a lock-delay that is not over: the holder that caused it is dead.
    pub async fn try_acquire(&mut self, mode: Mode) -> Result<Option<Locked<'_, Z>>, FileError> {
        self.file.awake()?;
        let held = match mode {
            Mode::Shared => self.lock.try_read().await?,
            Mode::Exclusive => self.lock.try_write().await?.map(|held| held.into_held()),
        };
        match held {
            Some(held) => begins(self.delay.as_ref(), held, mode, &self.file).await.map(Some),
            None => Ok(None),
        }
    }

    /// From now on, if this handle's client dies while it holds the lock alone, the next one to take the lock waits for
    /// `delay` before it has it; and this handle waits for others that have died so. Dropping what is held counts as
    /// dying. All that take the file's lock must have a lock-delay, or none may. The user must know how late a holder's
    /// write can arrive, and for how long its process can stand still.
    pub fn set_lock_delay(&mut self, delay: Duration) {
        let mark = self.file.path.join(MARK).expect("a constant");
        self.delay = Some(LockDelay::new(mark, delay));
    }

    /// From now on, operations succeed only while this sequencer is valid.
    pub fn set_sequencer(&mut self, sequencer: Sequencer) {
        self.file.under = Some(sequencer);
    }
}

/// What is held behind a lock-delay, if there is one.
async fn begins<'a, Z: ZooKeeper>(
    delay: Option<&'a LockDelay>,
    held: Held<'a, Z>,
    mode: Mode,
    file: &'a OpenFile<Z>,
) -> Result<Locked<'a, Z>, FileError> {
    if let Some(delay) = delay {
        delay.begin(&held, mode).await?;
    }
    Ok(Locked { file, held, mode, delay })
}

/// A file whose lock is held. Dropping it releases the lock without making sure that it is released.
#[must_use = "dropping it gives away what is held"]
pub struct Locked<'a, Z: ZooKeeper> {
    file: &'a OpenFile<Z>,
    held: Held<'a, Z>,
    mode: Mode,
    delay: Option<&'a LockDelay>,
}

impl<Z: ZooKeeper> fmt::Debug for Locked<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked")
            .field("file", &self.file)
            .field("held", &self.held)
            .field("mode", &self.mode)
            .field("delay", &self.delay)
            .finish()
    }
}

impl<Z: ZooKeeper> std::ops::Deref for Locked<'_, Z> {
    type Target = OpenFile<Z>;

    fn deref(&self) -> &OpenFile<Z> {
        self.file
    }
}

impl<Z: ZooKeeper> Locked<'_, Z> {
    /// What it shows to resources.
    pub fn sequencer(&self) -> Sequencer {
        Sequencer {
            file: self.file.path.clone(),
            node: self.held.node().clone(),
            mode: self.mode,
            token: self.held.token(),
            session: self.file.zk.session(),
        }
    }

    /// Resolves when the lock is lost.
    pub async fn lost(&self, on: OnDisconnect) -> Lost {
        self.held.lost(on).await
    }

    /// Releases the lock, and returns when it is known to be released.
    pub async fn release(self) -> Result<(), RecipeError> {
        if let (Some(delay), Mode::Exclusive) = (self.delay, self.mode) {
            delay.end(&self.held).await?;
        }
        self.held.release().await
    }
}

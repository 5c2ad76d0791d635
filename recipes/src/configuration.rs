//! Name service and configuration: values that are followed, and many that change as one.

use crate::session::{self, RecipeError};
use std::collections::BTreeMap;
use zk_api::{
    CreateMode, Data, Error, ErrorCode, Local, MultiOutcome, Op, OpResult, Text, Watch, ZPath, ZooKeeper,
    Zxid, open_acl,
};

/// A value and the transaction that set it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The value.
    pub data: Data,
    /// Grows with every change, even if the znode was deleted and made anew in between, when the version of its Stat
    /// begins at 0 again.
    pub version: Zxid,
}

/// One znode's value, followed: a name and what it stands for, or a setting.
///
/// - **Absent or there.** A read of an absent znode sets no watch, so absence is watched by another request.
/// - **Versions** never go back for one follower, even if its session moves between servers. Several changes may come
///   as one, and the value after the last change always comes.
/// - **A lost connection** keeps the watch; the value is read again all the same. **The session is over:**
///   [`RecipeError::SessionLost`], and what was read last may be old from then on: follow anew with a new session.
/// - **Told by others.** A server may lag behind what somebody else has just told this client: what
///   [`synced`](Setting::synced) returns is at least as new.
///
/// A change costs each follower one request, and two if the znode is gone.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{RecipeError, Setting, Value};
///
/// /// Applies every value, until somebody removes it.
/// async fn follow<Z: ZooKeeper>(zk: Z, path: &ZPath, apply: impl Fn(&Value)) -> Result<(), RecipeError> {
///     let mut setting = Setting::new(zk, path);
///     while let Some(value) = setting.changed().await? {
///         apply(&value);
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Setting<Z> {
    zk: Z,
    path: ZPath,
    /// What was given last: nothing yet, absent, or a version.
    given: Option<Option<Zxid>>,
    watch: Option<Watch>,
}

impl<Z: ZooKeeper> Setting<Z> {
    /// The value of the znode `path`, which need not exist; its parent must exist if the value is to be set. No request
    /// is sent yet.
    pub fn new(zk: Z, path: &ZPath) -> Setting<Z> {
        Setting { zk, path: path.clone(), given: None, watch: None }
    }

    /// The value: the first call returns it as it is, each later call as soon as it differs from the one returned last.
    /// `None` if there is none.
    ///
    /// The future may be dropped at any time: the next call returns what has changed meanwhile.
    pub async fn changed(&mut self) -> Result<Option<Value>, RecipeError> {
        loop {
            if let Some(watch) = self.watch.take() {
                session::told(&self.zk, watch).await?;
            }
            if let Some(now) = self.read().await? {
                let given = now.as_ref().map(|value| value.version);
                if self.given != Some(given) {
                    self.given = Some(given);
                    return Ok(now);
                }
            }
        }
    }

    /// The value as it is now, or newer: at least as new as whatever anybody had been answered before this call.
    ///
    /// It asks for a transaction that changes nothing and reads after it, which costs a write. A `sync` would cost less
    /// but is not enough: a leader that does not know it was deposed answers one by itself, and so does one whose own
    /// tree lags.
    pub async fn synced(&mut self) -> Result<Option<Value>, RecipeError> {
        loop {
            self.checkpoint("setting/sync");
            // The read comes behind it, on the same connection, or both are lost.
            let (ordered, read) = (session::ordered(&self.zk, &self.path), self.zk.data(&self.path));
            let now = match (ordered.await, read.await) {
                (Ok(_), Ok((data, stat))) => Some(Value { data, version: stat.mzxid() }),
                (Ok(_), Err(e)) if e.code == ErrorCode::NoNode => None,
                (Err(e), _) | (_, Err(e)) => {
                    session::passing(&self.zk, e, &self.path).await?;
                    continue;
                }
            };
            self.given = Some(now.as_ref().map(|value| value.version));
            return Ok(now);
        }
    }

    /// Reads once, with a watch; `None` if it must read again.
    async fn read(&mut self) -> Result<Option<Option<Value>>, RecipeError> {
        self.checkpoint("setting/read");
        match self.zk.data_watch(&self.path).await {
            Ok(((data, stat), watch)) => {
                self.watch = Some(watch);
                return Ok(Some(Some(Value { data, version: stat.mzxid() })));
            }
            Err(e) if e.code == ErrorCode::NoNode => {}
            Err(e) => return session::passing(&self.zk, e, &self.path).await.map(|()| None),
        }
        self.checkpoint("setting/absent");
        match self.zk.exists_watch(&self.path).await {
            Ok((None, watch)) => {
                self.watch = Some(watch);
                Ok(Some(None))
            }
            // It was made meanwhile.
            Ok((Some(_), _)) => Ok(None),
            Err(e) => session::passing(&self.zk, e, &self.path).await.map(|()| None),
        }
    }

    /// Sets the value, making the znode if there is none. Returns the version.
    ///
    /// If an answer is lost, the value is set once more, which may overwrite what another client set in between: the
    /// last write wins, as it does without any fault.
    pub async fn set(&mut self, data: Data) -> Result<Zxid, RecipeError> {
        loop {
            let text = String::from_utf8_lossy(data.bytes());
            self.zk.checkpoint("setting/set", &[Local::Text(self.path.as_str()), Local::Text(&text)]);
            match self.zk.set_data(&self.path, data.clone(), -1).await {
                Ok(stat) => return Ok(stat.mzxid()),
                Err(e) if e.code == ErrorCode::NoNode => {}
                Err(e) => {
                    session::passing(&self.zk, e, &self.path).await?;
                    continue;
                }
            }
            match self.zk.create2(&self.path, data.clone(), open_acl(), CreateMode::Persistent).await {
                Ok((_, stat)) => return Ok(stat.mzxid()),
                // By somebody else, or by this very request, whose answer was lost.
                Err(e) if e.code == ErrorCode::NodeExists => {}
                Err(e) => {
                    let parent = self.path.parent().unwrap_or_else(|| self.path.clone());
                    session::passing(&self.zk, e, &parent).await?;
                }
            }
        }
    }

    /// Removes the value. Returns when there was none at some moment.
    pub async fn clear(&mut self) -> Result<(), RecipeError> {
        loop {
            self.zk.checkpoint("setting/clear", &[Local::Text(self.path.as_str())]);
            match self.zk.delete(&self.path, -1).await {
                Ok(()) => return Ok(()),
                Err(e) if e.code == ErrorCode::NoNode => return Ok(()),
                Err(e) => session::passing(&self.zk, e, &self.path).await?,
            }
        }
    }

    fn checkpoint(&self, label: &'static str) {
        let given = match self.given {
            None => Local::Text("nothing"),
            Some(None) => Local::Text("absent"),
            Some(Some(version)) => Local::Zxid(version),
        };
        self.zk.checkpoint(label, &[Local::Text(self.path.as_str()), given]);
    }
}

/// Several values that change as one, as they were at one time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The values by name.
    pub values: BTreeMap<Text, Data>,
    /// Grows with every change of any of them.
    pub version: Zxid,
}

/// A configuration of several znodes, the children of one, which are read as they were at one time.
///
/// Writers change any of them in one transaction with a write of the parent, whose data is not used. Readers read the
/// parent's version, the children, and the version again: if it is still the same nothing was changed in between, else
/// they read once more. So a reader never returns anything torn and watches one znode whatever the number of values,
/// and a writer never waits. A reader returns nothing as long as writers are faster than it can read.
///
/// - All writers must use [`publish`](Configuration::publish), and only one may write at a time if they are to build on
///   each other's values.
/// - **Versions, lost connections, the end of the session, being told by others:** as with [`Setting`].
///
/// To read n values costs n + 3 requests.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{Configuration, RecipeError};
///
/// /// Changes two of the values. Every reader sees both changes or neither.
/// async fn raise_limits<Z: ZooKeeper>(zk: Z, root: &ZPath) -> Result<(), RecipeError> {
///     let mut config = Configuration::new(zk, root);
///     let mut values = config.changed().await?.values;
///     values.insert("limit".into(), "20".into());
///     values.insert("burst".into(), "40".into());
///     config.publish(&values).await.map(drop)
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/configuration.md")]
#[derive(Debug)]
pub struct Configuration<Z> {
    zk: Z,
    root: ZPath,
    given: Option<Zxid>,
    watch: Option<Watch>,
}

/// One look at all values.
enum Look {
    /// As they were at one time.
    Whole(Snapshot),
    /// Something changed, or the connection was lost.
    Again,
}

impl<Z: ZooKeeper> Configuration<Z> {
    /// The values of the children of `root`, a znode that exists. No request is sent yet.
    pub fn new(zk: Z, root: &ZPath) -> Configuration<Z> {
        Configuration { zk, root: root.clone(), given: None, watch: None }
    }

    /// All values: the first call returns them as they are, each later call as soon as they differ from those returned
    /// last.
    ///
    /// The future may be dropped at any time: the next call returns what has changed meanwhile.
    pub async fn changed(&mut self) -> Result<Snapshot, RecipeError> {
        loop {
            if let Some(watch) = self.watch.take() {
                session::told(&self.zk, watch).await?;
            }
            self.checkpoint("configuration/read", &[]);
            let version = match self.zk.data_watch(&self.root).await {
                Ok(((_, stat), watch)) => {
                    self.watch = Some(watch);
                    stat.mzxid()
                }
                Err(e) => {
                    session::passing(&self.zk, e, &self.root).await?;
                    continue;
                }
            };
            if self.given == Some(version) {
                continue;
            }
            match self.look(version).await? {
                Look::Whole(snapshot) => {
                    self.given = Some(version);
                    return Ok(snapshot);
                }
                Look::Again => self.watch = None,
            }
        }
    }

    /// Reads the children, and whether the version is still this.
    async fn look(&mut self, version: Zxid) -> Result<Look, RecipeError> {
        let names = match self.zk.children(&self.root).await {
            Ok(names) => names,
            Err(e) => return again(&self.zk, e, &self.root).await,
        };
        let mut values = BTreeMap::new();
        for name in names {
            let path = self.root.join(&name).expect("a child's name is valid");
            match self.zk.data(&path).await {
                Ok((data, _)) => {
                    values.insert(name, data);
                }
                Err(e) if e.code == ErrorCode::NoNode => return Ok(Look::Again),
                Err(e) => return again(&self.zk, e, &self.root).await,
            }
        }
        match self.zk.exists(&self.root).await {
            Ok(Some(stat)) if stat.mzxid() == version => Ok(Look::Whole(Snapshot { values, version })),
            Ok(_) => Ok(Look::Again),
            Err(e) => again(&self.zk, e, &self.root).await,
        }
    }

    /// Replaces all values by these, in one transaction. Returns its version.
    ///
    /// Where an answer is lost they are set once more. Fails with `BadArguments` if a name is not fit for a znode.
    pub async fn publish(&mut self, values: &BTreeMap<Text, Data>) -> Result<Zxid, RecipeError> {
        loop {
            let alive: Vec<String> =
                values.iter().map(|(name, data)| format!("{name} {}", data.bytes().escape_ascii())).collect();
            let locals: Vec<Local<'_>> = alive.iter().map(|text| Local::Text(text)).collect();
            self.checkpoint("configuration/publish", &locals);
            let names = match self.zk.children(&self.root).await {
                Ok(names) => names,
                Err(e) => {
                    session::passing(&self.zk, e, &self.root).await?;
                    continue;
                }
            };
            match self.zk.multi(self.ops(&names, values)?).await {
                Ok(MultiOutcome::Applied(results)) => {
                    if let Some(OpResult::DataSet(stat)) = results.first() {
                        return Ok(stat.mzxid());
                    }
                    return Err(RecipeError::Failed(self.error(ErrorCode::SystemError)));
                }
                Ok(MultiOutcome::Failed(codes)) => match codes.iter().flatten().next() {
                    // Another writer was faster, or the list was old. The next one is as new as this failure, which has
                    // its place in the order of writes.
                    Some(ErrorCode::NoNode | ErrorCode::NodeExists) => {}
                    Some(code) => return Err(RecipeError::Failed(self.error(*code))),
                    None => return Err(RecipeError::Failed(self.error(ErrorCode::SystemError))),
                },
                Err(e) => session::passing(&self.zk, e, &self.root).await?,
            }
        }
    }

    /// What turns children of these names into these values; the write of the parent comes first.
    fn ops(&self, names: &[Text], values: &BTreeMap<Text, Data>) -> Result<Vec<Op>, RecipeError> {
        let path = |name: &str| match self.root.join(name) {
            Ok(path) => Ok(path.text()),
            Err(_) => Err(RecipeError::Failed(self.error(ErrorCode::BadArguments))),
        };
        let mut ops = vec![Op::SetData { path: self.root.text(), data: Data::NULL, version: -1 }];
        for (name, data) in values {
            let (path, data) = (path(name)?, data.clone());
            ops.push(match names.contains(name) {
                true => Op::SetData { path, data, version: -1 },
                false => Op::create(path, data, CreateMode::Persistent),
            });
        }
        for name in names.iter().filter(|name| !values.contains_key(*name)) {
            ops.push(Op::Delete { path: path(name)?, version: -1 });
        }
        Ok(ops)
    }

    fn error(&self, code: ErrorCode) -> Error {
        Error { code, tried: "multi", path: self.root.text() }
    }

    fn checkpoint(&self, label: &'static str, more: &[Local<'_>]) {
        let given = self.given.map_or(Local::Text("nothing"), Local::Zxid);
        let mut locals = vec![Local::Text(self.root.as_str()), given];
        locals.extend_from_slice(more);
        self.zk.checkpoint(label, &locals);
    }
}

async fn again<Z: ZooKeeper>(zk: &Z, error: Error, root: &ZPath) -> Result<Look, RecipeError> {
    session::passing(zk, error, root).await.map(|()| Look::Again)
}

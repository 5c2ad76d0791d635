//! The published steps, decent in everything but what a variant asks for.

use super::fixture::{BARRIER, Fixture};
use std::time::Duration;
use zk_api::{CreateMode, Data, Either, ErrorCode, Local, Text, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, in_round, knowing, plain};

/// How long a member waits that does not wait for ever.
const PATIENCE: Duration = Duration::from_secs(5);

/// Told to checkpoints, as the same place means something else to who leaves.
const LEAVING: u8 = 1;

/// How the published steps are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// The znode that is created when all are there. The one that is watched is `/barrier/ready`.
    pub(super) flag: &'static str,
    /// The look for the flag comes before the own znode is made, and not after the list.
    pub(super) looks_first: bool,
    /// The flag is counted as a member by who enters.
    pub(super) counts_flag: bool,
    /// The flag is taken for a member by who leaves.
    pub(super) waits_for_flag: bool,
    /// Any event passes, that of a lost connection as well.
    pub(super) any_event: bool,
    /// That the flag is there already is an error.
    pub(super) flag_exists_fails: bool,
    /// That the own znode is there already is an error.
    pub(super) own_exists_fails: bool,
    /// That the own znode is gone already is an error.
    pub(super) no_node_fails: bool,
    /// Waits for an event of a znode though it was not there.
    pub(super) null_waits: bool,
    /// Waits for so long only, and leaves its znode.
    pub(super) is_impatient: bool,
}

/// The sound reading: only znodes of processes are counted and waited for.
pub(super) const SOUND: Steps = Steps {
    flag: "/barrier/ready",
    looks_first: true,
    counts_flag: false,
    waits_for_flag: false,
    any_event: false,
    flag_exists_fails: false,
    own_exists_fails: false,
    no_node_fails: false,
    null_waits: false,
    is_impatient: false,
};

impl Steps {
    /// Enters, works and leaves.
    pub(super) async fn round(self, fixture: &Fixture) -> Result<bool, Stop> {
        let zk = fixture.zk.clone();
        let own = plain::child(&fixture.barrier(), &fixture.name());
        if !self.enter(fixture, &zk, &own).await? {
            return Ok(false);
        }
        fixture.inside().await;
        self.leave(&in_round(zk, LEAVING), &own).await?;
        Ok(true)
    }

    /// `false` if it gave up.
    async fn enter(self, fixture: &Fixture, zk: &impl ZooKeeper, own: &ZPath) -> Result<bool, Stop> {
        let ready = plain::child(&fixture.barrier(), "ready");
        let before =
            if self.looks_first { Some(plain::exists(zk, &ready, own.as_str()).await?.1) } else { None };
        // No checkpoint while a watch is held: it is what matters.
        make(zk, own, CreateMode::Ephemeral, self.own_exists_fails).await?;
        if self.members(list(zk).await?, self.counts_flag).len() >= fixture.size() {
            make(zk, &plain::path(&self.flag.into()), CreateMode::Persistent, self.flag_exists_fails).await?;
            return Ok(true);
        }
        let told = match before {
            Some(watch) => watch,
            None => plain::exists(zk, &ready, own.as_str()).await?.1,
        };
        if self.is_impatient {
            return Ok(matches!(race(told, zk.sleep(PATIENCE)).await, Either::Left(_)));
        }
        if self.any_event {
            race(told, zk.state_change()).await;
            return Ok(true);
        }
        plain::event(told).await.map(|()| true)
    }

    async fn leave(self, zk: &(impl ZooKeeper + Clone), own: &ZPath) -> Result<(), Stop> {
        let is_own = |name: &Text| **name == *own.name();
        loop {
            let names =
                self.members(plain::children(zk, &barrier(), own.as_str()).await?, self.waits_for_flag);
            let processes = names.iter().filter(|name| ***name != *"ready").count();
            match &*names {
                [] => return Ok(()),
                [..] if processes == 1 && names.iter().any(is_own) => return plain::remove(zk, own).await,
                [lowest, .., highest] if is_own(lowest) => self.wait_for(zk, highest, own).await?,
                [lowest, ..] => {
                    self.remove(&knowing(zk.clone(), lowest), own).await?;
                    self.wait_for(zk, lowest, own).await?;
                }
            }
        }
    }

    async fn remove(self, zk: &impl ZooKeeper, own: &ZPath) -> Result<(), Stop> {
        if !self.no_node_fails {
            return plain::remove(zk, own).await;
        }
        plain::again(zk, || zk.delete(own, -1)).await
    }

    async fn wait_for(self, zk: &impl ZooKeeper, name: &str, own: &ZPath) -> Result<(), Stop> {
        match plain::exists(zk, &plain::child(&barrier(), name), own.as_str()).await? {
            (None, _) if !self.null_waits => Ok(()),
            (_, gone) => plain::event(gone).await,
        }
    }

    /// Those among the children that count, lowest first.
    fn members(self, mut names: Vec<Text>, with_flag: bool) -> Vec<Text> {
        names.retain(|name| with_flag || **name != *"ready");
        names.sort_unstable();
        names
    }
}

fn barrier() -> ZPath {
    ZPath::parse(BARRIER).expect("a constant")
}

/// Creates a znode, however often it takes.
async fn make(zk: &impl ZooKeeper, path: &ZPath, mode: CreateMode, exists_fails: bool) -> Result<(), Stop> {
    loop {
        match zk.create(path, Data::NULL, mode).await {
            Ok(_) => return Ok(()),
            Err(e) if e.code == ErrorCode::NodeExists && !exists_fails => return Ok(()),
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}

/// Lists the children, however often it takes.
async fn list(zk: &impl ZooKeeper) -> Result<Vec<Text>, Stop> {
    plain::again(zk, || zk.children(&barrier())).await
}

/// A barrier by the list of children alone, as a tutorial has it: enters when the list is long enough, leaves when it
/// is empty.
pub(super) async fn tutorial(fixture: &Fixture) -> Result<bool, Stop> {
    let zk = fixture.zk.clone();
    let own = plain::child(&barrier(), &fixture.name());
    make(&zk, &own, CreateMode::Ephemeral, false).await?;
    until(&zk, &own, |members| members >= fixture.size()).await?;
    fixture.inside().await;
    plain::remove(&zk, &own).await?;
    until(&in_round(zk, LEAVING), &own, |members| members == 0).await?;
    Ok(true)
}

/// Waits until there are enough children, or few enough.
async fn until(zk: &impl ZooKeeper, own: &ZPath, enough: impl Fn(usize) -> bool) -> Result<(), Stop> {
    loop {
        zk.checkpoint("tutorial/list", &[Local::Text(own.as_str())]);
        match zk.children_watch(&barrier()).await {
            Ok((names, _)) if enough(names.len()) => return Ok(()),
            Ok((_, changed)) => plain::event(changed).await?,
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}

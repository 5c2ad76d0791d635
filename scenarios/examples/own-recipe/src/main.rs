//! A lock of one's own: who cannot create its znode waits until it is gone. Is it right?

use zoocheck::api::{CreateMode, Data, Error, ErrorCode, Text, ZPath, ZooKeeper};
use zoocheck::trials::prelude::*;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoWaiterStuck};

async fn acquire(zk: &impl ZooKeeper, holder: &ZPath) -> Result<(), Error> {
    loop {
        match zk.create(holder, Data::NULL, CreateMode::Ephemeral).await {
            Err(error) if error.code == ErrorCode::NodeExists => zk.exists_watch(holder).await?.1.await,
            created => return created.map(|_| ()),
        };
    }
}

async fn turn(zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), Error> {
    let (lock, holder) = (Text::from("/my-lock"), ZPath::parse("/my-lock/holder").expect("a path"));
    probe.observe(Observation::Attempts { lock: lock.clone() });
    acquire(zk, &holder).await?;
    probe.observe(Observation::Enters { lock: lock.clone() });
    probe.work().await;
    probe.observe(Observation::Leaves { lock: lock.clone() });
    zk.delete(&holder, -1).await?;
    probe.observe(Observation::Released { lock });
    Ok(())
}

struct MyLock;

impl Trial for MyLock {
    fn about(&self) -> About {
        About::new("my-lock", "One ephemeral znode; who cannot create it waits until it is gone.")
    }
    fn setup(&self) -> Vec<Text> {
        vec!["/my-lock".into()]
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of("/my-lock")), Box::new(NoWaiterStuck)]
    }
    /// An error ends an attempt, and whoever made it.
    fn opts_out(&self) -> &'static [&'static str] {
        &["no-failure"]
    }
    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        for _ in 0..part.rounds {
            if let Err(error) = turn(&zk, &probe).await {
                return error.into();
            }
        }
        End::Done
    }
}

#[cfg(test)]
mod tests;

fn main() -> std::process::ExitCode {
    zoocheck::Zoo::default().with(MyLock).main()
}

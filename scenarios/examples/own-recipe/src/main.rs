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

async fn actor(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Result<(), Error> {
    for _ in 0..role.rounds {
        turn(&zk, &probe).await?;
    }
    Ok(())
}

fn my_lock() -> Trial {
    Trial::new("my-lock", actor)
        .summary("One ephemeral znode; who cannot create it waits until it is gone.")
        .setup(["/my-lock"])
        .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of("/my-lock")), Box::new(NoWaiterStuck)])
        // An error ends an attempt, and whoever made it.
        .opts_out(&["no-failure"])
}

#[cfg(test)]
mod tests;

fn main() -> std::process::ExitCode {
    zoocheck::Catalogue::default().with(my_lock()).main()
}

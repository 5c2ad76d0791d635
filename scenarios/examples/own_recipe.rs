//! A recipe of one's own under trial: `cargo run --example own_recipe -- check my-lock`.
//!
//! The recipe is the lock that everybody writes first: create an ephemeral znode, and if it is there already, wait
//! until it is gone. It seems to work. `check` shows in a few steps when it does not.

use std::process::ExitCode;
use zoocheck::Zoo;
use zoocheck::api::{CreateMode, Data, Error, ErrorCode, Text, ZPath, ZooKeeper};
use zoocheck::trials::event::{End, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoWaiterStuck};
use zoocheck::trials::trial::{About, Bounds, Part, Reductions, Trial};

/// The znodes of the trial are below this.
const LOCK: &str = "/my-lock";

/// The recipe: it knows ZooKeeper, and nothing of trials.
async fn acquire(zk: &impl ZooKeeper, holder: &ZPath) -> Result<(), Error> {
    loop {
        match zk.create(holder, Data::NULL, CreateMode::Ephemeral).await {
            Ok(_) => return Ok(()),
            Err(error) if error.code == ErrorCode::NodeExists => {}
            Err(error) => return Err(error),
        }
        let (_, watch) = zk.exists_watch(holder).await?;
        // The znode may have gone before the watch was set. Then this waits for ever.
        watch.await;
    }
}

struct MyLock;

impl MyLock {
    async fn turn(&self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), Error> {
        let holder = ZPath::parse(&format!("{LOCK}/holder")).expect("a valid path");
        probe.observe(Observation::Attempts { lock: LOCK.into() });
        acquire(zk, &holder).await?;
        probe.observe(Observation::Enters { lock: LOCK.into() });
        probe.work().await;
        probe.observe(Observation::Leaves { lock: LOCK.into() });
        zk.delete(&holder, -1).await?;
        probe.observe(Observation::Released { lock: LOCK.into() });
        Ok(())
    }
}

impl Trial for MyLock {
    fn about(&self) -> About {
        About {
            name: "my-lock",
            summary: "One ephemeral znode; who cannot create it waits until it is gone.",
            source: "examples/own_recipe.rs",
            breaks: None,
            bounds: Bounds::clients(2),
            reductions: Reductions::default(),
        }
    }

    fn setup(&self) -> Vec<Text> {
        vec![LOCK.into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(ExclusionAmongLiveSessions::of(LOCK)), Box::new(NoWaiterStuck)]
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        for _ in 0..part.rounds {
            match self.turn(&zk, &probe).await {
                Ok(()) => {}
                Err(error) if error.code == ErrorCode::SessionExpired => return End::SessionLost,
                Err(_) => return End::Failed,
            }
        }
        End::Done
    }
}

fn main() -> ExitCode {
    Zoo::default().with(MyLock).main()
}

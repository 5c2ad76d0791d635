//! An election of one's own: whoever has come first leads, and each other candidate watches the one before it.

use zoocheck::api::{CreateMode, Data, Text, ZPath, ZooKeeper};
use zoocheck::trials::prelude::*;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoWaiterStuck};

/// Waits until nobody stands before it, and gives its own znode.
async fn elected(zk: &impl ZooKeeper, election: &ZPath) -> Result<ZPath, End> {
    let prefix = election.join("n-").expect("a name");
    let mine = zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await?;
    loop {
        let mut names = zk.children(election).await?;
        names.sort_unstable();
        let place = names.iter().position(|name| mine.ends_with(&**name)).ok_or(End::SessionLost)?;
        let Some(before) = place.checked_sub(1) else { return Ok(ZPath::parse(&mine).expect("a path")) };
        let before = election.join(&names[before]).expect("a child's name");
        // Whatever the watch tells, it looks again.
        if let (Some(_), watch) = zk.exists_watch(&before).await? {
            watch.await;
        }
    }
}

async fn term(zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
    let (name, election) = (Text::from("/my-election"), ZPath::parse("/my-election").expect("a path"));
    probe.observe(Observation::Attempts { lock: name.clone() });
    let mine = elected(zk, &election).await?;
    probe.observe(Observation::Enters { lock: name.clone() });
    probe.work().await;
    probe.observe(Observation::Leaves { lock: name.clone() });
    zk.delete(&mine, -1).await?;
    probe.observe(Observation::Released { lock: name });
    Ok(())
}

async fn actor(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    for _ in 0..role.rounds {
        if let Err(end) = term(&zk, &probe).await {
            // A znode that it may have made must not stand in the way: it goes with the session.
            let _ = zk.close().await;
            return end;
        }
    }
    End::Done
}

fn my_election() -> Trial {
    Trial::new("my-election", actor)
        .summary("Sequential znodes; the first leads, and each watches the one before it.")
        .setup(["/my-election"])
        .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of("/my-election")), Box::new(NoWaiterStuck)])
        // An error ends an attempt, and whoever made it.
        .opts_out(&["no-failure"])
}

#[test]
fn my_election_is_right() {
    zoocheck::assert_right(my_election(), 100);
}

fn main() -> std::process::ExitCode {
    zoocheck::Catalogue::default().with(my_election()).main()
}

//! `election` and `election/looked-up`: the recipe of this project.

use super::fixture::{ELECTION, Fixture, election};
use zk_api::{Local, Locals, ZPath};
use zk_harness::common::{Stop, plain};
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{self, AnnouncedLeaderLed, SessionEndNoticed, StopsAtLoss};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Election, Leader, OnDisconnect, leader, next_leader};

/// Both of them.
pub fn trials() -> Vec<Trial> {
    vec![
        ours("election", false).summary(
            "One leader at a time, with an epoch, announced to others, who stops at a lost connection.",
        ),
        ours("election/looked-up", true)
            .summary("The election, where a leader that was announced looks itself up before it works."),
    ]
}

fn ours(name: &'static str, looks: bool) -> Trial {
    election(name, move |fixture| turn(fixture, looks))
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) })
        .promises(promises)
}

/// [`zk_recipes::Election`]: stands, leads, announces itself, works, resigns, and looks who leads then. A leader stops
/// at a lost connection. It may look who leads while it does: what that costs is not the election's.
async fn turn(fixture: Fixture, looks: bool) -> Result<(), Stop> {
    let (zk, parent, guid) = (fixture.zk.clone(), fixture.election(), fixture.guid());
    let mut election = Election::new(zk.clone(), &parent, &guid).expect("a guid is fit for a name");
    let leadership = election.lead().await?;
    let announced = async {
        leadership.announce(guid.as_bytes()).await?;
        if !looks {
            return Ok(());
        }
        let leads = [Local::Text(leadership.node().as_str()), Local::Zxid(leadership.epoch())];
        let zk = Locals::of(&leads).told_by(zk.clone());
        fixture.finds(&announced_as(&next_leader(&zk, &parent, None).await?, &parent));
        let found = leader(&zk, &parent).await?;
        fixture.finds(&found.map_or(parent.clone(), |leader| announced_as(&leader, &parent)));
        Ok(())
    };
    let lost = leadership.session_lost(OnDisconnect::Stop);
    fixture.term(leadership.node(), Some(leadership.epoch()), lost, announced).await?;
    leadership.resign().await?;
    if let Some(leader) = leader(&zk, &parent).await? {
        fixture.finds(&announced_as(&leader, &parent));
    }
    Ok(())
}

/// The candidate that has announced itself so: by its guid, which its znode's name begins with.
fn announced_as(leader: &Leader, parent: &ZPath) -> ZPath {
    let number = leader.node.name().split_once('-').map_or("", |(_, number)| number);
    plain::child(parent, &format!("{}-{number}", String::from_utf8_lossy(&leader.identity)))
}

/// What the recipe promises: all that a fenced lock does, and what concerns leaders.
pub(super) fn promises() -> Vec<Box<dyn AnyPromise>> {
    let mut all = promises::of_fenced_lock(ELECTION);
    all.push(Box::new(AnnouncedLeaderLed::of(ELECTION)));
    all.push(Box::new(StopsAtLoss::of(ELECTION, OnDisconnect::Stop).and_for_nothing_else()));
    all.push(Box::new(SessionEndNoticed::default()));
    all
}

//! Code that begins before its client is connected.

use crate::external_recipes::judge::{Expected, about, broken, drops, insist, judge, noted, passing, path};
use std::collections::BTreeMap;
use std::sync::Arc;
use zoocheck::CheckConfig;
use zoocheck::api::{CreateMode, Data, ErrorCode, SessionId, ZooKeeper};
use zoocheck::trials::event::{ActorId, End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;

const MEMBERS: &str = "/members";

/// Each process joins under the name of its session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    /// It takes its name at once.
    AtOnce,
    /// It waits until it is connected.
    Connected,
    /// It takes its name after its first answer.
    AfterAnAnswer,
}

/// No two members have one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NamesDiffer(BTreeMap<i64, ActorId>);

impl Promise for NamesDiffer {
    fn terms(&self) -> Terms {
        Terms::of("names-differ").about("No two members have one name.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let Some((actor, "joins as", _, name)) = noted(event) else { return };
        match self.0.insert(name, actor) {
            Some(other) => found.push(broken(format!("{other} and {actor} join as {name}"))),
            None => found.push(Finding::Tested),
        }
    }
}

impl Member {
    async fn role(self, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), End> {
        match self {
            Member::AtOnce => {}
            Member::Connected => loop {
                let change = zk.state_change();
                if zk.session() != SessionId::NONE {
                    break;
                }
                change.await;
            },
            Member::AfterAnAnswer => {
                insist(zk, || zk.exists(&path(MEMBERS))).await?;
            }
        }
        let name = format!("{:x}", zk.session());
        let member = path(&format!("{MEMBERS}/of-{name}"));
        loop {
            match zk.create(&member, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => break,
                // Its own, as nobody else has its name.
                Err(error) if error.code == ErrorCode::NodeExists => break,
                Err(error) => passing(zk, error).await?,
            }
        }
        let number = i64::from_str_radix(&name, 16).expect("a number");
        probe.observe(Observation::note(Word::own("joins as"), MEMBERS, number));
        Ok(())
    }
}

impl From<Member> for Trial {
    fn from(it: Member) -> Trial {
        let about = {
            let bounds = Bounds { drops: 1, ..Bounds::clients(2) };
            match it {
                Member::AtOnce => about("external-member/at-once", "Takes its name at once.", bounds),
                Member::Connected => {
                    about("external-member", "Waits for its session, and takes its name.", bounds)
                }
                Member::AfterAnAnswer => about("external-member/asks", "Asks, and takes its name.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| it.actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::<NamesDiffer>::default()])
            .setup([MEMBERS]);
        trial.about = about;
        trial
    }
}

impl Member {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _role: Role) -> End {
        (self).role(&zk, &probe).await.err().unwrap_or(End::Done)
    }
}

/// A handle is there before its session is: in the models, each process was connected before its code began once, and
/// the first look at the session was never one at none.
#[test]
fn who_is_named_after_its_session_before_it_has_one_is_not_alone() {
    for bounds in [Bounds::clients(2), Bounds { drops: 1, ..Bounds::clients(2) }] {
        let expected = Expected::Wrong { promise: "names-differ", steps: 10 };
        judge(Member::AtOnce, &CheckConfig::new(bounds), 2, drops(), &expected);
    }
}

#[test]
fn who_waits_for_its_session_has_a_name_of_its_own() {
    for member in [Member::Connected, Member::AfterAnAnswer] {
        for bounds in [
            Bounds::clients(2),
            Bounds { drops: 1, ..Bounds::clients(2) },
            Bounds { drops: 2, lag: 1, ..Bounds::clients(1) },
            Bounds { crashes: 1, restarts: 1, ..Bounds::clients(1) },
        ] {
            judge(member, &CheckConfig::new(bounds), 2, drops(), &Expected::Right);
        }
    }
}

//! A client library that opens a new session under running code, and code that does not notice.

use crate::external_recipes::judge::{Expected, about, broken, judge, noted, path};
use std::sync::Arc;
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, Error, ErrorCode, KeeperState, SessionId, ZPath, ZooKeeper};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Catalogue, CheckConfig, Faults};

const DOORS: &str = "/doors";

/// Each process has a badge at the door, and looks at it before it goes in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Badge {
    /// It hangs its badge up again when it has another session.
    PerSession,
    /// The same, but any badge of its name will do.
    Any,
    /// It hangs it up once.
    Once,
    /// The same, where the library renews nothing.
    OnceAndForAll,
}

/// Whoever looks at its own badge, connected as it is, finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct BadgeThere;

impl Promise for BadgeThere {
    fn terms(&self) -> Terms {
        Terms::of("badge-there").about("Whoever looks at its badge finds it.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((_, "shows", ..)) => found.push(Finding::Tested),
            Some((actor, "misses", about, _)) => found.push(broken(format!("{actor} misses {about}"))),
            _ => {}
        }
    }
}

/// Waits until there is a session again.
async fn renewed(zk: &impl ZooKeeper) {
    loop {
        let change = zk.state_change();
        if zk.state() == KeeperState::SyncConnected {
            return;
        }
        change.await;
    }
}

impl Badge {
    /// Tries until it is done, on whatever session.
    async fn hang(self, zk: &impl ZooKeeper, badge: &ZPath) -> Result<SessionId, Error> {
        loop {
            let session = zk.session();
            match zk.create(badge, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => return Ok(session),
                Err(error) if error.code == ErrorCode::NodeExists && self == Badge::Any => {
                    return Ok(session);
                }
                Err(error) if error.is_session_over() && self != Badge::OnceAndForAll => renewed(zk).await,
                Err(error) => return Err(error),
            }
        }
    }

    async fn role(self, zk: &impl ZooKeeper, probe: &impl Probe, role: Role) -> Result<(), Error> {
        let badge = path(&format!("{DOORS}/of-{}", role.me.process));
        let mut hung = self.hang(zk, &badge).await?;
        // Longer than a session lives in silence.
        zk.sleep(Duration::from_secs(20)).await;
        loop {
            if matches!(self, Badge::PerSession | Badge::Any) && zk.session() != hung {
                hung = self.hang(zk, &badge).await?;
            }
            match zk.exists(&badge).await {
                Ok(stat) => {
                    let what = if stat.is_some() { "shows" } else { "misses" };
                    probe.observe(Observation::note(Word::own(what), badge.as_str(), 1));
                    return Ok(());
                }
                Err(error) if error.is_session_over() && self != Badge::OnceAndForAll => renewed(zk).await,
                Err(error) => return Err(error),
            }
        }
    }
}

impl From<Badge> for Trial {
    fn from(it: Badge) -> Trial {
        let about = {
            let bounds = Bounds { expiries: 1, ..Bounds::clients(2) };
            match it {
                Badge::PerSession => about("external-badge", "A badge for each session.", bounds),
                Badge::Any => about("external-badge/any", "Somebody's badge is as good.", bounds),
                Badge::Once => about("external-badge/once", "A badge for the first session.", bounds),
                Badge::OnceAndForAll => about("external-badge/for-all", "One session, one badge.", bounds),
            }
        };
        let mut trial = Trial::new(about.name, move |zk, probe, role| it.actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::new(BadgeThere)])
            .setup([DOORS]);
        trial.about = about;
        trial.renews_session = it != Badge::OnceAndForAll;
        trial
    }
}

impl Badge {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        (self).role(&zk, &probe, role).await.err().map_or(End::Done, End::from)
    }
}

fn expiries() -> Faults {
    Faults { expiries: 40, ..Faults::none() }
}

/// No engine had such a library once, and so there was nothing wrong with code that does not notice its new session.
#[test]
fn who_does_not_notice_a_new_session_misses_what_the_former_had() {
    let config = CheckConfig::new(Bounds { expiries: 1, ..Bounds::clients(2) });
    let expected = Expected::Wrong { promise: "badge-there", steps: 12 };
    judge(Badge::Once, &config, 2, expiries(), &expected);
    // Where the library renews nothing, the same code is right.
    judge(Badge::OnceAndForAll, &config, 2, expiries(), &Expected::Right);
}

#[test]
fn who_looks_at_its_session_makes_its_own_anew() {
    for bounds in [Bounds { expiries: 1, ..Bounds::clients(2) }, Bounds { expiries: 2, ..Bounds::clients(1) }]
    {
        judge(Badge::PerSession, &CheckConfig::new(bounds), 2, expiries(), &Expected::Right);
    }
}

/// A session that is called dead before its time lives on beside the one that was opened in its place: what it owns is
/// still there, and soon is not.
#[test]
fn a_former_session_may_live_on_beside_the_new_one() {
    let bounds = Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(1) };
    let catalogue = Catalogue::empty().with(Badge::Any);
    let check = |config| catalogue.check("external-badge/any", &config).expect("a check");
    let report = check(CheckConfig::new(bounds));
    assert_eq!(report.promise.as_deref(), Some("badge-there"), "{report}");
    let report = check(CheckConfig { false_expiries: false, ..CheckConfig::new(bounds) });
    assert!(report.held(), "{report}");
}

//! Who says something as it begins may begin at any time: once, all had begun before anything else happened.

use crate::common::{broken, run};
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::{CreateMode, Data, KeeperState, ZPath, ZooKeeper};
use zk_harness::event::{End, Event, Observation};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Rest, Terms, Violation};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::{CheckConfig, Verdict};

/// What is promised of two processes that say so when they begin, which session they have, and when they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    /// Nobody begins when another has ended.
    NoneIsLate,
    /// Who begins first has the session with the lower id.
    FirstIsLower,
    /// It has the one with the higher id.
    FirstIsHigher,
    /// When nothing moves, both have begun.
    AllBegin,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Promised {
    what: What,
    begun: Vec<u16>,
    ids: BTreeMap<u16, i64>,
    somebody_ended: bool,
}

impl Promise for Promised {
    fn terms(&self) -> Terms {
        Terms::of("promised").about("What is said in the test.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let Event::Observed { actor, what } = event else { return };
        match what.told().map(|(word, about, number)| (word.text(), about, number)) {
            Some(("begins", ..)) => {
                self.begun.push(actor.process);
                self.expect(self.what != What::NoneIsLate || !self.somebody_ended, found);
            }
            Some(("is", _, id)) => {
                self.ids.insert(actor.process, id);
                if let ([first, second], true) = (&*self.begun, self.ids.len() == 2) {
                    let is_lower = self.ids[first] < self.ids[second];
                    self.expect(self.what != What::FirstIsLower || is_lower, found);
                    self.expect(self.what != What::FirstIsHigher || !is_lower, found);
                }
            }
            Some(("ends", ..)) => self.somebody_ended = true,
            _ => {}
        }
    }

    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        self.expect(self.what != What::AllBegin || self.begun.len() == 2, found);
    }
}

impl Promised {
    fn expect(&self, is_so: bool, found: &mut Vec<Finding>) {
        found.push(match is_so {
            true => Finding::Tested,
            false => Finding::Broken(Violation::new(format!("not {:?}", self.what), None)),
        });
    }
}

/// Two that begin, of which one waits for the other or not.
#[derive(Clone, Copy)]
struct Begins {
    promised: What,
    /// The one looks again and again until the other has made a znode.
    polls: bool,
    /// They tell which session they have.
    tells: bool,
    /// They say that they begin only if they have no session yet.
    only_early: bool,
}

impl From<Begins> for Trial {
    fn from(it: Begins) -> Trial {
        Trial::new("begins", move |zk, probe, role| it.actor(zk, probe, role))
            .summary("Says that it begins.")
            .bounds(Bounds::clients(2))
            .opts_out(&zk_harness::promises::STANDARD)
            .setup(["/a"])
            .promises(move || {
                let (begun, ids) = (Vec::new(), BTreeMap::new());
                vec![Box::new(Promised { what: it.promised, begun, ids, somebody_ended: false })]
            })
    }
}

impl Begins {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let tell = |what, number| probe.observe(Observation::note(Word::own(what), "", number));
        let node = ZPath::parse("/a/b").expect("a path");
        if !self.only_early || zk.state() == KeeperState::Disconnected {
            tell("begins", 0);
        }
        if role.me.process == 0 {
            while let (true, Ok(None)) = (self.polls, zk.exists(&node).await) {
                zk.checkpoint("looks", &[]);
            }
        } else if zk.create(&node, Data::NULL, CreateMode::Persistent).await.is_err() {
            return End::Failed;
        }
        if self.tells {
            // Its number would be looked at, and then nothing holds.
            let id = format!("{:x}", zk.session());
            tell("is", i64::from_str_radix(&id, 16).expect("a number"));
        }
        tell("ends", 0);
        End::Done
    }
}

fn breaks(begins: Begins) -> bool {
    let check = run(Arc::new(begins.into()), &CheckConfig::new(Bounds::clients(2)));
    match check.verdict {
        Verdict::Violated { .. } => broken(&check) == ["promised"],
        Verdict::Holds => false,
        Verdict::Undecided { .. } | Verdict::NotDetermined { .. } => panic!("{:?}", check.verdict),
    }
}

#[test]
fn a_process_may_begin_when_another_has_ended() {
    for only_early in [false, true] {
        let begins = Begins { promised: What::NoneIsLate, polls: false, tells: false, only_early };
        assert!(breaks(begins), "only early: {only_early}");
    }
}

#[test]
fn who_begins_first_may_have_the_lower_id_and_the_higher() {
    for promised in [What::FirstIsLower, What::FirstIsHigher] {
        assert!(breaks(Begins { promised, polls: false, tells: true, only_early: false }), "{promised:?}");
    }
}

/// Nothing rests before, and who waits for it does not wait for ever.
#[test]
fn every_process_begins_sooner_or_later() {
    for (polls, tells) in [(false, false), (true, false), (true, true)] {
        assert!(!breaks(Begins { promised: What::AllBegin, polls, tells, only_early: false }));
    }
}

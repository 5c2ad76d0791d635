//! What all groups on trial have in common: one who watches, and members who come and go.

use std::collections::BTreeSet;
use zk_api::{Either, Pending, Text, ZPath, ZooKeeper, race};
use zk_harness::common::rounds::{ended, rounds};
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, Turn, in_round};
use zk_harness::event::Observation;
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{DONE, Order, START, SessionEndNoticed, of_membership, shown};
use zk_harness::trial::{Role, Trial};
use zk_harness::words;
use zk_recipes::{Ghost, Membership, Roster};

/// The znode of the group, whose children are the members.
pub const GROUP: &str = "/group";

/// The recipe's member; it replaces what a former session has left.
pub type Member = Membership<InRound<InRound<AnyZooKeeper>>>;

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::JOINS, &[START, words::ENDS_ITS_ROUND_WITH]),
    (words::IS_A_MEMBER_BY, &[words::JOINS]),
    (words::LEAVES, &[words::IS_A_MEMBER_BY]),
    (words::ENDS_ITS_ROUND_WITH, &[words::IS_A_MEMBER_BY, words::LEAVES]),
    (words::FOLLOWS, &[START, words::IS_THROUGH_WITH]),
    (words::SEES, &[words::FOLLOWS, words::SEES]),
    (words::IS_THROUGH_WITH, &[words::SEES]),
    (
        words::GIVES_UP,
        &[
            START,
            words::JOINS,
            words::IS_A_MEMBER_BY,
            words::LEAVES,
            words::FOLLOWS,
            words::SEES,
            words::IS_THROUGH_WITH,
        ],
    ),
    (DONE, &[words::ENDS_ITS_ROUND_WITH, words::IS_THROUGH_WITH]),
];

/// A group on trial: what process 0 does in a round, and what another does.
pub fn group(name: &'static str, watch: impl Turn<Fixture>, belong: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe: AnyProbe, role: Role| async move {
        let turn = |zk, round| {
            let fixture = Fixture { zk, probe: probe.clone(), role, is_last: round + 1 == role.rounds };
            async move {
                match role.me.process {
                    0 => watch(fixture).await,
                    _ => belong(fixture).await,
                }
            }
        };
        let done = rounds(&zk, role, turn).await;
        ended(&probe, GROUP, done)
    };
    Trial::new(name, code).setup([GROUP]).promises(promises).tells(WORDS)
}

/// What a group promises.
pub fn promises() -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_membership(GROUP);
    all.push(Box::new(SessionEndNoticed::default()));
    all
}

/// One round of an actor.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    role: Role,
    is_last: bool,
}

impl Fixture {
    /// The group's znode.
    pub fn group(&self) -> ZPath {
        ZPath::parse(GROUP).expect("a constant")
    }

    /// A piece of work.
    pub fn work(&self) -> Pending<()> {
        self.probe.work()
    }

    /// Whether members stay after this round.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// The recipe's member of this process.
    pub fn member(&self) -> Member {
        self.member_in(0)
    }

    /// The same in a later part of the round.
    pub fn member_in(&self, role: u8) -> Member {
        let name = name(self.role.me.process, self.is_last);
        let data = zk_api::Data::NULL;
        Membership::new(in_round(self.zk.clone(), role), &self.group(), &name, data, Ghost::Replace)
            .expect("fit for a name")
    }

    /// The recipe's member of this process once it has joined, and has said so.
    pub async fn joined(&self) -> Result<Member, Stop> {
        let member = self.member();
        self.joins(member.node());
        member.join().await?;
        self.begins(member.node());
        Ok(member)
    }

    /// What the recipe's member does in a round.
    pub async fn belongs(self) -> Result<(), Stop> {
        let member = self.joined().await?;
        if let Either::Left(error) = race(member.keep(), self.work()).await {
            return Err(error.into());
        }
        if !self.is_last {
            self.leaves(member.node());
            member.leave().await?;
        }
        self.ends(member.node());
        Ok(())
    }

    /// What the recipe's watcher does in a round.
    pub async fn watches(self) -> Result<(), Stop> {
        self.watches_by(self.zk.clone()).await
    }

    /// Watches the group by this session until everybody is there.
    pub async fn watches_by(&self, zk: impl ZooKeeper) -> Result<(), Stop> {
        self.follows();
        let mut roster = Roster::new(zk, &self.group());
        loop {
            let members = roster.changed().await?;
            self.sees(members);
            if self.is_full(members) {
                self.is_through();
                return Ok(());
            }
        }
    }

    /// Whether everybody but process 0 is there to stay.
    pub fn is_full(&self, members: &BTreeSet<Text>) -> bool {
        (1..self.role.clients).all(|process| members.contains(&name(process, true)))
    }

    /// It begins to watch the group.
    pub fn follows(&self) {
        self.probe.observe(Observation::note(words::FOLLOWS, GROUP, 0));
    }

    /// It has just been given these members.
    pub fn sees(&self, members: &BTreeSet<Text>) {
        let shown = shown(members.iter().map(|name| (name, None)));
        self.probe.observe(Observation::note(words::SEES, &format!("{GROUP}{shown}"), members.len() as i64));
    }

    /// It watches no more.
    pub fn is_through(&self) {
        self.probe.observe(Observation::ends(words::IS_THROUGH_WITH, GROUP, 0));
    }

    /// It begins to join by this znode.
    pub fn joins(&self, node: &ZPath) {
        self.probe.observe(Observation::note(words::JOINS, node.as_str(), 0));
    }

    /// It takes itself for a member.
    pub fn begins(&self, node: &ZPath) {
        self.probe.observe(Observation::begins(words::IS_A_MEMBER_BY, node.as_str(), 0));
    }

    /// It begins to leave.
    pub fn leaves(&self, node: &ZPath) {
        self.probe.observe(Observation::note(words::LEAVES, node.as_str(), 0));
    }

    /// Its round is over, and it has left if it began to.
    pub fn ends(&self, node: &ZPath) {
        self.probe.observe(Observation::ends(words::ENDS_ITS_ROUND_WITH, node.as_str(), 0));
    }
}

/// A member's name: that of its process, whatever life it is in. In the last round it says that it stays.
pub fn name(process: u16, stays: bool) -> Text {
    let stays = if stays { "!" } else { "" };
    format!("p{process}{stays}").as_str().into()
}

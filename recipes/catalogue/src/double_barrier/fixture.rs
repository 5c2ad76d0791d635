//! What all double barriers on trial have in common: members that enter, work and leave, round after round.

use zk_api::{Pending, Text, ZPath};
use zk_harness::common::rounds::rounds;
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Turn};
use zk_harness::event::Observation;
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    BarrierOpens, DONE, EntersTogether, LeavesTogether, Measured, NoFailure, NoWaiterStuck,
    NothingLeftBehind, OneWokenPerDeletion, Order, RoundsDoNotMix, START, Undisturbed, WokenWhenDue,
};
use zk_harness::trial::{Role, Trial};
use zk_harness::words::{self, Word};

/// The barrier's znode.
pub const BARRIER: &str = "/barrier";

/// How many members a round needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As many as there are clients.
    All,
    /// One less: whoever is left over in the end waits for ever.
    OneSpare,
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::ARRIVES_AT, &[START, words::HAS_LEFT]),
    (words::PASSES, &[words::ARRIVES_AT]),
    (words::ASKS_TO_LEAVE, &[words::PASSES]),
    (words::HAS_LEFT, &[words::ASKS_TO_LEAVE]),
    (DONE, &[words::HAS_LEFT]),
];

/// A double barrier on trial: all clients are members. A round enters, goes through [`Fixture::inside`], and leaves;
/// `false` if it gave up waiting.
pub fn double_barrier(name: &'static str, size: Size, round: impl Turn<Fixture, bool>) -> Trial {
    let code = move |zk, probe: AnyProbe, role: Role| async move {
        let size = match size {
            Size::All => role.clients,
            Size::OneSpare => role.clients.saturating_sub(1).max(1),
        };
        let turn = |zk, _| {
            let fixture = Fixture { zk, probe: probe.clone(), role, size };
            async move {
                fixture.says(words::ARRIVES_AT);
                match round(fixture.clone()).await? {
                    true => fixture.probe.observe(Observation::ends(words::HAS_LEFT, BARRIER, size.into())),
                    false => fixture.says(words::GIVES_UP),
                }
                Ok(())
            }
        };
        rounds(&zk, role, turn).await
    };
    // The one that is left over waits for others who never come.
    let opts_out: &[&str] = if size == Size::OneSpare { &["no-waiter-stuck"] } else { &[] };
    Trial::new(name, code)
        .setup([BARRIER])
        .tells(WORDS)
        .opts_out(opts_out)
        .promises(move || promises(size, false, vec![Box::new(Measured(OneWokenPerDeletion::of(BARRIER)))]))
}

/// What the published steps promise, of which it is said whom they wake and when.
pub fn published(size: Size, is_single: bool) -> Vec<Box<dyn AnyPromise>> {
    let due = Undisturbed::of(WokenWhenDue::of(BARRIER));
    promises(size, is_single, vec![Box::new(due), Box::new(OneWokenPerDeletion::of(BARRIER).but_the_last())])
}

/// What a double barrier promises, with what it promises of wakes. What is made for a single round has none to mix.
fn promises(size: Size, is_single: bool, wakes: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    let mut all: Vec<Box<dyn AnyPromise>> = vec![
        Box::new(EntersTogether::of(BARRIER)),
        Box::new(LeavesTogether::of(BARRIER)),
        Box::new(BarrierOpens::of(BARRIER)),
        Box::new(Undisturbed::of(NoFailure).sparing(BARRIER)),
        Box::new(Undisturbed::of(NothingLeftBehind::of(BARRIER)).sparing(BARRIER)),
    ];
    all.extend(wakes);
    if size == Size::All {
        all.push(Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())));
    }
    if !is_single {
        all.insert(2, Box::new(RoundsDoNotMix::of(BARRIER)));
    }
    all
}

/// One round of a member.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    role: Role,
    size: u16,
}

impl Fixture {
    /// The barrier's znode.
    pub fn barrier(&self) -> ZPath {
        ZPath::parse(BARRIER).expect("a constant")
    }

    /// How many members a round needs.
    pub fn size(&self) -> usize {
        self.size.into()
    }

    /// The member's name: the same in all rounds of one life.
    pub fn name(&self) -> String {
        self.role.me.to_string()
    }

    /// A guid of this attempt.
    pub fn guid(&self) -> Text {
        self.probe.guid()
    }

    /// A while, or a scheduling point.
    pub fn work(&self) -> Pending<()> {
        self.probe.work()
    }

    /// What is done between entering and leaving.
    pub async fn inside(&self) {
        self.probe.observe(Observation::begins(words::PASSES, BARRIER, self.size.into()));
        self.probe.work().await;
        self.says(words::ASKS_TO_LEAVE);
    }

    fn says(&self, what: Word<'_>) {
        self.probe.observe(Observation::note(what, BARRIER, self.size.into()));
    }
}

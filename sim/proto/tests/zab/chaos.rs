//! Seeded runs: any enabled action may be next, faults among them; then the faults end.
//!
//! The first seed in which something is wrong is told with its last actions.

use crate::zab::rig::{Action, Rig};
use crate::zab::scenes::competing_leaders;
use std::collections::BTreeMap;
use zk_api::Zxid;
use zk_proto::mutant::Mutant;
use zk_proto::zab::message::Packet;
use zk_proto::zab::{Note, Output, Timer, Write};

/// Numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides.max(1)
    }
}

/// How likely each kind of action is in one run.
struct Weights {
    tick: u64,
    notify: u64,
    lost: u64,
    written: u64,
    propose: u64,
    trim: u64,
    crash: u64,
    leader_crash: u64,
    restart: u64,
    cut: u64,
    mislead: u64,
    /// In a thousand steps.
    strand: u64,
}

/// What a run is to be: sizes and weights drawn from its seed.
fn draw(dice: &mut Dice, mutant: Option<Mutant>) -> (Rig, Weights, u64) {
    let voters = [1, 2, 3, 3, 3, 3, 4, 5, 5, 3][dice.roll(10) as usize];
    let observers = [0, 0, 0, 1, 1, 2][dice.roll(6) as usize];
    let diff_max = [0, 1, 2, 100, 100, 100][dice.roll(6) as usize];
    let last_counter = [2, 5, 1000, 1000, 1000][dice.roll(5) as usize];
    let mut rig = Rig::new(voters, observers, |config| {
        (config.diff_max, config.last_counter) = (diff_max, last_counter);
        config.mutant = mutant;
    });
    // A kind of fault is off in a third of the runs.
    let mut strength = |most: u64| dice.roll(3).min(1) * (1 + dice.roll(most));
    let weights = Weights {
        tick: 2 + strength(6),
        notify: 2 + strength(20),
        lost: strength(40),
        written: 20 + strength(150),
        propose: 10 + strength(200),
        trim: strength(4),
        crash: strength(2),
        leader_crash: strength(3),
        restart: 1 + strength(9),
        cut: strength(2),
        mislead: strength(60) * strength(1),
        strand: strength(20),
    };
    let steps = 100 + dice.roll(900);
    if voters == 3 && weights.mislead > 0 && dice.roll(3) == 0 {
        competing_leaders(&mut rig);
    }
    (rig, weights, steps)
}

/// What blind choices hardly ever do: a leader logs proposals that nobody else hears of, and is gone.
fn strand(rig: &Rig, dice: &mut Dice) -> Vec<Action> {
    let Some(server) = rig.leader().filter(|leader| rig.peer(leader.0).may_propose()) else {
        return Vec::new();
    };
    let mut actions = Vec::new();
    let crashes = dice.roll(2) == 0;
    if !crashes {
        for other in rig.nodes.keys().copied().filter(|other| *other != server) {
            actions.push(Action::Cut { from: server, to: other });
            actions.push(Action::Cut { from: other, to: server });
        }
    }
    actions.extend((0..=dice.roll(3)).map(|_| Action::Propose { server }));
    if rig.nodes[&server].writing.is_none() {
        actions.push(Action::Written { server });
    }
    if crashes {
        actions.push(Action::Crash { server, outcome: 0, mute: true });
    }
    actions
}

/// Everything that can happen, faults as well, with its weight.
fn choices(rig: &Rig, weights: &Weights, dice: &mut Dice) -> Vec<(Action, u64)> {
    let mut choices: Vec<(Action, u64)> = Vec::new();
    for action in rig.actions() {
        let weight = match action {
            Action::Datagram { .. } | Action::Dialled { .. } | Action::Packet { .. } => 100,
            Action::Fire { timer: Timer::Tick, .. } => weights.tick,
            Action::Fire { timer: Timer::Notify, .. } => weights.notify,
            Action::Fire { timer: Timer::Finalize, .. } => 20,
            Action::Written { .. } => weights.written,
            Action::Image { .. }
            | Action::Mislead { .. }
            | Action::Propose { .. }
            | Action::Trim { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Cut { .. }
            | Action::Mend { .. }
            | Action::Break { .. } => 20,
        };
        choices.push((action, weight));
        if let Action::Datagram { from, to, .. } = action {
            choices.push((Action::Datagram { from, to, lost: true }, weights.lost));
        }
        if let Action::Dialled { from, to, .. } = action {
            choices.push((Action::Dialled { from, to, lost: true }, weights.lost));
        }
    }
    for (server, node) in &rig.nodes {
        let server = *server;
        let Some(peer) = &node.peer else {
            choices.push((Action::Restart { server }, weights.restart));
            continue;
        };
        if peer.may_propose() {
            choices.push((Action::Propose { server }, weights.propose));
        }
        if peer.is_looking() {
            let voters = &peer.config().voters;
            let leader = voters.iter().nth(dice.roll(voters.len() as u64) as usize);
            choices
                .extend(leader.map(|leader| (Action::Mislead { server, leader: *leader }, weights.mislead)));
        }
        if peer.delivered() > peer.history().base() {
            choices.push((Action::Trim { server }, weights.trim));
        }
        let outcomes = node.outcomes();
        let (outcome, mute) = (dice.roll(outcomes as u64) as usize, dice.roll(2) == 0);
        let crash = if peer.leads().is_some() { weights.leader_crash } else { weights.crash };
        choices.push((Action::Crash { server, outcome, mute }, crash));
        for other in rig.nodes.keys().copied().filter(|other| *other != server) {
            choices.push((Action::Cut { from: server, to: other }, weights.cut));
        }
    }
    for (from, to) in &rig.cut {
        choices.push((Action::Mend { from: *from, to: *to }, weights.restart));
    }
    for link in rig.links.keys() {
        let arrives = [dice.roll(4) as usize, dice.roll(4) as usize];
        choices.push((Action::Break { link: *link, arrives }, weights.cut));
    }
    choices.retain(|(_, weight)| *weight > 0);
    choices
}

fn pick(choices: &[(Action, u64)], dice: &mut Dice) -> Action {
    let mut at = dice.roll(choices.iter().map(|(_, weight)| weight).sum());
    for (action, weight) in choices {
        if at < *weight {
            return *action;
        }
        at -= weight;
    }
    unreachable!("an ensemble always has a timer or a server that is down")
}

/// How often something worth testing was reached.
pub type Reached = BTreeMap<&'static str, u64>;

fn reach(reached: &mut Reached, outputs: &[Output]) {
    for output in outputs {
        let name = match output {
            Output::Note(Note::Promised { .. }) => "epochs promised",
            Output::Note(Note::Established { .. }) => "epochs established",
            Output::Note(Note::Committed(_)) => "commits",
            Output::Note(Note::Cut(lost)) if !lost.is_empty() => "logs cut",
            Output::Deliver(_) => "deliveries",
            Output::Restore(_) => "snapshots restored",
            Output::Send { packet: Packet::Inform(_), .. } => "informs",
            Output::Send { packet: Packet::AckEpoch { current_epoch: None, .. }, .. } => "promises repeated",
            Output::Write(Write::Append(txns)) if txns.len() > 1 => "writes of several",
            _ => continue,
        };
        *reached.entry(name).or_default() += 1;
    }
}

/// A run on its way.
pub struct Run {
    pub rig: Rig,
    /// How many steps it is to take while there are faults.
    pub steps: u64,
    dice: Dice,
    weights: Weights,
    /// What is to happen next, the first of it last, instead of a choice.
    next: Vec<Action>,
}

impl Run {
    pub fn new(seed: u64, mutant: Option<Mutant>) -> Run {
        let mut dice = Dice(seed);
        let (rig, weights, steps) = draw(&mut dice, mutant);
        Run { rig, steps, dice, weights, next: Vec::new() }
    }

    pub fn choose(&mut self) -> Action {
        if self.next.is_empty() && self.dice.roll(1000) < self.weights.strand {
            self.next = strand(&self.rig, &mut self.dice);
            self.next.reverse();
        }
        match self.next.pop() {
            Some(action) => action,
            None => pick(&choices(&self.rig, &self.weights, &mut self.dice), &mut self.dice),
        }
    }
}

/// One run. Fails with what is wrong, and the actions that led there.
pub fn run(seed: u64, reached: &mut Reached) -> Result<(), (String, Vec<Action>)> {
    let mut run = Run::new(seed, None);
    let mut actions = Vec::new();
    for _ in 0..run.steps {
        let action = run.choose();
        let rig = &mut run.rig;
        actions.push(action);
        reach(reached, &rig.act(action));
        *reached.entry("steps").or_default() += 1;
        if let Action::Crash { .. } = action {
            *reached.entry("crashes").or_default() += 1;
        }
        rig.check().map_err(|what| (what, actions.clone()))?;
    }
    let rig = &mut run.rig;
    let stood = rig.ghost.committed.len();
    rig.heal().map_err(|what| (format!("healing: {what}"), actions.clone()))?;
    *reached.entry("epochs in all").or_default() += rig.ghost.initial.len() as u64;
    let survived = rig.ghost.committed.len() >= stood + 2;
    let worn_out = rig.ghost.committed.keys().any(|zxid: &Zxid| zxid.counter() >= 5);
    *reached.entry("runs with a long epoch").or_default() += u64::from(worn_out);
    if survived { Ok(()) } else { Err(("what stood is gone".to_string(), actions)) }
}

fn sweep(seeds: std::ops::Range<u64>) -> Reached {
    let mut reached = Reached::new();
    for seed in seeds {
        if let Err((what, actions)) = run(seed, &mut reached) {
            let last = &actions[actions.len().saturating_sub(40)..];
            let lines: Vec<String> = last.iter().map(|action| format!("{action:?}")).collect();
            panic!("seed {seed}, step {}: {what}\n{}", actions.len(), lines.join("\n"));
        }
    }
    reached
}

#[test]
fn what_stands_survives_whatever_goes_wrong_and_then_all_serve_again() {
    let reached = sweep(0..800);
    for name in [
        "epochs established",
        "commits",
        "logs cut",
        "snapshots restored",
        "informs",
        "promises repeated",
        "writes of several",
        "crashes",
        "runs with a long epoch",
    ] {
        assert!(reached.get(name).is_some_and(|count| *count >= 10), "{name}: {reached:?}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn what_stands_survives_in_more_seeds() {
    println!("{:?}", sweep(800..20_000));
}

//! Livelock: something moves for ever, and somebody never comes to his end.
//!
//! Looked for in what an exhaustive search has recorded: the free actions from each state, faults left out, as
//! a run that goes on for ever has only so many faults. A livelock is a set of states that can be gone round
//! in, in all of which some actor has not ended, and in which every action that is possible *all the way round*
//! is taken now and then. That is weak fairness, for each action of each process: a holder that may leave its
//! critical section at any time leaves it, so polling for it is no livelock. Two who back off from each other in
//! step are one, although a luckier order of their steps would end it.
//!
//! So it is found whenever there is a state from which no end can be reached at all; a state in which nothing
//! moves is not a livelock but somebody else's business.
//!
//! ```
//! use zk_model::actions::Action;
//! use zk_model::livelock::{Edges, label};
//!
//! let mut edges = Edges::default();
//! // From state 0, process 0 is served, and from state 1 its timer fires; that leads back, and nobody ends.
//! edges.state(false);
//! edges.add(label(Action::Serve(0)), true, 1);
//! edges.state(false);
//! edges.add(label(Action::Timer(0, 0)), true, 0);
//! assert_eq!(edges.hopeless(), [0, 1]);
//! let livelock = edges.livelock().expect("it goes round");
//! assert_eq!((livelock.state, livelock.round.len()), (0, 2));
//! ```

use crate::action::Action;
use crate::own_promises::NO_LIVELOCK;
use crate::verdict::PromiseReport;
use std::collections::{BTreeSet, VecDeque};
use zk_harness::promises::NO_POLLING;

/// What free actions lead from each state to which.
#[derive(Debug, Default)]
pub struct Edges {
    /// Where each state's edges begin. States are numbered as they were found, and recorded in that order.
    starts: Vec<u32>,
    targets: Vec<u32>,
    labels: Vec<u16>,
    /// Whether nothing came of it that promises see.
    silent: Vec<bool>,
    /// Every actor has ended, or nothing moves.
    ended: Vec<bool>,
}

/// A way into a livelock, and once round in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Livelock {
    /// The state it is entered by: no other is fewer steps from the start.
    pub state: u32,
    /// The numbers of the actions taken from there to there.
    pub round: Vec<u16>,
}

/// More edges than this are not recorded: they take 400 MB.
const EDGES_MAX: usize = 1 << 26;

/// Whether an action is one that code which polls takes: its process is served and goes on.
fn is_of_polling(label: u16) -> bool {
    let taken =
        [Action::Serve(0), Action::Deliver(0), Action::Point(0, 0), Action::Timer(0, 0), Action::Run(0, 0)];
    taken.iter().any(|action| self::label(*action) >> 12 == label >> 12)
}

/// Why nothing else holds where numbers are compared by their order alone.
pub const LIVELOCKS_ALONE: &str = "only livelocks were looked for, of which there is none";

/// Where numbers are compared by their order alone, only what goes round is judged.
pub fn judged_alone(promises: &mut [PromiseReport]) {
    for report in promises.iter_mut().filter(|report| report.broken.is_none()) {
        report.unchecked.get_or_insert_with(|| LIVELOCKS_ALONE.to_owned());
    }
}

/// Says why nothing was looked for that comes round: no livelock, and no polling but in one history of an actor.
pub fn unchecked(promises: &mut [PromiseReport], why: &str) {
    for report in promises {
        report.unchecked = match report.name {
            NO_LIVELOCK => Some(why.to_owned()),
            NO_POLLING => Some("where no checkpoint comes round".to_owned()),
            _ => continue,
        };
    }
}

/// What an action is called, in a few bits.
pub fn label(action: Action) -> u16 {
    let (kind, me, nth) = match action {
        Action::Deliver(me) | Action::Order(me, 1, _) => (0, me, 0),
        Action::Serve(me) => (1, me, 0),
        Action::ServeGhost(me) => (2, me, 0),
        Action::Point(me, nth) => (3, me, nth),
        Action::Timer(me, nth) => (4, me, nth),
        Action::Arrive(me, nth) => (5, me, nth),
        Action::Take(me, nth) => (6, me, nth),
        Action::Reconnect(me, _) => (7, me, 0),
        Action::CatchUp(me) => (8, me, 0),
        Action::Resume(me) => (9, me, 0),
        Action::Expire(me) => (10, me, 0),
        Action::Register(me, _) => (11, me, 0),
        Action::Renew(me, _) => (12, me, 0),
        Action::Run(me, nth) => (13, me, nth),
        Action::Together(me, many) | Action::Order(me, many, _) => (14, me, many),
        // A fault is no free action, and not recorded.
        Action::Drop(..) | Action::Crash(_) | Action::Pause(_) | Action::FalseExpiry(_) => (15, 0, 0),
        // A first life begins sooner or later, one way or the other.
        Action::Rank(me) | Action::Begin(me, _) | Action::Early(me, _) => (15, me, 1),
        Action::Delete(_) | Action::Set(..) | Action::Clock(_) | Action::EndsIn(_) => (15, 0, 0),
    };
    kind << 12 | u16::from(me & 0x3f) << 6 | u16::from(nth & 0x3f)
}

impl Edges {
    /// Begins the next state's.
    pub fn state(&mut self, ended: bool) {
        self.starts.push(self.targets.len() as u32);
        self.ended.push(ended);
    }

    /// The next of its free actions, by its label, leads to this state. `silent`: nothing came of it that promises see.
    pub fn add(&mut self, label: u16, silent: bool, target: u32) {
        self.targets.push(target);
        self.labels.push(label);
        self.silent.push(silent);
    }

    /// The states from which no end can be reached.
    pub fn hopeless(&self) -> Vec<u32> {
        let n = self.starts.len();
        // Whence each state is reached: counted, then sorted in.
        let mut begins = vec![0_u32; n + 1];
        self.targets.iter().for_each(|target| begins[*target as usize + 1] += 1);
        (0..n).for_each(|at| begins[at + 1] += begins[at]);
        let (mut sources, mut filled) = (vec![0_u32; self.targets.len()], begins.clone());
        for state in 0..n as u32 {
            for edge in self.of(state) {
                let place = &mut filled[self.targets[edge] as usize];
                sources[*place as usize] = state;
                *place += 1;
            }
        }
        let mut hopeful = self.ended.clone();
        let mut open: Vec<u32> = (0..n as u32).filter(|state| hopeful[*state as usize]).collect();
        while let Some(state) = open.pop() {
            for source in &sources[begins[state as usize] as usize..begins[state as usize + 1] as usize] {
                if !std::mem::replace(&mut hopeful[*source as usize], true) {
                    open.push(*source);
                }
            }
        }
        (0..n as u32).filter(|state| !hopeful[*state as usize]).collect()
    }

    /// Whether no more should be recorded.
    pub fn is_full(&self) -> bool {
        self.targets.len() >= EDGES_MAX
    }

    fn of(&self, state: u32) -> std::ops::Range<usize> {
        let end = self.starts.get(state as usize + 1).map_or(self.targets.len(), |end| *end as usize);
        self.starts[state as usize] as usize..end
    }

    /// The livelock that is nearest to the start.
    pub fn livelock(&self) -> Option<Livelock> {
        self.livelock_but(|_| false)
    }

    /// The same where some actions are treated more fairly: what is possible again and again, though not all the
    /// way round, is done now and then. `is_strong` says which, by their labels.
    pub fn livelock_but(&self, is_strong: impl Fn(u16) -> bool) -> Option<Livelock> {
        let mut places = self.components(&self.ended, |_| true);
        let mut fair: Vec<BTreeSet<u32>> = Vec::new();
        while !places.is_empty() {
            let mut closed = vec![true; self.starts.len()];
            // What is possible everywhere in a place is possible everywhere within it: unfair is unfair there too.
            for place in places.into_iter().filter(|place| self.is_fair(place)) {
                let missed = self.missed(&place, &is_strong);
                if missed.is_empty() {
                    fair.push(place);
                    continue;
                }
                // Only a way round on which none of that is possible can be gone for ever.
                let misses = |state: &u32| self.of(*state).any(|edge| missed.contains(&self.labels[edge]));
                place.iter().filter(|state| !misses(state)).for_each(|state| closed[*state as usize] = false);
            }
            places = self.components(&closed, |_| true);
        }
        let nearest = fair.into_iter().min_by_key(|place| place.first().copied())?;
        let state = *nearest.first()?;
        Some(Livelock { state, round: self.round(&nearest, state) })
    }

    /// The nearest way round that one process goes by itself, in which it is served, and nothing comes of it that
    /// promises see: it asks the same again and again, and is answered the same. Whether others go on meanwhile makes
    /// no difference.
    pub fn polling(&self) -> Option<Livelock> {
        let open = vec![false; self.starts.len()];
        let processes: BTreeSet<u16> = self.labels.iter().map(|label| label >> 6 & 0x3f).collect();
        let of = |me: u16| {
            let follows = move |edge: usize| {
                let label = self.labels[edge];
                label >> 6 & 0x3f == me && is_of_polling(label) && self.silent[edge]
            };
            let serves = move |edge: usize| self.labels[edge] >> 12 == label(Action::Serve(0)) >> 12;
            let asks = move |place: &BTreeSet<u32>| {
                let mut within = place.iter().flat_map(|state| self.of(*state));
                within.any(|edge| follows(edge) && serves(edge) && place.contains(&self.targets[edge]))
            };
            let places = self.components(&open, follows).into_iter().filter(asks);
            let place = places.min_by_key(|place| place.first().copied())?;
            let state = *place.first()?;
            let mut way = self.shortest(&place, state, follows, serves);
            let at = way.last().map(|(_, edge)| self.targets[*edge])?;
            if at != state {
                way.extend(self.shortest(&place, at, follows, |edge| self.targets[edge] == state));
            }
            let round = way.into_iter().map(|(from, edge)| (edge - self.of(from).start) as u16).collect();
            Some(Livelock { state, round })
        };
        processes.into_iter().filter_map(of).min_by_key(|found| found.state)
    }

    /// What should be done now and then, is possible somewhere among these states, and leads out of them.
    fn missed(&self, place: &BTreeSet<u32>, is_strong: impl Fn(u16) -> bool) -> BTreeSet<u16> {
        let (mut possible, mut taken) = (BTreeSet::new(), BTreeSet::new());
        for edge in place.iter().flat_map(|state| self.of(*state)) {
            if is_strong(self.labels[edge]) {
                possible.insert(self.labels[edge]);
                if place.contains(&self.targets[edge]) {
                    taken.insert(self.labels[edge]);
                }
            }
        }
        possible.difference(&taken).copied().collect()
    }

    /// The sets of states that can be gone round in by edges that may be followed, none of them closed (Tarjan's
    /// algorithm).
    fn components(&self, closed: &[bool], follows: impl Fn(usize) -> bool) -> Vec<BTreeSet<u32>> {
        const NEW: u32 = u32::MAX;
        let n = self.starts.len();
        let (mut order, mut low) = (vec![NEW; n], vec![NEW; n]);
        let mut is_open = vec![false; n];
        let (mut open, mut found, mut next) = (Vec::new(), Vec::new(), 0);
        for root in 0..n as u32 {
            if order[root as usize] != NEW || closed[root as usize] {
                continue;
            }
            let mut path: Vec<(u32, usize)> = Vec::new();
            let mut entered = Some(root);
            loop {
                if let Some(state) = entered.take() {
                    (order[state as usize], low[state as usize]) = (next, next);
                    next += 1;
                    open.push(state);
                    is_open[state as usize] = true;
                    path.push((state, self.of(state).start));
                }
                let Some((state, edge)) = path.last_mut() else { break };
                let at = *state as usize;
                if *edge < self.of(*state).end {
                    let (target, may_follow) = (self.targets[*edge], follows(*edge));
                    *edge += 1;
                    if closed[target as usize] || !may_follow {
                        continue;
                    }
                    if order[target as usize] == NEW {
                        entered = Some(target);
                    } else if is_open[target as usize] {
                        low[at] = low[at].min(order[target as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some((before, _)) = path.last() {
                    low[*before as usize] = low[*before as usize].min(low[at]);
                }
                if low[at] == order[at] {
                    let from = open.iter().rposition(|state| *state as usize == at).expect("it is open");
                    let place: Vec<u32> = open.drain(from..).collect();
                    place.iter().for_each(|state| is_open[*state as usize] = false);
                    let goes_round = place.len() > 1
                        || self.of(at as u32).any(|e| self.targets[e] == at as u32 && follows(e));
                    if goes_round {
                        found.push(place.into_iter().collect());
                    }
                }
            }
        }
        found
    }

    /// Whether every action that is possible in all of these states is taken in one of them without leaving.
    fn is_fair(&self, place: &BTreeSet<u32>) -> bool {
        let mut everywhere: Option<BTreeSet<u16>> = None;
        let mut taken = BTreeSet::new();
        for state in place {
            let here: BTreeSet<u16> = self.labels[self.of(*state)].iter().copied().collect();
            everywhere = Some(match everywhere {
                None => here,
                Some(before) => before.intersection(&here).copied().collect(),
            });
            let within = self.of(*state).filter(|edge| place.contains(&self.targets[*edge]));
            taken.extend(within.map(|edge| self.labels[edge]));
        }
        everywhere.is_none_or(|everywhere| everywhere.is_subset(&taken))
    }

    /// Once round from `start`: each action that is possible there is taken on the way, or is not possible
    /// somewhere on it.
    fn round(&self, place: &BTreeSet<u32>, start: u32) -> Vec<u16> {
        let mut round = Vec::new();
        let mut at = start;
        let mut owed: BTreeSet<u16> = self.labels[self.of(start)].iter().copied().collect();
        while !owed.is_empty() || round.is_empty() || at != start {
            let pays = |edge: usize| {
                if owed.is_empty() {
                    return self.targets[edge] == start;
                }
                let there = &self.labels[self.of(self.targets[edge])];
                owed.contains(&self.labels[edge]) || owed.iter().any(|label| !there.contains(label))
            };
            for (from, edge) in self.shortest(place, at, |_| true, pays) {
                round.push((edge - self.of(from).start) as u16);
                owed.remove(&self.labels[edge]);
                at = self.targets[edge];
                owed.retain(|label| self.labels[self.of(at)].contains(label));
            }
        }
        round
    }

    /// The shortest way within these states, by edges that may be followed, whose last edge is one that is wanted.
    fn shortest(
        &self,
        place: &BTreeSet<u32>,
        start: u32,
        follows: impl Fn(usize) -> bool,
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<(u32, usize)> {
        let mut reached = std::collections::BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(state) = open.pop_front() {
            for edge in self.of(state) {
                let target = self.targets[edge];
                if !place.contains(&target) || !follows(edge) {
                    continue;
                }
                if wanted(edge) {
                    let mut way = vec![(state, edge)];
                    let mut at = state;
                    while at != start {
                        let (from, edge) = reached[&at];
                        way.push((from, edge));
                        at = from;
                    }
                    way.reverse();
                    return way;
                }
                if target != start && !reached.contains_key(&target) {
                    reached.insert(target, (state, edge));
                    open.push_back(target);
                }
            }
        }
        panic!("in a fair component there is a way from everywhere to everywhere");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States with their edges: the process that acts, and where it leads. One without edges has ended.
    fn livelock(states: &[&[(u8, u32)]]) -> Option<Livelock> {
        let mut edges = Edges::default();
        for state in states {
            edges.state(state.is_empty());
            state.iter().for_each(|(me, target)| edges.add(label(Action::Serve(*me)), true, *target));
        }
        edges.livelock()
    }

    #[test]
    fn what_comes_to_an_end_is_none() {
        assert_eq!(livelock(&[&[(0, 1), (1, 2)], &[(1, 3)], &[(0, 3)], &[]]), None);
    }

    #[test]
    fn a_way_round_that_is_left_by_a_step_always_possible_is_none() {
        // 0 polls for as long as 1 does not move, and 1 may move all the time.
        assert_eq!(livelock(&[&[(0, 1), (1, 2)], &[(0, 0), (1, 2)], &[]]), None);
    }

    #[test]
    fn a_way_round_whose_way_out_comes_and_goes_is_one() {
        assert_eq!(
            livelock(&[&[(0, 1)], &[(0, 2), (1, 3)], &[(0, 1)], &[]]),
            Some(Livelock { state: 1, round: vec![0, 0] })
        );
    }

    #[test]
    fn a_way_out_that_comes_and_goes_is_taken_by_who_is_treated_more_fairly() {
        let mut edges = Edges::default();
        for state in [&[(0, 1)][..], &[(0, 2), (1, 3)], &[(0, 1)], &[]] {
            edges.state(state.is_empty());
            state.iter().for_each(|(me, target)| edges.add(*me, true, *target));
        }
        assert_eq!(edges.livelock_but(|_| false).map(|found| found.state), Some(1));
        assert_eq!(edges.livelock_but(|label| label == 1), None);
    }

    #[test]
    fn a_way_round_beside_a_way_out_that_is_taken_is_still_one() {
        let mut edges = Edges::default();
        for state in [&[(0, 1)][..], &[(0, 2), (1, 3)], &[(0, 2), (0, 1)], &[]] {
            edges.state(state.is_empty());
            state.iter().for_each(|(me, target)| edges.add(*me, true, *target));
        }
        assert_eq!(edges.livelock_but(|label| label == 1).map(|found| found.state), Some(2));
    }

    #[test]
    fn every_step_that_is_always_possible_is_in_the_round() {
        assert_eq!(
            livelock(&[&[(0, 0), (1, 1)], &[(0, 1), (1, 0)]]),
            Some(Livelock { state: 0, round: vec![0, 1, 1] })
        );
    }

    #[test]
    fn the_nearest_is_found() {
        let found = livelock(&[&[(0, 1), (1, 2)], &[(0, 3)], &[(0, 2)], &[(0, 3)]]);
        assert_eq!(found.map(|found| found.state), Some(2));
    }

    /// Edges of process 0, silent or not, and of process 1: which action, and where it leads.
    fn polling(states: &[&[(Action, bool, u32)]]) -> Option<Livelock> {
        let mut edges = Edges::default();
        for state in states {
            edges.state(false);
            state.iter().for_each(|(action, silent, target)| edges.add(label(*action), *silent, *target));
        }
        edges.polling()
    }

    const ASKS: Action = Action::Serve(0);
    const SLEEPS: Action = Action::Timer(0, 0);

    #[test]
    fn who_asks_sleeps_and_asks_again_polls_whatever_others_may_do() {
        let other = (Action::Serve(1), true, 2);
        let round: &[&[_]] = &[&[(ASKS, true, 1), other], &[(SLEEPS, true, 0), other], &[]];
        assert_eq!(polling(round), Some(Livelock { state: 0, round: vec![0, 0] }));
        assert_eq!(polling(&[&[(ASKS, true, 0)]]), Some(Livelock { state: 0, round: vec![0] }));
    }

    #[test]
    fn a_way_round_in_which_something_comes_of_it_or_another_acts_is_no_polling() {
        assert_eq!(polling(&[&[(ASKS, false, 1)], &[(SLEEPS, true, 0)]]), None);
        assert_eq!(polling(&[&[(ASKS, true, 1)], &[(Action::Serve(1), true, 0)]]), None);
        assert_eq!(polling(&[&[(ASKS, true, 1)], &[(Action::Expire(0), true, 0)]]), None);
        assert_eq!(polling(&[&[(SLEEPS, true, 0)]]), None);
    }
}

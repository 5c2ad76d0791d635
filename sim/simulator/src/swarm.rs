//! How a run as a whole is: how its latencies and its work are spread, and what is done oddly in it.

use crate::choices::{Choices, Stream};
use crate::clock::MS;
use crate::mailbox::GuidOrder;
use crate::scenario::Scenario;

/// How a run as a whole is. Half of the runs are as the scenario says at most, the others milder.
pub struct Swarm {
    /// The shortest and the longest way of a message, and how latencies are spread.
    pub latency_ns: [u64; 2],
    pub latency_power: u32,
    /// The shortest and the longest work, and how work is spread.
    pub work_ns: [u64; 2],
    pub work_power: u32,
    /// How many writes of 64 travel long.
    pub long_writes: u64,
    /// How many pieces of work of four are over at once.
    pub quick_work: u64,
    /// How many of 64 ready tasks stand still for a while, as threads do.
    pub stand_still: u64,
    /// In which order guids are.
    pub guids: GuidOrder,
}

impl Swarm {
    /// Draws it.
    pub fn draw(scenario: &Scenario, choices: &mut Choices) -> Swarm {
        let ns = |ms: f64| (ms * MS as f64) as u64;
        let [least, most] = scenario.latency_ms;
        let mut percent = |entity| [100, 100, 30, 10][choices.below(Stream::Swarm, entity, 4) as usize];
        let latency_ns = [ns(least), ns(least) + (ns(most) - ns(least)) * percent(0) / 100];
        let [least, most] = scenario.work_ms.map(|ms| u64::from(ms) * MS);
        let work_ns = [least, least + (most - least) * percent(1) / 100];
        Swarm {
            latency_ns,
            // From most messages being fast to nearly all, with one now and then that nearly all others overtake.
            latency_power: [2, 2, 3, 5][choices.below(Stream::Swarm, 4, 4) as usize],
            work_ns,
            // Mostly short.
            work_power: 3 + choices.below(Stream::Swarm, 2, 4) as u32,
            long_writes: [0, 2, 8, 16][choices.below(Stream::Swarm, 5, 4) as usize],
            quick_work: [0, 0, 1, 2][choices.below(Stream::Swarm, 6, 4) as usize],
            stand_still: [0, 0, 0, 8][choices.below(Stream::Swarm, 7, 4) as usize],
            guids: match scenario.script() {
                Some(script) if script.guids_fall => GuidOrder::Falling,
                Some(_) => GuidOrder::Rising,
                None => GuidOrder::Mixed(choices.below(Stream::Swarm, 8, 1 << 32)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Record;

    #[test]
    fn some_runs_are_odd_in_each_way() {
        type Way = (&'static str, fn(&Swarm) -> bool);
        let ways: [Way; 5] = [
            ("nearly all messages overtake one", |swarm| swarm.latency_power > 3),
            ("writes travel long", |swarm| swarm.long_writes > 0),
            ("work is over at once", |swarm| swarm.quick_work > 0),
            ("tasks stand still", |swarm| swarm.stand_still > 0),
            ("guids are in no order", |swarm| matches!(swarm.guids, GuidOrder::Mixed(_))),
        ];
        let draw = |seed| Swarm::draw(&Scenario::default(), &mut Choices::new(seed, &Record::new(), false));
        let all: Vec<_> = (0..64).map(draw).collect();
        for (what, is_so) in ways {
            assert!(all.iter().any(is_so), "{what}");
        }
    }
}

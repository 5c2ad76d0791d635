//! The one stream of choices: everything that is not determined is drawn here, by name and key.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// What is chosen. The name is part of a recorded choice's key, so it must not change lightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Stream {
    /// One way of one message. The entity is the directed link.
    Latency,
    /// How long opening a connection takes. The entity is the process.
    Connect,
    /// Which of several ready tasks runs. The entity is the process.
    Task,
    /// How long `Probe::work` takes. The entity is the process.
    Work,
    /// How long `Probe::point` takes. The entity is the process.
    Point,
    /// How long a write to the outside resource travels. The entity is the process.
    Write,
    /// When a process starts. The entity is the process.
    Start,
    /// The order in which a client tries the servers. The entity is the process.
    Servers,
    /// How long a sync takes. The entity is the server.
    Sync,
    /// How much of an unsynced suffix survives a crash. The entity is the server.
    Torn,
    /// How much of what a crashed server had sent still arrives. The entity is the process.
    CrashLoss,
    /// A clock's offset. The entity is the server, or 256 plus the process.
    Clock,
    /// How a run as a whole is: the scale of its latencies, of its work, and so on. The entity tells which.
    Swarm,
    /// The faults of a schedule. The entity is the kind of fault.
    Fault,
    /// Whether a datagram between servers is lost or comes twice. The entity is the directed pair, or, for whether
    /// a link breaks behind a leader's state, that plus 2^32.
    Datagram,
    /// Whether a ready task stands still for a while, and for how long. The entity is the process.
    StandStill,
    /// What a program of others leaves to chance. The entity is the process times 256, plus its life.
    Program,
}

impl Stream {
    /// Its name in recorded choices.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Recorded choices: `(stream, entity, ordinal) -> value`.
pub type Record = BTreeMap<(String, u64, u64), u64>;

/// Draws choices. Each (stream, entity) has a generator of its own, so that changing, adding or removing one
/// choice does not shift the others.
pub struct Choices {
    seed: u64,
    generators: BTreeMap<(Stream, u64), Generator>,
    given: BTreeMap<(Stream, u64, u64), u64>,
    record: Option<Record>,
}

struct Generator {
    rng: ChaCha8Rng,
    ordinal: u64,
}

impl Choices {
    /// The choices of a seed, with some given in advance. Given choices of unknown streams are ignored.
    pub fn new(seed: u64, given: &Record, record: bool) -> Choices {
        let given = given
            .iter()
            .filter_map(|((name, entity, ordinal), value)| {
                Some(((name.parse().ok()?, *entity, *ordinal), *value))
            })
            .collect();
        Choices { seed, generators: BTreeMap::new(), given, record: record.then(BTreeMap::new) }
    }

    /// A number from 0 to `bound - 1`. A given choice that is too large is taken as the largest.
    pub fn below(&mut self, stream: Stream, entity: u64, bound: u64) -> u64 {
        assert!(bound > 0, "something can be chosen");
        let seed = self.seed;
        let generator =
            self.generators.entry((stream, entity)).or_insert_with(|| Generator::new(seed, stream, entity));
        let ordinal = generator.ordinal;
        generator.ordinal += 1;
        // Drawn even where it is given, so that the next ones stay what they are.
        let drawn = ((u128::from(generator.rng.next_u64()) * u128::from(bound)) >> 64) as u64;
        let value = if self.given.is_empty() {
            drawn
        } else {
            self.given.get(&(stream, entity, ordinal)).map_or(drawn, |given| (*given).min(bound - 1))
        };
        if let Some(record) = &mut self.record {
            record.insert((stream.name().to_owned(), entity, ordinal), value);
        }
        value
    }

    /// A number from `least` to `most`, both included. `most` below `least` counts as `least`.
    pub fn range(&mut self, stream: Stream, entity: u64, least: u64, most: u64) -> u64 {
        least + self.below(stream, entity, most.saturating_sub(least).saturating_add(1))
    }

    /// From now on, other choices than those of the seed, and none that was given.
    pub fn redraw(&mut self, with: u64) {
        // By a number that no two small ones share bits of.
        self.seed ^= with.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.generators.clear();
        self.given.clear();
    }

    /// What was recorded.
    pub fn into_record(self) -> Record {
        self.record.unwrap_or_default()
    }
}

impl Generator {
    fn new(seed: u64, stream: Stream, entity: u64) -> Generator {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&entity.to_le_bytes());
        for (place, byte) in key[16..].iter_mut().zip(stream.name().bytes()) {
            *place = byte;
        }
        Generator { rng: ChaCha8Rng::from_seed(key), ordinal: 0 }
    }
}

/// A share of `spread`: the `power`th power of an even draw `x` below 2^16.
pub fn share(spread: u64, x: u64, power: u32) -> u64 {
    let mut share = 1u128 << 16;
    for _ in 0..power {
        share = (share * u128::from(x)) >> 16;
    }
    ((u128::from(spread) * share) >> 16) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(choices: &mut Choices, stream: Stream, entity: u64, n: usize) -> Vec<u64> {
        (0..n).map(|_| choices.below(stream, entity, 1000)).collect()
    }

    #[test]
    fn removing_choices_of_one_key_does_not_shift_another() {
        let mut a = Choices::new(7, &Record::new(), false);
        let mut b = Choices::new(7, &Record::new(), false);
        draw(&mut a, Stream::Latency, 1, 10);
        draw(&mut a, Stream::Work, 0, 3);
        assert_eq!(draw(&mut a, Stream::Latency, 0, 5), draw(&mut b, Stream::Latency, 0, 5));
        assert_eq!(draw(&mut a, Stream::Task, 0, 5), draw(&mut b, Stream::Task, 0, 5));
    }

    #[test]
    fn streams_entities_and_seeds_differ() {
        let mut c = Choices::new(7, &Record::new(), false);
        let one = draw(&mut c, Stream::Latency, 0, 5);
        assert_ne!(one, draw(&mut c, Stream::Latency, 1, 5));
        assert_ne!(one, draw(&mut c, Stream::Work, 0, 5));
        assert_ne!(one, draw(&mut Choices::new(8, &Record::new(), false), Stream::Latency, 0, 5));
    }

    #[test]
    fn a_given_choice_replaces_one_and_no_other() {
        let mut free = Choices::new(7, &Record::new(), true);
        let drawn = draw(&mut free, Stream::Work, 2, 4);
        let record = free.into_record();
        assert_eq!(record.len(), 4);
        let given = Record::from([(("work".to_owned(), 2, 1), 5)]);
        let mut bound = Choices::new(7, &given, false);
        assert_eq!(draw(&mut bound, Stream::Work, 2, 4), [drawn[0], 5, drawn[2], drawn[3]]);
    }

    #[test]
    fn a_given_choice_that_is_too_large_is_the_largest() {
        let given = Record::from([(("work".to_owned(), 0, 0), 5000)]);
        assert_eq!(draw(&mut Choices::new(7, &given, false), Stream::Work, 0, 1), [999]);
    }
}

//! A stream of choices.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The choices of a seed, one after the other.
pub(super) struct Choices(ChaCha8Rng);

impl Choices {
    pub(super) fn of(seed: u64) -> Choices {
        Choices(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.0.next_u32()) * n as u64) >> 32) as usize
    }

    pub(super) fn one_in(&mut self, n: u32) -> bool {
        n != 0 && self.below(n as usize) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// An item, by the weights that stand before them.
    pub(super) fn weigh<T: Clone>(&mut self, all: &[(usize, T)]) -> T {
        let mut left = self.below(all.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in all {
            if left < *weight {
                return item.clone();
            }
            left -= weight;
        }
        unreachable!("the weights were summed up")
    }
}

//! Digests of 128 bits: what states and their parts are told apart by.
//!
//! Each part of a state carries its digest, so that a step hashes only what it changed. Parts are remembered
//! by their digests and never compared: with 128 bits, a million different parts collide with odds of about
//! 10⁻²⁷. Whole states are told apart by 64 bits, with odds of about 2·10⁻⁵ that thirty million states hide
//! one.
//!
//! ```
//! use zk_model::digest::{digest_all, digest_of};
//!
//! let [a, b] = ["a", "b"].map(|text| digest_of(0, text));
//! assert_eq!(digest_of(0, "a"), a);
//! assert_ne!(digest_of(1, "a"), a, "another kind");
//! assert_ne!(digest_all(0, [a, b]), digest_all(0, [b, a]), "in order");
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use zk_api::{SessionId, Zxid};

/// A digest.
pub type Digest = u128;

const K1: u64 = 0x9e37_79b9_7f4a_7c15;
const K2: u64 = 0xd6e8_feb8_6659_fd93;
const K3: u64 = 0xa076_1d64_78bd_642f;

/// Makes digests: two lanes of multiplications folded to their halves' xor.
///
/// It is the same in every run and on every machine of one byte order. It resists accidents, not attacks.
#[derive(Clone, Copy, Debug)]
pub struct Digester {
    a: u64,
    b: u64,
}

impl Digester {
    /// `kind` keeps digests of different kinds of things apart.
    pub fn new(kind: u64) -> Digester {
        // Scattered, or one kind's next number would do as well as the next kind's.
        Digester { a: K1 ^ fold(kind ^ K2, K3), b: K2.wrapping_add(fold(kind ^ K3, K1)) }
    }

    /// Adds one word.
    pub fn word(&mut self, word: u64) {
        let a = fold(self.a ^ word, K3);
        self.b = fold(self.b.wrapping_add(word), K2) ^ a.rotate_left(29);
        self.a = a.wrapping_add(self.b).wrapping_add(K1);
    }

    /// Adds another digest.
    pub fn digest(&mut self, digest: Digest) {
        self.word(digest as u64);
        self.word((digest >> 64) as u64);
    }

    /// The digest of all that was added.
    pub fn end(mut self) -> Digest {
        self.word(K3);
        u128::from(self.a) << 64 | u128::from(self.b)
    }
}

fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product as u64) ^ (product >> 64) as u64
}

impl Hasher for Digester {
    fn finish(&self) -> u64 {
        self.end() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
        let rest = chunks.remainder();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length keeps "a" and "a\0" apart.
        self.word(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, n: u8) {
        self.word(n.into());
    }
    fn write_u16(&mut self, n: u16) {
        self.word(n.into());
    }
    fn write_u32(&mut self, n: u32) {
        self.word(n.into());
    }
    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }
    fn write_u128(&mut self, n: u128) {
        self.digest(n);
    }
    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }
}

/// The digest of anything that can be hashed.
pub fn digest_of(kind: u64, value: &(impl Hash + ?Sized)) -> Digest {
    let mut digester = Digester::new(kind);
    unnoted(|| value.hash(&mut digester));
    digester.end()
}

/// What the engine hashes, no code under trial has looked at.
pub fn unnoted<T>(work: impl FnOnce() -> T) -> T {
    SessionId::unnoted(|| Zxid::unnoted(work))
}

/// The digest of some digests, in order.
pub fn digest_all(kind: u64, digests: impl IntoIterator<Item = Digest>) -> Digest {
    let mut digester = Digester::new(kind);
    digests.into_iter().for_each(|digest| digester.digest(digest));
    digester.end()
}

/// A hasher for keys that are digests already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digested(u64);

impl Hasher for Digested {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = digest_of(0, bytes) as u64;
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
    fn write_u128(&mut self, n: u128) {
        self.0 = n as u64;
    }
}

/// A map whose keys are digests.
pub type DigestMap<K, V> = HashMap<K, V, BuildHasherDefault<Digested>>;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn small_differences_make_different_digests() {
        let texts = ["", "a", "a\0", "b", "ab", "ba", "aaaaaaaa", "aaaaaaaaa"];
        let mut all: BTreeSet<Digest> = texts.iter().map(|text| digest_of(0, *text)).collect();
        all.extend((0..1000_u64).map(|n| digest_of(0, &n)));
        all.extend((0..1000_u64).map(|n| digest_of(1, &n)));
        all.extend((0..1000_u64).map(|n| digest_of(0, &(n, n + 1))));
        assert_eq!(all.len(), texts.len() + 3000);
        let kinds = (2..50_u64).flat_map(|kind| (0..50_u64).map(move |n| digest_of(kind, &n)));
        all.extend(kinds);
        assert_eq!(all.len(), texts.len() + 3000 + 48 * 50);
        let halves: BTreeSet<u64> = all.iter().map(|digest| *digest as u64).collect();
        assert_eq!(halves.len(), all.len());
    }
}

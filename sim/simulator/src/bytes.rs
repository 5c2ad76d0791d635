//! Bytes of a trace: what `derive(Hash)` tells of a value, little-endian and as wide on every machine.
//!
//! The test of `trace` has the bytes of an event written out: a compiler that told them otherwise would be seen there.
//! An actor is two bytes, in which some of more than 256 processes look alike.

use std::hash::Hasher;

/// A buffer that values are hashed into, one after the other.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn write_u16(&mut self, v: u16) {
        self.write(&v.to_le_bytes());
    }

    fn write_u32(&mut self, v: u32) {
        self.write(&v.to_le_bytes());
    }

    fn write_u64(&mut self, v: u64) {
        self.write(&v.to_le_bytes());
    }

    fn write_u128(&mut self, v: u128) {
        self.write(&v.to_le_bytes());
    }

    fn write_usize(&mut self, v: usize) {
        self.write_u64(v as u64);
    }

    // Signed integers come as unsigned ones, but for those as wide as a pointer, which discriminants are.
    fn write_isize(&mut self, v: isize) {
        self.write_u64(v as i64 as u64);
    }

    /// None: it is the bytes that count.
    fn finish(&self) -> u64 {
        unreachable!("the bytes are hashed by the trace")
    }
}

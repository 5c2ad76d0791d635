//! Any bytes, without bound: the same promises as `tests/totality.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    zk_wire::total::hold(bytes);
});

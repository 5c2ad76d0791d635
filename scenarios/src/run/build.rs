//! Which build this is.

use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;

/// This build: its version, and a hash of the program. Recipes are part of the program, so another recipe is another
/// build, and its runs are others.
pub(crate) fn build() -> String {
    static BUILD: OnceLock<String> = OnceLock::new();
    let find = || {
        let hash = hash().map_or_else(|_| "unknown".into(), |hash| format!("{hash:08x}"));
        format!("{} ({hash})", env!("CARGO_PKG_VERSION"))
    };
    BUILD.get_or_init(find).clone()
}

/// Reads the program by pieces: every command pays for it, and memory for all of a program costs more than its hash.
fn hash() -> io::Result<u32> {
    let mut program = File::open(std::env::current_exe()?)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match program.read(&mut piece)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_hash_is_that_of_the_whole_program() {
        let program = std::env::current_exe().and_then(std::fs::read).expect("this program");
        assert_eq!(super::hash().expect("this program"), crc32fast::hash(&program));
    }
}

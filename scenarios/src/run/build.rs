//! Which build this is.

use std::sync::OnceLock;

/// This build: its version, and a hash of the program. Recipes are part of the program, so another recipe is another
/// build, and its runs are others.
pub(crate) fn build() -> String {
    static BUILD: OnceLock<String> = OnceLock::new();
    let find = || {
        let program = std::env::current_exe().and_then(std::fs::read);
        let hash =
            program.map_or_else(|_| "unknown".into(), |bytes| format!("{:08x}", crc32fast::hash(&bytes)));
        format!("{} ({hash})", env!("CARGO_PKG_VERSION"))
    };
    BUILD.get_or_init(find).clone()
}

//! What some tests need and a machine may lack. With `ZOOCHECK_NO_SKIP` set, as in CI, that is a failure.

use std::process::{Command, Stdio};

/// Says that something is skipped, and why.
pub fn skip(why: &str) {
    assert!(std::env::var_os("ZOOCHECK_NO_SKIP").is_none(), "{why}");
    eprintln!("skipped: {why}");
}

/// The Python that has these modules, such as `"kazoo, greenlet"`, if there is one.
pub fn python(modules: &str) -> Option<String> {
    let python = std::env::var("ZOOCHECK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found =
        Command::new(&python).args(["-c", &format!("import {modules}")]).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    skip(&format!(
        "{python} lacks one of {modules}; `pip install` tests/clients/requirements.txt, and ZOOCHECK_PYTHON names the \
         Python that has them"
    ));
    None
}

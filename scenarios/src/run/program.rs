//! Programs of others as WHAT: `lock.py:worker`, and what is owed of them.

use crate::BadInput;
use std::sync::Arc;
use zk_hosted::{Hosts, Limits, hosted};
use zk_trials::promises::Owed;
use zk_trials::trial::Trial;

/// Whether WHAT stands for a program.
pub(crate) fn is_program(what: &str) -> bool {
    what.rsplit_once(':').is_some_and(|(file, _)| file.ends_with(".py"))
}

/// Starts a program, to see that it can be.
pub(crate) fn program(what: &str, promises: &[String]) -> Result<Arc<Trial>, BadInput> {
    if promises.is_empty() {
        return Err(BadInput::new(format!(
            "{what}: say what is owed of it: --promises KIND=PATH, such as fair-lock=/lock"
        )));
    }
    let owed = Owed::parse(promises.iter().map(String::as_str));
    let owed = owed.map_err(|why| BadInput::new(format!("--promises: {why}")))?;
    let python = std::env::var("ZOOCHECK_PYTHON").unwrap_or_else(|_| "python3".into());
    let hosts = Hosts::python(&python, what, Limits::default()).map_err(BadInput::new)?;
    Ok(Arc::new(hosted(what, Arc::new(hosts), owed)))
}

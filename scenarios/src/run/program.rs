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
    let python = std::env::var("ZOOCHECK_PYTHON").ok().or_else(beside).unwrap_or_else(|| "python3".into());
    let hosts = Hosts::python(&python, what, Limits::default()).map_err(BadInput::new)?;
    Ok(Arc::new(hosted(what, Arc::new(hosts), owed)))
}

/// The Python of the virtual environment that this command is installed in, if it is: active or not, as scripts do.
fn beside() -> Option<String> {
    let this = std::env::current_exe().ok()?;
    let scripts = this.parent()?;
    let python = scripts.join("python").into_os_string().into_string().ok()?;
    scripts.with_file_name("pyvenv.cfg").exists().then_some(python)
}

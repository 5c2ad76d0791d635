//! Programs of others as WHAT: `lock.py:worker`, and what is owed of them; `kazoo/lock`, which is built in.

use crate::BadInput;
use std::sync::Arc;
use zk_harness::trial::Trial;
use zk_hosted::{Example, Hosts, Limits, Owes, hosted};

/// Whether WHAT stands for a program.
pub(crate) fn is_program(what: &str) -> bool {
    Example::find(what).is_some() || what.rsplit_once(':').is_some_and(|(file, _)| file.ends_with(".py"))
}

/// Why WHAT is no program, if it was meant to be one.
pub(crate) fn no_program(what: &str) -> Option<BadInput> {
    let is_meant = what.ends_with(".py") || what.contains(".py:") || what.starts_with("kazoo/");
    is_meant.then(|| {
        bad!(
            "'{what}' is no program: expected FILE.py:FUNCTION, such as lock.py:worker, or one that is built in, such \
             as kazoo/lock"
        )
    })
}

/// Starts a program, to see that it can be.
pub(crate) fn program(what: &str, promises: &[String]) -> Result<Arc<Trial>, BadInput> {
    if let Some(example) = Example::find(what) {
        return match promises.first() {
            Some(owed) => Err(says_itself(what, owed)),
            None => built_in(example),
        };
    }
    if promises.is_empty() {
        return Err(bad!("{what}: say what is owed of it: --promises KIND=PATH, such as fair-lock=/lock"));
    }
    let owes = Owes::parse(promises.iter().map(String::as_str));
    let owes = owes.map_err(|why| bad!("--promises: {why}"))?;
    let hosts = Hosts::python(&python(), what, Limits::default()).map_err(BadInput::new)?;
    Ok(Arc::new(hosted(what, Arc::new(hosts), owes)))
}

/// That what is owed was said of something that has promises of its own.
pub(crate) fn says_itself(what: &str, owed: &str) -> BadInput {
    bad!("--promises {owed}: {what} says itself what it owes; this is for programs of your own")
}

/// Starts one of those that are built in, which owes what the head of its file says.
fn built_in(example: &Example) -> Result<Arc<Trial>, BadInput> {
    let owed = example.option("--promises");
    let owes = Owes::parse(owed).expect("a test reads it");
    let hosts = Hosts::example(&python(), example, Limits::default()).map_err(BadInput::new)?;
    let mut trial = hosted(example.name, Arc::new(hosts), owes);
    let set = example.option("--set").into_iter();
    trial.scenario = set.filter_map(|assignment| assignment.split_once('=')).collect();
    Ok(Arc::new(trial))
}

fn python() -> String {
    std::env::var("ZOOCHECK_PYTHON").ok().or_else(beside).unwrap_or_else(|| "python3".into())
}

/// The Python of the virtual environment that this command is installed in, if it is: active or not, as scripts do.
fn beside() -> Option<String> {
    let this = std::env::current_exe().ok()?;
    let scripts = this.parent()?;
    let python = scripts.join("python").into_os_string().into_string().ok()?;
    scripts.with_file_name("pyvenv.cfg").exists().then_some(python)
}

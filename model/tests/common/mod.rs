//! What the tests of the model share.
#![allow(dead_code)]

use std::sync::Arc;
use zk_harness::trial::{Bounds, Trial};
use zk_model::{Check, CheckConfig, Verdict, check};

/// A trial of the catalogue.
pub fn trial(name: &str) -> Arc<Trial> {
    let mut all = zk_catalogue::trials().into_iter();
    all.find(|trial| trial.about.name == name).expect("a trial of the catalogue")
}

/// A trial that promises nothing: its states are those of the recipe alone.
pub fn bare(trial: &Trial) -> Arc<Trial> {
    Arc::new(trial.clone().promises(Vec::new).opts_out(&zk_harness::promises::STANDARD))
}

/// Checks without telling of progress.
pub fn run(trial: Arc<Trial>, config: &CheckConfig) -> Check {
    check(trial, config, &mut |_| ())
}

/// A full search within these bounds.
pub fn full(clients: u8, expiries: u8, drops: u8, crashes: u8) -> CheckConfig {
    CheckConfig::new(Bounds { expiries, drops, crashes, ..Bounds::clients(clients) })
}

/// Which promises were broken where they were owed.
pub fn broken(check: &Check) -> Vec<&'static str> {
    check.promises.iter().filter(|promise| promise.broken.is_some()).map(|promise| promise.name).collect()
}

/// Whether two verdicts are of one kind.
pub fn same_kind(a: &Verdict, b: &Verdict) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

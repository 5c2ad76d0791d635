//! What the tests of the model share.
#![allow(dead_code)]

use std::sync::Arc;
use zk_api::{Text, ZooKeeper};
use zk_model::{Check, CheckConfig, Verdict, check};
use zk_trials::probe::Probe;
use zk_trials::promise::AnyPromise;
use zk_trials::trial::{About, Actor, AnyTrial, Bounds, Part};

/// A trial of the catalogue.
pub fn trial(name: &str) -> Arc<dyn AnyTrial> {
    let mut all = zk_trials::catalogue().into_iter();
    all.find(|trial| trial.about().name == name).expect("a trial of the catalogue")
}

/// A trial that promises nothing: its states are those of the recipe alone.
pub struct Bare(pub Arc<dyn AnyTrial>);

impl AnyTrial for Bare {
    fn opts_out(&self) -> &'static [&'static str] {
        &zk_trials::promises::STANDARD
    }
    fn about(&self) -> About {
        self.0.about()
    }
    fn setup(&self) -> Vec<Text> {
        self.0.setup()
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        Vec::new()
    }
    fn actor(self: Arc<Self>, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, part: Part) -> Actor {
        self.0.clone().actor(zk, probe, part)
    }
}

/// Checks without telling of progress.
pub fn run(trial: Arc<dyn AnyTrial>, config: &CheckConfig) -> Check {
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

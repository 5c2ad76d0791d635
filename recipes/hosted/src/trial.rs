//! A program on trial.

use std::sync::Arc;
use zk_api::{Text, ZooKeeper};
use zk_trials::probe::Probe;
use zk_trials::program::Programs;
use zk_trials::promise::AnyPromise;
use zk_trials::promises::Owed;
use zk_trials::trial::{About, Actor, AnyTrial, Part};

/// A program held to what is owed of it.
pub struct HostedTrial {
    about: About,
    owed: Owed,
    programs: Arc<dyn Programs>,
}

impl HostedTrial {
    /// As it is named, which is remembered as long as this process lives.
    pub fn new(name: &str, programs: Arc<dyn Programs>, owed: Owed) -> HostedTrial {
        let summary = format!("{programs:?}, a program hosted as it is");
        let about = About { source: "one's own program", ..About::new(keep(name), keep(&summary)) };
        HostedTrial { about, owed, programs }
    }
}

fn keep(text: &str) -> &'static str {
    Box::leak(text.into())
}

impl AnyTrial for HostedTrial {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn setup(&self) -> Vec<Text> {
        self.owed.setup()
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        self.owed.promises()
    }

    /// A client that opens a session anew tells nobody who does not listen; and which of a program's threads asks for what is
    /// not known.
    fn opts_out(&self) -> &'static [&'static str] {
        &["session-end-noticed", "no-polling"]
    }

    fn programs(&self) -> Option<Arc<dyn Programs>> {
        Some(self.programs.clone())
    }

    fn actor(self: Arc<Self>, _: Arc<dyn ZooKeeper>, _: Arc<dyn Probe>, _: Part) -> Actor {
        unreachable!("a program is stepped, and only engines that can do that are given one")
    }
}

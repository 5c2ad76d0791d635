//! `configuration` and `configuration/setting`: the recipes of this project.

use super::stage::{ConfigKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Reductions};
use zk_recipes::{Configuration, Setting};

/// [`zk_recipes::Configuration`]: two values that are always alike, published by process 0 and followed by the others.
#[derive(Clone, Copy, Debug)]
pub struct Whole;

impl ConfigKind for Whole {
    fn about(&self) -> About {
        About {
            name: "configuration",
            summary: "Values that change as one, read between two looks at one version.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    async fn write(&self, stage: &Stage) -> Result<(), Stop> {
        stage.publishes().await
    }

    async fn read(&self, stage: &Stage) -> Result<(), Stop> {
        stage.follows();
        let mut config = Configuration::new(stage.zk(), &stage.config());
        while !stage.sees(&config.changed().await?.values) {}
        stage.is_through();
        Ok(())
    }
}

/// [`zk_recipes::Setting`]: one value, whose znode process 0 deletes and makes anew each time, followed by the others.
#[derive(Clone, Copy, Debug)]
pub struct Named;

impl ConfigKind for Named {
    fn about(&self) -> About {
        About {
            name: "configuration/setting",
            summary: "One value that is followed, whether its znode is there or not.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { rounds: 2, expiries: 1, lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    async fn write(&self, stage: &Stage) -> Result<(), Stop> {
        stage.replaces().await.map(|_| ())
    }

    async fn read(&self, stage: &Stage) -> Result<(), Stop> {
        stage.follows();
        let mut setting = Setting::new(stage.zk(), &stage.name());
        while !stage.sees_value(setting.changed().await?.as_ref()) {}
        stage.is_through();
        Ok(())
    }
}

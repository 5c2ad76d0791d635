//! What a model is of, and how far it goes: what never changes.

use crate::config::CheckConfig;
use crate::reads::Reads;
use crate::service::Rules;
use crate::state::State;
use std::sync::Arc;
use zk_api::Text;
use zk_harness::trial::{Bounds, Reductions, Trial};

/// See the module.
pub struct Scope {
    pub(crate) trial: Arc<Trial>,
    /// The bounds it is explored within.
    pub bounds: Bounds,
    /// Which reductions are on.
    pub reductions: Reductions,
    /// Whether ends may be told before they come to be, if they ever do.
    pub false_expiries: bool,
    /// What it varies, as it is read.
    pub varied: Reads,
    pub(super) audit: bool,
    pub(crate) rules: Rules,
    /// How many promises the trial is held to. Behind them come the model's own.
    pub(super) owed: usize,
    /// An administrator may delete znodes of the setup, too.
    parents: bool,
}

impl Scope {
    pub(super) fn new(trial: Arc<Trial>, config: &CheckConfig, varied: Reads) -> Scope {
        let CheckConfig { bounds, reductions, audit, false_expiries, .. } = *config;
        Scope {
            bounds,
            reductions,
            false_expiries,
            varied,
            audit,
            rules: Rules {
                lag: bounds.lag.into(),
                stale_syncs: config.stale_syncs,
                goes_back: bounds.drops > 0 && (bounds.lag > 0 || varied.has(Reads::WITHHELD)),
                lost_answers_bind: false,
                outlives: true,
                registers_late: true,
                counts_wakes: trial.counts_wakes,
                true_zxids: config.true_zxids || varied.has(Reads::NUMBERS),
                pzxids: varied.has(Reads::PZXID),
                symmetry: reductions.symmetry,
                ranks: config.ranks && !varied.has(Reads::PZXID) && !varied.has(Reads::NUMBERS),
            },
            owed: trial.held_to().len(),
            parents: config.admin_parents,
            trial,
        }
    }

    /// What an administrator may change: all that is the trial's, or its setup, too.
    pub fn administered<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a Text> {
        let trial = &self.trial;
        let may = move |path: &&Text| trial.owns(path) || (self.parents && trial.setup.contains(path));
        state.service.tree().nodes().map(|(path, _)| path).filter(may)
    }

    /// How many texts an administrator may set a znode's data to.
    pub fn texts(&self) -> u8 {
        self.trial.administered.len() as u8
    }

    /// The text of this number.
    pub fn text(&self, nth: u8) -> Text {
        self.trial.administered[usize::from(nth)].clone()
    }

    /// How many processes there are.
    pub fn clients(&self) -> usize {
        usize::from(self.bounds.clients)
    }
}

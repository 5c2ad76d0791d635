//! What a model leaves out, where that may matter.

use super::RecipeModel;
use crate::reads::Reads;
use std::sync::atomic::Ordering::Relaxed;

const UPKEEP: &str = "containers and znodes with a time to live are never deleted in a model";
const IDS: &str = "code reads or hashes the number of a session id, of which a model has few: compare ids, or judge it by seeds";
const NUMBERS: &str = "code reads or hashes the number of a zxid, and a model has one epoch: compare zxids by their order, or judge it \
                       by seeds";
const ORDERS: &str =
    "lists of more than five names, whose order the code reads, come in some of their orders";
const HEAPS: &str = "where code waits for more than four calls and watches, not every number of their answers and events \
                     comes together";

impl RecipeModel {
    /// What the model cannot show of the simulator, though it would take it to say that anything holds.
    pub fn leaves_out(&self) -> Option<String> {
        let left_out = [
            (self.replayer.needs_upkeep(), UPKEEP),
            (self.reads().has(Reads::NUMBERS), NUMBERS),
            (self.reads().has(Reads::IDS), IDS),
            (self.has_left_out_heaps.load(Relaxed), HEAPS),
            (self.has_left_out_orders.load(Relaxed), ORDERS),
        ];
        left_out.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned())
    }
}

//! What a process would do if names came in other orders: see [`crate::orders`].

use super::Replayer;
use super::given::{Given, Input};
use super::node::{Counterparts, Node, ProcessStep, is_same, whole_after};
use crate::digest::digest_all;
use crate::message::Answer;
use crate::orders::{self, Order};
use crate::reads::Reads;
use std::sync::Arc;
use zk_api::KeeperState;

impl Replayer {
    /// Whether a process does the same with an answer as it is and whichever of these orders its names are in.
    pub fn minds_no_order(
        &self,
        (node, state): (&Node, KeeperState),
        answer: &Answer,
        orders: &[Order],
    ) -> bool {
        let step = |answer: Answer| {
            let given = Given { input: Input::Answer(answer), state, busy: false };
            self.remembered(node, &given)
        };
        let first = step(answer.clone());
        let mut steps = orders.iter().map(|order| step(Arc::new(orders::in_order(answer, order))));
        steps.all(|step| first.node.digest == step.node.digest && is_same(&first, &step))
    }

    /// A step, and those of its counterparts, which must be the same: else the order of names is read.
    pub(super) fn with_counterparts(&self, node: &Node, given: &Given) -> ProcessStep {
        let mut step = self.replay_twice(node, Some(given));
        let new = match &given.input {
            Input::Answer(answer) => orders::names_in(answer),
            _ => Order::new(),
        };
        if self.setup.varied.has(Reads::ORDER) || (new.is_empty() && node.counterparts.all.is_empty()) {
            return step;
        }
        let mut names = [node.counterparts.names.clone(), new].concat();
        orders::as_they_come(&mut names);
        let mut all = Vec::new();
        for order in orders::probes_of(&names).into_iter().skip(1) {
            let mut given = given.clone();
            if let Input::Answer(answer) = &mut given.input {
                *answer = Arc::new(orders::in_order(answer, &order));
            }
            let counterpart = self.counterpart(node, node.counterparts.of(&order), &given, &step);
            if counterpart.as_ref().is_some_and(|counterpart| !is_same(&step, counterpart)) {
                self.noted.add(Reads::ORDER);
                return step;
            }
            all.push((order, counterpart.map(|counterpart| counterpart.node.clone())));
        }
        if step.marked || step.node.is_done {
            step.merged = all.into_iter().filter_map(|(_, counterpart)| counterpart).collect();
        } else if let Some(node) = Arc::get_mut(&mut step.node) {
            node.counterparts = Counterparts { names, all };
        }
        step
    }

    /// The step of a counterpart; `None` where it is the very step that is taken.
    fn counterpart(
        &self,
        node: &Node,
        counterpart: Option<&Arc<Node>>,
        given: &Given,
        step: &ProcessStep,
    ) -> Option<Arc<ProcessStep>> {
        let whole = whole_after(counterpart.map_or(node.whole, |counterpart| counterpart.whole), Some(given));
        if whole == step.node.whole {
            return None;
        }
        let counterpart = counterpart.map_or(node, |counterpart| counterpart);
        let work = || Arc::new(self.replay(counterpart, Some(given)));
        Some(self.others.get(digest_all(10, [whole]), work))
    }
}

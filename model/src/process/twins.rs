//! What a process would do if names came in other orders: see [`crate::orders`].

use super::{Answer, Input, Node, Replayer, Step, digest_of_emitted, whole_after};
use crate::digest::digest_all;
use crate::orders::{self, Order};
use crate::reads::Reads;
use std::sync::Arc;
use zk_api::KeeperState;

/// A process in its place, had names come in other orders.
#[derive(Clone, Debug, Default)]
pub(super) struct Twins {
    /// The names that have come in lists, in the order in which they came.
    names: Order,
    /// The process for each order. `None` where its lists have come in no other order than they did.
    all: Vec<(Order, Option<Arc<Node>>)>,
}

impl Twins {
    /// Which of them, or itself, names have come to in this order.
    fn of(&self, order: &Order) -> Option<&Arc<Node>> {
        let order: Order = order.iter().filter(|name| self.names.contains(name)).cloned().collect();
        self.all.iter().find(|(other, _)| *other == order).and_then(|(_, node)| node.as_ref())
    }
}

impl Replayer {
    /// Whether a process does the same with an answer whichever of these orders its names are in.
    pub fn minds_no_order(&self, node: &Node, answer: &Answer, state: KeeperState, orders: &[Order]) -> bool {
        let mut steps = orders.iter().map(|order| {
            let answer = Arc::new(orders::in_order(answer, order));
            self.remembered(node, &Input::Answer(answer), state)
        });
        let Some(first) = steps.next() else { return true };
        steps.all(|step| first.node.digest == step.node.digest && is_same(&first, &step))
    }

    /// A step, and those of its twins, which must be the same: else the order of names is read.
    pub(super) fn twinned(&self, node: &Node, input: &Input, state: KeeperState) -> Step {
        let mut step = self.replay(node, Some((input, state)));
        let given = match input {
            Input::Answer(answer) => orders::names_in(answer),
            _ => Order::new(),
        };
        if self.setup.varied.has(Reads::ORDER) || (given.is_empty() && node.twins.all.is_empty()) {
            return step;
        }
        let mut names = [node.twins.names.clone(), given].concat();
        orders::as_they_come(&mut names);
        let mut all = Vec::new();
        for order in orders::orders_of(&names).into_iter().skip(1) {
            let input = match input {
                Input::Answer(answer) => Input::Answer(Arc::new(orders::in_order(answer, &order))),
                input => input.clone(),
            };
            let twin = self.twin(node, node.twins.of(&order), &input, state, &step);
            if twin.as_ref().is_some_and(|twin| !is_same(&step, twin)) {
                self.noted.add(Reads::ORDER);
                return step;
            }
            all.push((order, twin.map(|twin| twin.node.clone())));
        }
        if step.marked || step.node.is_done {
            step.merged = all.into_iter().filter_map(|(_, twin)| twin).collect();
        } else if let Some(node) = Arc::get_mut(&mut step.node) {
            node.twins = Twins { names, all };
        }
        step
    }

    /// The step of a twin; `None` where it is the very step that is taken.
    fn twin(
        &self,
        node: &Node,
        twin: Option<&Arc<Node>>,
        input: &Input,
        state: KeeperState,
        step: &Step,
    ) -> Option<Arc<Step>> {
        let whole = whole_after(twin.map_or(node.whole, |twin| twin.whole), Some((input, state)));
        if whole == step.node.whole {
            return None;
        }
        let twin = twin.map_or(node, |twin| twin);
        let work = || Arc::new(self.replay(twin, Some((input, state))));
        Some(self.others.get(digest_all(10, [whole]), work))
    }
}

/// Whether two processes do the same in a step, as far as anybody can tell by now.
pub(super) fn is_same(step: &Step, other: &Step) -> bool {
    let (one, two) = (&step.node, &other.node);
    step.marked == other.marked
        && (!step.marked || one.digest == two.digest)
        && (one.end, one.is_done, &one.trouble, &one.waits)
            == (two.end, two.is_done, &two.trouble, &two.waits)
        && digest_of_emitted(&step.out, 0, 0) == digest_of_emitted(&other.out, 0, 0)
}

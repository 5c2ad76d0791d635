//! The order of names in the lists that a process is given.

use super::RecipeModel;
use crate::orders::{self, Order};
use crate::reads::Reads;
use crate::state::State;
use std::sync::atomic::Ordering::Relaxed;

impl RecipeModel {
    /// The orders in which the names of a client's next so many messages can come; none where that is the same to it.
    pub fn orders(&self, state: &State, me: u8, many: u8) -> Vec<Order> {
        if !self.replayer.varies(Reads::ORDER) {
            return Vec::new();
        }
        let client = &state.clients[usize::from(me)];
        let answers: Vec<_> = client.lists_to_come(many).collect();
        let mut names = answers.iter().flat_map(|answer| orders::names_in(answer)).collect();
        orders::as_they_come(&mut names);
        let orders = orders::orders_of(&names);
        match *answers {
            [] => return Vec::new(),
            [answer]
                if many == 1
                    && self.replayer.minds_no_order((&client.node, client.state), answer, &orders) =>
            {
                return Vec::new();
            }
            _ => {}
        }
        if orders::are_too_many(&names) {
            self.has_left_out_orders.store(true, Relaxed);
        }
        orders
    }
}

//! The order of names in lists, which ZooKeeper leaves unspecified: any, and another each time. See
//! [`zk_proto::order`].
//!
//! A process is asked what it would do if the names came in another order: its *counterparts* are the same process,
//! given the same names in other orders. While they do what it does, one order stands for all, and at its next
//! checkpoint, which tells all that matters, they are forgotten. Where one does something else, the order is read
//! ([`Reads::ORDER`]), and the search begins anew: then an answer may come in each order.
//!
//! Up to five names come in every order. Of more, those in which any two come first and last, with the others between
//! them forwards and backwards (from twelve on only forwards, from seventeen on those of [`probes_of`]), and a search
//! in which such a list has come to code that reads the order says that it left out orders. Counterparts are given
//! fewer ([`probes_of`]), as one that differs is enough.
//!
//! [`Reads::ORDER`]: crate::reads::Reads::ORDER

use zk_api::{ErrorCode, Response, Text, Zxid};
use zk_proto::order::{Listed, NameOrder};
use zk_proto::prepare::TreeConfig;

/// How models' servers are set up.
pub const TREE: TreeConfig = TreeConfig { extended_types: true, order: NameOrder::Salted(0) };

/// Some names, in an order.
pub type Order = Vec<Text>;

/// So many names come in every order.
const NAMES_MAX: usize = 5;

/// Counterparts are given so many names in every order.
const PROBED_MAX: usize = 4;

/// The names in an answer's lists, if one has two or more; in the order in which they are there.
pub fn names_in(answer: &Result<Response, ErrorCode>) -> Order {
    let lists = |response: &Response| match response {
        Response::Children { names, .. } | Response::Ephemerals(names) => vec![names.clone()],
        Response::MultiRead(results) => results
            .iter()
            .filter_map(|result| match result {
                Ok(Response::Children { names, .. }) => Some(names.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let lists: Vec<Order> = answer.as_ref().map(lists).unwrap_or_default();
    let mut names: Order = lists.into_iter().filter(|list| list.len() > 1).flatten().collect();
    as_they_come(&mut names);
    names
}

/// Puts names into the order in which a model's ensemble gives them, and each is there once.
pub fn as_they_come(names: &mut Order) {
    names.sort();
    names.dedup();
    // An order with a salt looks at the names alone.
    TREE.order.put(Listed::Children, names, |_| Zxid::ZERO);
}

/// An answer with its lists in an order of at least their names.
pub fn in_order(answer: &Result<Response, ErrorCode>, order: &[Text]) -> Result<Response, ErrorCode> {
    let mut answer = answer.clone();
    if let Ok(response) = &mut answer {
        zk_proto::order::sort(response, order);
    }
    answer
}

/// Whether so many names have more orders than are gone through.
pub fn are_too_many(names: &Order) -> bool {
    names.len() > NAMES_MAX
}

/// The orders of names that are gone through, beginning with the one they are in.
pub fn orders_of(names: &Order) -> Vec<Order> {
    if !are_too_many(names) {
        return permutations(names);
    }
    // An action counts in bytes.
    let ways = match names.len() {
        ..=11 => 2,
        12..=16 => 1,
        _ => return probes_of(names).into_iter().take(u8::MAX.into()).collect(),
    };
    let between = |first: usize, last: usize| {
        let others = (0..names.len()).filter(move |nth| *nth != first && *nth != last);
        let others: Order = others.map(|nth| names[nth].clone()).collect();
        let reversed: Order = others.iter().rev().cloned().collect();
        [others, reversed].map(|others| {
            let (first, last) = (&names[first..=first], &names[last..=last]);
            [first, &*others, last].concat()
        })
    };
    let ends =
        |first| (0..names.len()).rev().filter(move |last| *last != first).map(move |last| (first, last));
    let orders =
        (0..names.len()).flat_map(ends).flat_map(|(first, last)| between(first, last).into_iter().take(ways));
    orders.collect()
}

/// The orders of names that are tried to find out whether code reads them, beginning with the one they are in: of more
/// than a few, those in which each comes first, each last, and each two both ways.
///
/// Those of fewer of the names are what is left of these where the others are left out.
pub fn probes_of(names: &Order) -> Vec<Order> {
    if names.len() <= PROBED_MAX {
        return permutations(names);
    }
    let mut reversed = names.clone();
    reversed.reverse();
    let turned = |names: Order| {
        (0..names.len()).map(move |by| {
            let mut names = names.clone();
            names.rotate_left(by);
            names
        })
    };
    turned(names.clone()).chain(turned(reversed)).collect()
}

fn permutations(names: &[Text]) -> Vec<Order> {
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let begun = |first: usize| {
        let mut rest = names.to_vec();
        let name = rest.remove(first);
        permutations(&rest).into_iter().map(move |rest| [vec![name.clone()], rest].concat())
    };
    (0..names.len()).flat_map(begun).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn names(names: &str) -> Order {
        names.chars().map(|name| Text::from(name.to_string())).collect()
    }

    #[test]
    fn a_few_names_come_in_every_order_and_many_first_last_and_both_ways() {
        let all: BTreeSet<Order> = probes_of(&names("abcd")).into_iter().collect();
        assert_eq!(all.len(), 24);
        let some = probes_of(&names("abcdef"));
        assert_eq!(some[0], names("abcdef"));
        for a in names("abcdef") {
            assert!(some.iter().any(|order| order[0] == a) && some.iter().any(|order| order[5] == a));
            let place = |order: &Order, name: &Text| order.iter().position(|other| other == name);
            for b in names("abcdef").into_iter().filter(|b| *b != a) {
                assert!(some.iter().any(|order| place(order, &a) < place(order, &b)));
            }
        }
        // What is left of them is among the orders of those that are left.
        for order in some {
            let left: Order = order.into_iter().filter(|name| **name != *"f").collect();
            assert!(probes_of(&names("abcde")).contains(&left), "{left:?}");
        }
    }

    #[test]
    fn any_two_of_many_come_first_and_last() {
        let all: BTreeSet<Order> = orders_of(&names("abcde")).into_iter().collect();
        assert_eq!(all.len(), 120);
        let some = orders_of(&names("abcdef"));
        assert_eq!((some.len(), &some[0]), (60, &names("abcdef")));
        let ends: BTreeSet<_> = some.iter().map(|order| (&order[0], &order[5])).collect();
        assert_eq!(ends.len(), 30);
        for many in 12..=127 {
            let names: Order = (0..many).map(|nth| Text::from(format!("{nth:03}"))).collect();
            let some = orders_of(&names);
            let firsts: BTreeSet<_> = some.iter().map(|order| &order[0]).collect();
            assert!((firsts.len(), &some[0]) == (many, &names) && some.len() <= 255, "{many}");
        }
    }
}

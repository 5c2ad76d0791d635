//! The order of names that ZooKeeper leaves unspecified.
//!
//! It is that of a Java hash table: none that anybody may rely on, as it depends on how large the table has ever been,
//! which two servers need not agree about. Ours is another for each salt, and each server of the world has its own, so
//! that whoever relies on one is found out.

use zk_api::{Response, Text};

/// Puts names or paths into their unspecified order. The same salt and the same names give the same order.
pub fn shuffle(salt: u64, names: &mut [Text]) {
    names.sort_by_cached_key(|name| key(salt, name));
}

/// Puts the names in an answer's lists into an order of at least these; into none if it is empty.
pub fn sort(response: &mut Response, order: &[Text]) {
    match response {
        Response::Children { names, .. } | Response::Ephemerals(names) => {
            names.sort_by_key(|name| order.iter().position(|other| other == name));
        }
        Response::MultiRead(results) => {
            results.iter_mut().flatten().for_each(|response| sort(response, order));
        }
        _ => {}
    }
}

/// A number that a name sorts by. Part of what makes a seed's run the same in every version: never change it.
fn key(salt: u64, name: &str) -> u64 {
    // FNV-1a, then the finaliser of SplitMix64, as similar names would stay neighbours otherwise.
    let mut h = salt ^ 0xcbf2_9ce4_8422_2325;
    for byte in name.bytes() {
        h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(salt: u64, names: &[&str]) -> Vec<Text> {
        let mut names: Vec<Text> = names.iter().map(|n| Text::from(*n)).collect();
        shuffle(salt, &mut names);
        names
    }

    #[test]
    fn the_order_depends_on_the_names_and_the_salt_alone() {
        let there = ["n-0000000000", "n-0000000001", "n-0000000002", "n-0000000003"];
        let back = ["n-0000000003", "n-0000000002", "n-0000000001", "n-0000000000"];
        for salt in 0..20 {
            assert_eq!(shuffled(salt, &there), shuffled(salt, &back));
        }
    }

    #[test]
    fn another_salt_gives_another_order() {
        let names = ["n-0000000000", "n-0000000001", "n-0000000002"];
        let orders: std::collections::BTreeSet<_> = (0..100).map(|salt| shuffled(salt, &names)).collect();
        assert_eq!(orders.len(), 6, "each of the 3! orders comes about");
    }
}

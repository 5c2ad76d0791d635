//! The order of names that ZooKeeper leaves unspecified.
//!
//! It is that of a Java hash table: none that anybody may rely on, as it depends on how large the table has ever been,
//! which two servers need not agree about. Ours is another for each salt, and each server of the simulator has its own,
//! so that whoever relies on one is found out.
//!
//! ```
//! use zk_api::{Text, Zxid};
//! use zk_proto::order::{Listed, NameOrder};
//!
//! let mut names: Vec<Text> = (0..5).map(|n| format!("n-{n:010}").into()).collect();
//! NameOrder::JavaHash.put(Listed::Children, &mut names, |_| Zxid::ZERO);
//! let numbers: Vec<&str> = names.iter().map(|name| &name[11..]).collect();
//! assert_eq!(numbers, ["2", "1", "4", "3", "0"], "as a real server lists them");
//! ```

use zk_api::{Response, Text, Zxid};

/// One of the orders that names may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameOrder {
    /// Another for each number.
    Salted(u64),
    /// That of a Java hash table that has never held anything else: a real server's, as long as it has not started
    /// again and none of the names was deleted. Measured: lists of up to 1,000 children and 60 ephemerals.
    JavaHash,
}

/// What a list is of. Their tables begin with other sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A znode's children.
    Children,
    /// A session's ephemerals.
    Ephemerals,
}

impl NameOrder {
    /// Puts names or paths, which were `made` by these transactions, into this order.
    pub fn put(self, listed: Listed, names: &mut [Text], made: impl Fn(&Text) -> Zxid) {
        match self {
            NameOrder::Salted(salt) => names.sort_by_cached_key(|name| key(salt, name)),
            NameOrder::JavaHash => {
                let least = match listed {
                    Listed::Children => 8,
                    Listed::Ephemerals => 16,
                };
                let buckets = buckets(least, names.len());
                names.sort_by_cached_key(|name| (bucket(name, buckets), made(name)));
            }
        }
    }
}

/// How large a table is that has so many entries. Source: `java.util.HashMap`, whose load factor is 3/4.
fn buckets(least: u32, entries: usize) -> u32 {
    let mut buckets = least;
    while entries > buckets as usize / 4 * 3 && buckets < 1 << 30 {
        buckets *= 2;
    }
    buckets
}

/// Where an entry is. Source: `java.lang.String.hashCode` and `java.util.HashMap.hash`.
fn bucket(name: &str, buckets: u32) -> u32 {
    let hash = name.encode_utf16().fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
    (hash ^ (hash >> 16)) & (buckets - 1)
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

    fn in_order(order: NameOrder, names: &[impl AsRef<str>]) -> Vec<Text> {
        let mut names: Vec<Text> = names.iter().map(|n| Text::from(n.as_ref())).collect();
        order.put(Listed::Children, &mut names, |_| Zxid::ZERO);
        names
    }

    #[test]
    fn java_s_order_is_that_of_a_real_server() {
        // As ZooKeeper 3.9.3 listed so many children that were made by sequential creates.
        let listed: [&[usize]; 3] = [
            &[2, 1, 4, 3, 0],
            &[0, 2, 1, 4, 3, 6, 5, 7],
            &[9, 2, 13, 1, 12, 4, 15, 3, 14, 6, 17, 5, 16, 8, 19, 7, 18, 0, 11, 10],
        ];
        for numbers in listed {
            let name = |n: usize| format!("n-{n:010}");
            let names: Vec<String> = (0..numbers.len()).map(name).collect();
            let expected: Vec<Text> = numbers.iter().map(|n| name(*n).into()).collect();
            assert_eq!(in_order(NameOrder::JavaHash, &names), expected);
        }
    }

    #[test]
    fn names_of_one_bucket_come_as_they_were_made() {
        // Java's hashes of these are the same.
        let made = |name: &Text| Zxid::new(1, if &**name == "BB" { 1 } else { 2 });
        let mut names = ["Aa", "BB"].map(Text::from);
        NameOrder::JavaHash.put(Listed::Children, &mut names, made);
        assert_eq!(names, ["BB", "Aa"].map(Text::from));
    }

    fn shuffled(salt: u64, names: &[&str]) -> Vec<Text> {
        in_order(NameOrder::Salted(salt), names)
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

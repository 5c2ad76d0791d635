//! How the znodes of contenders are named, and how they are ordered.
//!
//! ```
//! use zk_api::Text;
//! use zk_recipes::names::in_order;
//!
//! let children = ["a-lock-0000000010", "b-lock-0000000009", "config"].map(Text::from);
//! let guids: Vec<&str> = in_order(&children, &["lock"]).iter().map(|contender| contender.guid()).collect();
//! assert_eq!(guids, ["b", "a"], "by number, and not by name; other children do not stand in line");
//! ```

use zk_api::Text;

/// A contender's znode, as its name tells it: `GUID-KIND-NUMBER`.
///
/// The order is that of the numbers. Whole names would sort by guid, which is no order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contender<'a> {
    /// The number that the parent gave. It sticks at [`i32::MAX`] once it gets there.
    pub sequence: i32,
    /// The whole name.
    pub name: &'a str,
    /// What it contends for: `lock`, `read`, `write`, …
    pub kind: &'static str,
}

impl<'a> Contender<'a> {
    /// Reads a name; `None` if it is of another shape, or of none of these kinds.
    ///
    /// ```
    /// use zk_recipes::names::Contender;
    /// let parse = |name| Contender::parse(name, &["lock"]);
    /// assert_eq!(parse("a1-lock-0000000007").unwrap().sequence, 7);
    /// assert_eq!(parse("a1-lock--000000001").unwrap().sequence, -1);
    /// assert!(parse("a1-lock-7").is_none() && parse("-lock-0000000007").is_none());
    /// ```
    pub fn parse(name: &'a str, kinds: &[&'static str]) -> Option<Contender<'a>> {
        kinds.iter().find_map(|kind| {
            let number = split(name, kind)?.1;
            let digits = number.strip_prefix('-').unwrap_or(number);
            // Nothing but the number, or `sequence_of` would take its last ten characters for it.
            if number.len() > 11 || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            zk_api::sequence_of(number).map(|sequence| Contender { sequence, name, kind })
        })
    }

    /// The contender's guid.
    pub fn guid(&self) -> &'a str {
        // The name was parsed, so the kind is in it.
        split(self.name, self.kind).map_or("", |(guid, _)| guid)
    }
}

/// Guid and number of a name of this kind. The guid may hold the kind as well, and a number below zero begins with a
/// hyphen of its own. Asked for every child that is listed, so no pattern is made for it.
fn split<'a>(name: &'a str, kind: &str) -> Option<(&'a str, &'a str)> {
    let at = |before: &'a str| {
        let guid = before.strip_suffix(kind)?.strip_suffix('-')?;
        Some((guid, &name[before.len() + 1..])).filter(|(guid, _)| !guid.is_empty())
    };
    let (before, _) = name.rsplit_once('-')?;
    at(before).or_else(|| at(before.strip_suffix('-')?))
}

/// All contenders of these kinds among the names of the children, first come first. Other children are left out.
pub fn in_order<'a>(names: &'a [Text], kinds: &[&'static str]) -> Vec<Contender<'a>> {
    let mut all: Vec<_> = names.iter().filter_map(|name| Contender::parse(name, kinds)).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_are_ordered_by_number_and_not_by_name() {
        let names: Vec<Text> =
            ["a-lock-0000000012", "zz-lock-0000000002", "lock-0000000001", "b-lock--000000005"]
                .map(Text::from)
                .into();
        let order: Vec<_> = in_order(&names, &["lock"]).iter().map(|c| c.sequence).collect();
        assert_eq!(order, [-5, 2, 12]);
    }

    #[test]
    fn kinds_stand_in_one_line_and_other_kinds_do_not() {
        let names: Vec<Text> =
            ["a-write-0000000003", "b-read-0000000002", "c-lock-0000000001"].map(Text::from).into();
        let order: Vec<_> = in_order(&names, &["read", "write"]).iter().map(|c| (c.guid(), c.kind)).collect();
        assert_eq!(order, [("b", "read"), ("a", "write")]);
    }

    #[test]
    fn a_guid_may_hold_the_kind() {
        let c = Contender::parse("a-lock-b-lock-0000000001", &["lock"]).unwrap();
        assert_eq!((c.guid(), c.sequence), ("a-lock-b", 1));
        let c = Contender::parse("a-lock--0000000001", &["lock-"]).unwrap();
        assert_eq!((c.guid(), c.sequence), ("a", 1), "a kind may end with a hyphen");
    }

    #[test]
    fn digits_of_a_name_are_not_taken_for_the_number() {
        assert_eq!(Contender::parse("a-lock-990000000001", &["lock"]), None);
        assert_eq!(Contender::parse("a-lock-x0000000001", &["lock"]), None);
    }
}

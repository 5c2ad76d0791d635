//! How the znodes of contenders are named, and who stands where among them.

use zk_api::Text;

/// What stands between the guid and the sequence number.
pub const MARK: &str = "-lock-";

/// A contender's znode, as its name tells it: `GUID-lock-NUMBER`.
///
/// The order is that of the numbers. Whole names would sort by guid, which is no order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contender<'a> {
    /// The number that the parent gave. It sticks at [`i32::MAX`] once it gets there.
    pub sequence: i32,
    /// The whole name.
    pub name: &'a str,
}

impl<'a> Contender<'a> {
    /// Reads a name; `None` if it is of another shape.
    ///
    /// ```
    /// use zk_recipes::names::Contender;
    /// assert_eq!(Contender::parse("a1-lock-0000000007").unwrap().sequence, 7);
    /// assert_eq!(Contender::parse("a1-lock--000000001").unwrap().sequence, -1);
    /// assert!(Contender::parse("a1-lock-7").is_none() && Contender::parse("-lock-0000000007").is_none());
    /// ```
    pub fn parse(name: &'a str) -> Option<Contender<'a>> {
        let at = name.rfind(MARK).filter(|&at| at > 0)?;
        let number = &name[at + MARK.len()..];
        let digits = number.strip_prefix('-').unwrap_or(number);
        // Nothing but the number, or `sequence_of` would take its last ten characters for it.
        if number.len() > 11 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        zk_api::sequence_of(number).map(|sequence| Contender { sequence, name })
    }

    /// Whose it is.
    pub fn guid(&self) -> &'a str {
        // The name was parsed, so the mark is in it.
        self.name.rsplit_once(MARK).map_or("", |(guid, _)| guid)
    }
}

/// All contenders among the names of the children, first come first. Other children are left out.
pub fn in_order(names: &[Text]) -> Vec<Contender<'_>> {
    let mut all: Vec<_> = names.iter().filter_map(|name| Contender::parse(name)).collect();
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
        let order: Vec<_> = in_order(&names).iter().map(|c| c.sequence).collect();
        assert_eq!(order, [-5, 2, 12]);
    }

    #[test]
    fn a_guid_may_hold_the_mark() {
        let c = Contender::parse("a-lock-b-lock-0000000001").unwrap();
        assert_eq!((c.guid(), c.sequence), ("a-lock-b", 1));
    }

    #[test]
    fn digits_of_a_name_are_not_taken_for_the_number() {
        assert_eq!(Contender::parse("a-lock-990000000001"), None);
        assert_eq!(Contender::parse("a-lock-x0000000001"), None);
    }
}

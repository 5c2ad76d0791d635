//! What two servers may tell differently, made alike. All of it is here:
//!
//! - **Zxids** are told relative to the last one before the script: `+1` is its first transaction. What is not
//!   later than the script's beginning is `before`, in a Stat.
//! - **Session ids** are told as the script's names for the sessions. What no name is known for is `?`.
//! - **Passwords** are told as `right`, `zero` or `other`.
//! - **Times** in Stats are told as the transaction they are the time of, `@+1`, if they agree with every earlier
//!   word about that transaction, and lie between the script's beginning and now; else as `@?`.
//! - **Lists in the order of a hash table** are sorted: names of children, ephemerals, the identities of `whoAmI`
//!   and entries of an ACL next to each other that came from one `auth`; events next to each other of the
//!   transaction that ends a session.
//! - **The body behind the error of a multiRead** is not told: as much as there was when one of its reads failed
//!   otherwise than reads do. Nor is the answer to a ping of the driver's own, but where its zxid is news.
//! - **ZooKeeper before 3.9** says no zxid with an event, and answers create2 in a multi without a Stat. Where
//!   either of two servers is one, neither is compared ([`Era`]).

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::script::Session;

/// What a server's version does to its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Era {
    /// As 3.9 answers.
    #[default]
    Current,
    /// As before: two things are left out of transcripts.
    Before39,
}

/// One server's names for what a script has names for.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) era: Era,
    /// The last zxid before the script, or the round: zxids count from there.
    pub(crate) base: i64,
    sessions: BTreeMap<i64, Session>,
    /// When each transaction was, as told so far.
    times: BTreeMap<i64, i64>,
    /// When the script began, in milliseconds since the Unix epoch.
    begun_ms: i64,
}

/// Clocks of two processes on one machine agree to less.
const SLACK_MS: i64 = 5000;

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl Names {
    pub(crate) fn new(era: Era, base: i64) -> Names {
        let (sessions, times) = (BTreeMap::new(), BTreeMap::new());
        Names { era, base, sessions, times, begun_ms: now_ms() }
    }

    /// A new leader numbers from its epoch's beginning.
    fn relative(&self, zxid: i64) -> String {
        let (epoch, counter) = (zxid >> 32, zxid & 0xffff_ffff);
        if epoch == self.base >> 32 {
            format!("+{}", zxid - self.base)
        } else {
            format!("+e{}:{counter}", epoch - (self.base >> 32))
        }
    }

    /// The zxid of a header.
    pub(crate) fn zxid(&self, zxid: i64) -> String {
        match zxid {
            ..=0 => zxid.to_string(),
            _ if zxid < self.base => "before".into(),
            _ => self.relative(zxid),
        }
    }

    /// The zxid of a Stat.
    pub(crate) fn stat_zxid(&self, zxid: i64) -> String {
        if (0..=self.base).contains(&zxid) { "before".into() } else { self.zxid(zxid) }
    }

    /// The time of the transaction `zxid`.
    pub(crate) fn time(&mut self, zxid: i64, ms: i64) -> String {
        if (0..=self.base).contains(&zxid) {
            return "before".into();
        }
        let told = *self.times.entry(zxid).or_insert(ms);
        let near = (self.begun_ms - SLACK_MS..=now_ms() + SLACK_MS).contains(&ms);
        if told == ms && near { format!("@{}", self.relative(zxid)) } else { "@?".into() }
    }

    /// A session has this name from now on.
    pub(crate) fn call(&mut self, id: i64, session: Session) {
        self.sessions.insert(id, session);
    }

    pub(crate) fn session(&self, id: i64) -> String {
        match (id, self.sessions.get(&id)) {
            (0, _) => "-".into(),
            (_, Some(session)) => session.to_string(),
            (_, None) => "?".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_named_only_if_every_word_about_its_transaction_agrees_and_it_is_near() {
        let mut names = Names::new(Era::Current, 100);
        let now = now_ms();
        assert_eq!(names.time(101, now), "@+1");
        assert_eq!(names.time(101, now), "@+1");
        assert_eq!(names.time(101, now + 1), "@?", "another time of the same transaction");
        assert_eq!(names.time(102, now - 60_000), "@?", "long before the script");
        assert_eq!(names.time(103, 0), "@?");
        assert_eq!(names.time(100, 7), "before", "nothing is said of what was before the script");
    }

    #[test]
    fn only_what_is_before_the_script_is_not_told_by_its_number() {
        let names = Names::new(Era::Current, 100);
        let said = [-1, 0, 99, 100, 101].map(|zxid| names.zxid(zxid));
        assert_eq!(said, ["-1", "0", "before", "+0", "+1"]);
        let said = [-1, 0, 99, 100, 101].map(|zxid| names.stat_zxid(zxid));
        assert_eq!(said, ["-1", "before", "before", "before", "+1"]);
    }

    #[test]
    fn a_session_without_a_name_is_not_no_session() {
        let names = Names::new(Era::Current, 0);
        assert_eq!([0, 5].map(|id| names.session(id)), ["-", "?"]);
    }
}

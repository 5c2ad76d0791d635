//! What a client says over HTTP, read: one of a probe's words, of a session.

use serde::Deserialize;
use zk_api::{SessionId, Text, Zxid};
use zk_harness::event::{End, Observation, Resource};
use zk_harness::words::Word;

/// Who says what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) session: SessionId,
    /// Its number, where it has one: what a client says with several sessions is of one process then.
    pub(super) client: Option<u16>,
    pub(super) thread: u8,
    pub(super) what: What,
}

/// How a word of one's own is told, about something and with a number.
type OfAWord = fn(Word<'_>, &str, i64) -> Observation;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Has this session.
    Connects,
    /// Tells these, in order.
    Tells(Vec<Observation>),
    /// Works for a while, and is answered when it has.
    Works,
    /// Writes to the outside resource, and is answered whether that has accepted it.
    Writes(Resource, Option<Zxid>),
    /// Its code has come to its end.
    Finishes(End),
}

/// A body as it is written. One word, and what goes with it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Body {
    session: String,
    client: Option<u16>,
    thread: u8,
    connects: Option<bool>,
    attempts: Option<String>,
    enters: Option<String>,
    shares: Option<String>,
    leaves: Option<String>,
    released: Option<String>,
    gives_up: Option<String>,
    notes: Option<String>,
    begins: Option<String>,
    ends: Option<String>,
    works: Option<bool>,
    writes: Option<At>,
    finishes: Option<Finish>,
    node: Option<String>,
    token: Option<i64>,
    why: Option<String>,
    what: Option<String>,
    number: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum At {
    Unfenced,
    Fenced,
    FencedShared,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Finish {
    Done,
    SessionLost,
    Failed,
}

/// Reads a body. Fails with what is wrong with it and what was expected, in a line.
pub(super) fn read(body: &[u8]) -> Result<Said, String> {
    let mut body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let (session, client, thread) = (session(&body.session)?, body.client, body.thread);
    let mut words: Vec<(&str, What)> = body.told()?;
    let what = match words.len() {
        1 => words.remove(0).1,
        0 => return Err(r#"it has no word; expected one, such as "enters": "/lock""#.into()),
        _ => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            return Err(format!("it has {} words, {}; expected one", words.len(), words.join(" and ")));
        }
    };
    match body.left() {
        Some(key) => Err(format!("'{key}' goes with another word")),
        None => Ok(Said { session, client, thread, what }),
    }
}

/// `0x` and hex digits, as `/sessions` has it.
fn session(text: &str) -> Result<SessionId, String> {
    let expected = || format!("session: '{text}' is no session; expected 0x and hex digits");
    SessionId::parse(text).ok_or_else(expected)
}

impl Body {
    /// Takes the words that are there, each with what goes with it.
    fn told(&mut self) -> Result<Vec<(&'static str, What)>, String> {
        let mut all = Vec::new();
        let mut tells = |word, observations| all.push((word, What::Tells(observations)));
        if let Some(lock) = text(&mut self.attempts) {
            tells("attempts", vec![Observation::Attempts { lock }]);
        }
        if let Some(lock) = text(&mut self.enters) {
            let (node, token) = self.grant(&lock);
            let granted = Observation::Granted { lock: lock.clone(), node, token };
            tells("enters", vec![granted, Observation::Enters { lock }]);
        }
        if let Some(lock) = text(&mut self.shares) {
            let (node, token) = self.grant(&lock);
            let granted = Observation::Shares { lock: lock.clone(), node, token };
            tells("shares", vec![granted, Observation::Enters { lock }]);
        }
        if let Some(lock) = text(&mut self.leaves) {
            tells("leaves", vec![Observation::Leaves { lock }]);
        }
        if let Some(lock) = text(&mut self.released) {
            tells("released", vec![Observation::Released { lock }]);
        }
        if let Some(lock) = text(&mut self.gives_up) {
            tells(
                "gives-up",
                vec![Observation::GivesUp { lock, why: text(&mut self.why).unwrap_or_default() }],
            );
        }
        let own = [
            ("notes", self.notes.take(), Observation::note as OfAWord),
            ("begins", self.begins.take(), Observation::begins),
            ("ends", self.ends.take(), Observation::ends),
        ];
        for (word, about, tell) in own {
            let Some(about) = about else { continue };
            let what = self.what.take().ok_or_else(|| format!(r#"{word}: expected "what" beside it"#))?;
            tells(word, vec![tell(Word::own(&what), &about, self.number.take().unwrap_or(0))]);
        }
        if let Some(true) = self.connects.take() {
            all.push(("connects", What::Connects));
        }
        if let Some(true) = self.works.take() {
            all.push(("works", What::Works));
        }
        if let Some(at) = self.writes.take() {
            let resource = match at {
                At::Unfenced => Resource::Unfenced,
                At::Fenced => Resource::Fenced,
                At::FencedShared => Resource::FencedShared,
            };
            all.push(("writes", What::Writes(resource, self.token.take().map(Zxid::from_i64))));
        }
        if let Some(finish) = self.finishes.take() {
            let end = match finish {
                Finish::Done => End::Done,
                Finish::SessionLost => End::SessionLost,
                Finish::Failed => End::Failed,
            };
            all.push(("finishes", What::Finishes(end)));
        }
        Ok(all)
    }

    /// The znode by which a lock is granted, as a path, and the token.
    fn grant(&mut self, lock: &Text) -> (Text, Option<Zxid>) {
        let node = match text(&mut self.node) {
            Some(node) if !node.is_empty() && !node.starts_with('/') => format!("{lock}/{node}").into(),
            node => node.unwrap_or_default(),
        };
        (node, self.token.take().map(Zxid::from_i64))
    }

    /// What no word has taken.
    fn left(&self) -> Option<&'static str> {
        let texts = [("node", &self.node), ("why", &self.why), ("what", &self.what)];
        let numbers = [("token", &self.token), ("number", &self.number)];
        let text = texts.into_iter().find(|(_, text)| text.is_some()).map(|(key, _)| key);
        text.or(numbers.into_iter().find(|(_, number)| number.is_some()).map(|(key, _)| key))
    }
}

fn text(field: &mut Option<String>) -> Option<Text> {
    field.take().map(Text::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(body: &str) -> Vec<String> {
        match read(body.as_bytes()).expect(body).what {
            What::Tells(observations) => observations.iter().map(ToString::to_string).collect(),
            what => panic!("{body}: {what:?}"),
        }
    }

    #[test]
    fn each_word_is_what_a_probe_says_by_it() {
        for (body, told) in [
            (r#"{"session":"0x7","attempts":"/a"}"#, &["asks for /a"][..]),
            (
                r#"{"session":"0x7","enters":"/a","node":"n-1","token":4294967298}"#,
                &["is granted /a by /a/n-1, with token 1:2", "enters the critical section of /a"],
            ),
            (
                r#"{"session":"0x7","shares":"/a","node":"/b/n-1"}"#,
                &["is granted a share of /a by /b/n-1", "enters the critical section of /a"],
            ),
            (r#"{"session":"0x7","leaves":"/a"}"#, &["leaves the critical section of /a"]),
            (r#"{"session":"0x7","released":"/a"}"#, &["holds /a no more"]),
            (r#"{"session":"0x7","gives-up":"/a","why":"late"}"#, &["gives up on /a: late"]),
            (r#"{"session":"0x7","notes":"/a","what":"arrives at","number":3}"#, &["arrives at /a 3"]),
            (r#"{"session":"0x7","begins":"/a","what":"passes"}"#, &["passes /a 0"]),
            (r#"{"session":"0x7","ends":"/a","what":"has left"}"#, &["has left /a 0"]),
        ] {
            assert_eq!(tells(body), told, "{body}");
        }
        let writes = read(br#"{"session":"0x7","client":2,"thread":1,"writes":"fenced","token":5}"#);
        let what = What::Writes(Resource::Fenced, Some(Zxid::from_i64(5)));
        assert_eq!(writes, Ok(Said { session: SessionId::new(7), client: Some(2), thread: 1, what }));
        let done = read(br#"{"session":"0x7","finishes":"session-lost"}"#).expect("it is well said");
        assert_eq!(done.what, What::Finishes(End::SessionLost));
        let connects = read(br#"{"session":"0x7","connects":true}"#).expect("it is well said");
        assert_eq!(connects.what, What::Connects);
        assert_eq!(read(br#"{"session":"0x7","works":true}"#).expect("it is well said").what, What::Works);
    }

    #[test]
    fn what_is_badly_said_is_one_line_that_says_what_was_expected() {
        for (body, part) in [
            ("", "EOF while parsing"),
            ("[1]", "invalid type"),
            (r#"{"session":"0x7"}"#, r#"it has no word; expected one, such as "enters": "/lock""#),
            (r#"{"enters":"/a"}"#, "session: '' is no session; expected 0x and hex digits"),
            (r#"{"session":"7","enters":"/a"}"#, "session: '7' is no session"),
            (r#"{"session":"0x+7","enters":"/a"}"#, "session: '0x+7' is no session"),
            (r#"{"session":"0x7","enter":"/a"}"#, "unknown field `enter`"),
            (r#"{"session":"0x7","enters":1}"#, "invalid type: integer `1`"),
            (r#"{"session":"0x7","enters":"/a","leaves":"/a"}"#, "2 words, enters and leaves; expected one"),
            (r#"{"session":"0x7","leaves":"/a","node":"n"}"#, "'node' goes with another word"),
            (r#"{"session":"0x7","works":true,"number":1}"#, "'number' goes with another word"),
            (r#"{"session":"0x7","notes":"/a"}"#, r#"notes: expected "what" beside it"#),
            (r#"{"session":"0x7","writes":"paper"}"#, "unknown variant `paper`"),
            (r#"{"session":"0x7","thread":256,"leaves":"/a"}"#, "integer `256`"),
            (r#"{"session":"0x7","works":false}"#, "it has no word"),
        ] {
            let error = read(body.as_bytes()).expect_err(body);
            assert!(error.contains(part) && error.lines().count() == 1, "{body}: {error}");
        }
    }
}

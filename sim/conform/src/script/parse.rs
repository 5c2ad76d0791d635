//! Reads scripts.

use super::calls::Words;
use super::token::{Token, number, tokens, value_word, zxid};
use super::{Action, Alike, ConformStep, Conn, Connect, Password, ReadOnly, Script, Session, Which};

/// A script that cannot be read: where, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadScript {
    /// From 1.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// What a transcript's lines begin with.
const EXPECTED: &str = "=> ";

/// Reads a script. Fails at the first line that is none.
pub fn parse(text: &str) -> Result<Script, BadScript> {
    let mut script = Script::default();
    let mut comments = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let fail = |problem: String| BadScript { line: index + 1, problem };
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            comments.push(trimmed.to_owned());
        } else if let Some(expected) = trimmed.strip_prefix(EXPECTED) {
            let step = script.steps.last_mut().ok_or("a transcript line before the first step".to_owned());
            step.map_err(fail)?.expected.push(expected.to_owned());
        } else {
            let mut found = tokens(trimmed).map_err(fail)?;
            while open_braces(&found) > 0 {
                let (index, line) = lines.next().ok_or_else(|| fail("expected }".into()))?;
                let more = tokens(line).map_err(|problem| BadScript { line: index + 1, problem })?;
                found.push(Token::Mark(';'));
                found.extend(more);
            }
            let action = action(&mut Words::new(&found)).map_err(fail)?;
            script.steps.push(ConformStep {
                comments: std::mem::take(&mut comments),
                action,
                expected: Vec::new(),
            });
        }
    }
    Ok(script)
}

/// How many braces a line leaves open: a step may go on in the next lines.
fn open_braces(tokens: &[Token]) -> isize {
    let of = |token: &Token| match token {
        Token::Mark('{') => 1,
        Token::Mark('}') => -1,
        Token::Mark(_) | Token::Word(_) | Token::Bytes(_) => 0,
    };
    tokens.iter().map(of).sum()
}

fn action(words: &mut Words<'_>) -> Result<Action, String> {
    let action = unended(words)?;
    words.end()?;
    Ok(action)
}

/// An action that something may follow.
fn unended(words: &mut Words<'_>) -> Result<Action, String> {
    let first = words.word("what to do")?;
    Ok(match first {
        "expire" => Action::Expire { session: session(words.word("a session")?)? },
        "wait" => {
            let word = words.word("how long")?;
            let ms = word.strip_suffix("ms").and_then(|n| n.parse().ok());
            Action::Wait { ms: ms.ok_or_else(|| format!("'{word}': expected milliseconds, such as 500ms"))? }
        }
        "await" if words.take("serving") => Action::AwaitServing,
        "await" if words.take("zxid") => Action::AwaitZxid { zxid: zxid(words.word("a zxid, such as +3")?)? },
        "await" if words.take("end") => Action::AwaitEnd { conns: conns(words)? },
        "await" => {
            Action::Await { transactions: words.number("how many transactions, serving, zxid or end")? }
        }
        "begin" => {
            let letter = conn(words.word("a connection's letter")?)?;
            match on_connection(letter, words)? {
                begun @ (Action::Connect { .. } | Action::Send { .. }) => Action::Begin(Box::new(begun)),
                other => return Err(format!("'{other}' has no answer that could be waited for")),
            }
        }
        "finish" => Action::Finish { conn: conn(words.word("a connection's letter")?)? },
        "rounds" => {
            let times = words.number("how many rounds")?;
            Action::Rounds { times, actions: words.block(unended)? }
        }
        "alike" => {
            let conns = conns(words)?;
            let events = words.take("events");
            Action::Alike { conns, what: if events { Alike::Events } else { Alike::Answers(words.op()?) } }
        }
        "server" | "leader" | "follower" | "killed" | "paused" => {
            let which = match first {
                "server" => one_server(words.word("a server's number or a connection's letter")?)?,
                "follower" if words.peek_word().is_some_and(|word| word.parse::<u8>().is_ok()) => {
                    Which::Follower(words.number("a follower's number")?)
                }
                named => which(named)?,
            };
            let word = words.word("what to do to it")?;
            let control =
                word.parse().map_err(|_| format!("'{word}': expected kill, start, pause or resume"))?;
            Action::Server { which, control }
        }
        letter => on_connection(conn(letter)?, words)?,
    })
}

/// All letters that follow, one at least.
fn conns(words: &mut Words<'_>) -> Result<Vec<Conn>, String> {
    let mut conns = Vec::new();
    while let Some(next) = words.peek_word().and_then(|word| conn(word).ok()) {
        words.word("a connection's letter")?;
        conns.push(next);
    }
    if conns.is_empty() { Err("expected a connection's letter".into()) } else { Ok(conns) }
}

/// A server, as it stands behind `server=`.
fn which(word: &str) -> Result<Which, String> {
    match (word, word.strip_prefix("follower")) {
        ("leader", _) => Ok(Which::Leader),
        ("killed", _) => Ok(Which::Killed),
        ("paused", _) => Ok(Which::Paused),
        (_, Some("")) => Ok(Which::Follower(1)),
        (_, Some(nth)) => number("follower", nth).map(Which::Follower),
        (_, None) => one_server(word),
    }
}

/// A server's number, or the letter of a connection to it.
fn one_server(word: &str) -> Result<Which, String> {
    match conn(word) {
        Ok(conn) => Ok(Which::Of(conn)),
        Err(_) => number("server", word).map(Which::Number),
    }
}

fn on_connection(conn: Conn, words: &mut Words<'_>) -> Result<Action, String> {
    Ok(if words.take("connect") {
        Action::Connect { conn, connect: connect(None, words)? }
    } else if words.take("attach") {
        let session = session(words.word("a session")?)?;
        Action::Connect { conn, connect: connect(Some(session), words)? }
    } else if words.take("drop") {
        Action::Drop { conn }
    } else if words.take("bytes") {
        Action::Bytes { conn, bytes: words.bytes("bytes")?.unwrap_or_default() }
    } else {
        let several = words.take("pipeline");
        let requests = if several { words.block(Words::sent)? } else { vec![words.sent()?] };
        Action::Send { conn, requests }
    })
}

fn conn(word: &str) -> Result<Conn, String> {
    let mut chars = word.chars();
    match (chars.next(), chars.next()) {
        (Some(c @ 'a'..='z'), None) => Ok(Conn(c)),
        _ => Err(format!(
            "'{word}': expected a connection's letter, expire, wait, await, begin, finish, rounds, alike, server, \
             leader, follower, killed or paused"
        )),
    }
}

pub(super) fn session(word: &str) -> Result<Session, String> {
    let mut chars = word.chars();
    let letter = chars.next().filter(char::is_ascii_lowercase);
    let number = if chars.as_str().is_empty() { Some(1) } else { chars.as_str().parse().ok() };
    match (letter, number) {
        (Some(letter), Some(number @ 1..)) => Ok(Session(letter, number)),
        _ => Err(format!("'{word}': expected a session, such as a or a2")),
    }
}

/// The timeout that is asked for where none is given.
pub(super) const TIMEOUT_MS: i32 = 4000;

fn connect(session: Option<Session>, words: &mut Words<'_>) -> Result<Connect, String> {
    let mut connect = Connect { session, timeout_ms: TIMEOUT_MS, ..Connect::default() };
    for (key, value) in words.options()? {
        let one = value_word(&value);
        match (key.as_str(), one) {
            ("timeout", word) => connect.timeout_ms = number("timeout", word)?,
            ("cut", word) => connect.cut = number("cut", word)?,
            ("seen", word) => connect.last_zxid = Some(zxid(word)?),
            ("password", "wrong") => connect.password = Password::Wrong,
            ("password", "short") => connect.password = Password::Short,
            ("password", "null") => connect.password = Password::Null,
            ("readonly", "absent") => connect.read_only = ReadOnly::Absent,
            ("readonly", "yes") => connect.read_only = ReadOnly::Yes,
            ("server", word) => connect.server = Some(which(word)?),
            (key, word) => {
                return Err(format!(
                    "'{key}={word}': expected timeout, cut, seen, password=wrong|short|null, \
                     readonly=absent|yes or server"
                ));
            }
        }
    }
    Ok(connect)
}

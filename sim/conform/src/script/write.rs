//! Writes scripts, so that [`parse`](super::parse) reads them back.

use super::calls::{LISTS, PERMS, default_flags, number_words, open};
use super::parse::TIMEOUT_MS;
use super::token::{bytes_text, quote};
use super::{
    AclArg, Action, Alike, Call, Conn, Connect, CreateKind, Password, ReadOnly, Script, Sent, Session, Which,
    ZxidArg,
};
use std::fmt::{self, Display, Formatter};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            for comment in &step.comments {
                writeln!(f, "{comment}")?;
            }
            writeln!(f, "{}", step.action)?;
            for line in &step.expected {
                writeln!(f, "=> {line}")?;
            }
        }
        Ok(())
    }
}

impl Display for Conn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Display for Session {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 == 1 { self.0.fmt(f) } else { write!(f, "{}{}", self.0, self.1) }
    }
}

impl Display for ZxidArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ZxidArg::Absolute(n) => n.fmt(f),
            ZxidArg::Relative(n) => write!(f, "{n:+}"),
            ZxidArg::Seen(0) => f.write_str("seen"),
            ZxidArg::Seen(n) => write!(f, "seen{n:+}"),
        }
    }
}

impl Display for Which {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_which(*self, "server ", " ", f)
    }
}

/// A server, with what stands before a number or a letter, and between a follower and which of them it is.
fn write_which(which: Which, server: &str, gap: &str, f: &mut Formatter<'_>) -> fmt::Result {
    match which {
        Which::Number(n) => write!(f, "{server}{n}"),
        Which::Leader => f.write_str("leader"),
        Which::Follower(1) => f.write_str("follower"),
        Which::Follower(n) => write!(f, "follower{gap}{n}"),
        Which::Killed => f.write_str("killed"),
        Which::Paused => f.write_str("paused"),
        Which::Of(conn) => write!(f, "{server}{conn}"),
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Action::Connect { conn, connect } => write!(f, "{conn} {connect}"),
            Action::Drop { conn } => write!(f, "{conn} drop"),
            Action::Send { conn, requests } => match &requests[..] {
                [one] => write!(f, "{conn} {one}"),
                all => write!(f, "{conn} pipeline {{ {} }}", joined(all)),
            },
            Action::Bytes { conn, bytes } => write!(f, "{conn} bytes 0x{}", hex(bytes)),
            Action::Expire { session } => write!(f, "expire {session}"),
            Action::Wait { ms } => write!(f, "wait {ms}ms"),
            Action::Await { transactions } => write!(f, "await {transactions}"),
            Action::Server { which, control } => {
                write!(f, "{which} {}", <&str>::from(control))
            }
            Action::Begin(action) => write!(f, "begin {action}"),
            Action::Finish { conn } => write!(f, "finish {conn}"),
            Action::AwaitZxid { zxid } => write!(f, "await zxid {zxid}"),
            Action::AwaitServing => f.write_str("await serving"),
            Action::AwaitEnd { conns } => write!(f, "await end{}", letters(conns)),
            Action::Rounds { times, actions } => {
                writeln!(f, "rounds {times} {{")?;
                for action in actions {
                    writeln!(f, "  {action}")?;
                }
                f.write_str("}")
            }
            Action::Alike { conns, what: Alike::Events } => write!(f, "alike{} events", letters(conns)),
            Action::Alike { conns, what: Alike::Answers(call) } => {
                write!(f, "alike{} {call}", letters(conns))
            }
        }
    }
}

impl Display for Connect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.session {
            None => f.write_str("connect")?,
            Some(session) => write!(f, "attach {session}")?,
        }
        if self.timeout_ms != TIMEOUT_MS {
            write!(f, " timeout={}", self.timeout_ms)?;
        }
        if self.password != Password::Right {
            write!(f, " password={}", <&str>::from(self.password))?;
        }
        if let Some(seen) = self.last_zxid {
            write!(f, " seen={seen}")?;
        }
        if self.read_only != ReadOnly::No {
            write!(f, " readonly={}", <&str>::from(self.read_only))?;
        }
        if let Some(which) = self.server {
            f.write_str(" server=")?;
            write_which(which, "", "", f)?;
        }
        if self.cut == 0 { Ok(()) } else { write!(f, " cut={}", self.cut) }
    }
}

impl Display for Sent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)?;
        if let Some(xid) = self.xid {
            write!(f, " xid={xid}")?;
        }
        if self.cut != 0 {
            write!(f, " cut={}", self.cut)?;
        }
        if !self.more.is_empty() {
            write!(f, " more=0x{}", hex(&self.more))?;
        }
        Ok(())
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Call::Create { .. } => write_create(self, f),
            Call::Look { what, path, watch } => {
                write!(f, "{} {}{}", <&str>::from(what), text(path), if *watch { " watch" } else { "" })
            }
            Call::Name { what, path } => {
                write!(f, "{} {}", <&str>::from(what), text(path))
            }
            Call::Number { what, path, number } => {
                write!(f, "{} {}", <&str>::from(what), text(path))?;
                let (key, names) = number_words(*what);
                match names.iter().find(|(_, known)| known == number) {
                    Some((name, _)) => write!(f, " {name}"),
                    None => write!(f, " {key}={number}"),
                }
            }
            Call::SetData { path, data, version } => {
                write!(f, "set {} {} v={version}", text(path), bytes_text(data))
            }
            Call::SetAcl { path, acl, version } => {
                write!(f, "setacl {} acl={} v={version}", text(path), acl_text(acl))
            }
            Call::Multi { reads, ops } => {
                let verb = if *reads { "multiread" } else { "multi" };
                write!(f, "{verb} {{ {} }}", joined(ops))
            }
            Call::SetWatches { since, lists, two } => {
                write!(f, "setwatches{} since={since}", if *two { "2" } else { "" })?;
                for (name, list) in LISTS.iter().zip(lists) {
                    match list {
                        None => write!(f, " {name}=-")?,
                        Some(paths) => {
                            for path in paths {
                                write!(f, " {name}={}", text(path))?;
                            }
                        }
                    }
                }
                Ok(())
            }
            Call::Auth { scheme, credentials } => {
                write!(f, "auth {} {}", text(scheme), bytes_text(credentials))
            }
            Call::Reconfig { joining, leaving, members, version } => {
                write!(f, "reconfig {} {} {} {version}", text(joining), text(leaving), text(members))
            }
            Call::WhoAmI => f.write_str("whoami"),
            Call::Ping => f.write_str("ping"),
            Call::Close => f.write_str("close"),
            Call::Raw { op, body } => write!(f, "op {op} 0x{}", hex(body)),
        }
    }
}

fn write_create(call: &Call, f: &mut Formatter<'_>) -> fmt::Result {
    let Call::Create { kind, path, data, acl, flags, ttl_ms } = call else { return Ok(()) };
    write!(f, "{} {} {}", <&str>::from(kind), text(path), bytes_text(data))?;
    let plain = matches!(kind, CreateKind::Plain | CreateKind::WithStat);
    match flags {
        n if *n == default_flags(*kind) => {}
        1 if plain => f.write_str(" ephemeral")?,
        2 if plain => f.write_str(" sequential")?,
        3 if plain => f.write_str(" ephemeral sequential")?,
        6 if *kind == CreateKind::Ttl => f.write_str(" sequential")?,
        n => write!(f, " flags={n}")?,
    }
    if *ttl_ms != 0 {
        write!(f, " ttl={ttl_ms}")?;
    }
    if *acl == open() { Ok(()) } else { write!(f, " acl={}", acl_text(acl)) }
}

fn letters(conns: &[Conn]) -> String {
    conns.iter().map(|conn| format!(" {conn}")).collect()
}

fn joined<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join("; ")
}

/// A text as it stands in a script.
pub(crate) fn text(text: &Option<String>) -> String {
    match text {
        None => "null".into(),
        Some(text) if is_plain(text) => text.clone(),
        Some(text) => bytes_text(&Some(text.clone().into_bytes())),
    }
}

/// Whether a text is read back without quotes.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/:._-".contains(c);
    !text.is_empty() && text != "null" && text != "-" && !text.starts_with("0x") && text.chars().all(plain)
}

fn acl_text(acl: &AclArg) -> String {
    let Some(entries) = acl else { return "null".into() };
    if entries.is_empty() {
        return "none".into();
    }
    let entry = |entry: &super::AclEntry| {
        let who = match (&entry.scheme, &entry.id) {
            (None, _) => None,
            (Some(scheme), None) => Some(scheme.clone()),
            (Some(scheme), Some(id)) => Some(format!("{scheme}:{id}")),
        };
        format!("{}@{}", perms_text(entry.perms), text(&who))
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(",")
}

/// Permissions as letters, or as a number where they have none.
pub(crate) fn perms_text(perms: i32) -> String {
    if (1..=31).contains(&perms) {
        PERMS.chars().enumerate().filter(|(bit, _)| perms & (1 << bit) != 0).map(|(_, c)| c).collect()
    } else {
        perms.to_string()
    }
}

/// Bytes as pairs of hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes in quotes.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    if bytes.len() > 200 { format!("{} bytes", bytes.len()) } else { quote(bytes) }
}

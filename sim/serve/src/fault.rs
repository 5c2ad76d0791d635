//! Faults on demand, under the names of the scenario files.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zk_api::SessionId;
use zk_wire::OpCode;

pub use zk_cluster::loss::{Loss, RequestKind};

/// What can go wrong. In JSON: `{"server-crash": {"down-ms": 500}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// The server's process dies: connections break and are refused, and what was not synced is lost. It starts
    /// again from its disk after `down_ms`. With `mid_sync` it dies in the middle of the next sync of its log.
    ServerCrash {
        /// The server, by its number as reports show it; the first one, 0, if not given.
        #[serde(default)]
        server: u8,
        down_ms: u64,
        #[serde(default)]
        mid_sync: bool,
    },
    /// The server's process stops, and later goes on as if nothing had happened: connections stay open and are not
    /// read.
    ServerPause {
        /// The server, as in a crash.
        #[serde(default)]
        server: u8,
        for_ms: u64,
    },
    /// A server that is down starts at once, before its time is over.
    ServerStart {
        /// The server, as in a crash.
        #[serde(default)]
        server: u8,
    },
    /// A server's process that has stopped goes on at once.
    ServerResume {
        /// The server, as in a crash.
        #[serde(default)]
        server: u8,
    },
    /// The leader's process dies, as in `ServerCrash`.
    LeaderCrash {
        down_ms: u64,
        #[serde(default)]
        mid_sync: bool,
    },
    /// The leader's process stops, as in `ServerPause`.
    LeaderPause { for_ms: u64 },
    /// Nothing gets through from the first server of each pair to the second for a while. What is on its way over a
    /// link waits; datagrams of the election are lost.
    Partition { cut: Vec<[u8; 2]>, for_ms: u64 },
    /// For a while, messages to and from the other servers take `delay_ms` longer.
    ServerLag { server: u8, delay_ms: u64, for_ms: u64 },
    /// The links between two servers break, with what is on its way.
    LinkBreak { between: [u8; 2] },
    /// Connections drop.
    Drop {
        session: Target,
        #[serde(default)]
        when: When,
        what: Loss,
    },
    /// The server ends sessions although their clients are well.
    Expire { session: Target },
    /// When the session next looks at a znode that belongs to another session, that other session ends.
    ExpireOwner { reader: Target },
    /// For a while, messages from and to the clients take `delay_ms` longer.
    SlowLink { session: Target, delay_ms: u64, for_ms: u64 },
    /// For a while, syncs of the server's disk take `sync_ms`.
    SlowSync {
        /// The server, as in a crash.
        #[serde(default)]
        server: u8,
        sync_ms: u64,
        for_ms: u64,
    },
    /// The server's clock is set, and the server is told so.
    ClockJump {
        /// The server, as in a crash.
        #[serde(default)]
        server: u8,
        by_ms: i64,
    },
}

/// Whom a fault strikes: `"0x1000…"`, or `"all"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Every session that is there.
    All,
    /// One session.
    Session(SessionId),
}

/// When a drop strikes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At once.
    #[default]
    Now,
    /// When the next request of this kind arrives; that request is then under way.
    NextRequest(RequestKind),
}

impl Fault {
    /// Reads one, or says in a line what is wrong with it.
    pub(crate) fn from_json(text: &[u8]) -> Result<Fault, String> {
        let wrong = |error: serde_json::Error| helped(&error.to_string());
        let value: serde_json::Value = serde_json::from_slice(text).map_err(wrong)?;
        let fault =
            value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
        match fault {
            Some((_, parts)) if parts.is_object() => serde_json::from_slice(text).map_err(wrong),
            Some((name, _)) => {
                Err(format!("expected {{\"{name}\":{{…}}}}, with what the fault has to be told"))
            }
            None => Err(
                "expected one name with what it has to be told, such as {\"server-pause\":{\"for-ms\":9}}"
                    .into(),
            ),
        }
    }
}

/// serde's words for people: who writes JSON need not know Rust.
fn helped(message: &str) -> String {
    let (what, place) = message.rsplit_once(" at line ").unwrap_or((message, ""));
    let what = match what.rsplit_once("expected ") {
        Some((before, "u8" | "u64")) => format!("{before}expected a whole number from 0"),
        Some((before, "i64")) => format!("{before}expected a whole number"),
        Some((before, "struct variant")) => format!("{before}expected one with what it has to be told"),
        _ => what.to_owned(),
    };
    match place.split_once(" column ") {
        Some((line, column)) => format!("{what} (line {line}, column {column})"),
        None => what,
    }
}

/// Whether a frame is such a request. Pings, credentials and watches that are registered again are none.
pub(crate) fn is_request(kind: RequestKind, frame: &[u8]) -> bool {
    kind_of(frame).is_some_and(|of_frame| kind == RequestKind::Any || kind == of_frame)
}

/// What kind of request a frame is, by the number behind its xid.
fn kind_of(frame: &[u8]) -> Option<RequestKind> {
    let (_, behind) = frame.split_first_chunk::<4>()?;
    let op = OpCode::from_i32(i32::from_be_bytes(*behind.first_chunk()?))?;
    match op {
        OpCode::Create
        | OpCode::Create2
        | OpCode::CreateContainer
        | OpCode::CreateTtl
        | OpCode::SetData
        | OpCode::SetAcl
        | OpCode::Multi => Some(RequestKind::Create),
        OpCode::Delete => Some(RequestKind::Delete),
        OpCode::Exists
        | OpCode::GetData
        | OpCode::GetAcl
        | OpCode::GetChildren
        | OpCode::GetChildren2
        | OpCode::MultiRead
        | OpCode::GetEphemerals
        | OpCode::GetAllChildrenNumber => Some(RequestKind::Read),
        OpCode::Sync
        | OpCode::CloseSession
        | OpCode::Reconfig
        | OpCode::CheckWatches
        | OpCode::RemoveWatches
        | OpCode::AddWatch
        | OpCode::WhoAmI => Some(RequestKind::Any),
        OpCode::Error
        | OpCode::Check
        | OpCode::Ping
        | OpCode::Auth
        | OpCode::SetWatches
        | OpCode::SetWatches2 => None,
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Target::All => serializer.serialize_str("all"),
            Target::Session(session) => serializer.collect_str(session),
        }
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected =
            || D::Error::custom(format!("'{text}' is no session: expected 0x and hex digits, or all"));
        match text.as_str() {
            "all" => Ok(Target::All),
            text => SessionId::parse(text).map(Target::Session).ok_or_else(expected),
        }
    }
}

/// The path of a request that reads one, as it stands in its frame: xid, kind, length, path.
pub(crate) fn path_read(frame: &[u8]) -> Option<&str> {
    if !is_request(RequestKind::Read, frame) {
        return None;
    }
    let (length, rest) = frame.get(8..)?.split_first_chunk::<4>()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    std::str::from_utf8(rest.get(..length)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Fault, String> {
        Fault::from_json(text.as_bytes())
    }

    #[test]
    fn faults_are_written_as_in_the_scenario_files() {
        let session = Target::Session(SessionId::new(0x10));
        let (when, what) = (When::NextRequest(RequestKind::Create), Loss::InFlight { for_ms: 3 });
        for (text, fault) in [
            (
                r#"{"server-crash":{"server":0,"down-ms":5,"mid-sync":true}}"#,
                Fault::ServerCrash { server: 0, down_ms: 5, mid_sync: true },
            ),
            (
                r#"{"drop":{"session":"0x10","when":{"next-request":"create"},"what":{"in-flight":{"for-ms":3}}}}"#,
                Fault::Drop { session, when, what },
            ),
            (r#"{"expire":{"session":"all"}}"#, Fault::Expire { session: Target::All }),
        ] {
            assert_eq!(parse(text), Ok(fault.clone()));
            assert_eq!(serde_json::to_string(&fault).unwrap(), text);
        }
        let now = Fault::Drop { session, when: When::Now, what: Loss::Silence };
        assert_eq!(parse(r#"{"drop":{"session":"0x10","what":"silence"}}"#), Ok(now));
    }

    #[test]
    fn what_is_no_fault_is_told_in_one_line() {
        for (text, part) in [
            (r#"{"drop":{"session":"10","what":"silence"}}"#, "'10' is no session"),
            (r#"{"drop":{"session":"0x10","what":"noise"}}"#, "unknown variant `noise`"),
            (r#"{"expire":{"session":"all","when":"now"}}"#, "unknown field `when`"),
            (r#"{"server-crash":{}}"#, "missing field `down-ms` (line 1, column 18)"),
            (r#"{"drop":{"session":"0x+1","what":"silence"}}"#, "'0x+1' is no session"),
            (r#"{"drop":{"session":"0x","what":"silence"}}"#, "'0x' is no session"),
            ("", "EOF"),
            ("null", "expected one name with what it has to be told"),
            ("{}", "expected one name"),
            (r#"{"expire":{"session":"all"},"server-pause":{"for-ms":1}}"#, "expected one name"),
            (r#"{"server-pause":null}"#, r#"expected {"server-pause":{…}}"#),
            (r#"{"server-pause":{"for-ms":-1}}"#, "expected a whole number from 0 (line"),
            (r#"{"server-pause":{"for-ms":1.5}}"#, "expected a whole number from 0 (line"),
            (r#"{"clock-jump":{"by-ms":"1"}}"#, "expected a whole number (line"),
            (r#"{"drop":{"session":"all","what":"in-flight"}}"#, "expected one with what it has to be told"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_request_is_told_by_its_frame() {
        let frame = |op: OpCode| [[0; 4], op.to_i32().to_be_bytes()].concat();
        let is = |kind, op| is_request(kind, &frame(op));
        assert!(is(RequestKind::Create, OpCode::Multi) && is(RequestKind::Any, OpCode::Delete));
        assert!(!is(RequestKind::Read, OpCode::Delete) && !is(RequestKind::Any, OpCode::Ping));
        assert!(!is_request(RequestKind::Any, b"") && !is_request(RequestKind::Any, b"\0\0\0\x01\0\0\0"));
    }
}

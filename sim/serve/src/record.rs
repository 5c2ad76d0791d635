//! What clients did, and what was done to them: the last events, and all of them in a file if one is asked for.

use crate::fault::Fault;
use crate::time::Nanos;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use zk_api::{ErrorCode, EventType, SessionId, Text, Zxid};
use zk_proto::message::ConnId;

/// So many characters of a path are kept.
const PATH_MOST: usize = 200;

/// So many lines may wait to be written to the file. Those that are too many are counted in its last line.
const LINES_WAITING: usize = 16 * 1024;

/// The last events.
#[derive(Debug)]
pub(crate) struct Record {
    events: VecDeque<Recorded>,
    /// So many are kept.
    most: usize,
    file: Option<RecordFile>,
}

#[derive(Debug)]
struct Recorded {
    at: Nanos,
    conn: Option<ConnId>,
    /// To which server, where there are several.
    server: Option<u8>,
    what: What,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum What {
    /// A connection was accepted.
    Opened { peer: SocketAddr, server: Option<u8> },
    /// A connection has a session.
    Connected { session: SessionId, timeout_ms: u32 },
    /// A request has come; `xid` is the client's number for it.
    Asked { session: SessionId, xid: i32, op: &'static str, path: Text, bytes: usize },
    /// It was answered.
    Answered { xid: i32, op: &'static str, zxid: Zxid, error: Option<ErrorCode> },
    /// A watch has fired.
    Told { kind: EventType, path: Text },
    /// Requests that were under way have arrived.
    Arrived,
    /// A connection has ended.
    Ended { why: Box<str> },
    /// A session has expired.
    Expired { session: SessionId },
    /// A fault has struck, or waits to.
    Fault(Box<Fault>),
    /// A server has started.
    Started,
    /// A server is down.
    Down,
}

impl Record {
    /// Keeps so many events.
    pub(crate) fn new(most: usize, file: Option<RecordFile>) -> Record {
        Record { events: VecDeque::new(), most, file }
    }

    /// Something happened on a connection.
    pub(crate) fn add(&mut self, now: Nanos, conn: ConnId, what: What) {
        self.push(Recorded { at: now, conn: Some(conn), server: None, what: what.cut() });
    }

    /// Something happened to one of several servers, or to no one in particular.
    pub(crate) fn add_server(&mut self, now: Nanos, server: Option<u8>, what: What) {
        self.push(Recorded { at: now, conn: None, server, what });
    }

    fn push(&mut self, event: Recorded) {
        if let Some(file) = &mut self.file {
            file.write(event.to_json());
        }
        if self.most == 0 {
            return;
        }
        if self.events.len() >= self.most {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// The last `n` events, oldest first.
    pub(crate) fn last(&self, n: usize) -> Vec<Value> {
        let skipped = self.events.len().saturating_sub(n);
        self.events.iter().skip(skipped).map(Recorded::to_json).collect()
    }

    /// Writes out what waits to be written. Gives what is wrong with the file, if it has not everything.
    pub(crate) fn close(&mut self) -> Option<String> {
        self.file.take()?.close()
    }
}

impl What {
    /// Without what is too long to be kept.
    fn cut(mut self) -> What {
        if let What::Asked { path, .. } | What::Told { path, .. } = &mut self
            && let Some((at, _)) = path.char_indices().nth(PATH_MOST)
        {
            *path = format!("{}…", &path[..at]).into();
        }
        self
    }
}

impl Recorded {
    /// One line of a record: when, on which connection, what.
    fn to_json(&self) -> Value {
        let mut line = match &self.what {
            What::Opened { peer, server: None } => json!({ "what": "opened", "peer": peer.to_string() }),
            What::Opened { peer, server } => {
                json!({ "what": "opened", "peer": peer.to_string(), "server": server })
            }
            What::Connected { session, timeout_ms } => {
                json!({ "what": "connected", "session": session.to_string(), "timeout-ms": timeout_ms })
            }
            What::Asked { session, xid, op, path, bytes } => json!({
                "what": "asked", "session": session.to_string(), "xid": xid, "op": op, "path": &**path, "bytes": bytes,
            }),
            What::Answered { xid, op, zxid, error } => json!({
                "what": "answered", "xid": xid, "op": op, "zxid": format!("{:#x}", zxid.to_i64()),
                "error": error.map(|error| format!("{error:?}")),
            }),
            What::Told { kind, path } => {
                json!({ "what": "event", "kind": format!("{kind:?}"), "path": &**path })
            }
            What::Arrived => json!({ "what": "requests in flight arrive" }),
            What::Ended { why } => json!({ "what": "ended", "why": &**why }),
            What::Expired { session } => json!({ "what": "expired", "session": session.to_string() }),
            What::Fault(fault) => json!({ "what": "fault", "fault": fault }),
            What::Started => json!({ "what": "server started" }),
            What::Down => json!({ "what": "server down" }),
        };
        line["at-ms"] = (self.at / 1_000_000).into();
        if let Some(server) = self.server {
            line["server"] = server.into();
        }
        if let Some(conn) = self.conn {
            line["conn"] = conn.0.into();
        }
        line
    }
}

/// A file with a line of JSON for each event, written by a thread of its own: a slow disk stalls no client.
#[derive(Debug)]
pub(crate) struct RecordFile {
    lines: SyncSender<Value>,
    writer: JoinHandle<std::io::Result<()>>,
    /// Events for which there was no room.
    missed: u64,
}

impl RecordFile {
    /// Makes the file, or empties it.
    pub(crate) fn create(path: &Path) -> std::io::Result<RecordFile> {
        let mut file = BufWriter::new(File::create(path)?);
        let (lines, waiting) = sync_channel::<Value>(LINES_WAITING);
        let writer = std::thread::Builder::new().name("record".into()).spawn(move || {
            // A disk that is full ends the file, not the server, which tells of it when it ends itself.
            while let Ok(line) = waiting.recv() {
                writeln!(file, "{line}")?;
            }
            file.flush()
        })?;
        Ok(RecordFile { lines, writer, missed: 0 })
    }

    fn write(&mut self, line: Value) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            self.missed += 1;
        }
    }

    fn close(self) -> Option<String> {
        if self.missed > 0 {
            let _ = self.lines.send(json!({ "what": "missed", "events": self.missed }));
        }
        drop(self.lines);
        match self.writer.join() {
            Ok(Ok(())) if self.missed == 0 => None,
            Ok(Ok(())) => Some(format!("it lacks {} events, for which there was no time", self.missed)),
            Ok(Err(error)) => Some(format!("it ends before its time: {error}")),
            Err(_) => Some("it ends before its time".into()),
        }
    }
}

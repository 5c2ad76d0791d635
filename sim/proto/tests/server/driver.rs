//! The commands of the scripts under `testdata/session` and `testdata/recovery`.
//!
//! ```text
//! start [every=N] [step=N] [kept=N]   the server starts from its disk (the numbers: its snapshots)
//! client A [TIMEOUT]                  a client begins to connect
//! A REQUEST                           a client's user submits a request, see `request`
//! up A [N] | down A [N]               messages are delivered, to the server or to the client; all, or N
//! sync                                the disk does the sync that is due
//! settle                              deliver and sync until nothing is on its way
//! advance MS                          time passes, timers fire, everything settles after each
//! drop A | silence A | kill A         a connection breaks, or swallows everything; a client's process dies
//! expire A | abandon A CALL           the server ends a session; a user no longer waits for a watch
//! attach R A [wrong] [zxid=E:C]       somebody takes A's session over, on a connection called R
//! crash [KEPT]                        power goes; of what was not synced, KEPT bytes of each file survive
//! flip FILE AT | cut FILE BYTES | lose FILE    a bit rots, a tail is lost, a file is lost
//! files | tree                        what is on the disk; what is in the tree
//! ```

use crate::server::rig::{Line, Rig, config};
use std::collections::BTreeMap;
use std::fmt::Write;
use zk_api::{
    AddWatchMode, CreateMode, EventType, MultiOutcome, Op, Request, Response, Text, WatcherKind, Zxid,
    open_acl,
};
use zk_proto::client::{ClientEvent, ClientOutput, WatchId};
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::{ConnId, ConnectRequest, ToClient, ToServer};
use zk_proto::server::{Event, Note, Output};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab;

/// What a script's log shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    /// What clients do and are told, and what the server closes.
    Sessions,
    /// What happens to transactions and on the disk, and what clients are told.
    Storage,
}

struct Driver {
    rig: Rig,
    show: Show,
    clients: Vec<String>,
    raw: BTreeMap<String, (ConnId, usize)>,
    /// How much of the rig's log was shown.
    shown: usize,
}

#[test]
fn session_scripts() {
    crate::script::run_dir("session", || Driver::new(Show::Sessions), Driver::run);
}

#[test]
fn recovery_scripts() {
    crate::script::run_dir("recovery", || Driver::new(Show::Storage), Driver::run);
}

impl Driver {
    fn new(show: Show) -> Driver {
        Driver { rig: Rig::new(config()), show, clients: Vec::new(), raw: BTreeMap::new(), shown: 0 }
    }

    fn run(&mut self, command: &str, args: &[&str]) -> String {
        let mut out = String::new();
        match (command, args) {
            ("start", options) => self.start(options, &mut out),
            ("client", [name, timeout @ ..]) => {
                self.clients.push((*name).to_owned());
                self.rig.client(timeout.first().map_or(3000, |ms| number(ms)));
            }
            ("up" | "down", [name, count @ ..]) => {
                let conn = self.conn(name);
                let count = count.first().map_or(usize::MAX, |n| number(n));
                let rig = &mut self.rig;
                for _ in 0..count {
                    if !(if command == "up" { rig.deliver_up(conn) } else { rig.deliver_down(conn) }) {
                        break;
                    }
                }
            }
            ("sync", []) => assert!(self.rig.sync(), "no sync is due"),
            ("settle", []) => self.rig.settle(),
            ("advance", [ms]) => self.rig.advance(number(ms)),
            ("drop", [name]) => self.rig.drop_connection(self.client(name)),
            ("silence", [name]) => self.rig.silence(self.client(name)),
            ("kill", [name]) => self.rig.kill(self.client(name)),
            ("expire", [name]) => {
                let session = self.rig.clients[self.client(name)].session.session();
                self.rig.serve(Event::Expire { session });
            }
            ("abandon", [name, call]) => {
                let watch = WatchId(number(call));
                self.rig.tell(self.client(name), ClientEvent::Abandon { watch });
            }
            ("attach", [name, whose, options @ ..]) => self.attach(name, whose, options),
            ("crash", kept) => self.rig.crash(kept.first().map_or(0, |n| number(n))),
            ("flip", [file, at]) => self.rig.spoil(|files| {
                files.get_mut(&file_id(file)).expect("the file exists")[number::<usize>(at)] ^= 1
            }),
            ("cut", [file, bytes]) => self.cut(file_id(file), number(bytes)),
            ("lose", [file]) => self.rig.disk.remove(file_id(file)),
            ("files", []) => {
                for (file, bytes) in self.rig.disk.files() {
                    writeln!(out, "{} {}", file_name(file), bytes.len()).unwrap();
                }
            }
            ("tree", []) => self.tree(&mut out),
            (name, words) => {
                self.rig.submit(self.client(name), request(words));
            }
        }
        self.log(&mut out);
        out
    }

    fn start(&mut self, options: &[&str], out: &mut String) {
        for option in options {
            let (name, value) = option.split_once('=').expect("name=value");
            let value = number(value);
            match name {
                "every" => self.rig.config.snapshot_every = value,
                "step" => self.rig.config.snapshot_step = value,
                "kept" => self.rig.config.snapshots_kept = value,
                _ => panic!("no option {name}"),
            }
        }
        if let Err(refused) = self.rig.start() {
            writeln!(out, "refused: {refused}").unwrap();
        }
    }

    fn attach(&mut self, name: &str, whose: &str, options: &[&str]) {
        let session = self.rig.clients[self.client(whose)].session.session();
        // The rig gives the session of connection n the password n, n, n, ….
        let mut password = [(session.get() - 0x100) as u8; 16];
        let mut last_zxid = Zxid::ZERO;
        for option in options {
            match option.strip_prefix("zxid=") {
                Some(text) => last_zxid = zxid(text),
                None => password = [0xff; 16],
            }
        }
        let conn = self.rig.raw(ConnectRequest { last_zxid, timeout_ms: 3000, session, password });
        self.raw.insert(name.to_owned(), (conn, 0));
    }

    fn cut(&mut self, file: FileId, bytes: usize) {
        self.rig.spoil(|files| {
            let contents = files.get_mut(&file).expect("the file exists");
            contents.truncate(contents.len() - bytes);
        });
    }

    fn tree(&self, out: &mut String) {
        let Some(server) = &self.rig.server else { return };
        for (path, node) in server.tree().nodes() {
            if !path.starts_with("/zookeeper") && &**path != "/" {
                writeln!(out, "{path} {:?} version {} at {}", node.data, node.version, node.mzxid).unwrap();
            }
        }
        let sessions: Vec<String> = server.sessions().iter().map(|(id, _)| id.to_string()).collect();
        writeln!(out, "sessions {}; last {}", sessions.join(" "), server.tree().last_zxid()).unwrap();
    }

    fn client(&self, name: &str) -> usize {
        self.clients.iter().position(|other| other == name).unwrap_or_else(|| panic!("no client {name}"))
    }

    fn conn(&self, name: &str) -> ConnId {
        match self.raw.get(name) {
            Some((conn, _)) => *conn,
            None => self.rig.clients[self.client(name)].conn.expect("it has a connection"),
        }
    }

    /// Who is at the other end of a connection.
    fn name_of(&self, conn: ConnId) -> String {
        let raw = self.raw.iter().find(|(_, (id, _))| *id == conn).map(|(name, _)| name.clone());
        raw.unwrap_or_else(|| format!("{conn:?}"))
    }

    /// What has happened since the last time.
    fn log(&mut self, out: &mut String) {
        for line in &self.rig.lines[self.shown..] {
            let text = match line {
                Line::Server(output) => self.server_line(output),
                Line::Client(client, output) => {
                    self.client_line(output).map(|text| format!("{} {text}", self.clients[*client]))
                }
            };
            if let Some(text) = text {
                writeln!(out, "{text}").unwrap();
            }
        }
        self.shown = self.rig.lines.len();
        for (name, (conn, shown)) in &mut self.raw {
            for message in &self.rig.seen(*conn)[*shown..] {
                let text = message.as_ref().map_or("end of file".to_owned(), message_line);
                writeln!(out, "{name} sees {text}").unwrap();
                *shown += 1;
            }
        }
    }

    fn server_line(&self, output: &Output) -> Option<String> {
        let storage = self.show == Show::Storage;
        match output {
            Output::Close { conn } => (!storage).then(|| format!("server closes {}", self.name_of(*conn))),
            Output::Disk(op) => storage.then(|| disk_line(op)),
            Output::Note(Note::Zab(zab::Note::Proposed(txn))) => Some(format!("propose {}", txn_line(txn))),
            Output::Note(Note::Zab(zab::Note::Committed(txn))) => Some(format!("commit {}", txn.zxid)),
            Output::Note(_)
            | Output::Send { .. }
            | Output::SetTimer { .. }
            | Output::Notify { .. }
            | Output::SendPeer { .. }
            | Output::Dial { .. }
            | Output::Hang { .. } => None,
        }
    }

    fn client_line(&self, output: &ClientOutput) -> Option<String> {
        match output {
            ClientOutput::Complete { call, result, watch } => {
                let watch = if watch.is_some() { ", watching" } else { "" };
                let answer = match result {
                    Ok(response) => response_line(response),
                    Err(error) => format!("{:?}", error.code),
                };
                Some(format!("#{}: {answer}{watch}", call.0))
            }
            ClientOutput::Event { watch, event, last } => {
                let last = if *last { "" } else { ", still armed" };
                let what = if event.kind == EventType::None {
                    format!("session {:?}", event.state)
                } else {
                    format!("{:?} {}", event.kind, event.path)
                };
                Some(format!("watch #{}: {what}{last}", watch.0))
            }
            ClientOutput::State(state) => Some(format!("is {state:?}")),
            _ if self.show == Show::Storage => None,
            ClientOutput::Open { .. } => Some("connects".to_owned()),
            ClientOutput::Close { .. } => Some("hangs up".to_owned()),
            ClientOutput::Send { message, .. } => sent_line(message),
            ClientOutput::SetTimer { .. } => None,
        }
    }
}

fn sent_line(message: &ToServer) -> Option<String> {
    match message {
        ToServer::Connect(request) => {
            Some(format!("asks for session {} since {}", request.session, request.last_zxid))
        }
        ToServer::SetWatches { since, watches } => {
            let kinds = [
                ("data", &watches.data),
                ("exist", &watches.exist),
                ("child", &watches.child),
                ("persistent", &watches.persistent),
                ("recursive", &watches.recursive),
            ];
            let list = kinds.iter().filter(|(_, paths)| !paths.is_empty());
            let list: Vec<_> = list.map(|(kind, paths)| format!("{kind} {}", paths.join(" "))).collect();
            Some(format!("sets watches since {since}: {}", list.join(", ")))
        }
        ToServer::Ping => Some("pings".to_owned()),
        ToServer::Request { xid, request } => {
            Some(format!("sends {} {} {}", xid.0, request.name(), request.path()))
        }
    }
}

fn message_line(message: &ToClient) -> String {
    match message {
        ToClient::Connected(response) => {
            format!("session {} for {} ms", response.session, response.timeout_ms)
        }
        ToClient::Reply { xid, zxid, result } => format!("reply {} at {zxid}: {result:?}", xid.0),
        ToClient::WatchesSet { zxid } => format!("watches set at {zxid}"),
        ToClient::Pong { zxid } => format!("pong at {zxid}"),
        ToClient::Event { zxid, event } => format!("event {zxid:?}: {:?} {}", event.kind, event.path),
    }
}

fn response_line(response: &Response) -> String {
    match response {
        Response::Created { path, .. } => format!("created {path}"),
        Response::Exists(None) => "none".to_owned(),
        Response::Exists(Some(stat)) => format!("exists, version {}", stat.version()),
        Response::Data { data, stat } => format!("{data:?}, version {}", stat.version()),
        Response::DataSet(stat) => format!("set, version {}", stat.version()),
        Response::Children { names, .. } => {
            let mut names = names.clone();
            names.sort_unstable();
            format!("children [{}]", names.join(" "))
        }
        Response::Multi(MultiOutcome::Applied(results)) => format!("all {} done", results.len()),
        other => format!("{other:?}"),
    }
}

fn disk_line(op: &DiskOp) -> String {
    match op {
        DiskOp::Append { file, bytes } => format!("append {} {} bytes", file_name(*file), bytes.len()),
        DiskOp::Sync { file, .. } => format!("sync {}", file_name(*file)),
        DiskOp::Truncate { file, len } => format!("truncate {} to {len}", file_name(*file)),
        DiskOp::Replace { file, .. } => format!("replace {}", file_name(*file)),
        DiskOp::Remove { file } => format!("remove {}", file_name(*file)),
    }
}

fn txn_line(txn: &Txn) -> String {
    let what = match &txn.body {
        TxnBody::CreateSession { timeout_ms, .. } => format!("open {} for {timeout_ms} ms", txn.session),
        TxnBody::CloseSession { ephemerals, expired } => {
            let why = if *expired { "expire" } else { "close" };
            format!("{why} {} [{}]", txn.session, ephemerals.join(" "))
        }
        TxnBody::Create { path, .. } => format!("create {path}"),
        TxnBody::Delete { path } => format!("delete {path}"),
        TxnBody::SetData { path, data, version } => format!("set {path} {data:?} version {version}"),
        other => format!("{other:?}"),
    };
    format!("{}: {what}", txn.zxid)
}

fn file_name(file: FileId) -> String {
    match file {
        FileId::Log(zxid) => format!("log-{zxid}"),
        FileId::Snapshot(zxid) => format!("snapshot-{zxid}"),
        FileId::AcceptedEpoch => "accepted-epoch".to_owned(),
        FileId::CurrentEpoch => "current-epoch".to_owned(),
    }
}

fn file_id(name: &str) -> FileId {
    match name.split_once('-') {
        Some(("log", text)) => FileId::Log(zxid(text)),
        Some(("snapshot", text)) => FileId::Snapshot(zxid(text)),
        Some(("accepted", _)) => FileId::AcceptedEpoch,
        Some(("current", _)) => FileId::CurrentEpoch,
        _ => panic!("no file {name}"),
    }
}

fn zxid(text: &str) -> Zxid {
    let (epoch, counter) = text.split_once(':').expect("epoch:counter");
    let hex = |text| u32::from_str_radix(text, 16).expect("a hexadecimal number");
    Zxid::new(hex(epoch), hex(counter))
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// `create PATH [DATA] [MODE]`, `set PATH DATA`, `get|exists|children PATH [w]`, `delete PATH`, `sync`, `close`,
/// `auth SCHEME CREDENTIALS`, `who`, `watch PATH [recursive]`, `unwatch PATH`, `both PATH PATH` (a multi).
fn request(words: &[&str]) -> Request {
    let text = |n: usize| -> Text { words.get(n).copied().unwrap_or_default().into() };
    let watch = words.get(2) == Some(&"w");
    let (path, acl, stat) = (text(1), open_acl(), false);
    match words[0] {
        "create" => {
            let mode = match words.get(3).copied() {
                None => CreateMode::Persistent,
                Some("e") => CreateMode::Ephemeral,
                Some("s") => CreateMode::PersistentSequential,
                Some("es") => CreateMode::EphemeralSequential,
                Some("c") => CreateMode::Container,
                Some(other) => panic!("no mode {other}"),
            };
            Request::Create { path, data: (*text(2)).into(), acl, mode, stat }
        }
        "set" => Request::SetData { path, data: (*text(2)).into(), version: -1 },
        "get" => Request::GetData { path, watch },
        "exists" => Request::Exists { path, watch },
        "children" => Request::GetChildren { path, watch, stat },
        "delete" => Request::Delete { path, version: -1 },
        "sync" => Request::Sync { path: "/".into() },
        "close" => Request::CloseSession,
        "auth" => Request::Auth { scheme: path, credentials: (*text(2)).into() },
        "who" => Request::WhoAmI,
        "watch" if words.get(2) == Some(&"recursive") => {
            Request::AddWatch { path, mode: AddWatchMode::PersistentRecursive }
        }
        "watch" => Request::AddWatch { path, mode: AddWatchMode::Persistent },
        "unwatch" => Request::RemoveWatches { path, kind: WatcherKind::Any },
        "both" => {
            let create = |path| {
                let (data, acl, mode) = ("".into(), acl.clone(), CreateMode::Persistent);
                Op::Create { path, data, acl, mode, stat }
            };
            Request::Multi { ops: vec![create(path), create(text(2))] }
        }
        other => panic!("no request {other}"),
    }
}

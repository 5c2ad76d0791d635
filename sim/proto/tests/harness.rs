//! A tree and a table of watches, driven by the lines of a script: what a server does with requests, without
//! connections, log and time of its own.
//!
//! | line | does |
//! |---|---|
//! | `create PATH [DATA] [MODE] [acl=LIST] [stat]` | MODE: `ephemeral seq eseq container ttl=MS seqttl=MS` |
//! | `delete PATH [v=N]`, `set PATH DATA [v=N]`, `setacl PATH LIST [v=N]` | writes |
//! | `multi OP ; OP …`, `multiread OP ; OP …` | of the above and `check PATH [v=N]`; of `get` and `ls` |
//! | `get PATH [watch]`, `exists PATH [watch]`, `ls PATH [watch] [stat]`, `getacl PATH` | reads |
//! | `ephemerals [PREFIX]`, `count PATH` | reads |
//! | `addwatch PATH [recursive]`, `removewatches PATH KIND`, `checkwatches PATH KIND` | KIND: `data child any` |
//! | `disconnect`, `setwatches since=E:C [data=P,…] [exist=…] [child=…] [persistent=…] [recursive=…]` | a move |
//! | `close`, `expire` | end the session |
//! | `auth SCHEME ID`, `time MS`, `sweep`, `epoch N`, `extended on/off`, `counter PATH N` | the surroundings |
//! | `stat PATH`, `tree`, `watches` | look inside |
//!
//! A word `s2` in front speaks for session 2; without it, it is session 1. A list of permissions is
//! `cdrwa:world:anyone,r:digest:u:hash`. Names are printed sorted, events as they come.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::fmt::Write;
use zk_api::*;
use zk_proto::message::{WatchList, Xid};
use zk_proto::order::NameOrder;
use zk_proto::prepare::{Caller, TreeConfig, answer, close_session, prepare, read};
use zk_proto::tree::{Applied, DataTree};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::watch::{WatchTable, one_shot};

/// A server's inside.
#[derive(Clone)]
pub struct Harness {
    pub tree: DataTree,
    pub watches: WatchTable<SessionId>,
    pub config: TreeConfig,
    pub identities: BTreeMap<SessionId, Vec<Identity>>,
    /// The last zxid given to a request.
    pub zxid: Zxid,
    pub now_ms: i64,
    /// Every transaction so far.
    pub log: Vec<Txn>,
}

impl Harness {
    pub fn new() -> Harness {
        Harness {
            tree: DataTree::new(),
            watches: WatchTable::new(),
            config: TreeConfig { extended_types: true, order: NameOrder::Salted(7) },
            identities: BTreeMap::new(),
            zxid: Zxid::ZERO,
            now_ms: 0,
            log: Vec::new(),
        }
    }

    /// Does what a line says, as session 1; gives everything that comes of it.
    pub fn say(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().map(|w| if w == "\"\"" { "" } else { w }).collect();
        let (command, args) = words.split_first().expect("a command");
        self.run(command, args).trim_end().to_owned()
    }

    /// Does several lines, of which only the last one is of interest.
    pub fn script(&mut self, lines: &[&str]) -> String {
        lines.iter().map(|line| self.say(line)).last().expect("a line")
    }

    /// Does what a command says, with its arguments.
    pub fn run(&mut self, command: &str, args: &[&str]) -> String {
        let session = command.strip_prefix('s').and_then(|n| n.parse().ok()).map(SessionId::new);
        match session {
            Some(session) => self.run_as(session, args[0], &args[1..]),
            None => self.run_as(SessionId::new(1), command, args),
        }
    }

    fn run_as(&mut self, session: SessionId, command: &str, args: &[&str]) -> String {
        if let Some(request) = request_of(command, args) {
            return if request.is_write() {
                self.write(session, &request)
            } else {
                self.look(session, &request)
            };
        }
        let path = args.first().copied().unwrap_or_default();
        match command {
            "expire" => {
                let body = close_session(&self.tree, &self.config, session, true);
                let applied = self.commit(session, body);
                format!("{}{} expired\n", self.tell(&applied), self.zxid)
            }
            "addwatch" => {
                let recursive = args.contains(&"recursive");
                let mode =
                    if recursive { AddWatchMode::PersistentRecursive } else { AddWatchMode::Persistent };
                self.watches.add_persistent(path, session, mode);
                String::new()
            }
            "removewatches" | "checkwatches" => {
                let kind = match args[1] {
                    "data" => WatcherKind::Data,
                    "child" => WatcherKind::Children,
                    _ => WatcherKind::Any,
                };
                let there = match command {
                    "removewatches" => self.watches.remove(path, session, kind),
                    _ => self.watches.contains(path, session, kind),
                };
                if there { "ok\n".into() } else { "NoWatcher\n".into() }
            }
            "disconnect" => {
                self.watches.forget(session);
                String::new()
            }
            "setwatches" => self.set_watches(session, args),
            _ => self.surroundings(session, command, args),
        }
    }

    fn surroundings(&mut self, session: SessionId, command: &str, args: &[&str]) -> String {
        let path = args.first().copied().unwrap_or_default();
        match command {
            "auth" => self.identities.entry(session).or_default().push(Identity::new(path, args[1])),
            "time" => self.now_ms = path.parse().expect("milliseconds"),
            "epoch" => self.zxid = Zxid::new(path.parse().expect("an epoch"), 0),
            "extended" => self.config.extended_types = path == "on",
            "counter" => {
                let mut node = self.tree.node(path).expect("a znode").clone();
                node.created = args[1].parse().expect("a number");
                self.tree.restore(path.into(), node);
            }
            "sweep" => {
                let mut out = String::new();
                for path in self.tree.expired_nodes(self.now_ms) {
                    let applied = self.commit(SessionId::NONE, TxnBody::Delete { path: path.clone() });
                    writeln!(out, "{}{} removed {path}", self.tell(&applied), self.zxid).unwrap();
                }
                return out;
            }
            "stat" => return self.tree.stat(path).map_or("NoNode\n".into(), |stat| show_stat(&stat) + "\n"),
            "tree" => {
                return self.tree.nodes().map(|(p, n)| format!("{p} {:?} {:?}\n", n.kind, n.data)).collect();
            }
            "watches" => {
                return self
                    .watches
                    .iter()
                    .map(|(kind, p, w)| format!("s{} {kind:?} {p}\n", w.get()))
                    .collect();
            }
            _ => panic!("no such command: {command}"),
        }
        String::new()
    }

    /// Prepares and applies a request; gives the log.
    fn write(&mut self, session: SessionId, request: &Request) -> String {
        let identities = self.identities.get(&session).cloned().unwrap_or_default();
        let caller = Caller { session, identities: &identities };
        let body = prepare(&self.tree, &self.config, caller, request);
        let applied = self.commit(session, body);
        let told = self.tell(&applied);
        format!("{told}{} {}\n", self.zxid, show(&answer(request, applied.result)))
    }

    /// Applies a transaction.
    pub fn commit(&mut self, session: SessionId, body: TxnBody) -> Applied {
        self.zxid = self.zxid.next();
        let txn = Txn { zxid: self.zxid, session, xid: Xid(0), time_ms: self.now_ms, body };
        let applied = self.tree.apply(&txn);
        self.log.push(txn);
        applied
    }

    fn tell(&mut self, applied: &Applied) -> String {
        let events = self.watches.fire(&applied.changes);
        events.iter().map(|(w, event)| show_event(*w, event)).collect()
    }

    fn look(&mut self, session: SessionId, request: &Request) -> String {
        let identities = self.identities.get(&session).cloned().unwrap_or_default();
        let caller = Caller { session, identities: &identities };
        let result = read(&self.tree, &self.config, caller, request);
        if let Some((path, kind)) = one_shot(request, &result) {
            self.watches.add(path, session, kind);
        }
        show(&result) + "\n"
    }

    fn set_watches(&mut self, session: SessionId, args: &[&str]) -> String {
        let paths = |name: &str| -> Vec<Text> {
            option(args, name).into_iter().flat_map(|list| list.split(',')).map(Text::from).collect()
        };
        let list = WatchList {
            data: paths("data"),
            exist: paths("exist"),
            child: paths("child"),
            persistent: paths("persistent"),
            recursive: paths("recursive"),
        };
        let (epoch, counter) = option(args, "since").expect("since=").split_once(':').expect("epoch:counter");
        let since = Zxid::new(epoch.parse().unwrap(), counter.parse().unwrap());
        let missed = self.watches.set_watches(&self.tree, session, since, &list);
        missed.iter().map(|event| show_event(session, event)).collect()
    }
}

fn option<'a>(args: &[&'a str], name: &str) -> Option<&'a str> {
    args.iter().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='))
}

fn request_of(command: &str, args: &[&str]) -> Option<Request> {
    let path: Text = args.first().copied().unwrap_or_default().into();
    let watch = args.contains(&"watch");
    let stat = args.contains(&"stat");
    Some(match command {
        "create" | "delete" | "set" => match op_of(command, args) {
            Op::Create { path, data, acl, mode, stat } => Request::Create { path, data, acl, mode, stat },
            Op::Delete { path, version } => Request::Delete { path, version },
            Op::SetData { path, data, version } => Request::SetData { path, data, version },
            Op::Check { .. } => unreachable!("only in a multi"),
        },
        "setacl" => Request::SetAcl { path, acl: acl_of(args[1]), version: version_of(args) },
        "multi" => {
            let ops = args.split(|arg| *arg == ";").filter(|op| !op.is_empty());
            Request::Multi { ops: ops.map(|op| op_of(op[0], &op[1..])).collect() }
        }
        "multiread" => {
            let ops = args.split(|arg| *arg == ";").map(|op| match op[0] {
                "get" => ReadOp::GetData { path: op[1].into() },
                _ => ReadOp::GetChildren { path: op[1].into() },
            });
            Request::MultiRead { ops: ops.collect() }
        }
        "get" => Request::GetData { path, watch },
        "exists" => Request::Exists { path, watch },
        "ls" => Request::GetChildren { path, watch, stat },
        "getacl" => Request::GetAcl { path },
        "ephemerals" => Request::GetEphemerals { prefix: path },
        "count" => Request::GetAllChildrenNumber { path },
        "close" => Request::CloseSession,
        _ => return None,
    })
}

fn op_of(command: &str, args: &[&str]) -> Op {
    let path: Text = args[0].into();
    match command {
        "create" => {
            let mut op = (Data::NULL, CreateMode::Persistent, open_acl(), false);
            for arg in &args[1..] {
                match arg.split_once('=').unwrap_or((arg, "")) {
                    ("ephemeral", _) => op.1 = CreateMode::Ephemeral,
                    ("seq", _) => op.1 = CreateMode::PersistentSequential,
                    ("eseq", _) => op.1 = CreateMode::EphemeralSequential,
                    ("container", _) => op.1 = CreateMode::Container,
                    ("ttl", ms) => op.1 = CreateMode::PersistentTtl(ms.parse().expect("ttl")),
                    ("seqttl", ms) => op.1 = CreateMode::PersistentSequentialTtl(ms.parse().expect("ttl")),
                    ("acl", list) => op.2 = acl_of(list),
                    ("stat", _) => op.3 = true,
                    (data, _) => op.0 = Data::from(data),
                }
            }
            Op::Create { path, data: op.0, mode: op.1, acl: op.2, stat: op.3 }
        }
        "delete" => Op::Delete { path, version: version_of(args) },
        "set" => {
            let data = if args[1] == "null" { Data::NULL } else { Data::from(args[1]) };
            Op::SetData { path, data, version: version_of(args) }
        }
        "check" => Op::Check { path, version: version_of(args) },
        _ => panic!("no such operation: {command}"),
    }
}

fn version_of(args: &[&str]) -> i32 {
    option(args, "v").map_or(-1, |v| v.parse().expect("a version"))
}

/// A list of permissions as the scripts write it; none for the empty text.
pub fn acl_of(list: &str) -> AclList {
    let entries = list.split(',').filter(|entry| !entry.is_empty()).map(|entry| {
        let mut parts = entry.splitn(3, ':');
        let bits = parts.next().unwrap().chars().map(|c| 1 << "rwcda".find(c).expect("a permission"));
        let (scheme, id) = (parts.next().expect("a scheme"), parts.next().unwrap_or_default());
        Acl { perms: Perms(bits.fold(0, |all, bit: u8| all | bit)), who: Identity::new(scheme, id) }
    });
    entries.collect()
}

fn show_event(session: SessionId, event: &WatchedEvent) -> String {
    format!("s{} <- {:?} {}\n", session.get(), event.kind, event.path)
}

/// A Stat in one line, but for its times.
pub fn show_stat(s: &Stat) -> String {
    format!(
        "cz={} mz={} pz={} v={} cv={} av={} owner={} len={} children={}",
        s.czxid(),
        s.mzxid(),
        s.pzxid(),
        s.version(),
        s.cversion(),
        s.aversion(),
        s.ephemeral_owner(),
        s.data_length(),
        s.num_children()
    )
}

fn show_created(path: &str, stat: Option<&Stat>) -> String {
    format!("created {path}{}", stat.map_or(String::new(), |s| format!(" ({})", show_stat(s))))
}

fn sorted(names: &[Text]) -> String {
    let mut names = names.to_vec();
    names.sort();
    names.iter().map(|name| format!(" {name}")).collect()
}

/// An answer in one line.
pub fn show(result: &Result<Response, ErrorCode>) -> String {
    let response = match result {
        Ok(response) => response,
        Err(code) => return format!("{code:?}"),
    };
    match response {
        Response::Created { path, stat } => show_created(path, stat.as_ref()),
        Response::Deleted => "deleted".into(),
        Response::Exists(stat) => stat.as_ref().map_or("none".into(), show_stat),
        Response::Data { data, stat } => format!("{data:?} v={}", stat.version()),
        Response::DataSet(stat) => format!("set v={}", stat.version()),
        Response::AclSet(stat) => format!("set av={}", stat.aversion()),
        Response::Children { names, stat } => {
            format!(
                "[{}]{}",
                sorted(names).trim(),
                stat.map_or(String::new(), |s| format!(" ({})", show_stat(&s)))
            )
        }
        Response::Acl { acl, stat } => {
            let list: Vec<_> = acl.iter().map(|a| format!("{:?}:{:?}", a.perms, a.who)).collect();
            format!("{} av={}", list.join(","), stat.aversion())
        }
        Response::Multi(MultiOutcome::Applied(results)) => {
            let results: Vec<_> = results.iter().map(show_op).collect();
            format!("done: {}", results.join("; "))
        }
        Response::Multi(MultiOutcome::Failed(codes)) => {
            let codes: Vec<_> = codes.iter().map(|c| c.map_or("ok".into(), |c| format!("{c:?}"))).collect();
            format!("failed: {}", codes.join("; "))
        }
        Response::MultiRead(outcomes) => outcomes.iter().map(show).collect::<Vec<_>>().join("; "),
        Response::Ephemerals(paths) => format!("[{}]", sorted(paths).trim()),
        Response::AllChildrenNumber(n) => n.to_string(),
        Response::Closed => "closed".into(),
        other => format!("{other:?}"),
    }
}

fn show_op(result: &OpResult) -> String {
    match result {
        OpResult::Created { path, stat } => show_created(path, stat.as_ref()),
        OpResult::Deleted => "deleted".into(),
        OpResult::DataSet(stat) => format!("set v={}", stat.version()),
        OpResult::Checked => "checked".into(),
    }
}

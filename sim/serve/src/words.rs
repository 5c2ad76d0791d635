//! Four-letter words: answers to an administrator's questions, in the form in which a ZooKeeper 3.9 gives them,
//! as clients and tools read them.
//!
//! Source: ZooKeeper 3.9, the documentation of its four-letter words, and answers of a real 3.9.3.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::SocketAddr;
use zk_api::SessionId;
use zk_wire::FourLetterWord;

/// What is said of the version. Tools look at the three numbers alone.
const VERSION: &str = "3.9.3-zoocheck, built on 2026-01-01 00:00 UTC";

/// A server at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    /// The server's number.
    pub(crate) id: u8,
    pub(crate) mode: Mode,
    /// Milliseconds since the Unix epoch.
    pub(crate) now_ms: i64,
    pub(crate) uptime_ms: u64,
    pub(crate) tick_ms: u32,
    pub(crate) port: u16,
    pub(crate) zxid: i64,
    pub(crate) nodes: usize,
    /// The bytes of all paths and data.
    pub(crate) data_bytes: usize,
    /// The bytes of snapshots, and of logs.
    pub(crate) snapshot_bytes: usize,
    pub(crate) log_bytes: usize,
    pub(crate) outstanding: usize,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) latency: Millis,
    pub(crate) counts: Counts,
    pub(crate) conns: Vec<ConnStatus>,
    /// How many sessions are open.
    pub(crate) open: usize,
    /// When each open session expires, if nothing is heard of it; only a leader knows.
    pub(crate) sessions: BTreeMap<SessionId, i64>,
    pub(crate) ephemerals: BTreeMap<SessionId, Vec<String>>,
    /// Watches for a znode's own changes: by session, their paths.
    pub(crate) watches: BTreeMap<SessionId, BTreeSet<String>>,
    /// Watches of all kinds.
    pub(crate) watch_count: usize,
}

/// What a server is among the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// There are no others.
    #[default]
    Standalone,
    /// It leads an ensemble of so many servers, of which so many follow it.
    Leader { servers: usize, learners: usize },
    /// It follows.
    Follower { servers: usize },
    /// It has no leader.
    NotServing,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Mode::Standalone => "standalone",
            Mode::Leader { .. } => "leader",
            Mode::Follower { .. } => "follower",
            Mode::NotServing => "looking",
        }
    }
}

/// What a server without a leader answers where it has nothing to tell.
const NOT_SERVING: &str = "This ZooKeeper instance is not currently serving requests\n";

/// What has been since the statistics were reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// The bytes of answers to requests, once there was one.
    pub(crate) answer_bytes: Option<AnswerBytes>,
    /// Sessions asked for, and asked to be gone on with.
    pub(crate) connects: u64,
    /// Connections that their clients ended, or lost.
    pub(crate) lost: u64,
    /// Sessions that have expired.
    pub(crate) expired: u64,
}

/// The bytes of answers, without the length before each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerBytes {
    pub(crate) last: usize,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Counts {
    /// One more answer has been sent.
    pub(crate) fn answered(&mut self, bytes: usize) {
        let before = self.answer_bytes.unwrap_or(AnswerBytes { last: bytes, least: bytes, most: bytes });
        let (least, most) = (before.least.min(bytes), before.most.max(bytes));
        self.answer_bytes = Some(AnswerBytes { last: bytes, least, most });
    }
}

/// Latencies in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Millis {
    pub(crate) least: u64,
    pub(crate) average: f64,
    pub(crate) most: u64,
    pub(crate) last: u64,
}

/// A connection at one moment.
#[derive(Clone, Debug)]
pub(crate) struct ConnStatus {
    pub(crate) peer: SocketAddr,
    pub(crate) queued: usize,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    /// `None` before the session is granted.
    pub(crate) session: Option<ConnSession>,
}

/// What is told of a connection that has a session.
#[derive(Clone, Debug)]
pub(crate) struct ConnSession {
    pub(crate) id: SessionId,
    pub(crate) last_op: &'static str,
    pub(crate) established_ms: i64,
    pub(crate) timeout_ms: u32,
    pub(crate) last_xid: i32,
    pub(crate) last_zxid: i64,
    /// When the last answer was sent, since the start.
    pub(crate) last_answer_ms: u64,
    pub(crate) latency: Millis,
}

/// The answer to a word that changes nothing.
pub(crate) fn answer(word: FourLetterWord, status: &Status) -> String {
    if status.mode == Mode::NotServing {
        match word {
            FourLetterWord::Isro => return "null".into(),
            FourLetterWord::Ruok | FourLetterWord::Envi | FourLetterWord::Gtmk | FourLetterWord::Stmk => {}
            _ => return NOT_SERVING.into(),
        }
    }
    match word {
        FourLetterWord::Ruok => "imok".into(),
        FourLetterWord::Isro => "rw".into(),
        FourLetterWord::Srvr => format!("Zookeeper version: {VERSION}\n{}", server(status)),
        FourLetterWord::Stat => {
            let clients: String = status.conns.iter().map(|conn| client(conn, false)).collect();
            format!("Zookeeper version: {VERSION}\nClients:\n{clients}\n{}", server(status))
        }
        FourLetterWord::Cons => status.conns.iter().map(|conn| client(conn, true)).collect::<String>() + "\n",
        FourLetterWord::Mntr => measurements(status),
        FourLetterWord::Conf => configuration(status),
        FourLetterWord::Dump => dump(status),
        FourLetterWord::Envi => environment(),
        FourLetterWord::Wchs => {
            let paths: BTreeSet<&String> = status.watches.values().flatten().collect();
            let total: usize = status.watches.values().map(BTreeSet::len).sum();
            let watching = (status.watches.len(), paths.len());
            format!("{} connections watching {} paths\nTotal watches:{total}\n", watching.0, watching.1)
        }
        FourLetterWord::Wchc => {
            let all = status.watches.iter();
            all.map(|(session, paths)| block(&session.to_string(), paths)).collect::<String>() + "\n"
        }
        FourLetterWord::Wchp => {
            let mut by_path: BTreeMap<&String, Vec<String>> = BTreeMap::new();
            for (session, paths) in &status.watches {
                for path in paths {
                    by_path.entry(path).or_default().push(session.to_string());
                }
            }
            by_path.into_iter().map(|(path, sessions)| block(path, &sessions)).collect::<String>() + "\n"
        }
        FourLetterWord::Dirs => {
            format!("datadir_size: {}\nlogdir_size: {}\n", status.snapshot_bytes, status.log_bytes)
        }
        FourLetterWord::Crst => "Connection stats reset.\n".into(),
        FourLetterWord::Srst => "Server stats reset.\n".into(),
        // The mask that a ZooKeeper begins with. It cannot be set: as there, a `stmk` without a mask has no answer.
        FourLetterWord::Gtmk => "306".into(),
        FourLetterWord::Stmk => String::new(),
        // No digests of the tree's history are kept.
        FourLetterWord::Hash => "\n".into(),
    }
}

/// What `srvr` and `stat` have in common.
fn server(status: &Status) -> String {
    let Millis { least, average, most, last: _ } = status.latency;
    format!(
        "Latency min/avg/max: {least}/{average:?}/{most}\nReceived: {}\nSent: {}\nConnections: {}\nOutstanding: {}\n\
         Zxid: {:#x}\nMode: {}\nNode count: {}\n",
        status.received,
        status.sent,
        status.conns.len(),
        status.outstanding,
        status.zxid,
        status.mode.name(),
        nodes_counted(status),
    )
}

/// ZooKeeper counts the root twice, as it has two names there: its path, and nothing. Measured on 3.9.3.
fn nodes_counted(status: &Status) -> usize {
    status.nodes + 1
}

/// One line of `stat`, or of `cons` where all is told.
fn client(conn: &ConnStatus, all: bool) -> String {
    let ConnStatus { peer, queued, received, sent, session } = conn;
    let interest = u8::from(session.is_some());
    let mut line = format!(" /{peer}[{interest}](queued={queued},recved={received},sent={sent}");
    if let (Some(session), true) = (session, all) {
        let ConnSession { id, last_op, established_ms, timeout_ms, last_xid, .. } = session;
        let Millis { least, average, most, last } = session.latency;
        let last_op = last_op.chars().take(4).collect::<String>().to_uppercase();
        // Writing to a text does not fail.
        let _ = write!(
            line,
            ",sid={id},lop={last_op},est={established_ms},to={timeout_ms},lcxid={last_xid:#x},lzxid={:#x},\
             lresp={},llat={last},minlat={least},avglat={},maxlat={most}",
            session.last_zxid, session.last_answer_ms, average as u64,
        );
    }
    line + ")\n"
}

/// Of ZooKeeper's measurements those that there are here as well. What is not known is not told.
fn measurements(status: &Status) -> String {
    let Millis { least, average, most, last: _ } = status.latency;
    let Counts { answer_bytes, connects, lost, expired } = status.counts;
    // As ZooKeeper tells them before the first answer.
    let size = |of: fn(AnswerBytes) -> usize| answer_bytes.map_or("-1".into(), |bytes| of(bytes).to_string());
    let ephemerals: usize = status.ephemerals.values().map(Vec::len).sum();
    let mut lines: Vec<(&str, String)> = vec![
        ("version", VERSION.into()),
        ("server_state", status.mode.name().into()),
        ("ephemerals_count", ephemerals.to_string()),
        ("num_alive_connections", status.conns.len().to_string()),
        // A number with a fraction, also where that is none.
        ("avg_latency", format!("{average:?}")),
        ("outstanding_requests", status.outstanding.to_string()),
        ("znode_count", nodes_counted(status).to_string()),
        ("global_sessions", status.open.to_string()),
        ("last_client_response_size", size(|bytes| bytes.last)),
        ("max_client_response_size", size(|bytes| bytes.most)),
        ("min_client_response_size", size(|bytes| bytes.least)),
        ("packets_sent", status.sent.to_string()),
        ("packets_received", status.received.to_string()),
        ("connection_drop_probability", "0.0".into()),
        ("watch_count", status.watch_count.to_string()),
        ("min_latency", least.to_string()),
        ("max_latency", most.to_string()),
        ("approximate_data_size", status.data_bytes.to_string()),
        ("local_sessions", "0".into()),
        ("uptime", status.uptime_ms.to_string()),
        ("connection_request_count", connects.to_string()),
        ("connection_drop_count", lost.to_string()),
        ("stale_sessions_expired", expired.to_string()),
    ];
    lines.extend(of_ensemble(status.mode));
    lines.extend(open_files().map(|open| ("open_file_descriptor_count", open.to_string())));
    lines.extend(most_files().map(|most| ("max_file_descriptor_count", most)));
    lines.into_iter().map(|(name, value)| format!("zk_{name}\t{value}\n")).collect()
}

/// What a server of an ensemble tells of it.
fn of_ensemble(mode: Mode) -> Vec<(&'static str, String)> {
    let (servers, state) = match mode {
        Mode::Leader { servers, .. } => (servers, "leading - broadcast"),
        Mode::Follower { servers } => (servers, "following - broadcast"),
        Mode::Standalone | Mode::NotServing => return Vec::new(),
    };
    let mut lines = vec![("quorum_size", servers.to_string()), ("peer_state", state.into())];
    if let Mode::Leader { learners, .. } = mode {
        lines.extend([
            ("learners", learners.to_string()),
            ("synced_followers", learners.to_string()),
            ("synced_observers", "0".into()),
        ]);
    }
    lines
}

/// How many files this process has open, where the system tells.
fn open_files() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

/// How many it may have.
fn most_files() -> Option<String> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let soft =
        limits.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_whitespace().next()?;
    Some(soft.to_owned()).filter(|soft| soft.bytes().all(|digit| digit.is_ascii_digit()))
}

fn configuration(status: &Status) -> String {
    let Status { id, port, snapshot_bytes, log_bytes, tick_ms, .. } = status;
    let (least, most) = (tick_ms * 2, tick_ms * 20);
    format!(
        "clientPort={port}\nsecureClientPort=-1\ndataDir=(memory)\ndataDirSize={snapshot_bytes}\ndataLogDir=(memory)\n\
         dataLogSize={log_bytes}\ntickTime={tick_ms}\nmaxClientCnxns=0\nminSessionTimeout={least}\n\
         maxSessionTimeout={most}\nclientPortListenBacklog=1024\nserverId={id}\n"
    )
}

fn environment() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("Environment:\nzookeeper.version={VERSION}\nhost.name=localhost\nos.name={os}\nos.arch={arch}\n")
}

/// Sessions and connections, by the time at which they expire.
fn dump(status: &Status) -> String {
    let mut by_due: BTreeMap<i64, Vec<SessionId>> = BTreeMap::new();
    for (session, due_ms) in &status.sessions {
        by_due.entry(*due_ms).or_default().push(*session);
    }
    let mut text =
        format!("SessionTracker dump:\nSession Sets ({})/({}):\n", by_due.len(), status.sessions.len());
    for (due_ms, sessions) in &by_due {
        let names: Vec<String> = sessions.iter().map(SessionId::to_string).collect();
        text += &block(&format!("{} expire at {}:", sessions.len(), date(*due_ms)), &names);
    }
    text += &format!("ephemeral nodes dump:\nSessions with Ephemerals ({}):\n", status.ephemerals.len());
    for (session, paths) in &status.ephemerals {
        text += &block(&format!("{session}:"), paths);
    }
    let mut conns: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for conn in &status.conns {
        let id = conn.session.as_ref().map(|session| session.id).unwrap_or_default();
        let due_ms = status.sessions.get(&id).copied().unwrap_or(status.now_ms);
        conns.entry(due_ms).or_default().push(format!("ip: /{} sessionId: {id}", conn.peer));
    }
    text += &format!("Connections dump:\nConnections Sets ({})/({}):\n", conns.len(), status.conns.len());
    for (due_ms, conns) in &conns {
        text += &block(&format!("{} expire at {}:", conns.len(), date(*due_ms)), conns);
    }
    text + "\n"
}

/// A line, and under it others that are set off by tabs.
fn block<'a>(head: &str, lines: impl IntoIterator<Item = &'a String>) -> String {
    let mut text = format!("{head}\n");
    lines.into_iter().for_each(|line| text += &format!("\t{line}\n"));
    text
}

/// A time as Java writes it: `Sat Nov 21 16:53:34 UTC 2026`.
fn date(ms: i64) -> String {
    let date = chrono::DateTime::from_timestamp_millis(ms).unwrap_or_default();
    date.format("%a %b %d %H:%M:%S UTC %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let latency = Millis { least: 0, average: 1.5, most: 2, last: 2 };
        let session = ConnSession {
            id: SessionId::new(0x10),
            last_op: "exists",
            established_ms: 1_795_280_010_717,
            timeout_ms: 4000,
            last_xid: 2,
            last_zxid: 0x24,
            last_answer_ms: 13_978_967,
            latency,
        };
        let peer = |port| SocketAddr::from(([127, 0, 0, 1], port));
        Status {
            now_ms: 1_795_280_010_717,
            tick_ms: 500,
            port: 2181,
            zxid: 0x25,
            nodes: 7,
            open: 1,
            received: 138,
            sent: 136,
            latency,
            conns: vec![
                ConnStatus { peer: peer(41498), queued: 0, received: 3, sent: 3, session: Some(session) },
                ConnStatus { peer: peer(41524), queued: 0, received: 1, sent: 0, session: None },
            ],
            sessions: [(SessionId::new(0x10), 1_795_280_014_000)].into(),
            ephemerals: [(SessionId::new(0x10), vec!["/eph".to_owned()])].into(),
            watches: [
                (SessionId::new(0x10), ["/".to_owned(), "/nope".to_owned()].into()),
                (SessionId::new(0x11), ["/".to_owned()].into()),
            ]
            .into(),
            ..Status::default()
        }
    }

    /// The lines that a real 3.9.3 was seen to answer in such a state, but for its build.
    #[test]
    fn answers_have_the_form_of_a_real_servers() {
        let say = |word| answer(word, &status());
        assert_eq!(say(FourLetterWord::Ruok), "imok");
        assert_eq!(say(FourLetterWord::Isro), "rw");
        let server = "Latency min/avg/max: 0/1.5/2\nReceived: 138\nSent: 136\nConnections: 2\nOutstanding: 0\n\
                      Zxid: 0x25\nMode: standalone\nNode count: 8\n";
        assert_eq!(say(FourLetterWord::Srvr), format!("Zookeeper version: {VERSION}\n{server}"));
        let clients = " /127.0.0.1:41498[1](queued=0,recved=3,sent=3)\n /127.0.0.1:41524[0](queued=0,recved=1,sent=0)\n";
        let stat = format!("Zookeeper version: {VERSION}\nClients:\n{clients}\n{server}");
        assert_eq!(say(FourLetterWord::Stat), stat);
        let cons = " /127.0.0.1:41498[1](queued=0,recved=3,sent=3,sid=0x10,lop=EXIS,est=1795280010717,to=4000,\
                    lcxid=0x2,lzxid=0x24,lresp=13978967,llat=2,minlat=0,avglat=1,maxlat=2)\n \
                    /127.0.0.1:41524[0](queued=0,recved=1,sent=0)\n\n";
        assert_eq!(say(FourLetterWord::Cons), cons);
        assert_eq!(say(FourLetterWord::Wchs), "2 connections watching 2 paths\nTotal watches:3\n");
        assert_eq!(say(FourLetterWord::Wchc), "0x10\n\t/\n\t/nope\n0x11\n\t/\n\n");
        assert_eq!(say(FourLetterWord::Wchp), "/\n\t0x10\n\t0x11\n/nope\n\t0x10\n\n");
        assert_eq!((&*say(FourLetterWord::Gtmk), &*say(FourLetterWord::Stmk)), ("306", ""));
        assert!(
            say(FourLetterWord::Conf).contains("tickTime=500\nmaxClientCnxns=0\nminSessionTimeout=1000\n")
        );
    }

    #[test]
    fn measurements_are_named_as_zookeeper_names_them_and_none_is_made_up() {
        let mut status = status();
        let lines = |status: &Status| -> BTreeMap<String, String> {
            let text = answer(FourLetterWord::Mntr, status);
            let lines = text.lines().map(|line| line.split_once('\t').expect("a name, a tab and a value"));
            lines.map(|(name, value)| (name.into(), value.into())).collect()
        };
        let value = |status: &Status, name: &str| lines(status).remove(&format!("zk_{name}"));
        for (name, expected) in [
            ("server_state", "standalone"),
            ("avg_latency", "1.5"),
            ("packets_received", "138"),
            ("znode_count", "8"),
            ("ephemerals_count", "1"),
            ("min_client_response_size", "-1"),
            ("connection_drop_probability", "0.0"),
        ] {
            assert_eq!(value(&status, name).as_deref(), Some(expected), "{name}");
        }
        status.latency.average = 0.0;
        [20, 300, 16, 25].into_iter().for_each(|bytes| status.counts.answered(bytes));
        for (name, expected) in [
            ("avg_latency", "0.0"),
            ("last_client_response_size", "25"),
            ("min_client_response_size", "16"),
            ("max_client_response_size", "300"),
        ] {
            assert_eq!(value(&status, name).as_deref(), Some(expected), "{name}");
        }
        // The system's own numbers, where it tells them: a file that is opened is one more.
        if let Some(before) = open_files() {
            let files: Vec<_> = (0..200).map(|_| std::fs::File::open("/proc/self/limits")).collect();
            let open: usize =
                value(&status, "open_file_descriptor_count").expect("it is told").parse().unwrap();
            assert!(open > before + 100, "{before} to {open} by {}", files.len());
            assert!(open < value(&status, "max_file_descriptor_count").expect("it is told").parse().unwrap());
        }
    }

    #[test]
    fn a_dump_tells_sessions_ephemerals_and_connections() {
        let expected = "SessionTracker dump:\nSession Sets (1)/(1):\n1 expire at Sat Nov 21 16:53:34 UTC 2026:\n\
                        \t0x10\nephemeral nodes dump:\nSessions with Ephemerals (1):\n0x10:\n\t/eph\n\
                        Connections dump:\nConnections Sets (2)/(2):\n1 expire at Sat Nov 21 16:53:30 UTC 2026:\n\
                        \tip: /127.0.0.1:41524 sessionId: 0x0\n1 expire at Sat Nov 21 16:53:34 UTC 2026:\n\
                        \tip: /127.0.0.1:41498 sessionId: 0x10\n\n";
        assert_eq!(answer(FourLetterWord::Dump, &status()), expected);
    }

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(date(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(date(951_782_400_000), "Tue Feb 29 00:00:00 UTC 2000");
        assert_eq!(date(1_709_251_199_000), "Thu Feb 29 23:59:59 UTC 2024");
        assert_eq!(date(1_735_689_599_999), "Tue Dec 31 23:59:59 UTC 2024");
    }
}

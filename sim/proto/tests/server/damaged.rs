//! The damages that were done to the files of a real ZooKeeper 3.9.3, and what it makes of them: the rows of
//! `sim/conform/DAMAGED.md`, of a standalone server. Where ours differs, the row says so, and why.

use crate::server::disk::recovered;
use crate::server::facts::create;
use crate::server::rig::{Rig, config};
use std::ops::Range;
use zk_api::{CreateMode, Zxid};
use zk_proto::disk::{DiskOp, FileId, Files};
use zk_proto::log::{self, Flaw, HEADER};
use zk_proto::recovery::{RecoveryError, encode_epoch, recover};
use zk_proto::snapshot;

/// What was written, in order: the first three before a restart and a snapshot, the others after it.
const WRITTEN: [&str; 6] = ["/a1", "/a2", "/a3", "/a3/b1", "/b2", "/b3"];
const OLDER: FileId = FileId::Log(Zxid::new(1, 1));
const NEWEST: FileId = FileId::Log(Zxid::new(2, 1));
const EMPTY: FileId = FileId::Snapshot(Zxid::ZERO);
const BETWEEN: FileId = FileId::Snapshot(Zxid::new(1, 4));
const CURRENT: FileId = FileId::CurrentEpoch;
const ACCEPTED: FileId = FileId::AcceptedEpoch;

/// Two logs and two snapshots: one of nothing, and one from between.
fn written() -> Files {
    let mut rig = Rig::serving(config());
    let client = rig.connected(10_000);
    for (nth, path) in WRITTEN.into_iter().enumerate() {
        if nth == 3 {
            rig.crash(0);
            rig.start().expect("nothing is damaged");
            rig.settle();
            rig.advance(1000);
        }
        rig.call(client, create(path, CreateMode::Persistent)).expect("it is written");
    }
    let mut files = rig.disk.files();
    let (tree, sessions) =
        recovered(&Files::from_iter(files.clone().into_iter().filter(|(it, _)| *it != NEWEST)))
            .expect("nothing is damaged");
    files.insert(BETWEEN, snapshot::encode(&tree, &sessions));
    assert_eq!(files.keys().copied().collect::<Vec<_>>()[..4], [OLDER, NEWEST, EMPTY, BETWEEN]);
    files
}

/// What is damaged.
struct Damaged(Files);

impl Damaged {
    fn bytes(&mut self, file: FileId) -> &mut Vec<u8> {
        self.0.get_mut(&file).expect("it is there")
    }

    /// Where a record is in its log.
    fn record(&self, log: FileId, nth: usize) -> Range<usize> {
        let ends = log::scan(&self.0[&log]).expect("it is not damaged yet").ends;
        let begin = nth.checked_sub(1).map_or(0, |before| ends[before].1 as usize);
        begin..ends[nth].1 as usize
    }

    /// The last record of the newest log.
    fn last(&self) -> Range<usize> {
        self.record(NEWEST, 2)
    }

    fn cut(&mut self, file: FileId, len: usize) {
        self.bytes(file).truncate(len);
    }

    fn zero(&mut self, file: FileId, place: Range<usize>) {
        self.bytes(file)[place].fill(0);
    }

    fn flip(&mut self, file: FileId, at: usize, bit: u8) {
        self.bytes(file)[at] ^= 1 << bit;
    }

    fn remove(&mut self, files: &[FileId]) {
        self.0.retain(|file, _| !files.contains(file));
    }

    fn epoch(&mut self, file: FileId, epoch: u32) {
        self.0.insert(file, encode_epoch(epoch));
    }
}

/// What becomes of a server.
#[derive(Clone, Debug, PartialEq)]
enum Becomes {
    /// It starts, and these are missing.
    Lacks(Vec<&'static str>),
    Exits(RecoveryError),
}

use Becomes::Exits;

fn lacks(what: &str) -> Becomes {
    let is_missing = |path: &&&str| what.split(' ').any(|name| path.ends_with(name) && !name.is_empty());
    Becomes::Lacks(WRITTEN.iter().filter(is_missing).copied().collect())
}

fn bad_record(file: FileId, offset: usize, flaw: Flaw) -> Becomes {
    Exits(RecoveryError::CorruptLog { file, offset: offset as u64, flaw })
}

/// What becomes of a server whose files are damaged, and that is started again.
fn becomes(damage: fn(&mut Damaged)) -> Becomes {
    let mut damaged = Damaged(written());
    damage(&mut damaged);
    let mut rig = Rig::new(config());
    rig.spoil(|files| *files = damaged.0);
    let mut found = Vec::new();
    for _ in 0..2 {
        let is_there = |rig: &Rig, path: &str| {
            rig.server.as_ref().is_some_and(|server| server.tree().node(path).is_some())
        };
        found.push(match rig.start() {
            Ok(()) => {
                rig.settle();
                Becomes::Lacks(WRITTEN.into_iter().filter(|path| !is_there(&rig, path)).collect())
            }
            Err(error) => Exits(error),
        });
        if rig.server.is_some() {
            rig.crash(0);
        }
    }
    assert_eq!(found[0], found[1], "the next start is like the first");
    found.remove(0)
}

/// A damage by its name, and what becomes of it.
type Row = (&'static str, fn(&mut Damaged), Becomes);

/// Whether each damage has come out as ZooKeeper's, or as is said of ours.
fn check(rows: &[Row]) {
    let found: Vec<_> = rows.iter().map(|(name, damage, _)| (*name, becomes(*damage))).collect();
    let expected: Vec<_> = rows.iter().map(|(name, _, expected)| (*name, expected.clone())).collect();
    assert_eq!(found, expected);
}

macro_rules! rows {
    ($($name:literal, |$it:ident| $damage:expr => $expected:expr;)*) => {
        check(&[$(($name, |$it: &mut Damaged| { $damage; }, $expected)),*])
    };
}

/// Where a record of the whole newest log begins.
fn begins(nth: usize) -> usize {
    Damaged(written()).record(NEWEST, nth).start
}

#[test]
fn a_record_of_the_newest_log_that_was_not_written_to_its_end_is_the_end() {
    rows! {
        "cut within the last record's checksum", |it| it.cut(NEWEST, it.last().start + 2) => lacks("b3");
        "cut within the last record's length", |it| it.cut(NEWEST, it.last().start + 6) => lacks("b3");
        "cut within the last record's body", |it| it.cut(NEWEST, it.last().start + 20) => lacks("b3");
        "cut before the last record's final `B`", |it| it.cut(NEWEST, it.last().end - 1) => lacks("b3");
        "last record zeroed", |it| it.zero(NEWEST, it.last()) => lacks("b3");
        "last record zeroed from the middle of its body on",
            |it| it.zero(NEWEST, it.last().start + 30..it.last().end) => lacks("b3");
        "last record's checksum and length zeroed",
            |it| it.zero(NEWEST, it.last().start..it.last().start + HEADER) => lacks("b3");
        "a bit flipped in a middle record's final `B`",
            |it| it.flip(NEWEST, it.record(NEWEST, 1).end - 1, 0) => lacks("b2 b3");
        "a low bit flipped in a middle record's length",
            |it| it.flip(NEWEST, it.record(NEWEST, 1).start + 4, 0) => lacks("b2 b3");
        "a middle record zeroed", |it| it.zero(NEWEST, it.record(NEWEST, 1)) => lacks("b2 b3");
        "first record zeroed", |it| it.zero(NEWEST, it.record(NEWEST, 0)) => lacks("b1 b2 b3");
        "garbage behind the zeros at the end",
            |it| it.bytes(NEWEST).extend([[0; 64], [0xa5; 64]].concat()) => lacks("");
        "length zero", |it| it.cut(NEWEST, 0) => lacks("b1 b2 b3");
        "missing", |it| it.remove(&[NEWEST]) => lacks("b1 b2 b3");
    }
}

#[test]
fn a_record_of_the_newest_log_that_was_written_to_its_end_and_has_changed_is_an_error() {
    let (middle, last) = (begins(1), begins(2));
    let end = Damaged(written()).last().end;
    rows! {
        "last record's checksum zeroed",
            |it| it.zero(NEWEST, it.last().start..it.last().start + 4) => bad_record(NEWEST, last, Flaw::Checksum);
        "middle of the last record's body zeroed, its `B` there",
            |it| it.zero(NEWEST, it.last().start + 20..it.last().end - 10)
            => bad_record(NEWEST, last, Flaw::Checksum);
        "a bit flipped in the last record's body",
            |it| it.flip(NEWEST, it.last().start + 30, 2) => bad_record(NEWEST, last, Flaw::Checksum);
        "a bit flipped in a middle record's body",
            |it| it.flip(NEWEST, it.record(NEWEST, 1).start + 30, 2)
            => bad_record(NEWEST, middle, Flaw::Checksum);
        "a bit flipped in a middle record's checksum",
            |it| it.flip(NEWEST, it.record(NEWEST, 1).start, 2) => bad_record(NEWEST, middle, Flaw::Checksum);
        "a high bit flipped in a middle record's length",
            |it| it.flip(NEWEST, it.record(NEWEST, 1).start + 7, 6)
            => bad_record(NEWEST, middle, Flaw::Length);
        "garbage behind the last record",
            |it| it.bytes(NEWEST).extend([0xa5; 64]) => bad_record(NEWEST, end, Flaw::Length);
    }
}

#[test]
fn what_is_missing_of_an_older_log_is_not_noticed_and_what_has_changed_there_is() {
    let last = Damaged(written()).record(OLDER, 3).start;
    let bad = bad_record(OLDER, last, Flaw::Checksum);
    rows! {
        "last write's record zeroed, newer snapshot there",
            |it| it.zero(OLDER, it.record(OLDER, 3)) => lacks("");
        "a bit flipped in a record, newer snapshot there",
            |it| it.flip(OLDER, it.record(OLDER, 3).start + 30, 2) => bad.clone();
        "last write's record zeroed, no newer snapshot",
            |it| { it.zero(OLDER, it.record(OLDER, 3)); it.remove(&[BETWEEN]) } => lacks("a3 b1");
        "a bit flipped in a record, no newer snapshot",
            |it| { it.flip(OLDER, it.record(OLDER, 3).start + 30, 2); it.remove(&[BETWEEN]) } => bad;
        // ZooKeeper exits, as the log's header is missing. Ours has no header.
        "length zero, no newer snapshot",
            |it| { it.cut(OLDER, 0); it.remove(&[BETWEEN]) } => lacks("a1 a2 a3 b1");
        "missing, no newer snapshot", |it| it.remove(&[OLDER, BETWEEN]) => lacks("a1 a2 a3 b1");
    }
}

#[test]
fn a_bad_snapshot_is_passed_over_for_an_older_one_and_the_last_one_is_missed() {
    rows! {
        "newest cut short, older snapshot and all logs there", |it| it.cut(BETWEEN, 500) => lacks("");
        "newest: a bit flipped, older snapshot and all logs there", |it| it.flip(BETWEEN, 30, 2) => lacks("");
        "newest of length zero, older snapshot and all logs there", |it| it.cut(BETWEEN, 0) => lacks("");
        "newest cut short, older log missing",
            |it| { it.cut(BETWEEN, 500); it.remove(&[OLDER]) } => lacks("a1 a2 a3 b1");
        "only one, cut short; newest log there",
            |it| { it.cut(BETWEEN, 500); it.remove(&[OLDER, EMPTY]) } => Exits(RecoveryError::NoSnapshot);
        "only one, a bit flipped; newest log there",
            |it| { it.flip(BETWEEN, 30, 2); it.remove(&[OLDER, EMPTY]) }
            => Exits(RecoveryError::CorruptSnapshots);
        "none, all logs there", |it| it.remove(&[EMPTY, BETWEEN]) => Exits(RecoveryError::NoSnapshot);
        "only one, cut short; no log",
            |it| { it.cut(BETWEEN, 500); it.remove(&[OLDER, NEWEST, EMPTY]) } => lacks("a1 a2 a3 b1 b2 b3");
        "only one, a bit flipped; no log",
            |it| { it.flip(BETWEEN, 30, 2); it.remove(&[OLDER, NEWEST, EMPTY]) }
            => Exits(RecoveryError::CorruptSnapshots);
    }
}

#[test]
fn a_folder_without_logs_and_snapshots_is_that_of_a_new_server() {
    rows! {
        "empty but for the epochs", |it| it.remove(&[OLDER, NEWEST, EMPTY, BETWEEN]) => lacks("a1 a2 a3 b1 b2 b3");
        "empty", |it| it.0.clear() => lacks("a1 a2 a3 b1 b2 b3");
    }
    let (files, snapshot) = (Files::new(), FileId::Snapshot(Zxid::ZERO));
    assert!(recover(&files).unwrap().is_new);
    let mut rig = Rig::new(config());
    rig.start().unwrap();
    let first = rig.lines.iter().find_map(|line| match line {
        crate::server::rig::Line::Server(zk_proto::server::Output::Disk(op)) => Some(op),
        _ => None,
    });
    assert!(matches!(first, Some(DiskOp::Replace { file, .. }) if *file == snapshot), "{first:?}");
}

#[test]
fn an_epoch_that_is_missing_is_that_of_the_last_transaction_and_one_that_cannot_be_is_an_error() {
    let bad = |file| Exits(RecoveryError::CorruptEpoch { file });
    rows! {
        "currentEpoch missing", |it| it.remove(&[CURRENT]) => lacks("");
        "currentEpoch empty", |it| it.cut(CURRENT, 0) => bad(CURRENT);
        "currentEpoch garbage", |it| it.bytes(CURRENT).push(0) => bad(CURRENT);
        // ZooKeeper exits. So it does where a crash came between a leader's snapshot and the leader's epoch
        // (ZOOKEEPER-1653, 2354), which must keep no server of ours from starting.
        "currentEpoch 1, older than the last record", |it| it.epoch(CURRENT, 1) => lacks("");
        "currentEpoch 1, acceptedEpoch 1",
            |it| { it.epoch(CURRENT, 1); it.epoch(ACCEPTED, 1) } => lacks("");
        "currentEpoch 1, and the newest log missing",
            |it| { it.epoch(CURRENT, 1); it.remove(&[NEWEST]) } => lacks("b1 b2 b3");
        "acceptedEpoch missing", |it| it.remove(&[ACCEPTED]) => lacks("");
        "acceptedEpoch empty", |it| it.cut(ACCEPTED, 0) => bad(ACCEPTED);
        "acceptedEpoch garbage", |it| it.bytes(ACCEPTED).push(0) => bad(ACCEPTED);
        "acceptedEpoch 1, less than currentEpoch",
            |it| it.epoch(ACCEPTED, 1) => Exits(RecoveryError::NeverPromised { accepted: 1, current: 2 });
        "acceptedEpoch 9", |it| it.epoch(ACCEPTED, 9) => lacks("");
        "both 9, and the last record zeroed",
            |it| { it.epoch(CURRENT, 9); it.epoch(ACCEPTED, 9); it.zero(NEWEST, it.last()) } => lacks("b3");
        "both missing", |it| it.remove(&[CURRENT, ACCEPTED]) => lacks("");
        // ZooKeeper believes it. Ours has a checksum.
        "currentEpoch: a bit flipped", |it| it.flip(CURRENT, 0, 1) => bad(CURRENT);
    }
    let mut without = written();
    without.retain(|file, _| !matches!(file, FileId::CurrentEpoch | FileId::AcceptedEpoch));
    let found = recover(&without).unwrap();
    assert_eq!((found.current_epoch, found.accepted_epoch), (2, 2));
}

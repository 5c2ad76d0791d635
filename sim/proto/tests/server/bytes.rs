//! What torn tails and rotten bits do to logs, snapshots and epochs.

use crate::server::disk::recovered_tree;
use crate::server::facts::{create, set};
use crate::server::rig::{Rig, TICK_MS, config};
use crate::server::robust::requests;
use proptest::prelude::*;
use zk_api::{Acl, AclList, CreateMode, Data, ErrorCode, Identity, Perms, SessionId, Text, Zxid, open_acl};
use zk_proto::codec::{Decoder, put_node, put_txn};
use zk_proto::disk::{DiskOp, FileId, Files};
use zk_proto::log::{self, Record};
use zk_proto::message::Xid;
use zk_proto::recovery::{EpochMark, RecoveryError, encode_mark, give_up, recover};
use zk_proto::server::{Note, Output, Server, ServerConfig, ServerId};
use zk_proto::tree::Node;
use zk_proto::txn::{NodeKind, Txn, TxnBody};
use zk_proto::zab::{Doubt, PeerConfig};

fn texts() -> impl Strategy<Value = Text> {
    ".{0,12}".prop_map(|text| text.as_str().into())
}

fn data() -> impl Strategy<Value = Data> {
    prop::option::of(prop::collection::vec(any::<u8>(), 0..20)).prop_map(|d| d.map_or(Data::NULL, Data::from))
}

fn acls() -> impl Strategy<Value = AclList> {
    let entry = (0..32u8, texts(), texts())
        .prop_map(|(perms, scheme, id)| Acl { perms: Perms(perms), who: Identity { scheme, id } });
    prop_oneof![Just(open_acl()), prop::collection::vec(entry, 0..3).prop_map(AclList::from)]
}

fn kinds() -> impl Strategy<Value = NodeKind> {
    prop_oneof![
        Just(NodeKind::Persistent),
        any::<i64>().prop_map(|id| NodeKind::Ephemeral(SessionId::new(id))),
        Just(NodeKind::Container),
        any::<i64>().prop_map(NodeKind::Ttl),
    ]
}

fn codes() -> impl Strategy<Value = ErrorCode> {
    prop::sample::select(ErrorCode::ALL.to_vec())
}

fn single_bodies() -> BoxedStrategy<TxnBody> {
    prop_oneof![
        (any::<u32>(), any::<[u8; 16]>())
            .prop_map(|(timeout_ms, password)| TxnBody::CreateSession { timeout_ms, password }),
        (prop::collection::vec(texts(), 0..3), any::<bool>())
            .prop_map(|(ephemerals, expired)| TxnBody::CloseSession { ephemerals, expired }),
        (texts(), data(), acls(), kinds(), any::<i32>()).prop_map(
            |(path, data, acl, kind, parent_created)| {
                TxnBody::Create { path, data, acl, kind, parent_created }
            }
        ),
        texts().prop_map(|path| TxnBody::Delete { path }),
        (texts(), data(), any::<i32>()).prop_map(|(path, data, version)| TxnBody::SetData {
            path,
            data,
            version
        }),
        (texts(), acls(), any::<i32>()).prop_map(|(path, acl, aversion)| TxnBody::SetAcl {
            path,
            acl,
            aversion
        }),
        texts().prop_map(|path| TxnBody::Check { path }),
        codes().prop_map(TxnBody::Error),
        prop::collection::vec(prop::option::of(codes()), 0..4).prop_map(TxnBody::MultiError),
    ]
    .boxed()
}

fn txns() -> impl Strategy<Value = Txn> {
    let bodies = prop_oneof![
        9 => single_bodies(),
        1 => prop::collection::vec(single_bodies(), 0..4).prop_map(|ops| TxnBody::Multi { ops }),
    ];
    (any::<i64>(), any::<i64>(), any::<i32>(), any::<i64>(), bodies).prop_map(
        |(zxid, session, xid, time_ms, body)| Txn {
            zxid: Zxid::from_i64(zxid),
            session: SessionId::new(session),
            xid: Xid(xid),
            time_ms,
            body,
        },
    )
}

fn nodes() -> impl Strategy<Value = Node> {
    (data(), acls(), kinds(), any::<[i64; 5]>(), any::<[i32; 3]>()).prop_map(|(data, acl, kind, n, m)| {
        let mut node = Node::new(data, acl, kind, Zxid::from_i64(n[0]), n[3]);
        (node.mzxid, node.pzxid) = (Zxid::from_i64(n[1]), Zxid::from_i64(n[2]));
        node.mtime_ms = n[4];
        (node.version, node.aversion, node.created) = (m[0], m[1], m[2]);
        node
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_transaction_survives_the_codec(txn in txns()) {
        let mut bytes = Vec::new();
        put_txn(&mut bytes, &txn);
        let mut decoder = Decoder::new(&bytes);
        prop_assert_eq!(decoder.txn(), Ok(txn));
        prop_assert_eq!(decoder.finish(), Ok(()));
        // No prefix is taken for the whole.
        for len in 0..bytes.len() {
            prop_assert!(Decoder::new(&bytes[..len]).txn().is_err());
        }
    }

    #[test]
    fn a_znode_survives_the_codec(node in nodes()) {
        let mut bytes = Vec::new();
        put_node(&mut bytes, &node);
        let mut decoder = Decoder::new(&bytes);
        prop_assert_eq!(decoder.node(), Ok(node));
        prop_assert_eq!(decoder.finish(), Ok(()));
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), tag in 0..12u8) {
        Decoder::new(&bytes).txn().ok();
        Decoder::new(&bytes).node().ok();
        // Past the fixed part, where the variants are.
        let mut bytes = bytes;
        bytes.splice(0..0, [0; 28].into_iter().chain([tag]));
        Decoder::new(&bytes).txn().ok();
        log::scan(Zxid::ZERO, &bytes).ok();
        zk_proto::snapshot::load(&bytes).ok();
    }
}

#[test]
fn a_length_that_is_a_lie_allocates_nothing() {
    let mut bytes = vec![0; 28];
    bytes.extend([10, 0xff, 0xff, 0xff, 0xff]);
    assert!(Decoder::new(&bytes).txn().is_err());
}

/// What a server has on its disk after these requests, each acknowledged.
fn disk_after(requests: Vec<zk_api::Request>, config: ServerConfig) -> (Files, Server) {
    let mut rig = Rig::serving(config);
    let client = rig.connected(10_000);
    for request in requests {
        rig.call(client, request).ok();
        rig.advance(1);
    }
    (rig.disk.files(), rig.server.unwrap())
}

fn some_writes() -> Vec<zk_api::Request> {
    vec![
        create("/a", CreateMode::Persistent),
        set("/a", "first"),
        create("/e", CreateMode::Ephemeral),
        set("/none", "fails"),
        create("/a/s-", CreateMode::PersistentSequential),
    ]
}

fn the_log(files: &Files) -> (FileId, Vec<Record>) {
    let (file, bytes) = files.iter().find(|(file, _)| matches!(file, FileId::Log(_))).expect("a log");
    (*file, scanned(*file, bytes).expect("a good log").records)
}

fn scanned(file: FileId, bytes: &[u8]) -> Result<log::Scan, log::CorruptMiddle> {
    let FileId::Log(first) = file else { panic!("{file:?} is no log") };
    log::scan(first, bytes)
}

fn last_zxid(files: &Files) -> Result<Zxid, RecoveryError> {
    recovered_tree(files).map(|tree| tree.last_zxid())
}

#[test]
fn every_truncation_of_a_log_recovers_a_prefix() {
    let (files, _) = disk_after(some_writes(), config());
    let (log, records) = the_log(&files);
    let mut reached = Vec::new();
    for len in 0..=files[&log].len() {
        let mut torn = files.clone();
        torn.get_mut(&log).unwrap().truncate(len);
        let last = last_zxid(&torn).unwrap();
        // The longest prefix whose records are whole.
        let mut ends = 0;
        let whole = records.iter().take_while(|record| {
            ends += log::encode(record.previous, record.durable, &record.txn).len();
            ends <= len
        });
        assert_eq!(last, whole.last().map_or(Zxid::ZERO, |record| record.txn.zxid), "{len} bytes");
        reached.push(last);
    }
    reached.dedup();
    assert_eq!(reached.len(), records.len() + 1);
}

/// Whatever a bit rots in: the server refuses, or it has lost only the end, or it has lost nothing.
fn survives_flip(files: &Files, whole: &Server, file: FileId, at: usize, bit: u8) {
    let mut rotten = files.clone();
    rotten.get_mut(&file).unwrap()[at] ^= 1 << bit;
    let Ok(recovered) = recovered_tree(&rotten) else { return };
    if recovered.last_zxid() == whole.tree().last_zxid() {
        assert_eq!(&recovered, whole.tree(), "{file:?} byte {at} bit {bit}");
        return;
    }
    // Only the very last record may go, and only without anything behind it.
    let FileId::Log(_) = file else { panic!("{file:?} byte {at}: lost transactions") };
    let scan = scanned(file, &rotten[&file]).expect("it was not refused");
    let before = scanned(file, &files[&file]).unwrap().records;
    assert_eq!(scan.records, before[..before.len() - 1], "{file:?} byte {at} bit {bit}");
}

#[test]
fn every_flipped_bit_of_a_log_is_refused_or_costs_only_the_tail() {
    let (files, whole) = disk_after(some_writes(), config());
    for (file, bytes) in &files {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                survives_flip(&files, &whole, *file, at, bit);
            }
        }
    }
}

#[test]
fn every_flipped_bit_of_snapshots_and_their_logs_is_survived_or_refused() {
    let busy = ServerConfig { snapshot_every: 3, snapshot_step: 2, ..config() };
    let (files, whole) = disk_after(some_writes(), busy);
    assert!(files.keys().any(|file| matches!(file, FileId::Snapshot(_))));
    for (file, bytes) in &files {
        for at in 0..bytes.len() {
            survives_flip(&files, &whole, *file, at, (at % 8) as u8);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_flipped_byte_of_any_run_is_never_taken_for_other_data(
        requests in prop::collection::vec(requests(), 1..20),
        at in any::<prop::sample::Index>(),
        which in any::<prop::sample::Index>(),
        bit in 0..8u8,
    ) {
        let busy = ServerConfig { snapshot_every: 6, snapshot_step: 2, ..config() };
        let (files, whole) = disk_after(requests, busy);
        let (file, bytes) = files.iter().nth(which.index(files.len())).unwrap();
        survives_flip(&files, &whole, *file, at.index(bytes.len()), bit);
    }
}

#[test]
fn a_corrupt_middle_is_refused_with_its_place() {
    let (mut files, _) = disk_after(some_writes(), config());
    let (log, records) = the_log(&files);
    let first = log::encode(records[0].previous, records[0].durable, &records[0].txn).len();
    files.get_mut(&log).unwrap()[first + 30] ^= 4;
    assert_eq!(recover(&files), Err(RecoveryError::CorruptLog { file: log, offset: first as u64 }));
}

#[test]
fn a_corrupt_length_in_the_middle_is_no_torn_tail() {
    let (mut files, _) = disk_after(some_writes(), config());
    let (log, records) = the_log(&files);
    let first = log::encode(records[0].previous, records[0].durable, &records[0].txn).len();
    files.get_mut(&log).unwrap()[first + 3] = 0x7f;
    assert_eq!(recover(&files), Err(RecoveryError::CorruptLog { file: log, offset: first as u64 }));
}

#[test]
fn what_a_former_file_left_behind_a_torn_record_is_no_middle() {
    let (mut files, _) = disk_after(some_writes(), config());
    let (log, records) = the_log(&files);
    let stale = log::encode(records[0].previous, records[0].durable, &records[0].txn);
    let bytes = files.get_mut(&log).unwrap();
    bytes.extend([0xaa; 7].iter().chain(&stale));
    assert_eq!(last_zxid(&files), Ok(records.last().unwrap().txn.zxid));
}

/// Two logs, as the server was started twice.
fn two_logs() -> Rig {
    let mut rig = Rig::serving(config());
    let client = rig.connected(10_000);
    rig.call(client, create("/a", CreateMode::Persistent)).unwrap();
    rig.crash(0);
    rig.start().unwrap();
    rig.settle();
    rig.advance(1000);
    rig.call(client, create("/b", CreateMode::Persistent)).unwrap();
    rig
}

#[test]
fn a_log_that_is_missing_between_two_is_a_gap_also_over_an_epoch() {
    let mut rig = two_logs();
    let whole = last_zxid(&rig.disk.files()).unwrap();
    assert_eq!(whole.epoch(), 2);
    // The end of the first epoch goes, cleanly: nothing in either file is wrong by itself.
    let mut files = rig.disk.files();
    let log = FileId::Log(Zxid::new(1, 1));
    let records = scanned(log, &files[&log]).unwrap().records;
    let shorter: Vec<u8> = records[..records.len() - 1]
        .iter()
        .flat_map(|r| log::encode(r.previous, r.durable, &r.txn))
        .collect();
    *files.get_mut(&log).unwrap() = shorter;
    let (after, found) = (Zxid::new(1, 1), Zxid::new(2, 1));
    assert_eq!(last_zxid(&files), Err(RecoveryError::Gap { after, found }));
    // Without the first log at all there is no beginning.
    rig.disk.remove(log);
    assert_eq!(rig.start(), Err(RecoveryError::NoSnapshot));
}

#[test]
fn a_bad_tail_before_another_log_is_no_tail() {
    let rig = two_logs();
    let mut files = rig.disk.files();
    let log = FileId::Log(Zxid::new(1, 1));
    let bytes = files.get_mut(&log).unwrap();
    let end = bytes.len() - 1;
    bytes[end] ^= 1;
    assert!(matches!(last_zxid(&files), Err(RecoveryError::CorruptLog { file, .. }) if file == log));
}

#[test]
fn a_snapshot_that_shows_more_than_the_logs_have_is_refused() {
    let busy = ServerConfig { snapshot_every: 4, snapshot_step: 1, ..config() };
    let mut rig = Rig::serving(busy);
    let client = rig.connected(10_000);
    for path in ["/a", "/b", "/c"] {
        rig.call(client, create(path, CreateMode::Persistent)).unwrap();
    }
    rig.call(client, create("/d", CreateMode::Persistent)).unwrap();
    rig.advance(100);
    let mut files = rig.disk.files();
    // The log that holds /d, of which the snapshot shows the effect.
    files.remove(&FileId::Log(Zxid::new(1, 5)));
    let (after, found) = (Zxid::new(1, 4), Zxid::new(1, 5));
    assert_eq!(last_zxid(&files), Err(RecoveryError::Gap { after, found }));
}

#[test]
fn a_torn_snapshot_is_ignored_where_the_logs_reach_back() {
    let busy = ServerConfig { snapshot_every: 4, snapshot_step: 1, ..config() };
    let (files, whole) = disk_after(some_writes(), busy);
    let snapshot = *files.keys().find(|file| matches!(file, FileId::Snapshot(_))).expect("a snapshot");
    for len in 0..files[&snapshot].len() {
        let mut torn = files.clone();
        torn.get_mut(&snapshot).unwrap().truncate(len);
        assert_eq!(recovered_tree(&torn).unwrap(), *whole.tree());
        // And it is out of the way of the next one.
        let mut rig = Rig::new(config());
        rig.spoil(|files| *files = torn);
        rig.start().unwrap();
        assert!(!rig.disk.files().contains_key(&snapshot));
    }
}

#[test]
fn an_epoch_is_new_at_each_start_also_without_a_transaction() {
    let mut rig = Rig::serving(config());
    for _ in 0..3 {
        rig.crash(0);
        rig.start().unwrap();
        rig.settle();
    }
    assert_eq!(rig.disk.tickets().next(), None);
    rig.connected(1000);
    assert_eq!(rig.applied, [Zxid::new(4, 1)]);
}

#[test]
fn a_corrupt_epoch_is_refused_and_a_promise_is_read_where_it_stands_once_more() {
    let rig = Rig::serving(config());
    let spoilt = |files: &mut Files, file| files.get_mut(&file).unwrap()[0] ^= 1;
    let mut files = rig.disk.files();
    spoilt(&mut files, FileId::AcceptedEpoch);
    let recovered = recover(&files).unwrap();
    assert_eq!(
        (recovered.accepted_epoch, recovered.lost_promise, recovered.doubt),
        (1, true, Doubt::Nothing)
    );
    let file = FileId::CurrentEpoch;
    spoilt(&mut files, file);
    assert_eq!(recover(&files), Err(RecoveryError::CorruptEpoch { file }));
    // A promise that nobody knows can be broken, so there is nothing to go on from.
    assert!(give_up(&files).is_err());
}

#[test]
fn an_epoch_with_something_behind_it_is_not_as_it_was_written() {
    let rig = Rig::serving(config());
    let mut files = rig.disk.files();
    files.get_mut(&FileId::AcceptedEpoch).unwrap().push(0);
    assert!(recover(&files).unwrap().lost_promise);
}

/// A server that has two others to ask.
fn one_of_three() -> ServerConfig {
    let zab = PeerConfig::for_server(ServerId(1), [1, 2, 3].map(ServerId), [], TICK_MS);
    ServerConfig { zab, ..config() }
}

#[test]
fn a_server_with_others_to_ask_starts_from_nothing_where_its_log_has_rotten() {
    let (mut files, _) = disk_after(some_writes(), config());
    let (log, records) = the_log(&files);
    let first = log::encode(records[0].previous, records[0].durable, &records[0].txn).len();
    files.get_mut(&log).unwrap()[first + 30] ^= 4;
    let error = RecoveryError::CorruptLog { file: log, offset: first as u64 };
    assert_eq!(Server::start(config(), &files, 0).err(), Some(error.clone()));
    let (server, out) = Server::start(one_of_three(), &files, 0).unwrap();
    assert_eq!(server.tree().last_zxid(), Zxid::ZERO);
    assert!(out.contains(&Output::Note(Note::Spoiled(error))));
}

/// It went down when that was written down, and before anything was removed.
#[test]
fn a_server_that_has_given_up_its_history_does_not_start_from_what_is_left_of_it() {
    let busy = ServerConfig { snapshot_every: 3, snapshot_step: 100, ..config() };
    let (mut files, _) = disk_after(some_writes(), busy);
    let (last, doubt) = (Zxid::ZERO, Doubt::Everything);
    let mark = EpochMark { epoch: 1, last, doubt, accepted: 1 };
    files.insert(FileId::CurrentEpoch, encode_mark(&mark));
    assert!(recover(&files).unwrap().tree.last_zxid() > Zxid::ZERO, "there is a good snapshot");
    let (server, _) = Server::start(one_of_three(), &files, 0).unwrap();
    assert_eq!(server.tree().last_zxid(), Zxid::ZERO);
}

/// A leader's snapshot that came whole, and behind which nothing was logged, looks like one that was never finished
/// when it has rotten.
#[test]
fn a_history_that_ends_before_what_its_epoch_had_is_refused() {
    let (last, doubt) = (Zxid::new(2, 5), Doubt::Nothing);
    let mark = encode_mark(&EpochMark { epoch: 2, last, doubt, accepted: 2 });
    let rotten = FileId::Snapshot(last);
    let files = Files::from([(FileId::CurrentEpoch, mark), (rotten, b"ZKS1 and no end".to_vec())]);
    assert_eq!(recover(&files), Err(RecoveryError::Behind { last: Zxid::ZERO, had: last }));
    let given_up = give_up(&files).unwrap();
    assert_eq!((given_up.doubt, given_up.accepted_epoch), (Doubt::Everything, 2));
    assert_eq!(given_up.repairs, [DiskOp::Remove { file: rotten }]);
}

#[test]
fn a_torn_end_is_in_doubt_and_a_clean_one_is_not() {
    let (mut files, _) = disk_after(some_writes(), config());
    assert_eq!(recover(&files).unwrap().doubt, Doubt::Nothing);
    let (log, _) = the_log(&files);
    files.get_mut(&log).unwrap().pop();
    assert_eq!(recover(&files).unwrap().doubt, Doubt::TheEnd);
}

/// First seen under seed 3546 of disks that fail: the second of two records that were written together was there, and
/// the first was not, at the beginning of a file.
#[test]
fn any_part_of_what_was_written_together_may_be_missing() {
    let txn = |counter| {
        let (zxid, body) = (Zxid::new(1, counter), TxnBody::Delete { path: "/a".into() });
        Txn { zxid, session: SessionId::NONE, xid: Xid(0), time_ms: 0, body }
    };
    let z = |counter| Zxid::new(1, counter);
    for first in [1, 4] {
        let durable = if first == 1 { Zxid::ZERO } else { z(first - 1) };
        let mut bytes = log::encode(durable, durable, &txn(first));
        let whole = bytes.len();
        bytes.fill(0);
        bytes.extend(log::encode(z(first), durable, &txn(first + 1)));
        assert_eq!(log::scan(z(first), &bytes).map(|scan| scan.valid_len), Ok(0));
        // What was written when it was durable shows that it has rotten.
        bytes.truncate(whole);
        bytes.extend(log::encode(z(first), z(first), &txn(first + 1)));
        assert_eq!(log::scan(z(first), &bytes), Err(log::CorruptMiddle(0)));
    }
}

//! What torn tails and rotten bits do to logs, snapshots and epochs.

use crate::server::disk::recovered_tree;
use crate::server::facts::{create, set};
use crate::server::rig::{Rig, config};
use crate::server::robust::requests;
use proptest::prelude::*;
use zk_api::{Acl, AclList, CreateMode, Data, ErrorCode, Identity, Perms, SessionId, Text, Zxid, open_acl};
use zk_proto::codec::{Decoder, put_node, put_txn};
use zk_proto::disk::{FileId, Files};
use zk_proto::log;
use zk_proto::message::Xid;
use zk_proto::recovery::RecoveryError;
use zk_proto::server::{Server, ServerConfig};
use zk_proto::tree::Node;
use zk_proto::txn::{NodeKind, Txn, TxnBody};

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
        log::scan(&bytes).ok();
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

fn the_log(files: &Files) -> (FileId, Vec<Txn>) {
    let (file, bytes) = files.iter().find(|(file, _)| matches!(file, FileId::Log(_))).expect("a log");
    (*file, log::scan(bytes).expect("a good log").txns)
}

fn last_zxid(files: &Files) -> Result<Zxid, RecoveryError> {
    recovered_tree(files).map(|tree| tree.last_zxid())
}

#[test]
fn every_truncation_of_a_log_recovers_a_prefix() {
    let (files, _) = disk_after(some_writes(), config());
    let (log, txns) = the_log(&files);
    let mut reached = Vec::new();
    for len in 0..=files[&log].len() {
        let mut torn = files.clone();
        torn.get_mut(&log).unwrap().truncate(len);
        let last = last_zxid(&torn).unwrap();
        // The longest prefix whose records are whole.
        let mut ends = 0;
        let whole = txns.iter().take_while(|txn| {
            ends += log::encode(txn).len();
            ends <= len
        });
        assert_eq!(last, whole.last().map_or(Zxid::ZERO, |txn| txn.zxid), "{len} bytes");
        reached.push(last);
    }
    reached.dedup();
    assert_eq!(reached.len(), txns.len() + 1);
}

/// Whatever a bit rots in: the server does not start, or the end of a log is missing from some record on, or nothing
/// is.
fn survives_flip(files: &Files, whole: &Server, file: FileId, at: usize, bit: u8) {
    let mut rotten = files.clone();
    rotten.get_mut(&file).unwrap()[at] ^= 1 << bit;
    let Ok(recovered) = recovered_tree(&rotten) else { return };
    if recovered == *whole.tree() {
        return;
    }
    let FileId::Log(_) = file else { panic!("{file:?} byte {at}: lost transactions") };
    let (left, before) = [&rotten, files].map(|files| log::scan(&files[&file]).unwrap().txns).into();
    assert!(left.len() < before.len() && before.starts_with(&left), "{file:?} byte {at} bit {bit}");
}

#[test]
fn every_flipped_bit_of_a_log_is_refused_or_costs_only_what_is_behind_it() {
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
fn a_torn_snapshot_is_ignored_where_the_logs_reach_back() {
    let busy = ServerConfig { snapshot_every: 4, snapshot_step: 1, ..config() };
    let (files, whole) = disk_after(some_writes(), busy);
    let snapshot = *files.keys().rfind(|file| matches!(file, FileId::Snapshot(_))).expect("a snapshot");
    assert!(snapshot > FileId::Snapshot(Zxid::ZERO));
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

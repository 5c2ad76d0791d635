//! What goes wrong with disks: bits that rot, writes that fail, disks that are full, and crashes at any of a disk's
//! operations. What a server makes of a disk that has rotten is compared with what was written to it, and decides what
//! servers can be blamed for.

use crate::machine::ServerHost;
use crate::stage::Stage;
use crate::trace_event::{Place, What};
use std::sync::Arc;
use zk_api::Zxid;
use zk_cluster::disk::Disk;
use zk_harness::promise::Assumption;
use zk_invariants::Invariant;
use zk_proto::disk::{DiskOp, FileId, Files};
use zk_proto::log;
use zk_proto::recovery::{Recovered, encode_epoch, recover};
use zk_proto::server::RecoveryError;
use zk_proto::sessions::SessionTable;
use zk_proto::tree::DataTree;
use zk_proto::txn::Txn;
/// Bits of a disk rot, as in [`Fault::DiskRot`](crate::schedule::Fault::DiskRot): where, and how many. False if it is
/// spared.
pub fn rot(
    stage: &mut Stage<'_>,
    hosts: &mut [ServerHost],
    id: u8,
    (file, at_permille, bytes): (u32, u32, u32),
    spares: bool,
) -> bool {
    let voters = stage.scenario.servers;
    let whole = whole_voters(voters, hosts).filter(|voter| *voter != id).count();
    let is_too_much = id < voters && 2 * whole <= usize::from(voters);
    if is_too_much && spares {
        stage.once("a disk was spared, or less than a quorum would have been whole");
        return false;
    }
    let Some(file) = hosts[usize::from(id)].disk.rot(file, at_permille, bytes) else { return false };
    stage.note(Place::Server(id), &What::Rotten { file });
    stage.once("bits of a disk rotted");
    if is_too_much {
        // Whatever comes now, nobody could have done better.
        stage.once("too many disks were spoiled: nothing was promised, and nothing judged, from then on");
        stage.over = true;
    }
    true
}

/// The voters whose disks are as they were written.
fn whole_voters(voters: u8, hosts: &[ServerHost]) -> impl Iterator<Item = u8> {
    (0..voters).zip(hosts).filter(|(_, host)| !host.disk.is_rotten()).map(|(id, _)| id)
}

/// A server starts from its disk. If that has rotten and is taken for whole, the server may lack what it has
/// acknowledged, and nobody can be blamed for what comes of it.
pub fn starts(stage: &mut Stage<'_>, id: u8, disk: &Disk) {
    if !disk.is_rotten() {
        return;
    }
    let written = disk.as_written().files();
    match (recover(&disk.files()), recover(&written)) {
        (Ok(found), Ok(whole)) if lacks(&found, &whole, &written) => {
            stage.once("disk-intact failed: a server's disk silently lacked what was durable");
            stage.note(Place::Server(id), &What::Lacks { last: found.last() });
            stage.judge.fails(Assumption::DiskIntact);
        }
        (Ok(_), Ok(_)) => {
            stage.once("a server lacked nothing though its disk had rotten");
        }
        (Err(error), _) => {
            let what = format!("s{id} starts, though {error}");
            stage.invariants.report.broken(Invariant::AcknowledgedWritesSurvive, what);
        }
        // Nobody starts from that.
        (Ok(_), Err(_)) => {}
    }
}

/// A server does not start: it stays out, which is right if its disk has rotten.
pub fn stays_out(stage: &mut Stage<'_>, id: u8, host: &mut ServerHost, error: &RecoveryError) {
    stage.note(Place::Server(id), &What::StaysOut { error });
    host.own.stays_out = true;
    if host.disk.is_rotten() && recover(&host.disk.as_written().files()).is_ok() {
        return stage.once("a server stayed out, as its disk had rotten");
    }
    let what = format!("s{id} does not start: {error}");
    stage.invariants.report.broken(Invariant::AcknowledgedWritesSurvive, what);
}

/// Gives a server that stays out the files of the voter that has most of the history, if a quorum of disks is whole:
/// then all that was acknowledged is on that one. Of what this server has promised, nothing is known but that whoever
/// counted on it has others of that quorum who promised the same. Whether it can start now.
pub fn give_new(stage: &mut Stage<'_>, hosts: &mut [ServerHost], id: u8) -> bool {
    let voters = stage.scenario.servers;
    let whole: Vec<u8> = whole_voters(voters, hosts).collect();
    if 2 * whole.len() <= usize::from(voters) {
        stage.once("a server stayed out for good, as too many disks had rotten");
        return false;
    }
    let durable = whole.iter().map(|voter| hosts[usize::from(*voter)].disk.durable());
    let found: Vec<(Files, Recovered)> =
        durable.filter_map(|files| recover(&files).ok().map(|found| (files, found))).collect();
    let accepted = found.iter().map(|(_, found)| found.accepted_epoch).max().unwrap_or(0);
    let best = found.into_iter().max_by_key(|(_, found)| (found.current_epoch, found.last()));
    let Some((mut files, found)) = best else { return false };
    files.insert(FileId::AcceptedEpoch, encode_epoch(accepted));
    if id >= voters {
        // An observer has nothing that may not stand yet: nobody would have it cut that.
        cut(&mut files, stage.knowledge.committed);
    }
    stage.once("a server that stayed out was given another's files");
    stage.note(Place::Server(id), &What::NewDisk { last: found.last() });
    let host = &mut hosts[usize::from(id)];
    (host.disk, host.own.stays_out) = (Disk::with(files), false);
    true
}

/// Whether a server's disk refuses an operation. Then its process stops: nothing is known of what it wrote last.
pub fn refuses(stage: &mut Stage<'_>, host: &mut ServerHost, op: &DiskOp) -> bool {
    let writes = match op {
        DiskOp::Append { .. } | DiskOp::Replace { .. } => true,
        DiskOp::Sync { .. } => false,
        DiskOp::Truncate { .. } | DiskOp::Remove { .. } => return false,
    };
    let full_ms = (writes && stage.now < host.own.full_until_ns).then_some(host.own.full_down_ms);
    let Some(down_ms) = host.own.fails_next_ms.take().or(full_ms) else { return false };
    host.own.stops_ms = Some(down_ms);
    if let DiskOp::Append { file, bytes } = op {
        let bytes = bytes[..bytes.len() / 2].to_vec();
        host.disk.ask(DiskOp::Append { file: *file, bytes });
    }
    stage.once(if full_ms.is_some() {
        "server stopped: its disk was full"
    } else {
        "server stopped: its disk failed"
    });
    true
}

/// An operation was done. In some runs a server crashes right there.
pub fn done(stage: &mut Stage<'_>, host: &mut ServerHost) {
    stage.run.disk_ops += 1;
    if let Some(crash) = stage.options.crash_at.filter(|crash| crash.after == stage.run.disk_ops) {
        stage.once("crashed at an operation of the disk");
        (host.own.stops_ms, host.own.crash_way) = (Some(200), Some(crash.way));
    }
}

/// What a crash leaves, where that is not drawn: a choice of `below` for each question, in turn.
pub fn picks(way: u64) -> impl FnMut(u64) -> u64 {
    let mut nth = 0;
    move |below| {
        nth += 1;
        match way {
            0 => 0,
            1 => 1 % below,
            // How: a part, a part with zeros at its end, or any blocks. Then which.
            _ if nth == 1 => way.min(below - 1),
            _ => (below / 2 + nth % 2).min(below - 1),
        }
    }
}

/// Cuts everything behind `to` from logs that are as they were written.
fn cut(files: &mut Files, to: Zxid) {
    for (_, bytes) in files.iter_mut().filter(|(file, _)| matches!(file, FileId::Log(_))) {
        let ends = log::scan(bytes).map_or(Vec::new(), |scan| scan.ends);
        let end = ends.iter().rev().find(|(zxid, _)| *zxid <= to).map_or(0, |(_, end)| *end);
        bytes.truncate(end as usize);
    }
}

/// Whether a server that starts from what it found lacks anything that was written, or has it otherwise.
fn lacks(found: &Recovered, whole: &Recovered, written: &Files) -> bool {
    let (mut last, mut logged) = (found.tree.last_zxid(), Vec::new());
    let logs = written.iter().filter(|(file, _)| matches!(file, FileId::Log(_)));
    for txn in logs.filter_map(|(_, bytes)| log::scan(bytes).ok()).flat_map(|scan| scan.txns) {
        if txn.zxid > last {
            last = txn.zxid;
            logged.push(txn);
        }
    }
    let is_same = |(a, b): (&Arc<Txn>, &Txn)| **a == *b;
    let epochs = |found: &Recovered| (found.accepted_epoch, found.current_epoch);
    found.log.len() != logged.len()
        || !found.log.iter().zip(&logged).all(is_same)
        || epochs(found) != epochs(whole)
        || shown(found) != shown(whole)
}

/// The state as it is if everything that is logged stands.
fn shown(found: &Recovered) -> (Zxid, DataTree, SessionTable) {
    let (mut tree, mut sessions) = (found.tree.clone(), found.sessions.clone());
    for txn in &found.log {
        tree.apply(txn);
        sessions.apply(txn);
    }
    (found.last(), tree, sessions)
}

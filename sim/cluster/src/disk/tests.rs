use super::*;
use zk_api::Zxid;

const LOG: FileId = FileId::Log(Zxid::ZERO);

fn append(bytes: &[u8]) -> DiskOp {
    DiskOp::Append { file: LOG, bytes: bytes.to_vec() }
}

fn sync(ticket: u64) -> DiskOp {
    DiskOp::Sync { file: LOG, ticket }
}

fn asked(ops: impl IntoIterator<Item = DiskOp>) -> Disk {
    let mut disk = Disk::default();
    ops.into_iter().for_each(|op| disk.ask(op));
    disk
}

fn crashed(disk: &Disk, mut picks: Vec<u64>) -> (Vec<u8>, CrashReport) {
    let mut disk = disk.clone();
    picks.reverse();
    let report = disk.crash(false, &mut |n| picks.pop().expect("a pick for each choice").min(n - 1));
    (disk.files().remove(&LOG).unwrap_or_default(), report)
}

/// What each way to crash leaves of the log, if the disk does its operations in order.
fn left(disk: &Disk) -> Vec<Vec<u8>> {
    let each = (0..disk.outcomes()).map(|outcome| {
        let mut crashed = disk.clone();
        crashed.crash_to(outcome);
        crashed.files().remove(&LOG).unwrap_or_default()
    });
    each.collect()
}

#[test]
fn synced_bytes_survive_a_crash_and_the_rest_may_be_lost_or_torn() {
    let mut disk = asked([append(b"abc"), sync(1), append(b"defg")]);
    assert_eq!((disk.length(LOG), disk.done(LOG, 1), disk.length(LOG)), (7, 3, 7));
    assert_eq!(crashed(&disk, vec![0]), (b"abc".to_vec(), CrashReport { lost: 1, ..CrashReport::default() }));
    assert_eq!(crashed(&disk, vec![1]).0, b"abcdefg");
    assert_eq!(
        crashed(&disk, vec![2, 2]),
        (b"abcde".to_vec(), CrashReport { torn: 1, ..CrashReport::default() })
    );
    assert_eq!(crashed(&disk, vec![4, 3, 2]).0, b"abcd\0\0");
}

#[test]
fn a_sync_that_is_not_done_promises_nothing() {
    assert_eq!(crashed(&asked([append(b"abc"), sync(1)]), vec![0]).0, b"");
}

#[test]
fn a_replacement_is_all_or_nothing() {
    let replace = |bytes: &[u8], ticket| DiskOp::Replace { file: LOG, bytes: bytes.to_vec(), ticket };
    let mut disk = asked([replace(b"old", 1)]);
    disk.done(LOG, 1);
    disk.ask(replace(b"new!", 2));
    assert_eq!(crashed(&disk, vec![0]).0, b"old");
    assert_eq!(crashed(&disk, vec![1]).0, b"new!");
    // What was added to the old contents is gone with them.
    let disk = asked([append(b"old"), replace(b"new!", 1)]);
    assert_eq!(crashed(&disk, vec![1]).0, b"new!");
}

#[test]
fn a_truncation_is_durable_with_the_next_sync() {
    let mut disk = asked([append(b"abcdef"), sync(1)]);
    disk.done(LOG, 1);
    disk.ask(DiskOp::Truncate { file: LOG, len: 2 });
    assert_eq!((disk.length(LOG), &disk.files()[&LOG][..]), (2, &b"ab"[..]));
    assert_eq!(crashed(&disk, vec![1]).0, b"abcdef");
    assert_eq!(crashed(&disk, vec![0]).0, b"ab");
    disk.ask(sync(2));
    disk.done(LOG, 2);
    assert_eq!(crashed(&disk, vec![]).0, b"ab");
}

#[test]
fn what_was_written_together_may_be_there_in_any_part() {
    let mut disk = asked([append(b"ab"), append(b"cd"), append(b"ef"), append(b"gh")]);
    let mut picks = vec![0, 3, 2, 1, 5];
    let report = disk
        .crash(true, &mut |below| picks.pop().filter(|pick| *pick < below).expect("one that is possible"));
    assert_eq!((&disk.files()[&LOG][..], report.reordered), (&b"\0\0\0de\0gh"[..], 1));
}

#[test]
fn rot_stays_until_its_place_is_written_again() {
    let mut disk = asked([append(b"abcd")]);
    assert_eq!(disk.rot(3, 999, 1), None);
    disk.ask(sync(1));
    disk.done(LOG, 1);
    assert_eq!(disk.rot(3, 999, 9), Some(LOG));
    assert!(disk.is_rotten() && disk.files()[&LOG] != b"abcd" && disk.files()[&LOG].starts_with(b"ab"));
    disk.ask(DiskOp::Truncate { file: LOG, len: 2 });
    assert!(!disk.is_rotten());
    // What is cut rots no more.
    assert_eq!(disk.rot(0, 1000, 9), Some(LOG));
    assert_eq!(
        (crashed(&disk, vec![0]).0, crashed(&disk, vec![1]).0),
        (b"a\x60".to_vec(), b"a\x60cd".to_vec())
    );
    disk.ask(sync(2));
    disk.done(LOG, 2);
    disk.ask(DiskOp::Replace { file: LOG, bytes: b"new".to_vec(), ticket: 3 });
    disk.done(LOG, 3);
    assert_eq!((disk.is_rotten(), &disk.files()[&LOG][..]), (false, &b"new"[..]));
}

#[test]
fn a_crash_leaves_any_beginning_a_torn_record_or_a_hole() {
    let disk = asked([append(b"abcd"), append(b"ef"), sync(1)]);
    let all: [&[u8]; 6] = [b"", b"ab", b"\0\0\0\0ef", b"abcd", b"abcde", b"abcdef"];
    assert_eq!(left(&disk), all);
}

#[test]
fn what_was_synced_survives_every_crash() {
    let mut disk = asked([append(b"abcd"), sync(1)]);
    assert_eq!((disk.awaited(), disk.done(LOG, 1)), (Some((LOG, 1)), 4));
    disk.ask(append(b"ef"));
    assert!(left(&disk).iter().all(|bytes| bytes.starts_with(b"abcd")));
    assert_eq!(disk.outcomes(), 3);
}

#[test]
fn a_sync_covers_its_own_file_alone() {
    let other = FileId::Snapshot(Zxid::ZERO);
    let mut disk = asked([DiskOp::Append { file: other, bytes: vec![7] }, append(b"a"), sync(1)]);
    assert_eq!((disk.done(LOG, 1), disk.sizes().len()), (1, 2));
    disk.crash_to(0);
    assert_eq!(disk.files().into_keys().collect::<Vec<_>>(), [LOG]);
}

#[test]
fn a_process_that_is_gone_leaves_what_it_has_written_and_waits_for_nothing() {
    let mut disk = asked([append(b"ab"), sync(1)]);
    disk.abandon();
    assert_eq!((disk.awaited(), &disk.files()[&LOG][..], disk.durable().len()), (None, &b"ab"[..], 0));
    disk.remove(LOG);
    assert!(disk.is_idle());
}

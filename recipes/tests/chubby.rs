//! Chubby's interface against a server by script.

use crate::script::{ME, ORDERED, Script, created, names, ordered, start, there};
use zk_api::{Data, ErrorCode, MultiOutcome, OpResult, Response, SessionId, Stat, StatFields, ZPath, Zxid};
use zk_recipes::Mode;
use zk_recipes::chubby::{FileError, Handle, Sequencer, check_sequencer};

const NODE: &str = "/file/g-write-0000000005";
const NAME: &str = "g-write-0000000005";
const CHECK: &str = "exists /file/g-write-0000000005";
const LIST: &str = "getChildren /file";

fn path(path: &str) -> ZPath {
    ZPath::parse(path).unwrap()
}

/// The file as it was opened.
fn stat() -> Stat {
    Stat::from(StatFields { czxid: Zxid::new(1, 7), ..StatFields::default() })
}

fn opened(script: &Script) -> Handle<Script> {
    let file = path("/file");
    let open = start(Handle::open(script.clone(), &file, "g"));
    script.answer("exists /file", Response::Exists(Some(stat())));
    open.ends().unwrap()
}

fn sequencer(node: &str, mode: Mode) -> Sequencer {
    Sequencer { file: path("/file"), node: path(node), mode, token: Zxid::new(1, 7), session: ME }
}

fn contents(text: &str, stat: Stat) -> Response {
    Response::Data { data: Data::from(text), stat }
}

#[test]
fn the_sequencer_of_a_holder_tells_its_mode_and_token() {
    let script = Script::new();
    let mut handle = opened(&script);
    let mut acquire = start(handle.acquire(Mode::Exclusive));
    script.answer("create /file/g-write-", created(NODE));
    acquire.waits();
    script.answer(LIST, names(&[NAME]));
    acquire.waits();
    script.answer(CHECK, there(ME));
    let locked = acquire.ends().unwrap();
    assert_eq!(locked.sequencer(), sequencer(NODE, Mode::Exclusive));
}

/// Checks a sequencer while these stand in line, and its znode is this session's.
fn checked(sequencer: &Sequencer, needs: Mode, line: &[&str], owner: SessionId) -> bool {
    let script = Script::new();
    let check = start(check_sequencer(&script, sequencer, needs));
    if !script.asked().is_empty() {
        script.answer(ORDERED, ordered());
        script.answer(LIST, names(line));
        script.answer(&format!("exists {}", sequencer.node), there(owner));
    }
    check.ends().unwrap()
}

#[test]
fn a_holders_sequencer_passes_and_a_waiters_does_not() {
    let own = sequencer(NODE, Mode::Exclusive);
    assert!(checked(&own, Mode::Exclusive, &[NAME, "z-write-0000000006"], ME));
    assert!(checked(&own, Mode::Shared, &[NAME], ME));
    assert!(!checked(&own, Mode::Exclusive, &["a-read-0000000004", NAME], ME));
    assert!(!checked(&own, Mode::Exclusive, &[NAME], SessionId::new(9)), "another's of the same name");
    for token in [Zxid::new(1, 6), Zxid::new(1, 8)] {
        let other = Sequencer { token, ..own.clone() };
        assert!(!checked(&other, Mode::Exclusive, &[NAME], ME), "its own, made at another time");
    }
}

#[test]
fn a_readers_sequencer_does_not_pass_for_writing() {
    let own = sequencer("/file/g-read-0000000005", Mode::Shared);
    let line = ["a-read-0000000004", "g-read-0000000005"];
    assert!(checked(&own, Mode::Shared, &line, ME));
    assert!(!checked(&own, Mode::Exclusive, &line, ME));
    assert!(!checked(&own, Mode::Shared, &["a-write-0000000004", "g-read-0000000005"], ME));
}

#[test]
fn a_sequencer_whose_znode_is_gone_does_not_pass() {
    let script = Script::new();
    let own = sequencer(NODE, Mode::Exclusive);
    let check = start(check_sequencer(&script, &own, Mode::Exclusive));
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[]));
    script.answer(CHECK, Response::Exists(None));
    assert_eq!(check.ends(), Ok(false));
}

#[test]
fn under_a_sequencer_that_is_over_nothing_is_written() {
    let script = Script::new();
    let mut handle = opened(&script);
    handle.set_sequencer(sequencer(NODE, Mode::Exclusive));
    let mut write = start(handle.set_contents("late".into(), -1));
    script.answer("getData /file", contents("", stat()));
    write.waits();
    script.answer(ORDERED, ordered());
    script.answer(LIST, names(&[NAME]));
    script.answer(CHECK, there(ME));
    write.waits();
    // It was deleted just now: the ensemble compares.
    let codes = vec![Some(ErrorCode::NoNode), Some(ErrorCode::RuntimeInconsistency)];
    script.answer("multi ", Response::Multi(MultiOutcome::Failed(codes)));
    assert_eq!(write.ends(), Err(FileError::SequencerInvalid));
}

#[test]
fn a_file_that_was_made_again_is_another_file() {
    let script = Script::new();
    let handle = opened(&script);
    let read = start(handle.contents_and_stat());
    script.answer(
        "getData /file",
        contents("", Stat::from(StatFields { czxid: Zxid::new(1, 9), ..StatFields::default() })),
    );
    assert_eq!(read.ends(), Err(FileError::NotThere(path("/file"))));
}

#[test]
fn who_stands_in_line_is_no_file_of_the_directory() {
    let script = Script::new();
    let handle = opened(&script);
    let dir = start(handle.read_dir());
    let names = [NAME, "notes", "a-read-0000000004"].map(zk_api::Text::from).into();
    script.answer(LIST, Response::Children { names, stat: Some(stat()) });
    assert_eq!(dir.ends().unwrap(), ["notes".into()]);
}

#[test]
fn a_poisoned_handle_fails_also_in_what_is_under_way() {
    let script = Script::new();
    let handle = opened(&script);
    let read = start(handle.contents_and_stat());
    handle.poison();
    script.answer("getData /file", contents("", stat()));
    assert_eq!(read.ends(), Err(FileError::Poisoned));
    assert_eq!(start(handle.stat()).ends(), Err(FileError::Poisoned), "and asks for nothing");
}

#[test]
fn a_write_is_refused_by_version_and_a_lost_answer_is_told() {
    for by_version in [true, false] {
        let script = Script::new();
        let handle = opened(&script);
        let mut write = start(handle.set_contents("new".into(), 3));
        script.answer("getData /file", contents("old", stat()));
        write.waits();
        if by_version {
            script.answer("multi ", Response::Multi(MultiOutcome::Failed(vec![Some(ErrorCode::BadVersion)])));
            assert_eq!(write.ends(), Err(FileError::OtherVersion));
        } else {
            script.fail("multi ", ErrorCode::ConnectionLoss);
            assert!(matches!(write.ends(), Err(FileError::Unknown(_))));
        }
    }
}

#[test]
fn a_write_that_takes_effect_says_so() {
    let script = Script::new();
    let handle = opened(&script);
    let mut write = start(handle.delete(-1));
    script.answer("getData /file", contents("old", stat()));
    write.waits();
    script.answer("multi ", Response::Multi(MultiOutcome::Applied(vec![OpResult::Deleted])));
    assert_eq!(write.ends(), Ok(()));
}

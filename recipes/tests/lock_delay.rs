//! A lock-delay against a server by script.

use crate::script::{ME, Running, Script, created, names, start, there};
use std::time::Duration;
use zk_api::{Data, ErrorCode, MultiOutcome, Op, OpResult, Request, Response, Stat, StatFields, ZPath, Zxid};
use zk_recipes::chubby::{FileError, Handle, Locked};
use zk_recipes::{Mode, RecipeError};

const NODE: &str = "/file/g-write-0000000005";
const NAME: &str = "g-write-0000000005";
const MARK: &str = "getData /file/lock-delay";
/// What others are to wait for if this one dies.
const OWN: Duration = Duration::from_secs(9);

fn path(path: &str) -> ZPath {
    ZPath::parse(path).unwrap()
}

fn opened(script: &Script) -> Handle<Script> {
    let file = path("/file");
    let open = start(Handle::open(script.clone(), &file, "g"));
    script.answer("exists /file", Response::Exists(Some(Stat::default())));
    let mut handle = open.ends().unwrap();
    handle.set_lock_delay(OWN);
    handle
}

type Acquiring<'a> = Running<'a, Result<Locked<'a, Script>, FileError>>;

/// First in line, and about to look for a mark.
fn first<'a>(script: &Script, handle: &'a mut Handle<Script>, mode: Mode) -> Acquiring<'a> {
    let kind = if mode == Mode::Shared { "read" } else { "write" };
    let name = NAME.replace("write", kind);
    let mut acquire = start(handle.acquire(mode));
    script.answer(&format!("create /file/g-{kind}-"), created(&NODE.replace("write", kind)));
    acquire.waits();
    script.answer("getChildren /file", names(&[&name]));
    acquire.waits();
    script.answer(&format!("exists /file/{name}"), there(ME));
    acquire.waits();
    acquire
}

fn mark(text: &str, version: i32) -> Response {
    let stat = Stat::from(StatFields { version, mzxid: Zxid::new(1, 3), ..StatFields::default() });
    Response::Data { data: Data::from(text), stat }
}

/// What the multi that is asked for does, the check of the own znode before it.
fn does(script: &Script) -> Op {
    match script.oldest() {
        Request::Multi { ops } => {
            assert_eq!(ops.len(), 2);
            assert!(matches!(&ops[0], Op::Check { path, .. } if path.contains("/file/g-")), "{ops:?}");
            ops[1].clone()
        }
        other => panic!("{other:?}"),
    }
}

fn done() -> Response {
    Response::Multi(MultiOutcome::Applied(vec![OpResult::Checked, OpResult::Deleted]))
}

#[test]
fn who_finds_no_mark_waits_for_nothing_and_leaves_its_own() {
    let script = Script::new();
    let mut handle = opened(&script);
    let mut acquire = first(&script, &mut handle, Mode::Exclusive);
    script.fail(MARK, ErrorCode::NoNode);
    acquire.waits();
    let marks = does(&script);
    assert!(
        matches!(&marks, Op::Create { path, data, mode: zk_api::CreateMode::Persistent, .. }
            if &**path == "/file/lock-delay" && *data == Data::from("g-write-0000000005 9000")),
        "{marks:?}"
    );
    script.answer("multi ", done());
    let locked = acquire.ends().unwrap();
    assert_eq!(script.slept(), []);
    // Given back, it takes its mark along.
    let mut release = start(locked.release());
    let unmarks = does(&script);
    assert!(matches!(&unmarks, Op::Delete { path, .. } if &**path == "/file/lock-delay"), "{unmarks:?}");
    script.answer("multi ", done());
    release.waits();
    script.answer(&format!("delete {NODE}"), Response::Deleted);
    assert_eq!(release.ends(), Ok(()));
}

#[test]
fn who_finds_the_mark_of_the_dead_waits_for_as_long_as_that_one_asked() {
    // Less than its own delay, or more.
    for asked in [7000, 20_000] {
        let script = Script::new();
        let mut handle = opened(&script);
        let mut acquire = first(&script, &mut handle, Mode::Exclusive);
        let of_the_dead = || mark(&format!("x-write-0000000004 {asked}"), 3);
        script.answer(MARK, of_the_dead());
        acquire.waits();
        assert_eq!(script.slept(), [Duration::from_millis(asked)]);
        assert!(script.asked().is_empty(), "it waits");
        script.wake();
        acquire.waits();
        script.answer(MARK, of_the_dead());
        acquire.waits();
        let marks = does(&script);
        assert!(
            matches!(&marks, Op::SetData { data, version: 3, .. } if *data == Data::from("g-write-0000000005 9000")),
            "{marks:?}"
        );
        script.answer("multi ", done());
        let _locked = acquire.ends().unwrap();
        assert_eq!(script.slept().len(), 1, "and no more");
    }
}

#[test]
fn a_mark_whose_answer_was_lost_is_known_for_the_own() {
    let script = Script::new();
    let mut handle = opened(&script);
    let mut acquire = first(&script, &mut handle, Mode::Exclusive);
    script.fail(MARK, ErrorCode::NoNode);
    acquire.waits();
    script.fail("multi ", ErrorCode::ConnectionLoss);
    acquire.waits();
    script.answer(MARK, mark("g-write-0000000005 9000", 0));
    let _locked = acquire.ends().unwrap();
    assert_eq!(script.slept(), []);
}

#[test]
fn who_loses_the_lock_while_it_waits_does_not_get_it() {
    let script = Script::new();
    let mut handle = opened(&script);
    let mut acquire = first(&script, &mut handle, Mode::Exclusive);
    script.answer(MARK, mark("nobody knows what", 3));
    acquire.waits();
    assert_eq!(script.slept(), [OWN], "what cannot be read says nothing");
    script.wake();
    acquire.waits();
    script.answer(MARK, mark("nobody knows what", 3));
    acquire.waits();
    let codes = vec![Some(ErrorCode::NoNode), Some(ErrorCode::RuntimeInconsistency)];
    script.answer("multi ", Response::Multi(MultiOutcome::Failed(codes)));
    assert_eq!(acquire.ends().unwrap_err(), FileError::Recipe(RecipeError::Gone(path(NODE))));
}

#[test]
fn a_reader_waits_as_well_and_leaves_no_mark() {
    let script = Script::new();
    let mut handle = opened(&script);
    let mut acquire = first(&script, &mut handle, Mode::Shared);
    script.answer(MARK, mark("x-write-0000000004 7000", 3));
    acquire.waits();
    assert_eq!(script.slept(), [Duration::from_secs(7)]);
    script.wake();
    acquire.waits();
    script.answer(MARK, mark("x-write-0000000004 7000", 3));
    acquire.waits();
    let unmarks = does(&script);
    assert!(matches!(&unmarks, Op::Delete { version: 3, .. }), "{unmarks:?}");
    // Another reader was faster.
    let codes = vec![None, Some(ErrorCode::NoNode)];
    script.answer("multi ", Response::Multi(MultiOutcome::Failed(codes)));
    acquire.waits();
    script.fail(MARK, ErrorCode::NoNode);
    let locked = acquire.ends().unwrap();
    let mut release = start(locked.release());
    release.waits();
    script.answer("delete /file/g-read-0000000005", Response::Deleted);
    assert_eq!(release.ends(), Ok(()));
}

#[test]
fn a_mark_is_no_file_of_the_directory() {
    let script = Script::new();
    let handle = opened(&script);
    let dir = start(handle.read_dir());
    let names = ["lock-delay", "notes"].map(zk_api::Text::from).into();
    script.answer("getChildren /file", Response::Children { names, stat: Some(Stat::default()) });
    assert_eq!(dir.ends().unwrap(), ["notes".into()]);
}

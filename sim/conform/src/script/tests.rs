//! What is written is read back, and what is wrong is told with its line.

use super::{Action, BadScript, Call, Conn, parse};
use crate::generate::{Plan, generate};

fn bad(text: &str) -> (usize, String) {
    let BadScript { line, problem } = parse(text).expect_err("not a script");
    (line, problem)
}

#[test]
fn random_scripts_are_read_back_as_they_were() {
    for seed in 0..300 {
        let script = generate(seed, &Plan { tick_ms: 250, one_in_expires: 2 });
        assert_eq!(parse(&script.to_string()), Ok(script), "seed {seed}");
    }
}

#[test]
fn comments_and_transcripts_stay_where_they_are() {
    let text = "# first\n\na connect\n=> a connected\n=> a pong +1\n# second\nexpire a\nwait 500ms\nleader kill\n\
                follower 2 pause\nserver 1 start\nb attach a2 password=wrong seen=seen-1 server=follower2\n\
                a pipeline { get /x watch; set /x \"\\u{0}\\xff\" v=3; close }\nawait 2\n";
    assert_eq!(parse(text).expect("a script").to_string(), text);
}

#[test]
fn anything_can_be_said_in_quotes() {
    let script =
        parse("a get \"/a \\\"b\\\\\\n\\u{e9}\"\na set /x \"ab\"*3\na op 5 0x00ff\na get null\n").unwrap();
    let call = |at: usize| match &script.steps[at].action {
        Action::Send { conn: Conn('a'), requests } => requests[0].call.clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(call(0), Call::Look { path: Some(path), .. } if path == "/a \"b\\\né"));
    assert!(matches!(call(1), Call::SetData { data: Some(data), .. } if data == b"ababab"));
    assert!(matches!(call(2), Call::Raw { op: 5, body } if body == [0, 0xff]));
    assert!(matches!(call(3), Call::Look { path: None, .. }));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    assert_eq!(bad("a connect\na gett /x").0, 2);
    assert!(bad("a gett /x").1.contains("'gett' is no request"));
    assert!(bad("=> a ok").1.contains("before the first step"));
    assert!(bad("ab get /x").1.contains("'ab': expected a connection's letter"));
    assert!(bad("a get").1.contains("expected a path"));
    assert!(bad("a get /x \"y\"").1.contains("unexpected"));
    assert!(bad("a get /x v=3").1.contains("'v=' is not for this request"));
    assert!(bad("a get \"/x").1.contains("not closed"));
    assert!(bad("a op 3 0x0").1.contains("pairs of hexadecimal"));
    assert!(bad("a multi { get /x").1.contains("expected }"));
    assert!(bad("a create /x acl=rwx@world:anyone").1.contains("expected permissions"));
    assert!(bad("a addwatch /x").1.contains("expected persistent or mode="));
    assert!(bad("wait 3").1.contains("expected milliseconds"));
    assert!(bad("server 1 stop").1.contains("expected kill, start, pause or resume"));
    assert!(bad("a connect password=none").1.contains("expected timeout"));
    assert!(bad("a set /x \"y\"*99999999").1.contains("4 MiB"));
}

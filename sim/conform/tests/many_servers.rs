//! What scripts have for several servers and connections: read, written, and told as it comes.

use zk_conform::driver::Alone;
use zk_conform::script::{Action, parse};
use zk_conform::side::{Side, Transcript};

/// Runs a script on one server of ours.
async fn told(script: &'static str) -> Transcript {
    let super_digest = Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".to_owned());
    let options = zk_serve::Options { super_digest, ..zk_serve::Options::default() };
    let server = zk_serve::start(options).await.expect("a server");
    let address = server.addresses()[0];
    let run = move || {
        let mut side = Side::open("ours", Box::new(Alone(address))).expect("an empty server");
        let script = parse(script).expect("a script");
        side.run(&script, side.era()).expect("a run")
    };
    tokio::task::spawn_blocking(run).await.expect("no panic")
}

#[test]
fn steps_are_written_as_they_are_read() {
    let text = "\
a connect server=leader
b connect server=follower
c connect server=follower2
d attach a server=b
e connect server=paused
f connect server=killed
server 2 kill
server a pause
leader pause
follower kill
follower 2 kill
killed start
paused resume
begin a create /x \"\"
begin b pipeline { sync /; exists /x }
begin c connect server=paused
finish a
await 2
await serving
await zxid +5
await end a b c
rounds 50 {
  a create /x \"\"
  b pipeline { sync /; exists /x }
}
alike a b children /x
alike a b events
";
    assert_eq!(parse(text).expect("a script").to_string(), text);
}

#[test]
fn a_step_goes_on_until_its_braces_are_closed() {
    let long = parse("rounds 2 {\n\n  # Comment.\n  a get /x\n  b multi { delete /x\n }\n}\na ping\n")
        .expect("a script");
    let short = parse("rounds 2 { a get /x; b multi { delete /x } }\na ping\n").expect("a script");
    assert_eq!(long, short);
    assert!(matches!(&long.steps[0].action, Action::Rounds { times: 2, actions } if actions.len() == 2));
}

#[test]
fn what_is_no_step_is_told_with_its_line() {
    for (text, line, problem) in [
        ("a ping\nrounds 2 { a ping", 2, "expected }"),
        ("rounds 2 {\n a ping\n a frobnicate\n}", 1, "'frobnicate' is no request"),
        ("rounds 2 {\n a get \"/x\n}", 2, "a quote is not closed"),
        ("rounds x { a ping }", 1, "'x': expected how many rounds"),
        ("begin a drop", 1, "'a drop' has no answer that could be waited for"),
        ("finish serving", 1, "'serving': expected a connection's letter"),
        ("await end", 1, "expected a connection's letter"),
        ("await zxid", 1, "expected a zxid, such as +3 at the end"),
        ("alike children /", 1, "expected a connection's letter"),
        ("alike a b", 1, "expected a request at the end"),
        ("server leader kill", 1, "server=leader: expected a number"),
        ("paused sleep", 1, "'sleep': expected kill, start, pause or resume"),
        ("a connect server=followers", 1, "follower=s: expected a number"),
    ] {
        let bad = parse(text).expect_err(text);
        assert_eq!(bad.line, line, "{text}: {bad}");
        assert!(bad.problem.starts_with(problem), "{text}: {bad}");
    }
}

#[tokio::test]
async fn rounds_that_tell_the_same_are_told_once() {
    let told = told(
        "a connect\nrounds 5 { b connect; b create /x ephemeral; a exists /x; b close; a exists /x }\na create /y\n",
    )
    .await;
    let stat = "{c=+2 m=+2 p=+2 ct=@+2 mt=@+2 v=0 cv=0 av=0 owner=b len=0 kids=0}";
    assert_eq!(
        told[1][1..],
        [
            "b 1 ok +2 /x".to_owned(),
            format!("a 1 ok +2 {stat}"),
            "b 2 ok +3".into(),
            "b closed".into(),
            "a 2 NoNode +3".into(),
        ]
    );
    // Behind the rounds, zxids count from the script's beginning again: one session and fifteen transactions.
    assert_eq!(told[2], ["a 3 ok +17 /y"]);
}

#[tokio::test]
async fn rounds_that_differ_are_told_apart() {
    let told = told("a connect\nrounds 4 { a create /x }\n").await;
    assert_eq!(told[1], ["1 of 4 rounds:", "a 1 ok +1 /x", "3 of 4 rounds:", "a 1 NodeExists +1"]);
}

#[tokio::test]
async fn answers_and_events_that_differ_are_found() {
    let told = told(
        "a connect\nb connect\na auth digest \"a:b\"\nalike a b whoami\nalike a b children /\n\
         a children / watch\nb exists /x watch\na create /x\nalike a b events\n\
         a get /x watch\nb get /x watch\na delete /x\nalike a b events\n",
    )
    .await;
    let alike: Vec<&[String]> = [3, 4, 8, 12].into_iter().map(|step| &told[step][..]).collect();
    assert_eq!(alike, [["not alike"], ["alike"], ["not alike"], ["alike"]]);
}

#[tokio::test]
async fn what_is_begun_is_answered_where_it_is_finished() {
    let told =
        told("begin a connect\nb connect\nfinish a\nbegin a pipeline { create /x; exists /y }\nfinish a\n")
            .await;
    assert_eq!(told[0], [""; 0]);
    assert!(told[1].iter().all(|line| line.starts_with("b ")), "{:?}", told[1]);
    assert!(told[2][0].starts_with("a connected "), "{:?}", told[2]);
    assert_eq!(told[3], [""; 0]);
    assert_eq!(told[4], ["a 1 ok +3 /x", "a 2 NoNode +3"]);
}

#[tokio::test]
async fn an_end_is_waited_for_where_it_is_to_come() {
    let told = told("a connect\nbegin a close\nawait end a\n").await;
    assert_eq!(told[2], ["a 1 ok +2", "a closed"]);
}

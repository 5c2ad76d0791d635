//! Clients that say what they do to `zoocheck serve`, by HTTP: what is judged, and what is refused.
#![cfg(all(feature = "serve", feature = "live"))]

mod kinds;
mod serving;

use serde_json::{Value, json};
use serving::Serving;
use std::time::Duration;
use zk_api::{CreateMode, Data, ZPath, ZooKeeper};
use zk_live::LiveClient;

const LOCK: &str = "--promises fair-lock=/lock";
const AMONG_LIVE: &str = "exclusion-among-live-sessions";

async fn client(serving: &Serving) -> LiveClient {
    LiveClient::connect(&serving.servers, Duration::from_secs(1)).await.expect("it serves")
}

async fn two(serving: &Serving) -> [LiveClient; 2] {
    [client(serving).await, client(serving).await]
}

fn says(serving: &Serving, client: &LiveClient, word: &str, about: &str) {
    let answer = serving.post("/observe", &said(client, word, about));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{word}: {answer}");
}

fn said(client: &LiveClient, word: &str, about: &str) -> String {
    json!({ "session": client.session().to_string(), word: about }).to_string()
}

/// What became of a promise, and what first broke it.
fn promise(verdict: &Value, name: &str) -> (Value, Value) {
    let all = verdict["promises"]["promises"].as_array().expect("promises");
    let found = all.iter().find(|promise| promise["name"] == name).expect("it is owed");
    (found["verdict"].clone(), found["first"]["what"].clone())
}

async fn expire(serving: &Serving, client: &LiveClient) {
    let fault = json!({ "expire": { "session": client.session().to_string() } }).to_string();
    let answer = serving.post("/faults", &fault);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    while !client.state().is_final() {
        client.state_change().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_hold_a_lock_at_a_time_break_it_by_name_and_the_exit_status_says_so() {
    let serving = Serving::new(&format!("--servers 3 --tick-ms 200 {LOCK}"));
    let [one, other] = two(&serving).await;
    for client in [&one, &other] {
        says(&serving, client, "attempts", "/lock");
        says(&serving, client, "enters", "/lock");
    }
    let verdict = serving.verdict();
    let broken = (json!("broken"), json!("p1 holds /lock while p0 still holds it"));
    assert_eq!((promise(&verdict, AMONG_LIVE), &verdict["held"]), (broken, &json!(false)), "{verdict:#}");
    assert_eq!(verdict["promises"]["answer"], "broken");
    assert_eq!(verdict["promises"]["sessions"][other.session().to_string()], "p1");
    let (status, stderr) = serving.leave();
    assert_eq!(status, Some(1), "{stderr}");
    assert!(
        stderr.contains("promises broken: exclusion-among-live-sessions; the first: p1 holds"),
        "{stderr}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_session_had_ended_before_the_other_entered_excludes_nobody() {
    let serving = Serving::new(&format!("--servers 3 --tick-ms 200 {LOCK}"));
    let [one, other] = two(&serving).await;
    says(&serving, &one, "attempts", "/lock");
    says(&serving, &other, "attempts", "/lock");
    says(&serving, &one, "enters", "/lock");
    expire(&serving, &one).await;
    says(&serving, &other, "enters", "/lock");
    // It has not noticed yet.
    says(&serving, &one, "leaves", "/lock");
    let verdict = serving.verdict();
    assert_eq!(promise(&verdict, AMONG_LIVE), (json!("held"), Value::Null), "{verdict:#}");
    // It goes on to hold it, and another is granted it: that one has not ended.
    let third = client(&serving).await;
    says(&serving, &third, "enters", "/lock");
    let (found, what) = promise(&serving.verdict(), AMONG_LIVE);
    assert_eq!((found, what), (json!("broken"), json!("p2 holds /lock while p1 still holds it")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_comes_after_a_later_holders_is_expected_if_its_session_had_ended() {
    let unfenced = "exclusion-at-unfenced-resource";
    for (dies, expected) in [(false, "broken"), (true, "broken-as-expected")] {
        let serving = Serving::new(&format!("--tick-ms 200 {LOCK}"));
        let [one, other] = two(&serving).await;
        says(&serving, &one, "enters", "/lock");
        says(&serving, &one, "writes", "unfenced");
        if dies {
            expire(&serving, &one).await;
        } else {
            says(&serving, &one, "leaves", "/lock");
        }
        says(&serving, &other, "enters", "/lock");
        says(&serving, &other, "writes", "unfenced");
        says(&serving, &one, "writes", "unfenced");
        assert_eq!(promise(&serving.verdict(), unfenced).0, expected, "{dies}");
    }
}

/// Its znode is below the lock for a while: without any, nobody could say that none is left.
async fn stands_in_line(client: &LiveClient) {
    let path = ZPath::parse("/lock/n").expect("a path");
    client.create(&path, Data::NULL, CreateMode::Ephemeral).await.expect("the znode of the lock is there");
    client.delete(&path, -1).await.expect("it is there");
}

/// One that asks for the lock, has it, and is through.
fn turn(serving: &Serving, client: &LiveClient) {
    for word in ["attempts", "enters", "leaves", "released"] {
        says(serving, client, word, "/lock");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_is_judged_when_all_have_finished() {
    for leaves_one in [false, true] {
        let serving = Serving::new(&format!("--tick-ms 200 {LOCK}"));
        let [one, other] = two(&serving).await;
        if leaves_one {
            let path = ZPath::parse("/lock/orphan").expect("a path");
            one.create(&path, Data::NULL, CreateMode::Ephemeral)
                .await
                .expect("the znode of the lock is there");
        }
        says(&serving, &one, "attempts", "/lock");
        stands_in_line(&one).await;
        turn(&serving, &one);
        turn(&serving, &other);
        let before = serving.verdict();
        assert_eq!(before["promises"]["answer"], "undecided", "{before:#}");
        assert!(before["promises"]["not-at-rest"].as_str().is_some(), "{before:#}");
        says(&serving, &one, "finishes", "done");
        says(&serving, &other, "finishes", "done");
        let verdict = serving.verdict();
        assert_eq!(verdict["promises"]["not-at-rest"], Value::Null);
        let (found, what) = promise(&verdict, "no-orphan-znode");
        if leaves_one {
            let left = "/lock/orphan is left of p0, which does not try any more";
            assert_eq!((found, what), (json!("broken"), json!(left)));
        } else {
            assert_eq!(found, "held");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_when_nothing_moves_any_more_is_stuck() {
    let serving = Serving::new(&format!("--tick-ms 200 {LOCK}"));
    let [one, other] = two(&serving).await;
    turn(&serving, &one);
    // It goes on with another session, as client libraries do by themselves.
    let of = |client: &LiveClient, key: &str, value: Value| {
        let body = json!({ "session": client.session().to_string(), "client": 7, key: value });
        let answer = serving.post("/observe", &body.to_string());
        assert!(answer.contains(r#"{"client":"p7"}"#), "{answer}");
    };
    of(&other, "attempts", json!("/lock"));
    expire(&serving, &other).await;
    let renewed = client(&serving).await;
    of(&renewed, "connects", json!(true));
    let stuck = loop {
        let verdict = serving.verdict();
        match verdict["promises"]["not-at-rest"].as_str() {
            None => break promise(&verdict, "no-waiter-stuck"),
            Some(why) => assert!(why.contains("something moved"), "{why}"),
        }
        // To look, or to try in vain, is to wait: with each look it was all to wait for longer.
        let lock = ZPath::parse("/lock").expect("a path");
        renewed.exists(&lock).await.expect("an answer");
        renewed.create(&lock, Data::NULL, CreateMode::Persistent).await.expect_err("it is there");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(stuck, (json!("broken"), json!("p7 waits for ever")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_held_where_nothing_was_said_or_somebody_is_in_the_midst() {
    let (status, stderr) = Serving::new(LOCK).leave();
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("promises undecided: never put to the test: exclusion-among-live"), "{stderr}");
    let serving = Serving::new(&format!("--tick-ms 200 {LOCK}"));
    let [one, other] = two(&serving).await;
    turn(&serving, &one);
    says(&serving, &other, "enters", "/lock");
    let (status, stderr) = serving.leave();
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("it is not at rest, as p1 is in the midst of /lock"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_heard_is_refused_with_one_line() {
    let serving = Serving::new(&format!("--tick-ms 200 {LOCK}"));
    let one = client(&serving).await;
    let finished = client(&serving).await;
    says(&serving, &finished, "finishes", "done");
    for (body, part) in [
        ("{", "not an observation: EOF"),
        (r#"{"session":"0x7","enters":"/lock"}"#, "0x7 was never a session here; GET /sessions lists them"),
        (r#"{"session":"lock","enters":"/lock"}"#, "session: 'lock' is no session"),
        (&said(&one, "enter", "/lock"), "unknown field `enter`"),
        (&said(&one, "enters", "/lok"), "no promise is about '/lok'; those that are owed are about /lock"),
        (&said(&finished, "enters", "/lock"), "p0 has finished already"),
        (
            &json!({ "session": finished.session().to_string(), "client": 3, "connects": true }).to_string(),
            "is of client 0 already, not of 3",
        ),
    ] {
        let answer = serving.post("/observe", body);
        let line = answer.split_once("\r\n\r\n").expect("a body").1;
        assert!(answer.starts_with("HTTP/1.1 400 ") && line.contains(part), "{body}: {answer}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
    let foreign =
        serving.post_as("Origin: http://evil.example\r\n", "/observe", &said(&one, "enters", "/lock"));
    assert!(foreign.starts_with("HTTP/1.1 403 "), "{foreign}");
    let nothing_owed = Serving::new("").post("/observe", &said(&one, "enters", "/lock"));
    assert!(nothing_owed.starts_with("HTTP/1.1 400 "), "{nothing_owed}");
    assert!(nothing_owed.contains("nothing is promised here"), "{nothing_owed}");
}

#[test]
fn what_is_owed_is_read_before_anything_is_served() {
    for (owed, part) in [
        ("lock", "--promises: 'lock': expected KIND=PATH"),
        ("lock=/", "'/' is no path"),
        (
            "lock=/a,lock=/b",
            "--promises: 'lock=/a' and 'lock=/b' each owe exclusion-among-live-sessions in a way of their own",
        ),
    ] {
        let ran = crate::common::zoocheck(&format!("serve --listen 127.0.0.1:0 --promises {owed}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(part) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
}

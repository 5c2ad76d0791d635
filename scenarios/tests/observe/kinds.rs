//! What is said at the end of each kind: what was judged, what was not, and what was broken as expected.

use super::serving::Serving;
use super::{client, expire, promise, says, stands_in_line, turn, two};
use serde_json::{Value, json};
use zk_api::{CreateMode, Data, ZPath, ZooKeeper};
use zk_live::LiveClient;

/// Two clients take turns at the lock, the second one while the first waits, and finish.
async fn lock_by_turns(serving: &Serving) {
    let clients @ [one, other] = &two(serving).await;
    clients.iter().for_each(|client| says(serving, client, "attempts", "/lock"));
    stands_in_line(one).await;
    hold(serving, one);
    hold(serving, other);
    clients.iter().for_each(|client| says(serving, client, "finishes", "done"));
}

fn hold(serving: &Serving, client: &LiveClient) {
    says(serving, client, "enters", "/lock");
    says(serving, client, "writes", "unfenced");
    says(serving, client, "leaves", "/lock");
    says(serving, client, "released", "/lock");
}

fn adds(serving: &Serving, client: &LiveClient) {
    for (word, what) in [("begins", "adds"), ("ends", "has added")] {
        let body = json!({ "session": client.session().to_string(), word: "/c", "what": what, "number": 1 });
        let answer = serving.post("/observe", &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_judged_is_named_beside_what_held() {
    let serving = Serving::new("--tick-ms 200 --promises fair-lock=/lock");
    lock_by_turns(&serving).await;
    let (status, stderr) = serving.leave();
    assert_eq!(status, Some(0), "{stderr}");
    let said = "; every judged promise held; not judged from outside: fifo, one-woken-per-deletion, no-foreign-delete\n";
    assert!(stderr.ends_with(said), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_of_which_nothing_of_its_own_is_judged_is_undecided_even_beside_a_lock_that_held() {
    for (owed, beside) in [("counter=/c", ""), ("lock=/lock,counter=/c", "no-foreign-delete, ")] {
        let serving = Serving::new(&format!("--tick-ms 200 --promises {owed}"));
        if owed.contains("lock") {
            lock_by_turns(&serving).await;
        }
        let adder = client(&serving).await;
        adds(&serving, &adder);
        says(&serving, &adder, "finishes", "done");
        let verdict = serving.verdict();
        assert_eq!(promise(&verdict, "no-failure").0, "held", "{owed}: {verdict:#}");
        let found = ["answer", "not-at-rest", "unjudged"].map(|key| verdict["promises"][key].clone());
        assert_eq!(found, [json!("undecided"), Value::Null, json!(["counter=/c"])], "{owed}");
        let (status, stderr) = serving.leave();
        assert_eq!(status, Some(3), "{owed}: {stderr}");
        let why = format!(
            "; promises undecided: what counter=/c owes of its own is not judged from outside: {beside}counts-each-once\n"
        );
        assert!(stderr.ends_with(&why), "{owed}: {stderr}");
    }
    for kind in ["queue", "queue-at-most-once", "barrier", "barrier-raised-again", "double-barrier"] {
        let verdict = Serving::new(&format!("--promises {kind}=/it")).verdict();
        assert_eq!(verdict["promises"]["unjudged"], json!([format!("{kind}=/it")]));
    }
}

/// Nothing was judged of a program that owes no more, and one that failed was undecided.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_owes_what_every_program_owes() {
    for (end, answer, status) in [("done", "held", 0), ("failed", "broken", 1)] {
        let serving = Serving::new("--tick-ms 200 --promises program=/it");
        let worker = client(&serving).await;
        let connects = json!({ "session": worker.session().to_string(), "connects": true });
        serving.post("/observe", &connects.to_string());
        let node = ZPath::parse("/it/a").expect("a path");
        worker.create(&node, Data::NULL, CreateMode::Persistent).await.expect("an answer");
        says(&serving, &worker, "finishes", end);
        let verdict = serving.verdict();
        assert_eq!(verdict["promises"]["answer"], answer, "{verdict:#}");
        assert_eq!(promise(&verdict, "no-failure").0, answer);
        let (found, stderr) = serving.leave();
        assert_eq!(found, Some(status), "{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_changes_nothing_puts_nothing_to_the_test() {
    let serving = Serving::new("--tick-ms 200 --promises program=/it");
    let worker = client(&serving).await;
    says(&serving, &worker, "finishes", "done");
    let (found, stderr) = serving.leave();
    assert_eq!(found, Some(3), "{stderr}");
    assert!(stderr.ends_with("promises undecided: never put to the test: no-failure\n"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_broken_as_expected_is_no_plain_held() {
    let serving = Serving::new("--tick-ms 200 --promises lock=/lock");
    let clients = [client(&serving).await, client(&serving).await, client(&serving).await];
    let [one, other, third] = &clients;
    clients.iter().for_each(|client| says(&serving, client, "attempts", "/lock"));
    stands_in_line(one).await;
    says(&serving, one, "enters", "/lock");
    says(&serving, one, "writes", "unfenced");
    expire(&serving, one).await;
    says(&serving, other, "enters", "/lock");
    says(&serving, other, "writes", "unfenced");
    says(&serving, one, "writes", "unfenced");
    says(&serving, other, "leaves", "/lock");
    says(&serving, other, "released", "/lock");
    hold(&serving, third);
    says(&serving, one, "finishes", "session-lost");
    says(&serving, other, "finishes", "done");
    says(&serving, third, "finishes", "done");
    let (status, stderr) = serving.leave();
    assert_eq!(status, Some(0), "{stderr}");
    let said = "every judged promise held, but for what was broken as expected; not judged from outside: ";
    assert!(stderr.contains(said), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_its_znode_and_takes_the_lock_again_by_it_leaves_an_orphan() {
    for keeps in [false, true] {
        let serving = Serving::new("--servers 3 --tick-ms 200 --promises fair-lock=/lock");
        let one = client(&serving).await;
        let path = ZPath::parse("/lock/n").expect("a path");
        let create = || one.create(&path, Data::NULL, CreateMode::Ephemeral);
        let entered = json!({ "session": one.session().to_string(), "enters": "/lock", "node": "n" });
        says(&serving, &one, "attempts", "/lock");
        create().await.expect("created");
        serving.post("/observe", &entered.to_string());
        says(&serving, &one, "leaves", "/lock");
        if !keeps {
            one.delete(&path, -1).await.expect("deleted");
        }
        says(&serving, &one, "released", "/lock");
        says(&serving, &one, "attempts", "/lock");
        if !keeps {
            create().await.expect("created");
        }
        serving.post("/observe", &entered.to_string());
        says(&serving, &one, "leaves", "/lock");
        one.delete(&path, -1).await.expect("deleted");
        says(&serving, &one, "released", "/lock");
        let broken =
            (json!("broken"), json!("p0 is granted the lock by /lock/n, which it had before it asked"));
        let expected = if keeps { broken } else { (json!("held"), Value::Null) };
        assert_eq!(promise(&serving.verdict(), "no-orphan-znode"), expected);
    }
}

/// The znode goes with the session, and the next one makes it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_znode_that_went_with_a_session_and_is_made_anew_is_no_orphan() {
    let serving = Serving::new("--tick-ms 200 --promises lock=/lock");
    let path = ZPath::parse("/lock/n").expect("a path");
    let enters = |client: &LiveClient| {
        let body =
            json!({ "session": client.session().to_string(), "client": 0, "enters": "/lock", "node": "n" });
        let answer = serving.post("/observe", &body.to_string());
        assert!(answer.contains(r#"{"client":"p0"}"#), "{answer}");
    };
    let one = client(&serving).await;
    says(&serving, &one, "attempts", "/lock");
    one.create(&path, Data::NULL, CreateMode::Ephemeral).await.expect("created");
    enters(&one);
    says(&serving, &one, "leaves", "/lock");
    says(&serving, &one, "released", "/lock");
    says(&serving, &one, "attempts", "/lock");
    expire(&serving, &one).await;
    let renewed = client(&serving).await;
    renewed.create(&path, Data::NULL, CreateMode::Ephemeral).await.expect("the former one is gone");
    enters(&renewed);
    let (found, what) = promise(&serving.verdict(), "no-orphan-znode");
    assert_eq!((found, what), (json!("held"), Value::Null));
    turn(&serving, &client(&serving).await);
}

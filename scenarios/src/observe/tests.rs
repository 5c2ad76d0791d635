//! What is judged of what clients say, without any server: what those tell is told here.

use super::*;

const AMONG_LIVE: &str = "exclusion-among-live-sessions";

fn id(session: i64) -> SessionId {
    SessionId::new(session)
}

/// A judge of what is owed, and these sessions, which are open.
fn judge(owed: &str, sessions: &[i64]) -> Judge {
    let owes = owes(&[owed.to_owned()]).expect("it is well said").expect("something is owed");
    let judge = Judge::new(owes, None);
    sessions.iter().for_each(|session| judge.opened(id(*session), 1000));
    judge
}

fn says(judge: &Judge, session: i64, client: Option<u16>, word: &str, about: &str) {
    let body = json!({ "session": id(session).to_string(), "client": client, word: about }).to_string();
    assert!(judge.observe(body.as_bytes()).is_ok(), "{body}");
}

/// What several say, in turn, of `/lock`.
fn all_say(judge: &Judge, words: &[(i64, &str)]) {
    for (session, word) in words {
        says(judge, *session, None, word, if *word == "finishes" { "done" } else { "/lock" });
    }
}

/// Nothing has moved for long, and these are connected and there.
fn moment(connected: &[i64], znodes: &[(&str, i64)]) -> Moment {
    Moment {
        still_for: Duration::from_secs(1000),
        all_serve: true,
        connected: connected.iter().map(|session| id(*session)).collect(),
        znodes: znodes.iter().map(|(path, owner)| (Text::from(*path), id(*owner))).collect(),
    }
}

fn verdict(judge: &Judge, moment: &Moment, name: &str) -> Option<Verdict> {
    judge.found(moment).promises.iter().find(|promise| promise.name == name).expect("it is owed").verdict
}

/// Why it is not at rest.
fn why(judge: &Judge, moment: &Moment) -> String {
    judge.found(moment).not_at_rest.unwrap_or_default()
}

#[tokio::test]
async fn a_program_that_is_driven_says_which_one_it_is() {
    let owes = owes(&["lock=/lock".to_owned()]).expect("it is well said").expect("something is owed");
    let judge = Judge::new(owes, Some(Driven { clients: 2, work: [Duration::ZERO; 2] }));
    judge.opened(id(1), 1000);
    for (client, is_heard) in [(None, false), (Some(2), false), (Some(1), true)] {
        let body = json!({ "session": id(1).to_string(), "client": client, "attempts": "/lock" });
        let heard = judge.observe(body.to_string().as_bytes());
        assert_eq!(heard.is_ok(), is_heard, "{body}");
        let expects = "client: expected the number in ZOOCHECK_CLIENT, from 0 to 1";
        assert!(heard.is_ok() || heard.is_err_and(|why| why == expects));
    }
}

#[tokio::test]
async fn what_is_left_is_not_judged_while_anything_may_change_it() {
    let lock = judge("fair-lock=/lock", &[1, 2]);
    all_say(&lock, &[(1, "attempts"), (2, "attempts"), (1, "enters"), (1, "leaves")]);
    assert!(why(&lock, &moment(&[1, 2], &[])).starts_with("something moved"), "what is said is a move");
    assert_eq!(why(&lock, &moment(&[1], &[])), "p1 is not connected");
    let down = Moment { all_serve: false, ..moment(&[1, 2], &[]) };
    assert_eq!(why(&lock, &down), "a server does not serve");
    says(&lock, 1, None, "writes", "unfenced");
    assert_eq!(why(&lock, &down), "somebody works, or a write is on its way");

    let lock = judge("fair-lock=/lock", &[1, 7]);
    all_say(&lock, &[(1, "attempts"), (1, "finishes")]);
    let left = |owner| moment(&[1, 7], &[("/lock/a", owner)]);
    let may_go = "/lock/a may go by itself: its client is gone, or says nothing";
    assert_eq!(why(&lock, &left(7)), may_go);
    assert_eq!(why(&lock, &left(1)), "");
    lock.is_gone(0, None);
    assert_eq!(why(&lock, &left(1)), may_go);

    let lock = judge("fair-lock=/lock", &[1]);
    all_say(&lock, &[(1, "attempts")]);
    lock.closed(id(1), true);
    assert!(why(&lock, &moment(&[], &[])).starts_with("something moved"), "it may have another one soon");
}

#[tokio::test]
async fn of_a_session_beside_another_it_is_not_known_what_its_znode_is_for() {
    let lock = judge("fair-lock=/lock", &[1, 2]);
    for (session, word) in [(1, "attempts"), (2, "enters"), (2, "leaves")] {
        says(&lock, session, Some(0), word, "/lock");
    }
    [1, 2].into_iter().for_each(|session| says(&lock, session, Some(0), "finishes", "done"));
    let beside = "/lock/a is of a session that p0.1 opened before its former one had ended";
    assert!(why(&lock, &moment(&[1, 2], &[("/lock/a", 2)])).starts_with(beside));
}

/// Two hold a lock at a time, or the former one's session had ended: told before it said anything, or of its process.
#[tokio::test]
async fn who_is_dead_holds_nothing_however_that_was_told() {
    let still = moment(&[1, 2], &[]);
    let found = |dies: fn(&Judge), dies_first: bool| {
        let lock = judge("fair-lock=/lock", &[1, 2]);
        if dies_first {
            dies(&lock);
        }
        all_say(&lock, &[(1, "enters")]);
        if !dies_first {
            dies(&lock);
        }
        all_say(&lock, &[(2, "enters")]);
        verdict(&lock, &still, AMONG_LIVE)
    };
    assert_eq!(found(|_| (), true), Some(Verdict::Broken));
    assert_ne!(found(|judge| judge.closed(id(1), true), true), Some(Verdict::Broken));
    assert_ne!(found(|judge| judge.is_gone(0, None), false), Some(Verdict::Broken));
}

#[tokio::test]
async fn a_client_whose_process_was_gone_begins_another_life() {
    let lock = judge("fair-lock=/lock", &[1, 2]);
    says(&lock, 1, Some(0), "attempts", "/lock");
    lock.is_gone(0, None);
    lock.closed(id(1), true);
    says(&lock, 2, Some(0), "attempts", "/lock");
    let names = lock.found(&moment(&[2], &[])).sessions;
    assert_eq!(names.into_values().collect::<Vec<_>>(), ["p0", "p0.1"]);
}

#[tokio::test]
async fn what_a_thread_says_is_said_by_that_thread() {
    let lock = judge("fair-lock=/lock", &[1]);
    for (thread, name) in [(0, "p0"), (1, "p0/1")] {
        let body = json!({ "session": id(1).to_string(), "thread": thread, "attempts": "/lock" }).to_string();
        let answer = lock.observe(body.as_bytes()).expect("it may speak").await;
        assert_eq!(answer["client"], name);
    }
}

//! What somebody with a red build reads first: the beginning of `replay`, and the counterexample of `check`.
#![cfg(feature = "run")]

use crate::common::zoocheck;

/// So little happens with one server that the first lines are of one cause.
const ALONE: &str = "--set servers=1 --set observers=0";

/// The first fifteen lines of a replay, each sentence in one line. Only what is asked to look for a turning point does.
fn beginning(arguments: &str) -> String {
    let redraws = if arguments.contains("--redraws") { "" } else { " --redraws 0" };
    let ran = zoocheck(&format!("replay {arguments}{redraws}"));
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    let wide = ran.stdout.lines().find(|line| line.chars().count() > 80);
    assert!(wide.is_none_or(|line| !line.trim().contains(' ')), "{wide:?}");
    let first: Vec<&str> = ran.stdout.lines().take(15).map(str::trim).collect();
    first.join(" ")
}

/// What it says must be in it, of a run with one server.
fn tells(arguments: &str, words: &[&str]) {
    told(&format!("{arguments} {ALONE}"), words);
}

/// The same, of whatever servers there are.
fn told(arguments: &str, words: &[&str]) {
    let text = beginning(arguments);
    for words in words {
        assert!(has(&text, words), "{arguments}: no \"{words}\" in\n{text}");
    }
}

/// Whether a text has these words, in which `#` is any time, client or rest of a name.
fn has(text: &str, words: &str) -> bool {
    let (first, pieces) = words.split_once('#').unwrap_or((words, ""));
    text.match_indices(first).any(|(at, _)| {
        let mut rest = &text[at + first.len()..];
        first == words
            || pieces.split('#').all(|piece| {
                rest = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '.' || c == '-');
                rest.strip_prefix(piece).is_some_and(|behind| {
                    rest = behind;
                    true
                })
            })
    })
}

#[test]
fn a_waiter_is_told_what_it_waits_for_and_who_should_have_woken_it() {
    tells(
        "lock/simple --seed 10 --promise no-waiter-stuck",
        &[
            "for a change of /lock/holder: it was made at # s by #, which never got the answer, and is there",
            "/lock/holder is p3.1's own znode: p3.1 waits for itself.",
            "create /lock/holder (ephemeral): done; the answer is lost",
        ],
    );
    tells(
        "lock/no-loop --seed 10",
        &["p4 has waited since # s", "it was deleted at # s by #, and was not made again"],
    );
    tells(
        "lock/java --seed 1 --promise no-waiter-stuck",
        &[
            "# should delete it, but gave up at # s, and its session lives. Its last request, at # s: 'delete /lock/#': lost",
        ],
    );
    told(
        "revocable-lock/parent --seed 0 --promise no-waiter-stuck",
        &[
            "# was granted it at # s, and has not released it.",
            "# has waited since # s for the children of /revokers to change",
        ],
    );
    tells(
        "lock/watch-lost --seed 1 --promise no-waiter-stuck",
        &["# waits without any watch", "fired at # s (NodeDataChanged), and it has asked nothing since"],
    );
}

#[test]
fn of_many_who_are_woken_it_is_told_what_they_watched_and_what_changed() {
    tells(
        "queue/herd --seed 1",
        &[
            "p1, p2, p3, p4 watched the children of /queue/items (set from # s to # s)",
            "/queue/items/item-00000-# was made at # s by p0",
        ],
    );
    // One change wakes p3 at one server, and p0 at another after the znode was made again.
    let both = zoocheck("replay lock/simple --seed 3 --redraws 0 --promise one-woken-per-deletion").stdout;
    let lines = both.split_whitespace().collect::<Vec<_>>().join(" ");
    let again =
        "p3 exists /lock/holder (watch): it is there # p2 create /lock/holder (ephemeral): done # p0 exists";
    assert!(has(&lines, "(set from # s to # s)") && has(&lines, again), "{both}");
    let ran = zoocheck("check queue/herd");
    let text: Vec<&str> = ran.stdout.lines().map(str::trim).collect();
    assert!(text.join(" ").contains("p1, p2 watched the children of /queue/items"), "{}", ran.stdout);
}

#[test]
fn of_one_who_goes_on_writing_it_is_told_what_it_was_told_and_what_it_wrote_then() {
    told(
        "lock/simple --seed 5 --promise session-end-noticed",
        &[
            "p1 was told at # s, and yet its writes reach the resource at # s and # s.",
            "s  --  a write of p1 reaches the unfenced resource",
        ],
    );
}

#[test]
fn it_is_told_from_when_on_a_break_was_not_avoided_any_more() {
    tells(
        "lock/simple --seed 10 --promise no-waiter-stuck --redraws 20",
        &[
            "Turning point at # s: p4's write is answered.",
            "other delays from then on, 20 of 20 runs break it; from just before, 12.",
        ],
    );
    let ran = zoocheck("check queue/herd");
    let inevitable = "Inevitable from step 7 on: every continuation within the bounds breaks it.";
    assert!(ran.stdout.contains(inevitable), "{}", ran.stdout);
    let none = zoocheck(&format!("replay lock/simple --seed 10 --redraws 0 {ALONE}")).stdout;
    assert!(!none.contains("Turning point"), "{none}");
}

#[test]
fn of_two_holders_it_is_told_by_what_they_hold_and_whose_claim_has_ended() {
    tells(
        "lock/no-recheck --seed 0 --promise exclusion-among-live-sessions",
        &[
            "p2 has held it since # s by /lock/#, which is still there",
            "was deleted at # s, when the session of p0 ended",
            "p4 has looked at nothing since",
        ],
    );
    tells(
        "lock/adopts-ghost --seed 4 --promise exclusion-among-live-sessions",
        &[
            "p3.1 has held it since # s by /lock/process3-lock-#, which was deleted at # s, when a former session of p3 ended. p3 crashed at # s.",
        ],
    );
}

/// It was said to be still there.
#[test]
fn of_a_znode_in_whose_place_another_stands_it_is_told_when_it_was_deleted() {
    let ran = zoocheck("check lock/simple --admin 1 --promise exclusion-among-live-sessions");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for fate in [
        "p0 has held it since step 3 by /lock/holder, which was deleted at step 5 by an administrator, and was made \
         at step 6 by p1.",
        "p1 has held it since step 7 by /lock/holder, which is still there.",
    ] {
        assert!(text.contains(fate), "{}", ran.stdout);
    }
}

#[test]
fn of_a_failure_it_is_told_by_which_request_and_of_a_znode_that_is_left_who_left_it() {
    tells(
        "double-barrier/no-node-fails --seed 0 --promise no-failure",
        &["p2 fails at its request of # s: 'delete /barrier/p2': NoNode", "was deleted at # s by p2"],
    );
    tells(
        "lock/fails-at-loss --seed 3 --promise no-failure",
        &[
            "p0 gives up at # s: getChildren /lock: ConnectionLoss",
            "FAULT p0's connection will drop at its next request",
        ],
    );
    tells(
        "try-lock/orphan --seed 9 --promise no-orphan-znode",
        &["Its request of # s: 'delete /lock/#': lost", "FAULT p0's connection will drop at its next delete"],
    );
    tells(
        "membership/no-rejoin --seed 0 --promise session-end-noticed",
        &["The session of p2 expired at # s", "FAULT the server ends the session of p2"],
    );
}

/// The last fault that named the process was told, whether it struck or not.
#[test]
fn of_what_was_lost_it_is_told_what_struck_and_what_was_asked_again() {
    let lost = "queue/lost-delete --seed 0 --promise nothing-lost";
    told(lost, &["It asks again at # s: 'delete /queue/items/#': NoNode"]);
    let text = beginning(lost);
    assert!(text.contains("has no leader") && !text.contains("FAULT"), "{text}");
    told(
        "lock/no-sync --seed 0 --promise no-second-znode",
        &["was made at # s by p4, which never got the answer."],
    );
}

#[test]
fn who_came_first_is_told_and_when_somebody_was_without_a_connection() {
    told(
        "priority-queue/stale-list --seed 7 --promise takes-in-order",
        &[
            "p4 takes /queue/items/# 1 at # s, by its list of # s",
            "p2 asked at # s: 'delete /queue/items/item-00001-#': done.",
        ],
    );
    told(
        "election/duplicate-start --seed 9 --promise one-term-per-election",
        &[
            "Once before, at # s: p0 enters the critical section of /election.",
            "p0 was without its connection from # s to # s.",
        ],
    );
    let ran = zoocheck("replay chubby/check-then-act --seed 0 --promise exclusion-at-checked-resource");
    let (cause, _) = ran.stdout.split_once("the run up to there").expect("a cause, and the run");
    assert!(cause.contains("p2  is accepted with /lock/") && !cause.contains("the unfenced"), "{cause}");
}

/// It breaks in the instant in which the watch fires, and what the process asks then comes behind that.
#[test]
fn a_watch_that_fires_as_it_breaks_is_not_taken_for_one_that_nobody_heeds() {
    for run in [
        "try-lock/waits --seed 0 --promise try-succeeds-uncontended",
        "shared-lock/one-by-one --seed 0 --promise sharers-meet",
    ] {
        told(run, &["has waited since # s for a change of", "Its watch fires in the instant of the break."]);
    }
}

#[test]
fn who_waits_for_what_was_there_before_its_turn_is_told_so() {
    told(
        "double-barrier/create-after-look --seed 1 --promise barrier-opens",
        &["and is there. It was already there when, at # s, # arrives at /barrier 5."],
    );
}

#[test]
fn who_gives_up_for_a_lost_connection_is_told_with_what_it_asked_and_when_that_was_lost() {
    told(
        "lock/fails-at-loss --seed 1",
        &["At # s: 'getChildren /lock': lost. # was without its connection from # s to # s."],
    );
}

/// Fifo broke in the same seed, and stands before it in the order of time.
#[test]
fn the_last_lines_of_a_sweep_are_of_the_promise_that_the_catalogue_names() {
    let ran = zoocheck("run shared-lock/downgrade-new-node --seeds 3 --jobs 1");
    let last: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("replay shared-lock/")).collect();
    let named = "--promise exclusion-among-live-sessions";
    assert!(last.last().is_some_and(|line| line.ends_with(named)), "{last:?}");
}

#[test]
fn a_stale_answer_is_told_with_what_it_does_not_show() {
    told(
        "configuration/no-sync --seed 25 --promise reads-what-it-was-told",
        &["'getData /config/name': NoNode. But its server did not know", "was made at # s by p0"],
    );
}

#[test]
fn another_promise_is_told_of_if_it_is_asked_for() {
    let ran =
        zoocheck(&format!("replay lock/simple --seed 10 --promise exclusion-at-unfenced-resource {ALONE}"));
    assert!(
        ran.stdout.starts_with("lock/simple, seed 10: broken as expected exclusion-at-unf"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("waits since"), "{}", ran.stdout);
    let diagram = zoocheck(&format!(
        "replay lock/simple --seed 10 --promise exclusion-at-unfenced-resource --format mermaid {ALONE}"
    ));
    assert!(!diagram.stdout.contains("no-waiter-stuck"), "it ends before that");
    let wrong = zoocheck("replay lock/simple --seed 10 --promise no-waiter-stuk");
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("did you mean 'no-waiter-stuck'?"), "{}", wrong.stderr);
}

#[test]
fn a_sweep_tells_the_cause_and_its_command_has_the_promise() {
    let ran = zoocheck(&format!("run lock/simple --seeds 10..11 {ALONE}"));
    assert!(ran.stdout.contains("s for a change of /lock/holder: it was made at"), "{}", ran.stdout);
    let last = ran.stdout.lines().last().expect("a command");
    assert!(
        last.ends_with(&format!("replay lock/simple --seed 10 {ALONE} --promise no-waiter-stuck")),
        "{last}"
    );
}

#[test]
fn who_waits_for_data_to_change_is_told_the_versions_that_it_has_seen() {
    let ran = zoocheck("check configuration/version-compare");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("It was told \"2!\" at version 0 at step 26, and \"1\" at version 0 at step 16."),
        "{text}"
    );
}

#[test]
fn a_counterexample_begins_with_the_cause_and_marks_the_steps_that_matter() {
    let ran = zoocheck("check lock/no-recheck");
    let (_, text) = ran.stdout.split_once("exclusion-among-live-sessions: broken\n").expect("it is broken");
    let text: Vec<&str> = text.lines().take(40).collect();
    let (why, steps) = text.split_at(text.iter().position(|line| line.contains(" 1. ")).expect("steps"));
    let why = why.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    assert!(why.contains("was deleted at step 14, when the session of p1 ended"), "{why}");
    assert!(steps.contains(&"> 14. p1's session expires"), "{steps:?}");
}

//! What breaks the promises about what readers see.

use super::super::testing::*;
use super::*;
use crate::event::End;
use zk_api::SessionId;

const ROOT: &str = "/c";

fn says(p: u16, what: &str, about: &str) -> Event {
    Event::Observed { actor: actor(p), what: Observation::note(crate::words::Word::own(what), about, 0) }
}

fn sets(name: &str, value: &str, zxid: u32, is_new: bool) -> Vec<Event> {
    let (path, by, zxid) = (Text::from(format!("/c/{name}")), session(9), Zxid::new(1, zxid));
    let created =
        Event::Is(GroundTruth::NodeCreated { path: path.clone(), by, owner: SessionId::NONE, czxid: zxid });
    let written = Event::Is(GroundTruth::NodeWritten {
        path,
        by,
        owner: SessionId::NONE,
        data: Data::from(value),
        mzxid: zxid,
    });
    if is_new { vec![created, written] } else { vec![written] }
}

fn removes(name: &str, zxid: Option<u32>) -> Event {
    let (path, none) = (Text::from(format!("/c/{name}")), SessionId::NONE);
    let zxid = zxid.map(|counter| Zxid::new(1, counter));
    Event::Is(GroundTruth::NodeDeleted { path, by: none, owner: none, zxid })
}

/// `{}`, then both 1 at once, then both 2, one after the other.
fn history() -> Vec<Event> {
    [sets("a", "1", 1, true), sets("b", "1", 1, true), sets("a", "2", 2, false), sets("b", "2", 3, false)]
        .concat()
}

fn judge(promise: Views, events: &[Event]) -> Vec<Finding> {
    findings(promise, [history(), events.to_vec()].concat())
}

fn rests(events: Vec<Event>) -> Vec<Finding> {
    let mut promise = Views::fresh(ROOT, Of::Values);
    let mut found = Vec::new();
    [history(), events].concat().iter().for_each(|event| promise.see(event, &mut found));
    promise.at_rest(&Rest { unfinished: vec![actor(0)], ..Rest::default() }, &mut found);
    found
}

/// Nobody heard of it: a write that failed and was taken for done was never judged.
#[test]
fn to_say_that_it_was_set_to_what_it_never_was_breaks_committed_reads() {
    let judged = |to: &str| judge(Views::committed(ROOT, Of::Values), &[says(0, "has set", to)]);
    for was in ["/c to 1", "/c to 2", "/c/a to 2", "/d to 3", "/c", "/cc to 3"] {
        assert_eq!(broken_by(&judged(was)), [], "{was}");
    }
    assert_eq!(judged("/c to 1"), [Finding::Tested]);
    let what = "p0 says that it has set /c to 3, and no znode below it ever had that data";
    assert_eq!(broken_by(&judged("/c to 3")), [(what, None)]);
    let what = "p0 says that it has set /c/x to 1, and it never had that data";
    assert_eq!(broken_by(&judged("/c/x to 1")), [(what, None)]);
    assert_eq!(judge(Views::committed(ROOT, Of::Names), &[says(0, "has set", "/c to 3")]), []);
    assert_eq!(judge(Views::untorn(ROOT, Of::Values), &[says(0, "has set", "/c to 3")]), []);
}

#[test]
fn what_never_was_breaks_committed_reads_and_half_of_each_no_torn_reads() {
    let never = [says(0, "sees", "/c{a=1,b=7}")];
    let found = judge(Views::committed(ROOT, Of::Values), &never);
    assert_eq!(broken_by(&found), [("p0 sees /c{a=1,b=7}, which never was", None)]);
    assert_eq!(broken_by(&judge(Views::untorn(ROOT, Of::Values), &never)), []);
    for torn in ["/c{a=1,b=2}", "/c{a=1}"] {
        let torn = [says(0, "sees", torn)];
        assert_eq!(broken_by(&judge(Views::committed(ROOT, Of::Values), &torn)), []);
        let found = judge(Views::untorn(ROOT, Of::Values), &torn);
        assert!(broken_by(&found)[0].0.contains("which never was at one time"));
    }
}

#[test]
fn what_one_transaction_did_is_seen_whole_and_what_two_did_may_be_seen_between() {
    for seen in ["/c{}", "/c{a=1,b=1}", "/c{a=2,b=1}", "/c{a=2,b=2}"] {
        let found = judge(Views::untorn(ROOT, Of::Values), &[says(0, "sees", seen)]);
        assert_eq!(found, [Finding::Tested], "{seen}");
    }
}

#[test]
fn what_one_transaction_sets_and_deletes_is_one_and_seen_between_is_torn() {
    let changed = |zxid| [sets("a", "9", 9, false), vec![removes("b", zxid)]].concat();
    let between = |zxid| {
        judge(
            Views::untorn(ROOT, Of::Values),
            &[changed(zxid), vec![says(0, "sees", "/c{a=9,b=2}")]].concat(),
        )
    };
    let what = "p0 sees /c{a=9,b=2}, which never was at one time";
    assert_eq!(broken_by(&between(Some(9))), [(what, None)]);
    assert_eq!(between(Some(10)), [Finding::Tested], "two transactions");
}

#[test]
fn going_back_breaks_monotone_reads_for_one_reader_and_not_for_two() {
    let (new, old) = ("/c{a=2,b=2}", "/c{a=1,b=1}");
    let found = judge(Views::monotone(ROOT, Of::Values), &[says(0, "sees", new), says(0, "sees", old)]);
    let what = "p0 sees /c{a=1,b=1}, which is older than what it saw before";
    assert_eq!(broken_by(&found), [(what, None)]);
    let found = judge(Views::monotone(ROOT, Of::Values), &[says(0, "sees", new), says(1, "sees", old)]);
    assert_eq!(broken_by(&found), []);
    // By one state is back as well, where somebody who may still see the oldest keeps their order.
    let events = [says(1, "follows", ROOT), says(0, "sees", new), says(0, "sees", "/c{a=2,b=1}")];
    let found = judge(Views::monotone(ROOT, Of::Values), &events);
    let what = "p0 sees /c{a=2,b=1}, which is older than what it saw before";
    assert_eq!(broken_by(&found), [(what, None)]);
}

#[test]
fn what_nobody_can_have_seen_last_is_in_no_order_any_more() {
    let new = says(0, "sees", "/c{a=2,b=2}");
    let old = says(0, "sees", "/c{a=1,b=1}");
    let forgets = |mut promise: Views, events: &[Event]| {
        let all = [history(), vec![new.clone()], events.to_vec()].concat();
        all.iter().for_each(|event| promise.see(event, &mut Vec::new()));
        (promise.states.len(), promise.past.len())
    };
    assert_eq!(forgets(Views::monotone(ROOT, Of::Values), &[]), (1, 3));
    assert_eq!(forgets(Views::fresh(ROOT, Of::Values), &[]), (1, 0));
    assert_eq!(forgets(Views::committed(ROOT, Of::Values), &[]), (1, 3));
    assert_eq!(forgets(Views::committed(ROOT, Of::Values), &[old]), (1, 3));
    let follows = says(1, "follows", ROOT);
    let both = judge(Views::monotone(ROOT, Of::Values), &[new, follows, says(1, "sees", "/c{}")]);
    assert_eq!(both, [], "whoever comes later may see what is old");
}

#[test]
fn what_never_changes_puts_nothing_to_the_test() {
    let [follows, nothing] = [says(0, "follows", ROOT), says(0, "sees", "/c{}")];
    let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::Done });
    let new = [Views::committed, Views::untorn, Views::monotone, Views::told, Views::fresh];
    for promise in new.map(|new| new(ROOT, Of::Values)) {
        let events = [&follows, &nothing, &nothing, &ends].map(Clone::clone);
        assert_eq!(findings(promise, events.into()), []);
    }
}

#[test]
fn seeing_the_same_again_after_being_told_of_something_newer_breaks_it() {
    let old = says(0, "sees", "/c{a=1,b=1}");
    let told = [old.clone(), says(0, "told", ROOT), old.clone()];
    let found = judge(Views::told(ROOT, Of::Values), &told);
    let what = "p0 sees /c{a=1,b=1}, though it was told that there is something newer";
    assert_eq!(broken_by(&found), [(what, None)]);
    let found = judge(
        Views::told(ROOT, Of::Values),
        &[old.clone(), says(0, "told", ROOT), says(0, "sees", "/c{a=2,b=1}")],
    );
    assert_eq!(found, [Finding::Tested]);
    assert_eq!(judge(Views::told(ROOT, Of::Values), &[old.clone(), old]), []);
}

#[test]
fn waiting_with_something_old_at_rest_breaks_it_and_with_the_last_does_not() {
    let follows = says(0, "follows", ROOT);
    let found = rests(vec![follows.clone(), says(0, "sees", "/c{a=1,b=1}")]);
    assert_eq!(broken_by(&found), [("p0 waits on with /c{a=1,b=1}, and it is /c{a=2,b=2}", None)]);
    let found = rests(vec![follows.clone()]);
    assert_eq!(broken_by(&found), [("p0 waits on and has never seen /c{a=2,b=2}", None)]);
    assert_eq!(rests(vec![follows.clone(), says(0, "sees", "/c{a=2,b=2}")]), [Finding::Tested]);
    let ends = |end| Event::Is(GroundTruth::Finished { actor: actor(0), end });
    let old = || vec![follows.clone(), says(0, "sees", "/c{a=1,b=1}")];
    let is_through = || vec![says(0, "is through with", ROOT), ends(End::Done)];
    assert_eq!(rests([old(), is_through()].concat()), [Finding::Tested]);
    assert_eq!(rests([old(), vec![ends(End::SessionLost)]].concat()), []);
    assert_eq!(rests([old()[1..].to_vec(), vec![ends(End::Done)]].concat()), [], "it never followed");
}

/// A watch that is not set again was nobody's fault any more as soon as the code that had set it had returned.
#[test]
fn who_follows_is_to_see_the_last_though_its_code_has_come_to_its_end() {
    let judge = |then: Vec<Event>| {
        let before = vec![opened(0), says(0, "follows", ROOT), says(0, "sees", "/c{a=1,b=1}"), finished(0)];
        let (mut promise, mut found) = (Views::fresh(ROOT, Of::Values), Vec::new());
        [history(), before, then].concat().iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() }, &mut found);
        found
    };
    let what = "p0 follows on with /c{a=1,b=1}, and it is /c{a=2,b=2}; its code has ended, and has not said that it is \
                through with /c";
    assert_eq!(broken_by(&judge(vec![])), [(what, None)]);
    assert_eq!(judge(vec![says(0, "sees", "/c{a=2,b=2}")]), [Finding::Tested], "a watch has told it");
    assert_eq!(judge(vec![says(0, "is through with", ROOT)]), [], "by what a watch calls");
    assert_eq!(judge(vec![closed(0)]), [], "no watch goes on");
    assert_eq!(broken_by(&judge(vec![closed(1)])).len(), 1);
    assert_eq!(judge(vec![crashed(0)]), []);
}

/// A right program was broken in every search: its watch had fired, and what its client does once it has ended is left
/// out.
#[test]
fn of_whom_nothing_more_is_shown_nobody_knows_what_it_has_seen_last() {
    let follows = vec![says(0, "follows", ROOT), says(0, "sees", "/c{a=2,b=1}"), finished(0)];
    let judged = |unshown| {
        let events = [vec![opened(0), opened(1)], history(), follows.clone()].concat();
        let sessions = vec![(session(0), actor(0))];
        resting(Views::fresh(ROOT, Of::Values), events, &Rest { sessions, unshown, ..Rest::default() })
    };
    assert_eq!((broken_by(&judged(vec![])).len(), judged(vec![actor(0)])), (1, vec![]));
}

#[test]
fn a_thread_that_waits_on_when_the_main_one_has_ended_is_judged_as_well() {
    let old = [says(0, "follows", ROOT), says(0, "sees", "/c{a=1,b=1}")].map(|event| by_thread(1, event));
    let (mut promise, mut found) = (Views::fresh(ROOT, Of::Values), Vec::new());
    let events = [history(), old.to_vec(), vec![finished(0)]].concat();
    events.iter().for_each(|event| promise.see(event, &mut found));
    promise.at_rest(&Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() }, &mut found);
    assert_eq!(broken_by(&found), [("p0/1 waits on with /c{a=1,b=1}, and it is /c{a=2,b=2}", None)]);
}

/// What a trial sets up was nothing that a reader could have seen, and was missing from what it had seen.
#[test]
fn what_a_trial_sets_up_was_there_before_anything_else() {
    let setup = ["/c", "/c/a", "/c/b", "/c/b/of_b", "/other"].map(Text::from);
    let judge = |new: fn(&'static str, Of) -> Views, of, events: &[Event]| {
        let (mut promise, mut found) = (new(ROOT, of), Vec::new());
        promise.begins_with(&setup);
        events.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest { unfinished: vec![actor(0)], ..Rest::default() }, &mut found);
        found
    };
    let [names, first] = ["/c{a,b}", "/c{a=,b=}"].map(|shown| says(0, "sees", shown));
    for new in [Views::committed, Views::untorn, Views::monotone, Views::told, Views::fresh] {
        assert_eq!(judge(new, Of::Values, std::slice::from_ref(&first)), [], "nothing has changed");
        assert_eq!(judge(new, Of::Names, std::slice::from_ref(&names)), []);
    }
    let found = judge(Views::untorn, Of::Values, &[says(0, "sees", "/c{}")]);
    assert_eq!(broken_by(&found), [("p0 sees /c{}, which never was at one time", None)]);
    let both = [sets("a", "1", 1, false), sets("b", "1", 1, false)].concat();
    let torn = [both.clone(), vec![says(0, "sees", "/c{a=,b=1}")]].concat();
    let what = "p0 sees /c{a=,b=1}, which never was at one time";
    assert_eq!(broken_by(&judge(Views::untorn, Of::Values, &torn)), [(what, None)]);
    let waits = [vec![first], both.clone()].concat();
    let what = "p0 waits on with /c{a=,b=}, and it is /c{a=1,b=1}";
    assert_eq!(broken_by(&judge(Views::fresh, Of::Values, &waits)), [(what, None)]);
    let last = [both, vec![says(0, "sees", "/c{a=1,b=1}")]].concat();
    assert_eq!(judge(Views::fresh, Of::Values, &last), [Finding::Tested]);
}

#[test]
fn names_are_read_without_values_and_deletions_count() {
    let gone = removes("a", None);
    let both = says(0, "sees", "/c{a,b}");
    let events = [both.clone(), gone, says(0, "sees", "/c{b}"), both];
    let found = judge(Views::monotone("/c", Of::Names), &events);
    assert_eq!(broken_by(&found), [("p0 sees /c{a,b}, which is older than what it saw before", None)]);
}

#[test]
fn two_changes_of_which_no_transaction_is_known_are_two() {
    let gone = [removes("a", None), removes("b", None)].to_vec();
    for seen in ["/c{b=2}", "/c{}"] {
        let events = [gone.clone(), vec![says(0, "sees", seen)]].concat();
        assert_eq!(judge(Views::untorn(ROOT, Of::Values), &events), [Finding::Tested]);
    }
}

#[test]
fn the_crash_of_another_lets_nobody_go_back() {
    let (new, old) = (says(0, "sees", "/c{a=2,b=2}"), says(0, "sees", "/c{a=1,b=1}"));
    let broken = |who| {
        let events = [new.clone(), crashed(who), old.clone()];
        broken_by(&judge(Views::monotone(ROOT, Of::Values), &events)).len()
    };
    assert_eq!((broken(0), broken(1)), (0, 1));
}

#[test]
fn to_see_the_same_again_is_not_to_go_back_though_it_was_told() {
    let new = says(0, "sees", "/c{a=2,b=2}");
    let again = [new.clone(), says(0, "told", ROOT), new.clone()];
    assert_eq!(broken_by(&judge(Views::monotone(ROOT, Of::Values), &again)), []);
    let first = [says(0, "told", ROOT), new];
    assert_eq!(judge(Views::told(ROOT, Of::Values), &first), [], "it had seen nothing before");
}

#[test]
fn only_what_is_to_be_fresh_is_judged_at_the_end_and_at_rest() {
    let follows = [says(0, "follows", ROOT), says(1, "sees", "/c{a=2,b=2}")];
    let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
    for new in [Views::committed, Views::untorn, Views::monotone, Views::told] {
        let events = [&history()[..], &follows].concat();
        assert_eq!(resting(new(ROOT, Of::Values), events.clone(), &rest), []);
        let found = |ends: &[Event]| findings(new(ROOT, Of::Values), [&events, ends].concat());
        assert_eq!(found(&[finished(1)]), found(&[]));
    }
}

/// Whoever reads one of several values was held to all of them.
#[test]
fn who_follows_some_of_the_children_by_their_paths_sees_those() {
    let a = says(0, "follows", "/c/a");
    let one = |value: &str| says(0, "sees", &format!("/c{{a={value}}}"));
    for new in [Views::committed, Views::untorn, Views::monotone, Views::told] {
        let found = judge(new(ROOT, Of::Values), &[a.clone(), one("1"), one("2")]);
        assert_eq!(broken_by(&found), []);
    }
    let back = judge(Views::monotone(ROOT, Of::Values), &[a.clone(), one("2"), one("1")]);
    assert_eq!(broken_by(&back), [("p0 sees /c{a=1}, which is older than what it saw before", None)]);
    let found = rests(vec![a.clone(), one("1")]);
    assert_eq!(broken_by(&found), [("p0 waits on with /c{a=1}, and it is /c{a=2}", None)]);
    assert_eq!(rests(vec![a.clone(), one("2")]), [Finding::Tested]);
    let both = [a, says(0, "follows", "/c/b"), says(0, "sees", "/c{a=2,b=2}")];
    assert_eq!(rests(both.to_vec()), [Finding::Tested]);
    let all = [says(0, "follows", ROOT), says(0, "sees", "/c{a=2,b=2}")];
    let of_all = |first: &str, then: &str| {
        judge(
            Views::untorn(ROOT, Of::Values),
            &[says(0, "follows", first), says(0, "follows", then), all[1].clone()],
        )
    };
    assert_eq!(broken_by(&of_all(ROOT, "/c/a")), [], "that is one of all");
    assert_eq!(broken_by(&of_all("/c/a", ROOT)), []);
    let through = |about: &[&str]| {
        let names = ["/c/a", "/c/b"].map(|path| says(0, "follows", path));
        let through = about.iter().map(|path| says(0, "is through with", path)).collect::<Vec<_>>();
        let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::Done });
        let old = vec![says(0, "sees", "/c{a=1,b=1}")];
        let (mut promise, mut found) = (Views::fresh(ROOT, Of::Values), Vec::new());
        let events = [history(), names.to_vec(), old, through, vec![ends]].concat();
        events.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() }, &mut found);
        broken_by(&found).len()
    };
    assert_eq!((through(&["/c/a"]), through(&["/c/a", "/c/b"]), through(&[ROOT])), (1, 0, 0));
    let whole = judge(Views::untorn(ROOT, Of::Values), &[one("2")]);
    let what = "p0 sees /c{a=2}, which never was at one time (who does not read all children says which of them it \
                follows, by their paths)";
    assert_eq!(broken_by(&whole), [(what, None)]);
}

#[test]
fn what_is_told_in_another_way_is_said() {
    let broken = |of, shown: &str| {
        let found = judge(Views::committed(ROOT, of), &[says(0, "sees", &format!("/c{shown}"))]);
        broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect::<Vec<_>>()
    };
    let what = "p0 sees /c{a=1,b=1}, which never was (members are told by their names, without data)";
    assert_eq!(broken(Of::Names, "{a=1,b=1}"), [what]);
    let what = "p0 sees /c{a,b}, which never was (values are told with their names and data)";
    assert_eq!(broken(Of::Values, "{a,b}"), [what]);
    assert_eq!(broken(Of::Values, "{a=3}"), ["p0 sees /c{a=3}, which never was"]);
}

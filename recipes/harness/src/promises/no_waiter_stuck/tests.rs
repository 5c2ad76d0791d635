//! Who waits for ever, and who may.

use super::super::testing::*;
use super::*;

#[test]
fn an_actor_that_waits_at_rest_breaks_it() {
    let mut found = Vec::new();
    let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
    NoWaiterStuck.at_rest(&rest, &mut found);
    assert_eq!(broken_by(&found), [("p1 waits for ever", None)]);
}

/// With the main thread's end all others were forgotten, and a lost wake-up in one of them held.
#[test]
fn a_thread_that_waits_on_when_the_main_one_has_ended_breaks_it() {
    let asks =
        Event::Observed { actor: actor(0).of_thread(1), what: Observation::Attempts { lock: LOCK.into() } };
    let rest = |session| Rest { sessions: vec![session], ..Rest::default() };
    let stuck = |events, rest: &Rest| broken_by(&resting(NoWaiterStuck, events, rest)).len();
    let lives = rest((session(0), actor(0)));
    assert_eq!(stuck(vec![asks.clone(), finished(0)], &lives), 1);
    assert_eq!(stuck(vec![finished(0), asks.clone()], &lives), 1);
    assert_eq!(stuck(vec![attempts(0), finished(0)], &lives), 0, "the main one has told by its end");
    assert_eq!(
        stuck(vec![asks.clone(), finished(0)], &rest((session(1), actor(1)))),
        0,
        "its session is over"
    );
    let crashed = Event::Is(GroundTruth::Crashed { actor: actor(0) });
    assert_eq!(stuck(vec![asks.clone(), crashed], &lives), 0);
    let whole = Rest { unfinished: vec![actor(0)], ..lives };
    assert_eq!(stuck(vec![asks], &whole), 1, "once, of the process");
}

/// One session's end excused everybody, and whose it was.
#[test]
fn who_alone_has_died_and_lives_on_is_owed_it_and_no_other() {
    let stuck = |died: &[u16], unfinished: u16| {
        let died = died.iter().flat_map(|p| [opened(*p), closed(*p), opened(*p)]).collect();
        let rest = Rest { unfinished: vec![actor(unfinished)], ..Rest::default() };
        resting(NoWaiterStuck::but_who_stays(), died, &rest).len()
    };
    assert_eq!((stuck(&[], 1), stuck(&[1], 1), stuck(&[1, 1], 1)), (1, 1, 1));
    assert_eq!((stuck(&[0], 1), stuck(&[1, 0], 1), stuck(&[0, 1], 1)), (0, 0, 0));
    let (learns, ends) = (GroundTruth::LearnsExpiry { actor: actor(0) }, |end| {
        Event::Is(GroundTruth::Finished { actor: actor(0), end })
    });
    for another in [Event::Is(learns), crashed(0), ends(End::SessionLost), ends(End::Failed)] {
        let both = vec![opened(1), closed(1), opened(1), another.clone()];
        let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
        assert_eq!(resting(NoWaiterStuck::but_who_stays(), both, &rest), [], "{another:?}");
    }
}

/// The end of its own session was what it might wait for.
#[test]
fn who_has_lost_its_session_and_looks_for_no_other_is_stuck() {
    let mut promise = NoWaiterStuck::but_who_stays();
    [opened(0), opened(1), closed(0), crashed(1)].iter().for_each(|it| promise.see(it, &mut Vec::new()));
    let stuck = |sessions: &[u16]| {
        let sessions = sessions.iter().map(|p| (session(*p), actor(*p))).collect();
        let mut found = Vec::new();
        promise.at_rest(&Rest { unfinished: vec![actor(0)], sessions, ..Rest::default() }, &mut found);
        found.len()
    };
    assert_eq!([stuck(&[]), stuck(&[1]), stuck(&[0])], [1, 1, 0]);
}

#[test]
fn who_has_something_may_stay_and_nobody_else() {
    let rest = Rest { unfinished: vec![actor(0), actor(1), actor(2)], ..Rest::default() };
    let begins = Event::Observed {
        actor: actor(0),
        what: Observation::begins(crate::words::Word::own("leads"), LOCK, 0),
    };
    let stuck = |events| {
        let found = resting(NoWaiterStuck::but_who_stays(), events, &rest);
        broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect::<Vec<_>>()
    };
    let said = vec![begins.clone(), attempts(1)];
    assert_eq!(stuck(said), ["p2 waits for ever"], "it has said nothing");
    assert_eq!(stuck(vec![begins, attempts(1), granted(1)]), ["p2 waits for ever"]);
    assert_eq!(stuck(vec![attempts(1), granted(1), released(1)]).len(), 3);
    let adds = |actor| Event::Observed { actor, what: Observation::begins(words::ADDS, LOCK, 1) };
    assert_eq!(stuck(vec![adds(actor(1))]).len(), 3, "to add is to come to an end");
}

/// Followers of a leader for life were stuck.
#[test]
fn who_asks_may_wait_behind_who_stays_and_for_nobody_else() {
    const OTHER: &str = "/other";
    let asks = |p, lock: &str| Event::Observed {
        actor: actor(p),
        what: Observation::Attempts { lock: lock.into() },
    };
    let has =
        |p, lock: &str| Event::Observed { actor: actor(p), what: Observation::Enters { lock: lock.into() } };
    let stuck = |events: Vec<Event>, live: &[u16]| {
        let unfinished = live.iter().map(|p| actor(*p)).collect();
        let rest = Rest { unfinished, ..Rest::default() };
        let found = resting(NoWaiterStuck::but_who_stays(), events, &rest);
        let named = broken_by(&found).into_iter().map(|(what, _)| what[..2].to_owned());
        named.collect::<Vec<_>>()
    };
    let all = [0, 1, 2];
    let line = || vec![has(0, LOCK), asks(1, LOCK), asks(2, LOCK)];
    assert_eq!(stuck(line(), &all), [""; 0]);
    assert_eq!(stuck([line(), vec![closed(0)]].concat(), &[1, 2]), [""; 0], "it may be its turn");
    assert_eq!(stuck([line(), vec![released(0)]].concat(), &[1, 2]), ["p1", "p2"]);
    assert_eq!(stuck([line(), vec![closes(0)]].concat(), &[1, 2]), ["p1", "p2"], "it has gone");
    let adds = Event::Observed { actor: actor(1), what: Observation::begins(words::ADDS, LOCK, 1) };
    assert_eq!(stuck(vec![has(0, LOCK), adds], &[0, 1]), ["p1"], "it asks for nothing");
    // One behind another, and in a circle.
    let chain = || vec![has(0, LOCK), asks(1, LOCK), has(1, OTHER), asks(2, OTHER)];
    assert_eq!(stuck(chain(), &all), [""; 0]);
    assert_eq!(stuck([chain(), vec![asks(0, OTHER)]].concat(), &all), ["p0", "p1", "p2"]);
}

/// Any deletion of another's znode was an excuse, and so was the end of a session that its own client had closed, and
/// the end of an actor for that.
#[test]
fn what_the_recipes_own_people_do_is_no_excuse() {
    let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
    let ending = |event, end| {
        let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end });
        let events = vec![opened(0), opened(1), event, ends];
        broken_by(&resting(NoWaiterStuck::while_all_live(), events, &rest)).len()
    };
    let stuck = |event| ending(event, End::Done);
    let own = [deleted("/b/p0", 1, 0), deleted("/b/p0", 0, 0), vanished("/b/p0", 0), closes(0)];
    assert_eq!(own.map(stuck), [1; 4]);
    assert_eq!([deleted("/b/p0", ADMIN, 0), closed(0)].map(stuck), [0; 2]);
    assert_eq!(stuck(deleted("/b", ADMIN, NOBODY)), 1, "nobody is waited for by that");
    let ends = [End::SessionLost, End::Failed];
    assert_eq!(ends.map(|end| ending(closes(0), end)), [1, 0]);
    assert_eq!(ends.map(|end| ending(closes(1), end)), [0; 2], "it is another's");
    let lost = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::SessionLost });
    let rested = |events| {
        broken_by(&resting(NoWaiterStuck::while_all_live(), [vec![opened(0)], events].concat(), &rest)).len()
    };
    assert_eq!(rested(vec![lost.clone(), closes(0)]), 1, "its close was under way");
    assert_eq!(rested(vec![closes(0), opened(0), lost]), 0, "it was another session's");
    let learns = Event::Is(GroundTruth::LearnsExpiry { actor: actor(0) });
    assert_eq!(rested(vec![learns]), 0, "nobody may have seen more of it");
}

/// Any quiet rest was a test of it, and a trial whose actors return at once was green.
#[test]
fn it_takes_one_that_waits_and_another_that_lets_it_go_on() {
    assert_eq!(resting(NoWaiterStuck, vec![opened(0), finished(0)], &Rest::default()), []);
    let alone = vec![attempts(0), granted(0), released(0)];
    assert_eq!(findings(NoWaiterStuck, [alone, vec![attempts(1)]].concat()), []);
    let waits = vec![attempts(0), granted(0), attempts(1), released(0)];
    assert_eq!(findings(NoWaiterStuck, waits), [Finding::Tested]);
    let woken = vec![fired("/a", zk_api::EventType::NodeCreated, &[1])];
    assert_eq!(findings(NoWaiterStuck, woken), [Finding::Tested]);
    let votes = |p| Event::Observed {
        actor: actor(p),
        what: Observation::begins(crate::words::Word::own("votes"), "/tx/1", 0),
    };
    let learns =
        |p| Event::Observed { actor: actor(p), what: Observation::ends(crate::words::COMMITS, "/tx/1", 0) };
    assert_eq!(findings(NoWaiterStuck, vec![votes(0), learns(0), votes(1), learns(1)]), []);
    let both = vec![votes(0), votes(1), learns(0), learns(1)];
    assert_eq!(findings(NoWaiterStuck, both), [Finding::Tested]);
}

/// Who had been granted a lock and given it up was taken for one that stays.
#[test]
fn who_has_given_up_does_not_stay() {
    let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
    let stuck = |events| broken_by(&resting(NoWaiterStuck::but_who_stays(), events, &rest)).len();
    assert_eq!(stuck(vec![attempts(0), granted(0)]), 0);
    assert_eq!(stuck(vec![attempts(0), granted(0), gives_up(0)]), 1);
    let leads = crate::words::Word::own("leads");
    let [begins, ends] = [Observation::begins(leads, LOCK, 0), Observation::ends(leads, LOCK, 0)]
        .map(|what| Event::Observed { actor: actor(0), what });
    assert_eq!((stuck(vec![begins.clone()]), stuck(vec![begins, ends])), (0, 1));
}

#[test]
fn who_stays_for_one_thing_and_waits_for_another_is_stuck() {
    let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
    let begins =
        |what, about: &str| Event::Observed { actor: actor(0), what: Observation::begins(what, about, 0) };
    let stuck = |then: &[Event]| {
        let leads = begins(crate::words::Word::own("leads"), "/lead");
        let events = [&[leads], then].concat();
        broken_by(&resting(NoWaiterStuck::but_who_stays(), events, &rest)).len()
    };
    assert_eq!(stuck(&[]), 0);
    assert_eq!(stuck(&[begins(words::IS_A_MEMBER_BY, "/group/p0")]), 0);
    assert_eq!((stuck(&[attempts(0)]), stuck(&[begins(words::ADDS, "/count")])), (1, 1));
}

/// A lost wake-up was excused where it was told by a word of one's own, and a lock that died with its holder.
#[test]
fn what_its_author_alone_can_say_is_left_open() {
    let says = |p, word| Event::Observed {
        actor: actor(p),
        what: Observation::begins(crate::words::Word::own(word), LOCK, 0),
    };
    let comes = Event::Observed { actor: actor(1), what: Observation::begins(words::COMES_TO, LOCK, 0) };
    let stuck = |promise: NoWaiterStuck, events: Vec<Event>, sessions: &[u16]| {
        let unfinished = sessions.iter().filter(|p| **p > 0).map(|p| actor(*p)).collect();
        let sessions = sessions.iter().map(|p| (session(*p), actor(*p))).collect();
        let found = resting(promise, events, &Rest { unfinished, sessions, ..Rest::default() });
        let told = broken_by(&found).into_iter().map(|(what, failed)| (what.to_owned(), failed.is_some()));
        told.collect::<Vec<_>>()
    };
    let left_open = |events: Vec<Event>, sessions: &[u16]| {
        assert_eq!(stuck(NoWaiterStuck::but_who_stays(), events.clone(), sessions), []);
        stuck(NoWaiterStuck::standard(), events, sessions)
    };
    let waits = || vec![says(1, "waits at")];
    assert_eq!(left_open(waits(), &[1]), [("p1 waits on: it waits at /lock".to_owned(), true)]);
    assert_eq!(left_open([waits(), vec![granted(1)]].concat(), &[1]), [], "it has it");
    assert_eq!(left_open(vec![granted(1), says(1, "leads")], &[1]), []);
    let elsewhere = Observation::begins(crate::words::Word::own("waits at"), "/a", 0);
    let elsewhere = Event::Observed { actor: actor(1), what: elsewhere };
    assert_eq!(left_open(vec![elsewhere.clone(), granted(1)], &[1]), [], "it has something else");
    let behind = vec![granted(0), elsewhere, attempts(1)];
    assert_eq!(left_open(behind, &[0, 1]), [], "it waits for who has the lock");
    assert_eq!(left_open([waits(), vec![closed(2)]].concat(), &[1]), [], "it may wait for who has died");
    let thread = vec![by_thread(1, says(0, "waits at")), finished(0)];
    assert_eq!(left_open(thread, &[0]), [("p0/1 waits on: it waits at /lock".to_owned(), true)]);
    // Who has died may have had it.
    let asks = || vec![attempts(1), closed(2)];
    assert_eq!(left_open(asks(), &[1]), [("p1 waits on for /lock, which nobody has".to_owned(), true)]);
    assert_eq!(left_open([asks(), vec![granted(0)]].concat(), &[0, 1]), [], "it waits for who has it");
    assert_eq!(left_open(vec![comes, closed(2)], &[1]), [], "it may be the one who was to come");
    assert_eq!(
        stuck(NoWaiterStuck::standard(), vec![attempts(1)], &[1]),
        [("p1 waits for ever".to_owned(), false)]
    );
}

/// A holder that missed its wake-up inside its section was taken for a leader, and all who asked behind it waited
/// rightly.
#[test]
fn who_has_a_lock_and_watches_for_something_is_left_open() {
    let stuck = |promise: NoWaiterStuck, events: &[Event], watch: Option<(u16, &str, bool)>| {
        let sessions = [0, 1].map(|p| (session(p), actor(p))).to_vec();
        let watch =
            watch.map(|(p, path, of_children)| Watch { actor: actor(p), path: path.into(), of_children });
        let nodes = vec![("/lock/p0".into(), session(0))];
        let unfinished = vec![actor(0), actor(1)];
        let watches = watch.into_iter().collect();
        let rest = Rest { unfinished, nodes, sessions, watches, ..Rest::default() };
        let found = resting(promise, events.to_vec(), &rest);
        broken_by(&found).into_iter().map(|(what, failed)| (what.to_owned(), failed)).collect::<Vec<_>>()
    };
    let standard = |events: &[Event], watch| stuck(NoWaiterStuck::standard(), events, Some(watch));
    let behind = [granted(0), attempts(1)];
    let open =
        |what: &str| [(format!("p0 waits on: it has /lock and {what}"), Some(Assumption::NobodyMeantToWait))];
    assert_eq!(standard(&behind, (0, "/gate", false)), open("watches /gate"));
    assert_eq!(standard(&behind, (0, "/gate", true)), open("watches the children of /gate"));
    assert_eq!(standard(&behind, (0, "/lock", false)), open("watches /lock"));
    let silent = [(0, "/lock", true), (0, "/lock/p0", false), (1, "/lock/p0", false)];
    assert_eq!(silent.map(|watch| standard(&behind, watch).len()), [0; 3], "it leads");
    assert_eq!(stuck(NoWaiterStuck::standard(), &behind, None), []);
    assert_eq!(stuck(NoWaiterStuck::but_who_stays(), &behind, Some((0, "/gate", false))), [], "it is said");
    let is_in =
        Event::Observed { actor: actor(0), what: Observation::begins(words::IS_A_MEMBER_BY, "/lock/p0", 0) };
    assert_eq!(standard(&[is_in.clone(), attempts(1), granted(1)], (0, "/group", true)), [], "a member");
    let both = [is_in, granted(0), attempts(1)];
    assert_eq!(standard(&both, (0, "/gate", false)), open("watches /gate"));
    let other_died = [&[opened(0), opened(1)][..], &behind, &[closed(1)]].concat();
    assert_eq!(standard(&other_died, (0, "/gate", false)), [], "it may wait for who has died");
}

#[test]
fn a_thread_that_has_ended_stays_for_nothing() {
    let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
    let leads = || by_thread(1, granted(0));
    let ends = Event::Is(GroundTruth::ThreadEnded { actor: actor(0).of_thread(1) });
    let stuck = |events| broken_by(&resting(NoWaiterStuck::but_who_stays(), events, &rest)).len();
    assert_eq!((stuck(vec![leads()]), stuck(vec![leads(), ends])), (0, 1));
}

#[test]
fn a_thread_may_wait_for_one_that_has_died() {
    let asks = by_thread(1, attempts(0));
    let rest = Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() };
    let stuck = |died| {
        let events = vec![opened(0), opened(1), asks.clone(), finished(0), died];
        broken_by(&resting(NoWaiterStuck::while_all_live(), events, &rest)).len()
    };
    assert_eq!((stuck(closes(1)), stuck(closed(1))), (1, 0));
}

#[test]
fn nothing_is_a_test_of_it_but_who_is_done_or_a_change_that_wakes() {
    let leads = Observation::begins(crate::words::Word::own("leads"), "/lead", 0);
    let said =
        [attempts(0), attempts(1), granted(0), enters(0), leaves(0), gives_up(0), notes(0, "hums", LOCK)];
    let ends = [finished(0), closed(0), crashed(1), fired(LOCK, zk_api::EventType::NodeCreated, &[])];
    let leads = [opened(0), Event::Observed { actor: actor(0), what: leads }];
    let all = [&leads[..], &said, &ends].concat();
    for promise in [NoWaiterStuck, NoWaiterStuck::while_all_live(), NoWaiterStuck::but_who_stays()] {
        assert_eq!(findings(promise, all.clone()), []);
    }
}

/// Who had left its section and kept the lock for ever was taken for one that stays in it.
#[test]
fn who_has_left_its_section_does_not_stay_in_it() {
    let stuck = |has: &[Event]| {
        let rest = Rest { unfinished: vec![actor(0), actor(1)], ..Rest::default() };
        let found = resting(NoWaiterStuck::standard(), [has, &[attempts(1)]].concat(), &rest);
        let told = broken_by(&found).into_iter();
        told.map(|(what, failed)| (what.to_owned(), failed.is_some())).collect::<Vec<_>>()
    };
    let forever = ["p0 waits for ever", "p1 waits for ever"].map(|what| (what.to_owned(), false));
    assert_eq!(stuck(&[attempts(0), enters(0), leaves(0)]), forever);
    assert_eq!(stuck(&[attempts(0), enters(0)]), [], "it is in it");
    assert_eq!(stuck(&[attempts(0), enters(0), enters(0), leaves(0)]), [], "of a section within it");
    let left = "p0 waits on: it has left the section of /lock, and has not said that it released it";
    let open = [(left.to_owned(), true)];
    assert_eq!(stuck(&[attempts(0), granted(0), enters(0), leaves(0)]), open, "it may lead on");
    assert_eq!(stuck(&[attempts(0), enters(0), granted(0), leaves(0)]), open);
    let goes_on = [attempts(0), granted(0), enters(0), leaves(0), enters(0)];
    assert_eq!(stuck(&goes_on), []);
    assert_eq!(stuck(&[&goes_on[..], &[leaves(0), released(0)]].concat()), forever);
    assert_eq!(stuck(&[&goes_on[..], &[leaves(0), attempts(0)]].concat()), forever, "it asks anew");
}

//! The queue against a server by script.

use crate::script::{ME, ORDERED, Script, created, event, names, ordered, start, there};
use zk_api::{Data, ErrorCode, EventType, MultiOutcome, Response, SessionId, Stat, ZPath};
use zk_recipes::RecipeError;
use zk_recipes::queue::{Consumer, Delivery, Producer, Taken};

const MULTI: &str = "multi ";
const MARK: &str = "create /queue/putters/g";
const UNMARK: &str = "delete /queue/putters/g";
const STAND: &str = "create /queue/takers/g-taker-";
const OWN: &str = "/queue/takers/g-taker-0000000000";
const LINE: &str = "getChildren /queue/takers";
const ITEMS: &str = "getChildren /queue/items watch";
/// Where its own claim may be there already.
const LOOK: &str = "getChildren /queue/items";
const FIRST: &str = "item-00000-0000000001";
const CLAIM: &str = "claim-of-item-00000-0000000001";

fn queue() -> ZPath {
    ZPath::parse("/queue").unwrap()
}

fn applied() -> Response {
    Response::Multi(MultiOutcome::Applied(Vec::new()))
}

fn failed(codes: &[Option<ErrorCode>]) -> Response {
    Response::Multi(MultiOutcome::Failed(codes.to_vec()))
}

fn consumer(script: &Script) -> Consumer<Script> {
    Consumer::new(script.clone(), &queue(), "g").unwrap()
}

/// Gets to the head of the line.
macro_rules! first_in_line {
    ($script:ident, $take:ident) => {
        $script.answer(STAND, created(OWN));
        $take.waits();
        $script.answer(LINE, names(&["g-taker-0000000000"]));
        $take.waits();
        $script.answer(&format!("exists {OWN}"), there(ME));
        $take.waits();
    };
}

/// Reads the item that was claimed, and leaves the line.
macro_rules! reads {
    ($script:ident, $take:ident) => {
        let item = format!("getData /queue/items/{FIRST}");
        $script.answer(&item, Response::Data { data: "work".into(), stat: Stat::default() });
        $take.waits();
        $script.answer(&format!("delete {OWN}"), Response::Deleted);
    };
}

fn taken<'a>(script: &Script, consumer: &'a mut Consumer<Script>) -> Taken<'a, Script> {
    let mut take = start(consumer.take(Delivery::AtLeastOnce));
    first_in_line!(script, take);
    script.answer_watch(ITEMS, names(&[FIRST]));
    take.waits();
    script.answer(MULTI, applied());
    take.waits();
    reads!(script, take);
    take.ends().unwrap()
}

#[test]
fn a_put_whose_answer_was_lost_is_done_once() {
    let script = Script::new();
    let mut producer = Producer::new(script.clone(), &queue(), "g").unwrap();
    let mut put = start(producer.put("work".into(), 0));
    script.answer(MARK, created("/queue/putters/g"));
    put.waits();
    script.fail(MULTI, ErrorCode::ConnectionLoss);
    put.waits();
    script.answer(MULTI, failed(&[Some(ErrorCode::BadVersion), None]));
    assert_eq!(put.ends(), Ok(()), "the first try was applied");
    let put = start(producer.put("more".into(), 0));
    script.answer(MULTI, applied());
    assert_eq!(put.ends(), Ok(()), "and the version is known");
    let close = start(producer.close());
    script.answer(UNMARK, Response::Deleted);
    assert_eq!(close.ends(), Ok(()));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn a_put_that_was_dropped_is_not_taken_for_the_next_one() {
    let script = Script::new();
    let mut producer = Producer::new(script.clone(), &queue(), "g").unwrap();
    let mut put = start(producer.put("work".into(), 0));
    script.answer(MARK, created("/queue/putters/g"));
    put.waits();
    drop(put);
    script.answer(MULTI, applied());
    let mut put = start(producer.put("more".into(), 0));
    script.answer(UNMARK, Response::Deleted);
    put.waits();
    script.answer(MARK, created("/queue/putters/g"));
    put.waits();
    script.answer(MULTI, applied());
    assert_eq!(put.ends(), Ok(()));
}

#[test]
fn what_nobody_can_say_is_not_said() {
    let script = Script::new();
    let mut producer = Producer::new(script.clone(), &queue(), "g").unwrap();
    let mut put = start(producer.put("work".into(), 0));
    script.answer(MARK, created("/queue/putters/g"));
    put.waits();
    script.fail(MULTI, ErrorCode::ConnectionLoss);
    put.waits();
    script.answer(MULTI, failed(&[Some(ErrorCode::NoNode), None]));
    assert!(
        matches!(put.ends(), Err(RecipeError::Failed(_))),
        "an administrator has removed the producer's znode"
    );
}

#[test]
fn the_first_that_nobody_has_claimed_is_claimed() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    let mut take = start(consumer.take(Delivery::AtLeastOnce));
    first_in_line!(script, take);
    let all = ["item-00007-0000000000", "item-00000-0000000003", FIRST, "claim-of-item-00000-0000000001"];
    script.answer_watch(ITEMS, names(&all));
    take.waits();
    script.answer(MULTI, applied());
    take.waits();
    assert_eq!(script.asked(), ["getData /queue/items/item-00000-0000000003"]);
}

#[test]
fn only_the_first_in_line_watches_the_items() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    let mut take = start(consumer.take(Delivery::AtLeastOnce));
    script.answer(STAND, created("/queue/takers/g-taker-0000000001"));
    take.waits();
    script.answer(LINE, names(&["z-taker-0000000000", "g-taker-0000000001"]));
    take.waits();
    assert_eq!(script.asked(), ["exists /queue/takers/z-taker-0000000000 watch"]);
}

#[test]
fn it_waits_for_an_item_and_looks_again_after_a_change() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    let mut take = start(consumer.take(Delivery::AtLeastOnce));
    first_in_line!(script, take);
    let fire = script.answer_watch(ITEMS, names(&[CLAIM, FIRST]));
    take.waits();
    assert_eq!(script.asked(), [""; 0]);
    fire.complete(event(EventType::NodeChildrenChanged));
    take.waits();
    assert_eq!(script.asked(), [ITEMS]);
}

#[test]
fn a_claim_whose_answer_was_lost_is_known_by_its_owner() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    let mut take = start(consumer.take(Delivery::AtLeastOnce));
    first_in_line!(script, take);
    script.answer_watch(ITEMS, names(&[FIRST]));
    take.waits();
    script.fail(MULTI, ErrorCode::ConnectionLoss);
    take.waits();
    script.answer(LOOK, names(&[FIRST, CLAIM]));
    take.waits();
    script.answer(&format!("exists /queue/items/{CLAIM}"), there(ME));
    take.waits();
    reads!(script, take);
    assert_eq!(take.ends().unwrap().data(), &Data::from("work"));
}

#[test]
fn a_claim_of_another_is_left_alone() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    let mut take = start(consumer.take(Delivery::AtLeastOnce));
    first_in_line!(script, take);
    script.answer_watch(ITEMS, names(&[FIRST]));
    take.waits();
    script.fail(MULTI, ErrorCode::ConnectionLoss);
    take.waits();
    script.answer(LOOK, names(&[FIRST, CLAIM]));
    take.waits();
    script.answer(&format!("exists /queue/items/{CLAIM}"), there(SessionId::new(9)));
    take.waits();
    assert_eq!(script.asked(), [ITEMS]);
    drop(take);
    assert_eq!(script.asked(), [ITEMS, &format!("delete {OWN}")], "its place in line goes, and no claim");
}

#[test]
fn an_item_is_removed_once_it_is_done_or_before_it_is_given() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    let mut done = start(taken(&script, &mut consumer).done());
    script.fail(MULTI, ErrorCode::ConnectionLoss);
    done.waits();
    script.answer(MULTI, failed(&[Some(ErrorCode::NoNode), None]));
    assert_eq!(done.ends(), Ok(()), "the first try was applied");

    let mut take = start(consumer.take(Delivery::AtMostOnce));
    // What became of the last place in line is known.
    first_in_line!(script, take);
    script.answer_watch(ITEMS, names(&[FIRST]));
    take.waits();
    script.answer(MULTI, applied());
    take.waits();
    reads!(script, take);
    take.waits();
    script.answer(MULTI, applied());
    let taken = take.ends().unwrap();
    assert_eq!(start(taken.done()).ends(), Ok(()));
    assert_eq!(script.asked(), [""; 0]);
}

#[test]
fn an_item_that_is_dropped_is_given_back() {
    let script = Script::new();
    let mut consumer = consumer(&script);
    drop(taken(&script, &mut consumer));
    let delete = format!("delete /queue/items/{CLAIM}");
    assert_eq!(script.asked(), [delete.as_str()]);
    script.fail(&delete, ErrorCode::ConnectionLoss);
    let mut abandon = start(consumer.abandon());
    script.answer(ORDERED, ordered());
    script.answer(&format!("exists /queue/items/{CLAIM}"), there(ME));
    abandon.waits();
    script.answer(&delete, Response::Deleted);
    assert_eq!(abandon.ends(), Ok(()));
}

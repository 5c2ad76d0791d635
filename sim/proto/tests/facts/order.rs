//! The order that nobody may rely on.

use crate::facts::{Harness, after};
use std::collections::BTreeSet;
use zk_api::{Request, Response, SessionId, Text, Zxid};
use zk_proto::order::{Listed, NameOrder, sort};
use zk_proto::prepare::{Caller, close_session, read};
use zk_proto::txn::TxnBody;

const LINES: [&str; 5] =
    ["create /g", "create /g/n- eseq", "create /g/n- eseq", "create /g/n- eseq", "create /g/n- eseq"];

fn with_salt(lines: &[&str], salt: u64) -> Harness {
    let mut h = after(lines);
    h.config.order = NameOrder::Salted(salt);
    h
}

fn listed(h: &Harness, request: &Request) -> Vec<Text> {
    let caller = Caller { session: SessionId::new(1), identities: &[] };
    match read(&h.tree, &h.config, caller, request) {
        Ok(Response::Children { names, .. }) => names,
        Ok(Response::Ephemerals(paths)) => paths,
        other => panic!("{other:?}"),
    }
}

fn children(h: &Harness) -> Vec<Text> {
    listed(h, &Request::GetChildren { path: "/g".into(), watch: false, stat: false })
}

#[test]
fn children_come_in_an_order_that_differs_from_salt_to_salt() {
    let orders: BTreeSet<_> = (0..50).map(|salt| children(&with_salt(&LINES, salt))).collect();
    assert!(orders.len() > 10, "{} orders", orders.len());
    assert!(orders.iter().any(|names| !names.is_sorted()));
}

#[test]
fn the_order_is_the_same_on_every_server_however_the_names_came_about() {
    let mut otherwise = LINES.to_vec();
    otherwise.insert(1, "set /g x");
    for salt in 0..20 {
        assert_eq!(children(&with_salt(&LINES, salt)), children(&with_salt(&otherwise, salt)));
    }
}

#[test]
fn ephemerals_of_one_bucket_are_deleted_as_they_were_made() {
    // Java's hashes of these are the same.
    for paths in [["/Aa", "/BB"], ["/BB", "/Aa"]] {
        let lines = paths.map(|path| format!("create {path} ephemeral"));
        let mut h = after(&lines.each_ref().map(String::as_str));
        h.config.order = NameOrder::JavaHash;
        let ephemerals = paths.map(Text::from).to_vec();
        let body = close_session(&h.tree, &h.config, SessionId::new(1), true);
        assert_eq!(body, TxnBody::CloseSession { ephemerals, expired: true });
    }
}

#[test]
fn lists_within_a_multi_read_are_sorted_as_well() {
    let [a, b] = ["a", "b"].map(Text::from);
    let list = |names: [&Text; 2]| Response::Ephemerals(names.map(Text::clone).to_vec());
    let mut response = Response::MultiRead(vec![Ok(list([&b, &a]))]);
    sort(&mut response, &[a.clone(), b.clone()]);
    assert_eq!(response, Response::MultiRead(vec![Ok(list([&a, &b]))]));
}

#[test]
fn a_sessions_end_deletes_in_the_order_of_get_ephemerals() {
    for salt in 0..20 {
        let h = with_salt(&LINES, salt);
        let listed = listed(&h, &Request::GetEphemerals { prefix: "/".into() });
        let body = close_session(&h.tree, &h.config, SessionId::new(1), true);
        assert_eq!(body, TxnBody::CloseSession { ephemerals: listed, expired: true });
    }
}

/// Source: `java.util.HashMap`: it grows when more than three quarters of it would be full.
#[test]
fn a_java_table_of_eight_holds_six_names_and_grows_for_a_seventh() {
    let in_order = |names: &[&str]| {
        let mut names: Vec<Text> = names.iter().map(|name| Text::from(*name)).collect();
        NameOrder::JavaHash.put(Listed::Children, &mut names, |_| Zxid::ZERO);
        names
    };
    let six = ["a", "b", "c", "d", "e", "h"];
    assert_eq!(in_order(&six), ["h", "a", "b", "c", "d", "e"].map(Text::from));
    let seven = ["a", "b", "c", "d", "e", "f", "h"];
    assert_eq!(in_order(&seven), seven.map(Text::from));
}

//! What requests are made with. There are few of everything, so that things collide.

use super::choices::Choices;
use crate::script::{AclArg, AclEntry, Bytes, Text, open_acl};

/// Below this most happens.
pub(super) const TOP: &str = "/t";

const PATHS: [&str; 12] = [
    TOP,
    "/t/a",
    "/t/b",
    "/t/a/c",
    "/t/a/d",
    "/t/a/c/e",
    "/t/e",
    "/t/s0000000000",
    "/t/s0000000001",
    "/t/a/s0000000000",
    "/t/0000000001",
    "/u",
];

const RESERVED: [&str; 5] =
    ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "/zookeeper/quota/t"];

const ODD: [&str; 29] = [
    "",
    "t",
    "//",
    "/t/",
    "/t//a",
    "/t/./a",
    "/t/../t",
    "/t/.",
    "/t/..",
    "/t/a/",
    "/t/...",
    "/t/.a",
    "/t/a\0",
    "\0",
    "/\u{1}",
    "/t/\u{1f}b",
    "/t/\u{7f}",
    "/t/\u{9f}",
    "/t/\u{e000}",
    "/t/\u{f8ff}",
    "/t/\u{fff0}",
    "/t/\u{fffd}",
    "/t/é",
    "/t/a b",
    "t/a",
    "a/",
    "/t\n",
    "/..",
    "/.",
];

/// A path: mostly a good one.
pub(super) fn path(choices: &mut Choices) -> Text {
    Some(match choices.below(40) {
        0 | 1 => choices.pick(&RESERVED).to_owned(),
        2 if choices.one_in(4) => return None,
        2 | 3 => choices.pick(&ODD).to_owned(),
        _ => choices.pick(&PATHS).to_owned(),
    })
}

/// What a sequential name begins with.
pub(super) fn prefix(choices: &mut Choices) -> Text {
    match choices.below(8) {
        0 => path(choices),
        1 => Some("/t/".to_owned()),
        2 => Some("/t/.".to_owned()),
        3 => Some("/t/a/s".to_owned()),
        _ => Some("/t/s".to_owned()),
    }
}

pub(super) fn data(choices: &mut Choices) -> Bytes {
    match choices.below(12) {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(vec![0, 0xff, 0x80]),
        n => Some(format!("d{n}").into_bytes()),
    }
}

pub(super) fn version(choices: &mut Choices) -> i32 {
    choices.weigh(&[(12, -1), (5, 0), (3, 1), (2, 2), (1, 3), (1, -2), (1, i32::MAX), (1, i32::MIN)])
}

/// `digest`'s ids of u:p and v:q.
const IDS: [&str; 2] = ["u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ=", "v:Wtnb2yAbpTFbpdsvzVaUXaiFkC0="];

fn entry(perms: i32, scheme: Option<&str>, id: Option<&str>) -> AclEntry {
    AclEntry { perms, scheme: scheme.map(str::to_owned), id: id.map(str::to_owned) }
}

fn good_entry(choices: &mut Choices) -> AclEntry {
    let perms = choices.weigh(&[(6, 31), (2, 1), (1, 2), (1, 4), (1, 8), (1, 16), (1, 3), (1, 30), (1, 15)]);
    let (scheme, id) = choices.pick(&[
        ("world", "anyone"),
        ("world", "anyone"),
        ("auth", ""),
        ("auth", "whatever"),
        ("digest", IDS[0]),
        ("digest", IDS[1]),
        ("ip", "127.0.0.1"),
        ("ip", "127.0.0.0/8"),
        ("ip", "10.0.0.0/8"),
        ("ip", "0.0.0.0/0"),
    ]);
    entry(perms, Some(scheme), Some(id))
}

fn odd_entry(choices: &mut Choices) -> AclEntry {
    let ids = [
        (Some("world"), Some("somebody")),
        (Some("world"), Some("")),
        (Some("world"), None),
        (Some("auth"), None),
        (None, None),
        (Some(""), Some("")),
        (Some("kerberos"), Some("u")),
        (Some("sasl"), Some("u")),
        (Some("x509"), Some("u")),
        (Some("super"), Some("")),
        (Some("digest"), Some("u")),
        (Some("digest"), Some("u:")),
        (Some("digest"), Some(":h")),
        (Some("digest"), Some(":")),
        (Some("digest"), Some("a:b:c")),
        (Some("digest"), Some("a:b:")),
        (Some("digest"), Some("")),
        (Some("digest"), None),
        (Some("ip"), Some("127.0.0")),
        (Some("ip"), Some("127.0.0.256")),
        (Some("ip"), Some("127.0.0.1/33")),
        (Some("ip"), Some("127.0.0.1/")),
        (Some("ip"), Some("127.0.0.1/-1")),
        (Some("ip"), Some("127.0.0.1/8/8")),
        (Some("ip"), Some("/8")),
        (Some("ip"), Some("::1")),
        (Some("ip"), Some("a.b.c.d")),
        (Some("ip"), Some("")),
        (Some("ip"), None),
    ];
    let (scheme, id) = choices.pick(&ids);
    entry(31, scheme, id)
}

pub(super) fn acl(choices: &mut Choices) -> AclArg {
    match choices.below(24) {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(vec![odd_entry(choices)]),
        3 => Some(vec![good_entry(choices), odd_entry(choices)]),
        4 => Some(vec![entry(choices.pick(&[0, 32, 255]), Some("world"), Some("anyone"))]),
        5..=9 => Some(vec![good_entry(choices)]),
        10 | 11 => Some(vec![good_entry(choices), good_entry(choices), good_entry(choices)]),
        12 => Some(vec![entry(1, Some("world"), Some("anyone")), entry(31, Some("auth"), Some(""))]),
        _ => open_acl(),
    }
}

pub(super) fn credentials(choices: &mut Choices) -> (Text, Bytes) {
    let (scheme, credentials): (Option<&str>, Option<&str>) = choices.weigh(&[
        (12, (Some("digest"), Some("u:p"))),
        (8, (Some("digest"), Some("v:q"))),
        (3, (Some("digest"), Some("super:test"))),
        (1, (Some("digest"), Some("u"))),
        (1, (Some("digest"), Some(""))),
        (1, (Some("digest"), None)),
        (1, (Some("digest"), Some("u:p:q"))),
        (1, (Some("digest"), Some(":"))),
        (1, (Some("digest"), Some("ü:p"))),
        (2, (Some("ip"), Some(""))),
        (1, (Some("ip"), None)),
        (1, (Some("world"), Some("anyone"))),
        (1, (Some("kerberos"), Some("u"))),
        (1, (Some(""), Some(""))),
        (1, (None, None)),
        (1, (Some("sasl"), Some("u"))),
        (1, (Some("super"), Some("super:test"))),
    ]);
    (scheme.map(str::to_owned), credentials.map(|text| text.as_bytes().to_vec()))
}

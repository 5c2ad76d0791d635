//! What is asked.

use super::choices::Choices;
use super::values::{acl, credentials, data, path, prefix, version};
use crate::script::{Call, CreateKind, Looking, Naming, Numbered, ZxidArg, open_acl};

pub(super) fn plain_create(path: &str) -> Call {
    let (path, data) = (Some(path.to_owned()), Some(b"top".to_vec()));
    Call::Create { kind: CreateKind::Plain, path, data, acl: open_acl(), flags: 0, ttl_ms: 0 }
}

type Make = fn(&mut Choices) -> Call;

pub(super) fn call(choices: &mut Choices) -> Call {
    let make: Make = choices.weigh(&[
        (240, create as Make),
        (80, |c| Call::Number { what: Numbered::Delete, path: path(c), number: version(c) }),
        (80, |c| Call::SetData { path: path(c), data: data(c), version: version(c) }),
        (50, |c| Call::SetAcl { path: path(c), acl: acl(c), version: version(c) }),
        (200, look),
        (60, name),
        (110, |c| multi(c, false)),
        (25, |c| multi(c, true)),
        (60, |c| Call::Number {
            what: Numbered::AddWatch,
            path: path(c),
            number: c.weigh(&[(9, 0), (9, 1), (1, 2), (1, -1), (1, 7)]),
        }),
        (40, |c| watch_question(c, Numbered::RemoveWatches)),
        (40, |c| watch_question(c, Numbered::CheckWatches)),
        (30, set_watches),
        (45, |c| {
            let (scheme, credentials) = credentials(c);
            Call::Auth { scheme, credentials }
        }),
        (15, |_| Call::WhoAmI),
        (8, |_| Call::Ping),
        (10, |c| Call::Number { what: Numbered::Check, path: path(c), number: version(c) }),
        (8, |c| Call::Reconfig {
            joining: path(c),
            leaving: None,
            members: c.pick(&[None, Some(String::new())]),
            version: -1,
        }),
        (8, raw),
    ]);
    make(choices)
}

fn raw(choices: &mut Choices) -> Call {
    let op = choices.pick(&[0, -1, 10, 13, 17, 23, 77, 108, 1000, i32::MIN]);
    let body = choices.pick(&[vec![], vec![0; 4], vec![0, 0, 0, 2, b'/', b't'], vec![0xff; 12]]);
    Call::Raw { op, body }
}

fn look(choices: &mut Choices) -> Call {
    let what = choices.weigh(&[
        (4, Looking::Exists),
        (4, Looking::Data),
        (3, Looking::Children),
        (2, Looking::ChildrenAndStat),
    ]);
    Call::Look { what, path: path(choices), watch: choices.one_in(2) }
}

fn name(choices: &mut Choices) -> Call {
    let what =
        choices.weigh(&[(4, Naming::Acl), (1, Naming::Sync), (3, Naming::Ephemerals), (3, Naming::Count)]);
    Call::Name { what, path: path(choices) }
}

fn watch_question(choices: &mut Choices, what: Numbered) -> Call {
    let number = choices.weigh(&[(5, 1), (5, 2), (5, 3), (1, 0), (2, 4), (2, 5), (1, 6), (1, -1)]);
    Call::Number { what, path: path(choices), number }
}

fn create(choices: &mut Choices) -> Call {
    let kind = choices.weigh(&[
        (10, CreateKind::Plain),
        (10, CreateKind::WithStat),
        (2, CreateKind::Container),
        (3, CreateKind::Ttl),
    ]);
    let flags = match kind {
        CreateKind::Plain | CreateKind::WithStat => {
            choices.weigh(&[(10, 0), (6, 1), (4, 2), (3, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, -1)])
        }
        CreateKind::Container => choices.weigh(&[(8, 4), (1, 0), (1, 5), (1, 9)]),
        CreateKind::Ttl => choices.weigh(&[(8, 5), (6, 6), (1, 0), (1, 1), (1, 3), (1, 4), (1, 7)]),
    };
    let ttl_ms = if kind == CreateKind::Ttl && !matches!(flags, 5 | 6) {
        // Less than zero passes ZooKeeper's checks and ends the server when it is applied (seen with 3.9.3).
        choices.pick(&[0, 1, 1 << 50])
    } else if kind == CreateKind::Ttl {
        choices.weigh(&[
            (9, 1 << 38),
            (2, 0xff_ffff_ffff),
            (1, 0x100_0000_0000),
            (1, 0),
            (1, -1),
            (1, i64::MIN),
            (1, i64::MAX),
        ])
    } else {
        0
    };
    let sequential = matches!(flags, 2 | 3 | 6);
    let path = if sequential { prefix(choices) } else { path(choices) };
    Call::Create { kind, path, data: data(choices), acl: acl(choices), flags, ttl_ms }
}

fn multi(choices: &mut Choices, reads: bool) -> Call {
    let length = choices.weigh(&[(1, 0), (3, 1), (6, 2), (5, 3), (3, 5)]);
    // Operations of the other kind, and what is none at all.
    let strays = choices.one_in(12);
    let mut ops = Vec::new();
    for _ in 0..length {
        let read = reads != (strays && choices.one_in(3));
        ops.push(if strays && choices.one_in(5) {
            call(choices)
        } else if read {
            let what = choices.weigh(&[(5, Looking::Data), (5, Looking::Children)]);
            Call::Look { what, path: path(choices), watch: choices.one_in(4) }
        } else {
            write(choices)
        });
    }
    for op in &mut ops {
        // ZooKeeper stumbles over one in the middle and forgets to take back what was before it.
        if let Call::Create { acl: Some(acl), .. } = op {
            acl.retain(|entry| entry.scheme.is_some() && entry.id.is_some());
        }
        // Where both are found fault with, which of them comes first is not worth following.
        if let Call::Create { acl: acl @ None, .. } = op
            && strays
        {
            *acl = open_acl();
        }
    }
    ops.retain(|op| !matches!(op, Call::Auth { .. } | Call::Raw { .. } | Call::Multi { .. }));
    Call::Multi { reads, ops }
}

fn write(choices: &mut Choices) -> Call {
    let make: Make = choices.weigh(&[
        (5, create as Make),
        (3, |c| Call::Number { what: Numbered::Delete, path: path(c), number: version(c) }),
        (3, |c| Call::SetData { path: path(c), data: data(c), version: version(c) }),
        (2, |c| Call::Number { what: Numbered::Check, path: path(c), number: version(c) }),
    ]);
    make(choices)
}

pub(super) fn set_watches(choices: &mut Choices) -> Call {
    let since = choices.weigh(&[
        (4, ZxidArg::Seen(0)),
        (2, ZxidArg::Seen(-1)),
        (2, ZxidArg::Seen(-3)),
        (1, ZxidArg::Absolute(0)),
        (2, ZxidArg::Relative(3)),
        (1, ZxidArg::Relative(8)),
        (1, ZxidArg::Seen(1000)),
    ]);
    let two = choices.one_in(2);
    let mut lists = Vec::new();
    for _ in 0..if two { 5 } else { 3 } {
        let length = choices.weigh(&[(4, 0), (3, 1), (2, 2), (1, 3)]);
        // One that is null has the lists before it take effect, and is an error then: only the first may be.
        let list: Vec<_> = (0..length).map(|_| path(choices)).filter(Option::is_some).collect();
        lists.push((!lists.is_empty() || !choices.one_in(40)).then_some(list));
    }
    Call::SetWatches { since, lists, two }
}

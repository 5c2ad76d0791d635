//! Answers, as lines of a transcript.

use crate::encode::EVENT;
use crate::normal::{Era, Names};
use crate::op;
use crate::record::Reader;
use crate::script::write::{hex, perms_text, quoted, text};
use zk_api::ErrorCode;

/// The header of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) xid: i32,
    pub(crate) zxid: i64,
    pub(crate) error: i32,
}

impl Header {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Header> {
        Some(Header { xid: reader.int()?, zxid: reader.long()?, error: reader.int()? })
    }
}

/// An error's name, or its number.
fn error_name(code: i32) -> String {
    match ErrorCode::from_i32(code) {
        _ if code == 0 => "ok".into(),
        Some(known) => format!("{known:?}"),
        None => format!("error {code}"),
    }
}

/// What a frame behind the handshake says: `asked` is the kind of the request that it answers.
pub(crate) fn frame_line(names: &mut Names, frame: &[u8], asked: Option<i32>) -> String {
    let mut reader = Reader(frame);
    let Some(header) = Header::read(&mut reader) else { return format!("no header: {}", hex(frame)) };
    if header.xid == EVENT && asked.is_none() {
        return event_line(names, header, reader);
    }
    let mut line = format!("{} {} {}", header.xid, error_name(header.error), names.zxid(header.zxid));
    let Some(asked) = asked else {
        line.push_str(" unasked");
        return with_rest(line, reader.0);
    };
    // ZooKeeper sends as much of a multiRead as it had when one of its reads failed otherwise than reads do.
    let half = asked == op::MULTI_READ && header.error != 0;
    if half {
        return line;
    }
    if header.error == 0 || !reader.0.is_empty() {
        let before = reader.0;
        match body(names, &mut reader, asked) {
            Some(text) if text.is_empty() => {}
            Some(text) => {
                line.push(' ');
                line.push_str(&text);
            }
            None => return format!("{line} unreadable={}", hex(before)),
        }
    }
    with_rest(line, reader.0)
}

fn with_rest(line: String, rest: &[u8]) -> String {
    if rest.is_empty() { line } else { format!("{line} rest={}", hex(&rest[..rest.len().min(64)])) }
}

fn event_line(names: &mut Names, header: Header, mut reader: Reader<'_>) -> String {
    let mut read = || Some((reader.int()?, reader.int()?, reader.text()?));
    let Some((kind, state, path)) = read() else { return format!("event unreadable={}", hex(reader.0)) };
    let kind = match kind {
        -1 => "None".into(),
        1 => "NodeCreated".into(),
        2 => "NodeDeleted".into(),
        3 => "NodeDataChanged".into(),
        4 => "NodeChildrenChanged".into(),
        n => format!("kind={n}"),
    };
    let state = if state == 3 { String::new() } else { format!(" state={state}") };
    let error = if header.error == 0 { String::new() } else { format!(" {}", error_name(header.error)) };
    let zxid = match names.era {
        Era::Current => names.zxid(header.zxid),
        Era::Before39 => "~".into(),
    };
    with_rest(format!("event {zxid} {kind} {}{state}{error}", text(&path)), reader.0)
}

/// What follows the header of an answer that tells of no error; `None` if it cannot be read.
fn body(names: &mut Names, r: &mut Reader<'_>, asked: i32) -> Option<String> {
    Some(match asked {
        op::CREATE | op::SYNC => text(&r.text()?),
        op::CREATE2 | op::CREATE_CONTAINER | op::CREATE_TTL => {
            let path = text(&r.text()?);
            // The plain answer is legal as well; what is missing is seen.
            if r.0.is_empty() { path } else { format!("{path} {}", stat(names, r)?) }
        }
        op::EXISTS | op::SET_DATA | op::SET_ACL => stat(names, r)?,
        op::GET_DATA => format!("{} {}", data(r)?, stat(names, r)?),
        op::GET_ACL => format!("{} {}", acl(r)?, stat(names, r)?),
        op::GET_CHILDREN | op::EPHEMERALS => sorted(r)?,
        op::GET_CHILDREN2 => format!("{} {}", sorted(r)?, stat(names, r)?),
        op::MULTI | op::MULTI_READ => results(names, r)?,
        op::COUNT => r.int()?.to_string(),
        op::ADD_WATCH => format!("({})", error_name(r.int()?)),
        op::WHO_AM_I => {
            let mut all = r.list(|r| Some((r.text()?, r.text()?)))?.unwrap_or_default();
            all.sort();
            all.iter()
                .map(|(scheme, id)| format!("{}:{}", text(scheme), text(id)))
                .collect::<Vec<_>>()
                .join(" ")
        }
        // Of all others the header is the whole answer.
        _ => String::new(),
    })
}

fn data(r: &mut Reader<'_>) -> Option<String> {
    Some(r.bytes()?.map_or("null".into(), quoted))
}

/// Names in the order of a hash table.
fn sorted(r: &mut Reader<'_>) -> Option<String> {
    let Some(mut names) = r.list(Reader::text)? else { return Some("null".into()) };
    names.sort();
    Some(format!("[{}]", names.iter().map(text).collect::<Vec<_>>().join(" ")))
}

fn acl(r: &mut Reader<'_>) -> Option<String> {
    let Some(mut entries) = r.list(|r| Some((r.int()?, r.text()?, r.text()?)))? else {
        return Some("null".into());
    };
    let by_digest = |entry: &(i32, Option<String>, Option<String>)| entry.1.as_deref() == Some("digest");
    for run in entries.chunk_by_mut(|a, b| a.0 == b.0 && by_digest(a) && by_digest(b)) {
        run.sort();
    }
    let entry = |(perms, scheme, id): &(i32, Option<String>, Option<String>)| {
        format!("{}@{}:{}", perms_text(*perms), text(scheme), text(id))
    };
    Some(format!("[{}]", entries.iter().map(entry).collect::<Vec<_>>().join(" ")))
}

fn stat(names: &mut Names, r: &mut Reader<'_>) -> Option<String> {
    let (czxid, mzxid, ctime, mtime) = (r.long()?, r.long()?, r.long()?, r.long()?);
    let (version, cversion, aversion, owner) = (r.int()?, r.int()?, r.int()?, r.long()?);
    let (length, children, pzxid) = (r.int()?, r.int()?, r.long()?);
    Some(format!(
        "{{c={} m={} p={} ct={} mt={} v={version} cv={cversion} av={aversion} owner={} len={length} kids={children}}}",
        names.stat_zxid(czxid),
        names.stat_zxid(mzxid),
        names.stat_zxid(pzxid),
        names.time(czxid, ctime),
        names.time(mzxid, mtime),
        names.session(owner),
    ))
}

/// The results of a multi, each with its header's error where that is not the usual one.
fn results(names: &mut Names, r: &mut Reader<'_>) -> Option<String> {
    let mut out = Vec::new();
    loop {
        let (kind, done, error) = (r.int()?, r.byte()?, r.int()?);
        if done != 0 {
            let usual = kind == -1 && error == -1;
            out.extend((!usual).then(|| format!("end({kind}, {error})")));
            return Some(format!("[{}]", out.join("; ")));
        }
        let (result, usual) = match kind {
            op::ERROR => {
                let code = r.int()?;
                (error_name(code), code)
            }
            op::CREATE => (format!("create {}", text(&r.text()?)), 0),
            op::CREATE2 | op::CREATE_CONTAINER | op::CREATE_TTL => {
                let (path, stat) = (text(&r.text()?), stat(names, r)?);
                match names.era {
                    Era::Current => (format!("create({kind}) {path} {stat}"), 0),
                    Era::Before39 => (format!("create {path}"), 0),
                }
            }
            op::DELETE => ("delete".into(), 0),
            op::SET_DATA => (format!("set {}", stat(names, r)?), 0),
            op::CHECK => ("check".into(), 0),
            op::GET_DATA => (format!("get {} {}", data(r)?, stat(names, r)?), 0),
            op::GET_CHILDREN => (format!("children {}", sorted(r)?), 0),
            n => return Some(format!("[{}; result of kind {n}?]", out.join("; "))),
        };
        out.push(if error == usual { result } else { format!("{result} (header {error})") });
    }
}

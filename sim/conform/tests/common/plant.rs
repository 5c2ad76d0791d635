//! Known differences, planted: a server behind a proxy that tells some things wrongly. So the hunt is seen to
//! find them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use zk_api::ErrorCode;

/// What a watch event has for a number.
const EVENT: i32 = -1;
/// The kinds of requests that matter here.
const CREATES: [i32; 4] = [1, 15, 19, 21];
const EXISTS: i32 = 3;

/// What is told wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Events come behind the answer before which they should come.
    EventAfterItsAnswer,
    /// `exists` counts one change of the children too many, where there were any.
    StatOffByOne,
    /// A create that is wrong in two ways, with an ACL that is none and a path that is taken, is told of the path.
    WrongErrorFirst,
}

/// A proxy before `server`; its address. It runs until the process ends.
pub fn plant(server: SocketAddr, plant: Plant) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let taken = Arc::new(Mutex::new(BTreeSet::new()));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A connection that cannot be had ends, as it would without the proxy.
            let _ = relay(client, server, plant, &taken);
        }
    });
    Ok(address)
}

/// Paths that were created.
type Taken = Arc<Mutex<BTreeSet<String>>>;

/// What was asked on a connection: the kind, and the path of a create.
type Asked = Arc<Mutex<BTreeMap<i32, (i32, String)>>>;

fn relay(client: TcpStream, server: SocketAddr, plant: Plant, taken: &Taken) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let asked = Asked::default();
    let (up, down) = ((client.try_clone()?, server.try_clone()?), (server, client));
    let (mine, taken) = (asked.clone(), taken.clone());
    thread::spawn(move || ends(up, |from, to| ask(from, to, &mine)));
    thread::spawn(move || ends(down, |from, to| answer(from, to, plant, &asked, &taken)));
    Ok(())
}

/// Carries one direction; its end is the end of both.
fn ends(
    (mut from, mut to): (TcpStream, TcpStream),
    carry: impl Fn(&mut TcpStream, &mut TcpStream) -> io::Result<()>,
) {
    // Whatever ends it, it is over.
    let _ = carry(&mut from, &mut to);
    for stream in [from, to] {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

fn read_frame(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut frame = vec![0; u32::from_be_bytes(length).min(1 << 26) as usize];
    from.read_exact(&mut frame)?;
    Ok(frame)
}

fn write_frame(to: &mut TcpStream, frame: &[u8]) -> io::Result<()> {
    to.write_all(&[&(frame.len() as u32).to_be_bytes(), frame].concat())
}

fn ask(from: &mut TcpStream, to: &mut TcpStream, asked: &Asked) -> io::Result<()> {
    write_frame(to, &read_frame(from)?)?;
    loop {
        let frame = read_frame(from)?;
        if let (Some(xid), Some(kind)) = (int(&frame, 0), int(&frame, 4)) {
            let path = if CREATES.contains(&kind) { text(&frame, 8) } else { None };
            locked(asked).insert(xid, (kind, path.unwrap_or_default()));
        }
        write_frame(to, &frame)?;
    }
}

fn answer(
    from: &mut TcpStream,
    to: &mut TcpStream,
    plant: Plant,
    asked: &Asked,
    taken: &Taken,
) -> io::Result<()> {
    write_frame(to, &read_frame(from)?)?;
    let mut held = Vec::new();
    loop {
        let mut frame = read_frame(from)?;
        // A header: a number, a zxid and an error.
        let (Some(xid), Some(error)) = (int(&frame, 0), int(&frame, 12)) else { return Ok(()) };
        if xid == EVENT && plant == Plant::EventAfterItsAnswer {
            held.push(frame);
            continue;
        }
        let request = locked(asked).remove(&xid);
        if let Some((kind, path)) = request {
            falsify(plant, error, kind, &path, taken, &mut frame);
        }
        write_frame(to, &frame)?;
        for event in held.drain(..) {
            write_frame(to, &event)?;
        }
    }
}

fn falsify(plant: Plant, error: i32, kind: i32, path: &str, taken: &Taken, frame: &mut [u8]) {
    let is_create = CREATES.contains(&kind);
    if error == 0 && is_create {
        locked(taken).extend(text(frame, 16));
    }
    match plant {
        Plant::StatOffByOne if error == 0 && kind == EXISTS => {
            // Behind the header: two zxids, two times, and the version.
            if let Some(cversion) = int(frame, 52).filter(|cversion| *cversion != 0) {
                frame[52..56].copy_from_slice(&cversion.wrapping_add(1).to_be_bytes());
            }
        }
        Plant::WrongErrorFirst if is_create && error == ErrorCode::InvalidAcl.to_i32() => {
            if locked(taken).contains(path) {
                frame[12..16].copy_from_slice(&ErrorCode::NodeExists.to_i32().to_be_bytes());
            }
        }
        Plant::StatOffByOne | Plant::WrongErrorFirst | Plant::EventAfterItsAnswer => {}
    }
}

fn int(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn text(bytes: &[u8], at: usize) -> Option<String> {
    let length = usize::try_from(int(bytes, at)?).ok()?;
    Some(String::from_utf8_lossy(bytes.get(at + 4..at + 4 + length)?).into_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it")
}

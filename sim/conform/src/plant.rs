//! Known differences, planted: a server behind a proxy that tells some things wrongly. So the hunt is seen to
//! find them.
//!
//! ```
//! use zk_conform::compare::compare;
//! use zk_conform::driver::Alone;
//! use zk_conform::plant::{Plant, plant};
//! use zk_conform::script::parse;
//! use zk_conform::side::Side;
//! # use zk_serve::{Options, start};
//! # let runtime = tokio::runtime::Runtime::new().expect("threads");
//! # let super_digest = Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".to_owned());
//! # let options = Options { super_digest, ..Options::default() };
//! # let servers = [0, 1].map(|_| runtime.block_on(start(options.clone())).expect("loopback has a free port"));
//! # let [one, other] = [0, 1].map(|nth: usize| servers[nth].addresses()[0]);
//!
//! let planted = plant(other, Plant::StatOffByOne).expect("loopback has a free port");
//! let mut right = Side::open("right", Box::new(Alone(one)))?;
//! let mut wrong = Side::open("wrong", Box::new(Alone(planted)))?;
//! let script = parse("a connect\na create /x\na create /x/y\na exists /x\n").expect("a script");
//! let difference = compare(&mut right, &mut wrong, &script)?.expect("it was planted");
//! assert_ne!(difference.first()[0], difference.first()[1]);
//! # Ok::<(), String>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use zk_api::ErrorCode;

use crate::answer::Header;
use crate::encode::EVENT;
use crate::op;
use crate::record::Reader;

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
        let mut reader = Reader(&frame);
        if let (Some(xid), Some(kind)) = (reader.int(), reader.int()) {
            let path = if is_create(kind) { reader.text().flatten() } else { None };
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
        let header = Header::read(&mut Reader(&frame));
        let Some(header) = header else { return Ok(()) };
        if header.xid == EVENT && plant == Plant::EventAfterItsAnswer {
            held.push(frame);
            continue;
        }
        let request = locked(asked).remove(&header.xid);
        if let Some((kind, path)) = request {
            falsify(plant, header, kind, &path, taken, &mut frame);
        }
        write_frame(to, &frame)?;
        for event in held.drain(..) {
            write_frame(to, &event)?;
        }
    }
}

fn falsify(plant: Plant, header: Header, kind: i32, path: &str, taken: &Taken, frame: &mut [u8]) {
    if header.error == 0 && is_create(kind) {
        let made = Reader(&frame[16..]).text().flatten();
        locked(taken).extend(made);
    }
    match plant {
        Plant::StatOffByOne if header.error == 0 && kind == op::EXISTS => {
            // Behind the header: two zxids, two times, and the version.
            if let Some(cversion) = frame.get_mut(52..56).filter(|bytes| **bytes != [0; 4]) {
                let n = i32::from_be_bytes([cversion[0], cversion[1], cversion[2], cversion[3]]);
                cversion.copy_from_slice(&n.wrapping_add(1).to_be_bytes());
            }
        }
        Plant::WrongErrorFirst if is_create(kind) && header.error == ErrorCode::InvalidAcl.to_i32() => {
            if locked(taken).contains(path) {
                frame[12..16].copy_from_slice(&ErrorCode::NodeExists.to_i32().to_be_bytes());
            }
        }
        Plant::StatOffByOne | Plant::WrongErrorFirst | Plant::EventAfterItsAnswer => {}
    }
}

fn is_create(kind: i32) -> bool {
    [op::CREATE, op::CREATE2, op::CREATE_CONTAINER, op::CREATE_TTL].contains(&kind)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it")
}

//! Something between clients and a server, which can be cut, and which loses answers.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Forwards connections to a server. Its threads end with the connections, and one with the process.
pub struct Proxy {
    pub address: SocketAddr,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// Forwards until it is cut.
    pub fn before(server: &str) -> Proxy {
        Proxy::losing(server, 0)
    }

    /// Loses so many answers as well, each that of the third create since the last: the server has it, and then the
    /// connection is gone.
    pub fn losing(server: &str, answers: u32) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let ends = Arc::new(Mutex::new(Vec::new()));
        let (server, all, creates) = (server.to_string(), ends.clone(), Arc::new(AtomicU32::new(0)));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(upstream) = TcpStream::connect(&server) else { continue };
                let mut all = all.lock().expect("nothing panics while it holds this");
                all.extend([&client, &upstream].map(cloned));
                let loses = Arc::new(AtomicBool::new(false));
                let (there, back) = ((cloned(&client), cloned(&upstream)), (upstream, client));
                let (creates, seen) = (creates.clone(), loses.clone());
                thread::spawn(move || {
                    let is_last = |number: u32| number.is_multiple_of(3) && number / 3 <= answers;
                    let _ = requests(&there.0, &there.1, |code| {
                        let is_create = matches!(code, 1 | 15);
                        if is_create && is_last(creates.fetch_add(1, Ordering::SeqCst) + 1) {
                            seen.store(true, Ordering::SeqCst);
                        }
                    });
                    part(&there.0, &there.1);
                });
                thread::spawn(move || {
                    let _ = answers_until(&back.0, &back.1, &loses);
                    part(&back.0, &back.1);
                });
            }
        });
        Proxy { address, ends }
    }

    /// Cuts every connection: what is on its way, either way, may be lost.
    pub fn cut(&self) {
        for end in self.ends.lock().expect("nothing panics while it holds this").drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn cloned(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a socket")
}

fn part(one: &TcpStream, other: &TcpStream) {
    let _ = (one.shutdown(Shutdown::Both), other.shutdown(Shutdown::Both));
}

/// Forwards frame by frame; shows the operation's code of each before it goes on.
fn requests(mut from: &TcpStream, mut to: &TcpStream, mut see: impl FnMut(i32)) -> io::Result<()> {
    let mut is_first = true;
    loop {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let mut frame = vec![0; usize::try_from(i32::from_be_bytes(length)).map_err(io::Error::other)?];
        from.read_exact(&mut frame)?;
        // The first frame opens the session, and has no code.
        if !is_first && let Some(code) = frame.get(4..8) {
            see(i32::from_be_bytes(code.try_into().expect("four bytes")));
        }
        is_first = false;
        to.write_all(&[&length[..], &frame].concat())?;
    }
}

/// Forwards answers until one is to be lost.
fn answers_until(mut from: &TcpStream, mut to: &TcpStream, loses: &AtomicBool) -> io::Result<()> {
    let mut buffer = [0; 16_384];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 || loses.load(Ordering::SeqCst) {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
    }
}

//! A proxy between a client and a server, by which the server does not know the client when it comes back.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Forwards a first connection until it is cut, and later ones with another session's number.
pub struct Proxy {
    pub address: SocketAddr,
    first: Receiver<TcpStream>,
}

/// Where the number of the session stands in the first frame, behind its length: after a version, a zxid and a timeout.
const SESSION: std::ops::Range<usize> = 20..28;

impl Proxy {
    pub fn before(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let (sender, first) = channel();
        let server = server.to_string();
        thread::spawn(move || {
            let mut is_first = true;
            for client in listener.incoming().flatten() {
                let upstream = TcpStream::connect(&server).expect("a server");
                if is_first {
                    let _ = sender.send(cloned(&client));
                } else {
                    let mut connect = [0; 32];
                    if (&client).read_exact(&mut connect).is_err() {
                        continue;
                    }
                    connect[SESSION].fill(0x55);
                    let _ = (&upstream).write_all(&connect);
                }
                is_first = false;
                forward(cloned(&client), cloned(&upstream));
                forward(upstream, client);
            }
        });
        Proxy { address, first }
    }

    /// Cuts the first connection.
    pub fn cut(&self) {
        let first = self.first.recv().expect("there was a connection");
        first.shutdown(Shutdown::Both).expect("it was there");
    }
}

fn cloned(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a socket")
}

fn forward(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

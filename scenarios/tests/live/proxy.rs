//! Something between clients and a server, which can be cut.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Forwards connections to a server until it is cut. Its threads end with the connections, and one with the process.
pub struct Proxy {
    pub address: SocketAddr,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    pub fn before(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let ends = Arc::new(Mutex::new(Vec::new()));
        let (server, all) = (server.to_string(), ends.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(upstream) = TcpStream::connect(&server) else { continue };
                let mut all = all.lock().expect("nothing panics while it holds this");
                all.extend([&client, &upstream].map(|end| end.try_clone().expect("a socket")));
                forward(&client, &upstream);
                forward(&upstream, &client);
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

fn forward(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

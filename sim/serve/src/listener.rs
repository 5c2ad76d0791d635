//! Where clients connect, while the server is up. A server that is down refuses connections, as a real one does.

use crate::Limits;
use crate::connection::Connection;
use crate::driver::ToCore;
use crate::link::Link;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use zk_proto::message::ConnId;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Between two tries of something that failed.
const RETRY: Duration = Duration::from_millis(10);

/// An address that is ours also while nobody listens there.
///
/// The socket is bound and never listens: connections are refused, and neither another process nor a client's
/// own end of a connection can get the port meanwhile.
#[derive(Debug)]
pub(crate) struct Reserved {
    _socket: TcpSocket,
    pub(crate) address: SocketAddr,
}

impl Reserved {
    /// Takes an address; port 0 stands for any that is free.
    pub(crate) fn new(address: SocketAddr) -> io::Result<Reserved> {
        let socket = reusable(address)?;
        let address = socket.local_addr()?;
        Ok(Reserved { _socket: socket, address })
    }

    /// Listens there.
    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        reusable(self.address)?.listen(BACKLOG)
    }
}

fn reusable(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// What all listeners share.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) core: mpsc::Sender<ToCore>,
    pub(crate) limits: Limits,
    /// The next connection's name.
    pub(crate) next: Arc<AtomicU64>,
    /// Places for connections.
    pub(crate) places: Arc<Semaphore>,
    /// Whether the server is up.
    pub(crate) is_up: watch::Receiver<bool>,
}

impl Door {
    /// Accepts connections whenever the server is up; `listener` is there already the first time.
    pub(crate) async fn keep(mut self, reserved: Reserved, listener: TcpListener) {
        let mut listener = Some(listener);
        loop {
            if self.is_up.wait_for(|up| *up).await.is_err() {
                return;
            }
            let open = match listener.take() {
                Some(open) => open,
                None => match reserved.listen() {
                    Ok(open) => open,
                    Err(_) => {
                        tokio::time::sleep(RETRY).await;
                        continue;
                    }
                },
            };
            let mut is_up = self.is_up.clone();
            tokio::select! {
                down = is_up.wait_for(|up| !*up) => if down.is_err() { return },
                () = self.accept(&open) => {}
            }
        }
    }

    async fn accept(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => self.enter(stream).await,
                // The process has no room for one more; it may have later.
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    async fn enter(&self, stream: TcpStream) {
        // One more than there are places for is closed at once.
        let Ok(place) = self.places.clone().try_acquire_owned() else { return };
        // Answers are small, and clients wait for them.
        let _ = stream.set_nodelay(true);
        let conn = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
        let link = Arc::new(Link::new(&self.limits));
        if self.core.send(ToCore::Accepted { conn, link: link.clone() }).await.is_err() {
            return;
        }
        let (reader, writer) = stream.into_split();
        let connection = Connection { reader, conn, link, core: self.core.clone(), limits: self.limits };
        tokio::spawn(async move {
            connection.serve(writer).await;
            drop(place);
        });
    }
}

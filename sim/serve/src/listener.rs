//! Where clients connect, while the server is up. A server that is down refuses connections, as a real one does.

use crate::Limits;
use crate::connection::Connection;
use crate::link::ClientLink;
use crate::message::ToCore;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

/// Where the clients of a server come in: its port, and what opens and closes it.
pub(crate) type Entrance = (u16, Arc<Gate>);

/// The sockets that listen now, to be closed from elsewhere.
///
/// The server's end is one moment: when its connections break, nobody gets in any more.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    open: Mutex<Vec<OwnedFd>>,
}

impl Gate {
    /// A socket listens.
    fn opened(&self, listener: &TcpListener) -> io::Result<()> {
        let socket = listener.as_fd().try_clone_to_owned()?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
        Ok(())
    }

    /// None listens any more; whoever comes is refused.
    pub(crate) fn close(&self) {
        for socket in self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A socket that listens cannot be told so by its own type. It is not read or written here.
            let _ = std::net::TcpStream::from(socket).shutdown(std::net::Shutdown::Both);
        }
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
    /// To which server it leads.
    pub(crate) server: u8,
    pub(crate) core: mpsc::Sender<ToCore>,
    pub(crate) limits: Limits,
    /// The next connection's name.
    pub(crate) next: Arc<AtomicU64>,
    /// Places for connections.
    pub(crate) places: Arc<Semaphore>,
    /// How often the server has started, while it is up.
    pub(crate) up: watch::Receiver<Option<u64>>,
    pub(crate) gate: Arc<Gate>,
}

impl Door {
    /// Accepts connections whenever the server is up; `listener` is there already the first time.
    pub(crate) async fn keep(mut self, reserved: Reserved, listener: TcpListener) {
        let mut listener = Some(listener);
        loop {
            let Ok(up) = self.up.wait_for(Option::is_some).await.map(|up| *up) else { return };
            let opened = listener.take().map_or_else(|| reserved.listen(), Ok);
            let opened = opened.and_then(|open| self.gate.opened(&open).map(|()| open));
            let Ok(open) = opened else {
                tokio::time::sleep(RETRY).await;
                continue;
            };
            // A start that came between these two has closed nothing that was not open yet.
            if *self.up.borrow() != up {
                continue;
            }
            let mut later = self.up.clone();
            tokio::select! {
                changed = later.wait_for(|now| *now != up) => if changed.is_err() { return },
                () = self.accept(&open) => {}
            }
        }
    }

    async fn accept(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => self.enter(stream, peer).await,
                // The process has no room for one more; it may have later.
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    async fn enter(&self, stream: TcpStream, peer: SocketAddr) {
        // One more than there are places for is closed at once.
        let Ok(place) = self.places.clone().try_acquire_owned() else { return };
        // Answers are small, and clients wait for them.
        let _ = stream.set_nodelay(true);
        let conn = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
        let link = Arc::new(ClientLink::new(&self.limits));
        if self
            .core
            .send(ToCore::Accepted { server: self.server, conn, link: link.clone(), peer })
            .await
            .is_err()
        {
            return;
        }
        let (reader, writer) = stream.into_split();
        let connection = Connection { conn, link, core: self.core.clone(), limits: self.limits };
        tokio::spawn(async move {
            connection.serve(reader, writer).await;
            drop(place);
        });
    }
}

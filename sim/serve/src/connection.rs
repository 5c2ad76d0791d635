//! One connection's task: bytes in, bytes out.

use crate::Limits;
use crate::link::{ClientLink, State, Unsent};
use crate::message::ToCore;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, timeout, timeout_at};
use zk_proto::message::ConnId;
use zk_wire::{Frames, Piece};

/// So many bytes are read at a time.
const CHUNK: usize = 16 * 1024;

/// So many requests are handed over at a time at most, so that one client's do not hold up another's for long.
const BATCH: usize = 64;

/// How long a client has for the last answers, once its connection is to end.
const FLUSH: Duration = Duration::from_secs(5);

/// How long a client has to close its end after that. If bytes of it were left unread, closing would take back
/// the last answers as well.
const LINGER: Duration = Duration::from_secs(1);

/// A connection that the server knows of.
pub(crate) struct Connection {
    pub(crate) conn: ConnId,
    pub(crate) link: Arc<ClientLink>,
    pub(crate) core: Sender<ToCore>,
    pub(crate) limits: Limits,
}

impl Connection {
    /// Serves the connection until its end, which is always the writer's: a reader that has nothing to read any
    /// more tells the server, and the server ends the connection.
    pub(crate) async fn serve(self, mut reader: OwnedReadHalf, writer: OwnedWriteHalf) {
        let is_flushed = tokio::select! {
            () = self.read(&mut reader) => false,
            is_flushed = self.write(&writer) => is_flushed,
        };
        if is_flushed {
            // Says that nothing more will be sent.
            drop(writer);
            let _ = timeout(LINGER, discard(&mut reader)).await;
        }
        // If the server is gone, nobody has to know.
        let _ = self.core.send(ToCore::Gone { conn: self.conn }).await;
    }

    /// Returns only if there is nobody any more to be told anything.
    async fn read(&self, reader: &mut OwnedReadHalf) {
        let mut frames = Frames::of_client();
        let due = Instant::now() + self.limits.first_message;
        let mut begun = false;
        loop {
            if !self.hand_over(&mut frames, &mut begun).await {
                break;
            }
            let read = fill(reader, &mut frames);
            let more = if begun { Ok(read.await) } else { timeout_at(due, read).await };
            let Ok(more) = more else {
                let _ = self.core.send(ToCore::Late { conn: self.conn }).await;
                return std::future::pending().await;
            };
            // Of who is silenced, nothing is looked at any more.
            if !more || self.link.state() == State::Silent {
                break;
            }
        }
        if self.link.state() == State::Silent {
            return discard(reader).await;
        }
        // If the server is gone, the writer ends the connection.
        let _ = self.core.send(ToCore::Gone { conn: self.conn }).await;
        std::future::pending().await
    }

    /// Hands over all whole frames there are. False if the connection ends.
    async fn hand_over(&self, frames: &mut Frames, begun: &mut bool) -> bool {
        let mut batch = Vec::new();
        loop {
            let message = match frames.next_piece() {
                Ok(Some(Piece::Frame(frame))) => {
                    *begun = true;
                    if batch.len() >= BATCH || !self.link.try_place(frame.len()) {
                        let batch = std::mem::take(&mut batch);
                        if !self.hand(batch).await || !self.link.place(frame.len()).await {
                            return false;
                        }
                    }
                    batch.push(frame);
                    continue;
                }
                Ok(None) => return self.hand(batch).await,
                Ok(Some(Piece::Word(word))) => ToCore::Word { conn: self.conn, word },
                Err(error) => ToCore::Malformed { conn: self.conn, error },
            };
            // Nothing that stands behind either is looked at.
            if self.hand(batch).await {
                let _ = self.core.send(message).await;
            }
            return std::future::pending().await;
        }
    }

    async fn hand(&self, batch: Vec<Vec<u8>>) -> bool {
        batch.is_empty() || self.core.send(ToCore::Frames { conn: self.conn, frames: batch }).await.is_ok()
    }

    /// Whether all was sent, to a client that may still have to read it.
    async fn write(&self, writer: &OwnedWriteHalf) -> bool {
        loop {
            match self.link.take() {
                Unsent::Bytes(bytes) => {
                    if !self.send(writer, &bytes).await {
                        return false;
                    }
                }
                Unsent::Nothing => self.link.changed().await,
                Unsent::End => return self.link.state() == State::Flushing,
            }
        }
    }

    /// Sends these bytes. False if the connection ends before.
    async fn send(&self, writer: &OwnedWriteHalf, mut bytes: &[u8]) -> bool {
        let mut due = None;
        while !bytes.is_empty() {
            match self.link.state() {
                State::Aborted => return false,
                State::Silent => return true,
                State::Flushing => due = due.or(Some(Instant::now() + FLUSH)),
                State::Open => {}
            }
            tokio::select! {
                ready = writer.writable() => if ready.is_err() { return false },
                () = self.link.changed() => continue,
                () = until(due) => return false,
            }
            match writer.try_write(bytes) {
                Ok(length) => {
                    bytes = &bytes[length..];
                    if self.link.sent(length, self.limits.stall_bytes()) {
                        let _ = self.core.send(ToCore::Room { conn: self.conn }).await;
                    }
                }
                Err(error) if is_transient(error.kind()) => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// Reads what has come. False if nothing will come any more.
async fn fill(reader: &mut OwnedReadHalf, frames: &mut Frames) -> bool {
    poll_fn(|context| {
        // Not kept over the waiting: thousands of idle connections need no room to read into.
        let mut room = [MaybeUninit::uninit(); CHUNK];
        let mut chunk = ReadBuf::uninit(&mut room);
        let is_read = ready!(Pin::new(&mut *reader).poll_read(context, &mut chunk)).is_ok();
        frames.push(chunk.filled());
        Poll::Ready(is_read && !chunk.filled().is_empty())
    })
    .await
}

/// Reads what nobody will look at, until the client closes its end.
async fn discard(reader: &mut OwnedReadHalf) {
    while fill(reader, &mut Frames::of_client()).await {}
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn is_transient(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

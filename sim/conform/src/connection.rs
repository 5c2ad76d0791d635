//! A socket that frames come from.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// What comes from a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// A frame, without its length.
    Frame(Vec<u8>),
    /// The end of the stream, or a reset.
    End,
    /// Nothing, for as long as was to be waited.
    Nothing,
}

/// A client's end of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
    ended: bool,
}

/// How long a server may take to accept.
const CONNECT: Duration = Duration::from_secs(10);

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> std::io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, CONNECT)?;
        stream.set_nodelay(true)?;
        // A server that reads nothing must not hold us up for ever.
        stream.set_write_timeout(Some(CONNECT))?;
        Ok(Connection { stream, bytes: Vec::new(), ended: false })
    }

    /// Sends bytes. That the server has closed is found when reading.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // What has been sent before the end may still be answered.
        let _ = self.stream.write_all(bytes);
    }

    /// Waits for the next frame.
    pub(crate) fn next(&mut self, patience: Duration) -> Came {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(frame) = self.cut_frame() {
                return Came::Frame(frame);
            }
            if self.ended {
                return Came::End;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return Came::Nothing;
            }
            let mut buffer = [0; 16 * 1024];
            match self.stream.read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(n) => self.bytes.extend_from_slice(&buffer[..n]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.ended = true,
            }
        }
    }

    fn cut_frame(&mut self) -> Option<Vec<u8>> {
        let length = u32::from_be_bytes(*self.bytes.first_chunk()?) as usize;
        let frame = self.bytes.get(4..4 + length)?.to_vec();
        self.bytes.drain(..4 + length);
        Some(frame)
    }
}

/// Asks a four-letter word; `None` if it is not answered.
pub(crate) fn word(address: SocketAddr, word: &str) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
    stream.set_read_timeout(Some(CONNECT)).ok()?;
    stream.write_all(word.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

//! A stream of bytes, cut into frames.

use crate::{FourLetterWord, WireError};

/// The longest request a server takes, the four bytes of its length not counted. Answers may be longer.
///
/// Source: ZooKeeper 3.9, `jute.maxbuffer`; measured: one byte more and the connection is closed.
pub const REQUEST_BYTES_MAX: u32 = zk_proto::server::FRAME_BYTES_MAX as u32;

/// The bytes of a frame's length.
const LENGTH: usize = 4;

/// What stands in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A frame, without its length.
    Frame(Vec<u8>),
    /// An administrator's question.
    Word(FourLetterWord),
}

/// Collects what comes on a connection and cuts it into pieces.
///
/// It holds what has come and nothing else: a length that is a lie costs no memory.
///
/// ```
/// use zk_wire::{Frames, Piece};
/// let mut frames = Frames::of_client();
/// frames.push(&[0, 0, 0, 2, 7]);
/// assert_eq!(frames.next_piece(), Ok(None));
/// frames.push(&[8, 0]);
/// assert_eq!(frames.next_piece(), Ok(Some(Piece::Frame(vec![7, 8]))));
/// ```
#[derive(Clone, Debug)]
pub struct Frames {
    bytes: Vec<u8>,
    /// Where the next piece begins. start <= bytes.len()
    start: usize,
    max: u32,
    /// Whether the next piece may be a word.
    words: bool,
}

impl Frames {
    /// The stream that a client sends: requests, or a word in place of the first.
    pub fn of_client() -> Frames {
        Frames { bytes: Vec::new(), start: 0, max: REQUEST_BYTES_MAX, words: true }
    }

    /// The stream that a server sends, each frame of at most `max` bytes. That is the client's choice; what a
    /// server sends has no limit.
    pub fn of_server(max: u32) -> Frames {
        Frames { bytes: Vec::new(), start: 0, max: max.min(i32::MAX as u32), words: false }
    }

    /// Takes what has come.
    pub fn push(&mut self, bytes: &[u8]) {
        // Moved only when at least half is done with, so that each byte is moved a bounded number of times.
        if self.start * 2 >= self.bytes.len() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next piece; `None` if it is not all there. After an error the stream cannot be followed: the same
    /// error comes again.
    pub fn next_piece(&mut self) -> Result<Option<Piece>, WireError> {
        let Some((length, rest)) = self.bytes[self.start..].split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        if self.words
            && let Some(word) = FourLetterWord::from_bytes(*length)
        {
            self.words = false;
            self.start += LENGTH;
            return Ok(Some(Piece::Word(word)));
        }
        let length = i32::from_be_bytes(*length);
        let known = u32::try_from(length).ok().filter(|length| *length <= self.max);
        let Some(known) = known else {
            return Err(WireError::FrameLength { length: length.into(), max: self.max });
        };
        let Some(frame) = rest.get(..known as usize) else { return Ok(None) };
        let frame = frame.to_vec();
        self.words = false;
        self.start += LENGTH + frame.len();
        Ok(Some(Piece::Frame(frame)))
    }

    /// What has come and belongs to no piece yet, such as the mask behind `stmk`.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Appends a frame: its length, and what `put` appends. If that fails, or is too long for a length,
/// nothing is appended.
pub(crate) fn put_frame(
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    let body = start + LENGTH;
    let done = put(out).and_then(|()| {
        let length = out.len() - body;
        let max = i32::MAX as u32;
        i32::try_from(length).map_err(|_| WireError::FrameLength { length: length as i64, max })
    });
    match done {
        Ok(length) => {
            out[start..body].copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_taken_for_one_only_at_the_beginning() {
        let mut stream = Frames::of_client();
        stream.push(b"sr");
        assert_eq!(stream.next_piece(), Ok(None));
        stream.push(b"vr");
        assert_eq!(stream.next_piece(), Ok(Some(Piece::Word(FourLetterWord::Srvr))));

        let mut stream = Frames::of_client();
        stream.push(b"\0\0\0\x01xruok");
        assert_eq!(stream.next_piece(), Ok(Some(Piece::Frame(b"x".to_vec()))));
        let length = i32::from_be_bytes(*b"ruok").into();
        let too_long = Err(WireError::FrameLength { length, max: REQUEST_BYTES_MAX });
        assert_eq!(stream.next_piece(), too_long);
        // The stream is lost for good.
        stream.push(&[0; 8]);
        assert_eq!(stream.next_piece(), too_long);
    }

    #[test]
    fn no_word_could_be_the_length_of_a_frame() {
        for word in FourLetterWord::ALL {
            let bytes = *word.name().as_bytes().first_chunk().expect("four letters");
            assert!(u32::from_be_bytes(bytes) > REQUEST_BYTES_MAX);
            assert_eq!(FourLetterWord::from_bytes(bytes), Some(*word));
        }
        assert_eq!(FourLetterWord::from_bytes(*b"abcd"), None);
    }

    #[test]
    fn a_negative_length_ends_the_stream() {
        for max in [0, REQUEST_BYTES_MAX] {
            let mut stream = Frames::of_server(max);
            stream.push(&[0xff; 4]);
            assert_eq!(stream.next_piece(), Err(WireError::FrameLength { length: -1, max }));
        }
    }

    #[test]
    fn what_is_done_with_is_let_go() {
        let mut stream = Frames::of_client();
        for _ in 0..1000 {
            stream.push(&[0, 0, 0, 4, 1, 2, 3, 4]);
            assert!(matches!(stream.next_piece(), Ok(Some(_))));
        }
        assert!(stream.bytes.len() < 64);
    }

    #[test]
    fn a_frame_that_fails_leaves_nothing_behind() {
        let mut out = vec![1];
        let failed = put_frame(&mut out, |out| {
            out.push(2);
            Err(WireError::Unencodable { what: "it" })
        });
        assert_eq!((failed.is_err(), out), (true, vec![1]));
    }
}

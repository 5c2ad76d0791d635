//! A connection of a program that is simulated: of what is outside of the simulation, it may ask for nothing.

use crate::{Decoded, Frames, Piece, ServerSide, WireError};
use zk_proto::message::{ToClient, ToServer};

/// The server's end of a program's connection: bytes to messages, and messages to bytes.
#[derive(Clone, Debug)]
pub struct OfProgram {
    frames: Frames,
    wire: ServerSide,
}

impl Default for OfProgram {
    fn default() -> OfProgram {
        OfProgram { frames: Frames::of_client(), wire: ServerSide::new() }
    }
}

impl OfProgram {
    /// What the program sends with these bytes, behind those before. The error is what it does that simulated servers
    /// do not take, such as "it asks for SASL"; nothing more is to be read then.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Vec<ToServer>, String> {
        self.frames.push(bytes);
        let mut messages = Vec::new();
        let sends = |error: WireError| format!("it sends {error}");
        while let Some(piece) = self.frames.next_piece().map_err(sends)? {
            let frame = match piece {
                Piece::Frame(frame) => frame,
                Piece::Word(word) => {
                    let word = word.name();
                    return Err(format!("it sends '{word}', which simulated servers do not answer"));
                }
            };
            match self.wire.decode(&frame).map_err(sends)? {
                Decoded::Message(message) => messages.push(message),
                Decoded::Refused { op, code, .. } => {
                    return Err(format!(
                        "it sends a request that simulated servers do not take: op {op}, {code:?}"
                    ));
                }
                Decoded::Sasl { .. } => return Err("it asks for SASL, which is not simulated".into()),
            }
        }
        Ok(messages)
    }

    /// A message as bytes.
    pub fn write(&mut self, message: &ToClient) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let told = self.wire.encode(message, &mut bytes);
        told.map_err(|error| format!("it cannot be told what a server has answered: {error}"))?;
        Ok(bytes)
    }
}

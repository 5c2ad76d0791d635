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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientSide;
    use zk_api::{SessionId, Zxid};
    use zk_proto::message::ConnectRequest;

    #[test]
    fn what_simulated_servers_do_not_take_is_told_and_not_passed_over() {
        let (session, password) = (SessionId::NONE, [0; 16]);
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 4000, session, password };
        let (mut program, mut bytes) = (OfProgram::default(), Vec::new());
        ClientSide::new().encode(&ToServer::Connect(request.clone()), &mut bytes).expect("a message");
        assert_eq!(program.read(&bytes), Ok(vec![ToServer::Connect(request)]));
        let frame = |op: i32| [8, 1, op].map(i32::to_be_bytes).concat();
        assert_eq!(program.read(&frame(11)), Ok(vec![ToServer::Ping]));
        let unknown = "it sends a request that simulated servers do not take: op 999, Unimplemented";
        assert_eq!(program.read(&frame(999)), Err(unknown.into()));
        let word = "it sends 'ruok', which simulated servers do not answer";
        assert_eq!(OfProgram::default().read(b"ruok"), Err(word.into()));
    }
}

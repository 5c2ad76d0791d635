//! What is said between a worker and us, as bytes. `PROTOCOL.md` is the text to this.

use zk_api::Text;
use zk_harness::event::{End, Observation};
use zk_harness::program::{Input, Life, Now, Output, ProgramStep};
use zk_harness::words::Word;

/// Of the protocol.
pub(crate) const VERSION: u16 = 1;

/// No frame is longer. Text that is taken for a length is.
pub(crate) const FRAME_BYTES_MAX: u32 = 16 << 20;

/// A frame to a worker.
pub(crate) struct Ask(Vec<u8>);

impl Ask {
    /// Load this program.
    pub(crate) fn hello(program: &str) -> Ask {
        let mut ask = Ask(vec![1]);
        ask.0.extend(VERSION.to_be_bytes());
        ask.bytes(program.as_bytes());
        ask
    }

    /// Begin a life of it.
    pub(crate) fn begin(life: &Life, now: Now) -> Ask {
        let mut ask = Ask(vec![2]);
        ask.now(now);
        ask.bytes(life.me.to_string().as_bytes());
        ask.0.extend(life.me.process.to_be_bytes());
        ask.0.push(life.me.life);
        ask.0.extend(life.clients.to_be_bytes());
        ask.0.push(life.rounds);
        ask.0.extend(life.seed.to_be_bytes());
        ask.0.extend(life.timeout_ms.to_be_bytes());
        ask.0.push(life.stands_still);
        ask.0.extend(life.stands_still_ns.to_be_bytes());
        let servers: Vec<String> = life.servers.iter().map(|server| address(*server)).collect();
        ask.bytes(servers.join(",").as_bytes());
        ask
    }

    /// Take what has happened.
    pub(crate) fn step(now: Now, inputs: &[Input]) -> Ask {
        let mut ask = Ask(vec![3]);
        ask.now(now);
        ask.0.extend((inputs.len() as u32).to_be_bytes());
        for input in inputs {
            match input {
                Input::Connected(socket) => ask.tagged(1, *socket),
                Input::Refused(socket) => ask.tagged(2, *socket),
                Input::Data(socket, bytes) => {
                    ask.tagged(3, *socket);
                    ask.bytes(bytes);
                }
                Input::End(socket) => ask.tagged(4, *socket),
                Input::Done { ask: done, accepted } => {
                    ask.tagged(5, *done);
                    ask.0.push((*accepted).into());
                }
            }
        }
        ask
    }

    /// End the life.
    pub(crate) fn kill() -> Ask {
        Ask(vec![4])
    }

    /// With the length in front.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut frame = (self.0.len() as u32).to_be_bytes().to_vec();
        frame.extend(&self.0);
        frame
    }

    fn now(&mut self, now: Now) {
        self.0.extend(now.steady_ns.to_be_bytes());
        self.0.extend(now.wall_ns.to_be_bytes());
    }

    fn tagged(&mut self, tag: u8, number: u32) {
        self.0.push(tag);
        self.0.extend(number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend((bytes.len() as u32).to_be_bytes());
        self.0.extend(bytes);
    }
}

/// A frame of a worker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has loaded the program: who it is.
    Welcome(String),
    Stepped(ProgramStep),
    Killed,
    /// It cannot go on, and why.
    Wrong(String),
}

impl Answer {
    /// Reads what stands in a frame. The error says what is wrong with it.
    pub(crate) fn read(frame: &[u8]) -> Result<Answer, &'static str> {
        let mut reader = Reader(frame);
        let answer = match reader.u8()? {
            1 => Answer::Welcome(reader.text()?),
            2 => Answer::Stepped(reader.stepped()?),
            3 => Answer::Killed,
            4 => Answer::Wrong(reader.text()?),
            _ => return Err("an answer of an unknown kind"),
        };
        match reader.0 {
            [] => Ok(answer),
            _ => Err("an answer with more behind its end"),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("an answer that ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        Ok(self.take(N)?.try_into().expect("as many were taken"))
    }

    fn u8(&mut self) -> Result<u8, &'static str> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Result<u32, &'static str> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn bytes(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    fn text(&mut self) -> Result<String, &'static str> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| "a text that is not UTF-8")
    }

    fn stepped(&mut self) -> Result<ProgramStep, &'static str> {
        let timer_ns = match self.u8()? {
            0 => None,
            1 => Some(u64::from_be_bytes(self.array()?)),
            _ => return Err("a timer that is neither there nor not"),
        };
        let (switches, count) = (self.u32()?, self.u32()?);
        let outputs = (0..count).map(|_| self.output()).collect::<Result<_, _>>()?;
        Ok(ProgramStep { outputs, timer_ns, switches })
    }

    fn output(&mut self) -> Result<Output, &'static str> {
        Ok(match self.u8()? {
            1 => {
                let (socket, address) = (self.u32()?, self.text()?);
                Output::Connect { socket, server: server_at(&address) }
            }
            2 => Output::Send { socket: self.u32()?, bytes: self.bytes()?.to_vec() },
            3 => Output::Close(self.u32()?),
            4 => Output::Observed { thread: self.u8()?, what: self.observation()? },
            5 => Output::Work { ask: self.u32()? },
            6 => Output::Write { ask: self.u32()?, thread: self.u8()? },
            7 => match self.u8()? {
                0 => Output::Ends(End::Done),
                1 => Output::Ends(End::SessionLost),
                2 => Output::Ends(End::Failed),
                3 => Output::Ends(End::Exited),
                4 => Output::Leaves,
                _ => return Err("an end of an unknown kind"),
            },
            8 => Output::Prints(self.text()?),
            9 => Output::Sleeps { for_ns: u64::from_be_bytes(self.array()?) },
            _ => return Err("an output of an unknown kind"),
        })
    }

    fn observation(&mut self) -> Result<Observation, &'static str> {
        let (word, about, what) = (self.text()?, self.text()?, self.text()?);
        let number = i64::from_be_bytes(self.array()?);
        let (about, what) = (Text::from(about), Text::from(what));
        Ok(match &*word {
            "attempts" => Observation::Attempts { lock: about },
            "granted" => Observation::Granted { lock: about, node: what, token: None },
            "shares" => Observation::Shares { lock: about, node: what, token: None },
            "enters" => Observation::Enters { lock: about },
            "leaves" => Observation::Leaves { lock: about },
            "released" => Observation::Released { lock: about },
            "gives-up" => Observation::GivesUp { lock: about, why: what },
            "notes" => Observation::note(Word::own(&what), &about, number),
            "begins" => Observation::begins(Word::own(&what), &about, number),
            "ends" => Observation::ends(Word::own(&what), &about, number),
            _ => return Err("an observation of an unknown kind"),
        })
    }
}

/// Where a program finds a server.
fn address(server: u8) -> String {
    format!("10.0.0.{}:2181", u16::from(server) + 1)
}

fn server_at(address: &str) -> Option<u8> {
    let last = address.strip_prefix("10.0.0.")?.strip_suffix(":2181")?;
    last.parse::<u8>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_found_where_a_program_was_told() {
        for server in [0, 4, 254] {
            assert_eq!(server_at(&address(server)), Some(server));
        }
        for other in
            ["", "10.0.0.0:2181", "10.0.0.256:2181", "10.0.0.1:2182", "10.0.1.1:2181", "localhost:2181"]
        {
            assert_eq!(server_at(other), None, "{other}");
        }
    }

    #[test]
    fn each_word_is_heard_as_itself_with_all_that_it_says() {
        let text = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
        let hear = |word: &str| {
            let texts = [word, "/a", "n"].map(text).concat();
            Reader(&[&texts[..], &5_i64.to_be_bytes()].concat()).observation()
        };
        let (lock, node, why, token) = (|| Text::from("/a"), Text::from("n"), Text::from("n"), None);
        for (word, what) in [
            ("attempts", Observation::Attempts { lock: lock() }),
            ("granted", Observation::Granted { lock: lock(), node: node.clone(), token }),
            ("shares", Observation::Shares { lock: lock(), node, token }),
            ("enters", Observation::Enters { lock: lock() }),
            ("leaves", Observation::Leaves { lock: lock() }),
            ("released", Observation::Released { lock: lock() }),
            ("gives-up", Observation::GivesUp { lock: lock(), why }),
            ("notes", Observation::note(Word::own("n"), "/a", 5)),
            ("begins", Observation::begins(Word::own("n"), "/a", 5)),
            ("ends", Observation::ends(Word::own("n"), "/a", 5)),
        ] {
            assert_eq!(hear(word), Ok(what));
        }
        assert_eq!(hear("sings"), Err("an observation of an unknown kind"));
    }

    #[test]
    fn an_answer_cut_anywhere_is_none_and_nor_is_one_with_more_behind() {
        let mut frame = vec![2, 1];
        frame.extend(7u64.to_be_bytes());
        frame.extend([0, 0, 0, 3, 0, 0, 0, 2]);
        frame.extend([2, 0, 0, 0, 9, 0, 0, 0, 2, b'h', b'i']);
        frame.extend([7, 2]);
        let outputs = vec![Output::Send { socket: 9, bytes: b"hi".to_vec() }, Output::Ends(End::Failed)];
        let step = ProgramStep { outputs, timer_ns: Some(7), switches: 3 };
        assert_eq!(Answer::read(&frame), Ok(Answer::Stepped(step)));
        for length in 0..frame.len() {
            assert_eq!(Answer::read(&frame[..length]), Err("an answer that ends too early"), "{length}");
        }
        frame.push(0);
        assert_eq!(Answer::read(&frame), Err("an answer with more behind its end"));
    }
}

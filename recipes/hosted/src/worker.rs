//! A worker: asked, answering, and ended where it does not.

use crate::frame::{Answer, Ask, FRAME_BYTES_MAX};
use crate::watch::{Guard, Watch};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;

/// So much of what it has printed is shown.
const SHOWN: usize = 60;

/// How a worker is started, and what it is told before it is asked for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The program, as it is named to the host and to people.
    pub program: String,
    /// The host's command and its arguments.
    pub command: Vec<String>,
    /// Set in its environment.
    pub environment: Vec<(String, String)>,
    /// What its stdin begins with.
    pub preamble: Vec<u8>,
}

/// A process with a host in it.
pub(crate) struct Worker {
    stdin: ChildStdin,
    stdout: ChildStdout,
    /// What it has printed there: where it dies, the last line says why.
    stderr: File,
    guard: Arc<Guard>,
}

impl Worker {
    /// Starts one, and lets it load the program. Gives who it is.
    pub(crate) fn start(start: &Start, watch: &Watch) -> Result<(Worker, String), String> {
        let [command, arguments @ ..] = &start.command[..] else {
            return Err("no command is given that starts it".into());
        };
        let cannot = |error: std::io::Error| format!("'{command}' cannot be started: {error}");
        let stderr = tempfile::tempfile().map_err(cannot)?;
        let mut child = Command::new(command)
            .args(arguments)
            .envs(start.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone().map_err(cannot)?)
            .spawn()
            .map_err(cannot)?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = pipes else { return Err("it has no pipes".into()) };
        let guard = Arc::new(Guard::new(child));
        watch.over(&guard);
        let mut worker = Worker { stdin, stdout, stderr, guard };
        worker.guard.asks();
        let told = worker.stdin.write_all(&start.preamble);
        // Who ends while it is told has said why, and is asked for nothing.
        let answer = told.map_err(|_| worker.died()).and_then(|()| worker.ask(&Ask::hello(&start.program)));
        match answer? {
            Answer::Welcome(who) => Ok((worker, who)),
            Answer::Wrong(what) => Err(what),
            Answer::Stepped(_) | Answer::Killed => Err(unexpected("welcome")),
        }
    }

    /// Asks for something and waits for the answer. The error says what it has done instead; it has ended then.
    pub(crate) fn ask(&mut self, ask: &Ask) -> Result<Answer, String> {
        self.guard.asks();
        let frame =
            self.stdin.write_all(&ask.frame()).and_then(|()| self.stdin.flush()).map_err(|_| self.died());
        let answer = frame.and_then(|()| self.answer());
        self.guard.has_answered();
        answer
    }

    fn answer(&mut self) -> Result<Answer, String> {
        let mut length = [0; 4];
        self.stdout.read_exact(&mut length).map_err(|_| self.died())?;
        if u32::from_be_bytes(length) > FRAME_BYTES_MAX {
            return Err(self.printed(&length));
        }
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.stdout.read_exact(&mut frame).map_err(|_| self.died())?;
        Answer::read(&frame).map_err(|what| {
            self.guard.kill();
            format!("it writes garbage to its stdout: {what}")
        })
    }

    /// What stands where a frame should begin.
    fn printed(&mut self, first: &[u8]) -> String {
        self.guard.kill();
        let mut rest = Vec::new();
        let _ = Read::by_ref(&mut self.stdout).take(SHOWN as u64).read_to_end(&mut rest);
        let all = [first, &rest].concat();
        let text = String::from_utf8_lossy(&all);
        let line = text.lines().next().unwrap_or_default();
        // A frame may stand behind it.
        let shown = line.chars().take(SHOWN).take_while(|c| !c.is_control());
        let shown: String = shown.flat_map(char::escape_debug).collect();
        format!("it writes to its stdout, which is for frames alone: '{shown}'")
    }

    /// Why it does not answer any more.
    fn died(&mut self) -> String {
        let how = match self.guard.end() {
            Err(why) => why,
            Ok(status) => format!("it ends in the middle, {}", ended(status)),
        };
        let mut said = Vec::new();
        let from_end = self.stderr.seek(SeekFrom::End(0)).unwrap_or(0).min(4096);
        let _ = self.stderr.seek(SeekFrom::End(-(from_end as i64)));
        let _ = Read::by_ref(&mut self.stderr).take(4096).read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        match said.lines().rfind(|line| !line.trim().is_empty()) {
            Some(last) => format!("{how}: {}", last.trim()),
            None => how,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.guard.kill();
    }
}

/// What is said of an answer to another question.
pub(crate) fn unexpected(expected: &str) -> String {
    format!("it writes garbage to its stdout: an answer that is no '{expected}'")
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("with exit status {code}"),
        // Unix says which signal.
        None => format!("by {status}"),
    }
}

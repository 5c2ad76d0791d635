//! The programs' processes.

use super::plan::Plan;
use crate::BadInput;
use crate::observe::Judge;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use zk_harness::event::End;

/// So many of a program's last lines are kept.
const LINES: usize = 20;

/// So many bytes of each.
const WIDTH: u64 = 400;

/// Between the loss of a session and the next life.
const BETWEEN_LIVES: Duration = Duration::from_millis(100);

/// The client programs of one run. Whoever has this can pause and kill them.
pub(super) struct ClientProcesses {
    members: Mutex<Vec<Member>>,
    judge: Judge,
    program: String,
    rounds: u8,
    environment: Vec<(&'static str, String)>,
}

/// One client.
#[derive(Default)]
struct Member {
    process: Option<Process>,
    /// How often it was started.
    starts: u32,
    /// When it is to be started.
    due: Option<Instant>,
    /// How often its code had come to an end before it was started last.
    ends_before: usize,
    is_through: bool,
    has_failed: bool,
    lines: Arc<Mutex<VecDeque<String>>>,
}

/// A process that leads a group of its own, which ends with it.
struct Process {
    child: Child,
    group: Pid,
    /// It closes when we are gone.
    _stdin: Option<ChildStdin>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

impl Process {
    /// Nothing is wrong if there is nobody any more.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }
}

impl ClientProcesses {
    /// Starts every client.
    pub(super) fn start(
        plan: &Plan,
        judge: Judge,
        environment: Vec<(&'static str, String)>,
    ) -> Result<ClientProcesses, BadInput> {
        let members =
            (0..plan.scenario.clients).map(|_| Member { due: Some(Instant::now()), ..Member::default() });
        let processes = ClientProcesses {
            members: Mutex::new(members.collect()),
            judge,
            program: plan.arguments.program.clone(),
            rounds: plan.scenario.rounds,
            environment,
        };
        processes.look()?;
        Ok(processes)
    }

    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks who has come to an end, and starts who is due. Fails if a program cannot be run.
    pub(super) fn look(&self) -> Result<(), BadInput> {
        for (client, member) in (0..).zip(self.members().iter_mut()) {
            self.look_at(client, member)?;
            if member.due.is_some_and(|due| due <= Instant::now()) {
                member.due = None;
                let done = u8::try_from(self.judge.rounds_done(client)).unwrap_or(u8::MAX);
                let rounds = self.rounds.saturating_sub(done);
                // A first life without rounds may be what a program is for.
                if rounds == 0 && member.starts > 0 {
                    member.is_through = true;
                } else {
                    self.begin(client, member, rounds)?;
                }
            }
        }
        Ok(())
    }

    fn look_at(&self, client: u16, member: &mut Member) -> Result<(), BadInput> {
        let Some(process) = &mut member.process else { return Ok(()) };
        let ends = self.judge.who().ends_of(client);
        if let Some(end) = ends.get(member.ends_before).copied() {
            if end == End::SessionLost {
                member.process = None;
                self.judge.is_gone(client, None);
                member.due = Some(Instant::now() + BETWEEN_LIVES);
            }
            // Whoever is done stays, so that what it has left behind can be judged.
            member.is_through |= end != End::SessionLost;
            member.has_failed |= end == End::Failed;
            return Ok(());
        }
        let ended = process.child.try_wait().map_err(|error| self.bad(client, &error.to_string()))?;
        let Some(status) = ended else { return Ok(()) };
        if !status.success() && !self.judge.who().has_spoken(client) {
            let last = member.lines.lock().unwrap_or_else(PoisonError::into_inner).back().cloned();
            let last = last.map(|line| format!(": {line}")).unwrap_or_default();
            return Err(self.bad(client, &format!("it ended with {status} before it said anything{last}")));
        }
        member.process = None;
        if !status.success() && self.judge.who().has_expired(client) {
            // As in a simulation: it has ended itself for that.
            self.judge.is_gone(client, None);
            member.due = Some(Instant::now() + BETWEEN_LIVES);
            return Ok(());
        }
        let end = if status.success() { End::Done } else { End::Failed };
        self.judge.is_gone(client, Some(end));
        (member.is_through, member.has_failed) = (true, end == End::Failed);
        Ok(())
    }

    fn bad(&self, client: u16, what: &str) -> BadInput {
        bad!("--program '{}': client {client}: {what}", self.program)
    }

    fn begin(&self, client: u16, member: &mut Member, rounds: u8) -> Result<(), BadInput> {
        let name = match member.starts {
            0 => format!("p{client}"),
            starts => format!("p{client}.{starts}"),
        };
        let mut child = Command::new("sh")
            .args(["-c", &self.program])
            .envs(self.environment.iter().map(|(name, value)| (*name, value)))
            .env("ZOOCHECK_CLIENT", client.to_string())
            .env("ZOOCHECK_NAME", name)
            .env("ZOOCHECK_ROUNDS", rounds.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| self.bad(client, &format!("it cannot be started: {error}")))?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let group = group.expect("a child that nobody has waited for");
        keep(child.stdout.take(), &member.lines);
        keep(child.stderr.take(), &member.lines);
        let stdin = child.stdin.take();
        member.process = Some(Process { child, group, _stdin: stdin });
        member.starts += 1;
        member.ends_before = self.judge.who().ends_of(client).len();
        Ok(())
    }

    /// Kills a client that is not through. It is started again after a while.
    pub(super) fn crash(&self, client: u16, restart_after: Duration) -> bool {
        let mut members = self.members();
        let running = members.get_mut(usize::from(client)).filter(|member| !member.is_through);
        let Some(member) = running.filter(|member| member.process.is_some()) else { return false };
        member.process = None;
        member.due = Some(Instant::now() + restart_after);
        self.judge.is_gone(client, None);
        true
    }

    /// Stops a client's processes; gives which start of it that was.
    pub(super) fn pause(&self, client: u16) -> Option<u32> {
        let members = self.members();
        let member = members.get(usize::from(client))?;
        member.process.as_ref()?.signal(Signal::STOP);
        Some(member.starts)
    }

    /// Lets a client go on, if it was not started again since.
    pub(super) fn resume(&self, client: u16, start: u32) {
        let members = self.members();
        let paused = members.get(usize::from(client)).filter(|member| member.starts == start);
        if let Some(process) = paused.and_then(|member| member.process.as_ref()) {
            process.signal(Signal::CONT);
        }
    }

    /// A client that has not come to its end.
    pub(super) fn unfinished(&self) -> Option<u16> {
        let members = self.members();
        members.iter().position(|member| !member.is_through).map(|client| client as u16)
    }

    /// Whether a client is to be started.
    pub(super) fn is_anybody_due(&self) -> bool {
        self.members().iter().any(|member| member.due.is_some())
    }

    /// The last lines of those that failed.
    pub(super) fn output(&self) -> Vec<String> {
        let members = self.members();
        let mut all = Vec::new();
        for (client, member) in members.iter().enumerate().filter(|(_, member)| member.has_failed) {
            let lines = member.lines.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(lines.iter().map(|line| format!("p{client}: {line}")));
        }
        all
    }

    /// Ends all of them, and waits until they are gone.
    pub(super) async fn end(&self) {
        let processes: Vec<Process> =
            self.members().iter_mut().filter_map(|member| member.process.take()).collect();
        for mut process in processes {
            process.signal(Signal::KILL);
            let _ = process.child.wait().await;
        }
    }
}

/// Keeps the last lines of what a program prints, each as far as a reader bears.
fn keep(from: Option<impl AsyncRead + Send + Unpin + 'static>, lines: &Arc<Mutex<VecDeque<String>>>) {
    let Some(from) = from else { return };
    let kept = lines.clone();
    tokio::spawn(async move {
        let (mut from, mut line, mut is_whole) = (BufReader::new(from), Vec::new(), true);
        loop {
            line.clear();
            // Nor is more of it ever in memory.
            let read = (&mut from).take(WIDTH).read_until(b'\n', &mut line).await;
            if !read.is_ok_and(|bytes| bytes > 0) {
                return;
            }
            let (begins, ends) = (is_whole, line.last() == Some(&b'\n'));
            is_whole = ends;
            if begins {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == LINES {
                    kept.pop_front();
                }
                let cut = if ends || (line.len() as u64) < WIDTH { "" } else { "…" };
                let line = String::from_utf8_lossy(&line);
                kept.push_back(line.chars().filter(|c| !c.is_control()).collect::<String>() + cut);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of 10 MB made a page of 80.
    #[tokio::test]
    async fn of_a_long_line_the_beginning_is_kept() {
        let lines = Arc::default();
        let printed = [vec![b'x'; 3_000_000], b"\n\na\tb\nlast".to_vec()].concat();
        keep(Some(std::io::Cursor::new(printed)), &lines);
        let kept = || lines.lock().expect("nobody panics").clone();
        while kept().len() < 4 {
            tokio::task::yield_now().await;
        }
        assert_eq!(kept(), [&*("x".repeat(400) + "…"), "", "ab", "last"]);
    }
}

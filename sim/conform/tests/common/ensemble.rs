//! An ensemble that scripts are run on: real servers, or ours.

use crate::common::real::Real;
use std::fmt::Debug;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use zk_conform::driver::{Servers, run};
use zk_conform::script::{Control, Script, Which};
use zk_conform::side::{Transcript, clear};

/// Where the servers of an ensemble run. They end with this.
pub trait Machines: Debug {
    /// Does something to a server; it is done when this returns. Servers are numbered from 1.
    fn control(&self, number: u8, control: Control) -> Result<(), String>;
}

impl Machines for Real {
    fn control(&self, number: u8, control: Control) -> Result<(), String> {
        let what = match control {
            Control::Kill => "kill",
            Control::Start => "restart",
            Control::Pause => "pause",
            Control::Resume => "resume",
        };
        self.ask(what, &[&number.to_string()]);
        Ok(())
    }
}

/// Servers of one ensemble, numbered from 1.
#[derive(Debug)]
pub struct Ensemble {
    machines: Box<dyn Machines>,
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    address: SocketAddr,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    Paused,
    Killed,
}

/// What a server says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    leads: bool,
    zxid: i64,
}

/// A deposed leader says for a while that it leads.
fn one_leads(said: &[Option<Said>]) -> bool {
    said.iter().flatten().filter(|said| said.leads).count() == 1
}

/// How long servers may take to agree on something.
const LONG: Duration = Duration::from_secs(60);
/// How long one may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often they are asked.
const PULSE: Duration = Duration::from_millis(10);

impl Ensemble {
    /// Servers that run there, in order of their numbers, with nothing in them.
    pub fn of(machines: Box<dyn Machines>, addresses: Vec<SocketAddr>) -> Ensemble {
        let servers = addresses.into_iter().map(|address| Server { address, state: State::Runs });
        Ensemble { machines, servers: servers.collect() }
    }

    /// Runs a script on servers that hold nothing else and have all applied the same, and makes them so again. Fails
    /// with what is wrong with the servers.
    pub fn run(&mut self, script: &Script) -> Result<Transcript, String> {
        self.clear()?;
        run(self, script)
    }

    /// Deletes what scripts have left. The last transaction is the end of a session of ours.
    fn clear(&mut self) -> Result<(), String> {
        self.heal()?;
        let leader = self.address(Which::Leader)?;
        // A session that a script lost sight of would end in the middle of the next one.
        wait_until("still have sessions", || {
            word(leader, "mntr").is_some_and(|said| said.contains("zk_global_sessions\t0\n"))
        })?;
        clear(leader)?;
        self.until("have not all applied the same", |said| {
            said.iter().all(|one| one.is_some_and(|one| Some(one.zxid) == said[0].map(|first| first.zxid)))
        })
    }

    /// What each server says of itself; nothing of those that do not run, or do not serve.
    fn ask(&self) -> Vec<Option<Said>> {
        let ask = |server: &Server| {
            if server.state != State::Runs {
                return None;
            }
            let text = word(server.address, "srvr")?;
            let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
            let zxid = i64::from_str_radix(line("Zxid: 0x")?, 16).ok()?;
            let leads = match line("Mode: ")? {
                "leader" | "standalone" => true,
                "follower" => false,
                _ => return None,
            };
            Some(Said { leads, zxid })
        };
        self.servers.iter().map(ask).collect()
    }

    /// Waits for something to be said.
    fn until(&self, not: &str, mut is_so: impl FnMut(&[Option<Said>]) -> bool) -> Result<(), String> {
        let waited = wait_until(not, || is_so(&self.ask()));
        waited.map_err(|problem| format!("{problem}: {:?}", self.ask()))
    }

    /// The nth server in a state, from 1.
    fn nth_in(&self, state: State, nth: usize) -> Option<u8> {
        let mut all = (1..).zip(&self.servers).filter(|(_, server)| server.state == state);
        all.nth(nth.checked_sub(1)?).map(|(number, _)| number)
    }

    fn nth_that(&self, leads: bool, nth: u8) -> Result<u8, String> {
        let mut found = None;
        self.until("have no such leader or follower", |said| {
            let mut all = (1..).zip(said).filter(|(_, said)| said.is_some_and(|said| said.leads == leads));
            found = usize::from(nth).checked_sub(1).and_then(|at| all.nth(at)).map(|(number, _)| number);
            one_leads(said) && found.is_some()
        })?;
        found.ok_or_else(|| "nobody leads".into())
    }

    fn server(&mut self, number: u8) -> Result<&mut Server, String> {
        let at = usize::from(number).checked_sub(1);
        at.and_then(|at| self.servers.get_mut(at)).ok_or_else(|| format!("there is no server {number}"))
    }
}

impl Servers for Ensemble {
    fn address(&mut self, which: Which) -> Result<SocketAddr, String> {
        let number = self.number(which)?;
        Ok(self.server(number)?.address)
    }

    fn control(&mut self, which: Which, control: Control) -> Result<(), String> {
        let number = self.number(which)?;
        let state = match control {
            Control::Kill => State::Killed,
            Control::Pause => State::Paused,
            Control::Start | Control::Resume => State::Runs,
        };
        self.machines.control(number, control)?;
        self.server(number)?.state = state;
        Ok(())
    }

    fn number(&mut self, which: Which) -> Result<u8, String> {
        let none = || format!("there is no server that is {which}");
        match which {
            Which::Number(number) => Ok(number),
            Which::Leader => self.nth_that(true, 1),
            Which::Follower(nth) => self.nth_that(false, nth),
            Which::Killed => self.nth_in(State::Killed, 1).ok_or_else(none),
            Which::Paused => self.nth_in(State::Paused, 1).ok_or_else(none),
            Which::Of(conn) => Err(format!("where {conn} is, only its script knows")),
        }
    }

    fn is_paused(&self, number: u8) -> bool {
        let server = usize::from(number).checked_sub(1).and_then(|at| self.servers.get(at));
        server.is_some_and(|server| server.state == State::Paused)
    }

    /// A new leader's first zxid is no transaction, and is not told.
    fn last_zxid(&mut self) -> Option<i64> {
        self.ask().into_iter().flatten().map(|said| said.zxid).filter(|zxid| zxid & 0xffff_ffff != 0).max()
    }

    fn serve(&mut self) -> bool {
        let all = self.ask();
        let running = self.servers.iter().filter(|server| server.state == State::Runs).count();
        all.iter().flatten().count() == running && one_leads(&all)
    }

    fn heal(&mut self) -> Result<(), String> {
        while let Some(number) = self.nth_in(State::Paused, 1) {
            self.control(Which::Number(number), Control::Resume)?;
        }
        while let Some(number) = self.nth_in(State::Killed, 1) {
            self.control(Which::Number(number), Control::Start)?;
        }
        self.until("do not serve", |said| said.iter().all(Option::is_some) && one_leads(said))
    }
}

/// Waits for something; `not` is what is so otherwise.
fn wait_until(not: &str, mut is_so: impl FnMut() -> bool) -> Result<(), String> {
    let over = Instant::now() + LONG;
    while !is_so() {
        if Instant::now() >= over {
            return Err(format!("the servers {not} after {LONG:?}"));
        }
        thread::sleep(PULSE);
    }
    Ok(())
}

/// Asks a four-letter word; `None` if it is not answered.
fn word(address: SocketAddr, word: &str) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(word.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

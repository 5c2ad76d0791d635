//! What happens at its time: timers, slow disks, slow links, restarts; and what waits while a process stands still.

use super::Core;
use super::event::{Held, Later};
use crate::link::State;
use crate::message::ToCore;
use crate::time::{MS, Nanos};
use zk_proto::message::ConnId;
use zk_proto::server::{Event, Timer};

impl Core {
    /// Puts something off; a crash of the server `of` undoes it.
    pub(super) fn later(&mut self, due: Nanos, of: Option<u8>, what: Later) {
        self.laters += 1;
        self.later.insert((due, self.laters), (of, what));
    }

    /// Whether all processes have stopped for a while. Nothing is taken from connections then.
    pub(crate) fn is_paused(&self) -> bool {
        self.cluster.hosts.iter().all(|host| host.own.paused_until.is_some())
    }

    /// Whether the process of the server that a connection goes to stands still.
    pub(super) fn is_held(&self, conn: ConnId) -> bool {
        let server = self.server_of(conn);
        server.is_some_and(|server| self.cluster.hosts[usize::from(server)].own.paused_until.is_some())
    }

    /// When something is to happen by itself.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        let of_hosts = self.cluster.hosts.iter().filter_map(|host| match host.own.paused_until {
            Some(until) => Some(until),
            None => host.own.timers.values().min().copied(),
        });
        let later = self.later.keys().next().map(|(due, _)| *due);
        of_hosts.chain(later).min()
    }

    /// Lets happen what is due.
    pub(crate) fn pass(&mut self, now: Nanos) {
        for id in 0..self.cluster.hosts.len() as u8 {
            if self.host(id).own.paused_until.is_some_and(|until| until <= now) {
                self.resume(now, id);
            }
        }
        while let Some((id, timer)) = self.due_timer(now, |_| true) {
            self.fire(now, id, timer);
        }
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let (_, what) = entry.remove();
            self.happens(now, what);
        }
    }

    fn happens(&mut self, now: Nanos, what: Later) {
        match what {
            Later::Up { server } => self.start(now, server),
            Later::Happens { from, to, event } => {
                from.into_iter().for_each(|from| self.late.landed(from, to));
                self.next(to, event);
                self.run(now);
            }
            Later::Dialled { from, to } => {
                self.dialled(from, to);
                self.run(now);
            }
            Later::PartitionEnds { cut } => self.partition_ends(now, &cut),
            Later::Frames { conn, frames } => self.here(now, conn, frames),
            Later::Out { conn, link, bytes } => self.out(now, conn, &link, &bytes),
            Later::End { link } => link.turn(State::Flushing),
            Later::Arrive { conn } => self.arrive(now, conn),
        }
    }

    /// A process goes on as if nothing had been. It finds its timers first, and a lot of what has come meanwhile.
    pub(super) fn resume(&mut self, now: Nanos, id: u8) {
        self.host(id).own.paused_until = None;
        let is_of = |of: &u8| *of == id;
        while let Some((of, timer)) = self.due_timer(now, is_of) {
            self.fire(now, of, timer);
        }
        let conns = self.conns.iter().filter(|(_, conn)| conn.server == id);
        self.look_again.extend(conns.map(|(id, _)| *id));
        self.run(now);
        // A crash takes what waits along.
        while let Some(held) = self.host(id).own.held.pop_front() {
            match held {
                Held::Event(addressed) => {
                    self.events.push_back(addressed);
                    self.run(now);
                }
                Held::Message(message) => self.take(now, message),
            }
        }
    }

    fn fire(&mut self, now: Nanos, id: u8, timer: Timer) {
        self.host(id).own.timers.remove(&timer);
        self.next(id, Event::Timer(timer));
        self.run(now);
    }

    fn due_timer(&self, now: Nanos, is_of: impl Fn(&u8) -> bool) -> Option<(u8, Timer)> {
        let going =
            (0..).zip(&self.cluster.hosts).filter(|(id, host)| is_of(id) && host.own.paused_until.is_none());
        let timers =
            going.flat_map(|(id, host)| host.own.timers.iter().map(move |(timer, due)| (*due, id, *timer)));
        timers.min().filter(|(due, _, _)| *due <= now).map(|(_, id, timer)| (id, timer))
    }

    /// Sets one of a server's timers.
    pub(super) fn set_timer(&mut self, now: Nanos, id: u8, timer: Timer, after_ms: u32) {
        self.host(id).own.timers.insert(timer, now + u64::from(after_ms) * MS);
    }

    /// Takes what a connection has to tell. What goes to a server whose process stands still waits; new connections
    /// and frames are taken all the same, and are not looked at.
    pub(crate) fn take(&mut self, now: Nanos, message: ToCore) {
        let waits = match &message {
            ToCore::Word { conn, .. }
            | ToCore::Malformed { conn, .. }
            | ToCore::Late { conn }
            | ToCore::Gone { conn } => self.is_held(*conn).then_some(*conn),
            ToCore::Accepted { .. } | ToCore::Frames { .. } | ToCore::Room { .. } => None,
        };
        if let Some(server) = waits.and_then(|conn| self.server_of(conn)) {
            self.host(server).own.held.push_back(Held::Message(message));
            return;
        }
        match message {
            ToCore::Accepted { server, conn, link, peer } => self.accepted(now, server, conn, link, peer),
            ToCore::Frames { conn, frames } => self.frames(now, conn, frames),
            ToCore::Word { conn, word } => self.word(now, conn, word),
            ToCore::Malformed { conn, error } => self.malformed(now, conn, &error.to_string()),
            ToCore::Late { conn } => self.malformed(now, conn, "no first message in time"),
            ToCore::Room { conn } => self.room(now, conn),
            ToCore::Gone { conn } => self.gone(now, conn),
        }
    }
}

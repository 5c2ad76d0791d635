//! What happens at its time: timers, slow disks, slow links, restarts.

use super::{Core, MS, Nanos};
use crate::link::{Link, State};
use std::sync::Arc;
use zk_proto::disk::FileId;
use zk_proto::message::ConnId;
use zk_proto::server::{Event, Timer};

/// What happens at its time.
pub(super) enum Later {
    /// The server starts again.
    Up,
    /// The disk has done something.
    Synced { file: FileId, ticket: u64 },
    /// Late frames are here.
    Frames { conn: ConnId, frames: Vec<Vec<u8>> },
    /// Late bytes are sent.
    Out { conn: ConnId, link: Arc<Link>, bytes: Vec<u8> },
    /// A connection ends behind its late bytes.
    End { link: Arc<Link> },
    /// Requests that were under way arrive.
    Arrive { conn: ConnId },
}

impl Core {
    /// Puts something off.
    pub(super) fn later(&mut self, due: Nanos, what: Later) {
        self.laters += 1;
        self.later.insert((due, self.laters), what);
    }

    /// Whether the server's process has stopped for a while. It takes nothing from its connections then.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    /// When something is to happen by itself.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        if self.paused_until.is_some() {
            return self.paused_until;
        }
        let timer = self.timers.values().min().copied();
        let later = self.later.keys().next().map(|(due, _)| *due);
        timer.into_iter().chain(later).min()
    }

    /// Lets happen what is due. After a pause that is a lot, and the timers come first.
    pub(crate) fn pass(&mut self, now: Nanos) {
        if self.paused_until.is_some_and(|until| now < until) {
            return;
        }
        self.paused_until = None;
        while let Some(timer) = self.due_timer(now) {
            self.timers.remove(&timer);
            self.events.push_back(Event::Timer(timer));
            self.run(now);
        }
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                break;
            }
            match entry.remove() {
                Later::Up => self.start(now),
                Later::Synced { file, ticket } => {
                    self.events.push_back(Event::Synced { file, ticket });
                    self.run(now);
                }
                Later::Frames { conn, frames } => self.here(now, conn, frames),
                Later::Out { conn, link, bytes } => self.out(now, conn, &link, &bytes),
                Later::End { link } => link.turn(State::Flushing),
                Later::Arrive { conn } => self.arrive(now, conn),
            }
        }
    }

    fn due_timer(&self, now: Nanos) -> Option<Timer> {
        let next = self.timers.iter().min_by_key(|(_, due)| **due);
        next.filter(|(_, due)| **due <= now).map(|(timer, _)| *timer)
    }

    /// Sets one of the server's timers.
    pub(super) fn set_timer(&mut self, now: Nanos, timer: Timer, after_ms: u32) {
        self.timers.insert(timer, now + u64::from(after_ms) * MS);
    }
}

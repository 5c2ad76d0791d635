//! When a run is over: its deadline, what puts that off, and since when nobody has anything left to do.

/// The times that decide when a run is over.
pub struct Deadline {
    /// When it is, unless somebody gets ahead shortly before.
    at_ns: u64,
    /// How long it goes on after healing.
    after_ns: u64,
    /// When somebody last got ahead.
    got_ahead_ns: u64,
    /// Until then, who works with what it has gets ahead.
    works_until_ns: u64,
    /// When faults were over.
    healed_ns: u64,
    /// When the last actor was done and faults were over.
    done_since_ns: Option<u64>,
}

impl Deadline {
    /// Faults are over at `heal_ns` at the latest, and the run goes on for `after_ns`.
    pub fn new(heal_ns: u64, after_ns: u64) -> Deadline {
        let works_until_ns = heal_ns + 10 * after_ns;
        Deadline {
            at_ns: heal_ns + after_ns,
            after_ns,
            got_ahead_ns: 0,
            works_until_ns,
            healed_ns: 0,
            done_since_ns: None,
        }
    }

    /// When the run is over, as things are.
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// Somebody gets ahead.
    pub fn get_ahead(&mut self, now: u64) {
        self.got_ahead_ns = now;
    }

    /// Somebody works with what it has. Who never comes to an end with it is stuck.
    pub fn work(&mut self, now: u64) {
        if now < self.works_until_ns {
            self.get_ahead(now);
        }
    }

    /// Puts it off if somebody has got ahead shortly before. Gives when it is then.
    pub fn put_off(&mut self) -> u64 {
        self.at_ns = self.at_ns.max(self.got_ahead_ns + self.after_ns / 4);
        self.at_ns
    }

    /// Puts it off for somebody who wakes then.
    pub fn wait_for(&mut self, wakes_ns: u64) {
        self.at_ns = wakes_ns + self.after_ns / 4;
    }

    /// Faults are over.
    pub fn heal(&mut self, now: u64) {
        self.healed_ns = now;
        self.at_ns = now + self.after_ns;
    }

    /// When faults were over.
    pub fn healed_ns(&self) -> u64 {
        self.healed_ns
    }

    /// Somebody has something left to do.
    pub fn goes_on(&mut self) {
        self.done_since_ns = None;
    }

    /// Nobody has: since when.
    pub fn done_since(&mut self, now: u64) -> u64 {
        *self.done_since_ns.get_or_insert(now)
    }
}

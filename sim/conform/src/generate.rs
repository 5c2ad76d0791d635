//! Random scripts: a seed gives one.
//!
//! ```
//! use zk_conform::generate::{Plan, generate};
//! use zk_conform::script::parse;
//!
//! let plan = Plan { tick_ms: 2000, one_in_expires: 0 };
//! let script = generate(7, &plan);
//! assert_eq!(generate(7, &plan), script);
//! assert_ne!(generate(8, &plan), script);
//! assert_eq!(parse(&script.to_string()), Ok(script));
//! ```

// Here is chosen what happens in a script; in `generate::calls`, what is asked; in `generate::values`, what with.

mod calls;
mod choices;
mod values;

use choices::Choices;

use crate::script::{
    Action, Call, ConformStep, Conn, Connect, Numbered, Password, ReadOnly, Script, Sent, Session, ZxidArg,
};

/// What scripts are to be like.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The length of the servers' ticks, from which timeouts are chosen.
    pub tick_ms: i32,
    /// Of how many scripts one has sessions that expire; they take as long as that takes. Zero is none.
    pub one_in_expires: u32,
}

/// A connection as the generator believes it to be.
#[derive(Clone, Copy, Debug)]
struct Believed {
    conn: Conn,
    /// The session it is on.
    on: Option<Session>,
    opened: u32,
}

/// A session as the generator believes it to be.
#[derive(Clone, Copy, Debug)]
struct Open {
    session: Session,
    short: bool,
}

struct Generator {
    choices: Choices,
    plan: Plan,
    conns: Vec<Believed>,
    open: Vec<Open>,
    dead: Vec<Session>,
    expires: bool,
    steps: Vec<ConformStep>,
}

/// The script of a seed.
pub fn generate(seed: u64, plan: &Plan) -> Script {
    let mut choices = Choices::of(seed);
    let sessions = 2 + choices.below(3);
    let length = 8 + choices.below(60);
    let expires = choices.one_in(plan.one_in_expires);
    let conns = ['a', 'b', 'c', 'd'][..sessions].iter();
    let conns = conns.map(|letter| Believed { conn: Conn(*letter), on: None, opened: 0 }).collect();
    let (open, dead, steps) = (Vec::new(), Vec::new(), Vec::new());
    let mut generator = Generator { choices, plan: *plan, conns, open, dead, expires, steps };
    generator.begin();
    while generator.steps.len() < length {
        generator.step();
    }
    Script { steps: generator.steps }
}

/// What a connection does next, by its index.
type Next = fn(&mut Generator, usize);

impl Generator {
    fn push(&mut self, action: Action) {
        self.steps.push(action.into());
    }

    fn begin(&mut self) {
        for index in 0..self.conns.len() {
            if index == 0 || !self.choices.one_in(5) {
                self.connect(index);
            }
        }
        if !self.choices.one_in(8) {
            self.send(0, calls::plain_create(values::TOP).into());
        }
    }

    fn step(&mut self) {
        let index = self.choices.below(self.conns.len());
        let next: Next = if self.conns[index].on.is_none() && !self.choices.one_in(10) {
            self.choices.weigh(&[(3, Generator::connect as Next), (5, Generator::attach)])
        } else {
            self.choices.weigh(&[
                (800, Generator::request as Next),
                (60, Generator::pipeline),
                (20, Generator::malformed),
                (25, |me, index| {
                    me.conns[index].on = None;
                    me.push(Action::Drop { conn: me.conns[index].conn });
                }),
                (30, Generator::attach),
                (8, Generator::connect),
                (10, |me, index| {
                    me.send(index, Call::Close.into());
                    me.close(index);
                }),
                (12, |me, _| me.expire()),
                (1, Generator::bytes),
            ])
        };
        next(self, index);
    }

    fn send(&mut self, index: usize, sent: Sent) {
        self.push(Action::Send { conn: self.conns[index].conn, requests: vec![sent] });
    }

    fn request(&mut self, index: usize) {
        let call = calls::call(&mut self.choices);
        if matches!(call, Call::Auth { .. } | Call::Raw { .. }) && self.choices.one_in(3) {
            self.conns[index].on = None;
        }
        self.send(index, call.into());
    }

    fn bytes(&mut self, index: usize) {
        let bytes = self.choices.pick(&[vec![0, 0x10, 0, 0], vec![0xff; 4], vec![0, 0, 0, 3, 1, 2, 3]]);
        self.conns[index].on = None;
        self.push(Action::Bytes { conn: self.conns[index].conn, bytes });
    }

    fn connect(&mut self, index: usize) {
        let short = self.expires && self.choices.one_in(3);
        let timeout_ms = if short {
            self.choices.pick(&[1, 0, -1, self.plan.tick_ms])
        } else {
            self.choices.pick(&[4000, 4000, 4000, 1 << 30, self.plan.tick_ms * 18 + 1])
        };
        let believed = &mut self.conns[index];
        believed.opened += 1;
        let session = Session(believed.conn.0, believed.opened);
        believed.on = Some(session);
        self.open.push(Open { session, short });
        let mut connect = Connect { timeout_ms, ..Connect::default() };
        connect.read_only =
            self.choices.weigh(&[(8, ReadOnly::No), (1, ReadOnly::Absent), (1, ReadOnly::Yes)]);
        if self.choices.one_in(12) {
            connect.last_zxid = Some(self.choices.pick(&[
                ZxidArg::Relative(1),
                ZxidArg::Absolute(-1),
                ZxidArg::Absolute(1 << 60),
                ZxidArg::Seen(0),
                ZxidArg::Seen(100),
            ]));
        }
        if self.choices.one_in(30) {
            connect.password = self.choices.pick(&[Password::Wrong, Password::Null, Password::Short]);
        }
        let conn = self.conns[index].conn;
        self.push(Action::Connect { conn, connect });
    }

    /// Takes a session over: mostly one's own that has lost its connection.
    fn attach(&mut self, index: usize) {
        let lost: Vec<Session> = self.unattended();
        let all: Vec<Session> = self.open.iter().map(|open| open.session).collect();
        let session = match self.choices.below(10) {
            0 if !self.dead.is_empty() => self.choices.pick(&self.dead.clone()),
            1 | 2 if !all.is_empty() => self.choices.pick(&all),
            _ if !lost.is_empty() => self.choices.pick(&lost),
            _ if !all.is_empty() => self.choices.pick(&all),
            _ => return self.connect(index),
        };
        let timeout_ms = self.choices.pick(&[4000, 4000, 4000, 1 << 30]);
        let mut connect = Connect { session: Some(session), timeout_ms, ..Connect::default() };
        connect.password = self.choices.weigh(&[
            (12, Password::Right),
            (1, Password::Wrong),
            (1, Password::Short),
            (1, Password::Null),
        ]);
        if self.choices.one_in(5) {
            connect.last_zxid = Some(self.choices.pick(&[
                ZxidArg::Absolute(0),
                ZxidArg::Seen(-1),
                ZxidArg::Seen(1),
                ZxidArg::Seen(1000),
                ZxidArg::Relative(0),
            ]));
        }
        if self.choices.one_in(10) {
            connect.read_only = ReadOnly::Absent;
        }
        self.leaves(session);
        let refused = connect.password != Password::Right || self.dead.contains(&session);
        self.conns[index].on = (!refused).then_some(session);
        if let Some(open) = self.open.iter_mut().find(|open| open.session == session && !refused) {
            open.short = false;
        }
        let conn = self.conns[index].conn;
        self.push(Action::Connect { conn, connect });
        if !refused && self.choices.one_in(3) {
            let call = calls::set_watches(&mut self.choices);
            self.send(index, call.into());
        }
    }

    fn unattended(&self) -> Vec<Session> {
        let attended = |session| self.conns.iter().any(|believed| believed.on == Some(session));
        self.open.iter().map(|open| open.session).filter(|session| !attended(*session)).collect()
    }

    fn close(&mut self, index: usize) {
        if let Some(session) = self.conns[index].on.take() {
            self.ends(session);
        }
    }

    /// Expires a session that does not take long to.
    fn expire(&mut self) {
        let short: Vec<Session> =
            self.open.iter().filter(|open| open.short).map(|open| open.session).collect();
        if short.is_empty() {
            return;
        }
        let session = self.choices.pick(&short);
        self.leaves(session);
        self.ends(session);
        self.push(Action::Expire { session });
    }

    /// A session is on no connection any more.
    fn leaves(&mut self, session: Session) {
        let on = self.conns.iter_mut().filter(|believed| believed.on == Some(session));
        on.for_each(|believed| believed.on = None);
    }

    fn ends(&mut self, session: Session) {
        self.open.retain(|open| open.session != session);
        self.dead.push(session);
    }

    /// Several requests at once, perhaps with the session's end among them.
    fn pipeline(&mut self, index: usize) {
        let mut requests: Vec<Sent> = Vec::new();
        for _ in 0..2 + self.choices.below(6) {
            let call = calls::call(&mut self.choices);
            // Credentials, and what is no request, are looked at as they come, not in their turn. Whether a list
            // that is set counts for what stands behind it depends on whether it is applied by then. All races.
            let races = matches!(
                call,
                Call::Auth { .. }
                    | Call::Raw { .. }
                    | Call::SetAcl { .. }
                    | Call::Number { what: Numbered::Check, .. }
            );
            if !races {
                requests.push(call.into());
            }
        }
        if self.choices.one_in(5) {
            // Whether anything behind it is answered, or takes a zxid, is a race in ZooKeeper.
            requests.push(Call::Close.into());
            self.close(index);
        }
        let conn = self.conns[index].conn;
        self.push(Action::Send { conn, requests });
    }

    /// A request that is too short, too long, or has something behind it.
    fn malformed(&mut self, index: usize) {
        let mut sent = Sent::from(calls::call(&mut self.choices));
        match self.choices.below(12) {
            0..=5 => sent.cut = 1 + self.choices.below(9),
            6 | 7 => sent.cut = 9 + self.choices.below(30),
            8 | 9 => sent.more = vec![0; 1 + self.choices.below(9)],
            10 => sent.xid = Some(self.choices.pick(&[0, i32::MIN, i32::MAX, -3, 1])),
            _ => {
                let size = self.choices.pick(&[900_000, 1_048_000, 1_048_576, 1_100_000]);
                let data = Some(vec![b'x'; size]);
                sent = Call::SetData { path: Some(values::TOP.to_owned()), data, version: -1 }.into();
                self.conns[index].on = None;
            }
        }
        self.send(index, sent);
    }
}

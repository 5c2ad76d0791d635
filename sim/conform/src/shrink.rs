//! Makes a script smaller that two servers answer differently.
//!
//! ```
//! use zk_conform::compare::compare;
//! use zk_conform::script::parse;
//! use zk_conform::shrink::shrink;
//! # use zk_conform::{driver::Alone, side::Side};
//! # use zk_serve::{Options, start};
//! # let runtime = tokio::runtime::Runtime::new().expect("threads");
//! # let super_digest = Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".to_owned());
//! # let options = |tick_ms| Options { tick_ms, super_digest: super_digest.clone(), ..Options::default() };
//! # let servers = [2000, 500].map(|tick| runtime.block_on(start(options(tick))).expect("loopback has a free port"));
//! # let [one, other] = [0, 1].map(|nth: usize| servers[nth].addresses()[0]);
//! # let mut slow = Side::open("slow", Box::new(Alone(one)))?;
//! # let mut fast = Side::open("fast", Box::new(Alone(other)))?;
//!
//! let script = parse("a connect\na create /x\nb connect timeout=20000\na exists /x\n").expect("a script");
//! let found = compare(&mut slow, &mut fast, &script)?.expect("no session lasts longer than twenty ticks");
//! let smallest = shrink(&mut slow, &mut fast, found)?;
//! assert_eq!(smallest.script.to_string(), "b connect timeout=20000\n");
//! # Ok::<(), String>(())
//! ```

use crate::compare::{Difference, compare};
use crate::script::{Action, Call, ConformStep, Script};
use crate::side::Side;

/// So many scripts are tried at most.
const TRIES: usize = 1500;

/// Looks for the smallest script that still shows a difference, any: steps are left out, then requests and
/// operations, then what they are made with is made plain.
///
/// Fails if a server cannot be talked to.
pub fn shrink(left: &mut Side, right: &mut Side, found: Difference) -> Result<Difference, String> {
    let mut shrinking = Shrinking { left, right, best: found, tries: 0 };
    loop {
        let before = shrinking.best.script.clone();
        shrinking.leave_out_steps()?;
        shrinking.simplify()?;
        if shrinking.best.script == before || shrinking.tries >= TRIES {
            return Ok(shrinking.best);
        }
    }
}

struct Shrinking<'a> {
    left: &'a mut Side,
    right: &'a mut Side,
    best: Difference,
    tries: usize,
}

impl Shrinking<'_> {
    /// Whether they differ on this as well, which is the best so far then.
    fn try_out(&mut self, script: &Script) -> Result<bool, String> {
        if self.tries >= TRIES {
            return Ok(false);
        }
        self.tries += 1;
        match compare(self.left, self.right, script)? {
            None => Ok(false),
            Some(found) => {
                self.best = found;
                Ok(true)
            }
        }
    }

    /// In pieces of halves, quarters, and so on down to single steps.
    fn leave_out_steps(&mut self) -> Result<(), String> {
        let mut size = self.best.script.steps.len().div_ceil(2);
        loop {
            let mut at = 0;
            while at < self.best.script.steps.len() {
                let mut script = self.best.script.clone();
                let end = (at + size).min(script.steps.len());
                script.steps.drain(at..end);
                if !self.try_out(&script)? {
                    at += size;
                }
            }
            if size <= 1 {
                return Ok(());
            }
            size = size.div_ceil(2).min(size - 1);
        }
    }

    /// Makes each step plainer, as long as that helps.
    fn simplify(&mut self) -> Result<(), String> {
        let mut at = 0;
        while at < self.best.script.steps.len() {
            let plainer = plainer_actions(&self.best.script.steps[at].action);
            let mut helped = false;
            for action in plainer {
                let mut script = self.best.script.clone();
                script.steps[at] = ConformStep::from(action);
                if self.try_out(&script)? {
                    helped = true;
                    break;
                }
            }
            if !helped {
                at += 1;
            }
        }
        Ok(())
    }
}

/// The same with a little less, in every way there is.
fn plainer_actions(action: &Action) -> Vec<Action> {
    match action {
        Action::Send { conn, requests } => {
            let send = |requests| Action::Send { conn: *conn, requests };
            let mut all = Vec::new();
            for at in 0..requests.len() {
                if requests.len() > 1 {
                    let mut fewer = requests.clone();
                    fewer.remove(at);
                    all.push(send(fewer));
                }
                for call in plainer_calls(&requests[at].call) {
                    let mut plainer = requests.clone();
                    plainer[at].call = call;
                    all.push(send(plainer));
                }
            }
            all
        }
        Action::Connect { conn, connect } => {
            let mut plain = connect.clone();
            (plain.last_zxid, plain.timeout_ms) = (None, 4000);
            plain.read_only = crate::script::ReadOnly::No;
            if plain == *connect { Vec::new() } else { vec![Action::Connect { conn: *conn, connect: plain }] }
        }
        Action::Drop { .. }
        | Action::Bytes { .. }
        | Action::Expire { .. }
        | Action::Wait { .. }
        | Action::Await { .. }
        | Action::Server { .. }
        | Action::Begin(_)
        | Action::Finish { .. }
        | Action::AwaitServing
        | Action::AwaitZxid { .. }
        | Action::AwaitEnd { .. }
        | Action::Rounds { .. }
        | Action::Alike { .. } => Vec::new(),
    }
}

fn plainer_calls(call: &Call) -> Vec<Call> {
    let mut all = Vec::new();
    match call {
        Call::Multi { reads, ops } => {
            for at in 0..ops.len() {
                let mut fewer = ops.clone();
                fewer.remove(at);
                all.push(Call::Multi { reads: *reads, ops: fewer });
                for op in plainer_calls(&ops[at]) {
                    let mut plainer = ops.clone();
                    plainer[at] = op;
                    all.push(Call::Multi { reads: *reads, ops: plainer });
                }
            }
        }
        Call::Create { kind, path, data, acl, flags, ttl_ms } => {
            let with = |data, acl, flags| {
                let path = path.clone();
                Call::Create { kind: *kind, path, data, acl, flags, ttl_ms: *ttl_ms }
            };
            let (empty, open) = (Some(Vec::new()), crate::script::open_acl());
            if *data != empty {
                all.push(with(empty, acl.clone(), *flags));
            }
            if *acl != open {
                all.push(with(data.clone(), open, *flags));
            }
            for at in 0..acl.as_ref().filter(|acl| acl.len() > 1).map_or(0, Vec::len) {
                let mut fewer = acl.clone().unwrap_or_default();
                fewer.remove(at);
                all.push(with(data.clone(), Some(fewer), *flags));
            }
        }
        Call::SetWatches { since, lists, two } => {
            for (list, paths) in lists.iter().enumerate() {
                for at in 0..paths.as_ref().map_or(0, Vec::len) {
                    let mut fewer = lists.clone();
                    if let Some(paths) = &mut fewer[list] {
                        paths.remove(at);
                    }
                    all.push(Call::SetWatches { since: *since, lists: fewer, two: *two });
                }
            }
        }
        Call::SetData { path, data, version } if data.as_ref().is_some_and(|data| data.len() > 1) => {
            let (path, data) = (path.clone(), Some(Vec::new()));
            all.push(Call::SetData { path, data, version: *version });
        }
        Call::Look { what, path, watch: true } => {
            all.push(Call::Look { what: *what, path: path.clone(), watch: false });
        }
        _ => {}
    }
    all
}

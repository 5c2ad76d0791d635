//! Many random scripts, one after the other.
//!
//! ```
//! use zk_conform::hunt::{Hunt, hunt};
//! # use zk_conform::{driver::Alone, side::Side};
//! # use zk_serve::{Options, start};
//! # let runtime = tokio::runtime::Runtime::new().expect("threads");
//! # let super_digest = Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".to_owned());
//! # let options = Options { super_digest, ..Options::default() };
//! # let servers = [0, 1].map(|_| runtime.block_on(start(options.clone())).expect("loopback has a free port"));
//! # let [one, other] = [0, 1].map(|nth: usize| servers[nth].addresses()[0]);
//! # let mut left = Side::open("left", Box::new(Alone(one)))?;
//! # let mut right = Side::open("right", Box::new(Alone(other)))?;
//!
//! let few = Hunt { first_seed: 1, operations: 20, differences: 1, one_in_expires: 0 };
//! let tally = hunt(&mut left, &mut right, &few, &mut |_| ());
//! assert!(tally.operations >= 20 && tally.cut_short.is_none());
//! assert!(tally.found.is_empty(), "two servers of one kind");
//! # Ok::<(), String>(())
//! ```

use crate::compare::{Difference, compare, operations};
use crate::generate::{Plan, generate};
use crate::shrink::shrink;
use crate::side::Side;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// The seed of the first script; the others follow.
    pub first_seed: u64,
    /// So many operations at least, unless differences end it before.
    pub operations: u64,
    /// So many differences end it.
    pub differences: usize,
    /// Of how many scripts one has sessions that expire. Zero is none.
    pub one_in_expires: u32,
}

/// A seed on whose script the two differ.
#[derive(Clone, Debug)]
pub struct Found {
    /// The seed.
    pub seed: u64,
    /// Made as small as it went.
    pub difference: Difference,
}

/// What was done so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Scripts run on both.
    pub scripts: u64,
    /// What they had in them.
    pub operations: u64,
    /// What was found.
    pub found: Vec<Found>,
    /// What was found, and not when the same script was run again: something that depends on time.
    pub unsteady: Vec<Found>,
    /// Why it ended before its time, as a server could not be talked to any more.
    pub cut_short: Option<String>,
}

/// Hunts for differences. `told` hears of every script.
pub fn hunt(left: &mut Side, right: &mut Side, hunt: &Hunt, told: &mut dyn FnMut(&Tally)) -> Tally {
    let plan = Plan { tick_ms: left.tick_ms, one_in_expires: hunt.one_in_expires };
    let mut tally = Tally::default();
    // Behind the last seed comes the first.
    for seed in (hunt.first_seed..=u64::MAX).chain(0..) {
        if tally.operations >= hunt.operations || tally.found.len() >= hunt.differences {
            break;
        }
        if let Err(why) = one(left, right, seed, &plan, &mut tally) {
            tally.cut_short = Some(why);
            break;
        }
        told(&tally);
    }
    tally
}

fn one(left: &mut Side, right: &mut Side, seed: u64, plan: &Plan, tally: &mut Tally) -> Result<(), String> {
    let script = generate(seed, plan);
    let found = compare(left, right, &script)?;
    tally.scripts += 1;
    tally.operations += operations(&script) as u64;
    let Some(first) = found else { return Ok(()) };
    match compare(left, right, &script)? {
        None => tally.unsteady.push(Found { seed, difference: first }),
        Some(again) => {
            let difference = shrink(left, right, again)?;
            tally.found.push(Found { seed, difference });
        }
    }
    Ok(())
}

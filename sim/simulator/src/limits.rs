//! What the values of a scenario and the faults of one run may be: whoever writes them by hand is told where one cannot
//! be.

use crate::fault::{Fault, Loss, Schedule};

/// Why a scenario is not valid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ScenarioError {
    /// The key in the file, with its table: `faults.drops`.
    pub key: String,
    /// What is wrong and what was expected.
    pub problem: String,
}

/// A day: longer than any run.
const TIME_MS: i128 = 86_400_000;
/// How much slower messages can be.
const FACTOR: i128 = 10_000;
/// How wrong a clock can go, in thousandths; one that runs backwards is none.
const SKEW: i128 = 500;

/// Checks that every fault is possible. Clients and servers that do not exist are: nothing comes of them.
pub fn validate(schedule: &Schedule) -> Result<(), ScenarioError> {
    for (nth, timed) in (1..).zip(&schedule.faults) {
        let wrong = |problem| error("run.schedule.faults", format!("fault {nth}: {problem}"));
        let in_time = within("at-ms", timed.at_ms.into(), 0, TIME_MS);
        in_time.and_then(|()| possible(&timed.fault)).map_err(wrong)?;
    }
    Ok(())
}

fn possible(fault: &Fault) -> Result<(), ScenarioError> {
    let for_a_while = |ms: u64| within("for-ms", ms.into(), 0, TIME_MS);
    let down = |ms: u64| within("down-ms", ms.into(), 0, TIME_MS);
    match *fault {
        Fault::ServerCrash { down_ms, .. }
        | Fault::LeaderCrash { down_ms, .. }
        | Fault::DiskError { down_ms, .. }
        | Fault::DiskRot { down_ms, .. } => down(down_ms),
        Fault::DiskFull { for_ms, down_ms, .. } => for_a_while(for_ms).and(down(down_ms)),
        Fault::SlowSync { sync_ms, for_ms, .. } => {
            within("sync-ms", sync_ms.into(), 0, TIME_MS).and(for_a_while(for_ms))
        }
        Fault::SlowLink { factor, for_ms, .. } | Fault::ServerLag { factor, for_ms, .. } => {
            within("factor", factor.into(), 0, FACTOR).and(for_a_while(for_ms))
        }
        Fault::Drop { what: Loss::InFlight { for_ms }, .. }
        | Fault::ClientPause { for_ms, .. }
        | Fault::Partition { for_ms, .. }
        | Fault::ServerPause { for_ms, .. }
        | Fault::LeaderPause { for_ms } => for_a_while(for_ms),
        Fault::ClientCrash { restart_after_ms, .. } => {
            within("restart-after-ms", restart_after_ms.into(), 0, TIME_MS)
        }
        Fault::ClockSkew { permille, .. } => within("permille", permille.into(), -SKEW, SKEW),
        Fault::ClockJump { by_ms, .. } => within("by-ms", by_ms.into(), -TIME_MS, TIME_MS),
        Fault::Drop { what: Loss::RequestsLost | Loss::AnswersLost | Loss::Silence, .. }
        | Fault::Expire { .. }
        | Fault::ExpireOwner { .. }
        | Fault::LinkBreak { .. }
        | Fault::Stranger { .. }
        | Fault::AdminDelete { .. }
        | Fault::AdminWrite { .. } => Ok(()),
    }
}

pub fn error(key: &str, problem: String) -> ScenarioError {
    ScenarioError { key: key.to_owned(), problem }
}

pub fn within(key: &str, value: i128, least: i128, most: i128) -> Result<(), ScenarioError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(error(key, format!("{value}; it must be from {least} to {most}")))
}

pub fn ordered(key: &str, [least, most]: [u32; 2], limit: u32) -> Result<(), ScenarioError> {
    if least > most {
        return Err(error(key, format!("the least, {least}, is more than the most, {most}")));
    }
    within(key, most.into(), 0, limit.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::TimedFault;
    use crate::scenario::Scenario;

    #[test]
    fn whatever_is_drawn_is_possible() {
        for seed in 0..300 {
            let scenario = Scenario::default();
            assert_eq!(validate(&Schedule::draw(&scenario, seed)), Ok(()));
        }
    }

    #[test]
    fn a_fault_that_cannot_be_is_named_by_its_number() {
        let fine = TimedFault { at_ms: 86_400_000, fault: Fault::Expire { client: 0 } };
        let late = TimedFault { at_ms: fine.at_ms + 1, ..fine.clone() };
        let error = validate(&Schedule { faults: vec![fine, late] }).expect_err("it is too late");
        assert_eq!(
            error.to_string(),
            "run.schedule.faults: fault 2: at-ms: 86400001; it must be from 0 to 86400000"
        );
    }
}

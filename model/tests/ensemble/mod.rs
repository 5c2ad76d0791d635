//! Ensemble models: what holds of real peers, what their broken variants break, and that merging changes no verdict.
//!
//! | file | what is in it |
//! |---|---|
//! | `bounds` | small bounds explored to their end, beside stateright's search |
//! | `possible` | what may happen happens somewhere |
//! | `merging` | with and without each merging, right and broken ensembles get the same verdict |
//! | `broken_variants` | ensembles that are wrong on purpose |
//! | `wrong_servers` | a server whose disk says too early that a write is durable, and one that does not hear |

mod bounds;
mod broken_variants;
mod merging;
mod possible;
mod servers;
mod wrong_servers;

use zk_model::Check;
use zk_model::ensemble::{EnsembleBounds, EnsembleConfig, Judged, Level, PeerNode, check_ensemble};

/// So many voters, transactions, crashes and further rounds of elections.
fn bounds(servers: u8, txns: u8, crashes: u8, elections: u8) -> EnsembleBounds {
    EnsembleBounds { txns, crashes, elections, ..EnsembleBounds::servers(servers) }
}

fn explore_with<N: Judged>(config: &EnsembleConfig) -> Check {
    check_ensemble::<N>(config, &mut |_| ())
}

fn explore(level: Level, bounds: EnsembleBounds) -> Check {
    explore_with::<PeerNode>(&EnsembleConfig::new(level, bounds))
}

/// What is broken, and in how many steps the first.
fn broken(check: &Check) -> Vec<(&'static str, usize)> {
    let broken =
        check.promises.iter().filter_map(|report| Some((report.name, report.broken.as_ref()?.steps.len())));
    broken.collect()
}

//! What stands on the page of each report.
//!
//! | file | whose page |
//! |---|---|
//! | `sweep`, `replay`, `exhaust`, `live`, `drive` | of runs |
//! | `check`, `ensemble` | of models |
//! | `parts` | what they have in common |
//! | `judge`, `compare`, `mutants`, `mutate`, `herd` | of recipes and of the checker itself |

mod check;
mod compare;
mod drive;
mod ensemble;
mod exhaust;
mod herd;
mod judge;
mod live;
mod mutants;
mod mutate;
mod parts;
mod replay;
mod sweep;

pub use compare::costs_markdown;
pub use judge::judge_by_promises;
pub use replay::replay_text;
pub use sweep::sweep_brief;

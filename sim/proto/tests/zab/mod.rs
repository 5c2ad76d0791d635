//! Peers of an ensemble with all that can go wrong between them.
//!
//! | file | what is in it |
//! |---|---|
//! | `rig` | peers, disks, timers, datagrams and links; every action is a choice |
//! | `calm` | the rig when faults are over |
//! | `chaos` | thousands of seeded runs, invariants checked after every step, progress demanded at the end |
//! | `forgetting` | a ghost history that forgets what nobody needs any more |
//! | `alone` | one peer, event by event |
//! | `judged` | small histories made by hand, and what invariants say of them |
//! | `growing` | the check that does not look at everything again |
//! | `mutants` | bugs that are planted, and what finds them |
//! | `explore` | every order of events within small bounds |
//! | `nearest` | the shortest way to something, within such bounds |
//! | `scenes` | how a run may begin, where blind choices hardly ever come |
//! | `paths` | single cases, each driven to a point where something could go wrong |

mod alone;
mod calm;
mod chaos;
mod explore;
mod forgetting;
mod growing;
mod judged;
mod mutants;
mod nearest;
mod paths;
mod rig;
mod scenes;

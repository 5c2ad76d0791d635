//! A real server, real client sessions, and a disk in memory, driven step by step.
//!
//! | file | what is in it |
//! |---|---|
//! | `disk` | what is on a disk, as a server would read it |
//! | `rig` | server, clients, connections and clock, and the steps they take |
//! | `driver` | the commands of the scripts under `testdata/session` and `testdata/recovery` |
//! | `facts` | what a real ZooKeeper was measured to do, a test for each fact about sessions |
//! | `client` | the same for the client's side of a session |
//! | `embedding` | what a server behind real sockets needs: addresses, a super user, requests that cannot be read |
//! | `takeover` | what a session that comes back on another connection finds |
//! | `robust` | whatever a client says, the server goes on |
//! | `crash` | crashes at every disk operation; snapshots compared with trees that never crashed |
//! | `bytes` | what bit rot and torn tails do to logs and snapshots |
//! | `damaged` | the same damages that were done to the files of a real ZooKeeper |

mod bytes;
mod client;
mod crash;
mod damaged;
mod disk;
mod driver;
mod embedding;
mod facts;
mod learner;
mod rig;
mod robust;
mod takeover;

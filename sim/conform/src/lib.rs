//! Compares servers that speak ZooKeeper's client protocol, answer by answer: a real one with ours, or any two.
//!
//! | module | what is in it |
//! |---|---|
//! | [`script`] | what clients do, one step a line; read and written |
//! | [`driver`] | runs a script, writes down what came |
//! | [`normal`] | makes legitimate differences between two servers alike |
//! | [`side`] | one of the two: how it is found, tried and left |
//! | [`compare`] | one script on both: the first difference |
//! | [`generate`], [`hunt`], [`shrink`] | random scripts, many of them, and what differs made small |
//!
//! A script on one server. Zxids are told relative to the script's beginning, and sessions by names:
//!
//! ```
//! use zk_conform::driver::Alone;
//! use zk_conform::script::parse;
//! use zk_conform::side::Side;
//! # use zk_serve::{Options, start};
//! # let runtime = tokio::runtime::Runtime::new().expect("threads");
//! # let super_digest = Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".to_owned());
//! # let options = Options { super_digest, ..Options::default() };
//! # let running = runtime.block_on(start(options)).expect("loopback has a free port");
//! # let address = running.addresses()[0];
//!
//! let mut side = Side::open("ours", Box::new(Alone(address)))?;
//! let script = parse("a connect timeout=4000\na create /x \"data\"\na delete /y\n").expect("a script");
//! let told = side.run(&script, side.era())?;
//! assert_eq!(told[0], ["a connected timeout=4000 session=a password=right readonly=00", "a pong +1"]);
//! assert_eq!(told[1], ["a 1 ok +2 /x"]);
//! assert_eq!(told[2], ["a 2 NoNode +3"]);
//! # Ok::<(), String>(())
//! ```

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `keeper` | a client of our own beside the script |
// | `op` | the kinds of requests by their numbers |
// | `encode`, `answer`, `record`, `connection` | frames, by hand: independent of `zk-wire`, and able to say nonsense |

mod answer;
pub mod compare;
mod connection;
pub mod driver;
mod encode;
pub mod generate;
pub mod hunt;
mod keeper;
pub mod normal;
mod op;
mod record;
pub mod script;
pub mod shrink;
pub mod side;

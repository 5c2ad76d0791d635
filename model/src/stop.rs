//! Why a search cannot go on, whatever its limits.
//!
//! ```
//! use zk_model::stop::Stop;
//!
//! assert_eq!(Stop::Beyond("p0 waits for 300 answers".into()).why(), "p0 waits for 300 answers");
//! assert!(Stop::Panic("a bug".into()).why().contains("a defect of zoocheck"));
//! ```

/// What ends a search before anything that it goes on to find could be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This code does not do the same when it is given the same again. What was seen of it says nothing, either.
    NotDetermined(String),
    /// A process asks for more, or waits for more, than a state can count.
    Beyond(String),
    /// The model panics: its own fault, and not the recipe's.
    Panic(String),
}

impl Stop {
    /// What has run out, in words.
    pub fn why(&self) -> String {
        match self {
            Stop::NotDetermined(what) | Stop::Beyond(what) => what.clone(),
            Stop::Panic(what) => format!("the model panics, a defect of zoocheck: {what}"),
        }
    }
}

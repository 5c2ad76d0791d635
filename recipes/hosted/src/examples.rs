//! kazoo's recipes as programs that are built in: those of `python/examples`.

/// A program that is built in, called `kazoo/…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// What it is called, such as `kazoo/lock`.
    pub name: &'static str,
    /// Its file and function, such as `lock.py:worker`.
    pub program: &'static str,
    /// The text of the file.
    pub(crate) text: &'static str,
}

macro_rules! examples {
    ($($name:literal: $file:literal, $function:literal;)*) => {
        /// All of them.
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: concat!("kazoo/", $name),
            program: concat!($file, ":", $function),
            text: include_str!(concat!("../python/examples/", $file)),
        }),*];
    };
}

examples! {
    "lock": "lock.py", "worker";
    "try-lock": "try_lock.py", "at_once";
    "timed-lock": "try_lock.py", "timed";
    "read-write-lock": "read_write_lock.py", "worker";
    "semaphore": "semaphore.py", "worker";
    "election": "election.py", "worker";
    "barrier": "barrier.py", "worker";
    "double-barrier": "double_barrier.py", "worker";
    "queue": "plain_queue.py", "worker";
    "locking-queue": "locking_queue.py", "worker";
    "counter": "counter.py", "worker";
    "party": "party.py", "worker";
    "partitioner": "partitioner.py", "worker";
    "lease": "lease.py", "worker";
    "leases": "lease.py", "of_many";
    "data-watch": "watching.py", "data";
    "children-watch": "watching.py", "children";
    "tree-cache": "watching.py", "tree";
}

impl Example {
    /// The one with that name.
    pub fn find(name: &str) -> Option<&'static Example> {
        EXAMPLES.iter().find(|example| example.name == name)
    }

    /// What it is: the first line of its file.
    pub fn summary(&self) -> &'static str {
        self.text.trim_start_matches('"').lines().next().unwrap_or_default()
    }

    /// The values of an option, such as `--promises`, in the command that stands in the head of its file.
    pub fn option(&self, option: &str) -> Vec<&'static str> {
        let words = self.text.split_whitespace().skip_while(|word| *word != self.program).skip(1);
        let mut words = words.filter(|word| *word != "\\");
        let mut values = Vec::new();
        while let Some(name) = words.next().filter(|word| word.starts_with("--")) {
            values.extend(words.next().filter(|_| name == option));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owes::Owes;

    #[test]
    fn each_says_in_its_head_what_it_is_and_owes() {
        for example in EXAMPLES {
            let owed = example.option("--promises");
            let is_owed = !owed.is_empty() && Owes::parse(owed.iter().copied()).is_ok();
            assert!(is_owed, "{}: {owed:?}", example.name);
            assert!(example.summary().starts_with("kazoo's "), "{}: {}", example.name, example.summary());
        }
        let queue = Example::find("kazoo/queue").expect("it is there");
        assert_eq!(queue.option("--set").len(), 3);
    }
}

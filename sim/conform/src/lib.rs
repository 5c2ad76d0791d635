//! Compares the server with a real ZooKeeper, answer by answer.

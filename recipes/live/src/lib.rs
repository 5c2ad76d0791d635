//! `ZooKeeper` for a real ensemble.

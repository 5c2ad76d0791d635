//! The server behind real sockets, in memory, with faults on demand.

//! The library behind the command.

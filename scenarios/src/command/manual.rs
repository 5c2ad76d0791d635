//! Manual pages, from the command line itself.

use super::arguments::Arguments;
use crate::bad_input::did_you_mean;
use crate::output::print;
use crate::{Answer, BadInput};
use clap::{Command, CommandFactory};

/// Prints the page of a command, such as `check ensemble`, or that of all.
pub(super) fn manual(names: &[String]) -> Result<Answer, BadInput> {
    let mut root = Arguments::command().disable_help_subcommand(true);
    root.build();
    let mut command = &root;
    for name in names {
        command = command.find_subcommand(name).ok_or_else(|| {
            let hint = did_you_mean(name, command.get_subcommands().map(Command::get_name));
            bad!("{} has no command '{name}'{hint}", called(command))
        })?;
    }
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone()).source(concat!("zoocheck ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).expect("writing into memory does not fail");
    print(&String::from_utf8_lossy(&page))?;
    Ok(Answer::Held)
}

fn called(command: &Command) -> &str {
    command.get_bin_name().unwrap_or(command.get_name())
}

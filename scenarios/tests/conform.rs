//! `zoocheck conform`, where there is nothing to compare with.

#![cfg(feature = "conform")]

use std::process::{Command, Output};

fn conform(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoocheck"));
    command.arg("conform").args(arguments).output().expect("the command runs")
}

/// One line on stderr, nothing on stdout, exit 2.
fn refused(arguments: &[&str]) -> String {
    let output = conform(arguments);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(
        (output.status.code(), said.lines().count(), &output.stdout[..]),
        (Some(2), 1, &b""[..]),
        "{said}"
    );
    said
}

#[test]
fn a_server_that_is_not_there_is_bad_input() {
    // Nobody listens on the port of an address that is free.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    drop(listener);
    assert!(refused(&["--connect", &address]).contains(&address));
}

#[test]
fn a_script_that_is_none_is_bad_input_before_anything_is_connected() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("bad.txt");
    std::fs::write(&path, "a connect\na gett /x\n").expect("a file");
    let said = refused(&["--connect", "127.0.0.1:1", "--script", path.to_str().expect("UTF-8")]);
    assert!(said.contains("line 2: 'gett' is no request"), "{said}");
}

#[test]
fn what_is_wrong_with_a_command_line_is_one_line_that_says_what_was_expected() {
    for (arguments, part) in [
        ("--connect nowhere", "expected HOST:PORT, such as 127.0.0.1:2181"),
        ("--connect 127.0.0.1:0", "expected HOST:PORT"),
        ("--connect nobody.invalid:1", "--connect: nobody.invalid:1: "),
        ("--connect 127.0.0.1:1 --operations 0", "expected a whole number from 1 to"),
        ("--connect 127.0.0.1:1 --operations many", "expected a whole number from 1 to"),
        ("--connect 127.0.0.1:1 --seed 18446744073709551616", "from 0 to 18446744073709551615"),
        ("--connect 127.0.0.1:1 --expiries -1", "expected a whole number from 0 to"),
        ("--connect 127.0.0.1:1 --differences 0", "expected a whole number from 1 to 1000"),
        ("--connect 127.0.0.1:1 --script x --operations 5", "cannot be used with"),
        ("--connect localhost:1 --against localhost:1", "expected two servers"),
        ("--connect 127.0.0.1:1 --script /dev/null", "/dev/null: nothing is done in it"),
    ] {
        let said = refused(&arguments.split(' ').collect::<Vec<_>>());
        assert!(said.contains(part), "{arguments}: {said}");
    }
}

//! The command.

fn main() -> std::process::ExitCode {
    zoocheck::Zoo::default().main()
}

//! The command.

fn main() -> std::process::ExitCode {
    zoocheck::Catalogue::default().main()
}

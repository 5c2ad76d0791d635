//! The command.

#[cfg(all(feature = "mimalloc", target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    zoocheck::Catalogue::default().main()
}

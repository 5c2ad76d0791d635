//! Whoever is told to end does so in time, though something hangs. A program of its own, as the command that hangs is
//! this one again, with a recipe that never ends its turn.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zoocheck::Catalogue;
use zoocheck::api::ZooKeeper;
use zoocheck::trials::event::End;
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises::ExclusionAmongLiveSessions;
use zoocheck::trials::trial::{Role, Trial};

#[derive(Clone)]
struct Endless;

/// What it says before it hangs.
const HANGS: &str = "it hangs now";

impl From<Endless> for Trial {
    fn from(_: Endless) -> Trial {
        async fn actor(_: Arc<dyn ZooKeeper>, _: Arc<dyn Probe>, _: Role) -> End {
            eprintln!("{HANGS}");
            loop {
                std::hint::spin_loop();
            }
        }
        Trial::new("endless", actor)
            .summary("Never ends its turn.")
            .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of("/"))])
    }
}

/// Starts this program as a command, waits until it hangs, and tells it to end. Gives its stderr, which stays open.
fn told(arguments: &str) -> (Child, impl BufRead) {
    let mut child = Command::new(std::env::current_exe().expect("it runs"))
        .args(arguments.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    assert!((&mut stderr).lines().any(|line| line.is_ok_and(|line| line.contains(HANGS))), "{arguments}");
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.expect("kill is there").success());
    (child, stderr)
}

/// Each seed took longer than the one before, and the first was run four times. The next one may have begun as it ends.
fn ends_at_the_first_seed() {
    let program = std::env::current_exe().expect("it runs");
    let run = Command::new(program).args("run endless --seeds 1000 --jobs 1".split(' ')).output();
    let run = run.expect("it starts");
    let (said, told) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(1), "{said}{told}");
    assert!(told.matches(HANGS).count() <= 2, "{said}{told}");
    assert!(said.contains("does not end its turn"), "{said}");
    assert!(
        said.contains("ended by a step that goes on: these seeds were not run: those from 1 on"),
        "{said}"
    );
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|what| ["run", "check", "judge"].contains(&what.as_str())) {
        return Catalogue::empty().with(Endless).main();
    }
    let until = Instant::now() + Duration::from_secs(60);
    let commands = ["run endless --seeds 1000 --jobs 1", "check endless", "judge endless"];
    for ((mut child, mut stderr), command) in commands.map(|command| (told(command), command)) {
        let status = loop {
            match child.try_wait().expect("a child") {
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(50)),
                status => break status,
            }
        };
        let _ = child.kill();
        assert!(status.is_some_and(|status| !status.success()), "{command} goes on: {status:?}");
        if command.starts_with("judge") {
            // It has nothing to tell before its end but how far it was.
            let mut last = String::new();
            stderr.read_to_string(&mut last).expect("text");
            assert!(last.contains("stopped by SIGTERM, without an answer: nothing done yet"), "{last}");
        }
        println!("{command}: told to end, it does");
    }
    ends_at_the_first_seed();
    ExitCode::SUCCESS
}

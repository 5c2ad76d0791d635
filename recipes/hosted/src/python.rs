//! The host for Python, and how it is started.

use crate::worker::Start;

/// The modules of the host. A worker is told them: nothing need be installed.
const MODULES: [(&str, &str); 14] = [
    ("clock", include_str!("../python/zoocheck_host/clock.py")),
    ("scheduler", include_str!("../python/zoocheck_host/scheduler.py")),
    ("exits", include_str!("../python/zoocheck_host/exits.py")),
    ("logs", include_str!("../python/zoocheck_host/logs.py")),
    ("streams", include_str!("../python/zoocheck_host/streams.py")),
    ("signals", include_str!("../python/zoocheck_host/signals.py")),
    ("loop", include_str!("../python/zoocheck_host/loop.py")),
    ("handler", include_str!("../python/zoocheck_host/handler.py")),
    ("words", include_str!("../python/zoocheck_host/words.py")),
    ("probe", include_str!("../python/zoocheck_host/probe.py")),
    ("unheard", include_str!("../python/zoocheck_host/unheard.py")),
    ("kept", include_str!("../python/zoocheck_host/kept.py")),
    ("program", include_str!("../python/zoocheck_host/program.py")),
    ("host", include_str!("../python/zoocheck_host/host.py")),
];

/// Makes the modules of what stdin begins with, and starts the host.
const LOADER: &str = include_str!("../python/zoocheck_host/loader.py");

/// How a worker is started that runs a function of a Python file, `lock.py:worker`, or of the module with this text
/// that is built in. `program.py` knows that by its name.
pub(crate) fn start(python: &str, program: &str, built_in: Option<&str>) -> Start {
    let built_in = built_in.map(|text| ("built_in", text));
    let modules: Vec<(&str, &str)> = MODULES.into_iter().chain(built_in).collect();
    let mut preamble = format!("{}\n", modules.len()).into_bytes();
    for (name, text) in modules {
        preamble.extend(format!("{name} {}\n{text}", text.len()).into_bytes());
    }
    // Sets of texts come in an order that depends on it: in the same one everywhere, unless somebody wants another.
    let seed = std::env::var("PYTHONHASHSEED").unwrap_or_else(|_| "0".into());
    Start {
        program: program.into(),
        command: [python, "-u", "-c", LOADER].map(String::from).to_vec(),
        environment: vec![("PYTHONHASHSEED".into(), seed)],
        preamble,
    }
}

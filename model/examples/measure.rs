//! Measures one check: `measure TRIAL clients rounds expiries drops crashes pauses lag [flags]`.
//!
//! Flags: `effects`, `eager`, `symmetry`, `whole` (no checkpoint keys), `noaudit`, `nomemo`, `true`
//! (true zxids), `stateright`, `explore` (serves stateright's Explorer on port 3000 instead).

use std::io::Write;
use zk_model::{CheckConfig, Engine, Verdict, check, explore};
use zk_trials::trial::Bounds;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |nth: usize| args.get(nth).and_then(|arg| arg.parse().ok()).unwrap_or(0);
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let name = args.first().map_or("lock", String::as_str);
    let trial = zk_trials::catalogue().into_iter().find(|trial| trial.about().name == name);
    let trial = trial.expect("a trial of the catalogue");
    let bounds = Bounds {
        clients: number(1),
        rounds: number(2),
        expiries: number(3),
        drops: number(4),
        crashes: number(5),
        pauses: number(6),
        lag: number(7),
        effects: has("effects"),
    };
    let mut config = CheckConfig::new(bounds);
    (config.reductions.eager, config.reductions.symmetry) = (has("eager"), has("symmetry"));
    (config.keys, config.audit, config.memo) = (!has("whole"), !has("noaudit"), !has("nomemo"));
    config.true_zxids = has("true");
    if has("stateright") {
        config.engine = Engine::Stateright;
    }
    if has("explore") {
        return explore(trial, &config, ([127, 0, 0, 1], 3000).into());
    }
    let mut err = std::io::stderr();
    let check = check(trial, &config, &mut |progress| {
        let _ = writeln!(err, "{progress:?}");
    });
    let mut out = std::io::stdout();
    let rate = check.states as f64 / check.wall.as_secs_f64();
    let _ = writeln!(
        out,
        "{bounds:?}\n{:?} {} states, {} transitions, depth {}, {:?}, {rate:.0} states/s",
        check.verdict, check.states, check.transitions, check.depth, check.wall
    );
    for promise in &check.promises {
        let _ = writeln!(out, "  {} tested {}", promise.name, promise.tested);
        for (kind, example) in [("BROKEN", &promise.broken), ("excused", &promise.excused)] {
            let Some(example) = example else { continue };
            let _ = writeln!(out, "    {kind}: {} {:?}", example.what, example.excuse);
            let show = kind == "BROKEN" || matches!(check.verdict, Verdict::Holds) && has("steps");
            for step in example.steps.iter().filter(|_| show) {
                let _ = writeln!(out, "      {step}");
            }
        }
    }
    for (what, count) in check.sometimes {
        let _ = writeln!(out, "  {what}: {count}");
    }
}

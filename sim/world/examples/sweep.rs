use std::collections::BTreeMap;
use zk_world::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = &args[1];
    let (a, b): (u64, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap());
    let t = zk_trials::catalogue().into_iter().find(|t| t.about().name == name).unwrap();
    let scenario = if args.get(4).is_some_and(|s| s == "nofaults") {
        Scenario::default().without_faults()
    } else {
        Scenario::default()
    };
    let (mut some, mut tested, mut broken) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut v, mut m, mut st) = (0u64, 0u64, 0u64);
    let t0 = std::time::Instant::now();
    for seed in a..b {
        let r = run(&t, &scenario, seed, &RunOptions { trace: b - a == 1, ..Default::default() });
        for l in &r.trace {
            println!("{l}");
        }
        v += r.virtual_ns;
        m += r.messages;
        st += r.steps;
        for (k, n) in r.sometimes {
            let e = some.entry(k).or_insert((0u64, 0u64));
            e.0 += n;
            e.1 += 1;
        }
        for (k, n) in r.tested {
            let e = tested.entry(k).or_insert((0u64, 0u64));
            e.0 += n;
            e.1 += u64::from(n > 0);
        }
        for x in r.violations {
            let e = broken.entry((x.promise, x.excuse)).or_insert((0u64, Vec::new()));
            e.0 += 1;
            if e.1.len() < 3 {
                e.1.push((seed, x.at_ns / 1_000_000, x.what));
            }
        }
    }
    let w = t0.elapsed();
    println!(
        "{} seeds, {:.1} virtual s, {m} messages, {st} steps, wall {w:?}, {:.0} v/w, {:.0} ns/message",
        b - a,
        v as f64 / 1e9,
        v as f64 / 1e9 / w.as_secs_f64(),
        w.as_nanos() as f64 / m as f64
    );
    println!("tested {tested:#?}\nsometimes {some:#?}\nbroken {broken:#?}");
}

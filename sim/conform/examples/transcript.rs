use zk_conform::{driver::Alone, script::parse, side::Side};
fn main() {
    let mut args = std::env::args().skip(1);
    let rt = tokio::runtime::Runtime::new().unwrap();
    let ours = rt
        .block_on(zk_serve::start(zk_serve::Options {
            tick_ms: 250,
            super_digest: Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into()),
            container_check_ms: 100_000_000,
            ..Default::default()
        }))
        .unwrap();
    let address = args.next().unwrap();
    let address = if address == "ours" { ours.addresses()[0] } else { address.parse().unwrap() };
    let mut side = Side::open("it", Box::new(Alone(address))).unwrap();
    eprintln!("version {} tick {}", side.version, side.tick_ms);
    for file in args {
        let mut script =
            parse(&std::fs::read_to_string(&file).unwrap()).unwrap_or_else(|e| panic!("{file}: {e}"));
        let told = side.run(&script, side.era()).unwrap();
        for (step, lines) in script.steps.iter_mut().zip(told) {
            step.expected = lines;
        }
        print!("{script}");
    }
}

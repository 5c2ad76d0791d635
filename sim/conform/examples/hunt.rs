use zk_conform::{
    compare::{compare, operations},
    driver::Alone,
    generate::{Plan, generate},
    side::Side,
};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rt = tokio::runtime::Runtime::new().unwrap();
    let ours = rt
        .block_on(zk_serve::start(zk_serve::Options {
            tick_ms: 250,
            super_digest: Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into()),
            container_check_ms: 100_000_000,
            ..Default::default()
        }))
        .unwrap();
    let own = ours.addresses()[0].to_string();
    let args: Vec<String> = args.into_iter().map(|a| if a == "ours" { own.clone() } else { a }).collect();
    let side = |n: &str, a: &str| Side::open(n, Box::new(Alone(a.parse().unwrap()))).unwrap();
    let (mut l, mut r) = (side("real", &args[0]), side("ours", &args[1]));
    let plan = Plan { tick_ms: l.tick_ms, one_in_expires: args[4].parse().unwrap() };
    let (mut ops, mut found) = (0, 0);
    let begun = std::time::Instant::now();
    for seed in args[2].parse::<u64>().unwrap()..args[3].parse().unwrap() {
        let script = generate(seed, &plan);
        ops += operations(&script);
        let text = script.to_string();
        let again = zk_conform::script::parse(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert!(again == script, "{text}");
        if let Some(d) = compare(&mut l, &mut r, &script).unwrap() {
            let Some(d) = compare(&mut l, &mut r, &script).unwrap().map(|_| d.clone()) else {
                println!("seed {seed} unsteady\n{d}");
                continue;
            };
            let small = zk_conform::shrink::shrink(&mut l, &mut r, d, &mut |_| ()).unwrap();
            println!("seed {seed}\n{small}");
            found += 1;
            if found > 9 {
                break;
            }
        }
    }
    println!("{ops} operations, {found} differences, {:?}", begun.elapsed());
}

//! The wrapper of a mutated recipe has locals of its own, and its checkpoints tell them: a search that merged states by
//! the recipe's alone would take a process that is about to go wrong for one that is not.

use std::sync::Arc;
use std::time::Duration;
use zk_api::{Data, Error, Local, ZPath, ZooKeeper};
use zk_harness::event::{End, Observation};
use zk_harness::mutation::{Kind, Mutated, Mutation};
use zk_harness::probe::Probe;
use zk_harness::promises::NoWaiterStuck;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{CheckConfig, Verdict, check};

/// The first process changes a znode, the other looks again and again until it has.
#[derive(Clone)]
struct Looks;

async fn looks(zk: &impl ZooKeeper, probe: &impl Probe, path: &ZPath) -> Result<(), Error> {
    probe.observe(Observation::Attempts { lock: path.text() });
    loop {
        // Nothing of what was before matters here, to the recipe.
        zk.checkpoint("looks", &[Local::Text(path.as_str())]);
        if zk.data(path).await?.0 != Data::NULL {
            break;
        }
        zk.sleep(Duration::from_secs(1)).await;
    }
    probe.observe(Observation::Released { lock: path.text() });
    Ok(())
}

impl From<Looks> for Trial {
    fn from(_: Looks) -> Trial {
        async fn actor(zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
            let path = ZPath::parse("/go").expect("a path");
            let done = match role.me.process {
                0 => zk.set_data(&path, "gone".into(), -1).await.map(drop),
                _ => looks(&zk, &probe, &path).await,
            };
            done.map_or_else(End::from, |()| End::Done)
        }
        Trial::new("looks", actor)
            .summary("Looks until a znode has changed.")
            .bounds(Bounds::clients(2))
            .opts_out(&zk_harness::promises::STANDARD)
            .promises(|| vec![Box::new(NoWaiterStuck)])
            .setup(["/go"])
    }
}

#[test]
fn a_mutation_behind_a_checkpoint_is_found_though_the_recipe_has_forgotten_what_was_before() {
    let looked_at = Mutated::none(Arc::new(Looks.into()));
    for audit in [true, false] {
        let config = CheckConfig { audit, ..CheckConfig::new(Bounds::clients(2)) };
        let right = check(Arc::new(looked_at.explored()), &config, &mut |_| {});
        assert_eq!(right.verdict, Verdict::Holds, "{right:?}");
        for nth in [1, 2, 3] {
            let hangs = looked_at.with(Mutation { kind: Kind::NeverReturns, nth }, None);
            let found = check(Arc::new(hangs.explored()), &config, &mut |_| {});
            let Verdict::Violated { promise, .. } = &found.verdict else { panic!("{nth}: {found:?}") };
            assert_eq!(promise, "no-waiter-stuck", "{nth}");
        }
    }
}

#[allow(dead_code)]
mod common;
use common::*;
use std::sync::Arc;
#[test]
fn t() {
    for (n,e) in [(2,0),(2,1),(3,0),(3,1),(4,0)] {
        let c = run(Arc::new(Bare(trial("lock"))), &full(n,e,0,0));
        let mut s = full(n,e,0,0); s.reductions.symmetry = true;
        let d = run(Arc::new(Bare(trial("lock"))), &s);
        s.reductions.eager = true;
        let f = run(Arc::new(Bare(trial("lock"))), &s);
        let mut s = full(n,e,0,0); s.reductions.eager = true;
        let g = run(Arc::new(Bare(trial("lock"))), &s);
        println!("{n} {e}: {:?} {} {} {} {}", c.verdict, c.states, d.states, f.states, g.states);
    }
}

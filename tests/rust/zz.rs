use crate::choices::Choices;
use crate::generate::world;
use crate::reference::Reference;
#[test]
fn stats() {
    let (mut empty, mut states, mut allowed, mut items, mut dead) = (0, 0, 0, 0usize, 0);
    let t = std::time::Instant::now();
    let mut worst = (0u128, 0u64);
    for seed in 0..600 {
        let t1 = std::time::Instant::now();
        let mut c = Choices::seeded(seed);
        let w = world(&mut c);
        let Some(r) = Reference::new(&w.grammar, &w.tokens) else { empty += 1; continue };
        let mut chart = r.begin();
        for step in 0..8 {
            let m = r.mask(&mut chart);
            states += 1;
            allowed += m.len();
            let open: Vec<u32> = m.iter().copied().filter(|i| !w.tokens.eos.contains(i)).collect();
            if open.is_empty() { if step < 1 { dead += 1; } break; }
            let id = *c.pick(&open);
            r.read_token(&mut chart, id);
            items += 1;
        }
        let e = t1.elapsed().as_millis();
        if e > worst.0 { worst = (e, seed); }
        if seed < 12 { println!("{w}"); }
    }
    println!("empty {empty} states {states} allowed {allowed} steps {items} trivially dead {dead} {:?} worst {worst:?}", t.elapsed());
}

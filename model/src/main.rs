//! tmp
use lamprey_model::{generate::{self, Size}, explore, run::{self, Settings, Fault}, machine::rule::*};
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let seed: u64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let what = std::env::args().nth(3).unwrap();
    let size = if what.contains('L') {Size::Large} else {Size::Small};
    let workers = if what.contains('2') {2} else {1};
    let rt = lamprey::Runtime::builder().workers(workers).build().unwrap();
    let t = std::time::Instant::now();
    let (mut bad, mut complete, mut states, mut maxs, mut wrong, mut inc) = (0,0,0usize,0,0,0);
    let mut tally = Tally::default();
    rt.run(|| {
        for i in seed..seed+n {
            let bytes = size.bytes(i);
            let program = generate::program(&bytes, size);
            if what.contains('p') { println!("{program}"); }
            let mut outcome = None;
            if what.contains('r') {
            match run::run_here(&program, Settings { fault: Fault::None, cancels: i % 8 == 0, is_parallel: workers>1 }, |o| explore::replay(&program, o, &mut tally)) {
                Ok(o) => { if o.outcome.is_complete() { complete += 1 } if o.outcome.is_wrong() { wrong += 1 }; outcome=Some(o.outcome) }
                Err(f) => { bad += 1; if bad < 6 { println!("seed {i}\n{program}\n{f}\n"); } }
            }
            }
            if what.contains('a') {
                let all = explore::all(&program, 2000, &mut tally);
                states += all.states; maxs = maxs.max(all.states); if !all.is_complete {inc+=1}
                if let Some(o) = outcome && all.is_complete && !all.outcomes.contains(&o) { println!("seed {i} not in set {o}\n{program}"); bad+=1; }
            }
        }
    });
    println!("{n} programs {:?} {:.0}/s bad {bad} complete {complete} wrong {wrong} states {states} max {maxs} incomplete {inc}", t.elapsed(), n as f64 / t.elapsed().as_secs_f64());
    for (r, _) in Rule::ALL { print!("{r:?} {} ", tally.count(*r)); } println!();
}

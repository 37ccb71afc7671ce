//! Smoke.
use lamprey::stm::*;
use std::time::Instant;
fn time(name: &str, n: u64, f: impl Fn(u64)) {
    let mut best = f64::MAX;
    for _ in 0..40 { let t = Instant::now(); f(n); best = best.min(t.elapsed().as_nanos() as f64 / n as f64); }
    println!("{name}: {best:.1} ns");
}
fn main() {
    let workers: usize = std::env::args().nth(1).map_or(1, |a| a.parse().unwrap());
    let rt = lamprey::Runtime::builder().workers(workers).build().unwrap();
    rt.run(move || {
        let v = TVar::new(0u64);
        if std::env::args().nth(2).is_some() { for _ in 0..100_000_000u64 { atomically(|tx| { let x = v.get(tx)?; v.set(tx, x + 1)?; Ok(x) }); } return; }
        time("counter", 100_000, |n| for _ in 0..n { atomically(|tx| { let x = v.get(tx)?; v.set(tx, x + 1)?; Ok(x) }); });
        let m = lamprey::sync::Mutex::new(0u64);
        time("mutex", 100_000, |n| for _ in 0..n { *m.lock().unwrap() += 1; });
        let m = std::sync::Mutex::new(0u64);
        time("std mutex", 100_000, |n| for _ in 0..n { *m.lock().unwrap() += 1; });
        time("read", 100_000, |n| for _ in 0..n { std::hint::black_box(atomically(|tx| v.get(tx))); });
        let s = TVar::new(std::sync::Arc::new(5u64));
        time("read boxed", 100_000, |n| for _ in 0..n { std::hint::black_box(atomically(|tx| s.with(tx, |v| **v))); });
        time("write boxed", 100_000, |n| for _ in 0..n { let a = s.get_now(); atomically(|tx| s.set(tx, a.clone())); });
        time("get_now", 100_000, |n| for _ in 0..n { std::hint::black_box(v.get_now()); });
        for disjoint in [true, false] {
        let t = Instant::now();
        let n = 2_000_000u64;
        let all: std::sync::Arc<Vec<TVar<i64>>> = std::sync::Arc::new((0..2048).map(|_| TVar::new(100)).collect());
        let hosts: Vec<_> = (0..workers).map(|w| { let all = all.clone();
            lamprey::Builder::new().worker(w).spawn(move || {
            let mut seed = w as u64 + 1;
            for _ in 0..n {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let base = if disjoint { w * 1024 } else { 0 };
                let mask = if disjoint { 1023 } else { 7 };
                let (a, b) = (&all[base + ((seed >> 33) as usize & mask)], &all[base + ((seed >> 45) as usize & mask)]);
                atomically(|tx| { let x = a.get(tx)?; a.set(tx, x - 1)?; let y = b.get(tx)?; b.set(tx, y + 1) });
            } }).unwrap() }).collect();
        hosts.into_iter().for_each(|h| h.join().unwrap());
        println!("bank disjoint={disjoint}: {:.1} ns per worker's transfer, {:.1} M/s", t.elapsed().as_nanos() as f64 / n as f64, (n * workers as u64) as f64 / t.elapsed().as_secs_f64() / 1e6);
        assert_eq!(all.iter().map(|v| v.get_now()).sum::<i64>(), 204800);
        }
    });
}

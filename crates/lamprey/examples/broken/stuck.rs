//! A host that computes for seconds without a call of Lamprey, while another one of its worker is ready.

use lamprey::{Builder, sleep};
use std::hint::black_box;
use std::time::{Duration, Instant};

pub fn main() {
    let waits = Builder::new().name("waits").worker(0).spawn(|| {
        sleep(Duration::from_millis(50));
        println!("at last");
    });
    let computes = Builder::new().name("computes").worker(0).spawn(compute).unwrap();
    computes.join().unwrap();
    waits.unwrap().join().unwrap();
}

fn compute() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        black_box((0..1000_u64).sum::<u64>());
    }
}

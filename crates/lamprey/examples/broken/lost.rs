//! A loop over a channel that does not end, because its own thread still has a sender.

use lamprey::{Builder, unbounded};

pub fn main() {
    let (results, all) = unbounded();
    for n in 0..4 {
        let results = results.clone();
        Builder::new().name("part").spawn(move || results.send(n * n).unwrap()).unwrap();
    }
    // `drop(results)` is missing.
    let sum: u32 = all.iter().sum();
    println!("{sum}");
}

//! A recursion that does not end.

use lamprey::Builder;
use std::hint::black_box;

pub fn main() {
    Builder::new().name("digs").spawn(|| dig(1)).unwrap().join().unwrap();
}

#[expect(unconditional_recursion, reason = "this is what is wrong")]
fn dig(depth: u64) -> u64 {
    let hole = black_box([depth; 32]);
    dig(depth + 1) + hole[7]
}

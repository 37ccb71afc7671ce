//! What other libraries cost on Lamprey, beside their home runtimes.

fn main() {}

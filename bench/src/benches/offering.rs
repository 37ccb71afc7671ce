//! Offering work to idle workers: the tree of `parasite_fib` with it and without.

use super::parasite_fib::runner;
use crate::harness::{Bench, Size, Variant};
use lamprey::Runtime;
use std::time::Duration;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "offering",
    about: "fib(27) as in parasite_fib; idle workers are offered parasites (with), or are not (without); ms for all",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("with", |w| runner(Runtime::builder().workers(w).offering(true).build()?)),
        Variant::ours("without", |w| runner(Runtime::builder().workers(w).offering(false).build()?)),
    ],
};

//! A scope with many children that do nothing.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{os_scope, tokio_structure};
use crate::work::scope::{CHILDREN, samples};
use anyhow::Result;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "scope",
    about: "a scope with 1000 children that do nothing, from its beginning until all are joined; ns for each child. `tokio` has a \
            JoinSet, whose tasks cannot borrow; `std` its scoped OS threads, for one worker on one core",
    workers: &[1, 2],
    size: Size::UntilTakes { first: CHILDREN, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("hosts", |w| {
            runner(w, || lamprey::scope(|s| (0..CHILDREN).for_each(|_| _ = s.spawn(|| {}))))
        }),
        Variant::ours("parasites", |w| {
            runner(w, || lamprey::scope(|s| (0..CHILDREN).for_each(|_| _ = s.parasite(async {}))))
        }),
        Variant::ours("stackful", |w| {
            runner(w, || lamprey::scope(|s| (0..CHILDREN).for_each(|_| _ = s.parasite_fn(|| {}))))
        }),
        Variant::rival("tokio", tokio_structure::scope),
        Variant::rival("std", os_scope::scope),
        Variant::go(),
    ],
};

fn runner(workers: usize, scope: fn()) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let scopes = n.div_ceil(CHILDREN);
        let took = runtime.run(move || {
            let begun = Instant::now();
            (0..scopes).for_each(|_| scope());
            begun.elapsed()
        });
        Ok(samples(took, scopes))
    }))
}

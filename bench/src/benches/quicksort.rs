//! Recursive quicksort with a thread for one half of each partition: the paper's `sort` (*Compiler Support for
//! Lightweight Context Switching*, 2013, 7.4 and Fig. 7).

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::os_scope;
use crate::work::quicksort::{Alone, Fork, samples};
use anyhow::Result;
use std::time::Duration;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "quicksort",
    about: "sort 1,048,576 numbers; who has more than 4096 (or 256) of them parts them, starts a thread for the one half, sorts the \
            other, and joins (paper: Fig. 7, sort; there pthreads won, as almost all is sorting); ms for each sort. `alone`: the \
            same without threads",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1, goal: Duration::from_millis(50) },
    runs: 7,
    variants: &[
        Variant::ours("hosts", lamprey::<Hosts>),
        Variant::ours("parasites", lamprey::<Parasites>),
        Variant::ours("alone", |_| Ok(Box::new(|times| Ok(samples::<Alone>(times))))),
        Variant::rival("pthread", os_scope::quicksort),
        Variant::go(),
        Variant::boost(),
    ],
};

/// A host for one half.
struct Hosts;

impl Fork for Hosts {
    fn both(one: impl FnOnce() + Send, other: impl FnOnce()) {
        lamprey::scope(|scope| {
            scope.spawn(one);
            other();
        });
    }
}

/// A stackful parasite for one half: it runs before the other half, unless it blocks.
struct Parasites;

impl Fork for Parasites {
    fn both(one: impl FnOnce() + Send, other: impl FnOnce()) {
        lamprey::scope(|scope| {
            scope.parasite_fn(one);
            other();
        });
    }
}

fn lamprey<F: Fork>(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |times| Ok(runtime.run(move || samples::<F>(times)))))
}

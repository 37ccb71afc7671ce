//! The switch: two contexts that only switch to each other.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::corosensei;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use swapstack::{Generator, PoolConfig, Resumed, Stack, StackPointer, StackPool, init, switch};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "switch",
    about: "go to another context, which comes straight back; ns for each of the two switches",
    workers: &[1],
    size: Size::UntilTakes { first: 10_000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("swapstack", raw),
        Variant::ours("generator", generator),
        Variant::rival("corosensei", corosensei::switch),
    ],
};

/// The two contexts, each saved while the other runs.
#[derive(Default)]
struct Pair {
    main: StackPointer,
    other: StackPointer,
}

/// `swapstack::switch` on a pooled stack, which passes a word that is checked.
fn raw(_workers: usize) -> Result<Runner> {
    let pool = StackPool::new(PoolConfig::default());
    Ok(Box::new(move |n| {
        let stack = pool.take(16 << 10).context("no stack")?;
        let mut pair = Pair::default();
        let pairs = n.div_ceil(2);
        let pair = &raw mut pair;
        // SAFETY: the stack is ours and outlives the context, which runs only inside the switches below; each
        // of the two contexts saves itself in its own half of `pair` before the other reads it.
        let took = unsafe {
            (*pair).other = init(stack.top(), reply, pair.cast());
            let begun = Instant::now();
            let mut word = 1;
            for _ in 0..pairs {
                word = switch(&raw mut (*pair).main, (*pair).other, word);
            }
            let took = begun.elapsed();
            assert_eq!(word as u64, pairs + 1, "each round adds one");
            took
        };
        // The context is abandoned: it owns nothing.
        pool.give(stack);
        Ok(vec![Sample::ns_each("switch", took, pairs * 2)])
    }))
}

/// The other context: adds one and switches back.
///
/// # Safety
/// `data` is the `Pair` of `raw`, which does not move while this context is resumed; `main` holds the context
/// that resumed this one.
unsafe extern "C" fn reply(mut word: usize, data: *mut ()) -> ! {
    let pair = data.cast::<Pair>();
    loop {
        // SAFETY: `raw` waits in the context that it saved in `main`, and resumes this one from `other`.
        word = unsafe { switch(&raw mut (*pair).other, (*pair).main, word + 1) };
    }
}

/// `swapstack::Generator`, the counterpart of corosensei's coroutine.
fn generator(_workers: usize) -> Result<Runner> {
    Ok(Box::new(|n| {
        let mut generator = Generator::<(), (), ()>::new(|yielder, ()| {
            loop {
                yielder.suspend(());
            }
        });
        let pairs = n.div_ceil(2);
        let begun = Instant::now();
        for _ in 0..pairs {
            assert_eq!(generator.resume(()), Resumed::Yielded(()));
        }
        Ok(vec![Sample::ns_each("switch", begun.elapsed(), pairs * 2)])
    }))
}

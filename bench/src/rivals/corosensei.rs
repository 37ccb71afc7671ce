//! corosensei: stackful coroutines without a scheduler.

use crate::harness::{Runner, Sample};
use ::corosensei::Coroutine;
use anyhow::Result;
use std::time::Instant;

/// Resumes a coroutine that suspends immediately: two switches.
pub fn switch(_workers: usize) -> Result<Runner> {
    Ok(Box::new(|n| {
        let mut coroutine = Coroutine::new(|yielder, ()| {
            loop {
                yielder.suspend(());
            }
            #[expect(unreachable_code, reason = "gives the coroutine its return type")]
            ()
        });
        let pairs = n.div_ceil(2);
        let begun = Instant::now();
        for _ in 0..pairs {
            assert!(coroutine.resume(()).as_yield().is_some());
        }
        Ok(vec![Sample::ns_each("switch", begun.elapsed(), pairs * 2)])
    }))
}

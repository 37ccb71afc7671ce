//! A clock that costs a few nanoseconds, to decide whether it is time to read the real one.
//!
//! It counts the CPU's own ticks and only decides how often the root is visited; deadlines are kept with
//! `Instant`. An unsteady counter makes polling a little earlier or later and has no other effect.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The CPU's counter.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every x86-64 has the instruction, and Linux lets user code use it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The CPU's counter.
#[cfg(target_arch = "aarch64")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads the virtual counter, which Linux lets user code do; touches nothing else.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// The number of ticks in `duration`, at a rate that is measured once for the process.
pub(crate) fn in_ticks(duration: Duration) -> u64 {
    static PER_MILLISECOND: OnceLock<u64> = OnceLock::new();
    let rate = *PER_MILLISECOND.get_or_init(|| {
        let (start, first) = (Instant::now(), ticks());
        let mut passed = Duration::ZERO;
        while passed < Duration::from_micros(200) {
            passed = start.elapsed();
        }
        let counted = u128::from(ticks().wrapping_sub(first));
        (counted * 1_000_000 / passed.as_nanos()).max(1) as u64
    });
    (duration.as_nanos() as u64).saturating_mul(rate) / 1_000_000
}

//! Prints the backtrace of a thread that has overflowed its stack, before the process aborts.
//!
//! The thread itself is in a signal handler, on a small stack, and may have been interrupted in the
//! allocator: it only publishes its registers, and waits. The runtime's [ticker](crate::sched::ticker)
//! unwinds a copy of its stack. If the ticker does not finish (it allocates, and the lock of the allocator
//! may be held for ever), the process aborts without a backtrace.
//!
//! # Invariants
//! 1. What `CASE` points to is on the handler's stack, and the handler does not return before the abort.

use super::sample::{Registers, read_own};
use super::stack_trace::Stack;
use super::unwind::Code;
use crate::sched::ticker::Ticker;
use crate::sync_shim::{AtomicBool, AtomicPtr, Ordering};
use std::ops::Range;
use std::ptr;
use std::time::Duration;

/// How long the handler waits for the backtrace.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the handler checks whether it has been printed.
const PAUSE: Duration = Duration::from_millis(1);
/// Most bytes of the stack that are copied.
const LARGEST: usize = 64 << 20;
/// How many calls are shown: innermost, outermost.
const SHOWN: (usize, usize) = (24, 12);

struct Case {
    registers: Registers,
    stack: Range<usize>,
    is_done: AtomicBool,
}

static CASE: AtomicPtr<Case> = AtomicPtr::new(ptr::null_mut());

/// Has the ticker print the backtrace, and waits for that. Async-signal-safe.
///
/// # Safety
/// `machine` is the third argument of the signal handler that this is called in.
pub(crate) unsafe fn show(machine: *const libc::ucontext_t, stack: Range<usize>, ticker: &Ticker) {
    // SAFETY: the signal handler's third argument (contract).
    let registers = unsafe { Registers::interrupted(machine) };
    let case = Case { registers, stack, is_done: AtomicBool::new(false) };
    let me = ptr::from_ref(&case).cast_mut();
    // Release pairs with the Acquire in `print`. Relaxed on failure: another thread has overflowed at the
    // same time, and is shown instead.
    let is_mine = CASE.compare_exchange(ptr::null_mut(), me, Ordering::Release, Ordering::Relaxed).is_ok();
    if is_mine && !ticker.call() {
        return;
    }
    let mut waited = Duration::ZERO;
    // Acquire pairs with the Release in `print`.
    while !case.is_done.load(Ordering::Acquire) && waited < PATIENCE {
        let pause = libc::timespec { tv_sec: 0, tv_nsec: i64::from(PAUSE.subsec_nanos()) };
        // SAFETY: reads `pause` only.
        unsafe { libc::nanosleep(&raw const pause, ptr::null_mut()) };
        waited += PAUSE;
    }
}

/// Called on the ticker: prints the backtrace that a handler waits for.
pub(in crate::sched) fn print() {
    // Acquire pairs with the Release in `show`.
    // SAFETY: `CASE` points to a live handler's stack (invariant 1).
    let Some(case) = (unsafe { CASE.load(Ordering::Acquire).as_ref() }) else { return };
    say(calls(case));
    // Release pairs with the Acquire in `show`.
    case.is_done.store(true, Ordering::Release);
}

fn say(mut first: Vec<usize>) {
    if first.is_empty() {
        return crate::bug::say!(
            "the stack cannot be shown: process_vm_readv or /proc/self/maps cannot be used here"
        );
    }
    let (inner, outer) = SHOWN;
    let left_out = first.len().saturating_sub(inner + outer);
    let last = first.split_off(if left_out == 0 { first.len() } else { inner + left_out });
    first.truncate(first.len() - left_out);
    crate::bug::say!("the stack, the innermost call first:\n{}", Stack::new(first, 0));
    if left_out != 0 {
        let last = Stack::new(last, inner + left_out);
        crate::bug::say!("after {left_out} calls that are not shown:\n{last}");
    }
}

/// An address within each call, the innermost first.
fn calls(case: &Case) -> Vec<usize> {
    // The stack pointer may already point into the guard page.
    let start = case.registers.sp.max(case.stack.start);
    let mut bytes = vec![0; case.stack.end.saturating_sub(start).min(LARGEST)];
    let length = read_own(start, &mut bytes);
    let word = |address: u64| {
        let offset = usize::try_from(address).ok()?.checked_sub(start)?;
        let word = bytes[..length].get(offset..offset.checked_add(8)?)?;
        Some(u64::from_ne_bytes(word.try_into().ok()?))
    };
    let code = Code::read();
    code.walker().walk_up(case.registers, usize::MAX, word)
}

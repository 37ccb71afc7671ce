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
/// How many calls are shown if they do not repeat: innermost, outermost.
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
    let registers = unsafe { behind_probes(Registers::interrupted(machine), machine) };
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

/// Moves `registers` behind the loop in which code on x86-64 touches each page of a large frame. Inside the loop the unwind tables count from
/// r11, which holds the frame's end, and `framehop` does not know r11.
///
/// # Safety
/// `machine` is the third argument of the signal handler, and `registers` were read from it.
unsafe fn behind_probes(registers: Registers, machine: *const libc::ucontext_t) -> Registers {
    #[cfg(target_arch = "x86_64")]
    {
        /// `movq $0, (%rsp)`, which is where it stands; `cmp %r11, %rsp`; `jne` with one byte for its way.
        const LOOP: [u8; 12] = [0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0, 0x4c, 0x39, 0xdc, 0x75];
        const AFTER: usize = LOOP.len() + 1;
        let mut code = [0; AFTER + 7];
        if read_own(registers.pc, &mut code) == code.len() && code.starts_with(&LOOP) {
            // SAFETY: the signal handler's third argument (contract).
            let pages = unsafe { (&(*machine).uc_mcontext.gregs)[libc::REG_R11 as usize] } as usize;
            // The rest of the frame, less than a page: `sub`, with its number in one byte or in four.
            let (length, rest) = match code[AFTER..] {
                [0x48, 0x83, 0xec, rest, ..] => (4, usize::from(rest)),
                [0x48, 0x81, 0xec, low, high, 0, 0] => (7, usize::from(u16::from_le_bytes([low, high]))),
                _ => (0, 0),
            };
            let (pc, sp) = (registers.pc + AFTER + length, pages.wrapping_sub(rest));
            return Registers { pc, sp, ..registers };
        }
    }
    let _: *const _ = machine;
    registers
}

/// Called on the ticker: prints the backtrace that a handler waits for.
pub(in crate::sched) fn print() {
    // Acquire pairs with the Release in `show`.
    // SAFETY: `CASE` points to a live handler's stack (invariant 1).
    let Some(case) = (unsafe { CASE.load(Ordering::Acquire).as_ref() }) else { return };
    say(&calls(case));
    // Release pairs with the Acquire in `show`.
    case.is_done.store(true, Ordering::Release);
}

fn say(calls: &[usize]) {
    if calls.is_empty() {
        return crate::bug::say!(
            "the stack cannot be shown: process_vm_readv or /proc/self/maps cannot be used here"
        );
    }
    for (header, part) in parts(calls) {
        let first = part.start;
        crate::bug::say!("{header}\n{}", Stack::new(calls[part].to_vec(), first));
    }
}

/// The calls that are shown, with a line before each part.
fn parts(calls: &[usize]) -> Vec<(String, Range<usize>)> {
    let (inner, outer) = SHOWN;
    let innermost = "the stack, the innermost call first:".to_owned();
    let (mut parts, end) = match recursion(calls) {
        Some(Recursion { before, period, times }) => {
            let calls_of_it = if period == 1 { "call repeats" } else { &format!("{period} calls repeat") };
            let header = format!("the last {calls_of_it} {times} times, and then:");
            // What has begun it comes right behind it; the base of the stack is the runtime's.
            let start = before + period * times;
            let end = calls.len().min(start + outer);
            (vec![(innermost, 0..before + period), (header, start..end)], end)
        }
        None => (vec![(innermost, 0..inner.min(calls.len()))], inner.min(calls.len())),
    };
    let last = end.max(calls.len().saturating_sub(outer));
    match last - end {
        // The part before goes on.
        0 => parts.last_mut().expect("one was made").1.end = calls.len(),
        1 => parts.push(("after 1 call that is not shown:".to_owned(), last..calls.len())),
        left_out => {
            parts.push((format!("after {left_out} calls that are not shown:"), last..calls.len()));
        }
    }
    parts.retain(|(_, part)| !part.is_empty());
    parts
}

/// Calls that repeat.
#[derive(Debug, PartialEq, Eq)]
struct Recursion {
    /// How many calls come before them, the innermost ones.
    before: usize,
    period: usize,
    times: usize,
}

/// Most calls before those that repeat, and most that are repeated.
const NEAR: usize = 64;

/// The calls that most of the stack consists of, repeated.
fn recursion(calls: &[usize]) -> Option<Recursion> {
    let places = (0..NEAR).flat_map(|before| (1..=NEAR).map(move |period| (before, period)));
    places.filter(|(before, period)| before + period <= calls.len()).find_map(|(before, period)| {
        let (one, rest) = calls[before..].split_at(period);
        let times = 1 + rest.chunks_exact(period).take_while(|chunk| *chunk == one).count();
        (times >= 3 && times * period > calls.len() / 2).then_some(Recursion { before, period, times })
    })
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

#[cfg(test)]
mod tests {
    use super::{Recursion, parts, recursion};

    #[test]
    fn calls_that_repeat_are_found() {
        let ring = [1, 2, 3].repeat(1000);
        let stack = [&[8, 9][..], &ring, &[1, 7, 6]].concat();
        assert_eq!(recursion(&stack), Some(Recursion { before: 2, period: 3, times: 1000 }));
        assert_eq!(recursion(&[5; 100]), Some(Recursion { before: 0, period: 1, times: 100 }));
    }

    #[test]
    fn others_are_not() {
        assert_eq!(recursion(&[]), None);
        assert_eq!(recursion(&[4, 4]), None);
        assert_eq!(recursion(&(0..1000).collect::<Vec<_>>()), None);
        let few = [&[3; 10][..], &(10..1000).collect::<Vec<_>>()].concat();
        assert_eq!(recursion(&few), None);
    }

    /// The first two words of each header, and the calls.
    fn shown(calls: &[usize]) -> Vec<(String, std::ops::Range<usize>)> {
        let word = |header: String| header.split(' ').take(2).collect::<Vec<_>>().join(" ");
        parts(calls).into_iter().map(|(header, part)| (word(header), part)).collect()
    }

    fn expected<const N: usize>(
        parts: [(&str, std::ops::Range<usize>); N],
    ) -> Vec<(String, std::ops::Range<usize>)> {
        parts.map(|(header, part)| (header.to_owned(), part)).into()
    }

    #[test]
    fn what_began_a_recursion_is_shown() {
        let recursion = [7; 1000];
        let all = |rest: usize| [&[1, 2][..], &recursion, &(100..100 + rest).collect::<Vec<_>>()].concat();
        let first = ("the stack,", 0..3);
        assert_eq!(shown(&all(0)), expected([first.clone()]));
        assert_eq!(shown(&all(5)), expected([first.clone(), ("the last", 1002..1007)]));
        assert_eq!(shown(&all(24)), expected([first.clone(), ("the last", 1002..1026)]));
        let long = [first, ("the last", 1002..1014), ("after 6", 1020..1032)];
        assert_eq!(shown(&all(30)), expected(long));
    }

    #[test]
    fn a_stack_without_recursion_has_both_ends() {
        let calls: Vec<_> = (0..38).collect();
        assert_eq!(shown(&calls[..10]), expected([("the stack,", 0..10)]));
        assert_eq!(shown(&calls[..36]), expected([("the stack,", 0..36)]));
        assert_eq!(shown(&calls[..37]), expected([("the stack,", 0..24), ("after 1", 25..37)]));
        assert_eq!(shown(&calls), expected([("the stack,", 0..24), ("after 2", 26..38)]));
    }
}

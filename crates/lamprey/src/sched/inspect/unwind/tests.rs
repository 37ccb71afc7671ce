//! Walks of samples that are correct, truncated, or garbage.

use super::{Code, DEPTH};
use crate::sched::inspect::sample::{MOST, Registers, Sample};
use std::arch::asm;
use std::hint::black_box;

/// The registers of the caller, here.
#[cfg_attr(not(debug_assertions), inline(always))]
fn here() -> Registers {
    let (pc, sp, fp): (usize, usize, usize);
    // SAFETY: only reads registers.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("lea {}, [rip]", "mov {}, rsp", "mov {}, rbp", out(reg) pc, out(reg) sp, out(reg) fp);
        #[cfg(target_arch = "aarch64")]
        asm!("adr {}, .", "mov {}, sp", "mov {}, x29", out(reg) pc, out(reg) sp, out(reg) fp);
    }
    Registers { pc, sp, fp, lr: 0 }
}

fn names(stack: &[usize]) -> String {
    let mut text = String::new();
    for &address in stack {
        backtrace::resolve(std::ptr::without_provenance_mut(address + 1), |symbol| {
            text += &symbol.name().map(|name| format!("{name:#}\n")).unwrap_or_default();
        });
    }
    text
}

#[inline(never)]
fn descends(levels: usize, then: &mut dyn FnMut()) {
    if levels == 0 {
        then()
    } else {
        descends(levels - 1, then)
    }
    black_box(());
}

/// A sample of this thread, `levels` calls further down, handed to `look`.
fn sampled(levels: usize, mut look: impl FnMut(&Sample)) {
    let mut sample = Sample::boxed();
    descends(levels, &mut || {
        sample.take(here());
        look(&sample);
    });
}

#[test]
fn the_calls_are_those_of_the_source() {
    let code = Code::read();
    sampled(5, |sample| {
        let text = names(&code.walker().walk(sample));
        assert!(text.matches("descends").count() >= 5, "{text}");
        assert!(text.contains("the_calls_are_those_of_the_source"), "{text}");
    });
}

#[test]
fn a_deep_stack_is_cut_where_it_is_deepest() {
    let code = Code::read();
    sampled(10_000, |sample| {
        assert_eq!(sample.len(), MOST);
        let stack = code.walker().walk(sample);
        assert_eq!(stack.len(), DEPTH);
        assert!(names(&stack[DEPTH / 2..]).contains("descends"));
    });
}

#[test]
fn a_sample_that_is_cut_short_shows_fewer_calls() {
    let code = Code::read();
    sampled(20, |sample| {
        let mut walker = code.walker();
        let whole = walker.walk(sample);
        let (from, mut least) = (sample.registers.sp as u64, usize::MAX);
        for length in (0..sample.len()).rev().step_by(7).chain([0]) {
            let bytes: Vec<u8> = (0..length / 8)
                .flat_map(|word| sample.word(from + 8 * word as u64).unwrap().to_ne_bytes())
                .collect();
            let part = walker.walk(&Sample::made_up(sample.registers, &bytes));
            assert!(whole.starts_with(&part), "{part:x?} of {whole:x?}");
            assert!(part.len() <= least);
            least = part.len();
        }
        assert_eq!(least, 1, "where it is, even without a stack");
    });
}

#[test]
fn garbage_ends_somewhere() {
    let code = Code::read();
    fastrand::seed(1);
    let ranges = code.ranges.clone();
    sampled(20, |sample| {
        let mut walker = code.walker();
        let mut most = 0;
        for round in 0..20_000 {
            let somewhere = || fastrand::u64(ranges[fastrand::usize(..ranges.len())].clone());
            let pcs = [somewhere() as usize, somewhere() as usize, sample.registers.pc];
            let numbers = [0, 1, 7, 8, usize::MAX, usize::MAX - 7, usize::MAX / 2, sample.registers.sp];
            let number = || numbers[fastrand::usize(..numbers.len())].wrapping_add(fastrand::usize(..64));
            let (sp, fp) = (number(), number());
            let registers = Registers { pc: pcs[round % 3], sp, fp, lr: number() };
            // Words that look like code, like the stack, and like nothing.
            let words = 1 << fastrand::u32(..10);
            let bytes: Vec<u8> = (0..words)
                .flat_map(|_| match fastrand::u32(..4) {
                    0 => (registers.sp.wrapping_add(fastrand::usize(..words * 8)) as u64).to_ne_bytes(),
                    1 => fastrand::u64(..).to_ne_bytes(),
                    _ => somewhere().to_ne_bytes(),
                })
                .collect();
            let stack = walker.walk(&Sample::made_up(registers, &bytes));
            assert!(stack.len() <= DEPTH);
            most = most.max(stack.len());
        }
        assert!(most > 2, "some of it must look like calls, or this tests nothing");
    });
}

#[test]
fn what_is_not_there_is_not_read() {
    let mut sample = Sample::boxed();
    for address in [0, 1, 4096, usize::MAX, usize::MAX - 4096] {
        sample.take(Registers { sp: address, ..Registers::default() });
        assert_eq!((sample.len(), sample.word(address as u64)), (0, None));
    }
    // A readable page before one that is not.
    // SAFETY: a new mapping, which no other code uses.
    let (address, readable) = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
        let map = libc::mmap(std::ptr::null_mut(), 3 * page, rights, flags, -1, 0);
        assert_ne!(map, libc::MAP_FAILED);
        assert_eq!(libc::mprotect(map.byte_add(2 * page), page, libc::PROT_NONE), 0);
        (map.addr(), 2 * page)
    };
    for offset in [0, 8, 24, readable - 8] {
        sample.take(Registers { sp: address + offset, ..Registers::default() });
        assert_eq!(sample.len(), readable - offset);
        assert_eq!(sample.word((address + readable - 8) as u64), Some(0));
        assert_eq!(sample.word((address + readable - 7) as u64), None);
    }
}

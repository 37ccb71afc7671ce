//! An overflow prints one line and aborts, for each size and each guard; other faults go to the previous
//! handler.
//!
//! Every case crashes, so each runs in a process of its own: the test starts this executable again with
//! `CASE` set, and runs only the test `child`.

mod common;

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use swapstack::overflow::{self, Fault, Report};
use swapstack::{GuardKind, PoolConfig, Stack, StackPointer, StackPool, init, switch};

fn run(case: &str) -> Output {
    common::this_test("child").env("CASE", case).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn child() {
    let Ok(case) = std::env::var("CASE") else { return };
    match case.split_once(' ') {
        Some(("overflow", rest)) => {
            let (guard, size) = rest.split_once(' ').unwrap();
            let guard = if guard == "light" { GuardKind::Light } else { GuardKind::Mapped };
            overflow_on(guard, size.parse().unwrap());
        }
        Some(("kernel", _)) => {
            install();
            recurse(0);
        }
        Some(("fault", previous)) => fault_elsewhere(previous),
        _ => panic!("unknown case {case}"),
    }
}

#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[7] }
}

unsafe extern "C" fn recurses(_word: usize, _data: *mut ()) -> ! {
    recurse(0);
    unreachable!()
}

fn name_it(fault: &Fault, report: &mut Report) -> bool {
    write!(report, "test context with {} bytes", fault.top - fault.limit).is_ok()
}

fn install() {
    // SAFETY: `name_it` formats numbers into the report and does nothing else.
    unsafe { overflow::install(Some(name_it)) };
    overflow::arm_thread().unwrap();
}

fn overflow_on(guard: GuardKind, size: usize) {
    install();
    let pool = StackPool::new(PoolConfig::default().guard(guard));
    // Not the first stack of the region: the one below must be recognised as another stack.
    let neighbours: Vec<_> = (0..3).map(|_| pool.take(size).unwrap()).collect();
    let mut main = StackPointer::NULL;
    // SAFETY: the stack is ours.
    unsafe { switch(&raw mut main, init(neighbours[1].top(), recurses, std::ptr::null_mut()), 0) };
}

fn assert_reported(guard: &str, size: usize) {
    let output = run(&format!("overflow {guard} {size}"));
    let text = stderr(&output);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    let line = text.lines().find(|line| line.starts_with("swapstack: stack overflow in ")).expect(&text);
    assert!(line.contains("test context with "), "{line}");
    let number = |after: &str| -> usize {
        line.split_once(after).unwrap().1.split_once(' ').unwrap().0.parse().unwrap()
    };
    assert!((size..size + 8192).contains(&number("size ")), "{line}");
    // The whole stack was used, so the whole stack is resident.
    assert_eq!(number("size "), number("high-water mark "), "{line}");
}

/// One size of each class, and one with a mapping of its own.
const SIZES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

fn have_light_guards() -> bool {
    StackPool::new(PoolConfig::default()).stats().guard == GuardKind::Light
}

#[test]
fn light_guards_stop_an_overflow_in_every_class() {
    if have_light_guards() {
        SIZES.iter().for_each(|&size| assert_reported("light", size));
    } else {
        eprintln!("SKIPPED: this kernel has no MADV_GUARD_INSTALL");
    }
}

#[test]
fn mapped_guards_stop_an_overflow_in_every_class() {
    SIZES.iter().for_each(|&size| assert_reported("mapped", size));
}

extern "C" fn plain(_signal: libc::c_int) {
    say_and_exit(b"plain handler\n", 41);
}

extern "C" fn with_info(_signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: installed with SA_SIGINFO, so the kernel passes a valid pointer.
    assert_eq!(unsafe { (*info).si_addr() }.addr(), 8);
    say_and_exit(b"siginfo handler\n", 42);
}

fn say_and_exit(text: &[u8], code: i32) -> ! {
    // SAFETY: only async-signal-safe calls.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(code)
    }
}

/// Installs `previous`, then our handler, then touches address 8.
fn fault_elsewhere(previous: &str) {
    // SAFETY: all zeros is SIG_DFL; the handlers have the signatures that their flags ask for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = match previous {
            "default" => libc::SIG_DFL,
            "ignore" | "ignore-sent" => libc::SIG_IGN,
            "plain" => plain as *const () as usize,
            "siginfo" => with_info as *const () as usize,
            // The handler of the standard library.
            "std" => 0,
            other => panic!("unknown previous handler {other}"),
        };
        if previous == "siginfo" {
            action.sa_flags = libc::SA_SIGINFO;
        }
        if previous != "std" {
            libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
        }
    }
    install();
    // SAFETY: no new hook, and the present one stays.
    unsafe { overflow::install(None) };
    if previous == "ignore-sent" {
        // SAFETY: a signal that this process ignores.
        unsafe { libc::raise(libc::SIGSEGV) };
        say_and_exit(b"still here\n", 43);
    }
    // SAFETY: none; the fault is what this tests.
    unsafe { std::ptr::without_provenance::<u64>(8).read_volatile() };
}

/// The standard library reports overflows of a kernel thread's own stack.
#[test]
fn an_overflow_of_a_kernel_thread_is_still_reported_by_the_standard_library() {
    let output = run("kernel thread");
    assert!(!output.status.success());
    let expected = if cfg!(feature = "asan") { "stack-overflow" } else { "has overflowed its stack" };
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    assert!(!stderr(&output).contains("swapstack:"), "{}", stderr(&output));
}

#[test]
fn a_fault_elsewhere_goes_to_the_default_action() {
    for previous in ["default", "ignore", "std"] {
        let output = run(&format!("fault {previous}"));
        // AddressSanitizer's handler is the previous one, and exits.
        let ended = if cfg!(feature = "asan") && previous == "std" {
            !output.status.success()
        } else {
            output.status.signal() == Some(libc::SIGSEGV)
        };
        assert!(ended, "{previous}: {}", stderr(&output));
        assert!(!stderr(&output).contains("stack overflow in "), "{}", stderr(&output));
    }
}

#[test]
fn a_fault_elsewhere_goes_to_the_handler_before_ours() {
    for (previous, code) in [("plain", 41), ("siginfo", 42), ("ignore-sent", 43)] {
        let output = run(&format!("fault {previous}"));
        assert_eq!(output.status.code(), Some(code), "{previous}: {}", stderr(&output));
        assert!(!stderr(&output).contains("stack overflow in "), "{}", stderr(&output));
    }
}

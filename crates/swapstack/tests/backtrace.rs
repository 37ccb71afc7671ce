//! Each kind of unwinder, started inside a context, stops at the context's base.

mod common;

use std::backtrace::Backtrace;
use std::process::Command;
use swapstack::{Generator, PoolConfig, Stack, StackPointer, StackPool, init, jump, switch};

/// Runs `entry` on a new context until it jumps back, and returns the word that it passes.
fn on_a_context(entry: unsafe extern "C" fn(usize, *mut ()) -> !) -> usize {
    let stack = StackPool::new(PoolConfig::default()).take(256 << 10).unwrap();
    let mut main = StackPointer::NULL;
    // SAFETY: the stack is ours, and all entry functions in this file jump back to `main`.
    unsafe { switch(&raw mut main, init(stack.top(), entry, (&raw mut main).cast()), 0) }
}

#[inline(never)]
fn innermost() -> String {
    std::hint::black_box(Backtrace::force_capture().to_string())
}

#[inline(never)]
fn in_between() -> String {
    std::hint::black_box(innermost())
}

unsafe extern "C" fn traced_entry(_word: usize, main: *mut ()) -> ! {
    let text = Box::new(in_between());
    // SAFETY: `main` points at the suspended context of `on_a_context`.
    unsafe { jump(*main.cast::<StackPointer>(), Box::into_raw(text).expose_provenance()) }
}

/// The names of the functions, innermost first.
fn functions(text: &str) -> Vec<&str> {
    let numbered = |line: &&str| line.split_once(": ").is_some_and(|(n, _)| n.trim().parse::<u32>().is_ok());
    text.lines().filter(numbered).map(|line| line.split_once(": ").unwrap().1.trim()).collect()
}

fn assert_ends_at(text: &str, base: &[&str]) {
    let functions = functions(text);
    let position = |name: &str| functions.iter().position(|function| function.contains(name));
    assert!(position("innermost").is_some() && position("innermost") < position("in_between"), "{text}");
    let last = functions.last().expect(text);
    assert!(base.iter().any(|name| last.contains(name)), "the last frame is {last}:\n{text}");
    for outside in ["run_test", "lang_start", "__rust_begin_short_backtrace", "on_a_context"] {
        assert_eq!(position(outside), None, "a frame of another stack:\n{text}");
    }
}

#[test]
fn a_backtrace_ends_at_the_entry_of_a_context() {
    let address = on_a_context(traced_entry);
    // SAFETY: `traced_entry` has passed its box.
    let text = unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<String>(address)) };
    assert!(text.contains("traced_entry"), "{text}");
    assert_ends_at(&text, &["traced_entry", "enter"]);
}

#[test]
fn a_backtrace_ends_at_the_base_of_a_generator() {
    let text = Generator::new(|y, ()| y.suspend(in_between())).next().unwrap();
    assert_ends_at(&text, &["control::run", "run<", "enter"]);
}

unsafe extern "C" fn bring_back(word: usize, main: *mut ()) -> ! {
    // SAFETY: `main` points at the suspended context of `on_a_context`.
    unsafe { jump(*main.cast::<StackPointer>(), word) }
}

/// Passes the frame pointer at its entry to `bring_back`.
#[unsafe(naked)]
unsafe extern "C" fn frame_pointer(_word: usize, _main: *mut ()) -> ! {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rdi, rbp", "jmp {}", sym bring_back);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x0, x29", "b {}", sym bring_back);
}

#[test]
fn the_chain_of_frame_pointers_ends_at_the_entry() {
    if cfg!(feature = "asan") {
        return eprintln!("SKIPPED: the sanitizer's own entry function comes first");
    }
    assert_eq!(on_a_context(frame_pointer), 0);
}

/// The function where the debugger stops.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn swapstack_test_stops_here() {
    std::hint::black_box(0);
}

unsafe extern "C" fn debugged_entry(_word: usize, main: *mut ()) -> ! {
    swapstack_test_stops_here();
    // SAFETY: `main` points at the suspended context of `on_a_context`.
    unsafe { jump(*main.cast::<StackPointer>(), 0) }
}

#[test]
fn child() {
    if std::env::var_os("CASE").is_some() {
        on_a_context(debugged_entry);
    }
}

#[test]
fn gdb_ends_at_the_entry() {
    if cfg!(target_arch = "aarch64") || Command::new("gdb").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no gdb for this");
    }
    let child = common::this_test("child");
    let output = Command::new("gdb")
        .args([
            "--batch",
            "-nx",
            "-ex",
            "set breakpoint pending on",
            "-ex",
            "break swapstack_test_stops_here",
        ])
        .args(["-ex", "run", "-ex", "backtrace", "-ex", "kill", "--args"])
        .arg(child.get_program())
        .args(child.get_args())
        .env("CASE", "gdb")
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("ptrace: Operation not permitted") {
        return eprintln!("SKIPPED: gdb may not trace here");
    }
    let frames: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert!(frames.iter().any(|frame| frame.contains("swapstack_test_stops_here")), "{text}");
    assert!(frames.iter().any(|frame| frame.contains("debugged_entry")), "{text}");
    assert!(frames.last().is_some_and(|frame| frame.contains("enter")), "{text}");
    assert!(frames.len() <= 5, "frames of another stack:\n{text}");
    assert!(!text.contains("Backtrace stopped"), "{text}");
}

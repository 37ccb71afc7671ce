//! Inspects threads in the middle of code in which no unwinder can start, thousands of times, by the real
//! signal.

use super::{Look, look};
use crate::sched::inspect::unwind::Code;
use crate::sched::worker::Worker;
use std::collections::HashMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LOOKS: usize = 500;
const FOREVER: Duration = Duration::from_secs(100);

/// Runs `step` for ever in a host, inspects its worker often, and requires that at least one stack names
/// `function`. Returns the share of the stacks that do.
fn looked_at(function: &str, step: impl Fn() + Send + 'static) -> f64 {
    let runtime = crate::Runtime::builder().workers(1).build().unwrap();
    let end = Arc::new(AtomicBool::new(false));
    let (ready, start) = std::sync::mpsc::channel();
    let theirs = end.clone();
    let host = runtime.handle().spawn(move || {
        ready.send(Worker::current().unwrap().remote.tid.load(Ordering::SeqCst)).unwrap();
        while !theirs.load(Ordering::SeqCst) {
            step();
        }
    });
    let tid = start.recv().unwrap();
    let code = Code::read();
    let mut walker = code.walker();
    let mut names = Names::default();
    let (mut looks, mut named, mut seen) = (0, 0, 0);
    let deadline = Instant::now() + FOREVER;
    while looks < LOOKS || named == 0 {
        assert!(Instant::now() < deadline, "{looks} looks, {seen} threads seen, {function} not among them");
        looks += 1;
        match look(tid, Some(&mut walker), deadline) {
            Look::Computes(found, _) => {
                seen += 1;
                named += usize::from(found[0].stack.iter().any(|&address| names.is_of(address, function)));
            }
            Look::Schedules => {}
            Look::Silent => panic!("no answer to look {looks}"),
        }
    }
    end.store(true, Ordering::SeqCst);
    host.join().unwrap();
    eprintln!("{function}: {looks} looks, {seen} seen, {named} named");
    named as f64 / seen as f64
}

/// Names of addresses, each resolved once: resolving takes longer than an inspection.
#[derive(Default)]
struct Names(HashMap<usize, String>);

impl Names {
    fn is_of(&mut self, address: usize, function: &str) -> bool {
        let text = self.0.entry(address).or_insert_with(|| {
            let mut text = String::new();
            backtrace::resolve(std::ptr::without_provenance_mut(address + 1), |symbol| {
                text += &symbol.name().map(|name| format!("{name:#}\n")).unwrap_or_default();
            });
            text
        });
        text.contains(function)
    }
}

#[inline(never)]
fn computes() {
    for n in 0..100_000_u64 {
        black_box(n);
    }
}

#[test]
fn a_thread_that_computes() {
    assert!(looked_at("computes", computes) > 0.9);
}

#[inline(never)]
fn throws(levels: usize) {
    let _held = black_box(String::new());
    if levels == 0 {
        resume_unwind(Box::new(()));
    }
    throws(levels - 1);
    black_box(());
}

#[test]
fn a_thread_that_unwinds() {
    looked_at("throws", || drop(catch_unwind(|| throws(0))));
    looked_at("throws", || drop(catch_unwind(|| throws(50))));
}

#[inline(never)]
fn allocates() {
    let all: Vec<_> = (1..200).map(|n| vec![0_u8; n * n]).collect();
    black_box(all);
}

#[test]
fn a_thread_that_allocates() {
    looked_at("allocates", allocates);
}

#[inline(never)]
fn switches() {
    for _ in 0..100 {
        crate::yield_now();
    }
}

#[test]
fn threads_that_switch() {
    looked_at("switches", || {
        let other = crate::spawn(|| (0..10).for_each(|_| switches()));
        switches();
        other.join().unwrap();
    });
}

#[inline(never)]
fn generates() {
    let numbers = swapstack::Generator::new(|out: &swapstack::Yielder<(), u32>, ()| {
        for n in 0..100 {
            out.suspend(black_box(n));
        }
    });
    assert_eq!(numbers.sum::<u32>(), 4950);
}

#[test]
fn a_thread_in_and_out_of_generators() {
    looked_at("generates", generates);
}

#[inline(never)]
fn spawns() {
    let all: Vec<_> = (0..20).map(|n| crate::spawn(move || black_box(n))).collect();
    all.into_iter().for_each(|one| drop(one.join()));
    // One whose stack is unmapped when it ends.
    let large = crate::Builder::new().stack_size(1 << 20).spawn(|| black_box(0));
    large.unwrap().join().unwrap();
}

#[test]
fn threads_that_end_and_give_back_their_stacks() {
    looked_at("spawns", spawns);
}

#[inline(never)]
fn loads() {
    // Takes the loader's lock, and the one of the symbols.
    let _trace = black_box(std::backtrace::Backtrace::force_capture());
}

#[test]
fn a_thread_with_the_lock_of_the_loader() {
    looked_at("loads", loads);
}

extern "C" fn on_signal(_: libc::c_int) {
    computes();
}

#[inline(never)]
fn raises() {
    // SAFETY: handled by `on_signal`.
    unsafe { libc::raise(libc::SIGUSR2) };
    computes();
}

#[test]
fn a_thread_in_a_handler_of_its_own() {
    // SAFETY: it only counts.
    unsafe { libc::signal(libc::SIGUSR2, on_signal as *const () as usize) };
    looked_at("raises", raises);
}

/// An inspection that gets no answer is given up; the late signal finds no request, and the next inspection
/// works like the first.
#[test]
fn a_thread_that_does_not_answer() {
    let runtime = crate::Runtime::builder().workers(1).build().unwrap();
    let (ready, start) = std::sync::mpsc::channel();
    let (go_on, told) = std::sync::mpsc::channel();
    let host = runtime.handle().spawn(move || {
        let block = |how| {
            // SAFETY: plain sets of numbers.
            unsafe {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigaddset(&raw mut set, libc::SIGURG);
                libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut());
            }
        };
        block(libc::SIG_BLOCK);
        ready.send(Worker::current().unwrap().remote.tid.load(Ordering::SeqCst)).unwrap();
        told.recv().unwrap(); // holds the kernel thread
        block(libc::SIG_UNBLOCK);
        ready.send(0).unwrap();
        told.recv().unwrap();
    });
    let tid = start.recv().unwrap();
    let code = Code::read();
    let mut walker = code.walker();
    for _ in 0..3 {
        let answer = look(tid, Some(&mut walker), Instant::now() + Duration::from_millis(5));
        assert!(matches!(answer, Look::Silent));
    }
    go_on.send(()).unwrap();
    start.recv().unwrap();
    let answer = look(tid, Some(&mut walker), Instant::now() + FOREVER);
    assert!(matches!(answer, Look::Computes(found, _) if found.len() == 1));
    go_on.send(()).unwrap();
    host.join().unwrap();
    let ended = catch_unwind(AssertUnwindSafe(|| drop(runtime)));
    assert!(ended.is_ok());
    assert!(matches!(look(tid, Some(&mut walker), Instant::now() + FOREVER), Look::Schedules));
}

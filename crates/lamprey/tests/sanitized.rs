//! That a sanitizer sees what hosts do: each of these commits the fault on purpose, in a process of its own,
//! and wants the report. Without a sanitizer there is nothing here (HACKING.md, steps `asan` and `tsan`).
#![cfg(any(feature = "asan", feature = "tsan"))]
mod common;

use common::{rerun, role, runtime, yield_until};
#[cfg(feature = "tsan")]
use lamprey::Builder;
use lamprey::{spawn, yield_now};
#[cfg(feature = "asan")]
use std::hint::black_box;
#[cfg(feature = "asan")]
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `fault` in a process of its own, whose report must contain `report`.
#[track_caller]
fn reports(me: &str, report: &str, fault: impl FnOnce() + Send + 'static) {
    if role().is_some() {
        return runtime(2).run(fault);
    }
    let (output, text) = rerun(me, "commit the fault");
    assert!(
        !output.status.success() && text.contains(report),
        "{:?} without \"{report}\": {text}",
        output.status
    );
}

#[test]
#[cfg(feature = "tsan")]
fn a_race_of_two_hosts_on_two_workers() {
    struct Shared(std::cell::UnsafeCell<usize>);
    // SAFETY: not kept, on purpose.
    unsafe impl Sync for Shared {}
    static SHARED: Shared = Shared(std::cell::UnsafeCell::new(0));
    static STEP: AtomicUsize = AtomicUsize::new(0);
    /// Waits without entering the runtime, whose queues would order the two, and Relaxed for the same reason.
    fn take(step: usize) {
        while STEP.load(Ordering::Relaxed) < step {
            std::thread::yield_now();
        }
        // SAFETY: none.
        unsafe { *SHARED.0.get() += 1 };
        STEP.store(step + 1, Ordering::Relaxed);
    }

    // The second is already waiting when the first takes its turn, so nothing that the first does afterwards
    // can order them.
    reports("a_race_of_two_hosts_on_two_workers", "data race", || {
        let first = Builder::new().worker(0).spawn(|| take(1)).unwrap();
        let second = Builder::new().worker(1).spawn(|| {
            STEP.store(1, Ordering::Relaxed);
            take(2);
        });
        second.unwrap().join().unwrap();
        first.join().unwrap();
    });
}

#[test]
#[cfg(feature = "asan")]
fn a_host_uses_what_another_has_freed() {
    reports("a_host_uses_what_another_has_freed", "heap-use-after-free", || {
        let boxed = Box::into_raw(Box::new(7_u64)).expose_provenance();
        // SAFETY: freed once.
        spawn(move || drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<u64>(boxed)) }))
            .join()
            .unwrap();
        // SAFETY: none.
        black_box(unsafe { *std::ptr::with_exposed_provenance::<u64>(boxed) });
    });
}

#[test]
#[cfg(feature = "asan")]
fn a_host_uses_a_local_of_a_call_that_is_over() {
    /// Tells where a local of its is. (No `black_box` here: functions with inline assembly keep their locals
    /// on the real stack.)
    #[inline(never)]
    fn local(kept: &AtomicPtr<u64>) {
        let mut local = 7;
        kept.store(&raw mut local, Ordering::Relaxed);
    }
    reports("a_host_uses_a_local_of_a_call_that_is_over", "stack-use-after-return", || {
        static KEPT: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
        local(&KEPT);
        // Another context in between: each has a fake stack of its own.
        spawn(|| local(&AtomicPtr::default())).join().unwrap();
        // SAFETY: none.
        black_box(unsafe { *KEPT.load(Ordering::Relaxed) });
    });
}

#[test]
#[cfg(feature = "asan")]
fn a_host_leaves_a_local_array_at_its_end() {
    reports("a_host_leaves_a_local_array_at_its_end", "stack-buffer-overflow", || {
        let array = black_box([1_u8; 40]);
        let at = black_box(41_usize);
        yield_now();
        // SAFETY: none.
        black_box(unsafe { *array.as_ptr().add(at) });
    });
}

#[test]
fn what_is_right_is_not_reported() {
    runtime(2).run(|| {
        static DONE: AtomicUsize = AtomicUsize::new(0);
        (0..100).for_each(|n| {
            let words = vec![n; 100];
            spawn(move || {
                yield_now();
                DONE.fetch_add(words.len(), Ordering::Release);
            });
        });
        yield_until("the end of all", || DONE.load(Ordering::Acquire) == 100 * 100);
    });
}

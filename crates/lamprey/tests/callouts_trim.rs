//! Stacks that nobody needs any more lose their memory also where the worker is never idle for long.
//! The only test of its file, because it looks at the memory of the whole process.
mod common;

use common::{FOREVER, count, counter, resident, runtime, tick, yield_until};
use lamprey::sync::Semaphore;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

const HOSTS: usize = 2000;

/// Uses about 40 KiB of the caller's stack.
#[inline(never)]
fn deep(gate: &Semaphore, here: &AtomicUsize) -> u8 {
    let bytes = std::hint::black_box([1u8; 40 << 10]);
    tick(here);
    drop(gate.acquire(1).unwrap());
    bytes[usize::from(bytes[0])]
}

/// Hosts that are all there at once.
fn crowd() {
    let (gate, here) = (Arc::new(Semaphore::new(0)), counter());
    let hosts: Vec<_> = (0..HOSTS)
        .map(|_| {
            let (gate, here) = (gate.clone(), here.clone());
            lamprey::spawn(move || deep(&gate, &here))
        })
        .collect();
    yield_until("all", || count(&here) == HOSTS);
    gate.add_permits(1);
    hosts.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), 1));
}

#[test]
fn a_worker_with_a_timer_or_with_work_gives_stacks_back_too() {
    let runtime = runtime(1);
    let works = || (0..1000).for_each(|_| lamprey::yield_now());
    let beats = || lamprey::sleep(Duration::from_millis(100));
    let before = resident();
    for goes_on in [&works as &(dyn Fn() + Sync), &beats] {
        runtime.run(|| {
            crowd();
            let used = resident();
            assert!(used > before + HOSTS * (24 << 10), "the hosts used no stack: {before} -> {used}");
            let deadline = Instant::now() + FOREVER;
            while resident() > before + (used - before) / 4 {
                assert!(Instant::now() < deadline, "still {} resident, {before} before", resident());
                goes_on();
            }
        });
    }
    runtime.run(crowd); // they work again
}

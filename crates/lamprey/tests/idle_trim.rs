//! A worker that has been idle for a while gives the memory of its idle stacks back.
//! The only test of its file, because it looks at the memory of the whole process.

use lamprey::sync::Barrier;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Uses about 32 KiB of the caller's stack.
#[inline(never)]
fn deep(all: &Barrier) -> u8 {
    let bytes = std::hint::black_box([1u8; 32 << 10]);
    all.wait(); // so that all of them are there at once
    bytes[usize::from(bytes[0])]
}

#[test]
fn idle_stacks_lose_their_memory_and_work_again() {
    const HOSTS: usize = 1000;
    let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
    let crowd = || {
        let all = Arc::new(Barrier::new(HOSTS));
        let hosts: Vec<_> = (0..HOSTS)
            .map(|_| {
                let all = all.clone();
                lamprey::spawn(move || deep(&all))
            })
            .collect();
        hosts.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), 1));
    };
    let before = resident_kib();
    runtime.run(crowd);
    let used = resident_kib();
    assert!(used > before + HOSTS * 24, "the hosts used no stack: {before} -> {used} KiB");
    let deadline = Instant::now() + Duration::from_secs(30);
    while resident_kib() > before + HOSTS * 8 {
        assert!(Instant::now() < deadline, "still {} KiB resident, {before} before", resident_kib());
        std::thread::sleep(Duration::from_millis(100));
    }
    runtime.run(crowd);
}

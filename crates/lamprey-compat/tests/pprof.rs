//! A profile of blocking has who waits, for what, where, and for how long.

use lamprey::{Wait, spawn, sync::Mutex};
use lamprey_compat::pprof::Blocking;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[inline(never)]
fn waits_for_a_lock(lock: &Mutex<u32>) -> u32 {
    *std::hint::black_box(lock.lock().unwrap())
}

/// What `go tool pprof` makes of it; `None` where there is no Go.
fn told_by_go(profile: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("blocking.pb.gz");
    std::fs::write(&file, profile).unwrap();
    let mut command = Command::new("go");
    command.args(["tool", "pprof", "-top", "-cum", "-nodefraction=0"]).arg(&file);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A Go without its tools says so.
    assert!(output.status.success() || text.is_empty(), "{text}");
    output.status.success().then_some(text)
}

#[test]
fn a_host_with_a_small_stack_can_take_a_profile() {
    let host = || {
        let mut profile = Blocking::new();
        profile.look();
        profile.to_bytes().unwrap()
    };
    let size = if cfg!(debug_assertions) { 128 << 10 } else { 64 << 10 };
    let bytes =
        lamprey::run(|| lamprey::Builder::new().stack_size(size).spawn(host).unwrap().join().unwrap());
    assert_eq!(bytes[..2], [0x1f, 0x8b], "gzip");
}

#[test]
fn who_waits_is_told_with_reason_place_and_time() {
    let runtime = lamprey::Runtime::builder().workers(2).build().unwrap();
    let (profile, watched) = runtime.run(|| {
        let lock = Arc::new(Mutex::new(1));
        let held = lock.lock().unwrap();
        let hosts: Vec<_> = (0..3)
            .map(|_| {
                let lock = lock.clone();
                spawn(move || waits_for_a_lock(&lock))
            })
            .collect();
        let all_wait = |rows: &[lamprey::inspect::ThreadRow]| {
            rows.iter().filter(|row| row.wait() == Some(Wait::Lock)).count() == 3
        };
        while !all_wait(&lamprey::inspect::threads()) {
            lamprey::yield_now();
        }
        let start = Instant::now();
        let mut profile = Blocking::new();
        for _ in 0..5 {
            lamprey::sleep(Duration::from_millis(2));
            profile.look();
        }
        let watched = start.elapsed();
        drop(held);
        assert_eq!(hosts.into_iter().map(|host| host.join().unwrap()).sum::<u32>(), 3);
        (profile, watched)
    });
    let waited = profile.waited(Wait::Lock);
    assert!(waited >= Duration::from_millis(3 * 10) && waited <= 3 * watched, "{waited:?} of {watched:?}");
    let bytes = profile.to_bytes().unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b], "gzip");
    if let Some(text) = told_by_go(&bytes) {
        assert!(text.contains("Type: delay"), "{text}");
        for part in ["[lock of a mutex]", "waits_for_a_lock", "[spawned at "] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }
}

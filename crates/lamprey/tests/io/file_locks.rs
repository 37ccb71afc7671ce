//! Locks of files: by hosts, in async code, as events, with another process; given up at every moment.

use super::names::Folder;
use crate::common::awaiting::everywhere;
use crate::common::*;
use futures::FutureExt;
use lamprey::event::{Event, choose, timeout};
use lamprey::fs::File;
use std::fs::TryLockError;
use std::io::{ErrorKind, Read, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(5);

fn is_locked(file: &File) -> bool {
    match file.try_lock() {
        Ok(()) => {
            file.unlock().unwrap();
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("{error}"),
    }
}

/// Two open files of one, the first of which has it locked.
fn two(folder: &Folder) -> (File, File) {
    let path = folder.0.join("lock");
    let (one, other) = (File::create(&path).unwrap(), File::open(&path).unwrap());
    one.lock().unwrap();
    (one, other)
}

#[test]
fn one_at_a_time_or_several_that_share() {
    run(1, || {
        let folder = Folder::new("lock-kinds");
        let (one, other) = two(&folder);
        assert!(matches!(other.try_lock_shared(), Err(TryLockError::WouldBlock)));
        one.unlock().unwrap();
        one.unlock().unwrap();
        one.lock_shared().unwrap();
        other.lock_shared().unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(other);
        one.lock().unwrap();
        // A clone is the same open file.
        let clone = one.try_clone().unwrap();
        drop(one);
        let third = File::open(folder.0.join("lock")).unwrap();
        assert!(is_locked(&third));
        drop(clone);
        third.lock_timeout(Duration::ZERO).unwrap();
    });
}

#[test]
fn hosts_exclude_each_other_and_nobody_waits_for_ever() {
    run(2, || {
        let folder = Folder::new("lock-hosts");
        let path = Arc::new(folder.0.join("lock"));
        File::create(&*path).unwrap();
        let inside = counter();
        let hosts: Vec<_> = (0..20)
            .map(|_| {
                let (path, inside) = (path.clone(), inside.clone());
                lamprey::spawn(move || {
                    let file = File::open(&*path).unwrap();
                    file.lock().unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    lamprey::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    file.unlock().unwrap();
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn more_wait_than_the_pool_has_threads() {
    within(FOREVER, || {
        let runtime = lamprey::Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
        runtime.run(|| {
            let folder = Folder::new("lock-pool");
            let (one, _) = two(&folder);
            let waiting: Vec<_> = (0..10)
                .map(|_| {
                    let file = File::open(folder.0.join("lock")).unwrap();
                    blocked(move || file.lock_shared().unwrap())
                })
                .collect();
            // The pool is free all the time.
            assert_eq!(lamprey::block(|| 1), 1);
            one.unlock().unwrap();
            waiting.into_iter().for_each(|host| host.join().unwrap());
        });
    });
}

#[test]
fn a_time_limit_and_a_cancellation_leave_it_unlocked() {
    run(1, || {
        let folder = Folder::new("lock-limits");
        let (one, other) = two(&folder);
        let start = Instant::now();
        assert_eq!(other.lock_timeout(SHORT).unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= SHORT);
        assert_eq!(other.lock_shared_timeout(Duration::ZERO).unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(lamprey::with_timeout(SHORT, || other.lock()).is_err());

        let other = Arc::new(other);
        let theirs = other.clone();
        let host = blocked(move || theirs.lock());
        host.cancel();
        assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled { .. })));
        one.unlock().unwrap();
        assert!(!is_locked(&one), "who gave up has it");
    });
}

#[test]
fn in_async_code_and_as_an_event() {
    run(1, || {
        let folder = Folder::new("lock-async");
        let (one, other) = two(&folder);
        assert!(other.lock_async().now_or_never().is_none());
        let chosen = choose((other.lock_evt().wrap(|_| true), timeout(SHORT).wrap(|()| false)));
        assert!(!chosen.sync());
        let chosen = choose((other.lock_shared_evt().wrap(|_| true), timeout(SHORT).wrap(|()| false)));
        assert!(!chosen.sync());
        one.unlock().unwrap();
        assert!(!is_locked(&one), "an event that was not chosen has it");
        other.lock_shared_evt().sync().unwrap();
        assert!(is_locked(&one));
    });
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    everywhere(|| async {
        let folder = Folder::new(&format!("lock-everywhere-{}", NUMBER.fetch_add(1, Ordering::SeqCst)));
        let (one, other) = two(&folder);
        let ((), locked) = futures::join!(
            async {
                lamprey::yield_now_async().await;
                one.unlock().unwrap();
            },
            other.lock_async()
        );
        locked.unwrap();
        assert!(is_locked(&one));
    });
}

#[test]
fn a_host_that_unwinds_does_not_wait() {
    struct LocksOnDrop(File, Arc<AtomicUsize>);
    impl Drop for LocksOnDrop {
        fn drop(&mut self) {
            assert_eq!(self.0.lock().unwrap_err().kind(), ErrorKind::WouldBlock);
            tick(&self.1);
        }
    }
    run(1, || {
        let folder = Folder::new("lock-unwinds");
        let (one, other) = two(&folder);
        let drops = counter();
        let guard = LocksOnDrop(other, drops.clone());
        let host = lamprey::spawn(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(host.join().is_err());
        assert_eq!(count(&drops), 1);
        drop(one);
    });
}

#[test]
fn another_process_has_it_until_it_ends() {
    const ROLE: &str = "lock";
    if let Some(path) = role().and_then(|role| role.strip_prefix(ROLE).map(str::to_owned)) {
        let file = std::fs::File::open(path).unwrap();
        file.lock().unwrap();
        // Ends with the parent, or when that says so.
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    run(1, || {
        let folder = Folder::new("lock-process");
        let path = folder.0.join("lock");
        let file = Arc::new(File::create(&path).unwrap());
        let mut child = again("another_process_has_it_until_it_ends", &format!("{ROLE}{}", path.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the other process has locked it", || is_locked(&file));
        let theirs = file.clone();
        let host = blocked(move || theirs.lock());
        child.stdin.take().unwrap().write_all(b"x").unwrap();
        host.join().unwrap().unwrap();
        assert!(lamprey::block(|| child.wait()).unwrap().success());
    });
}

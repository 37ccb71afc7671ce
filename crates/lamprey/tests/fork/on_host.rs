//! A host that calls `fork` is an OS thread in the child.

use crate::common::{rerun, role};
use crate::{fork, io_of, on_own, runtime_on, with_each};
use lamprey::{net, spawn};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MS: Duration = Duration::from_millis(5);

/// It blocks in the child, and no other host runs there.
#[test]
fn a_host_blocks_in_the_child_alone() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_host_blocks_in_the_child_alone", name));
    };
    let io = io_of(&role);
    let runtime = runtime_on(io);
    runtime.run(|| {
        static IS_CHILD: AtomicBool = AtomicBool::new(false);
        let (stream, mut other) = net::UnixStream::pair().unwrap();
        let others = spawn(|| {
            loop {
                assert!(!IS_CHILD.load(Ordering::Relaxed), "another host runs in the child");
                lamprey::yield_now();
                lamprey::sleep(Duration::from_micros(100));
            }
        });
        lamprey::sleep(MS);
        let child = fork(|| {
            IS_CHILD.store(true, Ordering::Relaxed);
            lamprey::sleep(10 * MS);
            assert!(lamprey::with_timeout(MS, || lamprey::sleep(Duration::MAX)).is_err());
            lamprey::scope(|_| lamprey::shield(|| lamprey::wait(lamprey::sleep_async(MS))));
            assert!(lamprey::Handle::current().is_none());
            assert_eq!(on_own(io, || spawn(|| 4).join().unwrap()), 4);
            drop(lamprey::fs::read("/etc/hostname").unwrap());
        });
        let status = lamprey::block(move || child.status());
        assert_eq!(status, 0);
        let writer = spawn(move || {
            lamprey::sleep(MS);
            other.write_all(b"x").unwrap();
        });
        assert_eq!((&stream).read(&mut [0]).unwrap(), 1);
        writer.join().unwrap();
        others.cancel();
    });
}

/// What it had entered before, it leaves in the child; then it must end by itself.
#[test]
fn a_host_that_returns_in_the_child_ends_it() {
    const ME: &str = "a_host_that_returns_in_the_child_ends_it";
    let Some(role) = role() else {
        return with_each(|name| {
            let (output, text) = rerun(ME, name);
            assert!(text.contains("has ended in the child"), "{text}");
            (output, text)
        });
    };
    let runtime = runtime_on(io_of(&role));
    let pid = runtime.run(|| {
        spawn(|| {
            lamprey::with_timeout(Duration::from_secs(60), || {
                lamprey::shield(|| {
                    // SAFETY: the child only leaves what it is in.
                    let pid = unsafe { libc::fork() };
                    lamprey::sleep(MS);
                    pid
                })
            })
            .unwrap()
        })
        .join()
        .unwrap()
    });
    assert!(pid > 0, "the child has ended");
    let mut status = 0;
    // SAFETY: writes the status only.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(libc::WEXITSTATUS(status), 1, "{status:#x}");
}

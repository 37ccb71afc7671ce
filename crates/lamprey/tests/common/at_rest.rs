//! Waiting until other threads are blocked, by facts instead of lengths of time.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use super::{count, counter, eventually, tick, yield_until};
use lamprey::{Builder, Handle, JoinHandle};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc;
use std::thread;

/// Starts a host and returns once it is blocked in `call` (on a runtime with one worker).
#[track_caller]
pub fn blocked<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let begun = counter();
    let theirs = begun.clone();
    let host = lamprey::spawn(move || {
        tick(&theirs);
        call()
    });
    yield_until("its start", || count(&begun) == 1);
    host
}

/// Starts a host in the runtime of `handle`, which may have several workers and be another than the caller's,
/// and returns once it is blocked in `call`.
#[track_caller]
pub fn blocked_in<T: Send + 'static>(
    handle: &Handle,
    call: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let begun = counter();
    let theirs = begun.clone();
    let host = handle.spawn(move || {
        tick(&theirs);
        call()
    });
    all_blocked(handle, || count(&begun) == 1);
    host
}

/// Waits until `begun` holds, and then until the hosts that made it true have left their workers to others:
/// they are blocked in what they do next, unless their time slice ended just before that.
#[track_caller]
pub fn all_blocked(handle: &Handle, begun: impl Fn() -> bool) {
    eventually("their start", begun);
    // A host stays on the worker that has started it, so it does not run while another one runs there.
    for worker in 0..handle.workers() {
        Builder::new().worker(worker).spawn_in(handle, || ()).unwrap().join().unwrap();
    }
}

/// The calling host's runtime.
pub fn here() -> Handle {
    Handle::current().expect("on a host")
}

/// Starts an OS thread and returns once it is blocked in `call`: once the kernel says that it sleeps.
#[track_caller]
pub fn blocked_os<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        tell.send(OsThread::current()).unwrap();
        call()
    });
    let state = told.recv().unwrap();
    eventually("its wait", || state.is_asleep());
    thread
}

/// What the kernel says of an OS thread. Holds a descriptor.
pub struct OsThread(File);

impl OsThread {
    /// The calling one.
    pub fn current() -> Self {
        Self(File::open("/proc/thread-self/stat").unwrap())
    }

    /// Whether it sleeps in a system call, or has ended.
    pub fn is_asleep(&self) -> bool {
        matches!(self.state(), None | Some('S'))
    }

    /// Whether it has ended, its thread-local destructors included.
    pub fn has_ended(&self) -> bool {
        matches!(self.state(), None | Some('X' | 'Z'))
    }

    /// `None` if there is no such thread any more.
    fn state(&self) -> Option<char> {
        let mut stat = [0; 256];
        let length = self.0.read_at(&mut stat, 0).ok()?;
        // "number (name) state ..."
        let stat = String::from_utf8_lossy(&stat[..length]);
        stat.rsplit_once(") ")?.1.chars().next()
    }
}

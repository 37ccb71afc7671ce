//! Children made by `fork`: what they may call, and that their parents go on undisturbed.

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod inherited;
mod on_host;
mod parent;
mod reports;
mod traces;

use lamprey::{Io, Runtime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Output;

/// A child of this process, which runs `f`, and which the kernel ends when that hangs.
pub struct Forked(libc::pid_t);

/// Starts a child that runs `f`.
pub fn fork(f: impl FnOnce()) -> Forked {
    // SAFETY: the child runs code of the test as a thread of its own would; the locks that it needs are free, as the other threads of
    // this process wait.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        // SAFETY: plain calls.
        unsafe { libc::alarm(60) };
        let is_good = catch_unwind(AssertUnwindSafe(f)).is_ok();
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(!is_good)) }
    }
    Forked(pid)
}

impl Forked {
    /// Waits for its end: the status of `waitpid`, 0 if all went well.
    pub fn status(&self) -> i32 {
        let mut status = 0;
        // SAFETY: writes the status only.
        while unsafe { libc::waitpid(self.0, &raw mut status, 0) } != self.0 {}
        status
    }

    /// Waits for its end, which must be that of `f`, without a panic.
    pub fn must_be_good(&self, what: &str) {
        assert_eq!(self.status(), 0, "the child: {what}");
    }

    /// Ends it.
    pub fn kill(&self) {
        // SAFETY: a child that has not been waited for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.status();
    }
}

/// A runtime with one worker on the event loop that the role names.
pub fn runtime_on(io: Io) -> Runtime {
    Runtime::builder().workers(1).io(io).deadlocks(false).build().unwrap()
}

/// Runs `f` on a runtime of the process's own.
pub fn on_own<T: Send>(io: Io, f: impl FnOnce() -> T + Send) -> T {
    runtime_on(io).run(f)
}

/// Runs `test` again with each event loop that there is.
#[track_caller]
pub fn with_each(again: impl Fn(&str) -> (Output, String)) {
    for (io, name) in [(Io::Epoll, "epoll"), (Io::Uring, "uring")] {
        if io.check().is_ok() {
            let (output, text) = again(name);
            assert!(output.status.success(), "{name}: {:?} {text}", output.status);
        }
    }
}

/// The event loop that [`with_each`] has named.
pub fn io_of(role: &str) -> Io {
    if role == "uring" { Io::Uring } else { Io::Epoll }
}

//! tokio's context on Lamprey's threads.

mod ends;
mod hosts;
mod inside;
mod nested;
mod start;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Longer than anything takes, on a loaded machine.
const FOREVER: Duration = Duration::from_secs(120);

/// Runs `main` in a runtime of Lamprey's; fails if it hangs.
fn run<T: Send + 'static>(workers: usize, main: impl FnOnce() -> T + Send + 'static) -> T {
    within(move || lamprey::Runtime::builder().workers(workers).build().unwrap().run(main))
}

/// Runs `f` on a kernel thread; fails if it hangs.
fn within<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || drop(done.send(f())));
    match result.recv_timeout(FOREVER) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hung"),
        Err(mpsc::RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().unwrap_err()),
    }
}

/// The calling thread has the context of the runtime that serves Lamprey's threads.
fn has_context() -> bool {
    Handle::try_current().is_ok_and(|handle| {
        handle.id() == lamprey_compat::tokio::handle().unwrap().id()
            && handle.runtime_flavor() == RuntimeFlavor::MultiThread
    })
}

/// Sends, when it is dropped, whether it found tokio's context.
struct Dropped(mpsc::Sender<bool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(has_context());
    }
}

/// Sleeps by tokio's clock. (`tokio::time::sleep` wants the context where it is called; here that is in the first poll.)
async fn nap(time: Duration) {
    tokio::time::sleep(time).await;
}

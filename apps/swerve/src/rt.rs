//! The runtime under the server: the one place that names it.

use std::io;
use std::time::Duration;

pub(crate) use std::net::{TcpListener, TcpStream};

/// Runs `f` on a runtime with `workers` workers.
pub(crate) fn run<T>(_workers: usize, f: impl FnOnce() -> T) -> io::Result<T> {
    Ok(f())
}

/// Starts `f` on a host of its own on the worker of that number.
pub(crate) fn spawn_on(_worker: usize, f: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().spawn(f).map(drop)
}

/// Runs a call that can only block, away from the worker.
pub(crate) fn block<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    f()
}

pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

pub(crate) fn yield_now() {}

/// Wakes a blocked `accept` with an error.
pub(crate) fn close(listener: &TcpListener) {
    let _ = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
}

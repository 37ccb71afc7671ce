//! A dump at a signal, by a kernel thread of its own: a worker may be what does not get on.

use super::dump;
use crate::sched::affinity::unpinned;
use crate::sched::os;
use crate::signal::{self, Signal};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// From now on the process prints a [`dump`] to standard error each time it gets `signal`, and goes on: usually
/// [`Signal::QUIT`], which a terminal sends for Ctrl-\\. The signal has no other effect then.
///
/// # Examples
/// ```
/// lamprey::inspect::dump_at(lamprey::signal::Signal::QUIT)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// Those of [`signal::listen`](crate::signal::listen), and the system's when no kernel thread or descriptor is left.
///
/// # Blocking
/// Never.
#[doc(alias = "SIGQUIT")]
pub fn dump_at(signal: Signal) -> io::Result<()> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
    let theirs = bell.clone();
    signal::ring_at(signal, bell)?;
    let thread = std::thread::Builder::new().name("lamprey-dump".to_owned());
    thread.spawn(unpinned(move || print_at_each_ring(&theirs))).map(|_| ())
}

/// The thread. It lasts as long as the process.
fn print_at_each_ring(bell: &OwnedFd) {
    let _looks_only = os::LooksOnly::begin();
    loop {
        match rustix::io::read(bell, &mut [0; 8]) {
            Ok(_) => crate::bug::say!("{}", dump()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return, // somebody has closed the descriptor
        }
    }
}

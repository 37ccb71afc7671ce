//! The checker's kernel: one socket, which [`write`] makes readable, and edge-triggered sets of it (epoll).

use crate::sync_shim::{Condvar, Mutex};
use rustix::event::epoll::{EventData, EventFlags};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

pub(crate) use rustix::event::epoll::CreateFlags;

/// The state of one execution.
struct Kernel {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    sets: usize,
    bytes: usize,
    /// The sets that the socket is in, and the data of their events.
    watched: Vec<(usize, u64)>,
    /// Events that have not been fetched yet.
    events: Vec<(usize, u64)>,
    is_over: bool,
}

loom::lazy_static! {
    static ref KERNEL: Kernel = Kernel {
        state: Mutex::new(State { sets: 0, bytes: 0, watched: Vec::new(), events: Vec::new(), is_over: false }),
        changed: Condvar::new(),
    };
}

/// The descriptor of a set.
#[derive(Debug)]
pub(crate) struct Set(usize);

pub(crate) fn create(_: CreateFlags) -> Result<Set, Errno> {
    let mut state = KERNEL.state.lock().unwrap();
    state.sets += 1;
    Ok(Set(state.sets - 1))
}

pub(crate) fn add(set: &Set, _: BorrowedFd<'_>, data: EventData, _: EventFlags) -> Result<(), Errno> {
    let mut state = KERNEL.state.lock().unwrap();
    let entry = (set.0, data.u64());
    state.watched.push(entry);
    if state.bytes != 0 {
        state.events.push(entry);
        KERNEL.changed.notify_all();
    }
    Ok(())
}

pub(crate) fn delete(set: &Set, _: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut state = KERNEL.state.lock().unwrap();
    state.watched.retain(|entry| entry.0 != set.0);
    state.events.retain(|entry| entry.0 != set.0);
    Ok(())
}

/// The other end of the socket sends a byte.
pub(crate) fn write() {
    let mut state = KERNEL.state.lock().unwrap();
    state.bytes += 1;
    let edges = state.watched.clone();
    state.events.extend(edges);
    KERNEL.changed.notify_all();
}

/// Reads the byte; false if there is none.
pub(crate) fn read() -> bool {
    let mut state = KERNEL.state.lock().unwrap();
    let is_ready = state.bytes != 0;
    state.bytes -= usize::from(is_ready);
    is_ready
}

/// Ends the model: threads that fetch events return.
pub(crate) fn end() {
    KERNEL.state.lock().unwrap().is_over = true;
    KERNEL.changed.notify_all();
}

/// Waits for events of all sets (in the order of their creation); `None` at the end.
pub(crate) fn fetch() -> Option<Vec<(usize, u64)>> {
    let mut state = KERNEL.state.lock().unwrap();
    while state.events.is_empty() && !state.is_over {
        state = KERNEL.changed.wait(state).unwrap();
    }
    if state.is_over { None } else { Some(std::mem::take(&mut state.events)) }
}

/// The events that are there now, without waiting.
pub(crate) fn fetch_now() -> Vec<(usize, u64)> {
    std::mem::take(&mut KERNEL.state.lock().unwrap().events)
}

//! The tasks that wait for a handshake.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// For what a task polls the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// One task for each role; the last one that has polled. As a waker it wakes both: a socket keeps one task per direction, and
/// during a handshake both roles need both directions.
#[derive(Default)]
pub(super) struct Waiters(Mutex<[Option<Waker>; 2]>);

impl Waiters {
    /// Before the task polls the socket, because the socket may wake it meanwhile.
    pub(super) fn register(&self, role: Role, waker: &Waker) {
        let waker = waker.clone();
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner)[role as usize].replace(waker);
        drop(before);
    }

    pub(super) fn wake_all(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.into_iter().flatten().for_each(Waker::wake);
    }
}

impl Wake for Waiters {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}

//! The tasks that wait for a stream, and the wakers that its socket gets in their place.
//!
//! A socket may wake, clone and drop wakers inside a poll, when the state of the stream is locked. A waker of the caller's is code of
//! somebody else, which may poll the stream and would wait for that lock for ever. So the socket gets wakers of this module.
//!
//! # Invariants
//! * No waker of a caller is called, cloned or dropped while the stream's state is locked by a [`Polling`]'s poll, or the lock here.
//! * While polls are under way, wakes are noted. The end of the last one wakes what has been noted; each notes its task before.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// For what a task polls the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// One task for each role; the last one that was pending.
#[derive(Default)]
struct Tasks {
    wakers: [Option<Waker>; 2],
    polls: usize,
    is_woken: [bool; 2],
}

#[derive(Default)]
struct Shared(Mutex<Tasks>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes these roles now, or at the end of the polls.
    fn wake(&self, roles: [bool; 2]) {
        let mut tasks = self.lock();
        for (is_woken, role) in tasks.is_woken.iter_mut().zip(roles) {
            *is_woken |= role;
        }
        wake_noted(tasks);
    }

    fn register(&self, role: Role, waker: &Waker) {
        let is_there = |before: &Option<Waker>| before.as_ref().is_some_and(|before| before.will_wake(waker));
        if is_there(&self.lock().wakers[role as usize]) {
            return;
        }
        let waker = waker.clone();
        let before = self.lock().wakers[role as usize].replace(waker);
        drop(before);
    }
}

/// Unlocks, and wakes what has been noted, if no poll is under way.
fn wake_noted(mut tasks: MutexGuard<'_, Tasks>) {
    if tasks.polls > 0 || tasks.is_woken == [false; 2] {
        return;
    }
    let woken = take(&mut tasks.is_woken);
    let wakers = [0, 1].map(|role| tasks.wakers[role].take_if(|_| woken[role]));
    drop(tasks);
    wakers.into_iter().flatten().for_each(Waker::wake);
}

/// The waker of some roles.
struct Roles {
    shared: Arc<Shared>,
    roles: [bool; 2],
}

impl Wake for Roles {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.shared.wake(self.roles);
    }
}

/// See the module's documentation.
pub(super) struct Waiters {
    shared: Arc<Shared>,
    wakers: [Waker; 2],
}

impl Waiters {
    /// Also a waker of both roles: a socket keeps one task per direction, and during a handshake both roles need both directions.
    pub(super) fn new() -> (Self, Waker) {
        let shared = Arc::new(Shared::default());
        let waker = |roles| Waker::from(Arc::new(Roles { shared: shared.clone(), roles }));
        let (wakers, both) = ([waker([true, false]), waker([false, true])], waker([true, true]));
        (Self { shared, wakers }, both)
    }

    /// Calls `poll` with a context in place of `cx`, whose task is registered if it is pending. `poll` locks the state, and unlocks
    /// it before it returns.
    pub(super) fn poll<R>(
        &self,
        role: Role,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        let polling = Polling::begin(&self.shared);
        let polled = poll(&mut Context::from_waker(&self.wakers[role as usize]));
        if polled.is_pending() {
            self.shared.register(role, cx.waker());
        }
        drop(polling);
        polled
    }
}

/// A poll under way, which may panic.
struct Polling<'a>(&'a Shared);

impl<'a> Polling<'a> {
    fn begin(shared: &'a Shared) -> Self {
        shared.lock().polls += 1;
        Self(shared)
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let mut tasks = self.0.lock();
        tasks.polls -= 1;
        wake_noted(tasks);
    }
}

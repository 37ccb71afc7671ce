//! Locks for threads of a scheduler: `lock`, `unlock` (Li and Zdancewic, *Combining Events and Threads for Scalable Network
//! Services*, 2007, 4.7).

use super::call::Request;
use super::thread::Trace;
use super::unit_call::{UnitCall, What};
use crate::sync_shim::watched;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

/// A lock that threads of a scheduler take by [`lock`] and give back by [`unlock`], in the order in which they
/// come.
///
/// A thread that ends or throws while it has the lock keeps it: others wait for ever.
#[derive(Debug, Default)]
pub struct Mutex {
    state: watched::Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_locked: bool,
    waiting: VecDeque<Trace>,
}

impl Mutex {
    /// A lock that no thread has.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn state(&self) -> watched::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the lock, when no other thread has it.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn lock(mutex: &Arc<Mutex>) -> UnitCall<Take> {
    UnitCall::new(Take(Arc::clone(mutex)))
}

/// Gives the lock back.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls; where the scheduler performs it, if
/// no thread has the lock.
pub fn unlock(mutex: &Arc<Mutex>) -> UnitCall<GiveBack> {
    UnitCall::new(GiveBack(Arc::clone(mutex)))
}

/// [`lock`].
#[derive(Debug)]
pub struct Take(Arc<Mutex>);

impl What for Take {
    #[allow(private_interfaces)]
    fn into_request(self) -> Request {
        Request::Lock(self.0)
    }
}

/// [`unlock`].
#[derive(Debug)]
pub struct GiveBack(Arc<Mutex>);

impl What for GiveBack {
    #[allow(private_interfaces)]
    fn into_request(self) -> Request {
        Request::Unlock(self.0)
    }
}

/// A thread that wants a lock.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct Lock {
    pub(super) mutex: Arc<Mutex>,
    pub(super) trace: Trace,
}

impl Lock {
    /// The thread, which has the lock now; or None, and it waits within the lock, until an [`Unlock::release`]
    /// returns it.
    pub fn acquire(self) -> Option<Trace> {
        let mut state = self.mutex.state();
        if std::mem::replace(&mut state.is_locked, true) {
            state.waiting.push_back(self.trace);
            return None;
        }
        Some(self.trace)
    }
}

/// A thread that gives a lock back.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct Unlock {
    pub(super) mutex: Arc<Mutex>,
    pub(super) trace: Trace,
}

impl Unlock {
    /// The thread, and the one that has the lock now, if any waited for it.
    ///
    /// # Panics
    /// If no thread has the lock.
    pub fn release(self) -> (Trace, Option<Trace>) {
        let mut state = self.mutex.state();
        assert!(state.is_locked, "unlock: no thread has this lock");
        let next = state.waiting.pop_front();
        state.is_locked = next.is_some();
        (self.trace, next)
    }
}

//! `suspend_async`: [`suspend`](super::suspend) for async code.
//!
//! # States (`State`, under its lock)
//! ```text
//! Begun --poll--> Waits --token--> Used, Dropped       the token calls the waker
//! Begun --token--> Used, Dropped                       the first poll is ready
//! Begun, Waits --the future is dropped--> Dropped      using the token does nothing
//! ```
//! Invariant: whoever moves the state out of Waits owns the waker that was in it, and calls or drops it without
//! holding the lock.
//!
//! # Checked by
//! `model::suspend` (loom), `tests/sched/source.rs`.

use super::{Abandoned, Token, WakeToken};
use crate::sched::{self, Wait, coop, wakers};
use crate::sync_shim::{Mutex, MutexGuard};
use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

/// The awaitable form of [`suspend`](crate::suspend): is ready when the token that is passed to `register` has been used.
///
/// `register` runs in the first poll.
///
/// # Errors
/// [`Abandoned`] if the token was dropped instead of used.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (put, take) = std::sync::mpsc::channel();
/// let waits = lamprey::parasite(async move {
///     lamprey::suspend_async(|token| put.send(token).unwrap()).await
/// });
/// take.recv().unwrap().wake();
/// assert_eq!(waits.join().unwrap(), Ok(()));
/// # });
/// ```
///
/// # Cancellation
/// After the future has been dropped, using the token does nothing.
///
/// # Blocking
/// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
#[doc(alias = "park")]
pub async fn suspend_async(register: impl FnOnce(WakeToken)) -> Result<(), Abandoned> {
    let waiting = Waiting(Arc::default());
    register(WakeToken(Token::Task(waiting.0.clone())));
    poll_fn(|context| waiting.0.poll(context)).await
}

/// The future's side, which ends with it.
struct Waiting(Arc<TaskState>);

/// What the future and the token share.
#[derive(Default)]
pub(super) struct TaskState(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Begun,
    Waits(Waker),
    Used,
    /// The token, or the future.
    Dropped,
}

impl TaskState {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Result<(), Abandoned>> {
        coop::look_by_poll(context);
        if sched::gives_way(context) {
            return Poll::Pending;
        }
        // Code of the program: without the lock, as is the drop of the one that it replaces.
        let waker = context.waker().clone();
        sched::note(context, Wait::Suspend);
        let before = {
            let mut state = self.state();
            match *state {
                State::Used => return Poll::Ready(Ok(())),
                State::Dropped => return Poll::Ready(Err(Abandoned)),
                State::Begun | State::Waits(_) => mem::replace(&mut *state, State::Waits(waker)),
            }
        };
        drop(before);
        Poll::Pending
    }

    /// The token has been used, or dropped.
    pub(super) fn end(&self, used: bool) {
        let after = if used { State::Used } else { State::Dropped };
        let before = {
            let mut state = self.state();
            match *state {
                State::Begun | State::Waits(_) => mem::replace(&mut *state, after),
                State::Used | State::Dropped => return,
            }
        };
        if let State::Waits(waker) = before {
            wakers::wake(waker);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let before = mem::replace(&mut *self.0.state(), State::Dropped);
        drop(before);
    }
}

//! `suspend` and `WakeToken`: safe park and unpark, for events that the program defines itself.
//!
//! # States (`state`)
//! ```text
//! EMPTY --the thread--> WAITING --token--> TAKEN       the token must wake the thread
//! EMPTY --token--> TAKEN                               the thread does not block
//! WAITING --the thread, cancelled--> TAKEN             using the token does nothing
//! ```
//! Invariant: the side that moves the state out of WAITING owns the waiter; the other side never touches it
//! again.
//!
//! Orderings: the thread's Release CAS to WAITING pairs with the token's Acquire swap (publishes the waiter);
//! the token's Release swap pairs with the Acquire of the thread's failed CAS. `used` is stored before that
//! swap, so the thread also sees it after the wake.
//!
//! Checked by `model::suspend` (loom), `tests/sched/source.rs`.

mod future;

pub use future::suspend_async;

use crate::queue::inbox::Linked;
use crate::sched::wait::{self, Waited};
use crate::sched::{Wait, Waiter, coop};
use crate::sync_shim::{AtomicBool, AtomicPtr, Ordering};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Wakes the thread of one [`suspend`], or the task of one [`suspend_async`]. May be sent to any kernel thread.
///
/// # Dropping
/// Wakes the thread, or the task: the call returns [`Abandoned`] there.
#[doc(alias = "Unparker")]
#[doc(alias = "Waker")]
#[must_use = "dropping the token wakes the thread with an error"]
pub struct WakeToken(Token);

enum Token {
    Thread(Arc<TokenState>),
    /// Of a [`suspend_async`].
    Task(Arc<future::TaskState>),
}

struct TokenState {
    waiter: AtomicPtr<()>,
    used: AtomicBool,
}

const EMPTY: *mut () = ptr::null_mut();
const TAKEN: *mut () = ptr::without_provenance_mut(1);

/// The token of a [`suspend`] was dropped unused, so no other thread could wake this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

/// Blocks the calling thread until the token that is passed to `register` is used.
///
/// `register` runs before the thread blocks and stores the token where another thread, or a
/// [`Source`](crate::Source), finds it. The token may be used before `suspend` blocks, even within
/// `register`.
///
/// # Errors
/// [`Abandoned`] if the token was dropped instead of used, or if the caller is unwinding and must not block.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (put, take) = std::sync::mpsc::channel();
/// let waker = std::thread::spawn(move || take.recv().map(lamprey::WakeToken::wake));
/// lamprey::suspend(|token| put.send(token).unwrap()).unwrap();
/// # waker.join().unwrap().unwrap();
/// # });
/// ```
///
/// # Cancellation
/// A cancelled host unwinds from here; using the token afterwards does nothing.
///
/// # Blocking
/// A host switches away; an OS thread parks.
#[doc(alias = "park")]
#[doc(alias = "gopark")]
pub fn suspend(register: impl FnOnce(WakeToken)) -> Result<(), Abandoned> {
    coop::turn();
    let state = Arc::new(TokenState { waiter: AtomicPtr::new(EMPTY), used: AtomicBool::new(false) });
    register(WakeToken(Token::Thread(state.clone())));
    let waited = wait::wait(Wait::Suspend, None, |me| state.publish(me), |_| state.take_back());
    waited.unwind_if_cancelled();
    if waited == Waited::Woken && !state.is_taken() {
        crate::bug::bug!("a suspended thread was woken although its token is there");
    }
    // Acquire pairs with the Release store in `end`.
    if state.used.load(Ordering::Acquire) { Ok(()) } else { Err(Abandoned) }
}

impl TokenState {
    /// Publishes the waiter; false if the token has been used or dropped already.
    fn publish(&self, me: Waiter) -> bool {
        // Release pairs with the Acquire swap in `end`; Acquire on failure with its Release.
        self.waiter
            .compare_exchange(EMPTY, Linked::into_raw(me), Ordering::Release, Ordering::Acquire)
            .is_ok()
    }

    /// Takes the waiter back; false if the token has taken it.
    fn take_back(&self) -> bool {
        // AcqRel pairs with the swap in `end`.
        self.waiter.swap(TAKEN, Ordering::AcqRel) != TAKEN
    }

    fn is_taken(&self) -> bool {
        // Acquire pairs with the swap in `end`.
        self.waiter.load(Ordering::Acquire) == TAKEN
    }

    /// The token has been used, or dropped.
    fn end(&self, used: bool) {
        if used {
            // Release pairs with the Acquire load in `suspend`.
            self.used.store(true, Ordering::Release);
        }
        // Acquire pairs with the Release CAS in `publish`; Release with its Acquire on failure.
        let waiter = self.waiter.swap(TAKEN, Ordering::AcqRel);
        if waiter != TAKEN
            && let Some(waiter) = NonNull::new(waiter)
        {
            // SAFETY: the swap took the waiter out of WAITING, so only this call wakes it, once.
            unsafe { <Waiter as Linked>::from_raw(waiter).wake() };
        }
    }
}

impl WakeToken {
    /// Wakes the thread.
    #[doc(alias = "unpark")]
    #[doc(alias = "goready")]
    pub fn wake(self) {
        self.end(true);
    }

    fn end(&self, used: bool) {
        match &self.0 {
            Token::Thread(state) => state.end(used),
            Token::Task(state) => state.end(used),
        }
    }
}

impl Drop for WakeToken {
    fn drop(&mut self) {
        self.end(false); // does nothing after `wake`: the state is TAKEN
    }
}

impl fmt::Debug for WakeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WakeToken")
    }
}

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the token that would have woken this thread was dropped")
    }
}

impl std::error::Error for Abandoned {}

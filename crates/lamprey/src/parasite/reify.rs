//! The paper's primitives for building blocking operations: reify, prepare, attach (Sivaramakrishnan, Ziarek, Prasad and
//! Jagannathan, *Lightweight Asynchrony Using Parasitic Threads*, 2011,
//! 2.3).
//!
//! # States (`ReifyState`)
//! ```text
//! New       `f` has not been called yet: the first poll, or `sync`, calls it
//! Waiting   the thread is suspended; its waker is in the cell
//! Prepared  the value is in the cell; the thread takes it when it runs next
//! Dropped   the `Parasite` was dropped: the thread is cancelled
//! Gone      the thread does not wait any more
//! ```
//!
//! # Invariants
//! 1. [`Parasite`] and [`ReadyParasite`] are consumed by use: the cell is prepared at most once and attached
//!    at most once.
//! 2. The waker is taken out of the cell once: by the thread that attaches, or by the parasite.
//!
//! A lock, not an atomic word, because a value and a waker change together; sections are short.
//!
//! # Checked by
//! `model::reify` (loom: hosts and OS threads, with a broken variant), `tests/parasite/attach.rs`.

use crate::sched::parasite::task::Form;
use crate::sched::wait;
use crate::sched::{self, Wait, Waiter, coop, unwind_cancelled};
use crate::sync_shim::{Mutex, MutexGuard, left_out};
#[cfg(not(loom))]
use crate::thread::JoinHandle;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

/// Suspends the calling thread and passes it to `f` as a value: a [`Parasite<V>`], which another thread
/// prepares with a `V` and attaches, later or at once. Use `.await` in async code, [`sync`](Reify::sync) in
/// stackful code; the result is that `V`.
///
/// `f` runs before the suspension is complete, on the caller's stack, and should store the parasite where
/// other threads find it. Works for parasites of both kinds, and for hosts, OS threads and foreign tasks,
/// which are woken instead of attached.
///
/// # Examples
/// ```
/// use std::sync::Mutex;
/// use lamprey::parasite::{Parasite, reify};
///
/// static WAITING: Mutex<Option<Parasite<u32>>> = Mutex::new(None);
/// # lamprey::run(|| {
/// let p = lamprey::parasite(async { reify(|p| *WAITING.lock().unwrap() = Some(p)).await + 1 });
/// let reified = WAITING.lock().unwrap().take().unwrap();
/// reified.prepare(41).attach(); // runs it here, now
/// assert!(p.is_finished());
/// assert_eq!(p.join().unwrap(), 42);
/// # });
/// ```
///
/// # Cancellation
/// If the [`Parasite`] is dropped, the suspended thread is cancelled: it unwinds, and joining it returns
/// [`Cancelled`](crate::JoinError::Cancelled). If the suspended thread stops waiting first, preparing it does
/// nothing.
#[doc(alias = "callcc")]
#[doc(alias = "poll_fn")]
#[doc(alias = "suspendCoroutine")]
pub fn reify<V, F: FnOnce(Parasite<V>)>(f: F) -> Reify<V, F> {
    Reify { cell: None, f: Some(f) }
}

/// A suspended thread that waits for a `V`: the paper's `'a par`. One-shot: [`prepare`](Self::prepare)
/// consumes it.
///
/// # Dropping
/// Cancels the suspended thread: it unwinds from [`reify`].
#[doc(alias = "Continuation")]
#[must_use = "dropping a reified parasite cancels it"]
pub struct Parasite<V>(Arc<Cell<V>>);

/// A suspended thread that has its value: the paper's `ready_par`.
///
/// # Dropping
/// Wakes the thread: its scheduler runs it.
#[must_use = "a prepared parasite runs when it is attached or spawned; dropping it leaves that to its scheduler"]
pub struct ReadyParasite(Option<Arc<dyn Prepared>>);

/// The suspension that [`reify`] returns.
#[must_use = "await it, or call `sync`"]
pub struct Reify<V, F> {
    cell: Option<Arc<Cell<V>>>,
    f: Option<F>,
}

/// The state that the suspended thread and the [`Parasite`] share.
struct Cell<V>(Mutex<ReifyState<V>>);

enum ReifyState<V> {
    Waiting(Option<Waiter>),
    Prepared(V, Option<Waiter>),
    Dropped,
    Gone,
}

trait Prepared: Send + Sync {
    fn run(&self, form: Form);
}

impl<V> Cell<V> {
    fn lock(&self) -> MutexGuard<'_, ReifyState<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a waiter and returns the previous one; `Err` if there is nothing to wait for. (The caller
    /// makes the waiter before it locks: cloning a foreign waker runs user code.)
    fn queue(&self, waiter: Waiter) -> Result<Option<Waiter>, Waiter> {
        match &mut *self.lock() {
            ReifyState::Waiting(place) => Ok(place.replace(waiter)),
            _ => Err(waiter),
        }
    }

    /// The suspended thread stops waiting. The caller drops the returned state when no wake is pending.
    fn leave(&self) -> ReifyState<V> {
        std::mem::replace(&mut *self.lock(), ReifyState::Gone)
    }

    /// The value of a suspended thread that has been woken.
    fn receive(&self) -> V {
        match self.leave() {
            ReifyState::Prepared(value, old) => {
                forget(old);
                value
            }
            ReifyState::Dropped => unwind_cancelled(),
            ReifyState::Gone => panic!("a reified parasite was polled after it had its value"),
            ReifyState::Waiting(_) => crate::bug::bug!("a reified thread was woken before it was prepared"),
        }
    }
}

impl<V> ReifyState<V> {
    /// On the state that `leave` returned: true if it still has the waiter. Otherwise an attach, or the drop
    /// of the [`Parasite`], has taken the waiter and is about to wake it.
    fn has_waiter(&self) -> bool {
        if left_out!(ReifyLeave) {
            return true;
        }
        matches!(self, Self::Waiting(Some(_)) | Self::Prepared(_, Some(_)))
    }

    /// Drops the value and the waker. Runs user code: their destructors.
    fn give_up(self) {
        if let Self::Waiting(waiter) | Self::Prepared(_, waiter) = self {
            forget(waiter);
        }
    }
}

/// Drops a kept waiter.
fn forget(waiter: Option<Waiter>) {
    if let Some(waiter) = waiter {
        // SAFETY: it was taken out of the cell, so it is used once.
        unsafe { waiter.forget() }
    }
}

impl<V: Send> Prepared for Cell<V> {
    fn run(&self, form: Form) {
        let waiter = match &mut *self.lock() {
            ReifyState::Prepared(_, waiter) => waiter.take(),
            _ => None,
        };
        if let Some(waiter) = waiter {
            // SAFETY: the word was taken out of the cell, with its reference.
            unsafe { waiter.run_kept(form) }
        }
    }
}

impl<V: Send + 'static> Parasite<V> {
    /// Gives the suspended thread its value (the paper's `prepare`), without running it.
    pub fn prepare(self, value: V) -> ReadyParasite {
        let mut state = self.0.lock();
        let unwanted = if let ReifyState::Waiting(waiter) = &mut *state {
            let waiter = waiter.take();
            *state = ReifyState::Prepared(value, waiter);
            None
        } else {
            Some(value)
        };
        drop(state);
        // Outside of the lock, and before the result is built: rustc leaks a return value if a destructor
        // panics after it was built.
        drop(unwanted);
        ReadyParasite(Some(self.0.clone()))
    }
}

impl<V> Drop for Parasite<V> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        // After `prepare` the state is Prepared or Gone.
        if let ReifyState::Waiting(waiter) = &mut *state {
            let waiter = waiter.take();
            *state = ReifyState::Dropped;
            drop(state);
            if let Some(waiter) = waiter {
                // SAFETY: the word was taken out of the cell, with its reference.
                unsafe { waiter.run_kept(Form::Soon) }
            }
        }
    }
}

impl ReadyParasite {
    /// Runs the parasite **here, now**, on the caller's stack; returns when it ends or blocks again (the
    /// paper's `attach`).
    ///
    /// The thread is woken instead, and runs soon, if it cannot run here: a parasite of another worker that
    /// may not migrate, a host, an OS thread, a foreign task, a parasite that is already running, or one for
    /// which there is not enough stack left here (so a million nested attaches do not overflow).
    pub fn attach(mut self) {
        if let Some(cell) = self.0.take() {
            cell.run(Form::Now);
        }
    }

    /// Asynchronous inflation: a new host attaches the parasite (Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
    /// *Lightweight Asynchrony Using Parasitic Threads*, 2011, 2.3.1). Another
    /// worker may take it.
    ///
    /// # Panics
    /// Outside of a host: use [`attach`](Self::attach) there. The parasite is woken all the same.
    #[cfg(not(loom))]
    #[track_caller]
    pub fn spawn(self) -> JoinHandle<()> {
        if !crate::sched::on_worker() {
            drop(self);
            crate::thread::outside("ReadyParasite::spawn", "use ReadyParasite::attach");
        }
        // If the host never runs, the drop of its closure wakes the parasite.
        crate::thread::spawn(move || self.attach())
    }
}

impl Drop for ReadyParasite {
    fn drop(&mut self) {
        if let Some(cell) = self.0.take() {
            cell.run(Form::Soon);
        }
    }
}

impl<V, F: FnOnce(Parasite<V>)> Reify<V, F> {
    /// The cell; the first call creates it and calls `f`.
    fn cell(&mut self) -> Arc<Cell<V>> {
        if let Some(f) = self.f.take() {
            let cell = Arc::new(Cell(Mutex::new(ReifyState::Waiting(None))));
            self.cell = Some(cell.clone());
            f(Parasite(cell));
        }
        self.cell.clone().unwrap_or_else(|| panic!("reify was used again after its function had panicked"))
    }

    /// Suspends the calling thread and returns the value that it is prepared with.
    ///
    /// # Cancellation
    /// As [`reify`]; a cancelled thread unwinds from here.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. A host that is unwinding must not wait:
    /// it panics, as in [`wait`](crate::wait).
    pub fn sync(mut self) -> V {
        coop::turn();
        let cell = self.cell();
        if sched::must_not_block() {
            return super::wait(self);
        }
        let (mut polled, mut left) = (None, None);
        let enter = |me| cell.queue(me).map(|old| polled = old).is_ok();
        let leave = |_| left.insert(cell.leave()).has_waiter();
        let waited = wait::wait(Wait::Reify, None, enter, leave);
        // After the wait, because the destructors of the value, and of the waker of an earlier poll, may
        // block.
        forget(polled);
        left.into_iter().for_each(ReifyState::give_up);
        waited.unwind_if_cancelled();
        cell.receive()
    }
}

impl<V, F> Unpin for Reify<V, F> {}

impl<V, F: FnOnce(Parasite<V>)> Future for Reify<V, F> {
    type Output = V;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<V> {
        let is_first = self.f.is_some();
        let cell = self.cell();
        match cell.queue(Waiter::of(cx, Wait::Reify.into()).keep()) {
            Ok(old) => {
                forget(old);
                Poll::Pending
            }
            Err(waiter) => {
                forget(Some(waiter));
                // One that has waited runs at once, within the call that attaches it.
                if is_first && sched::gives_way(cx) { Poll::Pending } else { Poll::Ready(cell.receive()) }
            }
        }
    }
}

impl<V, F> Drop for Reify<V, F> {
    fn drop(&mut self) {
        if let Some(cell) = self.cell.take() {
            cell.leave().give_up();
        }
    }
}

impl<V> fmt::Debug for Parasite<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parasite")
    }
}

impl fmt::Debug for ReadyParasite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadyParasite")
    }
}

impl<V, F> fmt::Debug for Reify<V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reify")
    }
}

//! Parasites as children of a scope.
//!
//! Their futures and closures hold a [`Share`], so the scope waits for those. Their outcomes are with the
//! handle, which does not outlive the scope; or, if that was dropped before the outcome was there, with the
//! scope. They are never detached: a detached parasite drops its outcome by itself, perhaps after the scope.

use super::Scope;
use super::state::{Outcome, Reached, ScopeState, Share};
use crate::cancel::level::LevelCancelled;
use crate::events::{FutureEvt, future_evt};
use crate::parasite::{ParasiteHandle, start_borrowing, start_fn_borrowing};
use crate::sched;
use crate::sched::parasite::task::Task;
use crate::thread::{JoinError, Panic, ThreadInfo, quietly};
use crate::time::TimedOut;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Owns the outcome of a parasite of a [scope](crate::scope()).
///
/// # Dropping
/// Leaves the parasite to the scope: it runs on, and the scope waits for it and drops its result. (Dropping
/// a [`ParasiteHandle`] cancels: there is no scope that waits.)
pub struct ScopedParasite<'scope, T: Send> {
    /// There until the drop. `None` from a parasite that was cancelled, or whose panic is the scope's.
    handle: ManuallyDrop<ParasiteHandle<Option<T>>>,
    scope_state: &'scope ScopeState,
    _scope: PhantomData<&'scope mut &'scope ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a stackless parasite that the scope waits for; as [`parasite`](crate::parasite()), but it may
    /// borrow.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let text = String::from("borrowed");
    /// let length = lamprey::scope(|s| s.parasite(async { text.len() }).join().unwrap());
    /// assert_eq!(length, 8);
    /// # });
    /// ```
    ///
    /// # Panics
    /// Outside of a host.
    ///
    /// # Blocking
    /// Never, unless the future itself calls blocking code.
    #[track_caller]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn parasite<F>(&'scope self, future: F) -> ScopedParasite<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        if self.is_moot {
            return self.refuse(future);
        }
        let (future, reached, share) = (ManuallyDrop::new(future), Reached::new(), self.scope_state.share());
        let child = Child { future, is_over: false, reached, share };
        // SAFETY: the scope waits for the share; the outcome is with a handle that does not outlive the
        // scope, or with the scope, and is never dropped by the parasite.
        let handle = unsafe { start_borrowing(child) };
        ScopedParasite {
            handle: ManuallyDrop::new(handle),
            scope_state: &self.scope_state,
            _scope: PhantomData,
        }
    }

    /// Starts a stackful parasite that the scope waits for; as [`parasite_fn`](crate::parasite_fn), but it
    /// may borrow.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let text = String::from("borrowed");
    /// let length = lamprey::scope(|s| s.parasite_fn(|| text.len()).join().unwrap());
    /// assert_eq!(length, 8);
    /// # });
    /// ```
    ///
    /// # Panics
    /// Outside of a host.
    ///
    /// # Blocking
    /// Never: if the closure blocks, the caller goes on.
    #[track_caller]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn parasite_fn<F, T>(&'scope self, f: F) -> ScopedParasite<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if self.is_moot {
            return self.refuse(f);
        }
        let child = StackfulChild { f, share: self.scope_state.share() };
        // SAFETY: as in `parasite`.
        let handle = unsafe { start_fn_borrowing(move || child.run()) };
        ScopedParasite {
            handle: ManuallyDrop::new(handle),
            scope_state: &self.scope_state,
            _scope: PhantomData,
        }
    }

    /// The scope must not wait, so nothing is started, not even queued.
    #[cold]
    fn refuse<T: Send>(&'scope self, body: impl Send + 'scope) -> ScopedParasite<'scope, T> {
        quietly(|| drop(body));
        let handle = ManuallyDrop::new(ParasiteHandle::failed(JoinError::cancelled()));
        ScopedParasite { handle, scope_state: &self.scope_state, _scope: PhantomData }
    }
}

/// A panic becomes the scope's, or goes on.
#[cold]
fn failed(scope_state: &ScopeState, payload: Box<dyn Any + Send>) {
    if payload.is::<crate::sched::block::CancelUnwind>() {
        resume_unwind(payload);
    }
    if let Some(panic) = scope_state.failed(Panic::caught(payload)) {
        panic.resume();
    }
}

/// What runs as a stackful child. In this order: the closure and what it captured end before the share, also
/// if it never runs.
struct StackfulChild<F> {
    f: F,
    share: Share,
}

impl<T, F: FnOnce() -> T> StackfulChild<F> {
    fn run(self) -> Option<T> {
        // Dropped in the reverse order.
        let Self { share, f } = self;
        match share.scope_state().parasites.catch(f) {
            Ok(Ok(value)) => Some(value),
            Ok(Err(LevelCancelled)) => None,
            Err(payload) => {
                failed(share.scope_state(), payload);
                None
            }
        }
    }
}

/// What runs as a stackless child. In this order: the future and what it captured end before the share. That
/// is over when the value is handed on: what could still unwind then would drop the value after the share.
struct Child<F> {
    future: ManuallyDrop<F>,
    /// The future has been dropped.
    is_over: bool,
    reached: Reached,
    share: Share,
}

impl<F: Future> Future for Child<F> {
    type Output = Option<F::Output>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` and `reached` are only used in place, and dropped there.
        let this = unsafe { self.get_unchecked_mut() };
        let mut value = None;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: as above.
            if let Poll::Ready(ready) = unsafe { Pin::new_unchecked(&mut *this.future) }.poll(cx) {
                value = Some(ready);
                this.end_future();
            }
        }));
        match (polled, value) {
            (Ok(()), None) => this.pending(cx),
            (Ok(()), value) => Poll::Ready(value),
            (Err(payload), value) => {
                quietly(|| drop(value));
                failed(this.share.scope_state(), payload);
                Poll::Ready(None)
            }
        }
    }
}

impl<F> Child<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end_future(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            // SAFETY: once, in its place, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.future) }
        }
    }
}

impl<F: Future> Child<F> {
    /// It has been pending: from now on it can be cancelled. If the scope has been, it is not polled again.
    fn pending(&mut self, cx: &Context<'_>) -> Poll<Option<F::Output>> {
        let Some(task) = Task::of(cx) else { return Poll::Pending };
        // SAFETY: pinned, and left in `drop`, before the future is gone.
        if unsafe { self.reached.enter(self.share.scope_state(), task) } {
            Poll::Pending
        } else {
            Poll::Ready(None)
        }
    }
}

impl<F> Drop for Child<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.reached.has_entered() {
            self.reached.leave(self.share.scope_state());
        }
        self.end_future();
    }
}

impl<T: Send> ScopedParasite<'_, T> {
    /// Waits until the parasite has ended and returns its result.
    ///
    /// # Errors
    /// See [`JoinError`]. Where the scope [propagates](crate::Panics::Propagate) panics, they go there, and
    /// [`JoinError::Cancelled`] comes here.
    ///
    /// # Cancellation
    /// If the caller is cancelled while it waits, the parasite is left to the scope.
    ///
    /// # Blocking
    /// As [`ParasiteHandle::join`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn join(mut self) -> Result<T, JoinError> {
        if !self.handle.is_done() {
            if sched::must_not_block() {
                return Err(self.handle.unwinding());
            }
            // By reference: if the wait is cut short, the handle is there to be adopted.
            let info = self.handle.info();
            return flat(crate::parasite::wait(&mut *self.handle), info);
        }
        let mut this = ManuallyDrop::new(self);
        let info = this.handle.info();
        // SAFETY: never used again.
        flat(unsafe { ManuallyDrop::take(&mut this.handle) }.join(), info)
    }

    /// As [`ParasiteHandle::join_timeout`].
    ///
    /// # Errors
    /// [`TimedOut`] if the parasite has not ended by then. Within the `Ok`, as [`join`](Self::join).
    ///
    /// # Panics
    /// If the result has been given before.
    ///
    /// # Cancellation
    /// If the calling thread is cancelled while it waits, the handle is left as it was.
    ///
    /// # Blocking
    /// As [`join`](Self::join).
    pub fn join_timeout(&mut self, timeout: Duration) -> Result<Result<T, JoinError>, TimedOut> {
        let info = self.handle.info();
        self.handle.join_timeout(timeout).map(|outcome| flat(outcome, info))
    }

    /// As [`ParasiteHandle::join_evt`].
    pub fn join_evt(&mut self) -> FutureEvt<&mut Self> {
        future_evt(self)
    }

    /// As [`ParasiteHandle::cancel`]: this child only.
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// [Cancels](Self::cancel) the parasite and waits until it has ended.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let ended = lamprey::scope(|s| s.parasite(std::future::pending::<()>()).cancel_and_join());
    /// assert!(matches!(ended, Err(lamprey::JoinError::Cancelled(_))));
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`join`](Self::join); [`JoinError::Cancelled`] is the usual one.
    ///
    /// # Cancellation
    /// As [`join`](Self::join).
    ///
    /// # Blocking
    /// As [`join`](Self::join).
    pub fn cancel_and_join(self) -> Result<T, JoinError> {
        self.cancel();
        self.join()
    }

    /// As [`ParasiteHandle::id`].
    pub fn id(&self) -> Option<u64> {
        self.handle.id()
    }

    /// True once the parasite has ended.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

/// Where there is no value, the child, which is `info`, was cancelled.
#[cfg_attr(not(debug_assertions), inline(always))]
fn flat<T>(outcome: Result<Option<T>, JoinError>, info: Option<ThreadInfo>) -> Result<T, JoinError> {
    outcome?.ok_or_else(|| JoinError::cancelled().of_maybe(info))
}

/// The awaitable form of [`join`](ScopedParasite::join).
impl<T: Send> Future for ScopedParasite<'_, T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let info = self.handle.info();
        Poll::Ready(flat(ready!(Pin::new(&mut *self.handle).poll(cx)), info))
    }
}

impl<T: Send> Drop for ScopedParasite<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        // SAFETY: used no more where it is here.
        if let Some(value) = unsafe { self.handle.take_value() } {
            drop(value);
        } else {
            self.leave();
        }
    }
}

impl<T: Send> ScopedParasite<'_, T> {
    /// The handle goes of one that was not over at once, or gave no result, or gave it to who awaited it.
    /// Nothing else is done with it after this.
    #[inline(never)]
    fn leave(&mut self) {
        // SAFETY: called by the drop.
        let handle = unsafe { ManuallyDrop::take(&mut self.handle) };
        if handle.is_done() {
            drop(handle);
        } else {
            // SAFETY: what it borrows lives for 'scope.
            unsafe { self.scope_state.adopt(Box::new(handle)) };
        }
    }
}

impl<T: Send> Outcome for ParasiteHandle<T> {
    fn is_there(&self) -> bool {
        self.is_done()
    }

    fn finish(self: Box<Self>) {
        // A panic that was left to it has been printed by the hook; here it is as that of a host that nobody
        // joins.
        let outcome = crate::cancel::shield(|| self.join());
        crate::thread::report_unjoined(outcome, || "a parasite of a scope".to_owned());
    }
}

impl<T: Send> fmt::Debug for ScopedParasite<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedParasite").field("finished", &self.handle.is_done()).finish_non_exhaustive()
    }
}

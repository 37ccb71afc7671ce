//! Parasites as children of a scope.
//!
//! Their futures and closures hold a [`Share`], so the scope waits for those. The handle, which does not
//! outlive the scope, owns the outcome; if the handle is dropped before the parasite has ended, the scope
//! adopts it. These parasites are never detached: a detached parasite drops its outcome itself, possibly
//! after the scope has ended.

use super::Scope;
use super::state::{Outcome, Reached, ScopeState, Share};
use crate::cancel::level::LevelCancelled;
use crate::events::{FutureEvt, future_evt};
use crate::parasite::{ParasiteHandle, start_borrowing, start_fn_borrowing, start_in};
use crate::sched;
use crate::sched::drops::drop_quietly;
use crate::sched::parasite::task::Task;
use crate::thread::{Closure, Handle, JoinError, Panic, ThreadInfo};
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
/// The parasite runs on; the scope waits for it and drops its result. (Dropping a [`ParasiteHandle`] cancels
/// instead, because no scope waits for it.)
pub struct ScopedParasite<'scope, T: Send> {
    /// Full until `drop`. The outcome is `None` if the parasite was cancelled, or if the scope has its panic.
    handle: ManuallyDrop<ParasiteHandle<Option<T>>>,
    scope_state: &'scope ScopeState,
    _scope: PhantomData<&'scope mut &'scope ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a stackless parasite that the scope waits for. Like [`parasite`](crate::parasite()), but the
    /// future may borrow.
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
    /// Outside of a host: use [`parasite_in`](Self::parasite_in) there.
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
        // SAFETY: the scope waits for the share. The outcome is owned by a handle that does not outlive the
        // scope, or by the scope, and is never dropped by the parasite.
        let handle = unsafe { start_borrowing(self.child(future)) };
        self.with(handle)
    }

    /// Like [`parasite`](Self::parasite), in the given runtime, as [`Handle::parasite`]: for a scope on an OS thread.
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().workers(1).build()?;
    /// let text = String::from("borrowed");
    /// let length = lamprey::scope(|s| s.parasite_in(&runtime.handle(), async { text.len() }).join().unwrap());
    /// assert_eq!(length, 8);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Cancellation
    /// As [`Handle::parasite`].
    ///
    /// # Blocking
    /// As [`Handle::parasite`].
    #[track_caller]
    pub fn parasite_in<F>(&'scope self, runtime: &Handle, future: F) -> ScopedParasite<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        if self.is_moot {
            return self.refuse(future);
        }
        // SAFETY: as in `parasite`.
        let handle = unsafe { start_in(runtime.shared(), self.child(future)) };
        self.with(handle)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn child<F>(&'scope self, future: F) -> Child<F> {
        let (future, reached, share) = (ManuallyDrop::new(future), Reached::new(), self.scope_state.share());
        Child { future, is_over: false, reached, share }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with<T: Send>(&'scope self, handle: ParasiteHandle<Option<T>>) -> ScopedParasite<'scope, T> {
        ScopedParasite {
            handle: ManuallyDrop::new(handle),
            scope_state: &self.scope_state,
            _scope: PhantomData,
        }
    }

    /// Starts a stackful parasite that the scope waits for. Like [`parasite_fn`](crate::parasite_fn), but the
    /// closure may borrow.
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
    /// Outside of a host: use [`spawn_in`](Self::spawn_in) there.
    ///
    /// # Cancellation
    /// The call itself cannot be cancelled.
    ///
    /// # Blocking
    /// Until the closure ends or blocks: then the caller goes on.
    #[track_caller]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn parasite_fn<F, T>(&'scope self, f: F) -> ScopedParasite<'scope, T>
    where
        F: Closure<T> + Send + 'scope,
        T: Send + 'scope,
    {
        if self.is_moot {
            return self.refuse(f);
        }
        let child = StackfulChild { f, share: self.scope_state.share() };
        // SAFETY: the scope waits for the share, and the outcome is owned by the handle or by the scope,
        // never by the parasite.
        self.with(unsafe { start_fn_borrowing(move || child.run()) })
    }

    /// Drops the body of a child that is not started, because the scope must not wait for it.
    #[cold]
    fn refuse<T: Send>(&'scope self, body: impl Send + 'scope) -> ScopedParasite<'scope, T> {
        drop_quietly(body);
        let handle = ManuallyDrop::new(ParasiteHandle::failed(JoinError::cancelled()));
        ScopedParasite { handle, scope_state: &self.scope_state, _scope: PhantomData }
    }
}

/// Passes a child's panic to the scope; resumes the unwind of a cancellation or of a panic that the scope
/// does not take.
#[cold]
fn failed(scope_state: &ScopeState, payload: Box<dyn Any + Send>) {
    if payload.is::<crate::sched::block::CancelUnwind>() {
        resume_unwind(payload);
    }
    if let Some(panic) = scope_state.failed(Panic::caught(payload)) {
        panic.resume();
    }
}

/// The closure of a stackful child. Field order: the closure and its captures are dropped before the share,
/// also if it never runs.
struct StackfulChild<F> {
    f: F,
    share: Share,
}

impl<T, F: FnOnce() -> T> StackfulChild<F> {
    fn run(self) -> Option<T> {
        // Locals are dropped in reverse order: the share last.
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

/// The future of a stackless child. Field order: the future and its captures are dropped before the share.
/// The future is dropped before the value is returned: if its destructor unwound later, the value would be
/// dropped after the share.
struct Child<F> {
    future: ManuallyDrop<F>,
    /// True once the future has been dropped.
    is_over: bool,
    reached: Reached,
    share: Share,
}

impl<F: Future> Future for Child<F> {
    type Output = Option<F::Output>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` and `reached` are never moved, and are dropped in place.
        let this = unsafe { self.get_unchecked_mut() };
        let mut value = None;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: `future` is pinned: it is never moved, and is dropped in place.
            if let Poll::Ready(ready) = unsafe { Pin::new_unchecked(&mut *this.future) }.poll(cx) {
                value = Some(ready);
                this.end_future();
            }
        }));
        match (polled, value) {
            (Ok(()), None) => this.pending(cx),
            (Ok(()), value) => Poll::Ready(value),
            (Err(payload), value) => {
                drop_quietly(value);
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
            // SAFETY: dropped once, in place, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.future) }
        }
    }
}

impl<F: Future> Child<F> {
    /// The future is pending: lists it, so that the scope can cancel it. If the scope has been cancelled, the
    /// child is over and is not polled again.
    fn pending(&mut self, cx: &Context<'_>) -> Poll<Option<F::Output>> {
        let Some(task) = Task::of(cx) else { return Poll::Pending };
        // SAFETY: pinned, and unlinked in `drop`, before the future is gone.
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
    /// A [`JoinError`]. If the scope [propagates](crate::Panics::Propagate) panics, the scope keeps the
    /// panic, and this call returns [`JoinError::Cancelled`].
    ///
    /// # Cancellation
    /// If the caller is cancelled while it waits, the parasite runs on, and the scope waits for it.
    ///
    /// # Blocking
    /// As [`ParasiteHandle::join`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn join(mut self) -> Result<T, JoinError> {
        if !self.handle.is_done() {
            if sched::must_not_block() {
                return Err(self.handle.unwinding());
            }
            // By reference: if the wait is cancelled, `drop` lets the scope adopt the handle.
            let info = self.handle.info();
            return flat(crate::parasite::wait(&mut *self.handle), info);
        }
        let mut this = ManuallyDrop::new(self);
        let info = this.handle.info();
        // SAFETY: `this` is not dropped, and the handle is not used again.
        flat(unsafe { ManuallyDrop::take(&mut this.handle) }.join(), info)
    }

    /// As [`ParasiteHandle::join_timeout`].
    ///
    /// # Errors
    /// [`TimedOut`] if the parasite has not ended by then. Within the `Ok`, as [`join`](Self::join).
    ///
    /// # Panics
    /// If the result has been taken before.
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

    /// [`join_evt`](Self::join_evt) that owns the handle, so that a function can return it. If another event is chosen, the
    /// handle is dropped.
    pub fn into_join_evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }

    /// As [`ParasiteHandle::cancel`]: cancels this child only.
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
    /// As [`join`](Self::join), usually [`JoinError::Cancelled`].
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

/// Flattens an outcome: without a value, the child, which is `info`, was cancelled.
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
        // SAFETY: if this takes the value, the handle is not used again.
        if let Some(value) = unsafe { self.handle.take_value() } {
            if std::mem::needs_drop::<T>() {
                drop_quietly(value);
            }
        } else {
            self.leave();
        }
    }
}

impl<T: Send> ScopedParasite<'_, T> {
    /// The slow path of `drop`: the handle holds no immediate value. The handle is not used again.
    #[inline(never)]
    fn leave(&mut self) {
        // SAFETY: called once, by `drop`.
        let handle = unsafe { ManuallyDrop::take(&mut self.handle) };
        if handle.is_done() {
            drop(handle);
        } else {
            // SAFETY: what the outcome borrows lives for 'scope.
            unsafe { self.scope_state.adopt(Box::new(handle)) };
        }
    }
}

impl<T: Send> Outcome for ParasiteHandle<T> {
    fn is_there(&self) -> bool {
        self.is_done()
    }

    fn finish(self: Box<Self>) {
        // A panic that the scope has not taken is handled like that of a host that no thread joins.
        let outcome = crate::cancel::shield(|| self.join());
        crate::thread::report_unjoined(outcome, None, || "a parasite of a scope".to_owned());
    }
}

impl<T: Send> fmt::Debug for ScopedParasite<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedParasite").field("finished", &self.handle.is_done()).finish_non_exhaustive()
    }
}

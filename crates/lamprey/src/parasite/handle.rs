//! The handle of a parasite.

use super::join_cell::StackfulJoinCell;
use super::place;
use crate::sched::completion::{Completion, Ended};
use crate::sched::coop;
use crate::sched::info::ThreadInfo;
use crate::sched::parasite::task::Task;
use crate::sched::reason::number_as_address;
use crate::thread::JoinError;
use crate::time::{self, TimedOut};
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The result of a parasite.
pub(super) type Outcome<T> = Result<T, JoinError>;

/// Stands for the name of a parasite that has left only its outcome.
const AT_ONCE: &str = "that was over at once";

/// Owns a parasite and its outcome. [`join`](Self::join) it from threads, `.await` it in async code.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let seven = lamprey::parasite(async { 7 });
/// assert!(seven.is_finished()); // it never blocked, so it was over before `parasite` returned
/// assert_eq!(seven.join().unwrap(), 7);
/// # });
/// ```
///
/// # Dropping
/// Cancels the parasite, and does not wait for its end. A future that waits is dropped at once (if the stack has
/// room for its destructors, and otherwise at a next scheduling point: a chain of parasites, each with the handle of
/// the next, may be of any length), one that is being polled, when its poll ends; a stackful parasite soon unwinds
/// from the call that it blocks in. The result of one that has ended is dropped at once, as a `Box` would be, and
/// its panic reported; a panic of such a destructor is caught. [`detach`](Self::detach) lets it run on.
/// This differs from [`JoinHandle`](crate::JoinHandle), because a parasite is part of its spawner's work.
///
/// A statement that starts a parasite and drops its handle causes a warning:
/// ```compile_fail
/// #![deny(unused_must_use)]
/// lamprey::run(|| {
///     lamprey::parasite(std::future::pending::<()>());
/// });
/// ```
#[doc(alias = "JoinHandle")]
#[doc(alias = "Task")]
#[doc(alias = "AbortHandle")]
#[must_use = "a parasite is cancelled when its handle is dropped; `detach` it to let it run on"]
pub struct ParasiteHandle<T>(Repr<T>);

/// Where the outcome is. Two words where `T` is one: it then travels in registers.
enum Repr<T> {
    /// The value itself: the parasite was over at once.
    Value(T),
    Failed(Box<JoinError>),
    Task(NonNull<Task>),
    Stackful(NonNull<StackfulJoinCell<T>>),
    /// The outcome has been taken, or the parasite detached.
    Gone,
}

// SAFETY: the handle moves the outcome `T` to the joining thread; it touches the parasite only through its
// completion word and its life. `Task::cancel` drops a future that is not `Send` on its home worker.
unsafe impl<T: Send> Send for ParasiteHandle<T> {}
// SAFETY: a shared handle only reads whether the parasite is done, and constant fields; `cancel` may be
// called by any thread.
unsafe impl<T: Send> Sync for ParasiteHandle<T> {}
impl<T> Unpin for ParasiteHandle<T> {}

impl<T> ParasiteHandle<T> {
    /// Whether something happens to a value that nobody takes: its destructor runs, or a debug build may have something to
    /// say of it.
    const HAS_END: bool = std::mem::needs_drop::<T>() || cfg!(debug_assertions);

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn value(value: T) -> Self {
        Self(Repr::Value(value))
    }

    #[cold]
    pub(crate) fn failed(error: JoinError) -> Self {
        Self(Repr::Failed(Box::new(error)))
    }

    /// The handle of a task whose output is `T`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of_task(task: NonNull<Task>) -> Self {
        Self(Repr::Task(task))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of_join_cell(join_cell: NonNull<StackfulJoinCell<T>>) -> Self {
        Self(Repr::Stackful(join_cell))
    }

    /// Moves an immediate value into a join cell, so that its join may give way to other threads.
    #[cold]
    pub(super) fn whose_join_gives_way(self) -> Self {
        if !matches!(self.0, Repr::Value(_)) {
            return self;
        }
        let join_cell = StackfulJoinCell::new(None);
        // SAFETY: the handle holds the outcome, which is taken once; the parasite's share of the join cell is
        // given up here.
        unsafe { StackfulJoinCell::finish(join_cell, ManuallyDrop::new(self).take()) };
        Self::of_join_cell(join_cell)
    }

    /// The completion word; `None` if the handle itself holds the outcome.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn completion(&self) -> Option<&Completion> {
        // Tested in this order, not by a jump table: the first two are the most frequent.
        if let Repr::Value(_) = &self.0 {
            None
        } else if let Repr::Task(task) = &self.0 {
            // SAFETY: the handle shares ownership of the task until it is joined or detached.
            Some(unsafe { &(*task.as_ptr()).completion })
        } else if let Repr::Stackful(join_cell) = &self.0 {
            // SAFETY: the handle shares ownership of the join cell until it is joined or detached.
            Some(unsafe { &join_cell.as_ref().head.completion })
        } else {
            None
        }
    }

    /// The parasite, as what its joiner waits for; null if the handle itself holds the outcome.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn whom(&self) -> *const () {
        match &self.0 {
            Repr::Task(task) => task.as_ptr().cast_const().cast(),
            // SAFETY: the handle shares ownership of the join cell until it is joined or detached.
            Repr::Stackful(join_cell) => number_as_address(unsafe { join_cell.as_ref() }.head.id.get()),
            Repr::Value(_) | Repr::Failed(_) | Repr::Gone => ptr::null(),
        }
    }

    /// Waits until the parasite has ended and returns its result. The worker's ready parasites, which may
    /// include this one, run first, on the caller's stack.
    ///
    /// # Errors
    /// See [`JoinError`]. A panic of the parasite arrives here with its payload.
    ///
    /// # Cancellation
    /// If the calling thread is cancelled while it waits, the parasite is cancelled too.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. In async code `.await` the handle
    /// instead: a stackless parasite that calls `join` holds up the host that polls it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn join(self) -> Result<T, JoinError> {
        let this = ManuallyDrop::new(self);
        // SAFETY: if this takes the value, the handle is not used again.
        if let Some(value) = unsafe { this.take_value() } {
            return Ok(value);
        }
        ManuallyDrop::into_inner(this).join_otherwise()
    }

    /// Like [`join`](Self::join), but waits at most `timeout`. `Ok` takes the result, after which the handle
    /// cannot be joined again.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let mut parasite = lamprey::parasite(async move { rx.recv_async().await.unwrap() * 2 });
    /// assert!(parasite.join_timeout(Duration::from_millis(1)).is_err());
    /// tx.send(21).unwrap();
    /// assert_eq!(parasite.join_timeout(Duration::from_secs(60)).unwrap().unwrap(), 42);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`] if the parasite has not ended by then: it runs on, and can be joined later. Within the
    /// `Ok`, as [`join`](Self::join).
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
        match self.wait_until(time::deadline(timeout)) {
            Ended::Done => Ok(self.take_out()),
            Ended::TimedOut => Err(TimedOut),
            Ended::Cancelled => crate::sched::unwind_cancelled(),
            Ended::Unwinding => Ok(Err(self.unwinding())),
        }
    }

    #[cold]
    pub(crate) fn unwinding(&self) -> JoinError {
        JoinError::unwinding().of_maybe(self.info())
    }

    /// The parasite's info, unless it was over at once or its result has been taken.
    pub(crate) fn info(&self) -> Option<ThreadInfo> {
        match &self.0 {
            // SAFETY: our share keeps it alive.
            Repr::Task(task) => Some(unsafe { Task::info(*task, None) }),
            // SAFETY: our share keeps it alive.
            Repr::Stackful(join_cell) => unsafe { join_cell.as_ref() }.head.of_parasite(),
            Repr::Value(_) | Repr::Failed(_) | Repr::Gone => None,
        }
    }

    pub(crate) fn wait_until(&self, deadline: Option<Instant>) -> Ended {
        let Some(completion) = self.completion() else { return Ended::Done };
        coop::turn_if_due();
        if completion.is_done() { Ended::Done } else { completion.wait_until(self.whom(), deadline) }
    }

    /// The outcome of a parasite that is done.
    ///
    /// # Panics
    /// If it has been taken out before.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_out(&mut self) -> Outcome<T> {
        assert!(self.is_done(), "the outcome of a parasite was asked for before it had ended");
        // SAFETY: it is done, or Gone.
        unsafe { self.take_and_be_gone() }
    }

    /// Moves the outcome out; the handle is Gone after this, also if that unwinds.
    ///
    /// # Panics
    /// If the handle is Gone.
    ///
    /// # Safety
    /// The outcome is in the handle or published, or the handle is Gone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn take_and_be_gone(&mut self) -> Outcome<T> {
        let place = GoneThen(&raw mut self.0);
        // SAFETY: as promised by the caller, and the handle is Gone from here on.
        let outcome = unsafe { self.take() };
        drop(place);
        outcome
    }

    /// The result of a parasite that was over at once. Tested first and separately, so that this fast path
    /// shares no code with the others.
    ///
    /// # Safety
    /// If this returns the value, the handle is neither used again nor dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn take_value(&self) -> Option<T> {
        // SAFETY: moved out once, by contract.
        if let Repr::Value(value) = &self.0 { Some(unsafe { ptr::read(value) }) } else { None }
    }

    /// [`join`](Self::join) if the handle holds no value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn join_otherwise(self) -> Result<T, JoinError> {
        if let Some(completion) = self.completion() {
            coop::turn_if_due();
            if !completion.is_done() && !completion.wait(self.whom()) {
                return Err(self.unwinding());
            }
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: done, and never used again.
        unsafe { this.take() }
    }

    /// Moves the outcome out, part by part: a copy of the whole would stall on the narrower writes of its
    /// parts (store forwarding).
    ///
    /// # Safety
    /// The outcome is in the handle or published; the handle is Gone after this.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn take(&self) -> Outcome<T> {
        // SAFETY: moved out once (contract); a task or join cell that is done is ours, and this is its last
        // use.
        unsafe {
            if let Repr::Value(value) = &self.0 {
                Ok(ptr::read(value))
            } else if let Repr::Task(task) = &self.0 {
                place::take_outcome(*task)
            } else if let Repr::Stackful(join_cell) = &self.0 {
                StackfulJoinCell::take(*join_cell)
            } else if let Repr::Failed(error) = &self.0 {
                Err(*ptr::read(error))
            } else {
                gone()
            }
        }
    }

    /// Lets the parasite run on without a handle. Its result is dropped, and a panic of that destructor is caught; a
    /// panic of the parasite is reported on standard error.
    pub fn detach(mut self) {
        match std::mem::replace(&mut self.0, Repr::Gone) {
            // SAFETY: the handle's share of the task, given up here.
            Repr::Task(task) => unsafe {
                if !task.as_ref().completion.detach() {
                    let info = Task::info(task, None);
                    place::drop_outcome(
                        place::take_outcome::<T>(task),
                        Some(info.id()),
                        info.name().unwrap_or_default(),
                    );
                }
            },
            // SAFETY: the handle's share of the join cell, given up here.
            Repr::Stackful(join_cell) => unsafe { StackfulJoinCell::detach(join_cell) },
            Repr::Value(value) if Self::HAS_END => place::drop_outcome(Ok(value), None, AT_ONCE),
            Repr::Value(_) => {}
            Repr::Failed(error) => place::drop_outcome::<T>(Err(*error), None, AT_ONCE),
            Repr::Gone => {}
        }
    }

    /// Requests cancellation of the parasite, and returns. A stackless parasite that waits on this worker is
    /// dropped by this call, one that waits on another worker soon, and one that is being polled, when its
    /// poll ends; a stackful one unwinds from the call that it blocks in. Destructors run, and
    /// [`join`](Self::join) returns [`JoinError::Cancelled`]. A parasite that finishes first has a result.
    /// One that was queued may never have been polled. Cancelling a parasite again, or after it has ended,
    /// does nothing.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel::<u32>();
    /// let parasite = lamprey::parasite(async move { rx.recv_async().await }); // waits for ever
    /// parasite.cancel();
    /// assert!(matches!(parasite.join(), Err(lamprey::JoinError::Cancelled(_))));
    /// assert!(tx.send(1).is_err(), "its end of the channel has been dropped");
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// Whether the interrupted call has taken effect is stated in the section *Cancellation* of that call.
    ///
    /// # Blocking
    /// Never: it does not wait for the end. If this call drops the future, its destructors run in this call.
    /// May be called from hosts, parasites and OS threads.
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        if self.is_done() {
            return;
        }
        match &self.0 {
            // SAFETY: our share keeps it alive.
            Repr::Task(task) => unsafe { Task::cancel(*task) },
            // SAFETY: our share keeps it alive.
            Repr::Stackful(join_cell) => unsafe { StackfulJoinCell::cancel(*join_cell) },
            Repr::Value(_) | Repr::Failed(_) | Repr::Gone => {}
        }
    }

    /// [Cancels](Self::cancel) the parasite and waits until it has ended.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let waits = lamprey::parasite(std::future::pending::<()>());
    /// assert!(matches!(waits.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
    /// let over = lamprey::parasite(async { 7 });
    /// while !over.is_finished() {
    ///     lamprey::yield_now(); // an idle worker may have been given it
    /// }
    /// assert_eq!(over.cancel_and_join().unwrap(), 7);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`join`](Self::join), usually [`JoinError::Cancelled`]. `Ok` is the result of a parasite that
    /// finished first.
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

    /// The parasite's number, unique in its runtime and never used again. `None` if it was over at once, or its
    /// result has been taken.
    pub fn id(&self) -> Option<u64> {
        self.info().map(|info| info.id())
    }

    /// The parasite's [name](crate::Builder::name), if it has one. `None` also if it was over at once, or its
    /// result has been taken.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            // SAFETY: our share keeps it alive.
            Repr::Task(task) => unsafe { (*task.as_ptr()).given_name().map(|name| &**name) },
            // SAFETY: our share keeps it alive.
            Repr::Stackful(join_cell) => unsafe { (*join_cell.as_ptr()).head.name() },
            Repr::Value(_) | Repr::Failed(_) | Repr::Gone => None,
        }
    }

    /// True once the parasite has ended, so that [`join`](Self::join) does not block.
    pub fn is_finished(&self) -> bool {
        coop::look();
        self.is_done()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.completion().is_none_or(Completion::is_done)
    }
}

#[cold]
fn gone() -> ! {
    panic!("the outcome of a parasite was asked for after it had been handed out")
}

impl<T> Drop for ParasiteHandle<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        match self.0 {
            Repr::Gone => {}
            Repr::Value(_) if !Self::HAS_END => {}
            _ => self.give_up(),
        }
    }
}

impl<T> ParasiteHandle<T> {
    #[cold]
    fn give_up(&mut self) {
        self.cancel();
        Self(std::mem::replace(&mut self.0, Repr::Gone)).detach();
    }
}

/// Sets the handle to Gone when it is dropped, also if taking the outcome unwinds.
struct GoneThen<T>(*mut Repr<T>);

impl<T> Drop for GoneThen<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        // SAFETY: the handle that made this outlives it; the outcome there has been moved out, or it was Gone.
        unsafe { ptr::write(self.0, Repr::Gone) };
    }
}

impl<T> Future for ParasiteHandle<T> {
    type Output = Result<T, JoinError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.completion() {
            Some(completion) if !completion.poll(cx) => Poll::Pending,
            // SAFETY: the handle holds the outcome, or it has been published, or the handle is Gone.
            _ => Poll::Ready(unsafe { self.take_and_be_gone() }),
        }
    }
}

impl<T> fmt::Debug for ParasiteHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParasiteHandle")
            .field("id", &self.id())
            .field("name", &self.name())
            .field("finished", &self.is_done())
            .finish_non_exhaustive()
    }
}

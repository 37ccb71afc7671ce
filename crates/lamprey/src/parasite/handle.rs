//! The handle of a parasite.

use super::join_cell::StackfulJoinCell;
use super::place;
use crate::sched::completion::{Completion, Ended};
use crate::sched::coop;
use crate::sched::info::ThreadInfo;
use crate::sched::parasite::task::Task;
use crate::thread::JoinError;
use crate::time::{self, TimedOut};
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// What a parasite leaves behind.
pub(super) type Outcome<T> = Result<T, JoinError>;

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
/// Cancels the parasite, and does not wait for its end: a future that waits is dropped at once (of more than
/// a thousand at once the rest at the next scheduling points), one that is being polled when its poll ends; a
/// stackful parasite unwinds from the call that it blocks in, soon. [`detach`](Self::detach) lets it run on.
/// This differs from [`JoinHandle`](crate::JoinHandle), because a parasite is a part of what its spawner
/// does.
///
/// A statement that starts a parasite and drops its handle is a warning:
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
    /// Here: the parasite was over at once.
    Value(T),
    Failed(Box<JoinError>),
    Task(NonNull<Task>),
    Stackful(NonNull<StackfulJoinCell<T>>),
    /// It has been handed out, or the parasite detached.
    Gone,
}

// SAFETY: the handle moves the outcome `T` to whoever joins; the parasite is touched only through its
// completion word and its life. That the future of a parasite that is not `Send` is dropped at home is the
// business of `Task::cancel`.
unsafe impl<T: Send> Send for ParasiteHandle<T> {}
// SAFETY: a shared handle only looks whether the parasite is done.
unsafe impl<T: Send> Sync for ParasiteHandle<T> {}
impl<T> Unpin for ParasiteHandle<T> {}

impl<T> ParasiteHandle<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn value(value: T) -> Self {
        Self(Repr::Value(value))
    }

    #[cold]
    pub(crate) fn failed(error: JoinError) -> Self {
        Self(Repr::Failed(Box::new(error)))
    }

    /// Of a task that was made with this `T`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of_task(task: NonNull<Task>) -> Self {
        Self(Repr::Task(task))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of_join_cell(join_cell: NonNull<StackfulJoinCell<T>>) -> Self {
        Self(Repr::Stackful(join_cell))
    }

    /// The same; if the outcome is here, its join goes the way of those that have blocked.
    #[cold]
    pub(super) fn whose_join_gives_way(self) -> Self {
        if !matches!(self.0, Repr::Value(_)) {
            return self;
        }
        let join_cell = StackfulJoinCell::new(None, None, None);
        // SAFETY: the outcome is here, and taken once; of the join cell, the parasite's share is given up
        // here.
        unsafe { StackfulJoinCell::publish(join_cell, ManuallyDrop::new(self).take()) };
        Self::of_join_cell(join_cell)
    }

    /// The completion word, unless the outcome is here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn completion(&self) -> Option<&Completion> {
        // In this order, and not by a table of jumps: the first two are the usual ones.
        if let Repr::Value(_) = &self.0 {
            None
        } else if let Repr::Task(task) = &self.0 {
            // SAFETY: the object is freed only by the side that has it last: us, until joined or detached.
            Some(unsafe { &(*task.as_ptr()).completion })
        } else if let Repr::Stackful(join_cell) = &self.0 {
            // SAFETY: as above.
            Some(unsafe { &join_cell.as_ref().head.completion })
        } else {
            None
        }
    }

    /// Waits until the parasite has ended and returns its result. The caller's woken parasites, this one
    /// perhaps among them, run first, on its stack.
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
        // SAFETY: not used again where it is here.
        if let Some(value) = unsafe { this.take_value() } {
            return Ok(value);
        }
        ManuallyDrop::into_inner(this).join_otherwise()
    }

    /// As [`join`](Self::join), waiting at most `timeout`. The handle is used up by `Ok` only.
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
    /// If the result has been given before.
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

    /// Who the parasite is, unless it was over at once or its result has been given.
    pub(crate) fn info(&self) -> Option<ThreadInfo> {
        match &self.0 {
            // SAFETY: alive by our share of it.
            Repr::Task(task) => Some(unsafe { Task::info(*task, None) }),
            // SAFETY: alive by our share of it.
            Repr::Stackful(join_cell) => unsafe { join_cell.as_ref() }.head.of_parasite(),
            Repr::Value(_) | Repr::Failed(_) | Repr::Gone => None,
        }
    }

    pub(crate) fn wait_until(&self, deadline: Option<Instant>) -> Ended {
        let Some(completion) = self.completion() else { return Ended::Done };
        coop::turn_if_due();
        if completion.is_done() { Ended::Done } else { completion.wait_until(deadline) }
    }

    /// The outcome of one that is done.
    ///
    /// # Panics
    /// If it has been taken out before.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_out(&mut self) -> Outcome<T> {
        assert!(self.is_done(), "the outcome of a parasite was asked for before it had ended");
        let place = GoneThen(&raw mut self.0);
        // SAFETY: here or published, and Gone from here on.
        let outcome = unsafe { self.take() };
        drop(place);
        outcome
    }

    /// The result of one that was over at once: it is looked for first, and alone, so that it takes no way
    /// together with the others'.
    ///
    /// # Safety
    /// Where it is here, the handle is not used again, nor dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn take_value(&self) -> Option<T> {
        // SAFETY: moved out once, by contract.
        if let Repr::Value(value) = &self.0 { Some(unsafe { ptr::read(value) }) } else { None }
    }

    /// [`join`](Self::join) where the result is not here yet, or there is none.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn join_otherwise(self) -> Result<T, JoinError> {
        if let Some(completion) = self.completion() {
            coop::turn_if_due();
            if !completion.is_done() && !completion.wait() {
                return Err(self.unwinding());
            }
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: done, and never used again.
        unsafe { this.take() }
    }

    /// Moves the outcome out, part by part: a copy as a whole would have to wait for the writes of its parts.
    ///
    /// # Safety
    /// It is here, or published; the handle is Gone after this.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn take(&self) -> Outcome<T> {
        // SAFETY: moved out once, by contract; where it is done, the object is ours, and this is its last
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

    /// Lets the parasite run on without a handle. Its result is dropped; a panic is reported on standard
    /// error.
    pub fn detach(mut self) {
        match std::mem::replace(&mut self.0, Repr::Gone) {
            // SAFETY: the handle's half of the object, given up here.
            Repr::Task(task) => unsafe {
                if !task.as_ref().completion.detach() {
                    let info = Task::info(task, None);
                    place::drop_outcome(place::take_outcome::<T>(task), info.name().unwrap_or_default());
                }
            },
            // SAFETY: as above.
            Repr::Stackful(join_cell) => unsafe { StackfulJoinCell::detach(join_cell) },
            Repr::Value(value) => drop(value),
            Repr::Failed(error) => place::drop_outcome::<T>(Err(*error), "that was over at once"),
            Repr::Gone => {}
        }
    }

    /// Asks the parasite to end, and returns. A stackless one that waits on this worker is dropped by this
    /// call, one that waits elsewhere soon, and one that is being polled when its poll ends; a stackful one
    /// unwinds from the call that it blocks in. Their destructors run, and [`join`](Self::join) gives
    /// [`JoinError::Cancelled`]; a parasite that ends first has a result after all. One that was queued for
    /// another worker to take may never have been polled. Asking again, or asking a parasite that has ended,
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
    /// Whatever call it was in has happened or has not: see the section *Cancellation* of that call.
    ///
    /// # Blocking
    /// Never: it does not wait for the end. The destructors of a future that is dropped by this call run in
    /// it. From hosts, parasites and OS threads.
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        if self.is_done() {
            return;
        }
        match &self.0 {
            // SAFETY: alive by our share of it.
            Repr::Task(task) => unsafe { Task::cancel(*task) },
            // SAFETY: alive by our share of it.
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
    /// assert_eq!(lamprey::parasite(async { 7 }).cancel_and_join().unwrap(), 7); // it was over
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`join`](Self::join); [`JoinError::Cancelled`] is the usual one. `Ok` is the result of a parasite
    /// that ended first.
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

    /// The parasite's number, unique in its runtime: of a stackless one its address, unique among those that
    /// live. `None` if it was over at once, or its result has been given.
    pub fn id(&self) -> Option<u64> {
        self.info().map(|info| info.id())
    }

    /// The parasite's name, if it was [given](crate::Builder::name) one. `None` also if it was over at once,
    /// or its result has been given.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            // SAFETY: alive by our share of it.
            Repr::Task(task) => unsafe { (*task.as_ptr()).given_name().map(|name| &**name) },
            // SAFETY: alive by our share of it.
            Repr::Stackful(join_cell) => unsafe { (*join_cell.as_ptr()).head.name.as_deref() },
            Repr::Value(_) | Repr::Failed(_) | Repr::Gone => None,
        }
    }

    /// True once the parasite has ended, so that [`join`](Self::join) does not block.
    pub fn is_finished(&self) -> bool {
        coop::tried(self.is_done(), |is_done| !is_done)
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
        if let Repr::Value(_) | Repr::Failed(_) | Repr::Gone = self.0 {
            return;
        }
        self.give_up();
    }
}

impl<T> ParasiteHandle<T> {
    #[cold]
    fn give_up(&mut self) {
        self.cancel();
        // SAFETY: used no more but by `detach`, whose own drop finds it gone.
        unsafe { ptr::read(self) }.detach();
        self.0 = Repr::Gone;
    }
}

/// The place of what is moved out meanwhile: Gone then, also if that unwinds.
struct GoneThen<T>(*mut Repr<T>);

impl<T> Drop for GoneThen<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        // SAFETY: the handle that made it is borrowed as long as it lives; what was there has been moved out.
        unsafe { ptr::write(self.0, Repr::Gone) };
    }
}

impl<T> Future for ParasiteHandle<T> {
    type Output = Result<T, JoinError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.completion() {
            Some(completion) if !completion.poll(cx) => Poll::Pending,
            _ => {
                let place = GoneThen(&raw mut self.0);
                // SAFETY: here or published, and Gone from here on.
                let outcome = unsafe { self.take() };
                drop(place);
                Poll::Ready(outcome)
            }
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

//! The handle of a host, and how a host ends.

use super::join_cell::{self, JoinHead, Outcome};
use super::join_error::JoinError;
use crate::sched::completion::Ended;
use crate::sched::coop;
use crate::sched::drops::drop_quietly;
use crate::sched::panic::{Panic, Panics};
use crate::sched::record::reports::what_led_to_panic;
use crate::sched::thread::Thread;
use crate::sched::worker::Worker;
use crate::time::{self, TimedOut};
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};
use std::time::Duration;

/// Owns the outcome of a host.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let host = lamprey::spawn(|| 6 * 7);
/// assert_eq!(host.join().unwrap(), 42);
/// # });
/// ```
///
/// It is also a future: a host can be awaited from any executor.
///
/// # Dropping
/// Detaches the host, as in std: it runs on, and its result is dropped when it ends. A panic that no thread
/// joins is handled as [`RuntimeBuilder::panics`](crate::RuntimeBuilder::panics) says.
pub struct JoinHandle<T>(Option<NonNull<JoinHead<T>>>);

// SAFETY: the handle moves the outcome `T` to the joining thread, and touches the join cell only through the
// completion word.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle only reads the completion word and constant fields.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    pub(super) fn new(head: NonNull<JoinHead<T>>) -> Self {
        Self(Some(head))
    }

    /// The joined thread, as what the caller waits for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn whom(&self) -> *const () {
        std::ptr::from_ref(&self.head().thread).cast()
    }

    fn head(&self) -> &JoinHead<T> {
        let Some(head) = &self.0 else { panic!("the result of this JoinHandle has been taken already") };
        // SAFETY: the handle shares ownership of the join cell until detach or join.
        unsafe { head.as_ref() }
    }

    /// The join cell; consumes the handle.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn into_head(self) -> NonNull<JoinHead<T>> {
        ManuallyDrop::new(self)
            .0
            .unwrap_or_else(|| panic!("the result of this JoinHandle has been taken already"))
    }

    /// Waits until the host has ended and returns its result.
    ///
    /// # Errors
    /// See [`JoinError`]. A panic of the host arrives here with its payload; [`Panic::resume`] passes it on.
    ///
    /// # Panics
    /// If the result has been taken already, by [`join_timeout`](Self::join_timeout) or an await.
    ///
    /// # Cancellation
    /// The commit point is the end of the joined host. If the calling host is cancelled while it waits, the
    /// joined host is detached and runs on.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        coop::turn();
        if !self.head().completion.is_done() && !self.head().completion.wait(self.whom()) {
            return Err(self.unwinding());
        }
        // SAFETY: done: the join cell is ours (completion, invariant 4), and this is its last use.
        unsafe { take(self.into_head()) }
    }

    /// Like [`join`](Self::join), but waits at most `timeout`. `Ok` takes the result, after which the handle
    /// cannot be joined again.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let mut host = lamprey::spawn(move || rx.recv().unwrap() * 2);
    /// assert!(host.join_timeout(Duration::from_millis(1)).is_err());
    /// tx.send(21).unwrap();
    /// assert_eq!(host.join_timeout(Duration::from_secs(60)).unwrap().unwrap(), 42);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`] if the host has not ended by then: it runs on, and can be joined later. Within the `Ok`,
    /// as [`join`](Self::join).
    ///
    /// # Panics
    /// If the result has been taken before.
    ///
    /// # Cancellation
    /// If the calling host is cancelled while it waits, the handle is left as it was.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn join_timeout(&mut self, timeout: Duration) -> Result<Result<T, JoinError>, TimedOut> {
        coop::turn();
        if !self.is_done() {
            match self.head().completion.wait_until(self.whom(), time::deadline(timeout)) {
                Ended::Done => {}
                Ended::TimedOut => return Err(TimedOut),
                Ended::Cancelled => crate::sched::unwind_cancelled(),
                Ended::Unwinding => return Ok(Err(self.unwinding())),
            }
        }
        let Some(head) = self.0.take() else { panic!("a JoinHandle was joined after it had been ready") };
        // SAFETY: done: the join cell is ours (completion, invariant 4), and this is its last use.
        Ok(unsafe { take(head) })
    }

    /// Like [`join`](Self::join), but the wait cannot be cancelled: for a host that borrows from its joiner.
    /// A caller that must not switch blocks its kernel thread.
    pub(crate) fn join_committed(self) -> Result<T, JoinError> {
        self.head().completion.wait_committed(self.whom());
        // SAFETY: `wait_committed` returns when done: the join cell is ours, and this is its last use.
        unsafe { take(self.into_head()) }
    }

    /// Requests cancellation of the host, and returns. The host's current or next blocking call unwinds, its
    /// destructors run, and [`join`](Self::join) returns [`JoinError::Cancelled`]. A host that has not
    /// started is dropped without running. A [`shield`](crate::shield) defers the cancellation. A host that
    /// finishes first has a result. Cancelling a host again, or after it has ended, does nothing.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel::<u32>();
    /// let host = lamprey::spawn(move || rx.recv()); // waits for ever
    /// lamprey::yield_now();
    /// host.cancel();
    /// assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled(_))));
    /// assert!(tx.send(1).is_err(), "its end of the channel has been dropped");
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// Whether the interrupted call has taken effect is stated in the section *Cancellation* of that call.
    ///
    /// # Blocking
    /// Never: it does not wait for the end. May be called from hosts, parasites and OS threads.
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        if !self.is_done() {
            // SAFETY: the handle keeps the join cell alive.
            unsafe { crate::sched::cancel::ask(self.head_ptr()) };
        }
    }

    /// [Cancels](Self::cancel) the host and waits until it has ended.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let host = lamprey::spawn(|| lamprey::sleep(std::time::Duration::MAX));
    /// assert!(matches!(host.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`join`](Self::join), usually [`JoinError::Cancelled`]. `Ok` is the result of a host that finished
    /// first.
    ///
    /// # Cancellation
    /// As [`join`](Self::join).
    ///
    /// # Blocking
    /// As [`join`](Self::join): until the host has run its destructors, and left its
    /// [shields](crate::shield).
    pub fn cancel_and_join(self) -> Result<T, JoinError> {
        self.cancel();
        self.join()
    }

    #[cold]
    fn unwinding(&self) -> JoinError {
        JoinError::unwinding().of(|| self.head().thread.info(None))
    }

    /// The descriptor, which is also a pointer to the whole join cell.
    fn head_ptr(&self) -> NonNull<Thread> {
        self.0.map_or_else(|| panic!("a JoinHandle was used after it had been ready"), NonNull::cast)
    }

    /// True once the host has ended, so that [`join`](Self::join) does not block.
    pub fn is_finished(&self) -> bool {
        coop::look();
        self.is_done()
    }

    /// Also true if the result has been taken.
    pub(crate) fn is_done(&self) -> bool {
        // SAFETY: the handle shares ownership of the join cell until detach or join.
        self.0.is_none_or(|head| unsafe { head.as_ref() }.completion.is_done())
    }

    /// The host's number, unique in its runtime.
    pub fn id(&self) -> u64 {
        self.head().thread.label.id.get()
    }

    /// The host's name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.head().thread.label.name().map(|name| &**name)
    }
}

/// Takes the outcome out of a join cell and frees it.
///
/// # Safety
/// The join cell is done and the caller is its only owner.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn take<T>(head: NonNull<JoinHead<T>>) -> Outcome<T> {
    // SAFETY: the outcome was written before DONE; the allocation is freed by the function that knows its
    // type.
    unsafe {
        let free = head.as_ref().thread.body.free;
        // Assembled last: a copy of the whole stalls on the narrower writes of its parts (store forwarding).
        match join_cell::outcome(head) {
            Ok(value) => {
                let value = ptr::read(value);
                free(head.cast());
                Ok(value)
            }
            Err(error) => {
                let error = ptr::read(error).of(|| head.as_ref().thread.info(None));
                free(head.cast());
                Err(error)
            }
        }
    }
}

/// In async code of any executor, `.await` is the awaitable form of [`JoinHandle::join`].
///
/// # Examples
/// ```
/// let host = lamprey::Runtime::builder().workers(1).build()?.run(|| lamprey::spawn(|| 6 * 7));
/// assert_eq!(futures::executor::block_on(host).unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Cancellation
/// Dropping the handle detaches the host, which runs on.
///
/// # Panics
/// If it is polled again after it returned `Ready`.
impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(head) = self.0 else { panic!("a JoinHandle was polled after it had been ready") };
        // SAFETY: the handle shares ownership of the join cell until detach or join.
        if !unsafe { head.as_ref() }.completion.poll(cx) {
            return Poll::Pending;
        }
        self.0 = None;
        // SAFETY: done: the join cell is ours, and this is its last use.
        Poll::Ready(unsafe { take(head) })
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let Some(head) = self.0 else { return };
        if self.head().completion.detach() {
            return;
        }
        // SAFETY: detach failed, so the join cell is done and ours; the handle is never used again.
        unsafe {
            let outcome = join_cell::take_outcome(head);
            join_cell::drop_outcome(&head.as_ref().thread.label, outcome);
            (head.as_ref().thread.body.free)(head.cast());
        }
    }
}

/// Drops an outcome that no thread joined, of the thread with this number. Reports a panic, and then applies the runtime's [`Panics`] policy. A panic whose
/// thread the panic hook has named is not reported again, except where it is to end the process.
pub(crate) fn report_unjoined<T>(
    outcome: Result<T, JoinError>,
    number: Option<u64>,
    who: impl FnOnce() -> String,
) {
    match outcome {
        Err(JoinError::Panicked(panic)) => {
            let ends_all =
                Worker::current().is_some_and(|worker| worker.shared.options.panics == Panics::Abort);
            if !crate::sched::panic_hook::is_hushed() {
                let before = number.map(what_led_to_panic).unwrap_or_default();
                if ends_all || !panic.is_named() {
                    crate::bug::say!("{} panicked and nobody joined it: {panic}{before}", who());
                } else if !before.is_empty() {
                    crate::bug::say!("{} panicked and nobody joined it.{before}", who());
                }
            }
            unjoined(panic);
        }
        Err(JoinError::NoStack(refused)) => crate::bug::say!("{} never ran: {}", who(), refused.error()),
        Err(_) => {}
        Ok(value) => {
            #[cfg(debug_assertions)]
            super::never_run::report_never_run::<T>(who);
            drop_quietly(value);
        }
    }
}

/// Applies the policy of the calling thread's runtime to a panic that has been reported.
#[cold]
fn unjoined(panic: Panic) {
    let shared = Worker::current().map(|worker| &worker.shared);
    match (shared.map(|shared| shared.options.panics), shared) {
        (Some(Panics::Abort), _) => std::process::abort(),
        (Some(Panics::Propagate), Some(shared)) => shared.fail(panic),
        _ => drop_quietly(panic),
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("JoinHandle");
        if self.0.is_some() {
            text.field("id", &self.id()).field("name", &self.name());
        }
        text.field("finished", &self.is_done()).finish_non_exhaustive()
    }
}

//! The oneshot: one value, once, from one sender to one receiver.
//!
//! # Examples
//! A search in two places at once. The slower one stops as soon as its answer is not wanted any more, because
//! the receiver of its answer is gone.
//! ```
//! use lamprey::event::{Event, choose};
//! use lamprey::oneshot;
//!
//! /// Looks for a multiple of both, and gives up when no thread waits for it.
//! fn search(from: u64, tx: oneshot::Sender<u64>) -> Result<(), &'static str> {
//!     for n in from.. {
//!         if n % 77 == 0 && n % 13 == 0 {
//!             return tx.send(n).map_err(|_| "too late");
//!         }
//!         if tx.is_closed() {
//!             return Err("given up");
//!         }
//!         lamprey::yield_now();
//!     }
//!     Err("there is none")
//! }
//!
//! lamprey::run(|| {
//!     let ((near, mut near_rx), (far, mut far_rx)) = (oneshot(), oneshot());
//!     let near = lamprey::spawn(move || search(1_000, near));
//!     let far = lamprey::spawn(move || search(1_002_000_000_000_000, far));
//!     let found = choose((near_rx.recv_evt(), far_rx.recv_evt())).sync().unwrap();
//!     assert_eq!(found % 1001, 0);
//!     drop((near_rx, far_rx)); // tells the other one
//!     let ends = [near.join().unwrap(), far.join().unwrap()];
//!     assert!(ends.contains(&Ok(())));
//!
//!     // A sender that is dropped has not sent.
//!     let (tx, rx) = oneshot::<u64>();
//!     lamprey::spawn(move || drop(tx));
//!     assert!(rx.recv().is_err());
//! });
//! ```

mod cell;
mod close;

use super::err::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::gate::{opaque, or_cancelled};
#[cfg(not(loom))]
use crate::events::{FutureEvt, future_evt};
use crate::sched::parasite::task::Form;
use crate::sched::reason::On;
use crate::sched::wait::{self, Early, Waited};
use crate::sched::{self, Wait, Waiter, coop};
use crate::time;
use cell::{Found, OneshotCell, Seen};
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A channel for one value. The sender never waits, and can see that the receiver is gone.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::oneshot();
///     lamprey::spawn(move || tx.send(6 * 7));
///     assert_eq!(rx.recv(), Ok(42));
/// });
/// ```
#[doc(alias = "promise")]
#[track_caller]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn oneshot<T>() -> (Sender<T>, Receiver<T>) {
    let cell = OneshotCell::new();
    (Sender { cell, is_watching: false }, Receiver(Some(cell)))
}

/// The sending end of a [`oneshot()`].
pub struct Sender<T> {
    cell: NonNull<OneshotCell<T>>,
    /// True while the word has the bit W, or the receiver has taken the watcher.
    is_watching: bool,
}

/// The receiving end of a [`oneshot()`]; also a future, of what [`recv`](Self::recv) gives.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (tx, rx) = lamprey::oneshot();
/// let doubled = lamprey::parasite(async move { rx.await.unwrap() * 2 });
/// tx.send(21).unwrap();
/// assert_eq!(doubled.join().unwrap(), 42);
/// # });
/// ```
pub struct Receiver<T>(
    /// `None` once the sender's end has been seen: then the allocation is freed.
    Option<NonNull<OneshotCell<T>>>,
);

// SAFETY: what crosses between threads is a `T` and waiters, under the protocol in `cell`.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: a shared sender only reads the word.
unsafe impl<T: Send> Sync for Sender<T> {}
// SAFETY: what crosses between threads is a `T` and waiters, under the protocol in `cell`.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: a shared receiver only reads the word.
unsafe impl<T: Send> Sync for Receiver<T> {}

impl<T> Sender<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn cell(&self) -> &OneshotCell<T> {
        // SAFETY: alive until this side has ended, if not longer.
        unsafe { self.cell.as_ref() }
    }

    /// Leaves `value` for the receiver.
    ///
    /// # Errors
    /// [`SendError`] with the value if the receiver is gone. `Ok` does not mean that the value will be
    /// received: the receiver may be dropped later.
    ///
    /// # Blocking
    /// Never.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send(self, value: T) -> Result<(), SendError<T>> {
        let mut this = ManuallyDrop::new(self);
        this.unwatch();
        this.cell().write(value);
        match this.cell().end(true) {
            Found::Other(None) => Ok(()),
            Found::Other(Some(waiter)) => {
                // SAFETY: taken out of the word.
                unsafe { waiter.run_kept(Form::AsTask) };
                Ok(())
            }
            // SAFETY: both sides have ended, so the caller owns the cell, with the value that it has written.
            Found::Ended => unsafe {
                let value = this.cell().take();
                OneshotCell::free(this.cell);
                Err(SendError(value))
            },
        }
    }

    /// True if the receiver is gone: the value would not be received.
    #[doc(alias = "is_canceled")]
    pub fn is_closed(&self) -> bool {
        coop::look();
        self.is_refused()
    }

    /// [`is_closed`](Self::is_closed), which never gives way.
    pub(super) fn is_refused(&self) -> bool {
        self.cell().is_gone()
    }

    /// Ready once the receiver is gone, so that work for it can end.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. In blocking code: `lamprey::wait(tx.closed_async())`.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let (mut tx, rx) = lamprey::oneshot::<u8>();
    /// lamprey::spawn(move || drop(rx));
    /// lamprey::wait(tx.closed_async());
    /// assert!(tx.is_closed());
    /// # });
    /// ```
    #[doc(alias = "closed")]
    #[doc(alias = "poll_closed")]
    #[doc(alias = "cancellation")]
    pub fn closed_async(&mut self) -> ClosedFuture<'_, T> {
        ClosedFuture(self)
    }

    /// [`closed_async`](Self::closed_async) as an event.
    #[cfg(not(loom))]
    pub fn closed_evt(&mut self) -> FutureEvt<ClosedFuture<'_, T>> {
        future_evt(self.closed_async())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unwatch(&mut self) {
        if self.is_watching {
            self.unwatch_slowly();
        }
    }

    #[cold]
    fn unwatch_slowly(&mut self) {
        self.is_watching = false;
        if let Some(waiter) = self.cell().unwatch() {
            // SAFETY: taken back out of its place.
            unsafe { waiter.forget() };
        }
    }
}

/// The future of [`Sender::closed_async`]. Between its polls the sender watches.
#[must_use = "a future does nothing until it is awaited"]
pub struct ClosedFuture<'a, T>(&'a mut Sender<T>);

opaque!(ClosedFuture<'a, T>);

impl<T> Future for ClosedFuture<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if sched::gives_way(cx) {
            return Poll::Pending;
        }
        self.0.unwatch();
        if self.0.is_refused() {
            return Poll::Ready(());
        }
        let waiter = Waiter::of(cx, self.0.cell().on()).keep();
        self.0.is_watching = self.0.cell().watch(waiter);
        if self.0.is_watching {
            return Poll::Pending;
        }
        // SAFETY: taken back out of its place.
        unsafe { waiter.forget() };
        Poll::Ready(())
    }
}

impl<T> Drop for ClosedFuture<'_, T> {
    fn drop(&mut self) {
        self.0.unwatch();
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.unwatch();
        match self.cell().end(false) {
            Found::Other(None) => {}
            // SAFETY: taken out of the word.
            Found::Other(Some(waiter)) => unsafe { waiter.run_kept(Form::Soon) },
            // SAFETY: both sides have ended, so the caller owns the cell, without a value.
            Found::Ended => unsafe { OneshotCell::free(self.cell) },
        }
    }
}

impl<T> Receiver<T> {
    /// What the sender's end has left, if it has come; then the allocation is freed. `Err` has the waiter
    /// that is registered.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&mut self) -> Result<Result<T, RecvError>, Option<Waiter>> {
        let Some(cell) = self.0 else { return Ok(Err(RecvError)) };
        // SAFETY: alive until this side has ended.
        match unsafe { cell.as_ref() }.look() {
            Seen::Waits(waiter) => Err(waiter),
            seen => {
                self.0 = None;
                // SAFETY: the sender has ended, so the receiver owns the cell, with a value if it was SENT.
                unsafe {
                    let value = (seen == Seen::Sent).then(|| cell.as_ref().take());
                    OneshotCell::free(cell);
                    Ok(value.ok_or(RecvError))
                }
            }
        }
    }

    fn change(&self, from: Option<Waiter>, to: Option<Waiter>) -> bool {
        // SAFETY: alive until this side has ended.
        self.0.is_some_and(|cell| unsafe { cell.as_ref() }.change(from, to))
    }

    /// What it waits for, which lives as long as this end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on(&self) -> On {
        // SAFETY: alive until this side has ended.
        self.0.map_or(Wait::Recv.into(), |cell| unsafe { cell.as_ref() }.on())
    }

    /// Takes back a waiter that a future has left; false if the sender has ended.
    fn forget(&self, old: Option<Waiter>) -> bool {
        let Some(waiter) = old else { return true };
        let is_ours = self.change(old, None);
        if is_ours {
            // SAFETY: taken back out of the word.
            unsafe { waiter.forget() };
        }
        is_ours
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        coop::call(coop::MESSAGE);
        let result = match self.take() {
            Ok(result) => result.map_err(|_| RecvTimeoutError::Disconnected),
            Err(old) => self.recv_later(old, deadline),
        };
        or_cancelled(result)
    }

    fn recv_later(&mut self, old: Option<Waiter>, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        if sched::must_not_block() {
            return Err(RecvTimeoutError::Disconnected);
        }
        let waited = if self.forget(old) {
            let enter = |me| self.change(None, Some(me));
            wait::wait(self.on(), deadline, enter, |me| self.change(Some(me), None))
        } else {
            Waited::Done
        };
        // Cancelled late, the send has happened: the value is returned, and the next blocking call unwinds.
        if waited == Waited::Left(Early::Cancelled) {
            sched::unwind_cancelled();
        }
        match self.take() {
            Ok(result) => result.map_err(|_| RecvTimeoutError::Disconnected),
            Err(_) if matches!(waited, Waited::Left(_)) => Err(RecvTimeoutError::Timeout),
            Err(_) => crate::bug::bug!("a oneshot's receiver was woken although nothing had happened"),
        }
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// [`RecvError`] if the sender was dropped without sending, or the value has been received already.
    ///
    /// # Cancellation
    /// The commit point is the moment when the value is sent. A host that is cancelled before that unwinds
    /// from here, and the receiver is gone; after it the value is returned, and the host unwinds at its next
    /// blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if
    /// nothing was sent, the call fails as if the sender were gone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv(mut self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// Takes the value if it has been sent.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = match self.take() {
            Ok(result) => result.map_err(|_| TryRecvError::Disconnected),
            Err(_) => Err(TryRecvError::Empty),
        };
        coop::tried(received, Result::is_err)
    }

    /// [`recv`](Self::recv), waiting at most `timeout`; after that it can be tried again.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// A host that is cancelled before the value is sent unwinds from here; the receiver stays, and the next
    /// call receives the value.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(time::deadline(timeout))
    }

    /// [`recv`](Self::recv) for async code, where the receiver itself stays.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the value is received by the next call.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        RecvFuture(self)
    }

    /// [`recv`](Self::recv) as an event.
    #[cfg(not(loom))]
    pub fn recv_evt(&mut self) -> FutureEvt<RecvFuture<'_, T>> {
        future_evt(self.recv_async())
    }
}

/// The future of [`Receiver::recv_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T>(&'a mut Receiver<T>);

opaque!(RecvFuture<'a, T>);

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.0).poll(cx)
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if sched::gives_way(cx) {
            return Poll::Pending;
        }
        let old = match self.take() {
            Ok(result) => return Poll::Ready(result),
            Err(old) => old,
        };
        if old.is_some_and(|old| old.is_of(cx)) {
            return Poll::Pending;
        }
        let waiter = Waiter::of(cx, self.on()).keep();
        if self.forget(old) && self.change(None, Some(waiter)) {
            return Poll::Pending;
        }
        // SAFETY: never came into the word.
        unsafe { waiter.forget() };
        self.take().map_or_else(|_| crate::bug::bug!("a oneshot was over and is not"), Poll::Ready)
    }
}

impl<T> Receiver<T> {
    /// Takes the waiter out of the word: no future is polled any more.
    fn leave(&self) {
        let Some(cell) = self.0 else { return };
        // SAFETY: alive until this side has ended.
        if let Seen::Waits(old) = unsafe { cell.as_ref() }.look() {
            self.forget(old);
        }
    }
}

impl<T> Drop for Receiver<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.0.is_some() {
            self.end();
        }
    }
}

impl<T> Receiver<T> {
    #[cold]
    fn end(&mut self) {
        self.leave();
        if self.go() {
            drop(self.take());
        }
    }

    /// Ends this side, unless the sender has ended: then true, and what it has left is still to be taken. Nothing is
    /// registered any more.
    fn go(&mut self) -> bool {
        let Some(cell) = self.0.take() else { return false };
        // SAFETY: alive until this side has ended, which it does here.
        match unsafe { cell.as_ref() }.go() {
            Found::Other(None) => {}
            // SAFETY: taken out of its place.
            Found::Other(Some(watcher)) => unsafe { watcher.run_kept(Form::Soon) },
            Found::Ended => self.0 = Some(cell),
        }
        self.0.is_some()
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("oneshot::Sender")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("oneshot::Receiver")
    }
}
